//! Measurements as JSON, as 1.69 writes them: times in seconds, and all samples.

use super::{H2loadFigures, H2loadPart};
use serde::Serialize;

/// Samples of a row that are written at most.
const MOST: usize = 1_000_000;

#[derive(Serialize)]
struct JsonFile<'a> {
    version: &'static str,
    metadata: Metadata,
    measurements: Measurements<'a>,
}

#[derive(Serialize)]
struct Metadata {
    generator: String,
}

#[derive(Serialize)]
struct Measurements<'a> {
    duration: f64,
    request_per_second: f64,
    bytes_per_second: u64,
    requests: Requests,
    status_codes: Statuses,
    traffic: Traffic,
    #[serde(skip_serializing_if = "Option::is_none")]
    udp_datagram: Option<Datagrams>,
    performance: Performance<'a>,
}

#[derive(Serialize)]
struct Requests {
    total: u64,
    started: u64,
    done: u64,
    succeeded: u64,
    failed: u64,
    errored: u64,
    timeout: u64,
}

#[derive(Serialize)]
struct Statuses {
    #[serde(rename = "2xx")]
    success: u64,
    #[serde(rename = "3xx")]
    redirection: u64,
    #[serde(rename = "4xx")]
    client_error: u64,
    #[serde(rename = "5xx")]
    server_error: u64,
}

#[derive(Serialize)]
struct Traffic {
    total: u64,
    headers: u64,
    headers_decompressed: u64,
    data: u64,
}

#[derive(Serialize)]
struct Datagrams {
    sent: u64,
    recv: u64,
}

#[derive(Serialize)]
struct Performance<'a> {
    request: Samples<'a>,
    connect: Samples<'a>,
    ttfb: Samples<'a>,
    request_per_second: Samples<'a>,
}

#[derive(Serialize)]
struct Samples<'a> {
    min: f64,
    max: f64,
    median: f64,
    p95: f64,
    p99: f64,
    mean: f64,
    sd: f64,
    within_sd: f64,
    #[serde(serialize_with = "all")]
    samples: &'a H2loadPart,
}

fn all<S: serde::Serializer>(part: &&H2loadPart, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(part.values.each().take(MOST).map(|value| value / unit(part)))
}

/// A second in the values of a row; 1 in rates.
fn unit(part: &H2loadPart) -> f64 {
    if part.rates { 1.0 } else { 1_000_000.0 }
}

fn samples(part: &H2loadPart) -> Samples<'_> {
    let spread = part.values.spread(false);
    let of = |value: f64| value / unit(part);
    Samples {
        min: of(spread.min),
        max: of(spread.max),
        median: of(spread.median),
        p95: of(spread.p95),
        p99: of(spread.p99),
        mean: of(spread.mean),
        sd: of(spread.sd),
        within_sd: spread.within,
        samples: part,
    }
}

/// The text of the file.
pub(super) fn text(figures: &H2loadFigures) -> String {
    let [request, connect, ttfb, request_per_second] = figures.parts.each_ref().map(samples);
    let [success, redirection, client_error, server_error] = figures.statuses;
    let generator = format!("h2load wringer/{}", env!("CARGO_PKG_VERSION"));
    let file = JsonFile {
        version: "v1",
        metadata: Metadata { generator },
        measurements: Measurements {
            duration: figures.took,
            request_per_second: figures.requests_per_second,
            bytes_per_second: figures.bytes_per_second as u64,
            requests: Requests {
                total: figures.total,
                started: figures.started,
                done: figures.done,
                succeeded: figures.succeeded,
                failed: figures.failed,
                errored: figures.errored,
                timeout: figures.timeout,
            },
            status_codes: Statuses { success, redirection, client_error, server_error },
            traffic: Traffic {
                total: figures.head_bytes + figures.body_bytes,
                headers: figures.head_bytes,
                headers_decompressed: figures.field_bytes,
                data: figures.body_bytes,
            },
            udp_datagram: figures.datagrams.map(|(sent, recv)| Datagrams { sent, recv }),
            performance: Performance { request, connect, ttfb, request_per_second },
        },
    };
    serde_json::to_string(&file).unwrap_or_default()
}
