//! Treatment of one answer to a prepared request: its length, its bytes, what is expected of it and kept of it.

use super::{Line, Model, Prepared};
use crate::answer::{self, AnswerEnd, AnswerFound, Body, Look, Summary};
use crate::request::Values;
use measure::{Failure, FailureKind, Outcome, Stage};
use plan::ExpectBody;
use std::borrow::Cow;
use std::time::Duration;
use wire::http1::Expect as Framing;

/// Reads one answer to a prepared request.
pub(crate) struct RequestAnswer<'a> {
    prepared: &'a Prepared,
    pub summary: Summary,
    /// The first byte that differs from the model's.
    pub differs_at: Option<u64>,
    /// The body, where it may become the model.
    gathered: Option<Vec<u8>>,
    /// Looks at header fields and content, where the plan has checks of them.
    look: Option<Look<'a>>,
    /// The finding of a look, in a sentence.
    found: Option<String>,
    kept_head: Option<&'a mut Vec<u8>>,
}

impl<'a> RequestAnswer<'a> {
    /// `kept_head`: where the head is copied to, if somebody may want to see it.
    pub fn new(line: Line<'a>, kept_head: Option<&'a mut Vec<u8>>) -> RequestAnswer<'a> {
        let prepared = line.prepared();
        let gathers = prepared.expect.body == ExpectBody::Same && prepared.model.borrow().is_none();
        RequestAnswer {
            prepared,
            // As JMeter has it: checks of a message over TCP find this status where it was answered.
            summary: Summary { status: if prepared.tcp.is_some() { 200 } else { 0 }, ..Summary::default() },
            differs_at: None,
            gathered: gathers.then(Vec::new),
            look: prepared.checks.look(),
            found: None,
            kept_head,
        }
    }

    fn is_good(&self) -> bool {
        self.prepared.expect.takes(self.summary.status)
    }

    /// To be called when the answer is complete by its own framing: says what is wrong with its length or bytes.
    pub fn complete(&mut self) -> Option<measure::Fault> {
        self.prepared.unread.set(if self.wants_body() { 0 } else { self.summary.body_bytes });
        if !self.is_good() {
            return None;
        }
        if let Some(look) = &mut self.look {
            let has_none =
                self.prepared.framing == Framing::NoBody || matches!(self.summary.status, 204 | 304);
            if let Some((fault, found)) =
                look.complete(self.summary.status, (!has_none).then_some(self.summary.body_bytes))
            {
                self.found = Some(found);
                return Some(fault);
            }
        }
        if self.prepared.expect.body == ExpectBody::Complete {
            return None;
        }
        let mut model = self.prepared.model.borrow_mut();
        // Users that began before there was a first answer have gathered theirs.
        let gathered = self.gathered.take().filter(|gathered| !gathered.is_empty());
        let first = model.get_or_insert_with(|| {
            let bytes = gathered.clone().unwrap_or_default();
            self.prepared.models.agree(self.prepared.index, Model { length: self.summary.body_bytes, bytes })
        });
        let differs_at = gathered.and_then(|gathered| difference(&first.bytes, 0, &gathered));
        self.differs_at = self.differs_at.or(differs_at);
        match self.differs_at {
            Some(_) => Some(measure::Fault::WrongBytes),
            None if first.length != self.summary.body_bytes => Some(measure::Fault::WrongLength),
            None => None,
        }
    }

    /// The outcome of the request.
    pub fn outcome(&mut self, ended: AnswerEnd) -> Outcome {
        match ended {
            AnswerEnd::Failed(failure) => Outcome::Failed(failure),
            AnswerEnd::BrokenOff => Outcome::Aborted,
            AnswerEnd::Complete if self.is_good() => {
                self.complete().map_or(Outcome::Ok, Outcome::CheckFailed)
            }
            AnswerEnd::Complete => Outcome::Failed(Failure::new(FailureKind::BadStatus, Stage::Head)),
        }
    }

    /// Keeps the values that are wanted of an answer whose outcome was found good, and does what is to be done with each; the
    /// outcome that it then has. `took`: from its send to its end.
    pub fn extract(&mut self, outcome: Outcome, took: Duration, values: &mut Values) -> Outcome {
        let answered = match outcome {
            Outcome::Failed(failure) => failure.kind == FailureKind::BadStatus,
            Outcome::Aborted => false,
            Outcome::Ok | Outcome::CheckFailed(_) | Outcome::Injected | Outcome::Unfinished => true,
        };
        let Some(look) = self.look.as_mut().filter(|_| answered) else { return outcome };
        let mut wrong = None;
        if outcome == Outcome::Ok {
            wrong = look.extract(self.summary.status, &mut values.slots);
        }
        if look.has_after() {
            wrong = wrong.or(look.after(self.summary.status, self.summary.body_bytes, took, values));
        }
        // A program may have said that a sample is good, or bad, whatever its status.
        match values.code.as_ref().and_then(|code| code.last.as_ref()).map(|sample| sample.success) {
            Some(true) if wrong.is_none() => return Outcome::Ok,
            Some(false) if wrong.is_none() && outcome == Outcome::Ok => return script_failure(),
            _ => {}
        }
        match wrong {
            Some((fault, found)) if outcome == Outcome::Ok => {
                self.found = Some(found);
                Outcome::CheckFailed(fault)
            }
            _ => outcome,
        }
    }

    /// The status of gRPC, for who counts it, and whether it means success.
    pub fn grpc_code(&self) -> Option<(Option<Cow<'_, [u8]>>, bool)> {
        self.look.as_ref()?.grpc_code()
    }

    /// Length of the model, once there is one.
    pub fn model_length(&self) -> Option<u64> {
        self.prepared.model_length()
    }

    /// The difference between model and answer, in a sentence.
    pub fn detail(&self) -> String {
        if let Some(found) = &self.found {
            return found.clone();
        }
        let model = self.prepared.model.borrow();
        let length = model.as_ref().map_or(0, |model| model.length);
        match self.differs_at {
            Some(at) => format!("byte {at} differs from that of the first answer"),
            None => {
                format!("the body has {} bytes, the first answer's had {length}", self.summary.body_bytes)
            }
        }
    }
}

impl answer::AnswerSink for RequestAnswer<'_> {
    fn summary(&self) -> Summary {
        self.summary
    }

    fn found(&mut self, outcome: Outcome) -> AnswerFound {
        let detail = if matches!(outcome, Outcome::CheckFailed(_)) { self.detail() } else { String::new() };
        AnswerFound { detail, expected_bytes: self.model_length(), ..AnswerFound::default() }
    }
}

/// A program has said that the request has failed.
fn script_failure() -> Outcome {
    Outcome::Failed(Failure::new(FailureKind::Script, Stage::Body))
}

impl Body for RequestAnswer<'_> {
    fn wants_body(&self) -> bool {
        let looks = || self.look.as_ref().is_some_and(Look::wants_body);
        let after = self.look.as_ref().is_some_and(Look::has_after);
        (self.prepared.expect.body == ExpectBody::Same || looks()) && (after || self.is_good())
    }

    fn never_wants_body(&self) -> bool {
        self.prepared.expect.body != ExpectBody::Same && self.look.is_none()
    }

    fn skipped(&mut self, count: u64) {
        self.summary.body_bytes += count;
    }

    fn body_bytes(&self) -> u64 {
        self.summary.body_bytes
    }
}

impl wire::http1::ResponseSink for RequestAnswer<'_> {
    fn takes_codings(&self) -> bool {
        true
    }

    fn wants_fields(&self) -> bool {
        self.look.is_some()
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        if let Some(look) = &mut self.look {
            look.field(name, value);
        }
    }

    fn head(&mut self, head: &wire::http1::ResponseHead, raw: &[u8]) {
        self.summary.read(head, raw);
        if let Some(kept) = &mut self.kept_head {
            kept.clear();
            kept.extend_from_slice(raw);
        }
    }

    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.field(name, value);
    }

    fn body(&mut self, bytes: &[u8]) {
        let offset = self.summary.body_bytes;
        self.summary.body_bytes += bytes.len() as u64;
        let after = self.look.as_ref().is_some_and(Look::has_after);
        if !(self.is_good() || after) || self.differs_at.is_some() {
            return;
        }
        if let Some(look) = &mut self.look {
            look.body(bytes);
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.extend_from_slice(bytes);
        } else if self.prepared.expect.body == ExpectBody::Same
            && let Some(model) = self.prepared.model.borrow().as_ref()
        {
            self.differs_at = difference(&model.bytes, offset, bytes);
        }
    }
}

/// The offset of the first of `bytes`, standing at `offset`, that differs from the model's; a longer body is a matter of
/// its length.
fn difference(model: &[u8], offset: u64, bytes: &[u8]) -> Option<u64> {
    let rest = model.get(offset as usize..).unwrap_or_default();
    let common = rest.len().min(bytes.len());
    if rest[..common] == bytes[..common] {
        return None;
    }
    let at = rest.iter().zip(bytes).position(|(left, right)| left != right)?;
    Some(offset + at as u64)
}
