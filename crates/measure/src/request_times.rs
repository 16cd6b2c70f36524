//! How times spread over all requests that have ended, failed ones included: what the reports of old load testers are
//! made of. Gathered only where a plan asks for it; the figures of a run proper are those of [`crate::tally`].

use crate::buckets::{Buckets, Digits};
use crate::distribution::{Distribution, MAX_US};
use crate::seconds;
use crate::time_metric::TimeMetric;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Times of one kind.
#[derive(Debug, Clone)]
pub struct ExactDistribution {
    /// Times of zero; most of those of connecting are.
    zeros: u64,
    /// Sum in µs.
    sum_us: u64,
    /// Sum of squares in µs².
    squares: u128,
    /// The shortest but for those of zero.
    min_us: u64,
    max_us: u64,
    /// All but those of zero.
    times: Distribution,
}

impl Default for ExactDistribution {
    fn default() -> ExactDistribution {
        ExactDistribution {
            zeros: 0,
            sum_us: 0,
            squares: 0,
            min_us: u64::MAX,
            max_us: 0,
            times: Distribution::default(),
        }
    }
}

impl ExactDistribution {
    /// Takes a time; it may be zero.
    pub fn add(&mut self, time: Duration) {
        let us = (time.as_micros() as u64).min(MAX_US);
        if us == 0 {
            self.zeros += 1;
            return;
        }
        self.sum_us += us;
        // The longest time squared has 64 bits.
        self.squares += u128::from(us * us);
        self.min_us = self.min_us.min(us);
        self.max_us = self.max_us.max(us);
        self.times.record(us, 1);
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &ExactDistribution) {
        self.zeros += other.zeros;
        self.sum_us += other.sum_us;
        self.squares += other.squares;
        self.min_us = self.min_us.min(other.min_us);
        self.max_us = self.max_us.max(other.max_us);
        self.times.merge(&other.times);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.zeros + self.times.count()
    }

    /// The shortest, in µs; 0 where there is none.
    pub fn min_us(&self) -> u64 {
        if self.zeros > 0 || self.times.is_empty() { 0 } else { self.min_us }
    }

    /// The longest, in µs.
    pub fn max_us(&self) -> u64 {
        self.max_us
    }

    /// Their sum, in µs.
    pub fn sum_us(&self) -> u64 {
        self.sum_us
    }

    /// The mean, in µs.
    pub fn mean_us(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_us as f64 / self.count() as f64 }
    }

    /// Mean, longest and shortest of the times that are not zero, in µs; `None` where there is none.
    pub fn beyond_zero_us(&self) -> Option<(f64, u64, u64)> {
        let count = self.times.count();
        (count > 0).then(|| (self.sum_us as f64 / count as f64, self.max_us, self.min_us))
    }

    /// The standard deviation of a sample (divided by n - 1), in µs; 0 for fewer than two.
    pub fn deviation_us(&self) -> f64 {
        let count = u128::from(self.count());
        if count < 2 {
            return 0.0;
        }
        // In whole numbers, so that nothing is lost where the mean is far greater than the deviation.
        let sum = u128::from(self.sum_us);
        let squares = (count * self.squares).saturating_sub(sum * sum);
        (squares as f64 / count as f64 / (count - 1) as f64).sqrt()
    }

    /// The time at an index of the sorted list, in µs, as near as the histogram knows it (exact up to 2 ms, then within
    /// 0.1 %); the last one for an index beyond.
    pub fn at_us(&self, index: u64) -> u64 {
        let mut seen = self.zeros;
        if seen > index {
            return 0;
        }
        for (bucket, count) in self.times.iter() {
            seen += count;
            if seen > index {
                return Digits::Three.middle(bucket).clamp(self.min_us(), self.max_us);
            }
        }
        self.max_us
    }

    /// The median in µs: of an even number, the mean of the two in the middle.
    pub fn median_us(&self) -> u64 {
        match self.count() {
            0 => 0,
            count if count.is_multiple_of(2) => {
                u64::midpoint(self.at_us(count / 2 - 1), self.at_us(count / 2))
            }
            count => self.at_us(count / 2),
        }
    }

    fn clear(&mut self) {
        (self.zeros, self.sum_us, self.squares, self.min_us, self.max_us) = (0, 0, 0, u64::MAX, 0);
        self.times.clear();
    }
}

impl ExactDistribution {
    fn kept(&self) -> ExactDistributionKept {
        ExactDistributionKept {
            zeros: self.zeros,
            sum_us: self.sum_us,
            squares: self.squares.to_string(),
            min_us: if self.times.is_empty() { 0 } else { self.min_us },
            max_us: self.max_us,
            times: Buckets::of_counts(self.times.iter(), Digits::Three),
        }
    }

    fn of_kept(kept: &ExactDistributionKept) -> ExactDistribution {
        let mut distribution = ExactDistribution {
            zeros: kept.zeros,
            sum_us: kept.sum_us,
            squares: kept.squares.parse().unwrap_or(0),
            max_us: kept.max_us,
            ..ExactDistribution::default()
        };
        if !kept.times.is_empty() {
            distribution.min_us = kept.min_us;
        }
        distribution.times.add_kept(&kept.times, Digits::Three);
        distribution
    }
}

impl ExactDistribution {
    /// Times that histograms have, and so many of zero: to a thousandth.
    fn of_histograms(histograms: &[&Histogram<u64>], zeros: u64) -> ExactDistribution {
        let mut distribution = ExactDistribution { zeros, ..ExactDistribution::default() };
        for step in histograms.iter().flat_map(|histogram| histogram.iter_recorded()) {
            let us = step.value_iterated_to();
            let count = step.count_at_value();
            distribution.sum_us += us * count;
            distribution.squares += u128::from(us) * u128::from(us) * u128::from(count);
            distribution.min_us = distribution.min_us.min(us);
            distribution.max_us = distribution.max_us.max(us);
            distribution.times.record(us, count);
        }
        distribution
    }
}

/// The times of requests that have ended, whatever became of them.
#[derive(Debug, Clone, Default)]
pub struct RequestDistributions {
    /// Opening the connection, TLS included; 0 over a kept one, and where it failed.
    pub connect: ExactDistribution,
    /// From the send until the answer was complete, or the request had failed.
    pub processing: ExactDistribution,
    /// From the send to the first byte of the answer; 0 where none came.
    pub waiting: ExactDistribution,
    /// Connecting and processing.
    pub total: ExactDistribution,
    /// Answers after which the connection was kept.
    pub kept: u64,
    /// When the last of them ended, since the start of the run.
    pub until: Duration,
}

/// The times of one request, by the meaning of [`RequestDistributions`].
#[derive(Debug, Clone, Copy)]
pub struct RequestTimes {
    /// Opening the connection.
    pub connect: Duration,
    /// From the send to the end.
    pub processing: Duration,
    /// From the send to the first byte.
    pub waiting: Duration,
    /// True if the connection was kept.
    pub kept: bool,
    /// When it ended, since the start of the run.
    pub ended: Duration,
}

impl RequestDistributions {
    /// Takes the times of one request.
    pub fn add(&mut self, times: &RequestTimes) {
        self.connect.add(times.connect);
        self.processing.add(times.processing);
        self.waiting.add(times.waiting);
        self.total.add(times.connect + times.processing);
        self.kept += u64::from(times.kept);
        self.until = self.until.max(times.ended);
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &RequestDistributions) {
        self.connect.merge(&other.connect);
        self.processing.merge(&other.processing);
        self.waiting.merge(&other.waiting);
        self.total.merge(&other.total);
        self.kept += other.kept;
        self.until = self.until.max(other.until);
    }

    /// As near as the histograms of a run without them tell: connecting is not part of the total, and only good answers have
    /// a first byte. `until`: when the run was over.
    pub fn estimated(metric: impl Fn(TimeMetric) -> Histogram<u64>, until: Duration) -> RequestDistributions {
        let [service, check_failed, failed] =
            [TimeMetric::Service, TimeMetric::CheckFailed, TimeMetric::Failure].map(&metric);
        let connect = metric(TimeMetric::Connect);
        let first_byte = metric(TimeMetric::FirstByte);
        let ended = service.len() + check_failed.len() + failed.len();
        let rest = |known: &Histogram<u64>| ended.saturating_sub(known.len());
        let processing = ExactDistribution::of_histograms(&[&service, &check_failed, &failed], 0);
        RequestDistributions {
            connect: ExactDistribution::of_histograms(&[&connect], rest(&connect)),
            waiting: ExactDistribution::of_histograms(&[&first_byte], rest(&first_byte)),
            total: processing.clone(),
            processing,
            kept: metric(TimeMetric::ServiceReused).len(),
            until,
        }
    }

    /// The same as they are kept.
    pub fn kept(&self) -> RequestDistributionsKept {
        RequestDistributionsKept {
            connect: self.connect.kept(),
            processing: self.processing.kept(),
            waiting: self.waiting.kept(),
            total: self.total.kept(),
            kept: self.kept,
            until: self.until,
        }
    }

    /// Those that were kept.
    pub fn of_kept(kept: &RequestDistributionsKept) -> RequestDistributions {
        RequestDistributions {
            connect: ExactDistribution::of_kept(&kept.connect),
            processing: ExactDistribution::of_kept(&kept.processing),
            waiting: ExactDistribution::of_kept(&kept.waiting),
            total: ExactDistribution::of_kept(&kept.total),
            kept: kept.kept,
            until: kept.until,
        }
    }

    /// Empties them and keeps the memory.
    pub fn clear(&mut self) {
        [&mut self.connect, &mut self.processing, &mut self.waiting, &mut self.total]
            .into_iter()
            .for_each(ExactDistribution::clear);
        (self.kept, self.until) = (0, Duration::ZERO);
    }
}

/// [`RequestDistributions`] as they are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RequestDistributionsKept {
    /// Opening the connection.
    pub connect: ExactDistributionKept,
    /// From the send to the end.
    pub processing: ExactDistributionKept,
    /// From the send to the first byte.
    pub waiting: ExactDistributionKept,
    /// Connecting and processing.
    pub total: ExactDistributionKept,
    /// Answers after which the connection was kept.
    pub kept: u64,
    /// When the last of them ended.
    #[serde(rename = "until_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub until: Duration,
}

/// [`ExactDistribution`] as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ExactDistributionKept {
    /// Times of zero.
    pub zeros: u64,
    /// Sum in µs.
    pub sum_us: u64,
    /// Sum of squares in µs², as decimal digits: it may be longer than numbers of JSON are.
    pub squares: String,
    /// The shortest but for those of zero, in µs.
    pub min_us: u64,
    /// The longest, in µs.
    pub max_us: u64,
    /// All but those of zero, in three digits.
    pub times: Buckets,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(list: &[u64]) -> ExactDistribution {
        let mut distribution = ExactDistribution::default();
        list.iter().for_each(|us| distribution.add(Duration::from_micros(*us)));
        distribution
    }

    #[test]
    fn figures_are_those_of_the_list() {
        let distribution = distribution(&[0, 10, 20, 70]);
        assert_eq!(
            (distribution.count(), distribution.min_us(), distribution.max_us(), distribution.mean_us()),
            (4, 0, 70, 25.0)
        );
        let deviation = ((625.0 + 225.0 + 25.0 + 2025.0) / 3.0_f64).sqrt();
        assert!((distribution.deviation_us() - deviation).abs() < 1e-9);
        assert_eq!([0, 1, 2, 3, 9].map(|index| distribution.at_us(index)), [0, 10, 20, 70, 70]);
        assert_eq!(distribution.median_us(), 15);
    }

    #[test]
    fn the_median_of_an_odd_number_is_the_one_in_the_middle() {
        assert_eq!(distribution(&[5, 1, 3]).median_us(), 3);
        assert_eq!((distribution(&[7]).median_us(), distribution(&[7]).deviation_us()), (7, 0.0));
        assert_eq!(
            (distribution(&[]).median_us(), distribution(&[]).min_us(), distribution(&[]).at_us(0)),
            (0, 0, 0)
        );
    }

    #[test]
    fn long_times_are_known_to_a_thousandth_and_lose_no_deviation() {
        let distribution = distribution(&[2_003_001, 2_003_001, 2_003_003]);
        assert_eq!((distribution.min_us(), distribution.max_us()), (2_003_001, 2_003_003));
        assert!(distribution.at_us(1).abs_diff(2_003_001) <= 2);
        assert!((distribution.deviation_us() - 1.1547).abs() < 1e-3, "{}", distribution.deviation_us());
    }

    #[test]
    fn parts_add_up_to_the_whole_and_clearing_leaves_nothing() {
        let list: Vec<u64> = (0..500).map(|n| (n * 7919) % 3_000).collect();
        let mut left = distribution(&list[..200]);
        let right = distribution(&list[200..]);
        left.merge(&right);
        let picture = |distribution: &ExactDistribution| {
            let at = [0, 100, 250, 499].map(|index| distribution.at_us(index));
            (
                distribution.count(),
                distribution.sum_us(),
                distribution.deviation_us().to_bits(),
                distribution.min_us(),
                at,
            )
        };
        assert_eq!(picture(&left), picture(&distribution(&list)));
        left.clear();
        assert_eq!(picture(&left), picture(&distribution(&[])));
    }
}
