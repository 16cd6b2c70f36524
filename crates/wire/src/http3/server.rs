//! The server's end: an endpoint that takes connections, and a state machine for each of them.
//!
//! Start at [`Listener::read`], then [`Server::take`] and [`Server::respond`].

use super::control::{Core, Http3Counts};
use super::error::{self, ConnectionError, Lost, code_of};
use super::frame::{self, FrameReader, Http3FrameKind, Http3Piece, Http3Taken, Payload};
use super::limits::Limits;
use super::number::{id, key, number};
use super::qpack;
use super::quic::{Accepting, EcnCounts, Happened, Opened, Quic, QuicRead, Routed, Stats, Transmit};
use super::upload::{Pause, Upload};
use crate::http2::message::{Fields, Section};
use crate::http2::streams::Streams;
use crate::http2::{After, Blocked, BodySource, Code, FieldList, ServerSink};
use crate::tls;
use breach::{Breach, Http3, Message, Qpack};
use bytes::BytesMut;
use quinn_proto::{ConnectionEvent, ConnectionHandle};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time that what was sent before a reset has to come in, beside three round trips.
const RESET_AFTER: Duration = Duration::from_millis(5);

/// Which connection of a listener: numbers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(ConnectionHandle);

/// A datagram that belongs to a connection, and its ECN field.
pub struct Input(Box<ConnectionEvent>, u8);

/// A datagram that came to a server.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// The address that it came from.
    pub from: SocketAddr,
    /// Its ECN field.
    pub ecn: u8,
    /// Its payload.
    pub bytes: &'a [u8],
}

/// Meaning of a datagram to a listener.
pub enum Arrival {
    /// Nothing.
    Nothing,
    /// Bytes were appended that are to be sent at once.
    Answer(Transmit),
    /// A connection begins; its first datagram has been taken.
    New(Key, Box<Server>),
    /// It belongs to a connection.
    For(Key, Input),
}

/// An endpoint that takes connections.
pub struct Listener {
    accepting: Accepting,
    limits: Limits,
}

impl Listener {
    /// An endpoint for connections with these settings. `seed`: of identifiers, and of what else QUIC draws.
    ///
    /// # Errors
    /// TLS lacks what QUIC needs (TLS 1.3 with AES-128-GCM).
    pub fn new(tls: &tls::TlsServer, limits: Limits, seed: u64) -> Result<Listener, tls::SettingsError> {
        Ok(Listener { accepting: Accepting::new(tls, &limits, seed)?, limits })
    }

    /// From now on clients show first that they are where their packets say, by coming again with a token (Retry, RFC 9000 section
    /// 8.1.2), where the settings want that always or the server is `under_load`.
    pub fn require_retry(&mut self, under_load: bool) {
        self.accepting.retry = self.limits.retry || under_load;
    }

    /// Takes one datagram. What is to be sent back at once is appended to `out`.
    pub fn read(&mut self, now: Instant, datagram: Datagram<'_>, out: &mut Vec<u8>) -> Arrival {
        let Datagram { from, ecn, bytes } = datagram;
        match self.accepting.route(now, from, ecn, BytesMut::from(bytes), out) {
            Routed::Nothing => Arrival::Nothing,
            Routed::Answer(transmit) => Arrival::Answer(transmit),
            Routed::For(handle, event) => Arrival::For(Key(handle), Input(event, ecn)),
            Routed::New(incoming) => match self.accepting.accept(*incoming, now, out) {
                Ok(mut quic) => {
                    let key = Key(quic.handle);
                    quic.note_ecn(ecn);
                    let signed = self.accepting.signed();
                    Arrival::New(key, Box::new(Server::new(quic, signed, self.limits.clone())))
                }
                Err(Some(transmit)) => Arrival::Answer(transmit),
                Err(None) => Arrival::Nothing,
            },
        }
    }

    /// Tells a connection and this endpoint what they need to know of each other: after each turn of the connection.
    pub fn settle(&mut self, server: &mut Server) {
        self.accepting.settle(&mut server.quic);
    }
}

/// The server's end of a connection.
pub struct Server {
    pub(super) quic: Quic,
    core: Core,
    limits: Limits,
    /// Requests under way, by twice the number of their stream and one.
    streams: Streams<Http3ServerStream>,
    sending: VecDeque<u32>,
    /// The number after the highest that a client opened.
    next: u32,
    /// Requests from this one on are not taken.
    leaving: Option<u32>,
    connected: bool,
    /// The handshake is complete, which nobody was told of yet.
    news: bool,
    early: bool,
    /// Full handshakes of the listener's connections, and whether this one's was.
    signatures: Arc<tls::Signed>,
    signed: bool,
    lost: Option<Lost>,
    broken: u32,
    /// Streams that are to be reset when what was sent on them has come, and when that will be; `None`: not known yet.
    resets: Vec<(Option<Instant>, u32, Code)>,
    /// Streams whose heads had not come with their first bytes, and when these did.
    heads: Vec<(Instant, u32)>,
    /// Requests whose heads did not come in time, which nobody was told of yet.
    late: u64,
    block: Vec<u8>,
    text: Vec<u8>,
    scratch: Vec<u8>,
    blocked: Blocked,
}

/// A request under way.
#[derive(Debug, Default)]
struct Http3ServerStream {
    reader: FrameReader,
    upload: Upload,
    content_length: Option<u64>,
    received: u64,
    /// The first byte came: a client may open streams long before it uses them.
    begun: bool,
    /// The head came.
    headed: bool,
    /// Trailers came.
    trailers: bool,
    /// All of the request came.
    whole: bool,
    /// The answer has begun.
    answered: bool,
}

impl Server {
    /// Opens no control stream, as no server may.
    #[cfg(test)]
    pub(super) fn say_nothing(&mut self) {
        self.core.say_nothing();
    }

    fn new(quic: Quic, signatures: Arc<tls::Signed>, limits: Limits) -> Server {
        Server {
            quic,
            signed: signatures.take(),
            signatures,
            core: Core::default(),
            limits,
            streams: Streams::new(1),
            sending: VecDeque::new(),
            next: 0,
            leaving: None,
            connected: false,
            news: false,
            early: false,
            lost: None,
            broken: 0,
            resets: Vec::new(),
            heads: Vec::new(),
            late: 0,
            block: Vec::new(),
            text: Vec::new(),
            scratch: Vec::new(),
            blocked: Blocked::default(),
        }
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.streams.len()
    }

    /// The handshake, once, when it is complete.
    pub fn take_opened(&mut self) -> Option<Opened> {
        std::mem::take(&mut self.news)
            .then_some(Opened { resumed: !self.signed, early: self.early.then_some(true) })
    }

    /// True if the handshake is complete.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// How the connection was lost, if it was.
    pub fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    /// Nothing more comes of the connection, and its key may soon be another's.
    pub fn is_drained(&self) -> bool {
        self.quic.is_drained()
    }

    /// Frames and bytes so far.
    pub fn counts(&self) -> &Http3Counts {
        &self.core.counts
    }

    /// Figures of QUIC.
    pub fn stats(&self) -> Stats {
        self.quic.stats()
    }

    /// Takes the ECN counts of the path since this was asked last.
    pub fn take_ecn(&mut self) -> EcnCounts {
        self.quic.take_ecn()
    }

    /// Takes the number of requests since this was asked last whose heads did not come in time, and whose streams were reset.
    pub fn take_late(&mut self) -> u64 {
        std::mem::take(&mut self.late)
    }

    /// Returns the windows that kept content from being sent when [`Self::send`] ran last.
    pub fn blocked(&self) -> Blocked {
        self.blocked
    }

    /// Sends an interim answer.
    pub fn interim(&mut self, stream: u32, fields: &FieldList) {
        if let Some(state) = self.streams.get_mut(key(stream)).filter(|state| !state.answered) {
            encode(fields, &mut self.block, &mut self.core);
            state.upload.interim(&mut self.quic, id(stream), &self.block);
        }
    }

    /// Begins the answer to a request; content of so many bytes is sent by [`Self::send`], and what follows it. `None` ends it with
    /// its head. Nothing happens where the request is gone.
    pub fn respond(&mut self, stream: u32, fields: &FieldList, content: Option<(u64, After)>) {
        let Some(state) = self.streams.get_mut(key(stream)).filter(|state| !state.answered) else { return };
        state.answered = true;
        encode(fields, &mut self.block, &mut self.core);
        if content.as_ref().is_some_and(|(length, _)| *length > 0) {
            self.core.counts.sent(Http3FrameKind::Data);
        }
        match state.upload.head(&mut self.quic, id(stream), &self.block, content) {
            Pause::Turn => {
                state.upload.queued = true;
                self.sending.push_back(stream);
            }
            Pause::Done | Pause::Stopped => self.answered(stream),
            Pause::Blocked | Pause::Held | Pause::Resets(_) => {}
        }
    }

    /// Content of a stream goes no further than `bytes` until more is released.
    pub fn release(&mut self, stream: u32, bytes: u64) {
        if let Some(state) = self.streams.get_mut(key(stream)) {
            state.upload.release(bytes);
            self.may_send(stream);
        }
    }

    /// True if a stream is open.
    pub fn is_open(&self, stream: u32) -> bool {
        self.streams.get(key(stream)).is_some()
    }

    /// Hands content that waits to QUIC, as windows allow. Returns whether more could be handed over at once.
    pub fn send(&mut self, source: &mut impl BodySource) -> bool {
        self.blocked = Blocked::default();
        for _ in 0..self.sending.len() {
            let Some(stream) = self.sending.pop_front() else { break };
            let Some(state) = self.streams.get_mut(key(stream)) else { continue };
            state.upload.queued = false;
            match state.upload.pump(&mut self.quic, id(stream), stream, source, &mut self.scratch) {
                Pause::Turn => {
                    state.upload.queued = true;
                    self.sending.push_back(stream);
                }
                Pause::Blocked => self.blocked.by_stream = true,
                Pause::Done | Pause::Stopped => self.answered(stream),
                Pause::Held => {}
                Pause::Resets(code) => {
                    self.resets.push((None, stream, code));
                    self.answered(stream);
                }
            }
        }
        !self.sending.is_empty()
    }

    /// Ends a stream before its answer. Nothing happens where it has ended.
    pub fn reset(&mut self, stream: u32, code: Code) {
        if let Some(state) = self.streams.remove(key(stream)) {
            self.quic.reset(id(stream), code);
            if !state.whole {
                self.quic.stop(id(stream), code);
            }
            self.core.counts.reset_sent(code);
        }
    }

    /// Says GOAWAY: no more requests are taken than came so far.
    pub fn go_away(&mut self) {
        self.leaving = Some(self.next);
        self.core.go_away(&mut self.quic, id(self.next));
    }

    /// Closes the connection.
    pub fn close(&mut self, now: Instant, code: Code) {
        self.quic.close(now, code, b"");
    }

    /// Takes a datagram of this connection. Requests go into `sink`.
    ///
    /// # Errors
    /// The client broke the rules of HTTP/3: the connection is closed with the code, and of no more use but to
    /// [`transmit`](Self::transmit) that.
    pub fn take(
        &mut self,
        now: Instant,
        input: Input,
        sink: &mut impl ServerSink,
    ) -> Result<(), ConnectionError> {
        self.quic.note_ecn(input.1);
        self.quic.connection.handle_event(*input.0);
        self.signed |= self.signatures.take();
        self.go_on(now, sink)
    }

    /// When [`Self::tick`] is due, if nothing comes before.
    pub fn deadline(&mut self) -> Option<Instant> {
        let resets = self.resets.iter().filter_map(|(due, ..)| *due).min();
        let streams = &mut self.streams;
        self.heads.retain(|(_, stream)| streams.get(key(*stream)).is_some_and(|state| !state.headed));
        let heads = self.heads.iter().filter_map(|(begun, _)| Some(*begun + self.limits.head?)).min();
        self.quic.deadline().into_iter().chain(resets).chain(heads).min()
    }

    /// Time has passed: what is due is done. Also to be called of a connection that begins.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn tick(&mut self, now: Instant, sink: &mut impl ServerSink) -> Result<(), ConnectionError> {
        self.resets.retain(|(due, stream, code)| {
            let later = due.is_none_or(|due| due > now);
            if !later {
                self.quic.reset(id(*stream), *code);
                self.core.counts.reset_sent(*code);
            }
            later
        });
        self.give_up_heads(now, sink);
        self.quic.tick(now);
        self.go_on(now, sink)
    }

    /// Resets the streams whose heads have not come in time.
    fn give_up_heads(&mut self, now: Instant, sink: &mut impl ServerSink) {
        let Some(limit) = self.limits.head else { return };
        let (late, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.heads).into_iter().partition(|(begun, _)| *begun + limit <= now);
        self.heads = rest;
        for (_, stream) in late {
            if self.streams.get(key(stream)).is_some_and(|state| !state.headed) {
                self.reset(stream, error::EXCESSIVE_LOAD);
                sink.reset(stream, error::EXCESSIVE_LOAD);
                self.late += 1;
            }
        }
    }

    /// Takes the time of a head that has begun and not come.
    fn time_head(&mut self, now: Instant, stream: u32) {
        let is_without = self.streams.get(key(stream)).is_some_and(|state| state.begun && !state.headed);
        if self.limits.head.is_some() && is_without && !self.heads.iter().any(|(_, timed)| *timed == stream) {
            self.heads.push((now, stream));
        }
    }

    /// Appends datagrams to be sent, at most so many; `None`: there is nothing to be sent now.
    pub fn transmit(&mut self, now: Instant, most: usize, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.resets.iter().any(|(due, ..)| due.is_none()) {
            // A reset discards what has not come (RFC 9000 section 3.2): it is to follow it.
            let due = now + 3 * self.quic.stats().rtt.unwrap_or_default() + RESET_AFTER;
            for (at, ..) in &mut self.resets {
                at.get_or_insert(due);
            }
        }
        self.quic.transmit(now, most, out)
    }

    fn go_on(&mut self, now: Instant, sink: &mut impl ServerSink) -> Result<(), ConnectionError> {
        self.happen(now, sink).inspect_err(|error| {
            self.quic.close(now, error.code(), error.breach.text().as_bytes());
            sink.broke(None, error.breach, &self.core.sample);
            self.lost.get_or_insert(Lost::Breach(error.breach));
        })
    }

    fn happen(&mut self, now: Instant, sink: &mut impl ServerSink) -> Result<(), ConnectionError> {
        self.core.open(&mut self.quic, self.limits.field_section);
        while let Some(happened) = self.quic.poll() {
            match happened {
                Happened::Connected => {
                    (self.connected, self.news) = (true, true);
                    self.core.open(&mut self.quic, self.limits.field_section);
                }
                Happened::Lost(lost) => self.lost = Some(lost),
                Happened::OpenedOneWay => self.core.accept(&mut self.quic)?,
                Happened::OpenedBothWays => {
                    while let Some(stream) = self.quic.accept(true) {
                        self.begin(stream);
                        self.read_stream(stream, sink)?;
                        self.time_head(now, number(stream));
                    }
                }
                Happened::Readable(stream) if stream % 4 == 2 => self.core.read(&mut self.quic, stream)?,
                Happened::Readable(stream) => {
                    self.read_stream(stream, sink)?;
                    self.time_head(now, number(stream));
                }
                Happened::Writable(stream) if stream % 4 == 3 => self.core.flush(&mut self.quic),
                Happened::Writable(stream) => self.may_send(number(stream)),
                Happened::Stopped(stream, code) => {
                    // The answer is not wanted: the request is over (RFC 9114 section 4.1.1).
                    self.quic.reset(stream, code);
                    self.gone(number(stream), code, sink)?;
                }
                Happened::Room => {}
            }
        }
        Ok(())
    }

    fn begin(&mut self, stream: u64) {
        let number = number(stream);
        self.next = self.next.max(number + 1);
        if self.leaving.is_some_and(|first| number >= first) {
            self.quic.reset(stream, error::REQUEST_REJECTED);
            self.quic.stop(stream, error::REQUEST_REJECTED);
            self.core.counts.reset_sent(error::REQUEST_REJECTED);
            return;
        }
        self.early |= !self.connected;
        self.streams.insert(key(number), Http3ServerStream::default());
    }

    fn may_send(&mut self, stream: u32) {
        if let Some(state) = self.streams.get_mut(key(stream))
            && state.answered
            && !state.upload.done
            && !std::mem::replace(&mut state.upload.queued, true)
        {
            self.sending.push_back(stream);
        }
    }

    /// The answer is all sent: the stream is over; what is left of the request is not wanted (RFC 9114 section 4.1).
    fn answered(&mut self, stream: u32) {
        if let Some(state) = self.streams.remove(key(stream)) {
            self.broken = self.broken.saturating_sub(1);
            if !state.whole {
                self.quic.stop(id(stream), error::NO_ERROR);
            }
        }
    }

    /// The client has given a request up, or has broken it.
    fn gone(&mut self, stream: u32, code: Code, sink: &mut impl ServerSink) -> Result<(), ConnectionError> {
        if self.streams.remove(key(stream)).is_none() {
            return Ok(());
        }
        self.core.counts.reset_received(code);
        sink.reset(stream, code);
        self.broken += 1;
        match self.broken > self.limits.broken_streams {
            true => Err(Http3::ResetFlood.into()),
            false => Ok(()),
        }
    }

    /// Reads what came of a request.
    fn read_stream(&mut self, stream: u64, sink: &mut impl ServerSink) -> Result<(), ConnectionError> {
        let number = number(stream);
        let Some(mut state) = self.streams.remove(key(number)) else { return Ok(()) };
        let Server { quic, core, limits, text, .. } = self;
        let mut request = Http3Request { core, text, limit: limits.field_section as usize, number, sink };
        let mut wrong = None;
        let read = quic.read(stream, usize::MAX, |bytes| {
            state.begun = true;
            wrong = request.take(&mut state, bytes)?;
            Ok(wrong.is_none())
        })?;
        let wrong = match (wrong, read) {
            (Some(wrong), _) => Some(Breach::from(wrong)),
            (None, QuicRead::Ended) => request.ended(&mut state)?,
            (None, QuicRead::Reset(code)) => {
                let was_whole = state.whole;
                self.streams.insert(key(number), state);
                if !was_whole {
                    self.quic.reset(stream, error::REQUEST_CANCELLED);
                    self.gone(number, code, sink)?;
                }
                return Ok(());
            }
            (None, QuicRead::Blocked | QuicRead::Enough | QuicRead::Gone) => None,
        };
        let whole = state.whole;
        self.streams.insert(key(number), state);
        match wrong {
            Some(breach) => {
                let code = code_of(breach);
                sink.broke(Some(number), breach, &self.core.sample);
                self.quic.reset(stream, code);
                self.quic.stop(stream, code);
                self.core.counts.reset_sent(code);
                self.gone(number, code, sink)
            }
            None => {
                if whole && read == QuicRead::Ended {
                    sink.whole(number);
                }
                Ok(())
            }
        }
    }
}

/// Writes a HEADERS frame.
fn encode(fields: &FieldList, out: &mut Vec<u8>, core: &mut Core) {
    let mut block = std::mem::take(out);
    block.clear();
    // Room for the frame's head, whose length follows from the block's.
    qpack::begin(&mut block);
    fields.iter().for_each(|(name, value, indexing)| qpack::encode(name, value, indexing, &mut block));
    core.counts.sent(Http3FrameKind::Headers);
    core.counts.sent_block_bytes += block.len() as u64;
    let mut head = Vec::with_capacity(16);
    frame::head(0x1, block.len() as u64, &mut head);
    block.splice(0..0, head);
    *out = block;
}

/// State needed to read a request.
struct Http3Request<'c, S> {
    core: &'c mut Core,
    text: &'c mut Vec<u8>,
    limit: usize,
    number: u32,
    sink: &'c mut S,
}

impl<S: ServerSink> Http3Request<'_, S> {
    /// Takes bytes of a request; what is wrong with it.
    fn take(
        &mut self,
        stream: &mut Http3ServerStream,
        mut bytes: &[u8],
    ) -> Result<Option<Message>, ConnectionError> {
        loop {
            let before = bytes;
            let taken = match self.piece(stream, &mut bytes) {
                Ok(None) => continue,
                Ok(Some(Http3Taken::All)) => return Ok(None),
                Ok(Some(Http3Taken::Broken(wrong))) => Ok(Some(wrong)),
                Err(breach) => Err(breach.into()),
            };
            self.core.show(before);
            return taken;
        }
    }

    /// Takes the next piece of `bytes`; `None`: there may be more.
    fn piece(
        &mut self,
        stream: &mut Http3ServerStream,
        bytes: &mut &[u8],
    ) -> Result<Option<Http3Taken>, Breach> {
        let wrong = match stream.reader.next(bytes, self.limit.max(1024))? {
            None => return Ok(Some(Http3Taken::All)),
            Some(Http3Piece::Begins(kind)) => {
                self.begins(stream, kind)?;
                None
            }
            Some(Http3Piece::Data(data)) => {
                self.core.counts.data_bytes += data.len() as u64;
                stream.received += data.len() as u64;
                self.sink.body(self.number, data);
                let most = stream.content_length.unwrap_or(u64::MAX);
                (stream.received > most).then_some(Message::TooMuch)
            }
            Some(Http3Piece::TooLong) => Some(Message::FieldsLimit),
            Some(Http3Piece::Whole(_, Payload::Here(block))) => self.block(stream, block)?,
            Some(Http3Piece::Whole(_, Payload::Kept)) => {
                let block = std::mem::take(&mut stream.reader.kept);
                self.block(stream, &block)?
            }
        };
        Ok(wrong.map(Http3Taken::Broken))
    }

    /// A frame begins: whether it may stand there (RFC 9114 section 4.1).
    fn begins(&mut self, stream: &Http3ServerStream, kind: Http3FrameKind) -> Result<(), Http3> {
        self.core.counts.received(kind);
        match kind {
            Http3FrameKind::Data | Http3FrameKind::Headers if stream.trailers => Err(Http3::AfterTrailers),
            Http3FrameKind::Data if !stream.headed => Err(Http3::DataFirst),
            Http3FrameKind::Data | Http3FrameKind::Headers | Http3FrameKind::Other => Ok(()),
            Http3FrameKind::PushPromise => Err(Http3::ClientPushPromise),
            Http3FrameKind::CancelPush
            | Http3FrameKind::Settings
            | Http3FrameKind::GoAway
            | Http3FrameKind::MaxPushId => Err(Http3::ControlFrame),
        }
    }

    fn block(&mut self, stream: &mut Http3ServerStream, block: &[u8]) -> Result<Option<Message>, Qpack> {
        self.core.counts.blocks += 1;
        self.core.counts.block_bytes += block.len() as u64;
        let number = self.number;
        let mut bytes = 0;
        let section = if stream.headed { Section::Trailers } else { Section::Head };
        let mut fields = Fields::new(true, section, |name, value| {
            bytes += name.len() + value.len();
            match section {
                Section::Head => self.sink.field(number, name, value),
                Section::Trailers => self.sink.trailer(number, name, value),
            }
        });
        let fits = qpack::decode(block, self.limit, self.text, &mut fields)?;
        let wrong = fields.judge().or((!fits).then_some(Message::FieldsLimit));
        let content_length = fields.content_length;
        self.core.counts.field_bytes += bytes as u64;
        if wrong.is_some() {
            return Ok(wrong);
        }
        match section {
            Section::Head => {
                (stream.headed, stream.content_length) = (true, content_length);
                self.sink.head(number, block.len(), true);
            }
            Section::Trailers => stream.trailers = true,
        }
        Ok(None)
    }

    /// The client has ended the stream; what is wrong where it is not whole.
    fn ended(&mut self, stream: &mut Http3ServerStream) -> Result<Option<Breach>, ConnectionError> {
        if stream.reader.is_within_frame() {
            return Err(Http3::FrameCut.into());
        }
        if !stream.headed {
            return Ok(Some(Http3::NoHead.into()));
        }
        if stream.content_length.is_some_and(|length| length != stream.received) {
            return Ok(Some(Message::TooLittle.into()));
        }
        stream.whole = true;
        Ok(None)
    }
}
