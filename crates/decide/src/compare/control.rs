//! A against itself, beside B against A: what differs there is chance alone, and whoever reads the verdict had better know how much that is.

use super::difference::{Difference, Judgement, Pair, Shown, Word, difference, figure, for_the_worse};
use super::settings::Metric;
use crate::statistics::{Interval, spread};
use serde::{Deserialize, Serialize};

/// A figure of A against itself. Changes are **for the worse**, as those of B against A.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// The figure.
    pub metric: Metric,
    /// Of each pair, the difference as of a pair of both sides.
    pub differences: Vec<f64>,
    /// Median of the changes.
    pub change: f64,
    /// The least and the largest.
    pub range: Interval,
    /// B against A differs in it, and A against itself by as much.
    pub as_much: bool,
}

impl Control {
    /// Findings of the pairs of A against itself, in a figure that is judged; `None`: nothing.
    pub(super) fn of(judged: &Difference, pairs: &[Pair]) -> Option<Control> {
        let Judgement::Judged(shown) = &judged.judgement else { return None };
        let metric = judged.metric;
        let of_pair =
            |pair: &Pair| Some(difference(metric, figure(metric, &pair.a)?, figure(metric, &pair.b)?));
        let differences: Vec<f64> = pairs.iter().map(of_pair).collect::<Option<_>>()?;
        let changes: Vec<f64> = differences.iter().map(|one| for_the_worse(metric, *one)).collect();
        let range = spread::range(&changes)?;
        let change = spread::median(&changes);
        let as_much = is_shown(shown) && change.abs() >= shown.change.abs();
        Some(Control { metric, differences, change, range, as_much })
    }
}

fn is_shown(shown: &Shown) -> bool {
    match shown.word {
        Word::WorseByMore
        | Word::WorseByLess
        | Word::Worse
        | Word::Better
        | Word::BetterByLess
        | Word::BetterByMore => true,
        Word::NoneThatMatters | Word::CannotTell => false,
    }
}
