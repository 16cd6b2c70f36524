//! Connections that speak HTTP/2 or HTTP/3: each is shared by users, and owned by a task of its own.
//!
//! The task sends what the users of a turn have written in one piece, and hands what arrives to the user it is for: a [`Letter`]
//! for each request under way. Which connection a user shares, and when one is opened, is the business of `pool.rs`; what differs
//! between the protocols is that of a [`Speaker`], and of the two tasks, `http2.rs` and `http3.rs`.
//! Start reading at [`Lease::send`], then at the task of HTTP/2.

mod authority;
mod contents;
mod fairness;
mod http2;
mod http3;
mod letter;
mod repeat;
mod speaker;

pub(in crate::channel) use authority::Apart;
pub(crate) use letter::{Letter, LetterEnded};
pub(crate) use repeat::{Repeated, Repeats};

use super::long::RequestContent;
use super::spare::Spare;
use super::usage::Usage;
use super::{Channels, Destination};
use crate::account::Account;
use authority::Authority;
use contents::Contents;
use letter::Letters;
use measure::{Failure, FailureKind, SharedCounts, Stage};
use net::{Event, Net};
use speaker::Speaker;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use wire::http1::Version;
use wire::http2::{Blocked, Code, FieldList};

/// So many requests in a row whose time has run out, while nothing came, tell a connection that is dead from an answer that is
/// missing.
const SILENT: u32 = 2;

/// A connection. It ends when the last of its users lets it go.
pub(crate) struct ChannelShared {
    inner: Rc<Inner>,
    to: SocketAddr,
    /// The hosts that it carries requests for.
    authority: Authority,
    /// Connections with a stream to spare, where it is offered when it has one.
    spare: Rc<Spare<ChannelShared>>,
    /// It was offered, and nobody has looked at it since.
    pub(super) is_offered: Cell<bool>,
}

impl Drop for ChannelShared {
    fn drop(&mut self) {
        let inner = &self.inner;
        // The run may be over before its task is: what it has counted is told now.
        let state = &mut *inner.state.borrow_mut();
        state.speaker.tell(&inner.account, state.letters.now, true);
        drop(state.letters.usage.take());
        inner.abandoned.set(true);
        inner.wake.set();
    }
}

struct Inner {
    net: Net,
    account: Rc<Account>,
    /// Its number within the worker, for messages.
    number: u64,
    /// Requests that it may carry; `None`: no limit.
    budget: Option<u32>,
    /// Window of a stream, where that was not announced, because some streams are read slowly.
    window: Option<u32>,
    carried: Cell<u32>,
    opened: Cell<Option<(Instant, Duration)>>,
    /// Raised where there is something to send, or nobody left.
    wake: Event,
    abandoned: Cell<bool>,
    /// Requests whose time has run out since something came last.
    ran_out: Cell<u32>,
    /// Why it is over.
    ended: Cell<Option<Failure>>,
    state: RefCell<ChannelState>,
}

struct ChannelState {
    speaker: Speaker,
    letters: Letters,
    /// Content on its way.
    contents: Contents,
    /// Since when windows keep content waiting, and which.
    blocked: Option<(Instant, Blocked)>,
    /// Users that wait for room, the first to come first; each with the number of its ticket.
    waiting: VecDeque<(u64, Event)>,
    tickets: u64,
    /// Users that were called, and have not come yet: the room is theirs.
    called: usize,
}

/// One request on a shared connection. Dropping it before it has ended cancels it.
pub(crate) struct Lease {
    shared: Rc<ChannelShared>,
    place: usize,
    /// The connection had carried a request before.
    pub reused: bool,
    /// The connection was opened for another host.
    pub coalesced: bool,
    /// When opening the connection began, and how long it took, for the first request over it.
    pub opened: Option<(Instant, Duration)>,
}

impl Lease {
    /// Number of its connection within the worker.
    pub fn connection(&self) -> u64 {
        self.shared.inner.number
    }

    /// The version of HTTP that is spoken.
    pub fn version(&self) -> Version {
        self.shared.inner.state.borrow().speaker.version()
    }

    /// The code of the server's GOAWAY, where it said one.
    pub fn goaway(&self) -> Option<Code> {
        self.shared.inner.state.borrow().speaker.goaway_code()
    }

    /// True if the head of this key was sent over the connection before, and is remembered.
    pub fn knows(&self, key: usize) -> bool {
        let state = self.shared.inner.state.borrow();
        state.speaker.known(key).is_some()
    }

    /// Sends a request. `key`: what tells requests of one and the same head from others, where it is worth remembering; of one that
    /// is [known](Self::knows), the fields are not looked at. Returns the bytes of the head.
    /// `slow`: no more of its answer comes than is [granted](Self::grant).
    pub fn send(
        &mut self,
        fields: &FieldList,
        key: Option<usize>,
        body: &mut RequestContent,
        slow: bool,
    ) -> usize {
        let inner = &self.shared.inner;
        let state = &mut *inner.state.borrow_mut();
        let content = Some(body.length()).filter(|length| *length > 0);
        let (stream, bytes) = state.speaker.request(self.place, fields, key, content);
        if content.is_some() {
            state.contents.push(stream, body);
        }
        state.letters.windows.set_slow(self.place, slow);
        match (slow, inner.window) {
            (true, _) => state.speaker.hold(stream),
            (false, Some(window)) => state.speaker.widen(stream, window),
            (false, None) => {}
        }
        state.letters.places[self.place].stream = Some(stream);
        inner.wake.set();
        bytes
    }

    /// Grants as much again of an answer that is read slowly as has come.
    pub fn grant(&self) {
        let inner = &self.shared.inner;
        let state = &mut *inner.state.borrow_mut();
        if let Some(stream) = state.letters.places[self.place].stream {
            state.speaker.grant(stream, &mut state.letters);
            inner.wake.set();
        }
    }

    /// The time of the request, sent at this moment, is over. A connection over which nothing comes any more carries no more
    /// requests.
    pub fn ran_out(&self, sent: Instant) {
        let inner = &self.shared.inner;
        let state = &mut *inner.state.borrow_mut();
        if state.letters.now <= sent {
            inner.ran_out.set(inner.ran_out.get() + 1);
            inner.call_waiting(state);
        }
    }

    /// The request, which goes to a destination, was answered 421: others to there go over connections of their own.
    pub fn misdirected(&self, destination: Destination<'_>) {
        self.shared.authority.misdirects(&destination);
        self.shared.count(|told| told.misdirected += 1);
    }

    /// Waits for news of the request, at most until a moment; `false`: it has passed.
    pub async fn news(&self, deadline: Instant) -> bool {
        let inner = &self.shared.inner;
        let news = inner.state.borrow().letters.places[self.place].news.clone();
        inner.net.wait_until(&news, deadline).await
    }

    /// Looks at what came of the request.
    pub fn look<T>(&self, look: impl FnOnce(&mut Letter) -> T) -> T {
        look(&mut self.shared.inner.state.borrow_mut().letters.places[self.place])
    }
}

/// Requests whose content could not be read on have failed, and their streams are reset.
fn fail_unread(state: &mut ChannelState) {
    for stream in state.contents.take_unread() {
        state.speaker.cancel(stream);
        if let Some(letter) = state.letters.places.iter_mut().find(|letter| letter.stream == Some(stream)) {
            letter.end = Some(LetterEnded::Lost(Failure::new(FailureKind::Unwritable, Stage::Send)));
            letter.news.set();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let inner = &self.shared.inner;
        let state = &mut *inner.state.borrow_mut();
        let letter = &mut state.letters.places[self.place];
        let sent = letter.stream;
        if let (Some(stream), None) = (sent, letter.end) {
            state.speaker.cancel(stream);
            inner.account.count(|counts| counts.streams_cancelled += 1);
            inner.wake.set();
        }
        letter.repeating = None;
        letter.clear();
        state.letters.windows.end(self.place);
        state.letters.free.push(self.place);
        state.contents.forget(sent);
        inner.call_waiting(state);
        let shared = &self.shared;
        if !shared.is_offered.replace(true) {
            shared.spare.offer(Rc::downgrade(shared));
        }
        shared.spare.call();
    }
}

/// Room for another request on a connection.
pub(super) enum Room {
    Now,
    /// Perhaps later.
    Later,
    Never,
}

/// Facts known of a connection when it begins.
struct Beginning {
    number: u64,
    to: SocketAddr,
    authority: Authority,
    begun: Instant,
    opened_in: Option<Duration>,
    /// Window of a stream, where that was not announced.
    window: Option<u32>,
    /// Use of it, told when it is over.
    usage: Option<Box<Usage>>,
}

impl ChannelShared {
    /// A connection whose task is still to be started.
    fn new(channels: &Channels, beginning: Beginning, speaker: Speaker) -> Rc<ChannelShared> {
        let net = channels.net.clone();
        let state = ChannelState {
            speaker,
            letters: Letters::new(&net, beginning.begun, beginning.usage),
            contents: Contents::default(),
            blocked: None,
            waiting: VecDeque::new(),
            tickets: 0,
            called: 0,
        };
        let inner = Rc::new(Inner {
            account: channels.account.clone(),
            number: beginning.number,
            budget: channels.plan().requests_per_connection,
            window: beginning.window,
            carried: Cell::new(0),
            opened: Cell::new(beginning.opened_in.map(|took| (beginning.begun, took))),
            wake: net.event(),
            abandoned: Cell::new(false),
            ran_out: Cell::new(0),
            ended: Cell::new(None),
            state: RefCell::new(state),
            net,
        });
        Rc::new(ChannelShared {
            inner,
            to: beginning.to,
            authority: beginning.authority,
            spare: channels.pool.spare(),
            is_offered: Cell::new(false),
        })
    }

    /// Counts what only connections that users share have, with its protocol.
    pub(super) fn count(&self, count: impl FnOnce(&mut SharedCounts)) {
        let inner = &self.inner;
        inner.state.borrow().speaker.count(&inner.account, count);
    }
}

impl Inner {
    /// True if it may carry another request, now or later.
    fn may_carry(&self, state: &ChannelState) -> bool {
        let spent = self.budget.is_some_and(|budget| self.carried.get() >= budget);
        self.ended.get().is_none() && !spent && !self.is_leaving(state)
    }

    /// It only ends what is under way.
    fn is_leaving(&self, state: &ChannelState) -> bool {
        self.ran_out.get() >= SILENT || state.speaker.is_leaving()
    }

    /// Requests that may begin now, but for those of users that were called.
    fn room(&self, state: &ChannelState) -> usize {
        state.speaker.room().saturating_sub(state.called)
    }

    /// Calls as many of those who wait as there is room for; all where there will be none again.
    fn call_waiting(&self, state: &mut ChannelState) {
        let room = if self.may_carry(state) { self.room(state) } else { usize::MAX };
        let calls = room.min(state.waiting.len());
        state.called += calls;
        state.waiting.drain(..calls).for_each(|(_, user)| user.set());
    }

    /// The connection is over: all that is under way is lost.
    fn end(&self, failure: Failure) {
        self.ended.set(Some(failure));
        let state = &mut *self.state.borrow_mut();
        self.tell(state);
        let now = self.net.now();
        for letter in state.letters.places.iter_mut().filter(|letter| letter.end.is_none()) {
            letter.end = Some(LetterEnded::Lost(failure));
            letter.wrong.clone_from(&state.letters.wrong);
            letter.latest = Some(now);
            letter.news.set();
        }
        self.call_waiting(state);
    }

    /// Goes on with what follows from bytes that have been read. `left`: whether the peer had said GOAWAY before; `open`: the
    /// connection goes on.
    fn took(&self, state: &mut ChannelState, left: bool, open: bool) {
        if !left && state.speaker.said_goaway() {
            self.account.count(|counts| counts.goaways += 1);
        }
        self.repeat(state, open);
        self.tell(state);
        self.call_waiting(state);
    }

    /// Tells what has been counted since this was done last.
    fn tell(&self, state: &mut ChannelState) {
        state.speaker.tell(&self.account, state.letters.now, self.ended.get().is_some());
        if let Some(found) = state.letters.windows.take() {
            state.speaker.count(&self.account, |told| told.fairness.merge(&found));
        }
    }

    /// Content has been sent as far as windows allow: the time that they kept it waiting is told when it goes on.
    fn note_blocked(&self, state: &mut ChannelState) {
        let now = self.net.now();
        let blocked = state.speaker.blocked();
        if let Some((since, before)) = state.blocked.take() {
            let waited = (now - since).as_micros() as u64;
            state.speaker.count(&self.account, |told| {
                told.stream_window_us += if before.by_stream { waited } else { 0 };
                told.connection_window_us += if before.by_connection { waited } else { 0 };
            });
        }
        state.blocked = (blocked.by_stream || blocked.by_connection).then_some((now, blocked));
    }

    /// Nobody is there any more, or it carries no more requests and has answered all of them.
    fn is_over(&self) -> bool {
        let state = self.state.borrow();
        self.abandoned.get() || (self.is_leaving(&state) && state.speaker.under_way() == 0)
    }
}

impl ChannelShared {
    /// True if it carries requests to there.
    pub(super) fn leads_to(&self, destination: Destination<'_>) -> bool {
        let there = destination.to.contains(&self.to) && self.authority.includes(&destination);
        there && self.may_carry()
    }

    /// True if it may carry another request, now or later.
    pub(super) fn may_carry(&self) -> bool {
        self.inner.may_carry(&self.inner.state.borrow())
    }

    /// Room for another request, behind those who wait.
    pub(super) fn room(&self) -> Room {
        let state = self.inner.state.borrow();
        let room = self.inner.room(&state);
        match self.inner.may_carry(&state) {
            true if room > state.waiting.len() => Room::Now,
            true => Room::Later,
            false => Room::Never,
        }
    }

    /// Waits until there is room, or the connection carries no more requests; at most until a moment, `None`: it has passed.
    pub(super) async fn wait_for_room(&self, until: Instant) -> Option<Room> {
        let inner = &self.inner;
        let event = inner.net.event();
        let ticket = {
            let state = &mut *inner.state.borrow_mut();
            state.tickets += 1;
            state.waiting.push_back((state.tickets, event.clone()));
            state.tickets
        };
        let mut waiting = Waiting { inner, ticket, came: false };
        waiting.came = inner.net.wait_until(&event, until).await;
        let came = waiting.came;
        drop(waiting);
        let state = inner.state.borrow();
        came.then(|| match inner.may_carry(&state) {
            true if inner.room(&state) > 0 => Room::Now,
            true => Room::Later,
            false => Room::Never,
        })
    }

    pub(super) fn lease(self: &Rc<ChannelShared>, destination: Destination<'_>) -> Lease {
        let carried = self.inner.carried.get();
        self.inner.account.count(|counts| counts.reused += u64::from(carried > 0));
        let coalesced = self.authority.is_another(&destination);
        if coalesced {
            self.count(|told| told.coalesced += 1);
        }
        let mut lease = self.place();
        lease.coalesced = coalesced;
        lease
    }

    /// Requests under way on it.
    pub(super) fn under_way(&self) -> u64 {
        let letters = &self.inner.state.borrow().letters;
        (letters.places.len() - letters.free.len()) as u64
    }

    /// Its number within the worker.
    pub(super) fn number(&self) -> u64 {
        self.inner.number
    }

    /// True if it was opened for another host than that of a destination.
    pub(super) fn is_of_another(&self, destination: Destination<'_>) -> bool {
        self.authority.is_another(&destination)
    }

    /// A place for a request that is counted by whoever asks.
    fn place(self: &Rc<ChannelShared>) -> Lease {
        let inner = &self.inner;
        let carried = inner.carried.get();
        inner.carried.set(carried + 1);
        let state = &mut *inner.state.borrow_mut();
        let place = state.letters.take();
        if !inner.may_carry(state) {
            // It was the last; they go elsewhere.
            inner.call_waiting(state);
        }
        let opened = inner.opened.take();
        Lease { shared: self.clone(), place, reused: carried > 0, coalesced: false, opened }
    }
}

/// A user that waits for room. One that gives up, or is let go, leaves its place to the next.
struct Waiting<'a> {
    inner: &'a Inner,
    ticket: u64,
    /// It was called, and came.
    came: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let state = &mut *self.inner.state.borrow_mut();
        match state.waiting.binary_search_by_key(&self.ticket, |(ticket, _)| *ticket) {
            Ok(at) => drop(state.waiting.remove(at)),
            Err(_) => state.called -= 1,
        }
        if !self.came {
            self.inner.call_waiting(state);
        }
    }
}
