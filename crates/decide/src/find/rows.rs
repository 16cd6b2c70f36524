//! A trial's result from the rows of its run, an interval each: how many due requests were over each limit.
//!
//! A request counts in the slice in which it ended. Those that were under way when the first slice began stand for those that are under way when the
//! last one ends; what of these is late, fails or is never answered is counted in the last slice, so that no request passes by being slow.

use super::recovery::{HEALTHY_S, recovered_after};
use super::settings::Limit;
use super::trial::{Pace, SLICES, Slice, Trial, TrialResult};
use crate::buckets::quantile_ms;
use crate::void::Void;
use crate::words;
use measure::{Buckets, Digits, Second, TimeMetric};

/// Sends may be late by this share of the shortest limit (99th percentile), or the generator had a hand in what is held against it.
const LATE: f64 = 0.05;
/// Seconds of each slice of a surge.
const SURGE_SLICE_S: f64 = 1.0;

/// How the run of a trial is cut into intervals, which its rows tell of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// Seconds of each.
    pub slice_s: f64,
    /// Intervals at the beginning that do not count.
    pub skipped: usize,
    /// Intervals after them that do.
    pub count: usize,
}

impl Cut {
    /// That of a trial.
    pub fn of(trial: &Trial) -> Cut {
        let (slice_s, count) = match trial.pace {
            Pace::Closed { .. } | Pace::Open { .. } => (trial.measure_s / SLICES as f64, SLICES),
            Pace::Surge { .. } => {
                let again = (HEALTHY_S / SURGE_SLICE_S) as usize;
                (SURGE_SLICE_S, (trial.measure_s / SURGE_SLICE_S).floor() as usize + again)
            }
        };
        // What does not count ends where a slice begins.
        let skipped = (trial.warm_s / slice_s - 1e-6).ceil().max(0.0) as usize;
        Cut { slice_s, skipped, count }
    }

    /// Slices of a surge's way back, before those of the rate after it.
    pub fn back(&self) -> usize {
        self.count.saturating_sub((HEALTHY_S / self.slice_s) as usize)
    }

    /// Seconds that requests are due in.
    pub fn lasts_s(&self) -> f64 {
        self.slice_s * (self.skipped + self.count) as f64
    }
}

/// Facts of a trial that its rows do not tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// Seconds that it took in all.
    pub took_s: f64,
    /// Why it says nothing of the target, as far as the run itself tells.
    pub void: Option<Void>,
    /// Busy share of the target's CPU, 0 to 1.
    pub cpu: Option<f64>,
}

/// The result of a trial. `rows`: all of its run, in order.
pub fn result(trial: &Trial, rows: &[Second], limits: &[Limit], beside: Beside) -> TrialResult {
    let cut = Cut::of(trial);
    let counted = rows.get(cut.skipped..).unwrap_or(&[]);
    let slices = slices(counted, limits, cut);
    let mut whole = Second::default();
    counted.iter().for_each(|row| whole.merge(row));
    let counts = whole.clients.counts;
    let slices = match trial.pace {
        Pace::Closed { .. } | Pace::Open { .. } => slices,
        Pace::Surge { .. } => way_back(&slices, cut.back(), limits),
    };
    TrialResult {
        took_s: beside.took_s,
        void: beside.void.or_else(|| late(&whole, limits)),
        slice_s: cut.slice_s,
        slices,
        overflow: counts.overflow,
        faulty: counts.check_failed,
        cpu: beside.cpu,
        hit_ratio: whole.row().hit_ratio(),
        p99_ms: quantile_ms(whole.metrics.get(&TimeMetric::Response), 0.99),
    }
}

fn slices(counted: &[Second], limits: &[Limit], cut: Cut) -> Vec<Slice> {
    let mut slices = vec![Slice { over: vec![0.0; limits.len()], ..Slice::default() }; cut.count];
    for (place, row) in counted.iter().enumerate() {
        let counts = &row.clients.counts;
        let is_within = place < cut.count;
        let slice = &mut slices[place.min(cut.count - 1)];
        slice.due += counts.requests + counts.overflow;
        slice.sent += counts.requests;
        for (sum, limit) in slice.over.iter_mut().zip(limits) {
            *sum += over(row, limit);
        }
        if is_within {
            slice.in_flight = row.in_flight as f64;
            slice.answered += counts.ended;
            slice.good += counts.ok;
        }
    }
    slices
}

/// Requests of a row that are over a limit; of a mean, the sum of their times in milliseconds.
fn over(row: &Second, limit: &Limit) -> f64 {
    let counts = &row.clients.counts;
    let not_good = (counts.failed + counts.check_failed + counts.unfinished + counts.overflow) as f64;
    match *limit {
        Limit::Quantile { limit_ms, .. } => {
            row.metrics.get(&TimeMetric::Response).map_or(0.0, |times| above(times, limit_ms * 1e3))
                + not_good
        }
        Limit::Failed { .. } => not_good,
        Limit::Mean { .. } => {
            let all =
                [TimeMetric::Response, TimeMetric::Failure, TimeMetric::CheckFailed, TimeMetric::Unfinished];
            all.iter().filter_map(|metric| row.metrics.get(metric)).map(sum_ms).sum()
        }
    }
}

/// How many times lie above a limit; of the bucket that it lies in, its share.
fn above(times: &Buckets, limit_us: f64) -> f64 {
    let of_bucket = |(bucket, count): (u32, u64)| {
        let low = Digits::Two.lowest(bucket) as f64;
        let high = Digits::Two.lowest(bucket + 1) as f64;
        count as f64 * ((high - limit_us) / (high - low)).clamp(0.0, 1.0)
    };
    times.iter().map(of_bucket).sum()
}

fn sum_ms(times: &Buckets) -> f64 {
    times.iter().map(|(bucket, count)| Digits::Two.middle(bucket) as f64 * count as f64 / 1e3).sum()
}

/// The generator had a hand in what the limits speak of.
fn late(whole: &Second, limits: &[Limit]) -> Option<Void> {
    let shortest = limits.iter().filter_map(Limit::time_ms).reduce(f64::min)?;
    let late = quantile_ms(whole.metrics.get(&TimeMetric::Lateness), 0.99)?;
    (late > LATE * shortest).then(|| Void::Generator {
        why: format!(
            "sends were late by {} (p99), more than {} of the limit of {}",
            words::time(late / 1e3),
            words::percent(LATE),
            words::time(shortest / 1e3)
        ),
    })
}

/// Only what is asked of a surge: the way back until it is healthy, and then the rate after it.
fn way_back(slices: &[Slice], back: usize, limits: &[Limit]) -> Vec<Slice> {
    let (back, again) = slices.split_at(back.min(slices.len()));
    match recovered_after(back, SURGE_SLICE_S, limits) {
        Some(after_s) => {
            let healthy = ((after_s + HEALTHY_S) / SURGE_SLICE_S).round() as usize;
            [&back[..healthy.min(back.len())], again].concat()
        }
        None => back.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::Purpose;
    use measure::Counts;

    const P99: Limit = Limit::Quantile { quantile: 0.99, limit_ms: 50.0 };
    const FAILED: Limit = Limit::Failed { share: 0.001 };
    const MEAN: Limit = Limit::Mean { limit_ms: 10.0 };

    fn trial(pace: Pace, warm_s: f64, measure_s: f64) -> Trial {
        Trial { number: 1, purpose: Purpose::Near, pace, warm_s, measure_s, seed: 1, why: String::new() }
    }

    /// A row with so many answers after 10 ms and so many after 80 ms.
    fn row(fast: u64, slow: u64, failed: u64) -> Second {
        let mut row = Second::default();
        row.clients.counts = Counts {
            requests: fast + slow + failed,
            ok: fast + slow,
            ended: fast + slow + failed,
            failed,
            ..Counts::default()
        };
        let times = [(10_000, fast), (80_000, slow)].into_iter().filter(|(_, count)| *count > 0);
        let buckets = times.map(|(time, count)| (Digits::Two.bucket(time), count));
        row.metrics.insert(TimeMetric::Response, Buckets::of_counts(buckets, Digits::Three));
        row.in_flight = 7;
        row
    }

    fn told(trial: &Trial, rows: &[Second], limits: &[Limit]) -> TrialResult {
        result(trial, rows, limits, Beside { took_s: 8.0, void: None, cpu: Some(0.5) })
    }

    #[test]
    fn slices_count_what_is_over_each_limit() {
        let trial = trial(Pace::Open { rate: 1_000.0 }, 2.0, 5.0);
        let cut = Cut::of(&trial);
        assert_eq!((cut.skipped, cut.count), (40, 100));
        assert!((cut.lasts_s() - 7.0).abs() < 1e-9);
        let mut rows = vec![row(0, 50, 0); 40];
        rows.extend(vec![row(48, 2, 1); 100]);
        // Those that were waited for.
        let mut late = row(3, 4, 0);
        late.clients.counts.requests = 0;
        late.clients.counts.unfinished = 5;
        rows.push(late);
        let result = told(&trial, &rows, &[P99, FAILED, MEAN]);
        assert_eq!((result.slices.len(), result.due()), (100, 5_100.0));
        assert_eq!((result.over(0), result.over(1)), (309.0, 105.0));
        let mean = result.over(2) / result.due();
        assert!((mean - 12.6).abs() < 0.2, "{mean}");
        assert_eq!((result.slices[99].over[0], result.slices[0].over[0]), (12.0, 3.0));
        assert!((result.good_per_s() - 1_000.0).abs() < 1e-6);
        assert!((result.slices[99].answered, result.slices[5].in_flight) == (51, 7.0));
        assert!(result.p99_ms.is_some_and(|p99| (p99 - 80.0).abs() < 0.5), "{result:?}");
        assert_eq!((result.void, result.hit_ratio, result.cpu), (None, None, Some(0.5)));
    }

    #[test]
    fn a_limit_within_a_bucket_takes_its_share_of_it() {
        let bucket = Digits::Two.bucket(50_000);
        let low = Digits::Two.lowest(bucket) as f64;
        let high = Digits::Two.lowest(bucket + 1) as f64;
        let times = Buckets::of_counts([(bucket, 100)].into_iter(), Digits::Three);
        for (limit, expected) in [(low - 1.0, 100.0), (high, 0.0), (low + (high - low) / 4.0, 75.0)] {
            assert_eq!(above(&times, limit), expected, "{limit}");
        }
    }

    #[test]
    fn a_warm_up_ends_where_a_slice_begins_and_a_run_that_was_cut_short_is_no_fault() {
        let trial = trial(Pace::Closed { users: 1 }, 1.0, 3.0);
        assert_eq!(Cut::of(&trial).skipped, 34);
        let result = told(&trial, &vec![row(1, 0, 0); 20], &[P99]);
        assert_eq!((result.slices.len(), result.due(), result.p99_ms), (100, 0.0, None));
    }

    #[test]
    fn sends_that_are_late_say_nothing_of_the_target() {
        let trial = trial(Pace::Open { rate: 1_000.0 }, 0.0, 5.0);
        let late = |time| {
            let mut rows = vec![row(50, 0, 0); 100];
            let times = [(Digits::Two.bucket(time), 50)].into_iter();
            rows[3].metrics.insert(TimeMetric::Lateness, Buckets::of_counts(times, Digits::Three));
            told(&trial, &rows, &[P99, FAILED]).void
        };
        assert_eq!(late(2_400), None);
        let Some(Void::Generator { why }) = late(2_700) else { panic!("it is void") };
        assert!(why.contains("more than 5.0 % of the limit of 50 ms"), "{why}");
    }

    #[test]
    fn the_way_back_ends_when_it_is_healthy() {
        let pace = Pace::Surge { over: 1_300.0, back: 500.0, again: 950.0 };
        let trial = trial(pace, 10.0, 30.5);
        assert_eq!(Cut::of(&trial), Cut { slice_s: 1.0, skipped: 10, count: 40 });
        let rows = |sick: usize| {
            let mut rows = vec![row(0, 900, 0); 10 + sick];
            rows.extend(vec![row(500, 0, 0); 30 - sick]);
            rows.extend(vec![row(950, 0, 0); 10]);
            rows
        };
        let result = told(&trial, &rows(4), &[P99]);
        assert_eq!(result.slices.len(), 24);
        assert_eq!(recovered_after(&result.slices, 1.0, &[P99]), Some(4.0));
        assert!(result.slices[14..].iter().all(|slice| slice.due == 950));
        assert_eq!(told(&trial, &rows(25), &[P99]).slices.len(), 30);
    }
}
