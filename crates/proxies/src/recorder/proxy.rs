//! The proxy's side towards the browser: requests in absolute form, and tunnels, which it opens.

use super::authority::Authority;
use super::memory::{Memory, Remembered, now_ms};
use super::upstream::Upstream;
use har::Exchange;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use url::Url;

/// Bytes of a request's body at most.
const LONGEST: usize = 32 << 20;
/// How long to wait when a connection cannot be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// State shared by all connections.
pub(super) struct Proxy {
    pub(super) authority: Authority,
    pub(super) upstream: Upstream,
    pub(super) memory: Memory,
    /// Told what people should know meanwhile.
    pub(super) tell: fn(&str),
}

type Answer = Response<Either<Remembered, Full<Bytes>>>;

/// Accepts connections for ever.
pub(super) async fn serve(listener: TcpListener, proxy: Arc<Proxy>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without it, answers would only be slower.
                let _ = stream.set_nodelay(true);
                let proxy = proxy.clone();
                tokio::spawn(async move {
                    let service = service_fn(|request| outer(request, &proxy));
                    let connection = server().serve_connection(TokioIo::new(stream), service);
                    // An error is a browser that left.
                    drop(connection.with_upgrades().await);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Field names keep their case, as some servers tell them apart.
fn server() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.preserve_header_case(true).title_case_headers(false).timer(TokioTimer::new());
    builder
}

/// A request to the proxy itself: one to pass on, or a tunnel to open.
async fn outer(request: Request<Incoming>, proxy: &Arc<Proxy>) -> Result<Answer, Infallible> {
    if request.method() == Method::CONNECT {
        return Ok(tunnel(request, proxy));
    }
    match Url::parse(&request.uri().to_string()) {
        Ok(url) if url.scheme() == "http" => Ok(pass_on(request, url, proxy).await),
        _ => Ok(refused(
            StatusCode::BAD_REQUEST,
            "this is wringer's recording proxy: set it as the browser's proxy",
        )),
    }
}

/// Opens a tunnel: what comes through it is TLS, of which the proxy is the other end.
fn tunnel(request: Request<Incoming>, proxy: &Arc<Proxy>) -> Answer {
    let Some(authority) = request.uri().authority().cloned() else {
        return refused(StatusCode::BAD_REQUEST, "CONNECT needs a host and a port");
    };
    let host = authority.host().to_owned();
    let server = match proxy.authority.server(&host) {
        Ok(server) => server,
        Err(why) => return refused(StatusCode::BAD_GATEWAY, &why),
    };
    let proxy = proxy.clone();
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
        let stream = match TlsAcceptor::from(server).accept(TokioIo::new(upgraded)).await {
            Ok(stream) => stream,
            Err(error) => {
                let file = proxy.authority.certificate_file().display();
                return (proxy.tell)(&format!(
                    "{host}: no TLS with the browser: {error}; does it trust {file}?"
                ));
            }
        };
        let base = format!("https://{authority}");
        let service = service_fn(|request| inner(request, &base, &proxy));
        drop(server_connection(stream, service).await);
    });
    Response::new(Either::Right(Full::default()))
}

async fn server_connection<Stream, Service>(stream: Stream, service: Service) -> Result<(), hyper::Error>
where
    Stream: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    Service: hyper::service::HttpService<Incoming, ResBody = Either<Remembered, Full<Bytes>>>,
    Service::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    server().serve_connection(TokioIo::new(stream), service).await
}

/// A request within a tunnel.
async fn inner(request: Request<Incoming>, base: &str, proxy: &Arc<Proxy>) -> Result<Answer, Infallible> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    match Url::parse(&format!("{base}{target}")) {
        Ok(url) => Ok(pass_on(request, url, proxy).await),
        Err(error) => Ok(refused(StatusCode::BAD_REQUEST, &error.to_string())),
    }
}

/// Sends a request to its server, and remembers both it and its answer.
async fn pass_on(request: Request<Incoming>, url: Url, proxy: &Proxy) -> Answer {
    if request.headers().contains_key(header::UPGRADE) {
        (proxy.tell)(&format!("{url}: WebSockets and other upgrades are not recorded, and not passed on"));
        return refused(StatusCode::NOT_IMPLEMENTED, "wringer record passes on no upgrades");
    }
    let began_ms = now_ms();
    let began = Instant::now();
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, LONGEST).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return refused(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string()),
    };
    let mut exchange = Exchange {
        began_ms,
        took_ms: 0,
        page: None,
        method: head.method.to_string(),
        fields: texts(&head.headers),
        body: body.to_vec(),
        status: None,
        answer_fields: Vec::new(),
        answer: Vec::new(),
        media_type: String::new(),
        url,
    };
    let asked = match asked(&head.method, &head.headers, &exchange.url, body) {
        Ok(asked) => asked,
        Err(why) => return refused(StatusCode::BAD_REQUEST, &why),
    };
    match proxy.upstream.send(&exchange.url, asked).await {
        Err(why) => {
            (proxy.tell)(&format!("{}: {why}", exchange.url));
            refused(StatusCode::BAD_GATEWAY, &why)
        }
        Ok(answer) => {
            let (mut head, body) = answer.into_parts();
            exchange.status = Some(head.status.as_u16());
            exchange.answer_fields = texts(&head.headers);
            exchange.media_type = exchange.answer_field("Content-Type").unwrap_or_default().to_owned();
            without_connection_fields(&mut head.headers);
            let body = Remembered::new(body, exchange, began, proxy.memory.clone());
            Response::from_parts(head, Either::Left(body))
        }
    }
}

/// The request as the server gets it. Encoded answers could not be read, so none are asked for.
fn asked(
    method: &Method,
    fields: &HeaderMap,
    url: &Url,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, String> {
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut asked = Request::new(Full::new(body));
    *asked.method_mut() = method.clone();
    *asked.uri_mut() = target.parse().map_err(|error| format!("{target}: {error}"))?;
    *asked.headers_mut() = fields.clone();
    without_connection_fields(asked.headers_mut());
    asked.headers_mut().remove(header::CONTENT_LENGTH);
    asked.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let host = HeaderValue::from_str(host).map_err(|error| error.to_string())?;
    asked.headers_mut().insert(header::HOST, host);
    Ok(asked)
}

/// Removes what belongs to one connection alone (RFC 9110 section 7.6.1).
fn without_connection_fields(fields: &mut HeaderMap) {
    const CONNECTION_FIELDS: [&str; 8] = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "proxy-authenticate",
        "te",
        "transfer-encoding",
        "upgrade",
    ];
    let listed: Vec<HeaderName> = fields
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').filter_map(|name| name.trim().parse().ok()).collect::<Vec<_>>())
        .collect();
    CONNECTION_FIELDS.iter().for_each(|name| drop(fields.remove(*name)));
    listed.iter().for_each(|name| drop(fields.remove(name)));
}

fn texts(fields: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    fields.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

fn refused(status: StatusCode, why: &str) -> Answer {
    let mut answer = Response::new(Either::Right(Full::from(format!("{why}\n"))));
    *answer.status_mut() = status;
    answer
}
