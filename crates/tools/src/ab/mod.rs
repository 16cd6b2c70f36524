//! The door of ab, the load tester of the Apache HTTP server (ApacheBench 2.3, as of httpd 2.4).
//!
//! Two stages: `args.rs` reads what was typed as the old tool read it, `plan.rs` says what it means; `url.rs` and `tls.rs`
//! know two of its dialects. Nothing is opened or printed here: files come through a function, and text goes out as
//! [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;
mod shown;
mod tls;
mod url;

pub use door::Ab;

use crate::ToolShown;
use crate::reads::Reads;
use std::ffi::OsString;
use std::path::PathBuf;

/// A test, and how to show it.
pub type Run = crate::Run<AbView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbView {
    /// The name or address in the URL.
    pub hostname: String,
    /// Its port.
    pub port: u16,
    /// Path and query, as typed.
    pub path: String,
    /// `host:port` of the proxy (`-X`).
    pub proxy: Option<String>,
    /// `host:port` of whoever is connected to.
    pub connects_to: String,
    /// TLS is spoken.
    pub secure: bool,
    /// The name that TLS asks for.
    pub server_name: Option<String>,
    /// Connections at once (`-c`).
    pub concurrency: u32,
    /// Requests (`-n`).
    pub requests: u64,
    /// Bodies may differ in length (`-l`).
    pub any_length: bool,
    /// Connections are kept (`-k`).
    pub keep_alive: bool,
    /// Requests carry a body (`-p`, `-u`).
    pub has_body: bool,
    /// The banner is printed (not with `-Q`).
    pub banner: bool,
    /// A line on stderr each time so many requests are done.
    pub progress: Option<u64>,
    /// How much is told of single requests (`-v`).
    pub verbosity: i64,
    /// As HTML (`-w`), with the attributes of table, rows and cells (`-x -y -z`).
    pub html: Option<[String; 3]>,
    /// The table of percentiles is printed (not with `-d`).
    pub percentiles: bool,
    /// Deviations, medians and warnings are printed (not with `-S`).
    pub confidence: bool,
    /// Connections that could not be opened or were broken do not make the run a failure (`-r`).
    pub survives: bool,
    /// Receives a row per request (`-g`).
    pub gnuplot: Option<PathBuf>,
    /// Receives the percentiles (`-e`).
    pub csv: Option<PathBuf>,
}

/// Reads a command line, its name left out.
///
/// `env` gives environment variables; `files` reads the body and looks at certificates.
///
/// # Errors
/// The text shown instead of a test.
pub fn parse(
    args: &[OsString],
    env: &dyn Fn(&str) -> Option<String>,
    seed: u64,
    files: &dyn Reads,
) -> Result<Run, ToolShown> {
    let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    args::read(&words, files).and_then(|typed| plan::mean(typed, env, seed))
}

/// The usage text.
pub fn help() -> String {
    args::usage()
}

/// Three lines, of which the first begins as the old tool's, by which its output is known; with `html`, as its HTML has them.
pub fn banner(html: bool) -> String {
    let lines = [
        concat!("This is ApacheBench, Version 2.3 <wringer ", env!("CARGO_PKG_VERSION"), " in its place>"),
        "What it does differently is listed in the page on ab of its documentation",
        "Licensed under the Apache License, Version 2.0",
    ];
    match html {
        false => format!("{}\n\n", lines.join("\n")),
        true => format!("<p>\n{}</p>\n<p>\n", lines.map(|line| format!(" {line}<br>\n")).concat()),
    }
}

#[cfg(test)]
mod tests;
