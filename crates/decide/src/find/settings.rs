//! Aim of a search: the highest rate that keeps limits, how narrowly, and in which time.

use crate::machine::Refusal;
use crate::words;
use serde::{Deserialize, Serialize};

/// Aim of a search, and how long it may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FindSettings {
    /// All chance comes from it.
    pub seed: u64,
    /// Limits that all must be kept; at least one.
    pub limits: Vec<Limit>,
    /// How requests follow each other in open trials.
    pub arrivals: Arrivals,
    /// The interval may be so wide, as a share of the rate.
    pub within: f64,
    /// Seconds that all trials may take together.
    pub budget_s: f64,
    /// Users of the closed trial that tells the highest rate to expect.
    pub users: u32,
}

impl FindSettings {
    /// The usual ones: Poisson arrivals, 3 % wide, six minutes.
    pub fn new(seed: u64, limits: Vec<Limit>) -> FindSettings {
        FindSettings { seed, limits, arrivals: Arrivals::Poisson, within: 0.03, budget_s: 360.0, users: 64 }
    }

    /// # Errors
    /// Nothing could come of them.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let refuse = |why: String| Err(Refusal(why));
        if self.limits.is_empty() {
            return refuse(
                "a rate that keeps no limit is not a finding: give one, such as p99<50ms".to_owned(),
            );
        }
        if let Some(limit) = self.limits.iter().find(|limit| !limit.can_be_kept_and_broken()) {
            return refuse(format!(
                "the limit {} can never be kept, or never be broken: give another",
                limit.text()
            ));
        }
        if !(self.within > 0.0 && self.within <= 0.5) {
            return refuse(format!("a width of {} is none: give 1 % to 50 %", words::percent(self.within)));
        }
        if !(self.budget_s >= SHORTEST_BUDGET_S) {
            return refuse(format!(
                "{} are too short for any answer: the shortest search takes {}",
                words::time(self.budget_s),
                words::time(SHORTEST_BUDGET_S)
            ));
        }
        if self.users == 0 {
            return refuse("a closed trial needs at least one user".to_owned());
        }
        Ok(())
    }
}

/// Two closed trials, a ramp of three, a bracket and twelve near the knee, of the shortest length, and a hold.
pub(super) const SHORTEST_BUDGET_S: f64 = 180.0;

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// As those of many users who do not know of each other; sees the target's time averages.
    Poisson,
    /// At one distance. Flatters: the same server keeps 5 to 40 % more, and the load may beat in step with its timers.
    Even,
}

/// A limit that must be kept. Requests that failed or were not answered never keep a limit of time, else a target passes by refusing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Limit {
    /// At least this share of the due requests is answered well within the time.
    Quantile {
        /// 0 to 1, as 0.99 for p99.
        quantile: f64,
        /// Milliseconds from when the request was due.
        limit_ms: f64,
    },
    /// At most this share of the due requests fails or is not answered.
    Failed {
        /// 0 to 1.
        share: f64,
    },
    /// The mean response time is at most this; one that failed counts with the time until it did.
    Mean {
        /// Milliseconds from when the request was due.
        limit_ms: f64,
    },
}

impl Limit {
    /// The share of due requests that may be over it; of a mean, the mean itself.
    pub fn allowed(&self) -> f64 {
        match *self {
            Limit::Quantile { quantile, .. } => 1.0 - quantile,
            Limit::Failed { share } => share,
            Limit::Mean { limit_ms } => limit_ms,
        }
    }

    /// True if requests are over it or not; false of a mean.
    pub fn is_share(&self) -> bool {
        match self {
            Limit::Quantile { .. } | Limit::Failed { .. } => true,
            Limit::Mean { .. } => false,
        }
    }

    /// The time that it is about; `None` of failures.
    pub fn time_ms(&self) -> Option<f64> {
        match *self {
            Limit::Quantile { limit_ms, .. } | Limit::Mean { limit_ms } => Some(limit_ms),
            Limit::Failed { .. } => None,
        }
    }

    /// As it would be typed.
    pub fn text(&self) -> String {
        match *self {
            Limit::Quantile { quantile, limit_ms } => {
                format!("p{} < {}", shortest(quantile * 100.0), words::time(limit_ms / 1e3))
            }
            Limit::Failed { share } => format!("failed < {} %", shortest(share * 100.0)),
            Limit::Mean { limit_ms } => format!("mean < {}", words::time(limit_ms / 1e3)),
        }
    }

    fn can_be_kept_and_broken(&self) -> bool {
        let time_is_some = self.time_ms().is_none_or(|time| time > 0.0 && time.is_finite());
        time_is_some && self.allowed() > 0.0 && (!self.is_share() || self.allowed() < 1.0)
    }
}

/// 99.9 rather than 99.90000000000001.
fn shortest(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_as_typed() {
        assert_eq!(Limit::Quantile { quantile: 0.999, limit_ms: 50.0 }.text(), "p99.9 < 50 ms");
        assert_eq!(Limit::Failed { share: 0.001 }.text(), "failed < 0.1 %");
        assert_eq!(Limit::Mean { limit_ms: 5.0 }.text(), "mean < 5 ms");
    }

    #[test]
    fn settings_from_which_nothing_can_come() {
        let p99 = Limit::Quantile { quantile: 0.99, limit_ms: 50.0 };
        let good = FindSettings::new(1, vec![p99]);
        assert_eq!(good.check(), Ok(()));
        for (settings, expected) in [
            (FindSettings { limits: vec![], ..good.clone() }, "keeps no limit"),
            (FindSettings { limits: vec![Limit::Failed { share: 0.0 }], ..good.clone() }, "never be kept"),
            (FindSettings { limits: vec![Limit::Mean { limit_ms: -1.0 }], ..good.clone() }, "never be kept"),
            (FindSettings { within: 0.0, ..good.clone() }, "width of"),
            (FindSettings { budget_s: 60.0, ..good.clone() }, "60 s are too short"),
            (FindSettings { users: 0, ..good.clone() }, "at least one user"),
        ] {
            let said = settings.check().unwrap_err().0;
            assert!(said.contains(expected), "{said}");
        }
    }
}
