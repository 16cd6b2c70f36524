//! The beginning of an answer's body, kept beside whatever reads the answer, for evidence of what was bad about it.

use super::{AnswerFound, AnswerSink, Body, Summary};
use measure::{Evidence, Outcome};
use std::time::Duration;
use wire::http1::{ResponseHead, ResponseSink};

/// A reader of an answer, and the first bytes of the body that came to it.
pub(crate) struct WithBody<'a, S> {
    pub reader: S,
    /// `None`: nobody will ask for it.
    kept: Option<&'a mut Vec<u8>>,
    status: u16,
}

impl<'a, S> WithBody<'a, S> {
    /// `kept`: where the first bytes go, if somebody may want to see them.
    pub fn new(reader: S, kept: Option<&'a mut Vec<u8>>) -> WithBody<'a, S> {
        WithBody { reader, kept, status: 0 }
    }

    /// True if more of the body is evidence: it is that of an answer which is probably bad.
    fn wants_more(&self) -> bool {
        self.status >= 400 && self.kept.as_ref().is_some_and(|kept| kept.len() < Evidence::BODY)
    }
}

impl<S: ResponseSink> ResponseSink for WithBody<'_, S> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.reader.field(name, value);
    }

    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.status = head.status;
        self.reader.head(head, raw);
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(kept) = &mut self.kept {
            let room = Evidence::BODY.saturating_sub(kept.len());
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        self.reader.body(bytes);
    }

    fn interim(&mut self, status: u16) {
        self.reader.interim(status);
    }

    fn takes_codings(&self) -> bool {
        self.reader.takes_codings()
    }

    fn wants_fields(&self) -> bool {
        self.reader.wants_fields()
    }

    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.reader.trailer(name, value);
    }
}

impl<S: Body> Body for WithBody<'_, S> {
    fn wants_body(&self) -> bool {
        self.reader.wants_body() || self.wants_more()
    }

    fn never_wants_body(&self) -> bool {
        self.reader.never_wants_body()
    }

    fn skipped(&mut self, count: u64) {
        self.reader.skipped(count);
    }

    fn body_bytes(&self) -> u64 {
        self.reader.body_bytes()
    }

    fn arrived(&mut self, after: Duration) {
        self.reader.arrived(after);
    }
}

impl<S: AnswerSink> AnswerSink for WithBody<'_, S> {
    fn followed_by(&mut self, surplus: bool) {
        self.reader.followed_by(surplus);
    }

    fn summary(&self) -> Summary {
        self.reader.summary()
    }

    fn found(&mut self, outcome: Outcome) -> AnswerFound {
        self.reader.found(outcome)
    }
}
