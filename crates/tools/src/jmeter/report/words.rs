//! Codes and messages that JMeter has for requests without an answer: the class of Java's exception, and what it says.

use measure::{FailureKind, Outcome, Record, Stage};
use std::borrow::Cow;

/// The code: the status, or the class of what went wrong.
pub(super) fn code_of(record: &Record) -> Cow<'static, str> {
    if is_tcp(record) {
        return if failure(record).is_some() { "500" } else { "200" }.into();
    }
    match (class(record), record.status) {
        (Some(class), _) => format!("Non HTTP response code: {class}").into(),
        (None, 0) => "Non HTTP response code: java.io.IOException".into(),
        (None, status) => text_of(status),
    }
}

/// A status as text, shared where many answers have it.
fn text_of(status: u16) -> Cow<'static, str> {
    const USUAL: [(u16, &str); 16] = [
        (200, "200"),
        (201, "201"),
        (202, "202"),
        (204, "204"),
        (206, "206"),
        (301, "301"),
        (302, "302"),
        (303, "303"),
        (304, "304"),
        (400, "400"),
        (401, "401"),
        (403, "403"),
        (404, "404"),
        (429, "429"),
        (500, "500"),
        (503, "503"),
    ];
    match USUAL.iter().find(|(usual, _)| *usual == status) {
        Some((_, text)) => Cow::Borrowed(text),
        None => status.to_string().into(),
    }
}

/// True if the status says how it ended.
pub(super) fn has_status(record: &Record) -> bool {
    record.status != 0 && class(record).is_none()
}

/// The message that goes with a class.
pub(super) fn message_of(record: &Record) -> String {
    if is_tcp(record) {
        return failure(record).map_or("OK".to_owned(), |(kind, stage)| of_tcp(record, kind, stage));
    }
    let said = said(record).unwrap_or_else(|| format!("{:?}", record.outcome));
    format!("Non HTTP response message: {said}")
}

/// A message over TCP: its samples have no status of their own.
fn is_tcp(record: &Record) -> bool {
    record.url.starts_with("tcp://")
}

/// Returns JMeter's words for a message over TCP that has failed.
fn of_tcp(record: &Record, kind: FailureKind, stage: Stage) -> String {
    match kind {
        FailureKind::Refused => "java.net.ConnectException: Connection refused".to_owned(),
        FailureKind::Lookup => {
            let place = record.url.trim_start_matches("tcp://");
            let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
            format!("java.net.UnknownHostException: {host}")
        }
        FailureKind::Reset => "java.net.SocketException: Connection reset".to_owned(),
        FailureKind::Timeout if stage == Stage::Connect => {
            "java.net.SocketTimeoutException: Connect timed out".to_owned()
        }
        FailureKind::Timeout => format!(
            "org.apache.jmeter.protocol.tcp.sampler.ReadException: Error reading from server, bytes read: {}",
            record.body_bytes
        ),
        kind => kind.text().to_owned(),
    }
}

/// True if it was cut short: the plan's own limit of a step ended it (ECANCELED).
fn is_cut_short(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Failed(failure) if failure.errno() == Some(125))
}

fn failure(record: &Record) -> Option<(FailureKind, Stage)> {
    match record.outcome {
        Outcome::Failed(failure) => Some((failure.kind, failure.stage)),
        _ => None,
    }
}

/// `None` where the status says it.
fn class(record: &Record) -> Option<&'static str> {
    let (kind, stage) = failure(record)?;
    Some(match kind {
        FailureKind::BadUrl => "java.net.URISyntaxException",
        FailureKind::Refused => "org.apache.http.conn.HttpHostConnectException",
        FailureKind::Unreachable => "java.net.NoRouteToHostException",
        FailureKind::Lookup => "java.net.UnknownHostException",
        FailureKind::Timeout if stage == Stage::Connect => "org.apache.http.conn.ConnectTimeoutException",
        FailureKind::Timeout if is_cut_short(record) => "java.net.SocketException",
        FailureKind::Timeout => "java.net.SocketTimeoutException",
        FailureKind::Reset => "java.net.SocketException",
        FailureKind::ClosedEarly => "org.apache.http.NoHttpResponseException",
        FailureKind::NotHttp
        | FailureKind::BadHead
        | FailureKind::BadTransferCoding
        | FailureKind::BadChunk
        | FailureKind::BadLength => "org.apache.http.client.ClientProtocolException",
        FailureKind::NotTls
        | FailureKind::TlsAlert
        | FailureKind::TlsMismatch
        | FailureKind::TlsBroken
        | FailureKind::CertificateExpired
        | FailureKind::CertificateName
        | FailureKind::CertificateIssuer
        | FailureKind::CertificateVersion
        | FailureKind::CertificateBad => "javax.net.ssl.SSLHandshakeException",
        FailureKind::TooManyRedirects => "java.io.IOException",
        FailureKind::BadRedirect => "java.lang.IllegalArgumentException",
        FailureKind::BadStatus | FailureKind::Script => return None,
        _ => "java.io.IOException",
    })
}

fn said(record: &Record) -> Option<String> {
    let (kind, stage) = failure(record)?;
    let place = record.url.split_once("://").map_or("", |(_, behind)| behind);
    let place = place.split(['/', '?']).next().expect("a split has a first part");
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    let port = if record.url.starts_with("https:") { 443 } else { 80 };
    let with_port = if place.contains(':') { place.to_owned() } else { format!("{place}:{port}") };
    // Of a name the address would stand before the slash.
    let named = if host.parse::<std::net::IpAddr>().is_ok() { "" } else { host };
    let address = if named.is_empty() { host } else { "127.0.0.1" };
    Some(match kind {
        FailureKind::BadUrl => illegal(&record.url),
        FailureKind::Refused => {
            format!("Connect to {with_port} [{named}/{address}] failed: Connection refused")
        }
        FailureKind::Lookup => format!("{host}: Name or service not known"),
        FailureKind::Timeout if stage == Stage::Connect => {
            format!("Connect to {with_port} [{named}/{address}] failed: connect timed out")
        }
        FailureKind::Timeout if is_cut_short(record) => "Socket closed".to_owned(),
        FailureKind::Timeout => "Read timed out".to_owned(),
        FailureKind::Reset => "Connection reset".to_owned(),
        FailureKind::ClosedEarly => format!("{with_port} failed to respond"),
        FailureKind::TooManyRedirects => "Exceeded maximum number of redirects: 20".to_owned(),
        FailureKind::BadRedirect => {
            format!("Missing location header in redirect for {} {} HTTP/1.1", record.method, record.url)
        }
        kind => kind.text().to_owned(),
    })
}

/// As Java says what makes a text no URI.
fn illegal(url: &str) -> String {
    let at = match plan::uri_fault(url) {
        Some(plan::UriFault::Escape(at)) => return format!("Malformed escape pair at index {at}: {url}"),
        Some(plan::UriFault::Character(at)) => at,
        None => 0,
    };
    // Of an authority with such a character Java names the place where it begins.
    let begins = url.find("://").map_or(0, |scheme| scheme + "://".len());
    let ends = url[begins..].find(['/', '?', '#']).map_or(url.len(), |end| begins + end);
    if (begins..ends).contains(&at) && begins > 0 {
        return format!("Illegal character in authority at index {begins}: {url}");
    }
    let part = if url[..at].contains('?') { "query" } else { "path" };
    format!("Illegal character in {part} at index {at}: {url}")
}
