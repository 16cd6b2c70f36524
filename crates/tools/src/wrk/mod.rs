//! The doors of wrk and wrk2 (spec/wrk-family.md): one command line, of which wrk2 has a little more.
//!
//! Two stages: `args.rs` reads what was typed as the old tools read it, `plan.rs` says what it means. Nothing is opened or
//! printed here: the script comes through a function, and text goes out as [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;

pub use door::{Wrk, Wrk2};

use crate::ToolShown;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Which of the two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// wrk: as fast as the connections allow.
    Wrk,
    /// wrk2: at a given rate.
    Wrk2,
}

impl Tool {
    /// The name that it is called by.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Wrk => "wrk",
            Tool::Wrk2 => "wrk2",
        }
    }
}

/// A test, and how to show it.
pub type Run = crate::Run<WrkView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrkView {
    /// Shown before all else: the version, where it was asked for.
    pub version: Option<String>,
    /// The URL as it was typed.
    pub url: String,
    /// Threads, connections and duration, for the banner.
    pub threads: u64,
    /// See `threads`.
    pub connections: u64,
    /// See `threads`.
    pub duration: Duration,
    /// The distribution of the latency is shown.
    pub latency: bool,
    /// That of the service time, too (wrk2).
    pub uncorrected: bool,
    /// Host and service as they are looked up, such as `localhost` and `8080`, or `http` where the URL names no port.
    pub host: String,
    /// See `host`.
    pub service: String,
}

/// Reads a command line, its name left out.
///
/// `now_seed` is the plan's seed, and `read_file` reads the script.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    tool: Tool,
    args: &[OsString],
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Run, ToolShown> {
    args::read(tool, args).and_then(|typed| plan::mean(tool, typed, now_seed, read_file))
}

/// The usage text.
pub fn help(tool: Tool) -> String {
    args::usage(tool)
}

#[cfg(test)]
mod tests;
