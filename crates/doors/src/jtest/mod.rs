//! The door of jtest, the load tester that Apache Traffic Server carried until 2024 (spec/jtest.md).
//!
//! Two stages: `args.rs` reads what was typed as the old tool read it, `plan.rs` says what it means. Nothing is opened
//! or printed here: the URL file comes through a function, and text goes out as [`Command::Show`].

mod args;
mod number;
mod plan;
mod urls;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a command line asks for.
#[derive(Debug)]
pub enum Command {
    /// A test.
    Run(Box<Run>),
    /// A text instead of one: usage, version, or why there is no test.
    Show {
        /// With its line end.
        text: String,
        /// On stderr rather than stdout.
        to_stderr: bool,
        /// Exit code of the process: 64 for usage, as in the old tool.
        exit: u8,
    },
}

/// A test, and how to show it.
#[derive(Debug)]
pub struct Run {
    /// The test. It has passed [`::plan::Plan::check`].
    ///
    /// The origin may find its port taken and listen on one of the following. Whoever binds it must then write the
    /// port it got into the authority of `load.protocol`, for the URLs to lead to this origin.
    pub plan: ::plan::Plan,
    /// What is shown while it runs and when it is over.
    pub view: View,
    /// What is taken differently than the old tool would have; a line each, only where this command line is concerned.
    pub notices: Vec<String>,
    /// Receives each URL that is requested, one per line (`-U`).
    pub dump: Option<PathBuf>,
    /// Remembers from run to run which URLs were fetched (`-Q`), so many at most (`-q`).
    pub known_file: Option<(PathBuf, u64)>,
    /// Receives the result as JSON.
    pub json: Option<PathBuf>,
    /// The plan is to be printed instead of run.
    pub show_plan: bool,
    /// When an origin without clients ends by itself (`-t`); the load's end is in the plan.
    pub origin_ends_after: Option<Duration>,
}

/// What is shown of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

/// Reads a command line, its name left out.
///
/// `env` gives environment variables, `now_seed` is the seed where `-D` names none, and `read_file` reads the URL file.
pub fn parse(
    args: &[OsString],
    env: &dyn Fn(&str) -> Option<String>,
    now_seed: u64,
    read_file: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Command {
    let run = args::read(args, env).and_then(|typed| plan::mean(typed, now_seed, read_file));
    match run {
        Ok(run) => Command::Run(Box::new(run)),
        Err(Shown { text, to_stderr, exit }) => Command::Show { text, to_stderr, exit },
    }
}

/// The usage text with the defaults that hold where neither arguments nor environment say otherwise.
pub fn help() -> String {
    args::usage(&args::Typed::default())
}

/// What is shown instead of a test.
#[derive(Debug)]
struct Shown {
    text: String,
    to_stderr: bool,
    exit: u8,
}

impl Shown {
    /// `EX_USAGE` of sysexits, which the old tool ends with for usage of any kind.
    const USAGE: u8 = 64;

    fn usage(text: String) -> Shown {
        Shown { text, to_stderr: true, exit: Self::USAGE }
    }

    fn version() -> Shown {
        let text = format!("wringer - jtest - {}\n", env!("CARGO_PKG_VERSION"));
        Shown { text, to_stderr: false, exit: 0 }
    }

    /// A value that cannot be meant, or a thing that is not done here.
    fn refused(why: String) -> Shown {
        Shown::usage(format!("jtest: {why}\n"))
    }

    /// The command line is understood, but the test cannot begin.
    fn failed(why: String) -> Shown {
        Shown { text: format!("jtest: {why}\n"), to_stderr: true, exit: 1 }
    }
}

#[cfg(test)]
mod tests;
