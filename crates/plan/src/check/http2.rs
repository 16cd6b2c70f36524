//! Checks of HTTP/2 and HTTP/3: features that a plan asks for beside them and that they do not have.

use super::ViolationFound;
use crate::http::http2::Http2;
use crate::http::http3::{Http3, Qlog};
use crate::http::tls::TlsVersion;
use crate::http::version::HttpVersion;
use crate::load::http::{Http, Http1Version, RequestForm};
use crate::load::{Load, Phase};
use crate::request::field::Field;
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

/// A version with streams.
struct Streamed {
    /// Its name in plans, which is also what TLS calls it.
    key: &'static str,
    name: &'static str,
}

const TWO: Streamed = Streamed { key: "h2", name: "HTTP/2" };
const THREE: Streamed = Streamed { key: "h3", name: "HTTP/3" };

/// Adds what is wrong with each version that is spoken, and with which they are.
pub(super) fn check_versions(load: &Load, found: &mut ViolationFound) {
    for http in load.spoken() {
        if http.usual().is_none() {
            found.push(
                "h3 stands beside h2: give one of them, or say in each phase which is spoken: http = [\"2\", \"3\"]"
                    .to_owned(),
            );
            return;
        }
        if let Some(two) = &http.h2 {
            check(&http, two, found);
        }
        if let Some(three) = &http.h3 {
            check_http3(&http, three, found);
        }
    }
}

/// Adds what is wrong with HTTP/2, and with what it stands beside.
fn check(http: &Http, http2: &Http2, found: &mut ViolationFound) {
    check_streams(http2.streams, &TWO, found);
    for (name, window) in
        [("stream_window", http2.stream_window), ("connection_window", http2.connection_window)]
    {
        if window > MAX_WINDOW {
            found.at("h2", format!("h2: {name} is {window}: give at most 2^31-1 bytes"));
        }
    }
    for (name, table) in [("decoder_table", http2.decoder_table), ("encoder_table", http2.encoder_table)] {
        if table > MAX_TABLE {
            found.at("h2", format!("h2: {name} is {table}: give at most {MAX_TABLE} bytes"));
        }
    }
    check_beside(http, &TWO, found);
}

/// Adds what is wrong with HTTP/3, and with what it stands beside.
fn check_http3(http: &Http, http3: &Http3, found: &mut ViolationFound) {
    check_streams(http3.streams, &THREE, found);
    let payload = http3.payload.unwrap_or(Http3::LEAST_PAYLOAD);
    if !(Http3::LEAST_PAYLOAD..=Http3::MOST_PAYLOAD).contains(&payload) {
        let least = Http3::LEAST_PAYLOAD;
        let most = Http3::MOST_PAYLOAD;
        found.at("h3", format!("h3: payload is {payload}: give {least} to {most} bytes"));
    }
    if http3.migrate_every.is_some_and(|every| every.is_zero()) {
        found.at("h3", "h3: migrate_every is 0: give a time, such as 1s".to_owned());
    }
    if let Some(qlog) = &http3.qlog {
        found.within("h3", |found| check_qlog(qlog, found));
    }
    if http.unix_socket.is_some() {
        found.push("h3: QUIC goes over UDP, not over a Unix socket: leave out unix_socket".to_owned());
    }
    match &http.tls {
        None => found.push("h3: QUIC always has TLS: give https:// URLs, or tls".to_owned()),
        Some(tls) if !tls.versions.is_empty() && !tls.versions.contains(&TlsVersion::Tls13) => {
            found.push("h3: QUIC has TLS 1.3: leave versions out, or give 1.3".to_owned());
        }
        Some(_) => {}
    }
    check_beside(http, &THREE, found);
}

fn check_qlog(qlog: &Qlog, found: &mut ViolationFound) {
    if qlog.folder.is_empty() {
        found.at("qlog", "h3: qlog has no folder: say where its files go".to_owned());
    }
    if !(1..=Qlog::MOST).contains(&qlog.connections) {
        let given = qlog.connections;
        found.at("qlog", format!("h3: qlog of {given} connections: give 1 to {}", Qlog::MOST));
    }
}

fn check_streams(streams: u32, version: &Streamed, found: &mut ViolationFound) {
    let key = version.key;
    if !(1..=MAX_STREAMS).contains(&streams) {
        found.at(key, format!("{key}: streams is {streams}: give 1 to {MAX_STREAMS}"));
    }
}

/// Refuses features that HTTP/1 has and versions with streams have not.
fn check_beside(http: &Http, version: &Streamed, found: &mut ViolationFound) {
    let Streamed { key, name } = version;
    let beside = [
        (http.h1.pipeline > 1, "pipelining", "give more streams instead"),
        (http.tunnel, "a tunnel through a proxy (CONNECT)", "press the server itself, or speak HTTP/1.1"),
        (
            http.h1.form != RequestForm::Reverse,
            "the form of requests to a forward proxy",
            "use the reverse form",
        ),
        (http.h1.version != Http1Version::OneOne, "HTTP/1.0", "leave the version out"),
        (
            http.h1.listed_fields_only,
            "requests with none but the plan's fields",
            "leave `listed_fields_only` out",
        ),
        (http.post_bytes.is_some(), "bodies of counting bytes", "speak HTTP/1.1"),
    ];
    for (_, what, instead) in beside.into_iter().filter(|(there, ..)| *there) {
        found.push(format!("{key}: {what} is not there over {name}: {instead}"));
    }
    if let Some(tls) = &http.tls
        && !tls.alpn.iter().any(|offered| offered == key)
    {
        found.push(format!(
            "{key}: TLS offers no {key} (ALPN), without which no server speaks it: alpn = [\"{key}\"]"
        ));
    }
    found.within("fields", |found| check_fields(&http.fields, found));
}

/// Adds what is wrong with fields of requests over HTTP/2 or 3.
pub(super) fn check_fields(fields: &[Field], found: &mut ViolationFound) {
    for (nth, name) in fields.iter().map(|field| field.name.as_str()).enumerate() {
        if OF_CONNECTIONS.iter().any(|of| of.eq_ignore_ascii_case(name)) {
            let why = "belongs to connections of HTTP/1; HTTP/2 and HTTP/3 do not have it: leave it out";
            found.at(nth, format!("field '{name}' {why}"));
        }
    }
}

/// Adds what is wrong with a step for the versions of HTTP that are spoken in it. `named`: those that the plan names for its users.
pub(super) fn check_send(
    phase: &Phase,
    step: &Step,
    named: &[HttpVersion],
    load: &Load,
    found: &mut ViolationFound,
) {
    let name = &phase.name;
    let Some(http) = load.protocol.http() else {
        if !named.is_empty() {
            found.push(format!("phase '{name}': http stands where messages are spoken: leave it out"));
        }
        return;
    };
    if (1..named.len()).any(|nth| named[..nth].contains(&named[nth])) {
        found.push(format!(
            "phase '{name}': http names a version twice: users take turns, so each is named once"
        ));
    }
    let usual = http.usual();
    let spoken = if named.is_empty() { usual.as_slice() } else { named };
    if spoken.iter().any(|version| *version != HttpVersion::One) {
        check_step(name, step, found);
    }
    if spoken.contains(&HttpVersion::One) {
        check_grpc(name, step, found);
    }
    if let (Step::Script(_), 2..) = (step, spoken.len()) {
        found.push(format!("phase '{name}': a script speaks one version of HTTP: name one"));
    }
}

/// Adds what is wrong with calls of gRPC where HTTP/2 is not spoken.
fn check_grpc(phase: &str, step: &Step, found: &mut ViolationFound) {
    if let Step::Requests(step) = step
        && step.requests.kinds().iter().any(|request| request.grpc)
    {
        found.push(format!(
            "phase '{phase}': gRPC is spoken over HTTP/2: give http2 (--http 2, or 2c without TLS), or http3"
        ));
    }
}

/// Adds what a step asks for that HTTP/2 and HTTP/3 do not have.
fn check_step(phase: &str, step: &Step, found: &mut ViolationFound) {
    if let Step::Requests(step) = step {
        let sent = step.requests.kinds().iter().chain(&step.session.login);
        sent.for_each(|request| check_fields(&request.fields, found));
    }
    if matches!(step, Step::Urls(_)) {
        found.push(format!(
            "phase '{phase}': a list of jtest's URLs is not there over HTTP/2 and HTTP/3: speak HTTP/1.1, or give requests"
        ));
    }
}
