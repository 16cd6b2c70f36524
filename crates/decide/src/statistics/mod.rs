//! Statistics as pure functions: numbers in, numbers out, chance only from a seed. One method each file, with its source.
//!
//! Evidence is counted in pairs of legs, trials, points or runs, never in requests or seconds, which are not independent.

use serde::{Deserialize, Serialize};

pub mod anytime;
pub mod autocorrelation;
pub mod detectable;
pub mod distribution;
pub mod energy;
pub mod flips;
pub mod holm;
pub mod jackknife;
pub mod mann_kendall;
pub mod moving_blocks;
pub mod quasi_poisson;
pub mod rank_correlation;
pub mod rank_sum;
pub mod signed_rank;
pub mod spread;
pub mod theil_sen;
pub mod usl;
pub mod walsh;

/// The values that measurements do not speak against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The least of them.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Interval {
    /// True if the value lies in it.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same of a rising function of what it is about.
    #[must_use]
    pub fn map(&self, rising: impl Fn(f64) -> f64) -> Interval {
        Interval { low: rising(self.low), high: rising(self.high) }
    }

    /// High over low, less 1: 0.03 is 3 % wide.
    pub fn relative_width(&self) -> f64 {
        self.high / self.low - 1.0
    }
}
