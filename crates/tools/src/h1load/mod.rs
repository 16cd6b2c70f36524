//! The doors of h1load and of HAProxy's haload: much the same options and one report.
//!
//! Two stages: `args.rs` reads what was typed, `plan.rs` says what it means. Nothing is opened or printed here: text goes out as
//! [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;

pub use door::{H1load, Haload};

use crate::ToolShown;
use report::LineOptions;
use std::ffi::OsString;

/// A test, and how to show it.
pub type Run = crate::Run<H1loadView>;

/// A load generator that is stood in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// h1load: HTTP/1.1.
    H1load,
    /// haload: HTTP/1.1, 2 and 3.
    Haload,
}

impl Generator {
    /// The name that it is called by.
    pub fn name(self) -> &'static str {
        match self {
            Generator::H1load => "h1load",
            Generator::Haload => "haload",
        }
    }
}

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct H1loadView {
    /// The first URL, without secrets.
    pub url: String,
    /// The lines while it runs.
    pub lines: LineOptions,
    /// Percentiles are told at the end.
    pub percentiles: bool,
}

/// Reads a command line, its name left out; `now_seed` is the plan's seed.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(tool: Generator, args: &[OsString], now_seed: u64) -> Result<Run, ToolShown> {
    args::read(tool, args).and_then(|typed| plan::mean(typed, now_seed))
}

/// The usage text.
pub fn help(tool: Generator) -> String {
    args::usage(tool)
}

#[cfg(test)]
mod tests;
