//! Quantiles and probabilities of the usual laws, by `statrs`.

use plan::draw::Draw;
use statrs::distribution::{Beta, ChiSquared, Continuous, ContinuousCDF, Normal, StudentsT};

/// The value that a standard normal variable stays below with this probability.
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

/// A number drawn by the standard normal law.
pub fn normal(draw: &mut Draw) -> f64 {
    normal_quantile(draw.unit().max(f64::MIN_POSITIVE))
}

/// Probability that a standard normal variable stays below a value.
pub fn normal_below(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// The value that Student's t with so many degrees of freedom stays below with this probability; that of the normal law
/// where they are without end.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    let Ok(law) = StudentsT::new(0.0, 1.0, freedom) else { return f64::NAN };
    let mut value = law.inverse_cdf(probability);
    // The library's search ends some digits early; one or two steps of Newton's reach the last ones.
    for _ in 0..3 {
        let density = law.pdf(value);
        if !(density > 0.0) {
            break;
        }
        value -= (law.cdf(value) - probability) / density;
    }
    value
}

/// Probability that Student's t with so many degrees of freedom stays below a value.
pub fn t_below(value: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |law| law.cdf(value))
}

/// The value that chi squared with so many degrees of freedom stays below with this probability.
pub fn chi_squared_quantile(probability: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::NAN, |law| law.inverse_cdf(probability))
}

/// The share that lies within both bounds with this probability, where `hits` of `tries` independent ones were counted (Clopper and
/// Pearson 1934).
pub fn share_bounds(hits: u64, tries: u64, probability: f64) -> (f64, f64) {
    let tail = (1.0 - probability) / 2.0;
    let misses = tries.saturating_sub(hits);
    let beta =
        |a: u64, b: u64, at: f64| Beta::new(a as f64, b as f64).map_or(f64::NAN, |law| law.inverse_cdf(at));
    let low = if hits == 0 { 0.0 } else { beta(hits, misses + 1, tail) };
    let high = if misses == 0 { 1.0 } else { beta(hits + 1, misses, 1.0 - tail) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64, within: f64) {
        assert!((value - expected).abs() <= within, "{value}, not {expected}");
    }

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        near(normal_quantile(0.975), 1.959_964, 1e-6);
        near(normal_quantile(0.8), 0.841_621, 1e-6);
        near(normal_below(1.644_854), 0.95, 1e-6);
        for (freedom, expected) in [
            (1.0, 12.706_2),
            (2.0, 4.302_65),
            (4.0, 2.776_45),
            (9.0, 2.262_16),
            (30.0, 2.042_27),
            (1e6, 1.959_97),
        ] {
            near(t_quantile(0.975, freedom), expected, 6e-5);
            near(t_quantile(0.025, freedom), -expected, 6e-5);
            near(t_below(t_quantile(0.99, freedom), freedom), 0.99, 1e-9);
        }
        near(t_quantile(0.995, 7.0), 3.499_48, 1e-5);
        near(chi_squared_quantile(0.95, 2.0), 5.991_46, 1e-4);
        near(chi_squared_quantile(0.025, 10.0), 3.246_97, 1e-4);
    }

    #[test]
    fn bounds_of_a_share_are_exact() {
        let (low, high) = share_bounds(0, 100, 0.95);
        assert_eq!(low, 0.0);
        // 1 - 0.025^(1/100).
        near(high, 0.036_217, 1e-5);
        let (low, high) = share_bounds(10, 100, 0.95);
        near(low, 0.049_005, 1e-5);
        near(high, 0.176_223, 1e-5);
        assert_eq!(share_bounds(7, 7, 0.95).1, 1.0);
    }
}
