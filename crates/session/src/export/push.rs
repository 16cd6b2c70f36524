//! Figures sent to others every few seconds, and once more at the end: OTLP and InfluxDB, both over plain HTTP.

use super::Shared;
use crate::problem::Problem;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use report::influx;
use report::metrics::{families, otlp};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
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
        let to = match whole {
            Some(whole) => plain("--otlp", &whole)?,
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
        Ok(Push { what: What::Otlp, to, fields })
    }

    /// To InfluxDB.
    ///
    /// # Errors
    /// It is no URL of plain HTTP.
    pub fn influx(url: &str, token: Option<String>) -> Result<Push, Problem> {
        let to = plain("--influx", url)?;
        if to.path() == "/" {
            return Err(Problem::Usage(format!(
                "--influx {url} names no place to write to: give http://HOST:8086/write?db=NAME, or /api/v2/write?org=ORG&bucket=NAME"
            )));
        }
        let token = token.map(|token| ("authorization".to_owned(), format!("Token {token}")));
        Ok(Push { what: What::Influx, to, fields: token.into_iter().collect() })
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
            let (name, at) = (if self.what == What::Otlp { "OTLP" } else { "InfluxDB" }, self.to.authority());
            // Without a name and a password that stand before the host.
            let at = at
                .map(|at| at.as_str().rsplit('@').next().unwrap_or_default().to_owned())
                .unwrap_or_default();
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

fn plain(option: &str, url: &str) -> Result<Uri, Problem> {
    let refused = |why: &dyn std::fmt::Display| Problem::Usage(format!("{option} {url}: {why}"));
    let to: Uri = url.parse().map_err(|error| refused(&error))?;
    match to.scheme_str() {
        Some("http") if to.authority().is_some() => Ok(to),
        Some("https") => Err(refused(&"only plain http is spoken here: send to a collector on this machine")),
        _ => Err(refused(&"give a whole URL, such as http://127.0.0.1:4318")),
    }
}

/// With the path of OTLP's metrics, where none is given.
fn with_path(option: &str, url: &str) -> Result<Uri, Problem> {
    let to = plain(option, url)?;
    if to.path().ends_with("/v1/metrics") {
        return Ok(to);
    }
    plain(option, &format!("{}/v1/metrics", url.trim_end_matches('/')))
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
    }
}
