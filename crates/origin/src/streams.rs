//! A connection with streams, as HTTP/2 and HTTP/3 have it: many requests at once, each answered as the site has it.
//!
//! It must not know what carries it: `http2.rs` and `http3.rs` read into [`Requests`], have what came answered
//! ([`Streams::answer_all`]), and send. Start there, then at [`Streams::begin`].

use crate::answer::AnswerBody;
use crate::busy::BusyUnderWay;
use crate::control;
use crate::haterm::{self, Carrier};
use crate::head::Fields;
use crate::native::{self, Scratch};
use crate::request::Request;
use crate::send::Speed;
use crate::worker::{Turn, Worker};
use measure::event::HeadTitle;
use measure::{Event, LiveOriginCounts};
use plan::StreamFaults;
use plan::content::Content;
use plan::draw::Draw;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use wire::http1::Version;
use wire::http2::{After, BodySource, Code, FieldList, Indexing, ServerSink};

/// Fields of a 103 (RFC 8297): nothing that changes an answer.
const EARLY_HINTS: [(&[u8], &[u8]); 2] =
    [(b":status", b"103"), (b"link", b"</w/1/1000>; rel=preload; as=fetch")];
/// Where answers have a speed, content is released this often.
const SLICE: Duration = Duration::from_millis(10);

/// The protocol that a connection speaks, as far as answers need it.
pub(crate) trait Speaks {
    /// The version of HTTP.
    const VERSION: Version;
    /// The code of what ends before it is whole.
    const BROKEN: Code;

    /// Counts a request over it.
    fn count(counts: &LiveOriginCounts);

    /// Sends an interim answer.
    fn interim(&mut self, stream: u32, fields: &FieldList);

    /// Begins the answer to a request; content of so many bytes follows, and what follows it. `None`: there is none.
    fn respond(&mut self, stream: u32, fields: &FieldList, content: Option<(u64, After)>);

    /// Content of a stream goes no further than `bytes` until more is released.
    fn release(&mut self, stream: u32, bytes: u64);

    /// True if a stream is open.
    fn is_open(&self, stream: u32) -> bool;

    /// Tells that nothing was done for a request, which may be sent again.
    fn refuse(&mut self, stream: u32);

    /// Says that no more requests are taken than came so far.
    fn go_away(&mut self, text: &[u8]);
}

/// The requests of a connection and their answers.
pub(crate) struct Streams<S> {
    pub worker: Rc<Worker>,
    pub speaks: S,
    pub requests: Requests,
    pub contents: Contents,
    fields: Fields,
    scratch: Scratch,
    /// Requests whose answers were held back, and are due.
    due: Rc<RefCell<Vec<StreamHeld>>>,
    /// Raised when something is due.
    pub wake: net::Event,
    /// Answers that have a speed, and the lengths of their content, until all of it is released.
    slow: Vec<(u32, u64, Speed)>,
    /// A timer for the next slice runs.
    slicing: Rc<Cell<bool>>,
    answered: u32,
    /// The authority of the first request, where others are misdirected.
    own: Option<Vec<u8>>,
    /// The client was told that no more requests are taken.
    pub leaving: bool,
}

/// Requests as they are read.
pub(crate) struct Requests {
    worker: Rc<Worker>,
    /// The one whose head is being read.
    reading: Request,
    /// Those whose content is still coming.
    open: Vec<(u32, Request)>,
    /// Those that are whole.
    whole: Vec<(u32, Request)>,
    /// Memory for the next ones.
    spare: Vec<Request>,
    /// Those that are followed beyond their clients, until their streams end.
    followed: Vec<FollowedStream>,
    received: u64,
}

/// A stream whose request is followed: its nonce, and the bytes of its answer's content.
struct FollowedStream {
    stream: u32,
    nonce: u64,
    bytes: u64,
}

/// A fault on a stream that the plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamFault {
    Refused,
    Stalled,
    WrongLength,
    GoAway,
    Misdirected,
}

impl StreamFault {
    /// The fault of a request, if it is to have one.
    fn draw(faults: &StreamFaults, draw: &mut Draw) -> Option<StreamFault> {
        if faults.is_none() {
            return None;
        }
        let shares = [
            (faults.refused, StreamFault::Refused),
            (faults.stalled, StreamFault::Stalled),
            (faults.wrong_length, StreamFault::WrongLength),
            (faults.goaway, StreamFault::GoAway),
            (faults.misdirected, StreamFault::Misdirected),
        ];
        shares.into_iter().find(|(share, _)| draw.chance(*share)).map(|(_, fault)| fault)
    }
}

/// An answer that is held back for a while.
struct StreamHeld {
    stream: u32,
    fault: Option<StreamFault>,
    request: Request,
    turn: Turn,
    _under_way: Option<BusyUnderWay>,
}

impl Requests {
    fn new(worker: &Rc<Worker>) -> Requests {
        let mut reading = Request::new(worker.interest.clone());
        reading.begin_http2();
        Requests {
            worker: worker.clone(),
            reading,
            open: Vec::new(),
            whole: Vec::new(),
            spare: Vec::new(),
            followed: Vec::new(),
            received: 0,
        }
    }

    /// Follows a request from here on, where that is wanted.
    fn follow(&mut self, stream: u32, nonce: u64) {
        if let Some(followed) = self.worker.followed(nonce) {
            followed.begin(nonce);
            self.followed.push(FollowedStream { stream, nonce, bytes: 0 });
        }
    }

    /// An answer has begun, with content of so many bytes.
    fn answered(&mut self, stream: u32, bytes: u64) {
        if let Some(followed) = self.followed.iter_mut().rfind(|followed| followed.stream == stream) {
            followed.bytes = bytes;
        }
    }

    /// Tells of answers whose streams have ended by themselves.
    fn tell_whole(&mut self, is_open: impl Fn(u32) -> bool) {
        let worker = &self.worker;
        self.followed.retain(|FollowedStream { stream, nonce, bytes }| {
            let open = is_open(*stream);
            if let Some(followed) = worker.followed(*nonce).filter(|_| !open) {
                followed.whole(*nonce, *bytes, worker.net.now());
            }
            open
        });
    }

    /// Tells of answers that the other side has given up: those of a stream, or all.
    fn tell_early(&mut self, only: Option<u32>) {
        let worker = &self.worker;
        self.followed.retain(|FollowedStream { stream, nonce, .. }| {
            let ended = only.is_none_or(|only| only == *stream);
            if let Some(followed) = worker.followed(*nonce).filter(|_| ended) {
                followed.early(*nonce, worker.net.now());
            }
            !ended
        });
    }

    fn take_open(&mut self, stream: u32) -> Option<(u32, Request)> {
        let at = self.open.iter().position(|(open, _)| *open == stream)?;
        Some(self.open.swap_remove(at))
    }
}

/// The connection is over, and with it all that was under way.
impl Drop for Requests {
    fn drop(&mut self) {
        self.tell_early(None);
    }
}

impl ServerSink for Requests {
    fn field(&mut self, _stream: u32, name: &[u8], value: &[u8]) {
        self.reading.http2_field(name, value);
    }

    fn head(&mut self, stream: u32, bytes: usize, _content: bool) {
        let mut next = self.spare.pop().unwrap_or_else(|| Request::new(self.worker.interest.clone()));
        next.begin_http2();
        self.received += bytes as u64;
        self.open.push((stream, std::mem::replace(&mut self.reading, next)));
    }

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        self.received += bytes.len() as u64;
        if let Some((_, request)) = self.open.iter_mut().find(|(open, _)| *open == stream) {
            request.body_bytes += bytes.len() as u64;
        }
    }

    fn whole(&mut self, stream: u32) {
        let request = self.take_open(stream);
        self.whole.extend(request);
    }

    fn reset(&mut self, stream: u32, _code: Code) {
        self.worker.counts().streams_reset.add(1);
        self.tell_early(Some(stream));
        self.reading.begin_http2();
        self.whole.retain(|(whole, _)| *whole != stream);
        let request = self.take_open(stream);
        self.spare.extend(request.map(|(_, request)| request));
    }
}

/// Content that answers still have to send.
#[derive(Default)]
pub(crate) struct Contents(Vec<(u32, StreamPart)>);

enum StreamPart {
    Object { content: Content, from: u64, overlay: Vec<u8> },
    Text(&'static [u8]),
    Bytes(Vec<u8>),
}

impl BodySource for Contents {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let Some((_, what)) = self.0.iter().rfind(|(open, _)| *open == stream) else { return };
        let at = from as usize;
        let end = from as usize + length;
        match what {
            StreamPart::Text(text) => out.extend_from_slice(&text[at..end]),
            StreamPart::Bytes(bytes) => out.extend_from_slice(&bytes[at..end]),
            StreamPart::Object { content, from: first, overlay } => {
                let text = overlay.get(at..end.min(overlay.len())).unwrap_or_default();
                out.extend_from_slice(text);
                let begun = first + from + text.len() as u64;
                content
                    .pieces(begun, first + from + length as u64)
                    .for_each(|piece| out.extend_from_slice(piece));
            }
        }
    }
}

impl<S: Speaks> Streams<S> {
    pub fn new(worker: Rc<Worker>, wake: net::Event, speaks: S) -> Streams<S> {
        Streams {
            speaks,
            requests: Requests::new(&worker),
            contents: Contents::default(),
            fields: Fields::default(),
            scratch: Scratch::default(),
            due: Rc::default(),
            wake,
            slow: Vec::new(),
            slicing: Rc::default(),
            answered: 0,
            own: None,
            leaving: false,
            worker,
        }
    }

    /// Answers what can be answered by now.
    pub fn answer_all(&mut self) {
        self.worker.counts().received_bytes.add(std::mem::take(&mut self.requests.received));
        let mut whole = std::mem::take(&mut self.requests.whole);
        whole.drain(..).for_each(|(stream, request)| self.begin(stream, request));
        self.requests.whole = whole;
        let due = std::mem::take(&mut *self.due.borrow_mut());
        due.into_iter().for_each(|held| self.answer(held));
        self.release();
    }

    /// Lets go of content whose streams have ended.
    pub fn forget_ended(&mut self) {
        let speaks = &self.speaks;
        self.contents.0.retain(|(stream, _)| speaks.is_open(*stream));
        self.requests.tell_whole(|stream| speaks.is_open(stream));
    }

    /// A request is whole: answers it, or holds the answer back.
    fn begin(&mut self, stream: u32, request: Request) {
        if control::is_question(&request) {
            return self.answer_question(stream, request);
        }
        let mut turn = self.worker.turn();
        let faults = self.worker.behaviour().stream_faults;
        let fault = StreamFault::draw(&faults, &mut turn.draw);
        if fault == Some(StreamFault::Refused) {
            self.worker.counts().streams_refused.add(1);
            self.speaks.refuse(stream);
            return self.requests.spare.push(request);
        }
        self.requests.follow(stream, request.nonce);
        turn.misdirected = self.is_foreign(&request) && fault == Some(StreamFault::Misdirected);
        turn.cut = matches!(fault, Some(StreamFault::Stalled | StreamFault::WrongLength));
        if turn.draw.chance(faults.early_hints) {
            self.worker.counts().early_hints.add(1);
            let mut hints = FieldList::default();
            EARLY_HINTS.iter().for_each(|(name, value)| hints.push(name, value, Indexing::Insert));
            self.speaks.interim(stream, &hints);
        }
        let under_way = self.worker.begin(|| self.key(&request));
        let delay = haterm::delay(&self.worker, &request, &mut turn);
        let held = StreamHeld { stream, fault, request, turn, _under_way: under_way };
        if delay.is_zero() {
            return self.answer(held);
        }
        let net = self.worker.net.clone();
        let due = self.due.clone();
        let wake = self.wake.clone();
        let at = net.turn() + delay;
        self.worker.net.spawn(async move {
            net.sleep_until(at).await;
            due.borrow_mut().push(held);
            wake.set();
        });
    }

    /// Returns the key that tells requests for the same thing from others; `None` where no object is asked for.
    fn key(&self, request: &Request) -> Option<u64> {
        if self.worker.behaviour().haterm { None } else { native::key(&self.worker.paths, request) }
    }

    /// True if a request is for another authority than the connection's first was.
    fn is_foreign(&mut self, request: &Request) -> bool {
        if self.worker.behaviour().stream_faults.misdirected == 0.0 {
            return false;
        }
        *self.own.get_or_insert_with(|| request.authority.clone()) != request.authority
    }

    fn answer(&mut self, held: StreamHeld) {
        let StreamHeld { stream, fault, request, mut turn, .. } = held;
        if !self.speaks.is_open(stream) {
            // The client has given it up meanwhile.
            return self.requests.spare.push(request);
        }
        let worker = self.worker.clone();
        turn.now_us = worker.net.unix_micros();
        self.fields.clear();
        let scratch = &mut self.scratch;
        let fields = &mut self.fields;
        let answer = match worker.behaviour().haterm {
            true => haterm::compose(&worker, &request, &mut turn, Carrier::Stream, scratch, fields),
            false => native::compose(&worker, &request, &mut turn, true, scratch, fields),
        };
        answer.account(worker.counts(), self.fields.content.map_or(0, <[u8]>::len));
        S::count(worker.counts());
        self.show(&turn, &request);
        let what = match (&answer.body, self.fields.content) {
            (Some(body), _) => Some((body.to - body.from, self.object(body))),
            (None, Some(text)) => Some((text.len() as u64, StreamPart::Text(text))),
            (None, None) => None,
        };
        self.requests.answered(stream, what.as_ref().map_or(0, |(length, _)| *length));
        let cut = answer.body.is_some_and(|body| body.cut);
        let after = match fault {
            Some(StreamFault::WrongLength) => After::End,
            _ if cut => After::Reset(S::BROKEN),
            _ => After::End,
        };
        // What is stalled has one byte more to send than it ever does.
        let (what, stalls) = match (what, fault) {
            (Some((length, what)), Some(StreamFault::Stalled)) if cut => {
                (Some((length + 1, what)), Some(length))
            }
            (what, _) => (what, None),
        };
        self.respond(stream, what, after);
        stalls.into_iter().for_each(|length| self.speaks.release(stream, length));
        if let Some(body) = &answer.body {
            worker.counts().body_bytes.add(body.to - body.from);
            let speed = worker.behaviour().bytes_per_second.filter(|_| stalls.is_none());
            self.slow.extend(speed.map(|speed| {
                self.speaks.release(stream, 0);
                (stream, body.to - body.from, Speed::new(worker.net.now(), speed))
            }));
        }
        self.requests.spare.push(request);
        self.count(fault);
    }

    /// Says goodbye when the connection has had its requests.
    fn count(&mut self, fault: Option<StreamFault>) {
        self.answered = self.answered.saturating_add(1);
        let budget = self.worker.behaviour().requests_per_connection;
        let text: &[u8] = match fault {
            Some(StreamFault::GoAway) => b"the plan asked for this GOAWAY",
            _ if budget.is_some_and(|most| self.answered >= most) => b"",
            _ => return,
        };
        if !self.leaving {
            self.leaving = true;
            self.worker.counts().goaways.add(1);
            self.speaks.go_away(text);
        }
    }

    fn object(&self, body: &AnswerBody) -> StreamPart {
        let overlay = body.overlay(&self.scratch.overlay).to_vec();
        StreamPart::Object { content: body.content, from: body.from, overlay }
    }

    fn respond(&mut self, stream: u32, what: Option<(u64, StreamPart)>, after: After) {
        let content = what.as_ref().map(|(length, _)| (*length, after));
        self.speaks.respond(stream, &self.fields.list, content);
        if let Some((_, what)) = what {
            self.contents.0.push((stream, what));
        }
    }

    fn answer_question(&mut self, stream: u32, request: Request) {
        let (status, media_type, body) = control::reply(&self.worker.shared, &request);
        self.fields.clear();
        self.fields.list.push(":status", itoa::Buffer::new().format(status).as_bytes(), Indexing::Insert);
        self.fields.list.push("content-type", media_type.as_bytes(), Indexing::Literal);
        self.fields.list.push("cache-control", b"no-store", Indexing::Insert);
        self.fields.list.push(
            "content-length",
            itoa::Buffer::new().format(body.len()).as_bytes(),
            Indexing::Literal,
        );
        let what = request.wants_content().then_some((body.len() as u64, StreamPart::Bytes(body)));
        self.respond(stream, what, After::End);
        self.requests.spare.push(request);
    }

    /// Content of answers that have a speed goes on as time passes.
    fn release(&mut self) {
        let speaks = &mut self.speaks;
        let now = self.worker.net.now();
        self.slow.retain(|(stream, length, speed)| {
            let due = speed.due(now);
            speaks.release(*stream, due);
            // Then only windows hold it back.
            speaks.is_open(*stream) && due < *length
        });
        if self.slow.is_empty() || self.slicing.replace(true) {
            return;
        }
        let net = self.worker.net.clone();
        let wake = self.wake.clone();
        let slicing = self.slicing.clone();
        self.worker.net.spawn(async move {
            net.sleep_until(now + SLICE).await;
            slicing.set(false);
            wake.set();
        });
    }

    /// Tells whoever wants to see heads, and remembers them.
    fn show(&self, turn: &Turn, request: &Request) {
        let worker = &self.worker;
        if worker.behaviour().remember == 0 && worker.events.is_none() {
            return;
        }
        let mut response = worker.net.buffer();
        self.fields.list.show(S::VERSION, &mut response);
        worker.remember(turn, request, &response);
        if let Some(events) = &worker.events {
            let _ = events
                .try_send(Event::Head { title: HeadTitle::RequestFromProxy, text: request.raw.clone() });
            let _ =
                events.try_send(Event::Head { title: HeadTitle::ResponseToProxy, text: response.to_vec() });
        }
    }
}
