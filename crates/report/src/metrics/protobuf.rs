//! Prometheus' own exchange in protocol buffers (`io.prometheus.client.MetricFamily`, each behind its length): the one that carries native
//! histograms; classic buckets stand beside them.

use super::native::{SCHEMA, ZERO};
use super::{Family, FamilyValue, Kind, Native, Sample, classic};
use crate::protobuf::ProtobufMessage;
use measure::Histogram;

/// Families as messages, one after the other.
pub fn protobuf(families: &[Family]) -> Vec<u8> {
    families.iter().flat_map(|family| of_family(family).delimited()).collect()
}

fn of_family(family: &Family) -> ProtobufMessage {
    let kind = match family.kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
        Kind::Histogram => 4,
    };
    let mut message = ProtobufMessage::default();
    message.text(1, &family.sample_name()).text(2, family.help).number(3, kind);
    for sample in &family.samples {
        message.message(4, of_sample(family.kind, sample));
    }
    message
}

fn of_sample(kind: Kind, sample: &Sample) -> ProtobufMessage {
    let mut message = ProtobufMessage::default();
    for (name, value) in &sample.labels {
        let mut label = ProtobufMessage::default();
        label.text(1, name).text(2, &crate::harmless(value));
        message.message(1, label);
    }
    match &sample.value {
        FamilyValue::Number(value) => {
            let mut number = ProtobufMessage::default();
            number.double(1, *value);
            message.message(if kind == Kind::Counter { 3 } else { 2 }, number);
        }
        FamilyValue::Times(times) => {
            message.message(7, histogram(times));
        }
    }
    message
}

fn histogram(times: &Histogram) -> ProtobufMessage {
    let native = Native::of(times);
    let mut message = ProtobufMessage::default();
    message.number(1, native.count).double(2, native.sum);
    for (bound, below) in classic(times) {
        let mut bucket = ProtobufMessage::default();
        bucket.number(1, below).double(2, bound);
        message.message(3, bucket);
    }
    message.signed(5, i64::from(SCHEMA)).double(6, ZERO).number(7, native.zero);
    let mut deltas = Vec::new();
    let mut before = 0i64;
    let spans = native.spans();
    if spans.is_empty() {
        // An empty span says that it is a native histogram that holds nothing yet.
        let mut span = ProtobufMessage::default();
        span.signed(1, 0).number(2, 0);
        message.message(12, span);
    }
    for (gap, counts) in spans {
        let mut span = ProtobufMessage::default();
        span.signed(1, i64::from(gap)).number(2, counts.len() as u64);
        message.message(12, span);
        for count in counts {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            deltas.push(count - before);
            before = count;
        }
    }
    message.all_signed(13, deltas);
    message
}
