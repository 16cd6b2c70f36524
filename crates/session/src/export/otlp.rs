//! OpenTelemetry: OTLP over HTTP, in protocol buffers.

use super::ExportShared;
use super::http::{Post, Target};
use super::push::{Destination, Exporter, Outgoing, PushWay, Receiver, now_ms};
use crate::problem::Problem;
use report::interval::Interval;
use report::metrics::{families, otlp};
use std::time::Duration;

pub(super) const EXPORTER: Exporter =
    Exporter { option: "--otlp", name: "OTLP", every: Duration::from_secs(10), open };

struct Otlp;

impl Outgoing for Otlp {
    /// Counts are of the whole run.
    fn figures(&self, shared: &ExportShared, _: &Interval, _: bool) -> Vec<u8> {
        let (result, head) = shared.now();
        let began_ns = (head.started_unix_s * 1e9) as u64;
        let span = otlp::Span { began_ns, now_ns: now_ms() * 1_000_000 };
        otlp::request(&families(&result, &head, shared.names), &head, span, &result.slowest)
    }
}

fn open(to: &Destination) -> Result<Receiver, Problem> {
    Ok(Receiver { way: PushWay::Http(Box::new(post(&to.to)?)), format: Box::new(Otlp) })
}

/// Without a URL, as the variables of OpenTelemetry say.
fn post(url: &str) -> Result<Post, Problem> {
    let (target, fields) = meant(url)?;
    Post::new(target, fields)
}

fn meant(url: &str) -> Result<(Target, Vec<(String, String)>), Problem> {
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
    fields.extend(target.authorization.clone());
    Ok((target, fields))
}

/// `%20` and the like in values of `OTEL_EXPORTER_OTLP_HEADERS`.
fn decoded(value: &str) -> String {
    let pair = format!("v={}", value.replace('+', "%2B"));
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .expect("there is one pair, which stands here")
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
    use super::super::http::AUTHORIZATION;
    use super::*;

    #[test]
    fn urls_are_whole_and_have_the_path_of_metrics() {
        let otlp =
            |url: &str| meant(url).map(|(to, _)| to.uri.to_string()).map_err(|error| error.to_string());
        assert_eq!(otlp("http://h:4318").unwrap(), "http://h:4318/v1/metrics");
        assert_eq!(otlp("https://h:4318/v1/metrics").unwrap(), "https://h:4318/v1/metrics");
        assert_eq!(otlp("http://h/otel/").unwrap(), "http://h/otel/v1/metrics");
        assert!(otlp("h:4318").unwrap_err().contains("whole URL"));
        assert_eq!(decoded("Bearer%20a+b"), "Bearer a+b");
        let (to, fields) = meant("http://Aladdin:open%20sesame@h:4318").unwrap();
        assert_eq!(to.uri.to_string(), "http://h:4318/v1/metrics");
        assert!(
            fields.contains(&(AUTHORIZATION.to_owned(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned()))
        );
        for url in ["ftp://me:geheim@h:4318", "me:geheim@h:4318", "http:/me:geheim@h:4318"] {
            let refused = otlp(url).unwrap_err();
            assert!(refused.contains("me:***@h") && !refused.contains("geheim"), "{refused}");
        }
    }
}
