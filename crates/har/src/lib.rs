//! Exchanges of a browser, as a plan: HAR files (HTTP Archive 1.2), and what a recording proxy saw.
//!
//! Bytes in, a Plan out: no file, no socket, no clock. A [`Recording`] is a list of [`Exchange`]s, whoever made it;
//! [`Recording::journey`] chooses hosts, groups what pages need, finds values of answers in later requests and makes of them
//! extractors and placeholders. Start reading at [`Recording`].

mod correlate;
mod exchange;
mod hidden;
mod journey;
mod posted;
mod reader;

pub use exchange::{Exchange, ExchangeKind};
pub use journey::{Choice, Converted, Static};

use thiserror::Error;

/// Why a file is no recording.
#[derive(Debug, Error)]
pub enum HarError {
    /// It is no JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It has no `log` with `entries`.
    #[error("it is JSON and no HAR file: it has no log with a list of entries")]
    NoLog,
    /// Nothing of it can be sent.
    #[error("none of its {entries} entries is a request that can be sent again{}{why}", if why.is_empty() { "" } else { ": " })]
    Nothing {
        /// How many it has.
        entries: usize,
        /// The reasons, with how many entries each is true of.
        why: String,
    },
}

/// Exchanges in the order in which they began.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// Requests sent and answers got.
    pub exchanges: Vec<Exchange>,
    /// A line for each kind of what was left out, or is sent without something that it had, with how many there were.
    pub left_out: Vec<String>,
}

impl Recording {
    /// Reads a HAR file. Entries that are broken or were never sent are left out and told.
    ///
    /// # Errors
    /// The file is no HAR file at all.
    pub fn from_har(file: &[u8]) -> Result<Recording, HarError> {
        reader::read(file)
    }
}
