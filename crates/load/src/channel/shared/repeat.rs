//! Requests that are the same each time, and follow each other without their user being woken for each answer: a connection with
//! a hundred of them is one task's work, not that of a hundred.
//!
//! Anything unexpected wakes the user, with the request as it stands. Start reading at [`ChannelShared::lease_repeating`].

use super::super::long::RequestContent;
use super::{ChannelShared, ChannelState, Inner, Lease, Room};
use std::rc::Rc;
use std::time::Instant;

/// Whoever sends one and the same request again and again.
pub(crate) trait Repeats {
    /// A request has ended with an answer as expected: accounts for it and, where there may be another, begins that. `false`: none
    /// has begun, and the user is woken.
    fn ended(&self, answer: &Repeated, goes_on: bool) -> bool;
}

/// An exchange that has ended as expected.
pub(crate) struct Repeated {
    /// Bytes that were sent.
    pub sent_bytes: u64,
    pub head_bytes: u64,
    /// Bytes of all fields, as they are without compression.
    pub field_bytes: u64,
    pub body_bytes: u64,
    pub first_byte: Instant,
    pub ended: Instant,
}

/// How a place goes on by itself.
pub(super) struct Repeating {
    by: Rc<dyn Repeats>,
    /// Of answers that are as expected.
    status: u16,
    /// Announced by answers that are as expected; `None`: any, or none.
    length: Option<u64>,
    /// Place of the request's field block.
    template: usize,
    sent_bytes: u64,
    /// The last request was accounted for, and none has begun.
    rests: bool,
}

impl Repeating {
    pub(super) fn expects(&self, status: u16, length: Option<u64>) -> bool {
        self.status == status && (self.length.is_none() || self.length == length)
    }
}

impl ChannelShared {
    /// A place for a request whose field block this connection knows by its key, where there is room at once. Nothing is counted.
    pub(in crate::channel) fn lease_repeating(self: &Rc<ChannelShared>, key: usize) -> Option<Lease> {
        let inner = &self.inner;
        let is_used = inner.carried.get() > 0 && inner.window.is_none() && inner.budget.is_none();
        let has_room = matches!(self.room(), Room::Now);
        (is_used && has_room && inner.state.borrow().speaker.known(key).is_some()).then(|| self.place())
    }
}

impl Lease {
    /// Sends the request of a key, which the connection knows, and has it go on by itself while answers have a status and, where
    /// one is given, announce a length. Returns the bytes of the head.
    pub fn repeat(&mut self, key: usize, status: u16, length: Option<u64>, by: Rc<dyn Repeats>) -> u64 {
        let bytes =
            self.send(&wire::http2::FieldList::default(), Some(key), &mut RequestContent::default(), false)
                as u64;
        let state = &mut *self.shared.inner.state.borrow_mut();
        let template = state.speaker.known(key).unwrap_or_default();
        state.letters.places[self.place].repeating =
            Some(Repeating { by, status, length, template, sent_bytes: bytes, rests: false });
        bytes
    }

    /// From here on its user hears of all that comes. True: the last request was accounted for, and none has begun.
    pub fn stop_repeating(&self) -> bool {
        self.look(|letter| {
            let rests = letter.repeating.take().is_some_and(|repeating| repeating.rests);
            if !rests && (letter.status != 0 || letter.end.is_some()) {
                letter.news.set();
            }
            rests
        })
    }
}

impl Inner {
    /// Goes on with the places whose requests have ended as expected. `open`: the connection can carry more.
    pub(super) fn repeat(&self, state: &mut ChannelState, open: bool) {
        let mut ready = std::mem::take(&mut state.letters.ready);
        for place in ready.drain(..) {
            self.repeat_one(state, place, open);
        }
        state.letters.ready = ready;
    }

    fn repeat_one(&self, state: &mut ChannelState, place: usize, open: bool) {
        let has_room = open && self.may_carry(state) && self.room(state) > state.waiting.len();
        let letter = &mut state.letters.places[place];
        let now = letter.latest.unwrap_or(state.letters.now);
        let Some(repeating) = &mut letter.repeating else { return letter.news.set() };
        let goes_on = has_room && state.speaker.is_known(repeating.template);
        let answer = Repeated {
            sent_bytes: repeating.sent_bytes,
            head_bytes: letter.head_bytes as u64,
            field_bytes: letter.fields.bytes() as u64,
            body_bytes: letter.skipped,
            first_byte: letter.first_byte.unwrap_or(now),
            ended: now,
        };
        if !repeating.by.ended(&answer, goes_on) {
            repeating.rests = true;
            return letter.news.set();
        }
        let (stream, bytes) = state.speaker.again(place, repeating.template);
        repeating.sent_bytes = bytes as u64;
        letter.clear();
        letter.stream = Some(stream);
        self.carried.set(self.carried.get() + 1);
    }
}
