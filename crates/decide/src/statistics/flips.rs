//! Differences that come in bursts, such as failures: the exact test by flipping signs, whose statistic is the mean, and the interval
//! that inverts it.
//!
//! Flipping the signs of a set F of the differences keeps the mean at least as high exactly where the mean of F is at most 0, so the test of
//! every value at once is the sorted list of the means of all sets (Hartigan's typical values, 1969).

use super::Interval;
use plan::draw::Draw;

/// Up to so many pairs, all 2^n sets are looked at.
const ALL_UP_TO: usize = 14;
/// Sets that are drawn where there are more pairs.
const DRAWN: usize = 9_999;

/// The means of sets of differences.
#[derive(Debug, Clone)]
pub struct Flips {
    mean: f64,
    /// Of all sets that are not empty, or of those drawn; sorted.
    means: Vec<f64>,
}

impl Flips {
    /// Takes in the differences. `seed` chooses the sets where there are more than 14 pairs.
    pub fn of(differences: &[f64], seed: u64) -> Flips {
        let pairs = differences.len();
        let mut means: Vec<f64> = if pairs <= ALL_UP_TO {
            (1..1_u64 << pairs).map(|set| mean_of(differences, |place| set >> place & 1 == 1)).collect()
        } else {
            (0..DRAWN).map(|number| drawn_mean(differences, seed, number as u64)).collect()
        };
        means.sort_by(f64::total_cmp);
        Flips { mean: super::spread::mean(differences), means }
    }

    /// The mean difference.
    pub fn estimate(&self) -> f64 {
        self.mean
    }

    /// The values that the differences do not speak against at alpha; `None`: there are too few pairs for any.
    pub fn interval(&self, alpha: f64) -> Option<Interval> {
        let beyond = (alpha / 2.0 * (self.means.len() + 1) as f64 * (1.0 + 1e-12)).floor() as usize;
        let place = beyond.checked_sub(1)?;
        let last = self.means.len().checked_sub(beyond)?;
        (place <= last).then(|| Interval { low: self.means[place], high: self.means[last] })
    }

    /// The two-sided p of no difference.
    pub fn p_value(&self) -> f64 {
        let sets = (self.means.len() + 1) as f64;
        let not_above = self.means.iter().filter(|mean| **mean <= 0.0).count() as f64;
        let not_below = self.means.iter().filter(|mean| **mean >= 0.0).count() as f64;
        (2.0 * (1.0 + not_above.min(not_below)) / sets).min(1.0)
    }
}

fn mean_of(differences: &[f64], is_in: impl Fn(usize) -> bool) -> f64 {
    let mut sum = 0.0;
    let mut count = 0.0;
    for (place, difference) in differences.iter().enumerate() {
        if is_in(place) {
            sum += difference;
            count += 1.0;
        }
    }
    sum / count
}

/// The mean of a set that takes each difference by a coin, drawn again while it is empty.
fn drawn_mean(differences: &[f64], seed: u64, number: u64) -> f64 {
    let mut draw = Draw::new(seed, number);
    loop {
        let mut bits = 0;
        let mut sum = 0.0;
        let mut count = 0.0;
        for (place, difference) in differences.iter().enumerate() {
            if place % 64 == 0 {
                bits = draw.bits();
            }
            if bits >> (place % 64) & 1 == 1 {
                sum += difference;
                count += 1.0;
            }
        }
        if count > 0.0 {
            return sum / count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: flips that reach as far as what was seen.
    fn p_by_enumeration(differences: &[f64]) -> f64 {
        let sum: f64 = differences.iter().sum();
        let sets = 1_u32 << differences.len();
        let flipped = |set: u32| -> f64 {
            let signed = |(place, one): (usize, &f64)| if set >> place & 1 == 1 { -one } else { *one };
            differences.iter().enumerate().map(signed).sum()
        };
        let as_high = (0..sets).filter(|set| flipped(*set) >= sum - 1e-9).count();
        let as_low = (0..sets).filter(|set| flipped(*set) <= sum + 1e-9).count();
        (2.0 * as_high.min(as_low) as f64 / f64::from(sets)).min(1.0)
    }

    #[test]
    fn p_is_that_of_all_flips() {
        for differences in
            [&[0.1, 0.3, -0.05, 0.2, 0.25, 0.1, 0.02, 0.15][..], &[0.0; 8], &[1.0, -1.0, 2.0, 0.0, 0.0, 3.0]]
        {
            let flips = Flips::of(differences, 1);
            assert!((flips.p_value() - p_by_enumeration(differences)).abs() < 1e-12, "{differences:?}");
        }
        assert_eq!(Flips::of(&[1.0; 5], 1).interval(0.05), None);
        assert!(Flips::of(&[1.0; 6], 1).interval(0.05).is_some());
    }

    #[test]
    fn bursts_in_three_of_twelve_pairs_show_nothing() {
        let mut differences = [0.0; 12];
        differences[2] = 0.01;
        differences[5] = 0.002;
        differences[9] = 0.03;
        let flips = Flips::of(&differences, 1);
        assert_eq!(flips.p_value(), 0.25);
        assert_eq!(flips.interval(0.05).unwrap().low, 0.0);
    }

    #[test]
    fn many_pairs_are_drawn_by_the_seed() {
        let differences: Vec<f64> = (0..30).map(|n| f64::from(n % 7) - 2.0).collect();
        let once = Flips::of(&differences, 5);
        assert_eq!(once.interval(0.05), Flips::of(&differences, 5).interval(0.05));
        let other = Flips::of(&differences, 6);
        assert!((once.p_value() - other.p_value()).abs() < 0.01);
    }

    proptest! {
        #[test]
        fn sides_exchanged_negate_the_interval(differences in prop::collection::vec(-9.0..9.0_f64, 6..12)) {
            let negated: Vec<f64> = differences.iter().map(|one| -one).collect();
            let one = Flips::of(&differences, 1).interval(0.05).unwrap();
            let other = Flips::of(&negated, 1).interval(0.05).unwrap();
            prop_assert_eq!((one.low, one.high), (-other.high, -other.low));
        }

        #[test]
        fn the_interval_is_the_test_inverted(differences in prop::collection::vec(-2.0..5.0_f64, 6..11)) {
            let found = Flips::of(&differences, 1).interval(0.05).unwrap();
            for (value, is_out) in [(found.low - 1e-6, true), (found.low + 1e-6, false), (found.high - 1e-6, false), (found.high + 1e-6, true)] {
                let shifted: Vec<f64> = differences.iter().map(|one| one - value).collect();
                prop_assert_eq!(p_by_enumeration(&shifted) <= 0.05, is_out, "{}", value);
            }
        }
    }
}
