//! What HTTP/2 does not have, beside what else a plan asks for.

use super::Found;
use crate::field::Field;
use crate::http2::Http2;
use crate::load::{Http1, HttpVersion, RequestForm};
use crate::scenario::Step;

/// Most requests at once over a connection.
const MAX_STREAMS: u32 = 100_000;
/// Largest window (RFC 9113 section 6.9.1).
const MAX_WINDOW: u32 = (1 << 31) - 1;
/// Largest table of fields.
const MAX_TABLE: u32 = 1 << 20;

/// Fields that belong to connections of HTTP/1 (RFC 9113 section 8.2.2).
const OF_CONNECTIONS: [&str; 5] =
    ["Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"];

/// Adds what is wrong with HTTP/2, and with what it stands beside.
pub(super) fn check(http: &Http1, http2: &Http2, found: &mut Found) {
    if !(1..=MAX_STREAMS).contains(&http2.streams) {
        found.at("http2", format!("http2: streams is {}: give 1 to {MAX_STREAMS}", http2.streams));
    }
    for (name, window) in
        [("stream_window", http2.stream_window), ("connection_window", http2.connection_window)]
    {
        if window > MAX_WINDOW {
            found.at("http2", format!("http2: {name} is {window}: give at most 2^31-1 bytes"));
        }
    }
    for (name, table) in [("decoder_table", http2.decoder_table), ("encoder_table", http2.encoder_table)] {
        if table > MAX_TABLE {
            found.at("http2", format!("http2: {name} is {table}: give at most {MAX_TABLE} bytes"));
        }
    }
    let beside = [
        (http.pipeline > 1, "pipelining", "give more streams instead"),
        (http.tunnel, "a tunnel through a proxy (CONNECT)", "press the server itself, or speak HTTP/1.1"),
        (
            http.form != RequestForm::Reverse,
            "the form of requests to a forward proxy",
            "use the reverse form",
        ),
        (http.version != HttpVersion::OneOne, "HTTP/1.0", "leave the version out"),
        (http.bare, "requests with none but the plan's fields", "leave `bare` out"),
        (http.post_bytes.is_some(), "bodies of counting bytes", "speak HTTP/1.1"),
    ];
    for (_, what, instead) in beside.into_iter().filter(|(there, ..)| *there) {
        found.push(format!("http2: {what} is not there over HTTP/2: {instead}"));
    }
    if let Some(tls) = &http.tls
        && !tls.alpn.iter().any(|name| name == "h2")
    {
        found.push(
            "http2: TLS offers no h2 (ALPN), without which no server speaks it: alpn = [\"h2\"]".to_owned(),
        );
    }
    found.within("fields", |found| check_fields(&http.fields, found));
}

/// Adds what is wrong with fields of requests over HTTP/2.
pub(super) fn check_fields(fields: &[Field], found: &mut Found) {
    for (nth, name) in fields.iter().map(|field| field.name.as_str()).enumerate() {
        if OF_CONNECTIONS.iter().any(|of| of.eq_ignore_ascii_case(name)) {
            let why = "belongs to connections of HTTP/1; HTTP/2 does not have it: leave it out";
            found.at(nth, format!("field '{name}' {why}"));
        }
    }
}

/// Adds what is wrong with calls of gRPC where HTTP/2 is not spoken.
pub(super) fn check_grpc(phase: &str, step: &Step, found: &mut Found) {
    if let Step::Requests(step) = step
        && step.requests.kinds().iter().any(|request| request.grpc)
    {
        found.push(format!(
            "phase '{phase}': gRPC is spoken over HTTP/2: give http2 (--http 2, or 2c without TLS)"
        ));
    }
}

/// Adds what a step asks for that HTTP/2 does not have.
pub(super) fn check_step(phase: &str, step: &Step, found: &mut Found) {
    match step {
        Step::Requests(step) => {
            let sent = step.requests.kinds().iter().chain(&step.session.login);
            sent.for_each(|request| check_fields(&request.fields, found));
        }
        Step::Urls(_) => found.push(format!(
            "phase '{phase}': a list of jtest's URLs is not there over HTTP/2: speak HTTP/1.1, or give requests"
        )),
        _ => {}
    }
}
