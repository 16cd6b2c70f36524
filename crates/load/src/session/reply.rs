//! Reads one answer to a request of a session: what a user remembers of it, and what it leads to. What the answer must be
//! is judged by [`RequestAnswer`], where it is one to a request of the list.

use super::needs::Needs;
use super::validators::Validator;
use crate::answer::coding::{Codings, decoded};
use crate::answer::{self, AnswerFound, Body, Summary};
use crate::step::RequestAnswer;
use measure::Outcome;
use plan::Elements;
use std::time::SystemTime;
use wire::http1::{ResponseHead, ResponseSink};

/// Bytes of an encoded page that are looked into at most, encoded and decoded.
const MOST: usize = 8 * 1024 * 1024;

/// Reads one answer.
#[derive(Default)]
pub(super) struct Reply<'a> {
    pub summary: Summary,
    /// The status line, where somebody looks at it.
    pub status_line: Option<String>,
    kept_head: Option<&'a mut Vec<u8>>,
    pub location: Option<String>,
    pub content_location: Option<String>,
    pub cookies: Vec<String>,
    /// Challenges of the host and of the proxy.
    pub challenges: (Vec<String>, Vec<String>),
    pub validator: Validator,
    needs: Option<Needs>,
    /// Judges the answer to a request of the list.
    pub answer: Option<RequestAnswer<'a>>,
    /// The body, where it is to be shown.
    pub shown: Option<Vec<u8>>,
    /// It is shown without its content coding, where that can be undone.
    pub decodes: bool,
    /// Elements that are looked for in pages; `None`: nobody looks into them.
    reads: Option<Elements>,
    /// The kind of its content, where that is wanted.
    kind: Vec<u8>,
    coding: Codings,
    transfer: Codings,
    /// A page as it came, where it is encoded: it is decoded once it is whole.
    coded: Vec<u8>,
}

impl<'a> Reply<'a> {
    /// `reads`: what pages need is wanted, by whom. `shows`: the body is. `kept_head`: where the head is copied to, if somebody
    /// may want to see it.
    pub fn new(
        answer: Option<RequestAnswer<'a>>,
        reads: Option<Elements>,
        shows: bool,
        kept_head: Option<&'a mut Vec<u8>>,
    ) -> Reply<'a> {
        Reply { answer, reads, shown: shows.then(Vec::new), kept_head, ..Reply::default() }
    }

    /// The resources of the page, where it is one that can be looked into. The answer is whole.
    pub fn take_needs(&mut self) -> Option<Needs> {
        let mut needs = self.needs.take()?;
        let codings = self.coding.beneath(self.transfer);
        if !codings.is_none() {
            needs.read(&decoded(codings, &self.coded, MOST).ok()?);
        }
        Some(needs)
    }

    fn read_page(&mut self, bytes: &[u8]) {
        let Some(needs) = &mut self.needs else { return };
        if self.coding.beneath(self.transfer).is_none() {
            needs.read(bytes);
        } else if self.coded.len() + bytes.len() <= MOST {
            self.coded.extend_from_slice(bytes);
        } else {
            (self.needs, self.coded) = (None, Vec::new());
        }
    }
}

impl ResponseSink for Reply<'_> {
    fn takes_codings(&self) -> bool {
        true
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        let text = || String::from_utf8_lossy(value).into_owned();
        if is("Set-Cookie") {
            self.cookies.push(text());
        } else if is("Location") {
            self.location = Some(plan::reference(value));
        } else if is("Content-Location") {
            self.content_location = Some(plan::reference(value));
        } else if is("Content-Encoding") {
            self.coding = self.coding.and(value);
        } else if is("Transfer-Encoding") {
            self.transfer = self.transfer.and_transfer(value);
        } else if is("WWW-Authenticate") {
            self.challenges.0.push(text());
        } else if is("Proxy-Authenticate") {
            self.challenges.1.push(text());
        } else if is("ETag") {
            self.validator.etag = Some(text());
        } else if is("Last-Modified") {
            self.validator.last_modified = Some(text());
        } else if is("Expires") {
            let at = httpdate::parse_http_date(&text()).ok();
            let since = at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            self.validator.expires = since.map(|since| since.as_secs() as i64);
        } else if is("Content-Type") && self.reads.is_some() {
            self.kind = value.to_vec();
        }
        if let Some(answer) = &mut self.answer {
            answer.field(name, value);
        }
    }

    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        if let Some(answer) = &mut self.answer {
            answer.trailer(name, value);
        }
    }

    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.summary.read(head, raw);
        if let Some(line) = &mut self.status_line {
            let end = raw.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(raw.len());
            *line = String::from_utf8_lossy(&raw[..end]).into_owned();
        }
        if let Some(kept) = &mut self.kept_head {
            kept.clear();
            kept.extend_from_slice(raw);
        }
        if let Some(elements) = self.reads
            && (200..300).contains(&head.status)
        {
            self.needs = Needs::of(&self.kind, elements);
        }
        if let Some(answer) = &mut self.answer {
            answer.head(head, raw);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        self.summary.body_bytes += bytes.len() as u64;
        self.read_page(bytes);
        if let Some(shown) = &mut self.shown {
            shown.extend_from_slice(bytes);
        }
        if let Some(answer) = &mut self.answer {
            answer.body(bytes);
        }
    }
}

impl Body for Reply<'_> {
    fn wants_body(&self) -> bool {
        self.needs.is_some() || self.shown.is_some() || self.answer.as_ref().is_some_and(Body::wants_body)
    }

    fn skipped(&mut self, count: u64) {
        self.summary.body_bytes += count;
        if let Some(answer) = &mut self.answer {
            answer.skipped(count);
        }
    }

    fn body_bytes(&self) -> u64 {
        self.summary.body_bytes
    }
}

impl answer::AnswerSink for Reply<'_> {
    fn summary(&self) -> Summary {
        self.summary
    }

    fn found(&mut self, outcome: Outcome) -> AnswerFound {
        let detail = match (&self.answer, outcome) {
            (Some(answer), Outcome::CheckFailed(_)) => answer.detail(),
            _ => String::new(),
        };
        let codings = self.coding.beneath(self.transfer);
        let undone = |body: Vec<u8>| match self.decodes && !codings.is_none() {
            true => decoded(codings, &body, MOST).unwrap_or(body),
            false => body,
        };
        AnswerFound { detail, body: self.shown.take().map(undone), ..AnswerFound::default() }
    }
}
