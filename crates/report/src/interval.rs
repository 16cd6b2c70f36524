//! A run between two moments at which figures are sent to somebody who wants those of an interval.

use measure::{Buckets, Digits, Head, Histogram, Second, TimeMetric, shares};
use std::collections::BTreeMap;

/// Figures since the last sending.
#[derive(Debug, Clone, Default)]
pub struct Interval {
    /// By transaction.
    pub(crate) steps: BTreeMap<String, EndedRequests>,
    pub(crate) all: EndedRequests,
    pub(crate) counts: measure::Counts,
    /// Answers that were not good, by transaction and status.
    pub(crate) bad: BTreeMap<u16, u64>,
    pub(crate) most_in_flight: u64,
    pub(crate) in_flight: u64,
}

/// Requests that ended, and how long they took.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndedRequests {
    pub(crate) ended: u64,
    pub(crate) ok: u64,
    pub(crate) good: Buckets,
    pub(crate) bad: Buckets,
    /// Of all, where good and bad are not told apart.
    pub(crate) together: Buckets,
}

impl Interval {
    /// Takes a second in.
    pub fn take(&mut self, second: &Second, head: &Head) {
        let clients = &second.clients;
        let phase = head.phases.get(second.phase as usize);
        for label in &clients.labels {
            let name = phase.and_then(|phase| phase.labels.get(usize::from(label.label)));
            let step = self.steps.entry(name.map_or("other", String::as_str).to_owned()).or_default();
            step.ended += label.ended;
            step.ok += label.ok;
            step.together.merge(&label.response);
        }
        let ended = shares::finished(&clients.counts);
        let mut all = EndedRequests { ended, ok: clients.counts.ok, ..EndedRequests::default() };
        for (metric, buckets) in &second.metrics {
            match metric {
                TimeMetric::Service => all.good.merge(buckets),
                TimeMetric::Failure | TimeMetric::CheckFailed => all.bad.merge(buckets),
                _ => {}
            }
        }
        if clients.labels.is_empty() && ended > 0 {
            let name = phase.map_or("requests", |phase| &phase.name);
            self.steps.entry(name.to_owned()).or_default().merge(&all);
        }
        self.all.merge(&all);
        self.counts.merge(&clients.counts);
        for (status, count) in clients.statuses.iter().filter(|(status, _)| *status >= 400) {
            *self.bad.entry(*status).or_default() += count;
        }
        if !second.late {
            self.most_in_flight = self.most_in_flight.max(second.in_flight);
            self.in_flight = second.in_flight;
        }
    }
}

impl Interval {
    /// The part of it that is of these transactions, as if there were no others. Codes and bytes are known of all together alone.
    pub fn only(&self, names: &[String]) -> Interval {
        let steps: BTreeMap<String, EndedRequests> =
            names.iter().filter_map(|name| Some((name.clone(), self.steps.get(name)?.clone()))).collect();
        let mut all = EndedRequests::default();
        steps.values().for_each(|step| all.merge(step));
        let Interval { most_in_flight, in_flight, .. } = *self;
        Interval { steps, all, most_in_flight, in_flight, ..Interval::default() }
    }
}

impl EndedRequests {
    fn merge(&mut self, other: &EndedRequests) {
        self.ended += other.ended;
        self.ok += other.ok;
        self.good.merge(&other.good);
        self.bad.merge(&other.bad);
        self.together.merge(&other.together);
    }

    pub(crate) fn both(&self) -> Buckets {
        let mut both = self.together.clone();
        both.merge(&self.good);
        both.merge(&self.bad);
        both
    }
}

/// As a histogram; `None`: nothing is in it.
pub(crate) fn histogram(times: &Buckets) -> Option<Histogram> {
    // Constant bounds that the constructor accepts.
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000, 3).ok()?;
    times.record(Digits::Two, &mut histogram);
    (!histogram.is_empty()).then_some(histogram)
}
