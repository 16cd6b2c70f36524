//! Names of a request, and what an exchange has come to, for those who are told of it.

use super::moments::Moments;
use super::worker::Worker;
use crate::answer::{AnswerFound, Settled, Summary};
use measure::{Cause, ExchangeKind, Failure, Outcome};
use std::borrow::Cow;

/// Names of a request.
pub(crate) struct Described<'a> {
    pub method: &'a str,
    /// The URL, absolute.
    pub url: Cow<'a, str>,
    /// As errors name it.
    pub title: Cow<'a, str>,
    /// First and last byte of the range asked for, 0 and 0 where none was.
    pub range: (u64, u64),
    /// Its place in the list of requests.
    pub place: usize,
    pub cause: Cause,
}

/// The end of an exchange.
pub(crate) struct Ending {
    pub outcome: Outcome,
    pub moments: Moments,
    pub summary: Summary,
    pub found: AnswerFound,
    /// The answer was a challenge that is answered next.
    pub challenged: bool,
    /// The head of the answer, where somebody may want to see it.
    pub head: Vec<u8>,
    /// The beginning of its body, likewise.
    pub body: Vec<u8>,
    /// Fault of the answer.
    pub offending: Option<Box<OffendingBytes>>,
}

/// Bytes of an answer that somebody may want to see, in buffers of the worker's.
pub(crate) struct KeptBytes {
    pub head: Vec<u8>,
    /// Its beginning.
    pub body: Vec<u8>,
}

impl KeptBytes {
    /// Nothing yet.
    pub fn begin(worker: &Worker) -> KeptBytes {
        KeptBytes { head: worker.buffer(), body: worker.buffer() }
    }

    /// Gives the buffers back.
    pub fn end(self, worker: &Worker) {
        worker.give_back(self.head);
        worker.give_back(self.body);
    }

    /// Where the head goes and where the body goes, as far as somebody may want to see them.
    pub fn wanted(&mut self, worker: &Worker) -> KeptFor<'_> {
        KeptFor {
            head: keeps_head(worker).then_some(&mut self.head),
            body: (worker.account.wanted.evidence.get() > 0).then_some(&mut self.body),
        }
    }
}

/// Where bytes of an answer are copied to.
pub(crate) struct KeptFor<'a> {
    pub head: Option<&'a mut Vec<u8>>,
    pub body: Option<&'a mut Vec<u8>>,
}

/// Fault of an answer.
pub(crate) struct OffendingBytes {
    /// Its bytes, from the first one at fault on.
    pub at: Vec<u8>,
}

impl OffendingBytes {
    /// Of bytes that are taken; `None`: there are none.
    pub fn of(at: &mut Vec<u8>) -> Option<Box<OffendingBytes>> {
        (!at.is_empty()).then(|| Box::new(OffendingBytes { at: std::mem::take(at) }))
    }
}

impl Ending {
    /// With an answer, or with a part of one.
    pub fn of(
        settled: &Settled,
        moments: Moments,
        summary: Summary,
        found: AnswerFound,
        kept: KeptBytes,
        offending: Option<Box<OffendingBytes>>,
    ) -> Ending {
        let challenged = settled.kind == ExchangeKind::Challenge;
        let KeptBytes { head, body } = kept;
        Ending { outcome: settled.outcome, moments, summary, found, challenged, head, body, offending }
    }

    /// The buffers that it holds.
    pub fn kept(self) -> KeptBytes {
        KeptBytes { head: self.head, body: self.body }
    }

    /// Without an answer.
    pub fn failed(failure: Failure, moments: Moments) -> Ending {
        let outcome = Outcome::Failed(failure);
        let summary = Summary::default();
        let found = AnswerFound::default();
        Ending {
            outcome,
            moments,
            summary,
            found,
            challenged: false,
            head: Vec::new(),
            body: Vec::new(),
            offending: None,
        }
    }
}

/// True if the head of an answer may be wanted.
fn keeps_head(worker: &Worker) -> bool {
    let trace = &worker.load.trace;
    worker.account.wanted.evidence.get() > 0
        || trace.heads
        || trace.errors
        || trace.contents != plan::load::KeptContents::Nothing
        || worker.account.wanted.first.get()
}
