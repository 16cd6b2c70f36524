//! The difference that pairs show: estimate of Hodges and Lehmann (1963), interval and p by the exact signed-rank distribution.
//!
//! Valid where each difference is as likely up as down without an effect, which holds when the order within each pair was drawn. A wild
//! pair moves little, and the size of a trend costs width, not truth.

use super::signed_rank::SignedRank;
use super::{Interval, spread};

/// The differences of pairs, ready to be asked.
#[derive(Debug, Clone)]
pub struct Walsh {
    /// (d_i + d_j)/2 for all i <= j, sorted.
    averages: Vec<f64>,
    law: SignedRank,
}

impl Walsh {
    /// Takes in the differences, in any order.
    pub fn of(differences: &[f64]) -> Walsh {
        let mut averages = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
        for (place, first) in differences.iter().enumerate() {
            averages.extend(differences[place..].iter().map(|second| (first + second) / 2.0));
        }
        averages.sort_by(f64::total_cmp);
        Walsh { averages, law: SignedRank::new(differences.len()) }
    }

    /// The median of the averages; `NaN` of no pairs.
    pub fn estimate(&self) -> f64 {
        let middle = self.averages.len() / 2;
        match self.averages.len() {
            0 => f64::NAN,
            odd if odd % 2 == 1 => self.averages[middle],
            _ => (self.averages[middle - 1] + self.averages[middle]) / 2.0,
        }
    }

    /// The values that the differences do not speak against at alpha; `None`: there are too few pairs for any.
    pub fn interval(&self, alpha: f64) -> Option<Interval> {
        let beyond = self.law.critical(alpha)?;
        let last = self.averages.len().checked_sub(beyond + 1)?;
        (beyond <= last).then(|| Interval { low: self.averages[beyond], high: self.averages[last] })
    }

    /// The two-sided p of no difference. Averages that are exactly 0 count for both sides, so ties never help to show something.
    pub fn p_value(&self) -> f64 {
        let above = self.averages.iter().filter(|average| **average >= 0.0).count();
        let below = self.averages.iter().filter(|average| **average <= 0.0).count();
        self.law.p_of_extreme(above.min(below))
    }
}

/// The robust spread of the differences, of which the smallest detectable one is a multiple.
pub fn spread_of(differences: &[f64]) -> f64 {
    spread::robust_deviation(differences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;
    use proptest::prelude::*;

    #[test]
    fn a_worked_example() {
        let walsh = Walsh::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
        // The 21 averages: the 11th is the estimate, and six pairs leave out nothing at 0.05.
        assert_eq!(walsh.estimate(), 3.5);
        assert_eq!(walsh.interval(0.05), Some(Interval { low: 1.0, high: 6.5 }));
        assert_eq!(walsh.p_value(), 2.0 / 64.0);
        assert_eq!(Walsh::of(&[1.0; 5]).interval(0.05), None);
        assert_eq!(Walsh::of(&[0.0; 8]).p_value(), 1.0);
    }

    proptest! {
        #[test]
        fn sides_exchanged_negate_the_interval(differences in prop::collection::vec(-9.0..9.0_f64, 6..20)) {
            let negated: Vec<f64> = differences.iter().map(|one| -one).collect();
            let walsh = Walsh::of(&differences);
            let mirrored = Walsh::of(&negated);
            let one = walsh.interval(0.05).unwrap();
            let other = mirrored.interval(0.05).unwrap();
            prop_assert_eq!((one.low, one.high), (-other.high, -other.low));
            prop_assert_eq!(walsh.p_value(), mirrored.p_value());
            prop_assert!((walsh.estimate() + mirrored.estimate()).abs() < 1e-12);
        }

        #[test]
        fn another_unit_scales_and_order_is_nothing(differences in prop::collection::vec(-9.0..9.0_f64, 6..20)) {
            let mut scaled: Vec<f64> = differences.iter().map(|one| one * 4.0).collect();
            scaled.reverse();
            let one = Walsh::of(&differences);
            let other = Walsh::of(&scaled);
            prop_assert_eq!(one.interval(0.05).map(|found| found.high * 4.0), other.interval(0.05).map(|found| found.high));
            prop_assert_eq!(one.p_value(), other.p_value());
        }

        #[test]
        fn an_interval_leaves_out_nothing_exactly_where_p_shows_it(differences in prop::collection::vec(-2.0..4.0_f64, 6..16)) {
            let walsh = Walsh::of(&differences);
            let found = walsh.interval(0.05).unwrap();
            prop_assert_eq!(found.low > 0.0 || found.high < 0.0, walsh.p_value() <= 0.05);
        }
    }

    #[test]
    fn signs_of_coins_alarm_as_seldom_as_promised() {
        let shown = |number: u64| {
            let mut draw = Draw::new(11, number);
            let differences: Vec<f64> = (0..12).map(|_| draw.unit() - draw.unit()).collect();
            Walsh::of(&differences).p_value() <= 0.05
        };
        let share = (0..4_000).filter(|number| shown(*number)).count() as f64 / 4_000.0;
        assert!((0.036..0.056).contains(&share), "{share}, where 0.0425 to 0.05 is exact");
    }
}
