//! The door of wrktcp (spec/wrk-family.md section 1): a command line, and an ini file with messages and what their answers
//! must be.
//!
//! Three stages: `args.rs` reads what was typed, [`ini`] reads the file and names every mistake by its line, `plan.rs` says
//! what both mean, with `step.rs` and `http.rs` for the messages. Nothing is opened or printed here: files come through a function, and text goes out as
//! [`ToolShown`].

mod args;
mod door;
pub mod file;
mod http;
pub mod ini;
pub mod parameter;
mod plan;
pub mod report;
mod step;
pub mod text;

pub use door::Wrktcp;

use crate::ToolShown;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A test, and how to show it.
pub type Run = crate::Run<WrktcpView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrktcpView {
    /// Shown before all else: the version, where it was asked for.
    pub version: Option<String>,
    /// The ini file as it was typed.
    pub file: String,
    /// Host and port as the file has them, such as `127.0.0.1:8000`.
    pub address: String,
    /// Threads, connections and duration, for the banner.
    pub threads: u64,
    /// See `threads`.
    pub connections: u64,
    /// See `threads`.
    pub duration: Duration,
    /// The distribution of the latency is shown.
    pub latency: bool,
    /// One exchange, told step by step.
    pub test: bool,
    /// A table with a line per interval.
    pub trace: bool,
    /// The code that means success, for what `--test` tells.
    pub wanted: String,
    /// The exit code says when answers were wrong.
    pub strict: bool,
    /// Receives the result as one page.
    pub html: Option<PathBuf>,
}

/// Values that the moment of a run decides.
#[derive(Debug, Clone)]
pub struct Now {
    /// The local time as `YYYYMMDDHHMMSS`.
    pub local: String,
    /// The time of UTC, likewise.
    pub utc: String,
    /// The plan's seed.
    pub seed: u64,
}

/// Reads a command line, its name left out. `read_file` reads the ini file and the files that it names.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    args: &[OsString],
    now: &Now,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, ToolShown> {
    args::read(args).and_then(|typed| plan::mean(typed, now, read_file))
}

/// The usage text.
pub fn help() -> String {
    args::usage()
}

/// Returns the plan that an ini file means where the command line says no more.
///
/// # Errors
/// All its mistakes, in the order of its lines; what is missing comes last.
pub fn plan_of(
    file: &[u8],
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<::plan::Plan, Vec<ini::Mistake>> {
    plan::plan_of_file(file, read_file)
}

#[cfg(test)]
mod tests;
