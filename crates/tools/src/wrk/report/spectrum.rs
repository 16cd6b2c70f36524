//! wrk2's distribution: chosen percentiles, then a spectrum whose steps become finer towards the end.

use super::units::{column, microseconds};
use hdrhistogram::Histogram;
use std::fmt::Write;

/// Rows for each halving of what is left above a percentile.
const TICKS_PER_HALF: f64 = 5.0;

/// The whole block under its title.
pub fn block(title: &str, values: &Histogram<u64>) -> String {
    let mut text = format!("  Latency Distribution ({title})\n");
    for percent in [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0] {
        let value = if values.is_empty() { 0 } else { values.value_at_percentile(percent) };
        text += &format!("{percent:7.3}%{}\n", column(&microseconds(value as f64), 10));
    }
    text += "\n  Detailed Percentile spectrum:\n";
    text +=
        &format!("{:>12} {:>12} {:>12} {:>12}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    rows(values, &mut text);
    text += &footer(values);
    text
}

/// A value in milliseconds.
fn ms(us: f64) -> f64 {
    us / 1000.0
}

fn rows(values: &Histogram<u64>, text: &mut String) {
    let total = values.len();
    let mut buckets = values.iter_recorded();
    let mut value = 0;
    let mut reached = 0;
    let mut percent = 0.0;
    while reached < total {
        let wanted = ((percent / 100.0 * total as f64).ceil() as u64).max(1);
        while reached < wanted
            && let Some(bucket) = buckets.next()
        {
            value = bucket.value_iterated_to();
            reached += bucket.count_at_value();
        }
        let value = ms(values.highest_equivalent(value) as f64);
        let inverse = 100.0 / (100.0 - percent);
        // A string takes all that is written.
        let _ = writeln!(text, "{value:12.3} {:12.6} {reached:12} {inverse:12.2}", percent / 100.0);
        percent += step(percent);
    }
    if total > 0 {
        let value = ms(values.highest_equivalent(value) as f64);
        let _ = writeln!(text, "{value:12.3} {:12.6} {total:12} {:>12}", 1.0, "inf");
    }
}

/// How far it is to the next row, in percent.
fn step(percent: f64) -> f64 {
    let halvings = (100.0 / (100.0 - percent)).log2().floor() + 1.0;
    100.0 / (TICKS_PER_HALF * halvings.exp2())
}

fn footer(values: &Histogram<u64>) -> String {
    let (mean, stdev, max) = match values.is_empty() {
        true => (0.0, 0.0, 0.0),
        false => (values.mean(), values.stdev(), values.lowest_equivalent(values.max()) as f64),
    };
    // Twice the values that three digits tell apart, as a power of two.
    let sub_buckets = (2 * 10u64.pow(u32::from(values.sigfig()))).next_power_of_two();
    format!(
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n#[Max     = {:12.3}, Total count    = {:12}]\n\
         #[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]\n{}\n",
        ms(mean),
        ms(stdev),
        ms(max),
        values.len(),
        values.buckets(),
        "-".repeat(58)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_become_finer_by_halves_and_the_last_row_is_the_end() {
        let mut values = Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        [1_301, 1_305, 2_402, 2_406, 3_504, 3_508].iter().for_each(|ms| values.record(ms * 1000).unwrap());
        let mut text = String::new();
        rows(&values, &mut text);
        let column = |nth: usize| -> Vec<String> {
            text.lines().map(|line| line.split_whitespace().nth(nth).unwrap().to_owned()).collect()
        };
        assert_eq!(
            column(1).join(" "),
            "0.000000 0.100000 0.200000 0.300000 0.400000 0.500000 0.550000 0.600000 0.650000 0.700000 0.750000 \
             0.775000 0.800000 0.825000 0.850000 1.000000"
        );
        assert_eq!(column(2).join(""), "1122334445555566");
        assert_eq!(column(3)[5..].join(" "), "2.00 2.22 2.50 2.86 3.33 4.00 4.44 5.00 5.71 6.67 inf");
        assert!(text.starts_with("    1301.503     0.000000            1         1.00\n"), "{text}");
    }

    #[test]
    fn nothing_recorded_is_no_row() {
        let values = Histogram::<u64>::new(3).unwrap();
        assert_eq!(block("x", &values).matches("Total count    =            0]").count(), 1);
    }
}
