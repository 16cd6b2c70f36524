//! A comparison as it is written: all that its conclusion rests on, so that anybody can conclude from it again.

use super::{Compare, Outcome, RunSets, TwoRuns};
use crate::machine::RecordOf;
use measure::processes::Process;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of the form of legs.
pub const COMPARISON: &str = "wringer.comparison";
/// The name of the form of kept runs.
pub const COMPARISON_OF_RUNS: &str = "wringer.comparison-of-runs";

/// Answers of the first leg of a side, and who gave them: facts that are to stay the same from leg to leg.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideSeen {
    /// Statuses, most frequent first.
    pub statuses: Vec<u16>,
    /// Bytes of a body.
    pub bytes_per_answer: f64,
    /// Processes that answered, each with its pid and the moment at which it began, in seconds since 1970.
    pub processes: Vec<(u32, Option<f64>)>,
    /// The program that answered first.
    pub program: Option<Process>,
    /// Its address is this machine's, so that one process could be both sides.
    pub is_here: bool,
}

/// A comparison of legs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Decision<'a> {
    /// The name of this form.
    #[cfg_attr(test, schemars(extend("const" = "wringer.comparison")))]
    pub schema: &'static str,
    /// Raised when a field changes its meaning, unit or place, or goes away.
    pub schema_version: u32,
    /// The version of wringer.
    pub version: &'static str,
    /// Side A as people read it.
    pub a: &'a str,
    /// Side B.
    pub b: &'a str,
    /// Both sides as they were typed.
    pub sides: &'a [String; 2],
    /// Facts that a reader must know before the figures.
    pub facts: &'a [String],
    /// Exit code of the command; `null`: it is not over.
    pub exit: Option<u8>,
    /// The finding in one sentence.
    pub text: Option<String>,
    /// The conclusion.
    pub outcome: Option<&'a Outcome>,
    /// All legs.
    pub record: &'a RecordOf<Compare>,
    /// Answers of the first leg of each side.
    pub seen: &'a [Option<SideSeen>; 2],
    /// The run file of each leg, in their order; `null`: it is not kept.
    pub files: Vec<Option<&'a Path>>,
}

/// The conclusion from kept runs.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OfRuns<'a> {
    /// From one of each side.
    TwoRuns(&'a TwoRuns),
    /// From several.
    RunSets(&'a RunSets),
}

/// A comparison of kept runs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunsDecision<'a> {
    /// The name of this form.
    #[cfg_attr(test, schemars(extend("const" = "wringer.comparison-of-runs")))]
    pub schema: &'static str,
    /// Raised when a field changes its meaning, unit or place, or goes away.
    pub schema_version: u32,
    /// The version of wringer.
    pub version: &'static str,
    /// Side A as people read it.
    pub a: &'a str,
    /// Side B.
    pub b: &'a str,
    /// Facts that a reader must know before the figures.
    pub facts: &'a [String],
    /// Exit code of the command.
    pub exit: u8,
    /// All of it, as printed.
    pub text: &'a str,
    /// The conclusion.
    pub outcome: OfRuns<'a>,
    /// The run files of each side.
    pub files: [&'a [&'a Path]; 2],
}
