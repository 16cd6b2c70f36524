//! A test that may be looked at after each pair, for ever, without spending more than alpha: for differences that are as likely up as down,
//! exp(λS - λ²V/2) with S their sum and V the sum of their squares is a supermartingale for each λ (de la Peña 1999), and
//! so is its mean over normal λ; that it ever reaches 1/alpha has a chance of alpha at most (Ville 1939).

use super::{Interval, spread};

/// The bound, tuned to be tightest about a number of pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anytime {
    /// Inverse variance of the normal λ, in squares of the differences' unit.
    tuning: f64,
}

/// The evidence asked for when tuning, as the usual 5 %.
const TUNED_FOR: f64 = 0.05;

impl Anytime {
    /// Tunes the bound. `spread`: of the differences, as a pilot told it; `pairs`: after which it should be tightest. Both must be known
    /// before the first pair that counts.
    pub fn tuned(spread: f64, pairs: f64) -> Anytime {
        let evidence = 2.0 * (1.0 / TUNED_FOR).ln();
        // Howard, Ramdas, McAuliffe, Sekhon (2021), section 3.5, the expansion of the lower branch of Lambert's W.
        Anytime { tuning: pairs * spread * spread / (evidence + (1.0 + evidence).ln()) }
    }

    /// The factor by which the differences speak against 0: shown at alpha from 1/alpha on.
    pub fn evidence(&self, differences: &[f64]) -> f64 {
        self.evidence_against(differences, 0.0)
    }

    fn evidence_against(&self, differences: &[f64], value: f64) -> f64 {
        let sum: f64 = differences.iter().map(|one| one - value).sum();
        let squares: f64 = differences.iter().map(|one| (one - value).powi(2)).sum();
        let scale = squares + self.tuning;
        if !(scale > 0.0) {
            return 1.0;
        }
        (self.tuning / scale).sqrt() * (sum * sum / (2.0 * scale)).exp()
    }

    /// The values around the mean that are not shown to be wrong at alpha; `None`: there are too few pairs for any.
    pub fn interval(&self, differences: &[f64], alpha: f64) -> Option<Interval> {
        let low = self.bound(differences, alpha, -1.0)?;
        let high = self.bound(differences, alpha, 1.0)?;
        Some(Interval { low, high })
    }

    /// Where, in one direction from the mean, the evidence first reaches 1/alpha.
    fn bound(&self, differences: &[f64], alpha: f64, direction: f64) -> Option<f64> {
        if differences.is_empty() {
            return None;
        }
        let mean = spread::mean(differences);
        let is_out = |reach: f64| self.evidence_against(differences, mean + direction * reach) >= 1.0 / alpha;
        let unit = (self.tuning / differences.len() as f64).sqrt().max(f64::MIN_POSITIVE);
        let first = (1..400).map(|step| unit * 1.05_f64.powi(step) / 20.0).find(|reach| is_out(*reach))?;
        let mut inside = first / 1.05;
        let mut outside = first;
        for _ in 0..50 {
            let middle = f64::midpoint(inside, outside);
            if is_out(middle) { outside = middle } else { inside = middle }
        }
        Some(mean + direction * outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::Draw;
    use rand_distr::{Distribution, StandardNormal};

    fn pairs(seed: u64, effect: f64) -> impl Iterator<Item = f64> {
        let mut draw = Draw::new(17, seed);
        std::iter::repeat_with(move || {
            let noise: f64 = StandardNormal.sample(&mut draw);
            effect + noise
        })
    }

    /// The number of pairs after which a run that is looked at after each stops.
    fn stops_after(seed: u64, effect: f64, most: usize) -> Option<usize> {
        let bound = Anytime::tuned(1.0, 12.0);
        let differences: Vec<f64> = pairs(seed, effect).take(most).collect();
        (1..=most).find(|count| bound.evidence(&differences[..*count]) >= 20.0)
    }

    #[test]
    fn looking_after_each_pair_alarms_less_than_promised() {
        let alarms = (0..2_000).filter(|seed| stops_after(*seed, 0.0, 100).is_some()).count();
        assert!(alarms <= 100, "{alarms} of 2000");
        let found: Vec<usize> = (0..500).filter_map(|seed| stops_after(seed, 1.0, 60)).collect();
        let mean = found.iter().sum::<usize>() as f64 / found.len() as f64;
        assert!(found.len() >= 490 && mean < 22.0, "{} found, after {mean} pairs", found.len());
    }

    #[test]
    fn the_interval_is_the_test_inverted() {
        let differences: Vec<f64> = pairs(3, 1.0).take(20).collect();
        let bound = Anytime::tuned(1.0, 12.0);
        let found = bound.interval(&differences, 0.05).unwrap();
        assert!((bound.evidence_against(&differences, found.low) - 20.0).abs() < 1e-6);
        assert!((bound.evidence_against(&differences, found.high) - 20.0).abs() < 1e-6);
        assert!(found.covers(spread::mean(&differences)));
        assert_eq!(bound.interval(&differences[..3], 0.05), None);
    }
}
