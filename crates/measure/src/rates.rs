//! Rates of single workers, and how a set of values is spread: what wrk shows as its thread statistics.

use crate::buckets::{Buckets, Digits};
use crate::snapshot::Snapshot;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Highest rate that is told apart, per second.
const MOST: u64 = 100_000_000;

/// Recorded units of a rate: so many make one request per second.
const FINENESS: u64 = 10;

/// Completed requests per second of single workers, one value for each interval in which a worker completed any.
#[derive(Debug, Clone)]
pub struct Rates {
    tenths: Histogram<u64>,
}

impl Default for Rates {
    fn default() -> Rates {
        Rates { tenths: histogram(MOST * FINENESS) }
    }
}

impl Rates {
    /// Records that a worker completed so many requests in this time.
    pub fn record(&mut self, completed: u64, within: Duration) {
        let seconds = within.as_secs_f64();
        if seconds > 0.0 {
            self.tenths.saturating_record((completed as f64 * FINENESS as f64 / seconds) as u64);
        }
    }

    /// The rates, in whole requests per second.
    pub fn seen(&self) -> Histogram<u64> {
        let mut seen = histogram(MOST);
        for step in self.tenths.iter_recorded() {
            let tenths = self.tenths.median_equivalent(step.value_iterated_to());
            seen.saturating_record_n(tenths / FINENESS, step.count_at_value());
        }
        seen
    }

    /// Adds those that were kept.
    pub(crate) fn add_kept(&mut self, kept: &Buckets) {
        kept.record(Digits::Three, &mut self.tenths);
    }

    /// The same as they are kept.
    pub(crate) fn kept(&self) -> Buckets {
        Buckets::of(&self.tenths, Digits::Three)
    }

    /// The rates, in tenths of a request per second.
    pub fn tenths(&self) -> &Histogram<u64> {
        &self.tenths
    }

    /// Adds another part's rates.
    pub fn merge(&mut self, other: &Rates) {
        // Both have the one geometry, so nothing can be out of range.
        let _ = self.tenths.add(&other.tenths);
    }
}

fn histogram(most: u64) -> Histogram<u64> {
    // Constant bounds that the constructor accepts.
    Histogram::new_with_bounds(1, most, 3).unwrap_or_else(|_| Histogram::new(3).unwrap())
}

/// Requests that a worker has completed since its last rate was recorded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    completed: u64,
    since: Duration,
}

impl Measured {
    /// Takes a snapshot; records a rate where an interval ends in which, or since the last such one, requests were
    /// completed. A stall thus becomes one low rate over the whole gap. The rest at the end of a run, which is no whole
    /// interval, gives none.
    pub(crate) fn take(&mut self, snapshot: &Snapshot, rates: &mut Rates) {
        let counts = &snapshot.tally.counts;
        self.completed += counts.ok + counts.check_failed;
        if snapshot.closes_interval && !snapshot.last && self.completed > 0 {
            let now = snapshot.span.1;
            rates.record(self.completed, now.saturating_sub(self.since));
            *self = Measured { completed: 0, since: now };
        }
    }
}

/// How a set of values is spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispersion {
    /// How many there are.
    pub count: u64,
    /// Their mean; 0 without values.
    pub mean: f64,
    /// Their standard deviation, of a sample (n-1); 0 with fewer than two.
    pub stdev: f64,
    /// The largest; 0 without values.
    pub max: u64,
    /// Share of those no further from the mean than the standard deviation, 0 to 1; `None` without values.
    pub within: Option<f64>,
}

impl Dispersion {
    /// The spread of what a histogram holds, to its precision.
    pub fn of(values: &Histogram<u64>) -> Dispersion {
        let count = values.len();
        if count == 0 {
            return Dispersion { count, mean: 0.0, stdev: 0.0, max: 0, within: None };
        }
        let mean = values.mean();
        // The histogram's own deviation is that of a whole population.
        let stdev = match count {
            1 => 0.0,
            _ => values.stdev() * (count as f64 / (count - 1) as f64).sqrt(),
        };
        // A bucket counts where any of its values would.
        let low = mean - stdev;
        let high = mean + stdev;
        let inside = values.iter_recorded().filter(|step| {
            let bucket = step.value_iterated_to();
            values.highest_equivalent(bucket) as f64 >= low && values.lowest_equivalent(bucket) as f64 <= high
        });
        let inside: u64 = inside.map(|step| step.count_at_value()).sum();
        Dispersion { count, mean, stdev, max: values.max(), within: Some(inside as f64 / count as f64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;
    use crate::tally::Tally;

    fn snapshot(ok: u64, at_ms: u64, last: bool) -> Snapshot {
        let mut tally = Box::new(Tally::new());
        tally.counts = Counts { ok, ..Counts::default() };
        Snapshot {
            worker: 0,
            phase: 0,
            interval: 0,
            tally,
            peak: 0,
            in_flight: 0,
            cpu: Duration::ZERO,
            closes_interval: true,
            last,
            span: (Duration::ZERO, Duration::from_millis(at_ms)),
            paced_until: Duration::from_millis(at_ms),
            due_until: Duration::from_millis(at_ms),
        }
    }

    #[test]
    fn a_stall_is_one_low_rate_and_the_rest_of_a_run_is_none() {
        let mut rates = Rates::default();
        let mut worker = Measured::default();
        for (ok, at_ms, last) in [(100, 100, false), (0, 200, false), (60, 300, false), (9, 310, true)] {
            worker.take(&snapshot(ok, at_ms, last), &mut rates);
        }
        let seen: Vec<u64> = rates.seen().iter_recorded().map(|step| step.value_iterated_to()).collect();
        assert_eq!(seen, [300, 1000]);
    }

    #[test]
    fn slow_services_have_rates_below_one() {
        let mut rates = Rates::default();
        rates.record(2, Duration::from_millis(3_100));
        rates.record(12_345, Duration::from_millis(100));
        let list = |values: &Histogram<u64>| -> Vec<u64> {
            values.iter_recorded().map(|step| values.median_equivalent(step.value_iterated_to())).collect()
        };
        assert_eq!(list(rates.tenths())[0], 6);
        let seen = list(&rates.seen());
        assert_eq!(seen[0], 0);
        assert!(seen[1].abs_diff(123_450) <= 123, "{seen:?}");
    }

    #[test]
    fn spreads_are_those_of_the_list() {
        let mut values = Histogram::new(3).unwrap();
        assert_eq!(Dispersion::of(&values).within, None);
        [2u64, 4, 4, 4, 5, 5, 7, 9].iter().for_each(|value| values.record(*value).unwrap());
        let spread = Dispersion::of(&values);
        assert_eq!((spread.count, spread.mean, spread.max), (8, 5.0, 9));
        assert!((spread.stdev - (32.0f64 / 7.0).sqrt()).abs() < 1e-9);
        assert_eq!(spread.within, Some(0.75));
    }
}
