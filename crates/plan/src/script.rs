//! Requests that a script makes: the Lua scripts of wrk and wrk2. The plan carries the script whole, so that it can run
//! again from its text form alone.

use crate::request::Request;
use serde::{Deserialize, Serialize};

/// Sends what a script says. A phase with such a step has no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// Whose scripts they are.
    #[serde(default)]
    pub dialect: Dialect,
    /// Where the script came from, for messages.
    pub file: String,
    /// The script.
    pub text: String,
    /// Words of the command line that the script is given, without the URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The URL as it was typed, which the script is given too.
    pub url: String,
    /// What is sent where the script does not say otherwise. Of its fields the script sees name and value.
    pub request: Request,
    /// Of requests sent in one piece only the last is timed; otherwise each is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub time_batches: bool,
}

/// Whose scripts are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Those of wrk.
    #[default]
    Wrk,
    /// Those of wrk2: the same without `delay`, with `wrk.time_us`, and with statistics that are indexed.
    Wrk2,
}
