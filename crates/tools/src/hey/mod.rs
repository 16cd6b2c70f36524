//! The door of hey.
//!
//! Two stages: `args.rs` reads what was typed as Go's flags are read, `plan.rs` says what it means. Nothing is opened or printed here:
//! files
//! come through a function, and text goes out as [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;

pub use door::Hey;

use crate::ToolShown;
use crate::reads::Reads;
use std::ffi::OsString;

/// A test, and how to show it.
pub type Run = crate::Run<View>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The URL, without secrets.
    pub url: String,
    /// A row for each answer instead of the summary.
    pub csv: bool,
    /// Requests are due at moments: the time until then is no part of how long they take.
    pub paced: bool,
    /// Redirections are followed.
    pub follows: bool,
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
