//! Connections that speak HTTP/2: each is shared by users, and owned by a task of its own.
//!
//! The task sends what the users of a turn have written in one piece, and hands what arrives to the user it is for: a [`Letter`]
//! for each request under way. Which connection a user shares, and when one is opened, is the business of `pool.rs`.
//! Start reading at [`Channels::begin`], then [`drive`].

mod contents;
mod repeat;

pub(crate) use repeat::{Repeated, Repeats};

use super::{Channels, Connection, Destination};
use crate::account::Account;
use crate::failure;
use contents::Contents;
use measure::{Failure, FailureKind, Http2Counts, Stage};
use net::{Close, Event, Net};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};
use transport::Stream;
use wire::http2::{
    Blocked, Client, ClientSink, Code, Counts, End, FieldList, Indexing, Kind, Limits, Settings, Template,
};

/// So many requests in a row whose time has run out, while nothing came, tell a connection that is dead from an answer that is
/// missing.
const SILENT: u32 = 2;

/// A connection. It ends when the last of its users lets it go.
pub(crate) struct Shared {
    inner: Rc<Inner>,
    to: SocketAddr,
    /// The host that TLS was begun with; `None`: plain.
    secure: Option<Box<str>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.inner.abandoned.set(true);
        self.inner.wake.set();
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
    state: RefCell<State>,
}

struct State {
    client: Client,
    out: Vec<u8>,
    letters: Letters,
    /// Field blocks of requests that are alike, and where those of a key are found.
    templates: Vec<Template>,
    keys: HashMap<usize, usize>,
    /// For blocks that are not worth remembering.
    scrap: Template,
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

/// What came of one request so far.
pub(crate) struct Letter {
    /// Raised when there is news.
    pub news: Event,
    /// Its stream, once it is sent.
    stream: Option<u32>,
    /// Its user wants to hear of it only when it does not go on by itself.
    repeating: Option<repeat::Repeating>,
    /// Its answer is one of those that its user does not want to hear of.
    is_plain: bool,
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
    pub end: Option<Ended>,
}

/// How a request ended, as its connection tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Stream(End),
    /// The connection was lost.
    Lost(Failure),
}

/// The requests under way on a connection.
struct Letters {
    net: Net,
    /// When something came last over the connection.
    now: Instant,
    places: Vec<Letter>,
    free: Vec<usize>,
    /// Places whose requests have ended as expected, and may go on.
    ready: Vec<usize>,
}

impl Letters {
    fn take(&mut self) -> usize {
        if let Some(place) = self.free.pop() {
            return place;
        }
        self.places.push(Letter::new(self.net.event()));
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
        }
    }

    /// Gets ready for another request; memory is kept.
    fn clear(&mut self) {
        (self.stream, self.is_plain, self.skipped) = (None, false, 0);
        self.fields.clear();
        self.trailers.clear();
        self.body.clear();
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
    }

    fn body(&mut self, request: u64, bytes: &[u8]) {
        let letter = self.news(request);
        match letter.is_plain {
            true => letter.skipped += bytes.len() as u64,
            false => letter.body.extend_from_slice(bytes),
        }
    }

    fn trailer(&mut self, request: u64, name: &[u8], value: &[u8]) {
        self.places[request as usize].trailers.push(name, value, Indexing::Literal);
    }

    fn ended(&mut self, request: u64, end: End) {
        let letter = self.news(request);
        letter.end = Some(Ended::Stream(end));
        if letter.is_plain && end == End::Whole && letter.trailers.bytes() == 0 {
            self.ready.push(request as usize);
        } else {
            letter.news.set();
        }
    }
}

/// One request on a shared connection. Dropping it before it has ended cancels it.
pub(crate) struct Lease {
    shared: Rc<Shared>,
    place: usize,
    /// The connection had carried a request before.
    pub reused: bool,
    /// When opening the connection began, and how long it took, for the first request over it.
    pub opened: Option<(Instant, Duration)>,
}

impl Lease {
    /// Number of its connection within the worker.
    pub fn connection(&self) -> u64 {
        self.shared.inner.number
    }

    /// Whether the head of this key was sent over the connection before, and is remembered.
    pub fn knows(&self, key: usize) -> bool {
        let state = self.shared.inner.state.borrow();
        state.keys.get(&key).is_some_and(|at| state.client.knows(&state.templates[*at]))
    }

    /// Sends a request. `key`: what tells requests of one and the same head from others, where it is worth remembering; of one that
    /// is [known](Self::knows), the fields are not looked at. Returns the bytes of the head.
    /// `slow`: no more of its answer comes than is [granted](Self::grant).
    pub fn send(&mut self, fields: &FieldList, key: Option<usize>, body: &[u8], slow: bool) -> usize {
        let inner = &self.shared.inner;
        let state = &mut *inner.state.borrow_mut();
        let template = match key {
            Some(key) => {
                let at = *state.keys.entry(key).or_insert(state.templates.len());
                if at == state.templates.len() {
                    state.templates.push(Template::default());
                }
                &mut state.templates[at]
            }
            None => {
                state.scrap.forget();
                &mut state.scrap
            }
        };
        let content = (!body.is_empty()).then_some(body.len() as u64);
        let begin = state.out.len();
        let stream =
            state.client.request(self.place as u64, template, fields.iter(), content, &mut state.out);
        let bytes = state.out.len() - begin;
        if content.is_some() {
            state.contents.push(stream, body);
        }
        match (slow, inner.window) {
            (true, _) => state.client.hold(stream),
            (false, Some(window)) => state.client.widen(stream, window, &mut state.out),
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
            state.client.grant(stream, &mut state.out);
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

impl Drop for Lease {
    fn drop(&mut self) {
        let inner = &self.shared.inner;
        let state = &mut *inner.state.borrow_mut();
        let letter = &mut state.letters.places[self.place];
        let sent = letter.stream;
        if let (Some(stream), None) = (sent, letter.end) {
            state.client.cancel(stream, Code::CANCEL, &mut state.out);
            inner.account.count(|counts| counts.streams_cancelled += 1);
            inner.wake.set();
        }
        letter.repeating = None;
        letter.clear();
        state.letters.free.push(self.place);
        state.contents.forget(sent);
        inner.call_waiting(state);
    }
}

impl Channels {
    /// Begins to speak HTTP/2 over a connection that is open.
    pub(super) fn begin(&self, connection: Connection) -> Rc<Shared> {
        let plan = self.http.http2.clone().unwrap_or_default();
        // What slow clients have of an answer at once is the window that all streams begin with.
        let trickle = self.trickle.map(|bytes| bytes.min(plan.stream_window));
        let settings = Settings {
            header_table_size: plan.decoder_table,
            initial_window_size: trickle.unwrap_or(plan.stream_window),
            max_header_list_size: Some(self.load.limits.head_bytes),
            ..Settings::default()
        };
        let limits = Limits {
            settings,
            connection_window: plan.connection_window,
            encoder_table_size: plan.encoder_table,
            ..Limits::default()
        };
        let mut client = Client::new(limits);
        let mut out = Vec::new();
        client.open(&mut out);
        let net = self.net.clone();
        let letters = Letters {
            net: net.clone(),
            now: connection.begun,
            places: Vec::new(),
            free: Vec::new(),
            ready: Vec::new(),
        };
        let state = State {
            client,
            out,
            letters,
            templates: Vec::new(),
            keys: HashMap::new(),
            scrap: Template::default(),
            contents: Contents::default(),
            blocked: None,
            waiting: VecDeque::new(),
            tickets: 0,
            called: 0,
        };
        let inner = Rc::new(Inner {
            account: self.account.clone(),
            number: connection.number,
            budget: self.plan().requests_per_connection,
            window: trickle.map(|_| plan.stream_window),
            carried: Cell::new(0),
            opened: Cell::new(connection.opened_in.map(|took| (connection.begun, took))),
            wake: net.event(),
            abandoned: Cell::new(false),
            ran_out: Cell::new(0),
            ended: Cell::new(None),
            state: RefCell::new(state),
            net,
        });
        self.net.spawn(drive(inner.clone(), connection.stream));
        Rc::new(Shared { inner, to: connection.to, secure: connection.secure })
    }
}

fn add_counts(told: &mut Http2Counts, counts: &Counts) {
    let add = |told: &mut [u64], counts: &[u64]| {
        told.iter_mut().zip(counts).for_each(|(told, count)| *told += count)
    };
    add(&mut told.received, &counts.received);
    add(&mut told.sent, &counts.sent);
    add(&mut told.resets_received, &counts.resets_received);
    add(&mut told.resets_sent, &counts.resets_sent);
    told.blocks += counts.blocks;
    told.known_blocks += counts.known_blocks;
    told.received_fields.fields += counts.field_bytes;
    told.received_fields.blocks += counts.block_bytes;
    told.sent_fields.fields += counts.sent_field_bytes;
    told.sent_fields.blocks += counts.sent_block_bytes;
}

/// Whether another request can be sent over a connection.
pub(super) enum Room {
    Now,
    /// Perhaps later.
    Later,
    Never,
}

impl Inner {
    /// Whether it may carry another request, now or later.
    fn may_carry(&self, state: &State) -> bool {
        let spent = self.budget.is_some_and(|budget| self.carried.get() >= budget);
        self.ended.get().is_none() && !spent && !self.is_leaving(state)
    }

    /// It only ends what is under way.
    fn is_leaving(&self, state: &State) -> bool {
        self.ran_out.get() >= SILENT || state.client.is_leaving()
    }

    /// Requests that may begin now, but for those of users that were called.
    fn room(&self, state: &State) -> usize {
        state.client.room().saturating_sub(state.called)
    }

    /// Calls as many of those who wait as there is room for; all where there will be none again.
    fn call_waiting(&self, state: &mut State) {
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
            letter.end = Some(Ended::Lost(failure));
            letter.latest = Some(now);
            letter.news.set();
        }
        self.call_waiting(state);
    }

    /// What is to be sent.
    fn output(&self) -> Option<net::Buffer> {
        let state = &mut *self.state.borrow_mut();
        if state.client.has_content() {
            state.client.send(&mut state.contents, &mut state.out);
            self.note_blocked(state);
        }
        if state.out.is_empty() {
            return None;
        }
        let mut out = self.net.buffer();
        out.extend_from_slice(&state.out);
        state.out.clear();
        Some(out)
    }

    fn read(&self, bytes: &[u8]) -> Result<(), Failure> {
        let state = &mut *self.state.borrow_mut();
        state.letters.now = self.net.recently();
        self.ran_out.set(0);
        self.account.received(bytes.len(), state.letters.now);
        let leaving = state.client.is_leaving();
        let read = state.client.read(bytes, &mut state.letters, &mut state.out);
        if !leaving && state.client.is_leaving() {
            self.account.count(|counts| counts.goaways += 1);
        }
        self.repeat(state, read.is_ok());
        self.tell(state);
        self.call_waiting(state);
        let settled = state.client.is_settled();
        let kind = if settled { FailureKind::StreamError } else { FailureKind::NotHttp2 };
        read.map_err(|_| Failure { kind, stage: Stage::Head, errno: None })
    }

    /// Tells what has been counted since this was done last.
    fn tell(&self, state: &mut State) {
        let counts = state.client.take_counts();
        let goaway = state.client.goaway().filter(|_| counts.received[Kind::GoAway as usize] > 0);
        self.account.http2(|told| {
            add_counts(told, &counts);
            if let Some(goaway) = goaway {
                told.goaway(goaway.code.0, &String::from_utf8_lossy(&goaway.text), 1);
            }
        });
    }

    /// Content has been sent as far as windows allow: the time that they kept it waiting is told when it goes on.
    fn note_blocked(&self, state: &mut State) {
        let (now, blocked) = (self.net.now(), state.client.blocked());
        if let Some((since, before)) = state.blocked.take() {
            let waited = (now - since).as_micros() as u64;
            self.account.http2(|told| {
                told.stream_window_us += if before.by_stream { waited } else { 0 };
                told.connection_window_us += if before.by_connection { waited } else { 0 };
            });
        }
        state.blocked = (blocked.by_stream || blocked.by_connection).then_some((now, blocked));
    }

    /// Sends, however long the peer takes nothing. `None`: it took nothing while nobody was there any more.
    async fn send(&self, stream: &mut Stream, out: net::Buffer) -> Option<std::io::Result<()>> {
        let mut sending = pin!(stream.send(out));
        let mut woken = pin!(self.wake.wait());
        let mut patience = None;
        poll_fn(|context| {
            if let Poll::Ready(sent) = sending.as_mut().poll(context) {
                return Poll::Ready(Some(sent));
            }
            while woken.as_mut().poll(context).is_ready() {
                // What there is to send comes next.
                woken.set(self.wake.wait());
            }
            if !self.is_over() {
                return Poll::Pending;
            }
            let patience = patience.get_or_insert_with(|| Box::pin(self.net.sleep(super::PEER_CLOSES)));
            patience.as_mut().poll(context).map(|()| None)
        })
        .await
    }

    /// Nobody is there any more, or it carries no more requests and has answered all of them.
    fn is_over(&self) -> bool {
        let state = self.state.borrow();
        self.abandoned.get() || (self.is_leaving(&state) && state.client.under_way() == 0)
    }
}

impl Shared {
    /// Whether it carries requests to there.
    pub(super) fn leads_to(&self, destination: Destination<'_>) -> bool {
        let there = destination.to.contains(&self.to) && self.secure.as_deref() == destination.secure;
        there && self.may_carry()
    }

    /// Whether it may carry another request, now or later.
    pub(super) fn may_carry(&self) -> bool {
        self.inner.may_carry(&self.inner.state.borrow())
    }

    /// Whether there is room for another request, behind those who wait.
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

    pub(super) fn lease(self: &Rc<Shared>) -> Lease {
        let carried = self.inner.carried.get();
        self.inner.account.count(|counts| counts.reused += u64::from(carried > 0));
        self.place()
    }

    /// A place for a request that is counted by whoever asks.
    fn place(self: &Rc<Shared>) -> Lease {
        let inner = &self.inner;
        let carried = inner.carried.get();
        inner.carried.set(carried + 1);
        let state = &mut *inner.state.borrow_mut();
        let place = state.letters.take();
        if !inner.may_carry(state) {
            // It was the last; they go elsewhere.
            inner.call_waiting(state);
        }
        Lease { shared: self.clone(), place, reused: carried > 0, opened: inner.opened.take() }
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

/// The task of a connection: sends and receives until it is over.
async fn drive(inner: Rc<Inner>, mut stream: Stream) {
    let mut close = Close::Graceful;
    let failure = loop {
        if let Some(out) = inner.output() {
            match inner.send(&mut stream, out).await {
                None => {
                    close = Close::Reset;
                    break None;
                }
                Some(Ok(())) => continue,
                Some(Err(error)) => break Some(failure::of_io(&error, Stage::Send)),
            }
        }
        if let Some(handshake) = stream.take_handshake() {
            inner.account.handshake(&handshake);
        }
        if inner.is_over() {
            break None;
        }
        match stream.recv_or_woken(&inner.wake).await {
            Ok(None) => {}
            Ok(Some(bytes)) if bytes.is_empty() => {
                break Some(Failure { kind: FailureKind::ClosedEarly, stage: Stage::Head, errno: None });
            }
            Ok(Some(bytes)) => {
                if let Err(failure) = inner.read(&bytes) {
                    if let Some(out) = inner.output() {
                        // The peer may be gone; then there is nobody to be told.
                        let _ = stream.send(out).await;
                    }
                    break Some(failure);
                }
            }
            Err(error) => break Some(failure::of_io(&error, Stage::Head)),
        }
    };
    let over = Failure { kind: FailureKind::ClosedEarly, stage: Stage::Head, errno: None };
    inner.end(failure.unwrap_or(over));
    stream.close(close).await;
}
