//! A run as OpenTelemetry's metrics (OTLP 1.x, `ExportMetricsServiceRequest`): the names of [`families`](super::families) with dots, and times
//! as exponential histograms, cumulative. Service times of the whole run stand under the stable convention's
//! `http.client.request.duration`, too. Their exemplars are the slowest good requests with a trace context.

use super::native::{SCHEMA, ZERO};
use super::{Family, FamilyValue, Kind, Native, Sample};
use crate::protobuf::ProtobufMessage;
use measure::{Head, Histogram, TracedRequest};

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

/// Facts that points have beside their values.
#[derive(Clone, Copy)]
struct Measurement<'a> {
    span: Span,
    /// Requests that stand for others.
    exemplars: &'a [TracedRequest],
}

/// The request that carries all metrics. `slowest`: requests with a trace context.
pub fn request(families: &[Family], head: &Head, span: Span, slowest: &[TracedRequest]) -> Vec<u8> {
    let mut scope = ProtobufMessage::default();
    scope.text(1, "wringer").text(2, &head.version);
    let mut scoped = ProtobufMessage::default();
    scoped.message(1, scope);
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        let is_service_time = family.name == "wringer_service_time_seconds";
        let measurement = Measurement { span, exemplars: if is_service_time { slowest } else { &[] } };
        scoped.message(2, metric(&name(&family.name), unit(&family.name), family, measurement));
        if is_service_time {
            scoped.message(2, metric("http.client.request.duration", "s", family, measurement));
        }
    }
    let mut resource = ProtobufMessage::default();
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
    let mut of_resource = ProtobufMessage::default();
    of_resource.message(1, resource).message(2, scoped);
    let mut request = ProtobufMessage::default();
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

fn metric(name: &str, unit: &str, family: &Family, measurement: Measurement<'_>) -> ProtobufMessage {
    let mut metric = ProtobufMessage::default();
    let mut data = ProtobufMessage::default();
    metric.text(1, name).text(2, family.help).text(3, unit);
    for sample in &family.samples {
        data.message(1, point(family.kind, sample, measurement));
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

fn point(kind: Kind, sample: &Sample, Measurement { span, exemplars }: Measurement<'_>) -> ProtobufMessage {
    let mut point = ProtobufMessage::default();
    let attributes = if kind == Kind::Histogram { 1 } else { 7 };
    for (name, value) in &sample.labels {
        point.message(attributes, attribute(&format!("wringer.{name}"), value));
    }
    point.fixed(2, span.began_ns).fixed(3, span.now_ns);
    match &sample.value {
        FamilyValue::Number(value) => {
            point.double(4, *value);
        }
        FamilyValue::Times(times) => exponential(times, &mut point),
    }
    // Times are those of good answers alone.
    let is_good = |traced: &&TracedRequest| traced.failure.is_none() && traced.fault.is_none();
    let is_here = |traced: &&TracedRequest| sample.labels.contains(&("phase", traced.phase.clone()));
    for traced in exemplars.iter().filter(is_good).filter(is_here) {
        point.message(11, exemplar(traced, span));
    }
    point
}

/// When it ended, its service time and its trace id.
fn exemplar(traced: &TracedRequest, span: Span) -> ProtobufMessage {
    let mut exemplar = ProtobufMessage::default();
    let ended_ns = (traced.due + traced.response).as_nanos() as u64;
    exemplar.fixed(2, span.began_ns + ended_ns).double(3, traced.service.as_secs_f64());
    if let Ok(id) = u128::from_str_radix(&traced.trace_id, 16) {
        exemplar.blob(5, &id.to_be_bytes());
    }
    exemplar
}

fn exponential(times: &Histogram, point: &mut ProtobufMessage) {
    let native = Native::of(times);
    point.fixed(4, native.count).double(5, native.sum).signed(6, i64::from(SCHEMA)).fixed(7, native.zero);
    let (first, counts) = native.dense();
    let mut buckets = ProtobufMessage::default();
    // Here a bucket is called after where it begins, there after where it ends.
    buckets.signed(1, i64::from(first) - 1).numbers(2, counts);
    point.message(8, buckets);
    if native.count > 0 {
        point.double(12, times.min() as f64 / 1e6).double(13, times.max() as f64 / 1e6);
    }
    point.double(14, ZERO);
}

fn attribute(name: &str, value: &str) -> ProtobufMessage {
    let mut any = ProtobufMessage::default();
    let mut attribute = ProtobufMessage::default();
    any.text(1, &crate::harmless(value));
    attribute.text(1, name).message(2, any);
    attribute
}
