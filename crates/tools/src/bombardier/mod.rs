//! The door of bombardier.
//!
//! Two stages: `args.rs` reads what was typed, `plan.rs` says what it means. Nothing is opened or printed here: files come through a
//! function,
//! and text goes out as [`ToolShown`].

mod args;
mod door;
mod plan;
pub mod report;

pub use door::Bombardier;

use crate::ToolShown;
use crate::reads::Reads;
use std::ffi::OsString;
use std::time::Duration;

/// A test, and how to show it.
pub type Run = crate::Run<BombardierView>;

/// Values and settings for the output of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct BombardierView {
    /// The URL, without secrets.
    pub url: String,
    /// The method.
    pub method: String,
    /// The body, where it stands in the command line.
    pub body: String,
    /// Connections at once.
    pub connections: u64,
    /// Requests after which it ends; `None`: time does.
    pub requests: Option<u64>,
    /// Time after which it ends otherwise.
    pub duration: Duration,
    /// Time limit of a request.
    pub timeout: Duration,
    /// The client of bombardier's that this stands for.
    pub client: BombardierClient,
    /// Parts of the output.
    pub parts: BombardierParts,
    /// Percentiles of the times are told.
    pub latencies: bool,
    /// The result is JSON.
    pub json: bool,
}

/// The clients of bombardier's, which send different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BombardierClient {
    /// The default.
    #[default]
    FastHttp,
    /// Go's own, over HTTP/1.1.
    Http1,
    /// Go's own, over HTTP/2.
    Http2,
}

impl BombardierClient {
    /// The name in the result as JSON.
    pub fn name(self) -> &'static str {
        match self {
            BombardierClient::FastHttp => "fasthttp",
            BombardierClient::Http1 => "net/http.v1",
            BombardierClient::Http2 => "net/http.v2",
        }
    }
}

/// Parts of the output that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BombardierParts {
    /// A line before the run.
    pub intro: bool,
    /// A word at its end; a bar is not drawn.
    pub progress: bool,
    /// The result.
    pub result: bool,
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
