//! A client of the driver.

use super::head::Head;
use super::told::OffendingBytes;
use crate::channel::Slot;
use crate::request::Values;
use std::time::{Duration, Instant};

/// A client of the driver: its place for a connection, and what is kept from one exchange to the next.
#[derive(Default)]
pub(crate) struct Client {
    pub slot: Slot,
    /// Number of its user in the phase.
    pub user: u64,
    /// The branch that its user is in; 0: none.
    pub branch: u32,
    /// Connections that could not be opened, or ended without a byte of an answer, one after the other.
    pub refusals: u32,
    /// The last request was not good.
    pub failed: bool,
    /// The status of the last answer; 0: none came.
    pub status: u16,
    /// When the last request ended.
    pub ended: Option<Instant>,
    /// Buffers for requests over HTTP/2.
    pub head: Option<Box<Head>>,
    /// Values that the user keeps for its requests, where they hold any of it.
    pub values: Option<Box<Values>>,
    /// The moment at which whatever is under way is cut short.
    pub cut: Option<Instant>,
    /// How long answers may take, where that is not the limit of the load.
    pub answer_within: Option<Duration>,
    /// Fault of the answer that has just failed.
    pub offending: Option<Box<OffendingBytes>>,
}

impl Client {
    /// The moment at which whatever is under way is cut short, of a request that was sent before it.
    pub fn cut(&self, sent: Instant) -> Option<Instant> {
        self.cut.filter(|cut| *cut > sent)
    }

    /// Until when the answer to a request must have come, where that is not the limit of the load.
    pub fn due(&self, sent: Instant) -> Option<Instant> {
        self.answer_within.map(|limit| sent + limit)
    }

    /// Of the user of this number.
    pub fn new(user: u64) -> Client {
        Client { user, ..Client::default() }
    }
}
