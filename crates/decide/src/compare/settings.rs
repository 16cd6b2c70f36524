//! Aim of a comparison: which figures, how many pairs, and what is held to be too much.

use crate::machine::Refusal;
use crate::statistics::signed_rank;
use crate::words;
use serde::{Deserialize, Serialize};

/// The chance of any false alarm among all figures that are judged.
pub(super) const ALPHA: f64 = 0.05;

/// Pairs after which a comparison that goes on until it is sure is looked at, each with its share of the chance of a false alarm. The
/// shares add up to no more than [`ALPHA`], so they hold for whatever data.
const LOOKS: [(usize, f64); 4] = [(8, 0.01), (12, 0.01), (20, 0.015), (30, 0.015)];

/// Pairs for each one of A against itself.
const PAIRS_PER_CONTROL: usize = 3;

/// Aim of a comparison, and how long it may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// All chance comes from it.
    pub seed: u64,
    /// Pairs that are counted: an A leg and a B leg next to each other.
    pub pairs: usize,
    /// Users of closed legs.
    pub users: u32,
    /// Lengths of a leg's parts.
    pub lengths: Lengths,
    /// The figures that are judged.
    pub figures: Vec<Metric>,
    /// It is a failure if B is slower by this share.
    pub fail_if_slower: Option<f64>,
    /// It is a failure if B may be slower by this share.
    pub require_within: Option<f64>,
    /// Both sides are started anew for each pair, so that the luck of a start is drawn as often as there are pairs.
    #[serde(default)]
    pub anew: bool,
    /// Ends at the first of several looks at which each figure that is judged is decided, after 8, 12, 20 or 30 pairs, whatever `pairs`
    /// says.
    #[serde(default)]
    pub until_sure: bool,
    /// Pairs of A against itself come between the others, one for each three of them.
    #[serde(default)]
    pub control: bool,
    /// Ends after the uncounted block, and tells what a comparison could see.
    pub forecast_only: bool,
}

/// Lengths of a leg's parts in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// Before the closed part, uncounted.
    pub closed_warm_s: f64,
    /// The closed part.
    pub closed_s: f64,
    /// Before the open part, uncounted.
    pub open_warm_s: f64,
    /// The open part.
    pub open_s: f64,
}

impl Lengths {
    /// The usual ones.
    pub const USUAL: Lengths = Lengths { closed_warm_s: 3.0, closed_s: 10.0, open_warm_s: 2.0, open_s: 10.0 };
    /// A minute of measuring for eight pairs.
    pub const QUICK: Lengths = Lengths { closed_warm_s: 1.0, closed_s: 2.0, open_warm_s: 1.0, open_s: 2.0 };

    /// Seconds of a leg.
    pub fn leg_s(&self) -> f64 {
        self.closed_warm_s + self.closed_s + self.open_warm_s + self.open_s
    }
}

/// A figure that both sides have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Good answers a second of closed parts.
    Throughput,
    /// CPU of the target per good answer of closed parts; on shared machines the least noisy one.
    Cpu,
    /// Median of the response times of open parts.
    P50,
    /// Their 99th percentile.
    P99,
    /// Requests that failed or were not answered, as a share of the due ones, of both parts.
    Failed,
    /// Answers that came from the cache, as a share of those of which that is known, of both parts. Judged where both sides are caches.
    Hits,
}

impl Metric {
    /// Those that are judged where nobody chooses.
    pub const USUAL: [Metric; 5] =
        [Metric::Throughput, Metric::Cpu, Metric::P50, Metric::P99, Metric::Failed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Cpu => "CPU per answer",
            Metric::P50 => "p50",
            Metric::P99 => "p99",
            Metric::Failed => "failed",
            Metric::Hits => "hit ratio",
        }
    }

    /// The smallest change that matters where nobody says.
    pub fn usual_margin(self) -> f64 {
        match self {
            Metric::Throughput | Metric::Cpu => 0.02,
            Metric::P50 | Metric::P99 => 0.05,
            Metric::Failed => 0.001,
            Metric::Hits => 0.01,
        }
    }

    /// True if a change for the worse means that B is slower, so that a condition on speed speaks of it.
    pub(super) fn is_speed(self) -> bool {
        match self {
            Metric::Throughput | Metric::P50 | Metric::P99 => true,
            Metric::Cpu | Metric::Failed | Metric::Hits => false,
        }
    }
}

impl Settings {
    /// The usual ones: twelve pairs, 64 users.
    pub fn new(seed: u64) -> Settings {
        Settings {
            seed,
            pairs: 12,
            users: 64,
            lengths: Lengths::USUAL,
            figures: Metric::USUAL.to_vec(),
            fail_if_slower: None,
            require_within: None,
            anew: false,
            until_sure: false,
            control: false,
            forecast_only: false,
        }
    }

    /// The smallest change of a figure that matters.
    pub fn margin(&self, metric: Metric) -> f64 {
        let asked = self.fail_if_slower.or(self.require_within).filter(|_| metric.is_speed());
        asked.unwrap_or(metric.usual_margin())
    }

    /// The most pairs that it takes.
    pub fn most_pairs(&self) -> usize {
        if self.until_sure { LOOKS[LOOKS.len() - 1].0 } else { self.pairs }
    }

    /// The most pairs of A against itself among them.
    pub(super) fn most_controls(&self) -> usize {
        if self.control { self.most_pairs() / PAIRS_PER_CONTROL } else { 0 }
    }

    /// True if a pair of A against itself comes after so many pairs: the middle of each three, so that none comes when all is decided.
    pub(super) fn is_controlled_after(&self, pairs: usize) -> bool {
        self.control && pairs % PAIRS_PER_CONTROL == PAIRS_PER_CONTROL - 1
    }

    /// True if it is looked at after so many pairs.
    pub(super) fn looks_after(&self, pairs: usize) -> bool {
        if self.until_sure { LOOKS.iter().any(|(look, _)| *look == pairs) } else { pairs == self.pairs }
    }

    /// The chance of any false alarm in a look after so many pairs.
    pub(super) fn level(&self, pairs: usize) -> f64 {
        let look = LOOKS.iter().rev().find(|(look, _)| *look <= pairs).unwrap_or(&LOOKS[0]);
        if self.until_sure { look.1 } else { ALPHA }
    }

    /// # Errors
    /// Nothing could come of them.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let refuse = |why: String| Err(Refusal(why));
        if self.figures.is_empty() {
            return refuse("a comparison of no figure is none: give one, such as throughput".to_owned());
        }
        let fewest = signed_rank::fewest_pairs(ALPHA / self.figures.len() as f64);
        if self.pairs < fewest && !self.until_sure {
            return refuse(format!(
                "{} show nothing, however large the difference, where {} are judged: give {fewest} or more",
                words::count(self.pairs, "pair"),
                words::count(self.figures.len(), "figure"),
            ));
        }
        if self.pairs % 2 == 1 && !self.until_sure {
            return refuse(format!(
                "{} pairs are no whole blocks: a block is two pairs, one of each order, so give an even number",
                self.pairs
            ));
        }
        if self.users == 0 {
            return refuse("a closed leg needs at least one user".to_owned());
        }
        for margin in [self.fail_if_slower, self.require_within].into_iter().flatten() {
            if !(margin > 0.0 && margin < 1.0) {
                return refuse(format!(
                    "{} is no share to be slower by: give one such as 3%",
                    words::percent(margin)
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the data, some look alarms at most as often as their shares together say.
    #[test]
    fn the_looks_share_the_level() {
        assert!(LOOKS.iter().map(|(_, share)| share).sum::<f64>() <= ALPHA);
        let sure = Settings { until_sure: true, ..Settings::new(1) };
        let levels = LOOKS.map(|(pairs, share)| sure.level(pairs) <= share && sure.looks_after(pairs));
        assert_eq!((levels, sure.looks_after(9)), ([true; 4], false));
        assert_eq!((Settings::new(1).level(12), Settings::new(1).looks_after(8)), (ALPHA, false));
    }

    #[test]
    fn settings_from_which_nothing_can_come() {
        let good = Settings::new(1);
        assert_eq!(good.check(), Ok(()));
        for (settings, expected) in [
            (Settings { figures: vec![], ..good.clone() }, "of no figure"),
            (Settings { pairs: 6, ..good.clone() }, "give 8 or more"),
            (Settings { pairs: 9, ..good.clone() }, "even number"),
            (Settings { users: 0, ..good.clone() }, "at least one user"),
            (Settings { fail_if_slower: Some(0.0), ..good.clone() }, "no share"),
            (Settings { require_within: Some(3.0), ..good.clone() }, "no share"),
        ] {
            let said = settings.check().unwrap_err().0;
            assert!(said.contains(expected), "{said}");
        }
        // One figure needs fewer pairs.
        let one = Settings { figures: vec![Metric::Throughput], pairs: 6, ..good };
        assert_eq!(one.check(), Ok(()));
    }
}
