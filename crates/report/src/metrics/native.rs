//! Exponential buckets: Prometheus' native histograms and OpenTelemetry's exponential ones are the same thing.

use measure::Histogram;

/// Buckets are this fine: each is 2^(1/16), 4.4 %, wider than the one before.
pub const SCHEMA: i32 = 4;
/// Up to here, in seconds, everything is nothing.
pub const ZERO: f64 = 1e-6;

/// A histogram in exponential buckets.
#[derive(Debug, Clone, PartialEq)]
pub struct Native {
    /// All of it.
    pub count: u64,
    /// Sum in seconds.
    pub sum: f64,
    /// Count of values that are no longer than [`ZERO`].
    pub zero: u64,
    /// Buckets that hold something, by number: bucket n ends at 2^(n/16) seconds, and begins where n - 1 ends.
    pub buckets: Vec<(i32, u64)>,
}

impl Native {
    /// Of times in µs.
    pub fn of(times: &Histogram) -> Native {
        let mut native = Native { count: times.len(), sum: super::sum(times), zero: 0, buckets: Vec::new() };
        for step in times.iter_recorded() {
            // The middle of what is told apart: its end may lie in the next bucket.
            let us = times.median_equivalent(step.value_iterated_to());
            let seconds = us as f64 / 1e6;
            let count = step.count_at_value();
            if seconds <= ZERO {
                native.zero += count;
                continue;
            }
            // From -20 · 16 to 12 · 16.
            let bucket = (seconds.log2() * f64::from(1 << SCHEMA)).ceil() as i32;
            match native.buckets.last_mut() {
                Some((last, sum)) if *last == bucket => *sum += count,
                _ => native.buckets.push((bucket, count)),
            }
        }
        native
    }

    /// Runs of neighbours: how many empty buckets before each (of the first: its number), and the counts.
    pub fn spans(&self) -> Vec<(i32, Vec<u64>)> {
        let mut spans: Vec<(i32, Vec<u64>)> = Vec::new();
        let mut next = 0;
        for (bucket, count) in &self.buckets {
            match spans.last_mut() {
                Some((_, counts)) if *bucket == next => counts.push(*count),
                _ => spans.push((bucket - next, vec![*count])),
            }
            next = bucket + 1;
        }
        spans
    }

    /// The first bucket's number, and the counts of all from there to the last, empty ones included.
    pub fn dense(&self) -> (i32, Vec<u64>) {
        let Some((first, _)) = self.buckets.first() else { return (0, Vec::new()) };
        let mut counts = Vec::new();
        for (bucket, count) in &self.buckets {
            counts.resize((bucket - first) as usize, 0);
            counts.push(*count);
        }
        (*first, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_the_bucket_whose_bounds_are_around_them() {
        let mut times = Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        let values = [1u64, 2, 70, 1_000, 1_001, 999_999, 1_000_001, 60_000_000];
        values.iter().for_each(|us| times.record(*us).unwrap());
        let native = Native::of(&times);
        assert_eq!((native.count, native.zero), (8, 1));
        for us in &values[1..] {
            let seconds = *us as f64 / 1e6;
            let around = native.buckets.iter().any(|(n, _)| {
                let bound = |n: i32| 2f64.powf(f64::from(n) / 16.0);
                bound(n - 1) * 0.999 < seconds && seconds <= bound(*n) * 1.001
            });
            assert!(around, "{us}");
        }
        let counted: u64 = native.buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 7);
        let (first, dense) = native.dense();
        assert_eq!((dense.iter().sum::<u64>(), first), (7, native.buckets[0].0));
        let mut next = 0;
        let spread: Vec<(i32, u64)> = native
            .spans()
            .into_iter()
            .flat_map(|(gap, counts)| {
                let begins = next + gap;
                next = begins + counts.len() as i32;
                counts.into_iter().enumerate().map(move |(nth, count)| (begins + nth as i32, count))
            })
            .collect();
        assert_eq!(spread, native.buckets);
    }
}
