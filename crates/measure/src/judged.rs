//! Conditions that the figures of a run were held to, with the figures.

use serde::{Deserialize, Serialize};

/// Condition that the figures were held to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// The condition, as it was typed.
    pub condition: String,
    /// Role of the condition.
    #[serde(default)]
    pub names: JudgedNames,
    /// The figure: times in µs, shares 0 to 1, rates per second; `None` where it is not known.
    pub value: Option<f64>,
    /// The figure is at least this: it is not known how long unfinished requests would have taken.
    pub at_least: bool,
    /// It is what must not be, or nothing shows that it is not.
    pub violated: bool,
    /// Somebody ended the run before its time, so that nothing was held against this condition; the figure is that of the piece.
    #[serde(default)]
    pub unevaluated: bool,
    /// It speaks of requests without a good answer, so that whoever gave it has said himself how many are too many.
    #[serde(default)]
    pub of_failures: bool,
}

impl Judged {
    /// The run did not come to its end, so nothing is held against the condition.
    pub fn leave_open(&mut self) {
        (self.violated, self.unevaluated) = (false, true);
    }
}

/// Role of a condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JudgedNames {
    /// It must not hold when the run is over.
    #[default]
    Forbidden,
    /// It must hold then.
    Required,
    /// It ends the run.
    Stop,
}

impl JudgedNames {
    /// Short name for machines.
    pub fn name(self) -> &'static str {
        match self {
            JudgedNames::Forbidden => "forbidden",
            JudgedNames::Required => "required",
            JudgedNames::Stop => "stop",
        }
    }
}
