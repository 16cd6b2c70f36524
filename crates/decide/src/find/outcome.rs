//! The conclusion of a search, in figures and in words.

use super::settings::Limit;
use crate::statistics::Interval;
use crate::words;
use serde::{Deserialize, Serialize};

/// The end of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The finding.
    pub finding: FindFinding,
    /// Whatever must be known beside it, one sentence each.
    pub notes: Vec<String>,
    /// Observations at each rate, from the lowest.
    pub rates: Vec<RateRow>,
    /// Seconds that the search took.
    pub took_s: f64,
    /// Trials that were run, void ones among them.
    pub trials: usize,
}

/// Observations at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RateRow {
    /// Requests a second.
    pub rate: f64,
    /// Trials at it that are not void.
    pub trials: usize,
    /// Share of due requests over each limit; of a mean, the mean in milliseconds.
    pub over: Vec<f64>,
    /// Good answers a second.
    pub good_per_s: f64,
    /// 99th percentile of the response times in milliseconds, the mean of the trials.
    pub p99_ms: Option<f64>,
    /// Busy share of the target's CPU.
    pub cpu: Option<f64>,
    /// Share of answers from the cache.
    pub hit_ratio: Option<f64>,
    /// The verdict in words.
    pub verdict: String,
}

/// The finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FindFinding {
    /// The highest rate that keeps the limits, which held.
    Knee(Knee),
    /// No limit was reached: the generator was the limit, or the highest rate tried was kept.
    AtLeast {
        /// The highest rate that was kept, a second.
        rate: f64,
        /// Why there is no more to say.
        why: String,
    },
    /// No rate keeps the limits.
    NoRate {
        /// The lowest rate tried; `None`: one user at a time broke them already.
        lowest: Option<f64>,
        /// How they were broken.
        why: String,
    },
    /// The target was not the same from beginning to end.
    Drifted {
        /// Share by which the knee moved each minute; below 0: it fell.
        per_minute: f64,
        /// The knee by the trials, which are of different moments, and those that they do not speak against.
        about: Interval,
    },
    /// A rate that the figure promised did not hold, again and again.
    NotSteady {
        /// The rates that did not hold, a second.
        refuted: Vec<f64>,
        /// The highest rate that was kept, if one was.
        kept: Option<f64>,
    },
    /// The time was over before there was a figure that held.
    Partial {
        /// The highest rate that was kept and the lowest that was not, as far as they are known.
        kept: Option<f64>,
        /// See `kept`.
        broken: Option<f64>,
        /// Where the knee seems to be by short trials, if they tell.
        about: Option<Interval>,
        /// Reason why there is no more.
        why: String,
    },
    /// Too many trials said nothing of the target.
    NoVerdict {
        /// Disturbances.
        why: String,
    },
}

/// A rate that keeps the limits, where a somewhat higher one does not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Knee {
    /// Requests a second.
    pub rate: f64,
    /// The rates that the trials do not speak against, at 95 %.
    pub interval: Interval,
    /// No line tells it: the interval's lower end is kept and its upper end is broken.
    #[serde(default)]
    pub is_wall: bool,
    /// The rate that was held for a minute.
    pub held: f64,
    /// The limit that is reached first.
    pub limit: Limit,
    /// Trials that the figure rests on.
    pub trials: usize,
    /// The way back from too much; `None`: there was no time to look.
    pub recovery: Option<Recovery>,
}

/// The way back from 1.3 times the knee for 10 s, at half of the knee.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// Seconds until the limits were kept again; `None`: not in the time that was waited.
    pub after_s: Option<f64>,
    /// Seconds that were waited at most.
    pub waited_s: f64,
    /// Share of the knee at which it recovered, or did not.
    pub at_share: f64,
    /// True if 0.95 of the knee was then carried; `None`: it was not tried.
    pub carries_again: Option<bool>,
}

impl Outcome {
    /// The finding in one sentence.
    pub fn headline(&self) -> String {
        match &self.finding {
            FindFinding::Knee(knee) => knee.text(),
            FindFinding::AtLeast { rate, why } => format!("at least {}: {why}", words::rate(*rate)),
            FindFinding::NoRate { lowest: None, why } => {
                format!("no rate keeps the limits: one user at a time breaks them ({why})")
            }
            FindFinding::NoRate { lowest: Some(rate), why } => {
                format!("no rate keeps the limits: {} breaks them already ({why})", words::rate(*rate))
            }
            FindFinding::Drifted { per_minute, about } => format!(
                "no figure: what the target carries drifted by {} a minute while it was measured, somewhere between {} and {}",
                words::percent(*per_minute),
                words::rate(about.low),
                words::rate(about.high)
            ),
            FindFinding::NotSteady { refuted, kept } => {
                let rates: Vec<String> = refuted.iter().map(|rate| words::rate(*rate)).collect();
                let kept = kept.map_or_else(String::new, |rate| {
                    format!("; {} was kept in shorter trials", words::rate(rate))
                });
                format!(
                    "not steady: {} did not hold for a minute although shorter trials promised it{kept}",
                    words::list(&rates)
                )
            }
            FindFinding::Partial { about: Some(about), why, .. } => {
                let between = format!("between {} and {}", words::rate(about.low), words::rate(about.high));
                format!("not finished: {between} by short trials, which nothing confirmed; {why}")
            }
            FindFinding::Partial { kept, broken, about: None, why } => {
                let between = match (kept, broken) {
                    (Some(kept), Some(broken)) => {
                        format!(
                            "between {}, which was kept, and {}, which was not",
                            words::rate(*kept),
                            words::rate(*broken)
                        )
                    }
                    (Some(kept), None) => format!("{} was kept", words::rate(*kept)),
                    (None, Some(broken)) => format!("{} was not kept", words::rate(*broken)),
                    (None, None) => "nothing is known yet".to_owned(),
                };
                format!("not finished: {between}; {why}")
            }
            FindFinding::NoVerdict { why } => format!("no verdict: {why}"),
        }
    }
}

impl Knee {
    /// The figure with its interval, and what held, in one sentence.
    pub fn text(&self) -> String {
        if self.is_wall {
            return format!(
                "{} keeps {} (a wall: {} was kept in short trials and {} breaks it, so that no line tells more; {} held for a minute)",
                words::rate(self.held),
                self.limit.text(),
                words::rate(self.interval.low),
                words::rate(self.interval.high),
                words::rate(self.held)
            );
        }
        format!(
            "{} keeps {} (95 % interval {} to {}; {} held for a minute)",
            words::rate(self.rate),
            self.limit.text(),
            words::rate(self.interval.low),
            words::rate(self.interval.high),
            words::rate(self.held)
        )
    }
}

impl Recovery {
    /// The way back in one sentence.
    pub fn text(&self) -> String {
        let share = words::percent(self.at_share);
        let back = match self.after_s {
            Some(seconds) if seconds < 0.5 => {
                format!("after a surge it keeps the limits at once at {share} of the knee")
            }
            Some(seconds) => format!(
                "after a surge it takes {} at {share} of the knee until the limits are kept again",
                words::time(seconds)
            ),
            None => format!(
                "after a surge it does not recover in {} at {share} of the knee",
                words::time(self.waited_s)
            ),
        };
        match self.carries_again {
            Some(false) => format!(
                "{back}; then 95 % of the knee, which it carried before, breaks them: it depends on what was before"
            ),
            Some(true) | None => back,
        }
    }
}
