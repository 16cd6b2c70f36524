//! `/metrics` for Prometheus: a listener that only reads. On this machine it asks for no token, by custom, but is called by no foreign
//! name (DNS rebinding); elsewhere it wants one.

use super::ExportShared;
use crate::httpd::{accept, is_equal};
use crate::problem::Problem;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use report::metrics::{Format, families, protobuf, text_of};
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

/// Connections at once.
const CONNECTIONS: usize = 16;

/// The listener.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<String>,
}

impl Server {
    /// Takes the address.
    ///
    /// # Errors
    /// It cannot be had, or others could reach it and there is no token.
    pub fn bind(at: SocketAddr, token: Option<String>) -> Result<Server, Problem> {
        if !at.ip().is_loopback() && token.as_ref().is_none_or(String::is_empty) {
            return Err(Problem::Usage(format!(
                "others may reach {at}: give --prometheus-token env:NAME or file:PATH, or an address of this machine such as \
                 127.0.0.1:{}",
                at.port()
            )));
        }
        let failed = |error: std::io::Error| {
            Problem::impossible(format!(
                "metrics cannot be served at {at}: {error}; choose another --prometheus"
            ))
        };
        let listener = TcpListener::bind(at).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server { listener, address, token })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until the process ends.
    pub async fn serve(self, shared: Arc<ExportShared>) {
        let rule = Arc::new(Rule { address: self.address, token: self.token });
        let service = service_fn(move |request| answer(shared.clone(), rule.clone(), request));
        accept(self.listener, CONNECTIONS, service).await;
    }
}

/// Who may fetch.
struct Rule {
    address: SocketAddr,
    token: Option<String>,
}

impl Rule {
    /// Why a request is refused.
    fn refuses(&self, method: &Method, path: &str, fields: &HeaderMap) -> Option<StatusCode> {
        let text = |name| fields.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let host = text(HOST).unwrap_or_default().to_ascii_lowercase();
        let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.address.port()));
        if self.address.ip().is_loopback() && !own.contains(&host) && host != self.address.to_string() {
            return Some(StatusCode::FORBIDDEN);
        }
        if let Some(token) = &self.token {
            let brought = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
            if !brought.is_some_and(|brought| is_equal(brought, token)) {
                return Some(StatusCode::UNAUTHORIZED);
            }
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(StatusCode::METHOD_NOT_ALLOWED);
        }
        (path != "/metrics").then_some(StatusCode::NOT_FOUND)
    }
}

async fn answer(
    shared: Arc<ExportShared>,
    rule: Arc<Rule>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut answer = Response::new(Full::default());
    tracing::debug!(method = %request.method(), path = request.uri().path(), "metrics are asked for");
    if let Some(status) = rule.refuses(request.method(), request.uri().path(), request.headers()) {
        *answer.status_mut() = status;
        return Ok(answer);
    }
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (result, head) = shared.now();
    let families = families(&result, &head, shared.names);
    let (kind, bytes) = if accept.contains("application/vnd.google.protobuf") {
        let kind =
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
        (kind, protobuf(&families))
    } else if accept.contains("application/openmetrics-text") {
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        (kind, text_of(&families, Format::OpenMetrics).into_bytes())
    } else {
        ("text/plain; version=0.0.4; charset=utf-8", text_of(&families, Format::Prometheus).into_bytes())
    };
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    *answer.body_mut() = Full::from(bytes);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(token: Option<&str>, at: &str, line: &str, fields: &[(&str, &str)]) -> u16 {
        let rule = Rule { address: at.parse().unwrap(), token: token.map(str::to_owned) };
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            let name = hyper::header::HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.insert(name, value.parse().unwrap());
        }
        let (method, path) = line.split_once(' ').unwrap();
        rule.refuses(&method.parse().unwrap(), path, &map).map_or(200, |status| status.as_u16())
    }

    #[test]
    fn metrics_are_for_this_machine_or_for_who_brings_the_token() {
        let here = "127.0.0.1:9464";
        for (line, host, status) in [
            ("GET /metrics", "127.0.0.1:9464", 200),
            ("HEAD /metrics", "localhost:9464", 200),
            ("GET /metrics", "rebind.example:9464", 403),
            ("GET /metrics", "127.0.0.1", 403),
            ("POST /metrics", "127.0.0.1:9464", 405),
            ("GET /", "127.0.0.1:9464", 404),
        ] {
            assert_eq!(refused(None, here, line, &[("host", host)]), status, "{line} {host}");
        }
        let there = "192.0.2.1:9464";
        let with = |value: &str| {
            refused(Some("abc"), there, "GET /metrics", &[("host", "x"), ("authorization", value)])
        };
        assert_eq!(
            [with("Bearer abc"), with("Bearer abd"), with("Basic abc"), with("")],
            [200, 401, 401, 401]
        );
        let refused = Server::bind("192.0.2.1:0".parse().unwrap(), None).err().unwrap().to_string();
        assert!(refused.contains("--prometheus-token"), "{refused}");
    }
}
