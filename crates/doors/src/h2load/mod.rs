//! The door of h2load (nghttp2 1.52's command line, with the later names beside it).
//!
//! Two stages: `args.rs` reads what was typed as the old tool reads it, `plan.rs` says what it means. Nothing is opened or printed
//! here: files come through a function, and text goes out as [`Shown`].

mod args;
mod plan;

use crate::Shown;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A test, and how to show it.
pub type Run = crate::Run<View>;

/// How a test is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The first URI, as it was typed.
    pub url: String,
    /// Clients in all.
    pub clients: u64,
    /// Threads.
    pub threads: u64,
    /// Requests in all; `None`: as many as fit into the time.
    pub requests: Option<u64>,
    /// How long is measured.
    pub duration: Option<Duration>,
    /// How long before that nothing is counted.
    pub warm_up: Duration,
    /// Clients that begin in a period, and the period.
    pub rate: Option<(u64, Duration)>,
    /// Protocol that is spoken, in the old tool's words: `h2`, `h2c` or `http/1.1`.
    pub protocol: &'static str,
    /// TLS is spoken.
    pub tls: bool,
    /// The rows of 1.69 instead of those of 1.52.
    pub newer: bool,
    /// Receives a line for each request.
    pub log: Option<PathBuf>,
}

/// Reads a command line, its name left out.
///
/// `now_seed` is the plan's seed, and `read_file` reads lists and bodies.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    args: &[OsString],
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, Shown> {
    args::read(args).and_then(|typed| plan::mean(typed, now_seed, read_file))
}

/// The usage text.
pub fn help() -> String {
    args::usage()
}

#[cfg(test)]
mod tests;
