//! Snapshots as they travel from one machine to another: nothing is rounded on the way, so that sums are the same wherever they are
//! made.

use crate::buckets::Digits;
use crate::figures::{Figures, metrics};
use crate::packed::{Packed, put, put_bytes, put_counts, put_labels, put_metrics};
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

/// The part of a snapshot that is small or rare, and travels as JSON.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CarriedRest {
    clients: Figures,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distributions: Option<Box<RequestDistributionsKept>>,
}

impl CarriedSnapshot {
    /// Appends it as few bytes.
    pub fn pack(mut self, to: &mut Vec<u8>) {
        let flags = u64::from(self.closes_interval) + 2 * u64::from(self.last);
        let (began, ended) = self.span_ns;
        let small =
            [u64::from(self.worker), u64::from(self.phase), self.interval, self.in_flight, self.peak, flags];
        let times = [self.cpu_ns, began, ended, self.paced_until_ns, self.due_until_ns];
        small.into_iter().chain(times).for_each(|number| put(number, to));
        put_counts(&std::mem::take(&mut self.clients.counts), to);
        put_labels(&std::mem::take(&mut self.clients.labels), to);
        put_metrics(&self.metrics, to);
        let rest = CarriedRest { clients: self.clients, distributions: self.distributions };
        // Figures of a worker that are told beside those of another one have none.
        let json = if rest == CarriedRest::default() { Ok(Vec::new()) } else { serde_json::to_vec(&rest) };
        // Numbers, texts and lists: nothing in them can fail.
        put_bytes(&json.expect("figures are plain values"), to);
    }

    /// Takes one that was packed off the bytes; nothing where they are cut or damaged.
    pub fn unpack(bytes: &mut &[u8]) -> Option<CarriedSnapshot> {
        let mut packed = Packed(std::mem::take(bytes));
        let worker = packed.small()?;
        let phase = packed.small()?;
        let [interval, in_flight, peak] = packed.numbers()?;
        let flags = packed.number().filter(|flags| *flags < 4)?;
        let cpu_ns = packed.number()?;
        let [began_ns, ended_ns, paced_until_ns, due_until_ns] = packed.numbers()?;
        let counts = packed.counts()?;
        let labels = packed.labels()?;
        let metrics = packed.metrics()?;
        let rest = match packed.bytes()? {
            [] => CarriedRest::default(),
            json => serde_json::from_slice(json).ok()?,
        };
        *bytes = packed.0;
        Some(CarriedSnapshot {
            worker,
            phase,
            interval,
            in_flight,
            peak,
            cpu_ns,
            closes_interval: flags & 1 != 0,
            last: flags & 2 != 0,
            span_ns: (began_ns, ended_ns),
            paced_until_ns,
            due_until_ns,
            clients: Figures { counts, labels, ..rest.clients },
            metrics,
            distributions: rest.distributions,
        })
    }

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
            let mut bytes = Vec::new();
            carried.clone().pack(&mut bytes);
            assert!(bytes.len() * 2 < text.len(), "{} bytes, {} as text", bytes.len(), text.len());
            let mut left = &bytes[..];
            assert_eq!(CarriedSnapshot::unpack(&mut left), Some(carried));
            assert!(left.is_empty());
        }
    }

    #[test]
    fn bytes_that_are_cut_or_changed_are_refused_or_read_and_never_more_than_there_is() {
        let mut bytes = Vec::new();
        CarriedSnapshot::of(&told(3)).pack(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(CarriedSnapshot::unpack(&mut &bytes[..length]), None, "{length} of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x81;
            if let Some(read) = CarriedSnapshot::unpack(&mut &changed[..]) {
                let mut again = Vec::new();
                read.clone().pack(&mut again);
                assert_eq!(CarriedSnapshot::unpack(&mut &again[..]), Some(read), "byte {at}");
            }
        }
        // Plain counts alone, as workers have them that are told beside another one, take a few bytes.
        let mut plain = told(3);
        *plain.tally = Tally::new();
        plain.tally.counts.requests = 400;
        let mut bytes = Vec::new();
        CarriedSnapshot::of(&plain).pack(&mut bytes);
        assert!(bytes.len() < 50, "{}", bytes.len());
    }
}
