//! How values of a row are spread, and how they are drawn.

use measure::Histogram;

/// Values, ascending, and how often each was seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Vec<(f64, u64)>);

/// Figures of values, as a row has them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spread {
    pub min: f64,
    pub max: f64,
    pub median: f64,
    pub p95: f64,
    pub p99: f64,
    pub mean: f64,
    pub sd: f64,
    /// Percentage of the values that are no further from the mean than `sd`.
    pub within: f64,
}

/// Parts of a drawing.
const PARTS: usize = 10;
/// Length of its longest bar.
const LONGEST: u64 = 40;

impl Values {
    /// Single ones, in any order.
    pub fn single(values: impl IntoIterator<Item = f64>) -> Values {
        let mut values: Vec<(f64, u64)> = values.into_iter().map(|value| (value, 1)).collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        Values(values)
    }

    /// Those of a histogram, to its precision.
    pub fn of_histogram(seen: &Histogram) -> Values {
        let of = |value: u64| value.clamp(seen.min(), seen.max()) as f64;
        Values(
            seen.iter_recorded().map(|step| (of(step.value_iterated_to()), step.count_at_value())).collect(),
        )
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().flat_map(|(value, count)| std::iter::repeat_n(*value, *count as usize))
    }

    /// Returns the value with a number, from 0, of all in order.
    fn nth(&self, nth: u64) -> f64 {
        let mut before = 0;
        let reaches = |(_, count): &&(f64, u64)| {
            before += count;
            before > nth
        };
        self.0.iter().find(reaches).or(self.0.last()).map_or(0.0, |(value, _)| *value)
    }

    /// How they are spread. `sample`: the deviation is that of a sample (n-1).
    pub fn spread(&self, sample: bool) -> Spread {
        let (count, Some((min, _)), Some((max, _))) = (self.count(), self.0.first(), self.0.last()) else {
            return Spread::default();
        };
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            self.0.iter().map(|(value, count)| of(*value) * *count as f64).sum()
        };
        let mean = sum(&|value| value) / count as f64;
        let divisor = if sample { count.max(2) - 1 } else { count };
        let sd = (sum(&|value| (value - mean).powi(2)) / divisor as f64).sqrt();
        let is_within = |value: f64| if (mean - sd..=mean + sd).contains(&value) { 1.0 } else { 0.0 };
        let at = |share: f64| self.nth((count as f64 * share) as u64);
        Spread {
            min: *min,
            max: *max,
            median: f64::midpoint(self.nth((count - 1) / 2), self.nth(count / 2)),
            p95: at(0.95),
            p99: at(0.99),
            mean,
            sd,
            within: sum(&is_within) * 100.0 / count as f64,
        }
    }

    /// Draws them: ten parts of the same width, a line each. `show`: a value as text.
    pub fn drawing(&self, show: &dyn Fn(f64) -> String) -> String {
        let (Some((min, _)), Some((max, _))) = (self.0.first(), self.0.last()) else { return String::new() };
        let width = (max - min) / PARTS as f64;
        if width <= 0.0 {
            return String::new();
        }
        let mut counts = [0; PARTS];
        self.0
            .iter()
            .for_each(|(value, count)| counts[(((value - min) / width) as usize).min(PARTS - 1)] += count);
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let all = self.count().max(1) as f64;
        let mut upto = 0;
        let line = |(part, count): (usize, u64)| {
            upto += count;
            let bar = if count > 0 { (count * LONGEST / most).max(1) } else { 0 };
            let low = show(min + part as f64 * width);
            let high = show(min + (part + 1) as f64 * width);
            format!(
                "{low:>10}-{high:>10} [{:<40}]({:6.2}/{:6.2}%)\n",
                "/".repeat(bar as usize),
                count as f64 * 100.0 / all,
                upto as f64 * 100.0 / all,
            )
        };
        counts.into_iter().enumerate().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spread_as_the_original_says() {
        let values = Values::single([4.0, 1.0, 2.0, 3.0]);
        let sample = values.spread(true);
        let whole = values.spread(false);
        assert_eq!((whole.min, whole.max, whole.median, whole.mean), (1.0, 4.0, 2.5, 2.5));
        assert_eq!((whole.p95, whole.p99, whole.within), (4.0, 4.0, 50.0));
        assert!((whole.sd - 1.118).abs() < 0.001 && (sample.sd - 1.291).abs() < 0.001);
        assert_eq!(Values::default().spread(true), Spread::default());
        assert_eq!(Values::single([7.0]).spread(true).within, 100.0);
    }

    #[test]
    fn a_drawing_has_ten_parts() {
        let drawn =
            Values::single((0..=10).map(f64::from).chain([0.0])).drawing(&|value| format!("{value:.0}"));
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), 10);
        assert_eq!(
            lines[0],
            "         0-         1 [////////////////////////////////////////]( 16.67/ 16.67%)"
        );
        assert!(
            lines[1].contains("[////////////////////                    ](  8.33/ 25.00%)"),
            "{}",
            lines[1]
        );
        assert!(Values::single([3.0, 3.0]).drawing(&|_| String::new()).is_empty());
    }
}
