//! Snapshots as they travel from one machine to another: nothing is rounded on the way, so that sums are the same wherever they are
//! made.

use crate::buckets::Digits;
use crate::figures::{Figures, metrics};
use crate::request_times::{RequestDistributions, RequestDistributionsKept};
use crate::snapshot::Snapshot;
use crate::tally::Tally;
use crate::time_metric::{TimeMetrics, named};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A snapshot in a form that other machines read. Times are whole nanoseconds since the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CarriedSnapshot {
    worker: u32,
    phase: u32,
    interval: u64,
    in_flight: u64,
    peak: u64,
    cpu_ns: u64,
    closes_interval: bool,
    last: bool,
    span_ns: (u64, u64),
    paced_until_ns: u64,
    due_until_ns: u64,
    clients: Figures,
    #[serde(with = "named")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "std::collections::BTreeMap<String, crate::buckets::Buckets>")
    )]
    metrics: TimeMetrics,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distributions: Option<Box<RequestDistributionsKept>>,
}

impl CarriedSnapshot {
    /// The snapshot in this form.
    pub fn of(snapshot: &Snapshot) -> CarriedSnapshot {
        let tally = &snapshot.tally;
        CarriedSnapshot {
            worker: snapshot.worker,
            phase: snapshot.phase,
            interval: snapshot.interval,
            in_flight: snapshot.in_flight,
            peak: snapshot.peak,
            cpu_ns: nanos(snapshot.cpu),
            closes_interval: snapshot.closes_interval,
            last: snapshot.last,
            span_ns: (nanos(snapshot.span.0), nanos(snapshot.span.1)),
            paced_until_ns: nanos(snapshot.paced_until),
            due_until_ns: nanos(snapshot.due_until),
            clients: Figures::of(tally),
            metrics: metrics(tally, Digits::Three),
            distributions: tally.distributions().map(|distributions| Box::new(distributions.kept())),
        }
    }

    /// The snapshot that was carried.
    pub fn snapshot(&self) -> Snapshot {
        let mut tally = Box::new(Tally::new());
        self.clients.add_to(&mut tally);
        tally.add_metrics(&self.metrics, Digits::Three);
        if let Some(kept) = &self.distributions {
            tally.add_distributions(&RequestDistributions::of_kept(kept));
        }
        Snapshot {
            worker: self.worker,
            phase: self.phase,
            interval: self.interval,
            tally,
            in_flight: self.in_flight,
            peak: self.peak,
            cpu: Duration::from_nanos(self.cpu_ns),
            closes_interval: self.closes_interval,
            last: self.last,
            span: (Duration::from_nanos(self.span_ns.0), Duration::from_nanos(self.span_ns.1)),
            paced_until: Duration::from_nanos(self.paced_until_ns),
            due_until: Duration::from_nanos(self.due_until_ns),
        }
    }
}

/// Whole nanoseconds of a time shorter than five hundred years.
fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Exchange;
    use crate::labels::Label;
    use crate::outcome::{Failure, FailureKind, Outcome, Stage};

    fn told(seed: u64) -> Snapshot {
        let mut tally = Box::new(Tally::new());
        for n in 0..400u64 {
            let us = (n * 7919 + seed * 104_729).pow(2) % 3_000_000 + 1;
            let outcome = match n % 7 {
                0 => Outcome::Failed(Failure::new(FailureKind::Reset, Stage::Body).with_errno(Some(104))),
                1 => Outcome::Unfinished,
                _ => Outcome::Ok,
            };
            tally.exchange(&Exchange {
                status: 200,
                label: Some(Label((n % 3) as u16)),
                service: Duration::from_micros(us),
                response: Duration::from_micros(us + n),
                lateness: Some(Duration::from_micros(n)),
                body_bytes: n,
                ..Exchange::new(outcome, Duration::from_nanos(n * 1_000_003))
            });
        }
        tally.codes.count(Some(b"\xff00"), true);
        tally.heard(Duration::from_nanos(1_234_567_891));
        Snapshot {
            worker: 3,
            phase: 1,
            interval: 9,
            tally,
            in_flight: 4,
            peak: 5,
            cpu: Duration::from_nanos(77),
            closes_interval: true,
            last: false,
            span: (Duration::from_nanos(1), Duration::from_nanos(10_000_000_007)),
            paced_until: Duration::from_nanos(3),
            due_until: Duration::from_nanos(4),
        }
    }

    #[test]
    fn what_is_carried_comes_out_as_it_went_in_to_the_last_counter() {
        for seed in 0..20 {
            let carried = CarriedSnapshot::of(&told(seed));
            let text = serde_json::to_vec(&carried).unwrap();
            let read: CarriedSnapshot = serde_json::from_slice(&text).unwrap();
            assert_eq!(read, carried);
            assert_eq!(CarriedSnapshot::of(&read.snapshot()), carried);
        }
    }
}
