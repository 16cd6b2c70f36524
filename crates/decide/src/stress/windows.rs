//! The bystander before, during and after: its rows as a whole, and when it is well again.

use crate::buckets::quantile_ms;
use measure::{Buckets, Digits, Second, TimeMetric};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The bystander is well when so many seconds in a row are.
pub const HEALTHY_S: f64 = 3.0;

/// The bystander over some time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Window {
    /// Requests that were due.
    pub due: u64,
    /// Those of them that got no good answer, wrong ones included.
    pub not_good: u64,
    /// Answers that the oracle found wrong.
    pub faulty: u64,
    /// The 99th percentile of the response time of good answers.
    pub p99_ms: Option<f64>,
    /// How late its requests were sent: the 99th percentile.
    pub late_ms: Option<f64>,
    /// Answers that came out of the cache, as a share.
    pub hit_ratio: Option<f64>,
}

impl Window {
    /// That of these rows.
    pub fn of(rows: &[Second]) -> Window {
        let mut whole = Second::default();
        rows.iter().for_each(|row| whole.merge(row));
        let counts = whole.clients.counts;
        Window {
            due: counts.requests + counts.overflow,
            not_good: counts.failed + counts.check_failed + counts.unfinished + counts.overflow,
            faulty: counts.check_failed,
            p99_ms: quantile_ms(whole.metrics.get(&TimeMetric::Response), 0.99),
            late_ms: quantile_ms(whole.metrics.get(&TimeMetric::Lateness), 0.99),
            hit_ratio: whole.row().hit_ratio(),
        }
    }

    /// That of the rows while something pressed. What was due then and ended only afterwards is in it, too: a target that answers nobody
    /// as long as it is pressed ends no request in those rows.
    pub fn pressed(during: &[Second], after: &[Second]) -> Window {
        let mut window = Window::of(during);
        let mut response = Buckets::default();
        during
            .iter()
            .filter_map(|row| row.metrics.get(&TimeMetric::Response))
            .for_each(|row| response.merge(row));
        let mut since = Duration::ZERO;
        for row in after {
            since += row.took;
            response.merge(&longer_than(since, row.metrics.get(&TimeMetric::Response)));
            window.not_good += longer_than(since, row.metrics.get(&TimeMetric::Failure)).count();
        }
        window.p99_ms = quantile_ms(Some(&response), 0.99);
        window
    }

    /// Share of the due requests that got no good answer.
    pub fn failed_share(&self) -> f64 {
        if self.due == 0 { 0.0 } else { self.not_good as f64 / self.due as f64 }
    }
}

/// Times of requests that took longer; of a row that ended so long after a moment, those that were due before it.
fn longer_than(time: Duration, times: Option<&Buckets>) -> Buckets {
    let least = time.as_micros() as u64;
    let longer = times.into_iter().flat_map(Buckets::iter);
    // They are of two digits already, and stay as they are.
    Buckets::of_counts(longer.filter(|(bucket, _)| Digits::Two.lowest(*bucket) > least), Digits::Three)
}

/// Latency up to which the bystander is well, given what it was before.
pub fn well_below_ms(before: &Window) -> f64 {
    before.p99_ms.map_or(FLOOR_MS, |p99| (2.0 * p99).max(FLOOR_MS))
}

/// No latency below that counts as unwell, however small it was before.
const FLOOR_MS: f64 = 50.0;

/// Seconds from the beginning of these rows until the bystander was well for good long enough; `None`: it was not. The rows are of one length.
pub fn back_after(rows: &[Second], before: &Window) -> Option<f64> {
    let each_s = rows.first()?.took.as_secs_f64().max(1e-3);
    let needed = (HEALTHY_S / each_s).round().max(1.0) as usize;
    let is_well = |row: &Second| {
        let window = Window::of(std::slice::from_ref(row));
        let in_time = window.p99_ms.is_some_and(|p99| p99 <= well_below_ms(before));
        window.not_good == 0 && in_time
    };
    let first = rows.windows(needed).position(|stretch| stretch.iter().all(is_well))?;
    Some(rows[..first].iter().map(|row| row.took.as_secs_f64()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of half a second with so many good answers at this time, and so many failures.
    fn row(good: u64, ms: u64, failed: u64) -> Second {
        let mut row = Second { took: Duration::from_millis(500), ..Second::default() };
        row.clients.counts.requests = good + failed;
        row.clients.counts.ok = good;
        row.clients.counts.failed = failed;
        let times = [(Digits::Two.bucket(ms * 1000), good)];
        row.metrics.insert(TimeMetric::Response, Buckets::of_counts(times.into_iter(), Digits::Three));
        row
    }

    #[test]
    fn a_window_is_all_of_its_rows() {
        let window = Window::of(&[row(50, 1, 0), row(49, 1, 1)]);
        assert_eq!((window.due, window.not_good, window.faulty), (100, 1, 0));
        assert!((window.failed_share() - 0.01).abs() < 1e-9);
        assert!(window.p99_ms.is_some_and(|p99| (0.9..1.1).contains(&p99)), "{window:?}");
    }

    #[test]
    fn what_was_due_while_something_pressed_and_ended_afterwards_belongs_to_it() {
        let during = [row(100, 1, 0), row(0, 1, 0)];
        // Half a second after the end, 30 answers took two seconds; a second after it, what took 900 ms was due after it.
        let after = [row(30, 2_000, 0), row(50, 900, 0), row(50, 1, 0)];
        let window = Window::pressed(&during, &after);
        assert_eq!((window.due, window.not_good), (100, 0));
        assert!(window.p99_ms.is_some_and(|p99| (1_900.0..2_100.0).contains(&p99)), "{window:?}");
        let well = Window::pressed(&during, &after[1..]);
        assert!(well.p99_ms.is_some_and(|p99| (850.0..950.0).contains(&p99)), "due 0.4 s before: {well:?}");
        assert_eq!(Window::pressed(&during, &after[2..]), Window::of(&during));
        let mut failed = row(0, 1, 0);
        let times = [(Digits::Two.bucket(3_000_000), 7)];
        failed.metrics.insert(TimeMetric::Failure, Buckets::of_counts(times.into_iter(), Digits::Three));
        assert_eq!(Window::pressed(&during, &[failed]).not_good, 7);
    }

    #[test]
    fn the_way_back_ends_with_seconds_that_are_all_well() {
        let before = Window { p99_ms: Some(1.0), ..Window::default() };
        let well = || std::iter::repeat_n(row(50, 2, 0), 6);
        let mut rows = vec![row(20, 900, 30), row(50, 400, 0), row(50, 40, 1)];
        rows.extend(well());
        assert_eq!(back_after(&rows, &before), Some(1.5));
        assert_eq!(back_after(&rows[..8], &before), None);
        assert_eq!(back_after(&well().collect::<Vec<_>>(), &before), Some(0.0));
        assert_eq!(back_after(&[], &before), None);
        // Nobody is well who answers nothing.
        assert_eq!(back_after(&std::iter::repeat_n(row(0, 1, 0), 9).collect::<Vec<_>>(), &before), None);
    }
}
