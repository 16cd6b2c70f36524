//! One exchange, as the engine hands it to the recorder.

use crate::labels::Label;
use crate::outcome::{CacheResult, Outcome};
use std::time::Duration;

/// Kind that an exchange is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExchangeKind {
    /// A request and its answer, or what came instead of one.
    #[default]
    Request,
    /// A round that ended in a challenge which is answered next: its bytes and its status count, but no request.
    Challenge,
    /// A request of several whose time is that of the last: it has no time of its own.
    Untimed,
}

/// One exchange as the engine saw it, from the moment when its request was due until it had ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Label that its figures are gathered under.
    pub label: Option<Label>,
    /// The label of the version of HTTP that was spoken, where users speak several.
    pub version: Option<Label>,
    /// Kind that it is counted as.
    pub kind: ExchangeKind,
    /// Exchanges that were alike in all that is counted of them; at least 1.
    pub times: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Status of the answer, 0 where none came.
    pub status: u16,
    /// Result at the cache.
    pub cache: CacheResult,
    /// When its request was to be sent, since the start of the run.
    pub due: Duration,
    /// Time from the actual send.
    pub service: Duration,
    /// Time from the intended send.
    pub response: Duration,
    /// Time from the actual send to the first byte, where one came.
    pub first_byte: Option<Duration>,
    /// Time of opening the connection, where one was opened for this request.
    pub connect: Option<Duration>,
    /// True if its connection had carried a request before.
    pub reused: bool,
    /// From the intended send until a user took the request up, under an open pace.
    pub lateness: Option<Duration>,
    /// Bytes of the request.
    pub sent_bytes: u64,
    /// Header bytes of the answer.
    pub head_bytes: u64,
    /// Body bytes of the answer.
    pub body_bytes: u64,
}

impl Exchange {
    /// A request that was due then and has ended so, of which nothing else is known.
    pub fn new(outcome: Outcome, due: Duration) -> Exchange {
        Exchange {
            label: None,
            version: None,
            kind: ExchangeKind::Request,
            times: 1,
            outcome,
            status: 0,
            cache: CacheResult::NotAsked,
            due,
            service: Duration::ZERO,
            response: Duration::ZERO,
            first_byte: None,
            connect: None,
            reused: false,
            lateness: None,
            sent_bytes: 0,
            head_bytes: 0,
            body_bytes: 0,
        }
    }

    /// A request without an answer when its part of the run was over, which it had been due for so long.
    pub fn unfinished(due: Duration, so_far: Duration, times: u32) -> Exchange {
        Exchange { response: so_far, times, ..Exchange::new(Outcome::Unfinished, due) }
    }
}
