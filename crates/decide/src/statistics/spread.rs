//! Middle and spread of a few values.

use super::Interval;

/// A normal law's standard deviation is so many times its median deviation.
const OF_MEDIAN_DEVIATION: f64 = 1.4826;

/// The mean; `NaN` of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance with n - 1; `NaN` of fewer than two.
pub fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// The middle value, or the mean of both; `NaN` of nothing.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share of them lies, between neighbours by the line that joins them; `NaN` of nothing.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + (above - below) * place.fract()
}

/// The standard deviation as the median deviation tells it, which a few wild values do not move; where more than half are one and the
/// same value, the plain one. `NaN` of fewer than two.
pub fn robust_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let middle = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let robust = OF_MEDIAN_DEVIATION * median(&deviations);
    if robust > 0.0 { robust } else { variance(values).sqrt() }
}

/// The smallest and the largest; `None` of nothing.
pub fn range(values: &[f64]) -> Option<Interval> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_and_spreads() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(quantile(&[0.0, 10.0, 20.0], 0.25), 5.0);
        assert_eq!(variance(&[1.0, 2.0, 3.0]), 1.0);
        assert!(median(&[]).is_nan() && robust_deviation(&[1.0]).is_nan());
        assert_eq!(range(&[2.0, 9.0, 4.0]), Some(Interval { low: 2.0, high: 9.0 }));
    }

    #[test]
    fn a_wild_value_does_not_move_the_robust_deviation() {
        let tame = robust_deviation(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(robust_deviation(&[1.0, 2.0, 3.0, 4.0, 5e9]), tame);
        assert!((tame - 1.4826).abs() < 1e-12);
        assert!(robust_deviation(&[0.0, 0.0, 0.0, 3.0]) > 0.0);
    }
}
