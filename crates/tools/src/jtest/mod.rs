//! The door of jtest, the load tester that Apache Traffic Server carried until 2024 (spec/jtest.md).
//!
//! Two stages: `args.rs` reads what was typed as the old tool read it, `plan.rs` says what it means. Nothing is opened
//! or printed here: the URL file comes through a function, and text goes out as [`ToolShown`].

mod args;
mod door;
mod number;
mod plan;
pub mod report;
mod shown;
mod urls;

pub use door::Jtest;

use crate::ToolShown;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A test, and how to show it.
///
/// The origin may find its port taken and listen on one of the following. Whoever binds it must then write the port it got into
/// the authority of `load.protocol`, for the URLs to lead to this origin.
pub type Run = crate::Run<View>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Seconds between lines; 0: no lines but the last.
    pub interval_s: u64,
    /// Intervals that `old_averages` averages over.
    pub average_over: u32,
    /// Figures are averages that start at zero, as in the old tool, rather than those of each interval.
    pub old_averages: bool,
    /// The old tool would have printed totals at the end of this run; here they follow every run.
    pub totals_at_end: bool,
    /// URLs are fetched rather than synthetic documents.
    pub url_mode: bool,
    /// Each URL before it is asked for.
    pub show_urls: bool,
    /// The header fields of each request and answer.
    pub show_headers: bool,
    /// Each failed request, on stderr.
    pub errors: bool,
    /// Receives each URL that is requested, one per line (`-U`).
    pub dump: Option<PathBuf>,
    /// Remembers from run to run which URLs were fetched (`-Q`), so many at most (`-q`).
    pub known_file: Option<(PathBuf, u64)>,
    /// When an origin without clients ends by itself (`-t`); the load's end is in the plan.
    pub origin_ends_after: Option<Duration>,
}

/// Reads a command line, its name left out.
///
/// `env` gives environment variables, `now_seed` is the seed where `-D` names none, and `read_file` reads the URL file.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    args: &[OsString],
    env: &dyn Fn(&str) -> Option<String>,
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, ToolShown> {
    args::read(args, env).and_then(|typed| plan::mean(typed, now_seed, read_file))
}

/// The usage text with the defaults that hold where neither arguments nor environment say otherwise.
pub fn help() -> String {
    args::usage(&args::Typed::default())
}

#[cfg(test)]
mod tests;
