//! The exact distribution of Wilcoxon's signed-rank statistic (1945): W is the sum of those of the ranks 1..n whose sign is
//! positive, and without a difference each sign is a coin.

/// Probabilities of W for one number of pairs without ties.
#[derive(Debug, Clone)]
pub struct SignedRank {
    pairs: usize,
    /// P(W <= w), by w.
    at_most: Vec<f64>,
}

impl SignedRank {
    /// Counts the subsets of 1..pairs by their sums, each weighted with its probability.
    pub fn new(pairs: usize) -> SignedRank {
        let most = pairs * (pairs + 1) / 2;
        let mut probability = vec![0.0; most + 1];
        probability[0] = 1.0;
        for rank in 1..=pairs {
            for sum in (0..=most).rev() {
                let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
                probability[sum] = (probability[sum] + with) / 2.0;
            }
        }
        let mut total = 0.0;
        for one in &mut probability {
            total += *one;
            *one = total;
        }
        SignedRank { pairs, at_most: probability }
    }

    /// The largest W there is, n(n+1)/2, which is also the number of Walsh averages.
    pub fn most(&self) -> usize {
        self.pairs * (self.pairs + 1) / 2
    }

    /// P(W <= w).
    pub fn at_most(&self, w: usize) -> f64 {
        self.at_most[w.min(self.most())]
    }

    /// The largest k with P(W <= k) <= alpha/2: a W of k or less, or as near to the other end, is shown at alpha. `None`: so few
    /// pairs show nothing at this alpha.
    pub fn critical(&self, alpha: f64) -> Option<usize> {
        // A probability that is exactly alpha/2 may have lost its last digit.
        let limit = alpha / 2.0 * (1.0 + 1e-12);
        self.at_most.partition_point(|probability| *probability <= limit).checked_sub(1)
    }

    /// The two-sided p where the smaller of W+ and W- is this.
    pub fn p_of_extreme(&self, smaller: usize) -> f64 {
        (2.0 * self.at_most(smaller)).min(1.0)
    }
}

/// The fewest pairs that can show anything at this alpha: 2/2^n must not exceed it.
pub fn fewest_pairs(alpha: f64) -> usize {
    (1..=60).find(|pairs| 2.0 * 0.5_f64.powi(*pairs) <= alpha * (1.0 + 1e-12)).unwrap_or(60) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_printed_tables() {
        for (alpha, expected) in [
            (
                0.05,
                &[
                    (5, None),
                    (6, Some(0)),
                    (8, Some(3)),
                    (10, Some(8)),
                    (12, Some(13)),
                    (16, Some(29)),
                    (20, Some(52)),
                ][..],
            ),
            (0.01, &[(7, None), (8, Some(0)), (10, Some(3)), (12, Some(7)), (16, Some(19)), (20, Some(37))]),
        ] {
            for (pairs, critical) in expected {
                assert_eq!(SignedRank::new(*pairs).critical(alpha), *critical, "{pairs} pairs at {alpha}");
            }
        }
        assert_eq!((fewest_pairs(0.05), fewest_pairs(0.01), fewest_pairs(0.05 / 5.0)), (6, 8, 8));
    }

    #[test]
    fn probabilities_are_those_of_all_signs() {
        for pairs in 1..=12_usize {
            let law = SignedRank::new(pairs);
            let mut counts = vec![0_u32; law.most() + 1];
            for signs in 0..1_u32 << pairs {
                let w: usize = (0..pairs).filter(|bit| signs >> bit & 1 == 1).map(|bit| bit + 1).sum();
                counts[w] += 1;
            }
            let mut sum = 0;
            for (w, count) in counts.iter().enumerate() {
                sum += count;
                let exact = f64::from(sum) / f64::from(1_u32 << pairs);
                assert!((law.at_most(w) - exact).abs() < 1e-12, "{pairs} pairs, W {w}");
            }
            assert!((law.p_of_extreme(0) - (2.0 * 0.5_f64.powi(pairs as i32)).min(1.0)).abs() < 1e-12);
        }
    }
}
