//! The door of fortio: `load`.
//!
//! Two stages: `args.rs` reads what was typed as Go's flags are read, `plan.rs` says what it means. Nothing is opened or printed here:
//! files
//! come through a function, and text goes out as [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;

pub use door::Fortio;

use crate::ToolShown;
use crate::reads::Reads;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A test, and how to show it.
pub type Run = crate::Run<FortioView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct FortioView {
    /// The URL, without secrets.
    pub url: String,
    /// Connections at once.
    pub connections: u64,
    /// Requests per second in all; 0: as fast as it goes.
    pub qps: f64,
    /// Requests after which it ends, where that was asked for.
    pub exactly: Option<u64>,
    /// How long it was to last otherwise.
    pub lasts: Duration,
    /// Time limit of a request.
    pub timeout: Duration,
    /// Percentiles that are told.
    pub percentiles: Vec<f64>,
    /// Width of the smallest bucket, in seconds.
    pub resolution: f64,
    /// Labels, in the result as JSON.
    pub labels: String,
    /// A request that is late is not sent later.
    pub no_catch_up: bool,
    /// Gaps between requests vary.
    pub jitter: bool,
    /// Nothing but figures is printed.
    pub quiet: bool,
    /// Where fortio's own JSON goes; `-` is standard output.
    pub result: Option<PathBuf>,
}

/// Reads a command line, its name left out.
///
/// `now_seed` is the plan's seed, and `files` reads bodies.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(args: &[OsString], now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    args::read(args).and_then(|typed| plan::mean(typed, now_seed, files))
}

/// The usage text.
pub fn help() -> String {
    args::usage()
}

#[cfg(test)]
mod tests;
