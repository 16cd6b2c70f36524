//! Two sets of runs that are not paired: the exact rank-sum test of Mann and Whitney (1947) and the shift that inverts it.

use super::{Interval, spread};

/// Two sets, compared.
#[derive(Debug, Clone)]
pub struct RankSum {
    /// Each value of the second less each of the first, sorted.
    differences: Vec<f64>,
    /// P(U <= u), by u, of two sets of these sizes.
    at_most: Vec<f64>,
}

impl RankSum {
    /// Takes in both sets; neither may be empty.
    pub fn of(first: &[f64], second: &[f64]) -> RankSum {
        let mut differences: Vec<f64> = Vec::with_capacity(first.len() * second.len());
        for one in first {
            differences.extend(second.iter().map(|other| other - one));
        }
        differences.sort_by(f64::total_cmp);
        RankSum { differences, at_most: at_most(first.len(), second.len()) }
    }

    /// By how much the second lies above the first: the median difference.
    pub fn shift(&self) -> f64 {
        spread::median(&self.differences)
    }

    /// The shifts that the sets do not speak against; `None`: they are too few for any.
    pub fn interval(&self, alpha: f64) -> Option<Interval> {
        let limit = alpha / 2.0 * (1.0 + 1e-12);
        let beyond = self.at_most.partition_point(|probability| *probability <= limit).checked_sub(1)?;
        let last = self.differences.len().checked_sub(beyond + 1)?;
        (beyond <= last).then(|| Interval { low: self.differences[beyond], high: self.differences[last] })
    }

    /// The two-sided p of no shift; ties never help to show one.
    pub fn p_value(&self) -> f64 {
        let above = self.differences.iter().filter(|difference| **difference >= 0.0).count();
        let below = self.differences.iter().filter(|difference| **difference <= 0.0).count();
        let extreme = above.min(below).min(self.at_most.len() - 1);
        (2.0 * self.at_most[extreme]).min(1.0)
    }
}

/// Probabilities of U by the sizes of both sets, with the recurrence by whose value is the largest.
fn at_most(first: usize, second: usize) -> Vec<f64> {
    let most = first * second;
    // By the size of the second set: the law of U, for a first set that grows by one each turn.
    let mut laws = vec![point(most); second + 1];
    for one in 1..=first {
        let mut grown = vec![point(most)];
        for other in 1..=second {
            let largest_in_first = one as f64 / (one + other) as f64;
            let law = (0..=most).map(|u| {
                let first_has_it = if u >= other { laws[other][u - other] } else { 0.0 };
                largest_in_first * first_has_it + (1.0 - largest_in_first) * grown[other - 1][u]
            });
            grown.push(law.collect());
        }
        laws = grown;
    }
    let mut total = 0.0;
    laws[second]
        .iter()
        .map(|one| {
            total += one;
            total
        })
        .collect()
}

/// U is surely 0 where a set is empty.
fn point(most: usize) -> Vec<f64> {
    let mut law = vec![0.0; most + 1];
    law[0] = 1.0;
    law
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_printed_tables() {
        // Two-sided 5 % limits of U: 4 and 5 values 1, 5 and 5 values 2, 8 and 8 values 13, 10 and 12 values 29.
        for (first, second, critical) in [(4, 5, 1), (5, 5, 2), (8, 8, 13), (10, 12, 29)] {
            let law = at_most(first, second);
            assert!((law[first * second] - 1.0).abs() < 1e-12);
            assert!(law[critical] <= 0.025 && law[critical + 1] > 0.025, "{first} {second}");
        }
        // One of 20 orders of three and three has U 0.
        assert!((at_most(3, 3)[0] - 0.05).abs() < 1e-12);
    }

    #[test]
    fn sets_apart_are_shown_and_negated_when_exchanged() {
        let first = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let second = [11.0, 12.5, 13.0, 14.0, 15.5];
        let one = RankSum::of(&first, &second);
        let other = RankSum::of(&second, &first);
        assert!(one.p_value() < 0.01 && (one.p_value() - other.p_value()).abs() < 1e-12);
        assert_eq!(one.shift(), -other.shift());
        assert_eq!(one.interval(0.05).map(|found| found.low), other.interval(0.05).map(|found| -found.high));
        assert_eq!(RankSum::of(&[1.0, 2.0], &[3.0]).interval(0.05), None);
        assert_eq!(RankSum::of(&[1.0; 5], &[1.0; 5]).p_value(), 1.0);
    }
}
