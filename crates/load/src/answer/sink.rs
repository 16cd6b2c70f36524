//! Sinks of HTTP's answers: what an answer is pushed into as it arrives, and what they say of it once it has ended.

use measure::event::RequestErrorKind;
use measure::{CacheResult, ExchangeKind, Failure, FailureKind, Outcome, Reason};
use std::time::{Duration, Instant};
use wire::http1::{ResponseHead, ResponseSink, Version};

/// The end of an attempt to get an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnswerEnd {
    /// The answer is complete.
    Complete,
    /// The client broke it off on purpose.
    BrokenOff,
    /// It failed.
    Failed(Failure),
}

/// ECANCELED: the error number of what was cut short.
const CANCELED: i32 = 125;

impl AnswerEnd {
    /// The same, but that a time-out at the moment at which the request is cut short says so.
    pub fn or_cut_short(self, cut: Option<Instant>, now: Instant) -> AnswerEnd {
        match self {
            AnswerEnd::Failed(failure)
                if failure.kind == FailureKind::Timeout && cut.is_some_and(|cut| now >= cut) =>
            {
                AnswerEnd::Failed(failure.because(Reason::Errno(CANCELED)))
            }
            ended @ (AnswerEnd::Complete | AnswerEnd::BrokenOff | AnswerEnd::Failed(_)) => ended,
        }
    }
}

/// A reader of an answer that may have no use for its body.
pub(crate) trait Body: ResponseSink {
    /// True if body bytes are looked at; where not, they may be drained unread.
    fn wants_body(&self) -> bool;

    /// True if body bytes of no answer are looked at, whatever its head.
    fn never_wants_body(&self) -> bool {
        false
    }

    /// Counts body bytes that were drained unread.
    fn skipped(&mut self, count: u64);

    /// Body bytes so far.
    fn body_bytes(&self) -> u64;

    /// Bytes pushed next have arrived so long after the send.
    fn arrived(&mut self, after: Duration) {
        let _ = after;
    }
}

/// An answer, as it describes itself. Readers of answers hold one that grows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    /// 0 where no answer came.
    pub status: u16,
    pub version: Option<Version>,
    pub keep_alive: bool,
    pub head_bytes: u64,
    pub body_bytes: u64,
    pub cache: CacheResult,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary {
            status: 0,
            version: None,
            keep_alive: false,
            head_bytes: 0,
            body_bytes: 0,
            cache: CacheResult::NotAsked,
        }
    }
}

impl Summary {
    /// Takes what a head says; `raw`: its bytes.
    pub fn read(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.status = head.status;
        self.version = Some(head.version);
        self.keep_alive = head.keep_alive;
        self.head_bytes = raw.len() as u64;
    }
}

/// Findings in an answer, for whoever wants to know more than its outcome.
#[derive(Debug, Default)]
pub(crate) struct AnswerFound {
    /// The fault, in a sentence.
    pub detail: String,
    /// The answer as it may be shown, where that is not the head which the client has kept.
    pub answer: Option<String>,
    pub serial: Option<u64>,
    /// Errors beside the outcome.
    pub errors: Vec<RequestErrorKind>,
    /// A closer name of the outcome, where it is one.
    pub error: Option<RequestErrorKind>,
    /// Body bytes that the answer is compared with.
    pub expected_bytes: Option<u64>,
    /// The body, where it is to be shown.
    pub body: Option<Vec<u8>>,
}

/// A reader of an answer that knows what it should have been.
pub(crate) trait AnswerSink: Body {
    /// The answer, as it described itself.
    fn summary(&self) -> Summary;

    /// Tells whether bytes came right behind the answer that are none of it.
    fn followed_by(&mut self, surplus: bool) {
        let _ = surplus;
    }

    /// Findings beside the outcome.
    fn found(&mut self, outcome: Outcome) -> AnswerFound;
}

/// Outcome of an answer that has ended.
pub(crate) struct Settled {
    pub outcome: Outcome,
    pub kind: ExchangeKind,
}

impl From<Outcome> for Settled {
    fn from(outcome: Outcome) -> Settled {
        Settled { outcome, kind: ExchangeKind::Request }
    }
}
