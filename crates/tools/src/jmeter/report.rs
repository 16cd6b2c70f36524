//! JMeter's layouts: the results file (JTL) as CSV and XML, the summariser's lines, and `statistics.json`.

pub mod against;
mod contents;
pub mod jtl;
pub mod kept;
pub mod read;
pub mod samples;
pub mod statistics;
pub mod summary;
mod words;

use std::borrow::Cow;
use std::sync::Arc;

/// One finished sample, as JMeter tells it; times in whole milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// When it began, since 1970.
    pub began_ms: u64,
    /// From its beginning, connecting included, to its end.
    pub elapsed_ms: u64,
    /// The sampler's name.
    pub label: Arc<str>,
    /// The status, or the class of what went wrong.
    pub code: Cow<'static, str>,
    /// The words behind the status, or what went wrong.
    pub message: Cow<'static, str>,
    /// `GROUP 1-USER`.
    pub thread: Arc<str>,
    /// It was good.
    pub success: bool,
    /// Assertions that did not hold: the name of each, and what it says.
    pub failed: Vec<(String, String)>,
    /// Bytes of the answer, head included.
    pub bytes: u64,
    /// Bytes of the request, head included.
    pub sent_bytes: u64,
    /// Users of its group.
    pub group_threads: u32,
    /// Users of all groups.
    pub all_threads: u32,
    /// URL that was asked for; `None` for what is no request.
    pub url: Option<Arc<str>>,
    /// From its beginning to the first byte of the answer.
    pub latency_ms: u64,
    /// Of these for connecting, TLS included.
    pub connect_ms: u64,
    /// Time within it that does not count.
    pub idle_ms: u64,
    /// Kind of the sample.
    pub kind: JmeterKind,
    /// Samples that it is made of.
    pub parts: Vec<Sample>,
    /// Of a transaction: samples in it, and those of them that failed.
    pub within: (u64, u64),
    /// The request and its answer, and the values of chosen variables, where they were kept.
    pub contents: Option<Box<measure::Contents>>,
}

/// Kind of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JmeterKind {
    /// A request over HTTP.
    #[default]
    Http,
    /// A sample that a program made.
    Script,
    /// A transaction; `parent`: its requests are told as its parts alone.
    Transaction {
        /// Its requests are told as its parts alone.
        parent: bool,
    },
}
