//! The smallest difference that a comparison finds in four of five cases, before it begins and when it is over.

use super::distribution::{normal, normal_quantile};
use super::walsh::Walsh;
use super::{Interval, signed_rank, spread};
use plan::draw::Draw;

/// The power that "could have seen" means.
pub const POWER: f64 = 0.8;
/// Sets of pairs drawn to learn how far below the truth an interval reaches.
const DRAWN: u64 = 2_000;
/// Always the same, so that what is promised does not change from run to run.
const SEED: u64 = 0x5EE5;

/// The difference in spreads of single pairs' differences that so many pairs find at alpha with a power of 80 %; `None`: they show nothing at
/// this alpha, whatever the difference.
///
/// A shift is shown where the interval's lower end lies above 0, so the answer is the distance by which that end stays below the truth in 80 % of
/// comparisons whose noise is normal. It is drawn, from a seed that is always the same: the usual formula, (1.96 + 0.84)/sqrt(n - 2),
/// promises a fifth too much of six pairs and a tenth of eight.
pub fn multiple(pairs: usize, alpha: f64) -> Option<f64> {
    Walsh::of(&vec![0.0; pairs]).interval(alpha)?;
    let reach = |number: u64| {
        let mut draw = Draw::new(SEED, number);
        let differences: Vec<f64> = (0..pairs).map(|_| normal(&mut draw)).collect();
        Walsh::of(&differences).interval(alpha).map(|found| -found.low)
    };
    let reaches: Vec<f64> = (0..DRAWN).filter_map(reach).collect();
    Some(spread::quantile(&reaches, POWER))
}

/// The smallest detectable difference of so many pairs whose differences spread so far.
pub fn before(spread: f64, pairs: usize, alpha: f64) -> Option<f64> {
    multiple(pairs, alpha).map(|multiple| multiple * spread)
}

/// The difference that a comparison with this interval could have seen.
pub fn after(interval: Interval, alpha: f64) -> f64 {
    let shown_from = normal_quantile(1.0 - alpha / 2.0);
    (shown_from + normal_quantile(POWER)) / shown_from * (interval.high - interval.low) / 2.0
}

/// The pairs that are needed to find a difference at alpha with a power of 80 %.
pub fn pairs_needed(spread: f64, difference: f64, alpha: f64) -> usize {
    let reach = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER);
    let wanted = (reach * spread / difference).powi(2) + 2.0;
    (wanted.ceil().min(1e9) as usize).max(signed_rank::fewest_pairs(alpha))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_those_of_large_simulations() {
        // Bisected for a power of 80 % with 4,000 comparisons each.
        for (pairs, alpha, expected) in [
            (6, 0.05, 1.80),
            (8, 0.05, 1.25),
            (12, 0.05, 0.93),
            (20, 0.05, 0.67),
            (30, 0.05, 0.55),
            (8, 0.01, 1.92),
            (12, 0.01, 1.20),
        ] {
            let found = multiple(pairs, alpha).unwrap();
            assert!(
                (found / expected - 1.0).abs() < 0.05,
                "{pairs} pairs at {alpha}: {found}, not {expected}"
            );
        }
        assert_eq!(multiple(5, 0.05), None);
        assert_eq!(multiple(7, 0.01), None);
    }

    #[test]
    fn before_and_after_agree() {
        let interval = Interval { low: -1.0, high: 1.0 };
        assert!((after(interval, 0.05) - 1.43).abs() < 0.005);
        assert_eq!(pairs_needed(1.0, 1.0, 0.05), 10);
        assert_eq!(pairs_needed(2.0, 1.0, 0.05), 34);
        assert_eq!(pairs_needed(0.001, 1.0, 0.05), 6);
        assert_eq!(pairs_needed(0.001, 1.0, 0.01), 8);
    }
}
