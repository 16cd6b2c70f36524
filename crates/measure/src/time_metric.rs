//! Metrics of time, and their histograms as they are kept.

use crate::buckets::Buckets;
use serde::{Deserialize, Deserializer, Serializer};
use std::collections::BTreeMap;
use std::time::Duration;

/// Whole microseconds of a time, which is shorter than half a million years.
#[inline]
pub(crate) fn micros(time: Duration) -> u64 {
    time.as_secs() * 1_000_000 + u64::from(time.subsec_micros())
}

/// Times by what they measure.
pub type TimeMetrics = BTreeMap<TimeMetric, Buckets>;

/// Metrics of time; each has a histogram of microseconds, 1 µs to 1 h, three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeMetric {
    /// From the actual send until the answer was complete; good answers only.
    Service,
    /// From the intended send until the answer was complete; good answers only.
    Response,
    /// Service time of hits.
    Hit,
    /// Service time of misses, revalidations and collapsed requests.
    Miss,
    /// From the actual send to the first byte of the answer.
    FirstByte,
    /// Opening a connection.
    Connect,
    /// From the intended send until the generator took the request up, under an open pace; before connecting, which is
    /// the target's to delay.
    Lateness,
    /// From the actual send until a request had failed.
    Failure,
    /// Looking up a name, where users do.
    Lookup,
    /// The TLS handshake, from the first message until a request may be sent; with early data, until it was complete.
    Tls,
    /// [`FirstByte`](TimeMetric::FirstByte) of the first request of a connection.
    FirstByteNew,
    /// [`FirstByte`](TimeMetric::FirstByte) of requests over a connection that had carried one before.
    FirstByteReused,
    /// [`Service`](TimeMetric::Service) of the first request of a connection.
    ServiceNew,
    /// [`Service`](TimeMetric::Service) of requests over a connection that had carried one before.
    ServiceReused,
    /// From the send of a page's request until its last resource was complete.
    Page,
    /// From the actual send until an answer was complete that then failed a check.
    CheckFailed,
    /// From the intended send of a request that had no answer when its part of the run was over until then: its response
    /// time is at least this.
    Unfinished,
}

impl TimeMetric {
    /// Every metric, in order.
    pub const ALL: [TimeMetric; 17] = [
        TimeMetric::Service,
        TimeMetric::Response,
        TimeMetric::Hit,
        TimeMetric::Miss,
        TimeMetric::FirstByte,
        TimeMetric::Connect,
        TimeMetric::Lateness,
        TimeMetric::Failure,
        TimeMetric::Lookup,
        TimeMetric::Tls,
        TimeMetric::FirstByteNew,
        TimeMetric::FirstByteReused,
        TimeMetric::ServiceNew,
        TimeMetric::ServiceReused,
        TimeMetric::Page,
        TimeMetric::CheckFailed,
        TimeMetric::Unfinished,
    ];

    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            TimeMetric::Service => "service",
            TimeMetric::Response => "response",
            TimeMetric::Hit => "hit",
            TimeMetric::Miss => "miss",
            TimeMetric::FirstByte => "first_byte",
            TimeMetric::Connect => "connect",
            TimeMetric::Lateness => "lateness",
            TimeMetric::Failure => "failure",
            TimeMetric::Lookup => "lookup",
            TimeMetric::Tls => "tls",
            TimeMetric::FirstByteNew => "first_byte_new",
            TimeMetric::FirstByteReused => "first_byte_reused",
            TimeMetric::ServiceNew => "service_new",
            TimeMetric::ServiceReused => "service_reused",
            TimeMetric::Page => "page",
            TimeMetric::CheckFailed => "check_failed",
            TimeMetric::Unfinished => "unfinished",
        }
    }
}

/// Times that are the sum of two others, or what one leaves of another: not told, where that is so.
fn derived(metrics: &TimeMetrics, metric: TimeMetric) -> Option<Buckets> {
    let of = |metric| metrics.get(&metric);
    let sum = |new: Option<&Buckets>, reused: Option<&Buckets>| {
        let mut sum = new.or(reused)?.clone();
        if let (Some(_), Some(reused)) = (new, reused) {
            sum.merge(reused);
        }
        Some(sum)
    };
    match metric {
        TimeMetric::Service => sum(of(TimeMetric::ServiceNew), of(TimeMetric::ServiceReused)),
        TimeMetric::FirstByte => sum(of(TimeMetric::FirstByteNew), of(TimeMetric::FirstByteReused)),
        // Under a closed pace nothing is due before it is sent.
        TimeMetric::Response => of(TimeMetric::Service).cloned(),
        TimeMetric::Hit => {
            of(TimeMetric::Service)?.without(of(TimeMetric::Miss)?).filter(|hits| !hits.is_empty())
        }
        TimeMetric::Miss
        | TimeMetric::Connect
        | TimeMetric::Lateness
        | TimeMetric::Failure
        | TimeMetric::Lookup
        | TimeMetric::Tls
        | TimeMetric::FirstByteNew
        | TimeMetric::FirstByteReused
        | TimeMetric::ServiceNew
        | TimeMetric::ServiceReused
        | TimeMetric::Page
        | TimeMetric::CheckFailed
        | TimeMetric::Unfinished => None,
    }
}

/// In this order: what a later one is derived from is known by then.
const DERIVED: [TimeMetric; 4] =
    [TimeMetric::Service, TimeMetric::FirstByte, TimeMetric::Response, TimeMetric::Hit];

/// The histograms that are told: what follows from others is left out, and one that does not although it might is told empty.
pub(crate) fn told(metrics: &TimeMetrics) -> impl Iterator<Item = (TimeMetric, &Buckets)> {
    static NOTHING: Buckets = Buckets::EMPTY;
    TimeMetric::ALL.into_iter().filter_map(move |metric| {
        let here = metrics.get(&metric);
        let derived = derived(metrics, metric);
        if derived.as_ref() == here { None } else { Some((metric, here.unwrap_or(&NOTHING))) }
    })
}

/// All histograms, of those that were told.
pub(crate) fn whole(mut metrics: TimeMetrics) -> TimeMetrics {
    for metric in DERIVED {
        if !metrics.contains_key(&metric)
            && let Some(buckets) = derived(&metrics, metric)
        {
            metrics.insert(metric, buckets);
        }
    }
    metrics.retain(|_, buckets| !buckets.is_empty());
    metrics
}

/// Histograms under the names of their metrics; those of later versions are passed over. What follows from others is left out, and
/// one that does not although it might is written empty.
pub(crate) mod named {
    use super::*;

    pub fn serialize<S: Serializer>(metrics: &TimeMetrics, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(told(metrics).map(|(metric, buckets)| (metric.name(), buckets)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TimeMetrics, D::Error> {
        let named = BTreeMap::<String, Buckets>::deserialize(from)?;
        // `faulty`: the word of version 0.1.
        let known = |name: &str| match name {
            "faulty" => Some(TimeMetric::CheckFailed),
            name => TimeMetric::ALL.into_iter().find(|metric| metric.name() == name),
        };
        Ok(whole(named.into_iter().filter_map(|(name, buckets)| Some((known(&name)?, buckets))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::Digits;
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Kept(#[serde(with = "named")] TimeMetrics);

    fn buckets() -> impl Strategy<Value = Buckets> {
        prop::collection::btree_map(1u32..40, 1u64..5, 1..6)
            .prop_map(|counts| Buckets::of_counts(counts.into_iter(), Digits::Three))
    }

    fn text(metrics: &Kept) -> String {
        serde_json::to_string(metrics).unwrap()
    }

    #[test]
    fn what_follows_from_others_is_not_told_twice() {
        let of = |list: &[(u32, u64)]| Buckets::of_counts(list.iter().copied(), Digits::Three);
        let new = of(&[(3, 1)]);
        let reused = of(&[(3, 1), (9, 4)]);
        let all = of(&[(3, 2), (9, 4)]);
        let metrics = Kept(
            [
                (TimeMetric::ServiceNew, new),
                (TimeMetric::ServiceReused, reused),
                (TimeMetric::Service, all.clone()),
                (TimeMetric::Response, all),
                (TimeMetric::Miss, of(&[(9, 1)])),
                (TimeMetric::Hit, of(&[(3, 2), (9, 3)])),
            ]
            .into(),
        );
        let told = text(&metrics);
        assert_eq!(told, r#"{"miss":[[9,1]],"service_new":[[3,1]],"service_reused":[[3,1],[5,4]]}"#);
        assert_eq!(serde_json::from_str::<Kept>(&told).unwrap(), metrics);
    }

    proptest! {
        /// Whatever is there, and whether or not it is the sum that it mostly is.
        #[test]
        fn metrics_are_read_as_they_were_written(
            some in prop::collection::btree_map(0..TimeMetric::ALL.len(), buckets(), 0..8),
            derive in any::<[bool; 4]>(),
        ) {
            let mut metrics: TimeMetrics = some.into_iter().map(|(nth, buckets)| (TimeMetric::ALL[nth], buckets)).collect();
            for (metric, _) in DERIVED.into_iter().zip(derive).filter(|(_, derive)| *derive) {
                if let Some(buckets) = derived(&metrics, metric) {
                    metrics.insert(metric, buckets);
                }
            }
            let metrics = Kept(metrics);
            prop_assert_eq!(serde_json::from_str::<Kept>(&text(&metrics)).unwrap(), metrics);
        }
    }
}
