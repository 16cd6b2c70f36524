//! Halves of legs: where the second one differs from the first by more than legs do from each other, the leg was still on its way somewhere.

use super::difference::Pair;
use super::leg::{Half, LegResult};
use crate::statistics::spread;
use crate::words;

/// So many times the usual spread apart is not steady.
const APART: f64 = 3.0;
/// Halves that differ by less than this are alike, however alike legs are: of a rate or a time the logarithm, of a share itself.
const LEAST: f64 = 0.01;
/// Legs of which one in so many may have halves apart, by chance.
const MAY_BE_APART: usize = 10;

/// A figure that halves have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Rate,
    P50,
    Hits,
}

impl Figure {
    const CLOSED: [Figure; 2] = [Figure::Rate, Figure::Hits];
    const OPEN: [Figure; 2] = [Figure::P50, Figure::Hits];

    fn name(self) -> &'static str {
        match self {
            Figure::Rate => "throughput",
            Figure::P50 => "p50",
            Figure::Hits => "hit ratio",
        }
    }

    /// On a scale on which differences are shares.
    fn of(self, half: &Half) -> Option<f64> {
        let value = match self {
            Figure::Rate => Some(half.good_per_s.ln()),
            Figure::P50 => half.p50_ms.map(f64::ln),
            Figure::Hits => half.hit_ratio,
        };
        value.filter(|value| value.is_finite())
    }

    /// By how much the second half of each leg lies above the first; `None`: a leg does not tell.
    fn rises(self, legs: &[&LegResult]) -> Option<Vec<f64>> {
        legs.iter()
            .map(|leg| {
                let [first, second] = leg.halves.as_ref()?;
                Some(self.of(second)? - self.of(first)?)
            })
            .collect()
    }

    /// The value of each leg as a whole.
    fn levels(self, legs: &[&LegResult]) -> Option<Vec<f64>> {
        legs.iter()
            .map(|leg| {
                let [first, second] = leg.halves.as_ref()?;
                Some(f64::midpoint(self.of(first)?, self.of(second)?))
            })
            .collect()
    }
}

/// True if all legs of the uncounted block, whose outer ones are of one side and inner ones of the other, rise or fall together, by more than
/// legs of one side differ.
pub(super) fn still_warms(closed: &[LegResult], open: &[LegResult]) -> bool {
    let rise = |legs: &[LegResult], figures: [Figure; 2]| {
        let legs: Vec<&LegResult> = legs.iter().collect();
        figures.into_iter().any(|figure| rises_together(figure, &legs).unwrap_or(false))
    };
    rise(closed, Figure::CLOSED) || rise(open, Figure::OPEN)
}

fn rises_together(figure: Figure, legs: &[&LegResult]) -> Option<bool> {
    let rises = figure.rises(legs)?;
    let levels = figure.levels(legs)?;
    let [first, second, third, fourth] = levels.as_slice() else { return None };
    let usual = f64::midpoint((first - fourth).powi(2), (second - third).powi(2)).sqrt().max(LEAST);
    let together = rises.iter().all(|rise| *rise > 0.0) || rises.iter().all(|rise| *rise < 0.0);
    Some(together && spread::median(&rises).abs() > APART * usual)
}

/// Sentences on counted legs that were not steady.
pub(super) fn notes(pairs: &[Pair]) -> Vec<String> {
    let legs = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
    let closed: Vec<&LegResult> = legs().map(|both| &both.closed).collect();
    let open: Vec<&LegResult> = legs().map(|both| &both.open).collect();
    let of = |kind: &'static str, legs: &[&LegResult], figures: [Figure; 2]| -> Vec<String> {
        figures.into_iter().filter_map(|figure| note(kind, figure, legs)).collect()
    };
    let mut notes = of("closed", &closed, Figure::CLOSED);
    notes.extend(of("open", &open, Figure::OPEN));
    notes
}

fn note(kind: &str, figure: Figure, legs: &[&LegResult]) -> Option<String> {
    let rises = figure.rises(legs)?;
    let levels = figure.levels(legs)?;
    // Legs of a pair stand next to each other.
    let differences: Vec<f64> = levels.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect();
    let usual = Some(spread::robust_deviation(&differences)).filter(|usual| usual.is_finite())?.max(LEAST);
    let apart = rises.iter().filter(|rise| rise.abs() > APART * usual).count();
    (apart * MAY_BE_APART > legs.len()).then(|| {
        format!(
            "not steady: in {apart} of {} {kind} legs both halves are more than {} apart in {}, three times what pairs usually differ by: \
             give longer legs, or a longer warm-up",
            legs.len(),
            words::percent(APART * usual),
            figure.name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::difference::Both;
    use std::collections::BTreeMap;

    /// A leg at a level, whose second half lies above its first by a share.
    fn leg(level: f64, rise: f64) -> LegResult {
        let half = |factor: f64| Half {
            good_per_s: 1000.0 * level * factor,
            p50_ms: Some(level / factor),
            hit_ratio: None,
        };
        LegResult {
            took_s: 1.0,
            void: None,
            measured_s: 10.0,
            due: 10_000,
            good: 10_000,
            failures: BTreeMap::new(),
            faulty: 0,
            cpu_s: None,
            p50_ms: Some(level),
            p99_ms: None,
            hits: None,
            halves: Some([half((-rise / 2.0).exp()), half((rise / 2.0).exp())]),
            resting_cores: None,
            stolen: None,
            late_ms: None,
        }
    }

    fn block(rises: [f64; 4]) -> Vec<LegResult> {
        rises.into_iter().zip([1.0, 1.01, 1.002, 1.005]).map(|(rise, level)| leg(level, rise)).collect()
    }

    #[test]
    fn a_block_still_warms_where_all_its_legs_rise_by_more_than_legs_differ() {
        let steady = block([0.01, -0.02, 0.015, -0.01]);
        for (rises, expected) in [
            ([0.09, 0.08, 0.1, 0.07], true),
            ([-0.09, -0.08, -0.1, -0.07], true),
            ([0.09, 0.08, 0.1, -0.07], false),
            ([0.02, 0.02, 0.02, 0.02], false),
        ] {
            assert_eq!(still_warms(&block(rises), &steady), expected, "{rises:?}");
            assert_eq!(still_warms(&steady, &block(rises)), expected, "{rises:?}");
        }
        let wild: Vec<LegResult> = [1.0, 1.3, 1.1, 0.8].map(|level| leg(level, 0.09)).to_vec();
        assert!(!still_warms(&wild, &steady), "legs differ by more than their halves");
        let mut untold = block([0.5; 4]);
        untold[2].halves = None;
        assert!(!still_warms(&untold, &steady));
    }

    #[test]
    fn counted_legs_that_are_not_steady_are_told_from_one_in_ten_on() {
        let both = |rise: f64| Both { closed: leg(1.0, rise), open: leg(1.0, 0.0) };
        let pairs = |apart: usize| -> Vec<Pair> {
            (0..12)
                .map(|nth| Pair { a: both(if nth < apart { 0.08 } else { 0.01 }), b: both(-0.01) })
                .collect()
        };
        assert_eq!(notes(&pairs(2)), Vec::<String>::new());
        let told = notes(&pairs(3));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("not steady: in 3 of 24 closed legs both halves are more than 3.0 %"),
            "{}",
            told[0]
        );
    }
}
