//! A request from its turn to its answer: what is due, what was sent, when what happened, and how a reading of answers ends.

use super::worker::Worker;
use crate::channel::{Connection, OpenBody};
use crate::request::TraceContext;
use measure::{CacheResult, Exchange, Failure, FailureKind, Outcome, Stage};
use std::time::{Duration, Instant};
use wire::http1::Expect;

/// Number of a request, the moment when it is due, and, where a schedule says when, how late a user took it up. Connecting
/// comes after that and takes as long as the target lets it, which is no lateness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientTurn {
    pub number: u64,
    pub due: Instant,
    pub lateness: Option<Duration>,
}

/// The moments of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moments {
    pub due: Instant,
    pub sent: Instant,
    pub first_byte: Option<Instant>,
    pub ended: Instant,
}

impl Moments {
    pub fn at_send(due: Instant, sent: Instant) -> Moments {
        Moments { due, sent, first_byte: None, ended: sent }
    }

    pub fn service(&self) -> Duration {
        self.ended.saturating_duration_since(self.sent)
    }

    pub fn response(&self) -> Duration {
        self.ended.saturating_duration_since(self.due)
    }

    pub fn to_first_byte(self) -> Option<Duration> {
        self.first_byte.map(|at| at.saturating_duration_since(self.sent))
    }
}

/// A request that is to be sent. It has been counted as begun.
pub(crate) struct Due<I> {
    pub item: I,
    pub turn: ClientTurn,
}

/// A request that was sent and waits for its answer.
pub(crate) struct SentRequest<I> {
    pub item: I,
    pub turn: ClientTurn,
    pub at: Instant,
    pub bytes: u64,
    /// Framing of its answer.
    pub expect: Expect,
    /// Its connection had carried a request before.
    pub reused: bool,
    /// Opening its connection took so long, where it was opened for it.
    pub connect: Option<Duration>,
    /// When opening its connection began, where it was opened for it.
    pub begun: Option<Instant>,
    /// The connection ends with it.
    pub last: bool,
    /// Answers that are still to come to it.
    pub answers: u32,
    /// Number of its connection within the worker.
    pub connection: u64,
    /// The trace context that it carries; on the heap, as few requests have one.
    pub traced: Option<Box<TraceContext>>,
}

impl<I> SentRequest<I> {
    /// A request like others before it: `bytes` of it, over a connection that has carried one.
    pub fn again(item: I, turn: ClientTurn, at: Instant, bytes: u64, connection: u64) -> SentRequest<I> {
        SentRequest {
            item,
            turn,
            at,
            bytes,
            expect: Expect::Body,
            reused: true,
            connect: None,
            begun: None,
            last: false,
            answers: 1,
            connection,
            traced: None,
        }
    }

    /// The exchange as far as the request and its connection tell it.
    pub fn exchange(
        &self,
        worker: &Worker,
        outcome: Outcome,
        moments: &Moments,
        cache: CacheResult,
    ) -> Exchange {
        Exchange {
            cache,
            service: moments.service(),
            response: moments.response(),
            first_byte: moments.to_first_byte(),
            connect: self.connect,
            reused: self.reused,
            lateness: self.turn.lateness,
            sent_bytes: self.bytes,
            version: worker.version.get(),
            ..Exchange::new(outcome, worker.account.since(self.turn.due))
        }
    }

    /// Its moments, had it ended now without a byte of an answer.
    pub fn unanswered_at(&self, ended: Instant) -> Moments {
        Moments { due: self.turn.due, sent: self.at, first_byte: None, ended }
    }
}

/// Facts about the bytes written of a request.
pub(crate) struct Written {
    /// Framing of its answer.
    pub expect: Expect,
    /// Bytes of a counting body that follow it.
    pub payload: u64,
}

/// A request of which the head was written, and the body is to follow.
pub(crate) struct HeadWritten {
    /// Framing of its answer.
    pub expect: Expect,
    pub body: OpenBody,
}

/// The end of one reading of answers.
pub(crate) enum AnswerRead {
    /// At least one answer is complete, and the connection goes on.
    Answered,
    /// Nothing came; there is more to send beside what is under way.
    Due,
    /// The connection is over with an answer that was complete, so nothing that was sent after it was looked at (RFC 9112
    /// section 9.6). `peer_closes`: the peer has said that it will close it.
    Over { peer_closes: bool },
    /// One request has failed and was accounted for; nothing is known of those behind it.
    Broken(Failure),
    /// The peer had given a kept connection up before it can have read what is under way, and said so.
    GivenUp,
    /// A kept connection was lost before a byte of an answer came to what is under way.
    Lost(Failure),
    /// All that is under way has failed.
    Failed(Failure),
}

/// The end of what was under way over a connection that is of no further use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub failure: Failure,
    /// True if the peer cannot have read what was sent; `None`: it is not sent again in any case.
    pub unread: Option<bool>,
}

impl AnswerRead {
    /// Meaning of the connection's end for what is under way; `None`: it has not ended. `unread`: of a connection that was lost, the peer
    /// cannot have read what was sent last.
    pub fn loss(&self, unread: bool) -> Option<Loss> {
        Some(match *self {
            AnswerRead::Answered | AnswerRead::Due => return None,
            AnswerRead::Over { .. } | AnswerRead::GivenUp => {
                Loss { failure: closed_early(), unread: Some(true) }
            }
            AnswerRead::Broken(failure) => Loss { failure, unread: Some(false) },
            AnswerRead::Lost(failure) => Loss { failure, unread: Some(unread) },
            AnswerRead::Failed(failure) => Loss { failure, unread: None },
        })
    }
}

/// The failure of a request whose connection has ended before its answer began.
pub(crate) fn closed_early() -> Failure {
    Failure::new(FailureKind::ClosedEarly, Stage::Head)
}

/// Something came, or the wait for it is over.
pub(crate) fn note_arrival(worker: &Worker, connection: &mut Connection, moments: &mut Moments) {
    moments.ended = worker.net.recently();
    if moments.first_byte.is_none() {
        moments.first_byte = Some(moments.ended);
        if worker.load.limits.first_byte.is_some() {
            connection.set_deadline(worker.channels.last_deadline(moments.sent));
        }
    }
}
