//! Figures sent to others every few seconds, and once more at the end: OTLP and InfluxDB, both over plain HTTP.

use super::Shared;
use crate::problem::Problem;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use plan::{Endpoint, FieldValue, Masked};
use report::influx;
use report::metrics::{families, otlp};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The field of credentials.
const AUTHORIZATION: &str = "authorization";
/// The application that rows bear.
const APPLICATION: &str = "wringer";

/// Somebody who is sent figures.
#[derive(Debug)]
pub struct Push {
    what: What,
    to: Uri,
    fields: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Otlp,
    Influx,
}

impl Push {
    /// By OTLP; without a URL as the variables of OpenTelemetry say.
    ///
    /// # Errors
    /// It is no URL of plain HTTP.
    pub fn otlp(url: &str) -> Result<Push, Problem> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let whole = url.is_empty().then(|| variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")).flatten();
        let base = || variable("OTEL_EXPORTER_OTLP_ENDPOINT").filter(|_| url.is_empty());
        let target = match whole {
            Some(whole) => Target::of("--otlp", &whole)?,
            None => {
                let given = if url.is_empty() { "http://127.0.0.1:4318" } else { url };
                with_path("--otlp", &base().unwrap_or_else(|| given.to_owned()))?
            }
        };
        let headers =
            variable("OTEL_EXPORTER_OTLP_METRICS_HEADERS").or_else(|| variable("OTEL_EXPORTER_OTLP_HEADERS"));
        let mut fields = vec![("content-type".to_owned(), "application/x-protobuf".to_owned())];
        let pairs = headers.iter().flat_map(|all| all.split(',')).filter_map(|pair| pair.split_once('='));
        fields.extend(pairs.map(|(name, value)| (name.trim().to_owned(), decoded(value.trim()))));
        fields.extend(target.authorization);
        Ok(Push { what: What::Otlp, to: target.uri, fields })
    }

    /// To InfluxDB.
    ///
    /// # Errors
    /// It is no URL of plain HTTP.
    pub fn influx(url: &str, token: Option<String>) -> Result<Push, Problem> {
        let target = Target::of("--influx", url)?;
        if target.uri.path() == "/" {
            let shown = Masked::address(url);
            return Err(Problem::Usage(format!(
                "--influx {shown} names no place to write to: give http://HOST:8086/write?db=NAME, or /api/v2/write?org=ORG&bucket=NAME"
            )));
        }
        let token = token.map(|token| (AUTHORIZATION.to_owned(), format!("Token {token}")));
        if token.is_some() && target.authorization.is_some() {
            let text = "--influx has a name and password in its URL, and --influx-token a token: leave out one of them";
            return Err(Problem::Usage(text.to_owned()));
        }
        Ok(Push {
            what: What::Influx,
            to: target.uri,
            fields: token.or(target.authorization).into_iter().collect(),
        })
    }

    fn every(&self) -> Duration {
        match self.what {
            What::Otlp => Duration::from_secs(10),
            What::Influx => Duration::from_secs(5),
        }
    }

    /// Sends until the run is over, and then once more.
    pub async fn run(self, shared: Arc<Shared>, mut over: watch::Receiver<bool>) {
        if self.what == What::Influx {
            self.send(&shared, influx::event(APPLICATION, "wringer started", now_ms()).into_bytes()).await;
        }
        while !*over.borrow_and_update() {
            tokio::select! {
                () = tokio::time::sleep(self.every()) => {}
                _ = over.changed() => {}
            }
            if !*over.borrow() {
                self.send(&shared, self.body(&shared, false)).await;
            }
        }
        self.send(&shared, self.body(&shared, true)).await;
    }

    fn body(&self, shared: &Shared, last: bool) -> Vec<u8> {
        match self.what {
            What::Otlp => {
                let (result, head) = shared.now();
                let began_ns = (head.started_unix_s * 1e9) as u64;
                let span = otlp::Span { began_ns, now_ns: now_ms() * 1_000_000 };
                otlp::request(&families(&result, &head, shared.names), &head, span)
            }
            What::Influx => {
                let interval = std::mem::take(&mut shared.known().interval);
                let ended =
                    if last { influx::event(APPLICATION, "wringer ended", now_ms()) } else { String::new() };
                (ended + &interval.lines(APPLICATION, now_ms())).into_bytes()
            }
        }
    }

    async fn send(&self, shared: &Shared, body: Vec<u8>) {
        let failed = |why: &dyn std::fmt::Display| {
            let name = if self.what == What::Otlp { "OTLP" } else { "InfluxDB" };
            let at = self.to.authority().map(ToString::to_string).unwrap_or_default();
            shared.failed(format!("figures could not be sent to {name} at {at}: {why}; the run goes on"));
        };
        let bytes = body.len();
        match tokio::time::timeout(PATIENCE, self.post(body)).await {
            Ok(Ok(())) => tracing::debug!(to = ?self.what, bytes, "figures are sent"),
            Ok(Err(why)) => failed(&why),
            Err(_) => failed(&"no answer within 5 s"),
        }
    }

    async fn post(&self, body: Vec<u8>) -> Result<(), String> {
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let mut request = Request::post(self.to.clone());
        for (name, value) in &self.fields {
            request = request.header(name, value);
        }
        let request = request.body(Full::from(body)).map_err(|error| error.to_string())?;
        let answer = client.request(request).await.map_err(|error| said(&error))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let told = Limited::new(answer.into_body(), 300)
            .collect()
            .await
            .map(|body| body.to_bytes())
            .unwrap_or_default();
        let told = report::harmless(&String::from_utf8_lossy(&told)).trim().replace('\n', " ");
        Err(format!("answer {status} {told}").trim_end().to_owned())
    }
}

/// An error with what is behind it.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

/// `%20` and the like in values of `OTEL_EXPORTER_OTLP_HEADERS`.
fn decoded(value: &str) -> String {
    let pair = format!("v={}", value.replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Where figures are sent, without what stood before its host.
struct Target {
    uri: Uri,
    /// The field that a name and password before the host mean.
    authorization: Option<(String, String)>,
}

impl Target {
    /// Takes a URL of plain HTTP apart. `option`: who names it.
    fn of(option: &str, url: &str) -> Result<Target, Problem> {
        let shown = Masked::address(url);
        let refused = |why: &dyn std::fmt::Display| Problem::Usage(format!("{option} {shown}: {why}"));
        let (plain, credentials) = Endpoint::split(url);
        let uri: Uri = plain.parse().map_err(|error| refused(&error))?;
        match uri.scheme_str() {
            Some("http") if uri.authority().is_some() => {
                let basic = credentials.map(|both| FieldValue::basic(both).text().into_owned());
                Ok(Target { uri, authorization: basic.map(|value| (AUTHORIZATION.to_owned(), value)) })
            }
            Some("https") => {
                Err(refused(&"only plain http is spoken here: send to a collector on this machine"))
            }
            _ => Err(refused(&"give a whole URL, such as http://127.0.0.1:4318")),
        }
    }
}

/// With the path of OTLP's metrics, where none is given.
fn with_path(option: &str, url: &str) -> Result<Target, Problem> {
    let target = Target::of(option, url)?;
    if target.uri.path().ends_with("/v1/metrics") {
        return Ok(target);
    }
    Target::of(option, &format!("{}/v1/metrics", url.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_whole_and_plain() {
        let otlp =
            |url: &str| Push::otlp(url).map(|push| push.to.to_string()).map_err(|error| error.to_string());
        assert_eq!(otlp("http://h:4318").unwrap(), "http://h:4318/v1/metrics");
        assert_eq!(otlp("http://h:4318/v1/metrics").unwrap(), "http://h:4318/v1/metrics");
        assert_eq!(otlp("http://h/otel/").unwrap(), "http://h/otel/v1/metrics");
        assert!(otlp("https://h:4318").unwrap_err().contains("plain http"));
        assert!(otlp("h:4318").unwrap_err().contains("whole URL"));
        let influx = |url: &str| Push::influx(url, None).map(drop).map_err(|error| error.to_string());
        assert!(influx("http://h:8086/write?db=x").is_ok());
        assert!(influx("http://h:8086").unwrap_err().contains("write?db="));
        assert_eq!(decoded("Bearer%20a+b"), "Bearer a+b");
        let named = Push::otlp("http://Aladdin:open%20sesame@h:4318").unwrap();
        assert_eq!(named.to.to_string(), "http://h:4318/v1/metrics");
        assert!(
            named
                .fields
                .contains(&(AUTHORIZATION.to_owned(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned()))
        );
        for refused in [
            otlp("https://me:geheim@h:4318").unwrap_err(),
            otlp("me:geheim@h:4318").unwrap_err(),
            otlp("http:/me:geheim@h:4318").unwrap_err(),
            influx("http://me:geheim@h:8086").unwrap_err(),
        ] {
            assert!(refused.contains("me:***@h") && !refused.contains("geheim"), "{refused}");
        }
        assert!(Push::influx("http://a:b@h/write?db=x", Some("t".to_owned())).is_err());
    }
}
