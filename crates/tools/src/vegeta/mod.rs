//! The door of vegeta: `attack`, whose results are JSON, and `report`, which reads them.
//!
//! `args.rs` reads what was typed as Go's flags are read, `plan.rs` says what an attack means, `results.rs` has a result as a line, and
//! `report.rs` adds results up. Nothing is opened or printed here: files come through a function, and text goes out as [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;
pub mod results;

pub use door::Vegeta;

use crate::ToolShown;
use crate::reads::Reads;
use std::ffi::OsString;
use std::path::PathBuf;

/// An attack, and where its results go.
pub type Run = crate::Run<View>;

/// Values and settings for the output of an attack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The attack's name, in each result.
    pub name: String,
    /// Where results go; `None`: standard output.
    pub output: Option<PathBuf>,
    /// Redirections are followed: what leads on has no result of its own.
    pub follows: bool,
}

/// Reads a command line, its name left out. A report is text at once.
///
/// `now_seed` is the plan's seed; `files` reads targets, bodies and results, `-` for standard input.
///
/// # Errors
/// The text shown instead of an attack.
pub fn parse(args: &[OsString], now_seed: u64, files: &dyn Reads) -> Result<Run, ToolShown> {
    match args::read(args)? {
        args::Typed::Attack(attack) => plan::mean(*attack, now_seed, files),
        args::Typed::Report(asked) => Err(report::read(&asked, files)),
    }
}

/// The usage text.
pub fn help() -> String {
    args::usage()
}

#[cfg(test)]
mod tests;
