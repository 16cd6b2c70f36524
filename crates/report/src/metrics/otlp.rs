//! A run as OpenTelemetry's metrics (OTLP 1.x, `ExportMetricsServiceRequest`): the names of [`families`](super::families) with dots, and times
//! as exponential histograms, cumulative. Service times of the whole run stand under the stable convention's
//! `http.client.request.duration`, too.

use super::native::{SCHEMA, ZERO};
use super::{Family, Kind, Native, Sample, Value};
use crate::protobuf::Message;
use measure::{Head, Histogram};

/// Since when, and at which moment, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// The run's beginning.
    pub began_ns: u64,
    /// Now.
    pub now_ns: u64,
}

/// Temporality: counts since the beginning.
const CUMULATIVE: u64 = 2;

/// The request that carries all metrics.
pub fn request(families: &[Family], head: &Head, span: Span) -> Vec<u8> {
    let mut scope = Message::default();
    scope.text(1, "wringer").text(2, &head.version);
    let mut scoped = Message::default();
    scoped.message(1, scope);
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        scoped.message(2, metric(&name(&family.name), unit(&family.name), family, span));
        if family.name == "wringer_service_time_seconds" {
            scoped.message(2, metric("http.client.request.duration", "s", family, span));
        }
    }
    let mut resource = Message::default();
    let own = [
        ("service.name", "wringer"),
        ("service.version", &*head.version),
        ("service.instance.id", &*head.id),
    ];
    for (name, value) in own {
        resource.message(1, attribute(name, value));
    }
    for (name, value) in &head.labels {
        resource.message(1, attribute(&format!("wringer.label.{name}"), value));
    }
    let mut of_resource = Message::default();
    of_resource.message(1, resource).message(2, scoped);
    let mut request = Message::default();
    request.message(1, of_resource);
    request.bytes()
}

/// `wringer_send_lateness_seconds` is `wringer.send.lateness`.
fn name(name: &str) -> String {
    let name = name.strip_suffix("_seconds").or_else(|| name.strip_suffix("_bytes")).unwrap_or(name);
    name.replace('_', ".")
}

/// In the units of UCUM.
fn unit(name: &str) -> &'static str {
    match name {
        _ if name.ends_with("_seconds") => "s",
        _ if name.ends_with("_bytes") => "By",
        _ => "1",
    }
}

fn metric(name: &str, unit: &str, family: &Family, span: Span) -> Message {
    let mut metric = Message::default();
    let mut data = Message::default();
    metric.text(1, name).text(2, family.help).text(3, unit);
    for sample in &family.samples {
        data.message(1, point(family.kind, sample, span));
    }
    match family.kind {
        Kind::Gauge => metric.message(5, data),
        Kind::Counter => {
            data.number(2, CUMULATIVE).number(3, 1);
            metric.message(7, data)
        }
        Kind::Histogram => {
            data.number(2, CUMULATIVE);
            metric.message(10, data)
        }
    };
    metric
}

fn point(kind: Kind, sample: &Sample, span: Span) -> Message {
    let mut point = Message::default();
    let attributes = if kind == Kind::Histogram { 1 } else { 7 };
    for (name, value) in &sample.labels {
        point.message(attributes, attribute(&format!("wringer.{name}"), value));
    }
    point.fixed(2, span.began_ns).fixed(3, span.now_ns);
    match &sample.value {
        Value::Number(value) => {
            point.double(4, *value);
        }
        Value::Times(times) => exponential(times, &mut point),
    }
    point
}

fn exponential(times: &Histogram, point: &mut Message) {
    let native = Native::of(times);
    point.fixed(4, native.count).double(5, native.sum).signed(6, i64::from(SCHEMA)).fixed(7, native.zero);
    let (first, counts) = native.dense();
    let mut buckets = Message::default();
    // Here a bucket is called after where it begins, there after where it ends.
    buckets.signed(1, i64::from(first) - 1).numbers(2, counts);
    point.message(8, buckets);
    if native.count > 0 {
        point.double(12, times.min() as f64 / 1e6).double(13, times.max() as f64 / 1e6);
    }
    point.double(14, ZERO);
}

fn attribute(name: &str, value: &str) -> Message {
    let mut any = Message::default();
    let mut attribute = Message::default();
    any.text(1, &crate::harmless(value));
    attribute.text(1, name).message(2, any);
    attribute
}
