//! One connection that speaks HTTP/2: many requests at once, each answered as the site has it.
//!
//! What begins with HTTP/2's preface is handed over here by `connection.rs`, whether ALPN has said so or not. Start at
//! [`Http2::run`].

use crate::answer::Body;
use crate::busy::UnderWay;
use crate::control;
use crate::head::Fields;
use crate::native::{self, Scratch};
use crate::request::Request;
use crate::send::Speed;
use crate::worker::{Turn, Worker};
use measure::Event;
use measure::event::HeadTitle;
use plan::StreamFaults;
use plan::content::Content;
use plan::draw::Draw;
use plan::site::Form;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use transport::Stream;
use wire::http2::{After, BodySource, Code, Indexing, Limits, Server, ServerSink, Settings};

/// Requests of a connection at once; one more is refused.
const STREAMS: u32 = 256;
/// Bytes of content that a client may send on a stream, and on the connection, before they are granted anew.
const WINDOW: u32 = 1 << 20;
/// What a 103 says (RFC 8297): nothing that changes an answer.
const EARLY_HINTS: [(&[u8], &[u8]); 2] =
    [(b":status", b"103"), (b"link", b"</w/1/1000>; rel=preload; as=fetch")];
/// Where answers have a speed, content is released this often.
const SLICE: Duration = Duration::from_millis(10);

pub(crate) struct Http2 {
    worker: Rc<Worker>,
    stream: Stream,
    server: Server,
    requests: Requests,
    contents: Contents,
    fields: Fields,
    scratch: Scratch,
    /// Requests whose answers were held back, and are due.
    due: Rc<RefCell<Vec<Held>>>,
    /// Raised when something is due.
    wake: net::Event,
    /// Answers that have a speed, and the lengths of their content, until all of it is released.
    slow: Vec<(u32, u64, Speed)>,
    /// A timer for the next slice runs.
    slicing: Rc<Cell<bool>>,
    answered: u32,
    leaving: bool,
}

/// Requests as they are read.
struct Requests {
    worker: Rc<Worker>,
    /// The one whose head is being read.
    reading: Request,
    /// Those whose content is still coming.
    open: Vec<(u32, Request)>,
    /// Those that are whole.
    whole: Vec<(u32, Request)>,
    /// Memory for the next ones.
    spare: Vec<Request>,
    received: u64,
}

/// A fault on a stream that the plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamFault {
    Refused,
    Stalled,
    WrongLength,
    GoAway,
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
        ];
        shares.into_iter().find(|(share, _)| draw.chance(*share)).map(|(_, fault)| fault)
    }
}

/// An answer that is held back for a while.
struct Held {
    stream: u32,
    fault: Option<StreamFault>,
    request: Request,
    turn: Turn,
    _under_way: Option<UnderWay>,
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
            received: 0,
        }
    }

    fn take_open(&mut self, stream: u32) -> Option<(u32, Request)> {
        let at = self.open.iter().position(|(open, _)| *open == stream)?;
        Some(self.open.swap_remove(at))
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
        self.reading.begin_http2();
        self.whole.retain(|(whole, _)| *whole != stream);
        let request = self.take_open(stream);
        self.spare.extend(request.map(|(_, request)| request));
    }
}

/// What answers still have to say.
#[derive(Default)]
struct Contents(Vec<(u32, What)>);

enum What {
    Object { content: Content, from: u64, overlay: Vec<u8> },
    Text(&'static [u8]),
    Bytes(Vec<u8>),
}

impl BodySource for Contents {
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>) {
        let Some((_, what)) = self.0.iter().rfind(|(open, _)| *open == stream) else { return };
        let (at, end) = (from as usize, from as usize + length);
        match what {
            What::Text(text) => out.extend_from_slice(&text[at..end]),
            What::Bytes(bytes) => out.extend_from_slice(&bytes[at..end]),
            What::Object { content, from: first, overlay } => {
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

impl Http2 {
    pub(crate) fn new(worker: Rc<Worker>, stream: Stream) -> Http2 {
        let settings = Settings {
            max_concurrent_streams: Some(STREAMS),
            initial_window_size: WINDOW,
            max_header_list_size: Some(65_536),
            ..Settings::default()
        };
        let limits = Limits { settings, connection_window: WINDOW, ..Limits::default() };
        Http2 {
            server: Server::new(limits),
            requests: Requests::new(&worker),
            contents: Contents::default(),
            fields: Fields::default(),
            scratch: Scratch::default(),
            due: Rc::default(),
            wake: worker.net.event(),
            slow: Vec::new(),
            slicing: Rc::default(),
            answered: 0,
            leaving: false,
            stream,
            worker,
        }
    }

    /// Serves the connection until either side ends it; gives the stream back to be closed. `first`: the bytes that were read
    /// already.
    pub(crate) async fn run(mut self, first: &[u8]) -> Stream {
        self.worker.counts().http2_connections.add(1);
        let mut out = self.worker.net.buffer();
        self.server.open(&mut out);
        if matches!(self.worker.site().form, Form::Jtest(_)) {
            let text = b"jtest's form is HTTP/1 only";
            self.server.go_away(None, Code::HTTP_1_1_REQUIRED, text, &mut out);
            self.leaving = true;
        }
        let mut ended = self.server.read(first, &mut self.requests, &mut out).is_err();
        while self.turn(out).await && !ended && !(self.leaving && self.server.under_way() == 0) {
            out = self.worker.net.buffer();
            match self.stream.recv_or_woken(&self.wake).await {
                Ok(None) => {}
                Ok(Some(received)) if !received.is_empty() => {
                    ended = self.server.read(&received, &mut self.requests, &mut out).is_err();
                }
                Ok(Some(_)) | Err(_) => return self.stream,
            }
            if ended {
                self.worker.counts().malformed.add(1);
            }
        }
        let _ = self.stream.shutdown_write().await;
        self.stream
    }

    /// Answers what can be answered, and sends what can be sent. `false`: the connection broke.
    async fn turn(&mut self, mut out: net::Buffer) -> bool {
        self.worker.counts().received_bytes.add(std::mem::take(&mut self.requests.received));
        let mut whole = std::mem::take(&mut self.requests.whole);
        whole.drain(..).for_each(|(stream, request)| self.begin(stream, request, &mut out));
        self.requests.whole = whole;
        let due = std::mem::take(&mut *self.due.borrow_mut());
        due.into_iter().for_each(|held| self.answer(held, &mut out));
        self.release();
        loop {
            let more = self.server.send(&mut self.contents, &mut out);
            if !out.is_empty() && self.stream.send(out).await.is_err() {
                self.worker.counts().broken.add(1);
                return false;
            }
            if !more {
                break;
            }
            out = self.worker.net.buffer();
        }
        let server = &self.server;
        self.contents.0.retain(|(stream, _)| server.is_open(*stream));
        true
    }

    /// A request is whole: answers it, or holds the answer back.
    fn begin(&mut self, stream: u32, request: Request, out: &mut Vec<u8>) {
        if control::is_question(&request) {
            return self.answer_question(stream, request, out);
        }
        let mut turn = self.worker.turn();
        let faults = self.worker.behaviour().stream_faults;
        let fault = StreamFault::draw(&faults, &mut turn.draw);
        if fault == Some(StreamFault::Refused) {
            self.worker.counts().streams_refused.add(1);
            self.server.reset(stream, Code::REFUSED_STREAM, out);
            return self.requests.spare.push(request);
        }
        turn.cut = matches!(fault, Some(StreamFault::Stalled | StreamFault::WrongLength));
        if turn.draw.chance(faults.early_hints) {
            self.worker.counts().early_hints.add(1);
            self.server.interim(
                stream,
                EARLY_HINTS.iter().map(|(name, value)| (*name, *value, Indexing::Insert)),
                out,
            );
        }
        let under_way = self.worker.begin(|| native::key(&self.worker.paths, &request));
        let delay = self.worker.delay(&mut turn);
        let held = Held { stream, fault, request, turn, _under_way: under_way };
        if delay.is_zero() {
            return self.answer(held, out);
        }
        let (net, due, wake) = (self.worker.net.clone(), self.due.clone(), self.wake.clone());
        let at = net.turn() + delay;
        self.worker.net.spawn(async move {
            net.sleep_until(at).await;
            due.borrow_mut().push(held);
            wake.set();
        });
    }

    fn answer(&mut self, held: Held, out: &mut Vec<u8>) {
        let Held { stream, fault, request, mut turn, .. } = held;
        if !self.server.is_open(stream) {
            // The client has given it up meanwhile.
            return self.requests.spare.push(request);
        }
        let worker = self.worker.clone();
        turn.now_us = worker.net.unix_micros();
        self.fields.clear();
        let answer = native::compose(&worker, &request, &mut turn, true, &mut self.scratch, &mut self.fields);
        answer.account(worker.counts(), self.fields.content.map_or(0, <[u8]>::len));
        worker.counts().http2_requests.add(1);
        self.show(&turn, &request);
        let what = match (&answer.body, self.fields.content) {
            (Some(body), _) => Some((body.to - body.from, self.object(body))),
            (None, Some(text)) => Some((text.len() as u64, What::Text(text))),
            (None, None) => None,
        };
        let cut = answer.body.is_some_and(|body| body.cut);
        let after = match fault {
            Some(StreamFault::WrongLength) => After::End,
            _ if cut => After::Reset(Code::INTERNAL_ERROR),
            _ => After::End,
        };
        // What is stalled has one byte more to send than it ever does.
        let (what, stalls) = match (what, fault) {
            (Some((length, what)), Some(StreamFault::Stalled)) if cut => {
                (Some((length + 1, what)), Some(length))
            }
            (what, _) => (what, None),
        };
        self.respond(stream, what, after, out);
        stalls.into_iter().for_each(|length| self.server.release(stream, length));
        if let Some(body) = &answer.body {
            worker.counts().body_bytes.add(body.to - body.from);
            let speed = worker.behaviour().bytes_per_second.filter(|_| stalls.is_none());
            self.slow.extend(speed.map(|speed| {
                self.server.release(stream, 0);
                (stream, body.to - body.from, Speed::new(worker.net.now(), speed))
            }));
        }
        self.requests.spare.push(request);
        self.count(fault, out);
    }

    /// Says goodbye when the connection has had its requests.
    fn count(&mut self, fault: Option<StreamFault>, out: &mut Vec<u8>) {
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
            self.server.go_away(None, Code::NO_ERROR, text, out);
        }
    }

    fn object(&self, body: &Body) -> What {
        let overlay = body.overlay(&self.scratch.overlay).to_vec();
        What::Object { content: body.content, from: body.from, overlay }
    }

    fn respond(&mut self, stream: u32, what: Option<(u64, What)>, after: After, out: &mut Vec<u8>) {
        let content = what.as_ref().map(|(length, _)| (*length, after));
        self.server.respond(stream, self.fields.list.iter(), content, out);
        if let Some((_, what)) = what {
            self.contents.0.push((stream, what));
        }
    }

    fn answer_question(&mut self, stream: u32, request: Request, out: &mut Vec<u8>) {
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
        let what = request.wants_content().then_some((body.len() as u64, What::Bytes(body)));
        self.respond(stream, what, After::End, out);
        self.requests.spare.push(request);
    }

    /// Content of answers that have a speed goes on as time passes.
    fn release(&mut self) {
        let (server, now) = (&mut self.server, self.worker.net.now());
        self.slow.retain(|(stream, length, speed)| {
            let due = speed.due(now);
            server.release(*stream, due);
            // Then only windows hold it back.
            server.is_open(*stream) && due < *length
        });
        if self.slow.is_empty() || self.slicing.replace(true) {
            return;
        }
        let (net, wake, slicing) = (self.worker.net.clone(), self.wake.clone(), self.slicing.clone());
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
        self.fields.list.show(&mut response);
        worker.remember(turn, request, &response);
        if let Some(events) = &worker.events {
            let _ = events
                .try_send(Event::Head { title: HeadTitle::RequestFromProxy, text: request.raw.clone() });
            let _ =
                events.try_send(Event::Head { title: HeadTitle::ResponseToProxy, text: response.to_vec() });
        }
    }
}
