//! The door of h2load (nghttp2 1.52's command line, with the later names beside it).
//!
//! Two stages: `args.rs` reads what was typed as the old tool reads it, `plan.rs` says what it means. Nothing is opened or printed
//! here: files come through a function, and text goes out as [`ToolShown`].

mod args;
mod clients;
mod door;
mod plan;
pub mod report;
mod timetable;

pub use door::H2load;

use crate::ToolShown;
use crate::reads::Reads;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use clients::Thread;

/// A test, and how to show it.
pub type Run = crate::Run<H2loadView>;

/// How a test is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct H2loadView {
    /// The first URI, as it was typed.
    pub url: String,
    /// Threads, and what each has.
    pub threads: Vec<Thread>,
    /// Requests in all; `None`: as many as fit into the time.
    pub requests: Option<u64>,
    /// How long is measured.
    pub duration: Option<Duration>,
    /// How long before that nothing is counted.
    pub warm_up: Duration,
    /// The period in which more clients begin, where they do not all begin at once.
    pub period: Option<Duration>,
    /// Protocol that is spoken, in the old tool's words: `h2`, `h2c`, `h3` or `http/1.1`.
    pub protocol: &'static str,
    /// Names for ALPN, as they were typed.
    pub alpn: Vec<String>,
    /// The same over another protocol of those, for a server that takes that one.
    pub other: Option<Box<Other>>,
    /// The server took none of the names, so that HTTP/1.1 is spoken.
    pub fell_back: bool,
    /// TLS is spoken.
    pub tls: bool,
    /// Whose rows are printed.
    pub layout: H2loadLayout,
    /// Each row is drawn, too.
    pub histogram: bool,
    /// Receives a line for each request.
    pub log: Option<PathBuf>,
    /// Receives the measurements as JSON, as 1.69 writes them.
    pub samples: Option<PathBuf>,
}

/// The same test over another protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    /// Protocol, in the old tool's words.
    pub protocol: &'static str,
    /// Its plan.
    pub plan: ::plan::Plan,
}

/// Whose rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum H2loadLayout {
    /// Those of 1.52, and of all until 1.68.
    Old,
    /// Those from 1.69 on.
    New,
}

/// Reads a command line, its name left out.
///
/// `now_seed` is the plan's seed, and `files` reads lists and bodies.
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
