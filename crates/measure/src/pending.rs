//! Rows that workers have begun to tell, and rows that were told before all of them had.

use crate::snapshot::Snapshot;
use crate::stream::Second;
use crate::tally::Tally;
use crate::time_metric::TimeMetric;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::time::Duration;

/// A row, by its number, within a phase; keys are told in order by each worker.
pub(crate) type Key = (u64, u32);

/// So long a row waits for the rest, once a worker has told all that it had.
const PATIENCE: Duration = Duration::from_secs(3);

/// Rows at most whose times are kept for what comes late. An agent that is silent for longer tells several of them as one.
const EARLY_ROWS: usize = 16;

/// A row that some workers have told.
#[derive(Debug)]
pub(crate) struct Pending {
    pub tally: Tally,
    pub in_flight: u64,
    pub began: Duration,
    pub ends: Duration,
    pub paced_until: Duration,
    /// CPU time of each worker, and in which time.
    pub cpu: Vec<(Duration, Duration)>,
    /// A worker has told all that it had.
    closed: bool,
    /// Since when it is known that it waits for the others.
    waits_since: Option<Duration>,
}

impl Pending {
    /// With an empty tally.
    pub fn new(tally: Tally, began: Duration) -> Pending {
        let none = Duration::ZERO;
        Pending {
            tally,
            in_flight: 0,
            began,
            ends: none,
            paced_until: none,
            cpu: Vec::new(),
            closed: false,
            waits_since: None,
        }
    }

    /// Takes in what a worker told in so much time. `closes`: it tells no more of the row.
    pub fn add(&mut self, snapshot: &Snapshot, interval: Duration, closes: bool) {
        self.merge(snapshot, closes);
        self.began = self.began.min(snapshot.span.0);
        self.ends = self.ends.max(snapshot.span.1);
        self.paced_until = self.paced_until.max(snapshot.paced_until);
        let worker = snapshot.worker as usize;
        self.cpu.resize(self.cpu.len().max(worker + 1), (Duration::ZERO, Duration::ZERO));
        self.cpu[worker].0 += snapshot.cpu;
        self.cpu[worker].1 += interval;
        self.closed |= closes;
    }

    fn merge(&mut self, snapshot: &Snapshot, closes: bool) {
        self.tally.merge(&snapshot.tally);
        self.in_flight += if closes { snapshot.in_flight } else { 0 };
    }

    /// True if a worker has told all that it had.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// It waits for the others, at the latest from now on.
    pub fn wait(&mut self, now: Duration) {
        self.waits_since.get_or_insert(now);
    }

    /// True if it has waited long enough.
    pub fn is_overdue(&self, now: Duration) -> bool {
        self.waits_since.is_some_and(|since| now.saturating_sub(since) >= PATIENCE)
    }

    /// Its tally, emptied.
    pub fn into_tally(self) -> Tally {
        let mut tally = self.tally;
        tally.clear();
        tally
    }

    /// A second with its times alone.
    pub fn times(&self) -> Second {
        let service = self.tally.metric(TimeMetric::Service);
        let at = |quantile| if service.is_empty() { 0 } else { service.value_at_quantile(quantile) };
        Second {
            p50_us: at(0.5),
            p99_us: at(0.99),
            max_us: if service.is_empty() { 0 } else { service.max() },
            mean_us: mean(&[&service, &self.tally.metric(TimeMetric::CheckFailed)]),
            ..Second::default()
        }
    }
}

/// Rows that were told before every worker had told its part: what comes late is added to them.
#[derive(Debug, Default)]
pub(crate) struct EarlyRows(BTreeMap<Key, Pending>);

impl EarlyRows {
    /// Keeps a row; where too many are kept, gives its tally back, emptied.
    pub fn keep(&mut self, key: Key, row: Pending) -> Option<Tally> {
        if self.0.len() >= EARLY_ROWS {
            return Some(row.into_tally());
        }
        self.0.insert(key, row);
        None
    }

    /// Adds what a worker told late. Returns when the row ended, and its times, which are those of the whole now; nothing where it is
    /// not kept.
    pub fn add(&mut self, key: Key, snapshot: &Snapshot, closes: bool) -> Option<Second> {
        let row = self.0.get_mut(&key)?;
        row.merge(snapshot, closes);
        Some(Second { at: row.ends, ..row.times() })
    }

    /// Keeps only the rows of which something may come yet.
    pub fn retain(&mut self, may_grow: impl Fn(Key) -> bool) {
        self.0.retain(|key, _| may_grow(*key));
    }

    /// A row is whole. Gives its tally back, emptied.
    pub fn forget(&mut self, key: Key) -> Option<Tally> {
        self.0.remove(&key).map(Pending::into_tally)
    }
}

/// The mean over several histograms; 0 where they are empty.
fn mean(histograms: &[&Histogram<u64>]) -> f64 {
    let count: u64 = histograms.iter().map(|values| values.len()).sum();
    let sum: f64 = histograms.iter().map(|values| values.mean() * values.len() as f64).sum();
    if count > 0 { sum / count as f64 } else { 0.0 }
}
