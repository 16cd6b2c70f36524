//! Results of requests under way, each in a letter for its user.
//!
//! It must not know how a connection is driven. Start reading at [`Letters`], the sink that protocols push into.

use super::fairness::Windows;
use super::repeat::Repeating;
use crate::channel::usage::Usage;
use breach::Breach;
use measure::{Evidence, Failure};
use net::{Event, Net};
use std::time::Instant;
use wire::http2::{ClientSink, FieldList, Http2End, Indexing};

/// Result of one request so far.
pub(crate) struct Letter {
    /// Raised when there is news.
    pub news: Event,
    /// Its stream, once it is sent.
    pub(super) stream: Option<u32>,
    /// Its user wants to hear of it only when it does not go on by itself.
    pub(super) repeating: Option<Repeating>,
    /// Its answer is one of those that its user does not want to hear of.
    pub(super) is_plain: bool,
    /// Nobody wants to look at its content.
    pub only_counted: bool,
    /// Content that nobody wants to look at.
    pub skipped: u64,
    /// Fields of the head that comes next, then of the final one; names in lower case.
    pub fields: FieldList,
    /// Of the final head; 0 before it.
    pub status: u16,
    pub content_length: Option<u64>,
    /// Bytes of the final head's block.
    pub head_bytes: usize,
    pub interims: u32,
    /// Content that nobody has looked at yet.
    pub body: Vec<u8>,
    pub trailers: FieldList,
    pub first_byte: Option<Instant>,
    /// When something came last.
    pub latest: Option<Instant>,
    pub end: Option<LetterEnded>,
    /// First bytes of what was wrong with the answer, or with the connection.
    pub wrong: Vec<u8>,
}

/// How a request ended, as its connection tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LetterEnded {
    Stream(Http2End),
    /// The connection was lost.
    Lost(Failure),
}

/// The requests under way on a connection.
pub(super) struct Letters {
    net: Net,
    /// When something came last over the connection.
    pub now: Instant,
    pub places: Vec<Letter>,
    pub free: Vec<usize>,
    /// Places whose requests have ended as expected, and may go on.
    pub ready: Vec<usize>,
    /// How evenly they share the connection.
    pub windows: Windows,
    /// First bytes of what was wrong with the connection.
    pub wrong: Vec<u8>,
    /// Use of the connection, told when it is over.
    pub usage: Option<Box<Usage>>,
}

impl Letters {
    pub fn new(net: &Net, now: Instant, usage: Option<Box<Usage>>) -> Letters {
        let places = Vec::new();
        let free = Vec::new();
        let ready = Vec::new();
        Letters {
            net: net.clone(),
            now,
            places,
            free,
            ready,
            windows: Windows::new(now),
            wrong: Vec::new(),
            usage,
        }
    }

    /// Something comes over the connection now.
    pub fn reach(&mut self, now: Instant) {
        self.now = now;
        self.windows.reach(now);
    }

    /// A free place.
    pub fn take(&mut self) -> usize {
        if let Some(place) = self.free.pop() {
            return place;
        }
        if self.places.is_empty() {
            // Most connections carry one at a time, where they are many.
            self.places.reserve_exact(1);
        }
        self.places.push(Letter::new(self.net.event()));
        self.windows.add_place();
        self.places.len() - 1
    }

    /// Something came for a request: tells its user, who may not want to hear of parts.
    #[inline]
    fn news(&mut self, request: u64) -> &mut Letter {
        let now = self.now;
        let letter = &mut self.places[request as usize];
        letter.first_byte.get_or_insert(now);
        letter.latest = Some(now);
        if letter.repeating.is_none() {
            letter.news.set();
        }
        letter
    }
}

impl Letter {
    fn new(news: Event) -> Letter {
        Letter {
            news,
            stream: None,
            repeating: None,
            is_plain: false,
            only_counted: false,
            skipped: 0,
            fields: FieldList::default(),
            status: 0,
            content_length: None,
            head_bytes: 0,
            interims: 0,
            body: Vec::new(),
            trailers: FieldList::default(),
            first_byte: None,
            latest: None,
            end: None,
            wrong: Vec::new(),
        }
    }

    /// Gets ready for another request; memory is kept.
    pub(super) fn clear(&mut self) {
        (self.stream, self.is_plain, self.only_counted, self.skipped) = (None, false, false, 0);
        self.fields.clear();
        self.trailers.clear();
        self.body.clear();
        self.wrong.clear();
        (self.status, self.content_length, self.head_bytes, self.interims) = (0, None, 0, 0);
        (self.first_byte, self.latest, self.end) = (None, None, None);
    }
}

impl ClientSink for Letters {
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        let letter = &mut self.places[request as usize];
        letter.fields.push(name, value, Indexing::Literal);
    }

    fn fields(&mut self, request: u64, list: &FieldList) {
        self.places[request as usize].fields.copy(list);
    }

    fn interim(&mut self, request: u64, _status: u16) {
        let letter = self.news(request);
        letter.interims += 1;
        letter.fields.clear();
    }

    fn head(&mut self, request: u64, status: u16, content_length: Option<u64>, bytes: usize) {
        let letter = self.news(request);
        (letter.status, letter.content_length, letter.head_bytes) = (status, content_length, bytes);
        letter.is_plain = letter.interims == 0
            && letter.repeating.as_ref().is_some_and(|repeating| repeating.expects(status, content_length));
        self.windows.begin(request as usize);
    }

    fn body(&mut self, request: u64, bytes: &[u8]) {
        self.windows.got(request as usize, bytes.len());
        let letter = self.news(request);
        // Of an answer that is probably bad, the beginning is evidence.
        let is_evidence = letter.status >= 400 && letter.body.len() < Evidence::BODY;
        match letter.is_plain || letter.only_counted && !is_evidence {
            true => letter.skipped += bytes.len() as u64,
            false => letter.body.extend_from_slice(bytes),
        }
    }

    fn trailer(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.places[request as usize].trailers.push(name, value, Indexing::Literal);
    }

    fn broke(&mut self, request: Option<u64>, _breach: Breach, sample: &[u8]) {
        match request {
            Some(request) => self.places[request as usize].wrong = sample.to_vec(),
            None => self.wrong = sample.to_vec(),
        }
    }

    fn ended(&mut self, request: u64, end: Http2End) {
        self.windows.end(request as usize);
        let letter = self.news(request);
        letter.end = Some(LetterEnded::Stream(end));
        let first_byte = letter.first_byte;
        if letter.is_plain && end == Http2End::Whole && letter.trailers.bytes() == 0 {
            self.ready.push(request as usize);
        } else {
            letter.news.set();
        }
        if let (Some(usage), Http2End::Whole) = (&mut self.usage, end) {
            usage.answered(first_byte.unwrap_or(self.now), self.now);
        }
    }
}
