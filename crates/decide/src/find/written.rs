//! A search as it is written: all that its conclusion rests on, so that anybody can conclude from it again.

use super::{Conclusion, Find, Highest, Purchase, Throughput};
use crate::machine::RecordOf;
use crate::words;
use serde::Serialize;
use std::path::Path;

/// The name of the form.
pub const SEARCH: &str = "wringer.search";

/// A search.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Search<'a> {
    /// The name of this form.
    #[cfg_attr(test, schemars(extend("const" = "wringer.search")))]
    pub schema: &'static str,
    /// Raised when a field changes its meaning, unit or place, or goes away.
    pub schema_version: u32,
    /// The version of wringer.
    pub version: &'static str,
    /// The target, as people read it.
    pub target: &'a str,
    /// Exit code of the command; `null`: it is not over.
    pub exit: Option<u8>,
    /// The conclusion as it was printed.
    pub text: Option<&'a str>,
    /// The conclusion, or what is known so far.
    pub conclusion: Option<&'a Conclusion>,
    /// All trials.
    pub record: Option<&'a RecordOf<Find>>,
    /// Machines to buy, where that was asked.
    pub purchase: Option<&'a Bought>,
    /// The highest throughput, where that was asked.
    pub throughput: Option<&'a Rounds>,
    /// The processes that answer, as pid and Unix time of their start, as far as they are known and were not started by the search.
    pub answered_by: &'a [(u32, Option<f64>)],
    /// The run file of each trial, in their order, those of the throughput last; `null`: it is not kept.
    pub files: Vec<Option<&'a Path>>,
}

/// Machines for a load, or why that cannot be said.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bought {
    /// Requests a second, of all machines together.
    pub rate: f64,
    /// The machines.
    pub found: Option<Purchase>,
    /// Why it cannot be said.
    pub refused: Option<String>,
}

impl Bought {
    /// In words, a line or more.
    pub fn text(&self) -> String {
        match (&self.found, &self.refused) {
            (Some(found), _) => format!("for {}: {}", words::rate(self.rate), found.text()),
            (None, why) => {
                format!("for {}: {}\n", words::rate(self.rate), why.as_deref().unwrap_or("not known"))
            }
        }
    }
}

/// Rounds of more and more users, and what came of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rounds {
    /// The conclusion; `null`: they were ended by hand.
    pub highest: Option<Highest>,
    /// All trials.
    pub record: RecordOf<Throughput>,
}
