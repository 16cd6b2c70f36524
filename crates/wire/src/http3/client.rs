//! The client's end of a connection.
//!
//! Start at [`Client::request`] and [`Client::read`].

use super::control::{Core, Http3Counts};
use super::error::{self, ConnectionError, Lost, code_of};
use super::frame::{self, FrameReader, Http3FrameKind, Http3Piece, Http3Taken, Payload};
use super::limits::Limits;
use super::number::{id, key, number};
use super::qpack;
use super::quic::{
    Dialled, EcnCounts, Happened, Opened, QlogWriter, Quic, QuicRead, Received, Stats, Transmit,
};
use super::upload::{Pause, UNWANTED, Upload};
use crate::http2::memo::BlockMemo;
use crate::http2::message::{Fields, Section};
use crate::http2::streams::Streams;
use crate::http2::{Blocked, BodySource, ClientSink, Code, Http2End, Indexing};
use crate::tls;
use breach::{Breach, Http3, Message, Qpack};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

/// Streams that are opened ahead, so that it is known how many requests there is room for.
const AHEAD: usize = 128;
/// Interim answers before a final one.
const INTERIM_LIMIT: u8 = 16;
/// Bytes that an answer that is held may give up at once.
const HELD_PIECE: u64 = 16 << 10;

/// The HEADERS frame of requests that are alike: encoded once, copied from then on. With the static table alone it means the
/// same on every connection.
#[derive(Debug, Default)]
pub struct Template {
    frame: Vec<u8>,
    known: bool,
    /// Bytes of the fields, names and values.
    bytes: u64,
    /// The method is HEAD.
    head: bool,
}

impl Template {
    /// Forgets the frame, for a list of fields that is another one.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Bytes of the frame.
    pub fn len(&self) -> usize {
        self.frame.len()
    }

    /// True if there is no frame yet.
    pub fn is_empty(&self) -> bool {
        !self.known
    }

    fn write<'f>(
        &mut self,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
        block: &mut Vec<u8>,
    ) {
        if self.known {
            return;
        }
        (self.head, self.bytes) = (false, 0);
        block.clear();
        qpack::begin(block);
        fields.for_each(|(name, value, indexing)| {
            self.bytes += (name.len() + value.len()) as u64;
            self.head |= name == b":method" && value == b"HEAD";
            qpack::encode(name, value, indexing, block);
        });
        self.frame.clear();
        frame::head(0x1, block.len() as u64, &mut self.frame);
        self.frame.extend_from_slice(block);
        self.known = true;
    }
}

/// The client's end of a connection, with the endpoint of QUIC below it.
pub struct Client {
    pub(super) quic: Dialled,
    core: Core,
    limits: Limits,
    /// Requests under way, by twice the number of their stream and one.
    streams: Streams<Http3Stream>,
    /// Streams that are open, and carry nothing yet.
    ahead: VecDeque<u64>,
    /// Streams that may send.
    sending: VecDeque<u32>,
    /// True if what is under way was sent before the handshake was complete.
    early: bool,
    connected: bool,
    opened: Option<Opened>,
    lost: Option<Lost>,
    memo: BlockMemo,
    /// Memory for blocks, for names and values, and for content.
    block: Vec<u8>,
    text: Vec<u8>,
    scratch: Vec<u8>,
    blocked: Blocked,
}

/// A request under way.
#[derive(Debug)]
struct Http3Stream {
    request: u64,
    reader: FrameReader,
    upload: Upload,
    content_length: Option<u64>,
    received: u64,
    /// Of the final head; 0 before it.
    status: u16,
    interims: u8,
    /// The method was HEAD: an answer has no content.
    head: bool,
    /// Trailers came.
    trailers: bool,
    /// Bytes of the answer that may still be read; `None`: all.
    allowance: Option<u64>,
}

impl Http3Stream {
    /// True if the answer may have content at all (RFC 9110 section 6.4.1).
    fn may_have_content(&self) -> bool {
        !self.head && !matches!(self.status, 204 | 304)
    }

    fn is_as_long_as_said(&self) -> bool {
        !self.may_have_content() || self.content_length.is_none_or(|length| length == self.received)
    }
}

impl Client {
    /// A connection to `to`, whose handshake begins with the first [`transmit`](Self::transmit). `seed`: of identifiers, and of what
    /// else QUIC draws. `qlog`: its events are written there.
    ///
    /// # Errors
    /// The host is no name, or TLS lacks what QUIC needs (TLS 1.3 with AES-128-GCM).
    pub fn new(
        tls: &tls::TlsClient,
        host: &str,
        to: SocketAddr,
        limits: Limits,
        seed: u64,
        now: Instant,
        qlog: Option<QlogWriter>,
    ) -> Result<Client, tls::SettingsError> {
        let quic = Dialled::new(tls, host, to, &limits, seed, now, qlog)?;
        let early = quic.may_be_early();
        let core = Core::of_client();
        let mut client = Client {
            quic,
            core,
            limits,
            streams: Streams::new(1),
            ahead: VecDeque::new(),
            sending: VecDeque::new(),
            early,
            connected: false,
            opened: None,
            lost: None,
            memo: BlockMemo::default(),
            block: Vec::new(),
            text: Vec::new(),
            scratch: Vec::new(),
            blocked: Blocked::default(),
        };
        if early {
            client.open();
        }
        Ok(client)
    }

    /// Requests that may be begun now. 0 for ever once the server said GOAWAY, or the connection is over.
    pub fn room(&self) -> usize {
        match self.is_leaving() {
            true => 0,
            false => self.ahead.len(),
        }
    }

    /// True if no more requests can be begun on this connection, ever.
    pub fn is_leaving(&self) -> bool {
        self.core.goaway.is_some() || self.lost.is_some()
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.streams.len()
    }

    /// True if the server's SETTINGS came.
    pub fn is_settled(&self) -> bool {
        self.core.settled
    }

    /// True if the handshake is complete.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// The handshake, once, when it is complete.
    pub fn take_opened(&mut self) -> Option<Opened> {
        self.opened.take()
    }

    /// The server's certificate, once the handshake is complete.
    pub fn peer(&self) -> Option<tls::PeerCertificate> {
        self.quic.peer()
    }

    /// How the connection was lost, if it was.
    pub fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    /// Returns the kind of the TLS failure at this end, of [`Lost::Refused`] with this alert.
    pub fn tls_failure(&self, alert: u8) -> tls::ErrorKind {
        self.quic.tls_failure(alert)
    }

    /// True if the server has said GOAWAY.
    pub fn goaway(&self) -> bool {
        self.core.goaway.is_some()
    }

    /// Frames and bytes since this was asked last.
    pub fn take_counts(&mut self) -> Http3Counts {
        std::mem::take(&mut self.core.counts)
    }

    /// Figures of QUIC.
    pub fn stats(&self) -> Stats {
        self.quic.quic.stats()
    }

    /// Takes the ECN counts of the path since this was asked last.
    pub fn take_ecn(&mut self) -> EcnCounts {
        self.quic.quic.take_ecn()
    }

    /// Returns the windows that kept content from being sent when [`Self::send`] ran last.
    pub fn blocked(&self) -> Blocked {
        self.blocked
    }

    /// Begins a request, for which there must be [`room`](Self::room); content of `body` bytes is sent by [`Self::send`]. Returns the
    /// number of its stream. The fields are read only when `template` does not hold them yet; pseudo-fields come first, and names
    /// are in lower case.
    pub fn request<'f>(
        &mut self,
        request: u64,
        template: &mut Template,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
        body: Option<u64>,
    ) -> u32 {
        template.write(fields, &mut self.block);
        self.core.counts.sent(Http3FrameKind::Headers);
        self.core.counts.sent_field_bytes += template.bytes;
        self.core.counts.sent_block_bytes += template.frame.len() as u64;
        let stream = self.ahead.pop_front().unwrap_or_default();
        let number = number(stream);
        let mut upload = Upload::default();
        if body.is_some() {
            self.core.counts.sent(Http3FrameKind::Data);
        }
        let content = body.map(|length| (length, crate::http2::After::End));
        let pause = upload.head(&mut self.quic.quic, stream, &template.frame, content);
        upload.queued = pause == Pause::Turn;
        if upload.queued {
            self.sending.push_back(number);
        }
        let state = Http3Stream {
            request,
            reader: FrameReader::default(),
            upload,
            content_length: None,
            received: 0,
            status: 0,
            interims: 0,
            head: template.head,
            trailers: false,
            allowance: None,
        };
        self.streams.insert(key(number), state);
        number
    }

    /// Hands content that waits to QUIC, as windows allow. Returns whether more could be handed over at once.
    pub fn send(&mut self, source: &mut impl BodySource) -> bool {
        self.blocked = Blocked::default();
        for _ in 0..self.sending.len() {
            let Some(number) = self.sending.pop_front() else { break };
            let Some(stream) = self.streams.get_mut(key(number)) else { continue };
            stream.upload.queued = false;
            let pause =
                stream.upload.pump(&mut self.quic.quic, id(number), number, source, &mut self.scratch);
            match pause {
                Pause::Turn => {
                    stream.upload.queued = true;
                    self.sending.push_back(number);
                }
                Pause::Blocked => self.blocked.by_stream = true,
                Pause::Done | Pause::Held | Pause::Stopped => {}
                Pause::Resets(code) => self.quic.quic.reset(id(number), code),
            }
        }
        !self.sending.is_empty()
    }

    /// True if content waits to be sent.
    pub fn has_content(&self) -> bool {
        !self.sending.is_empty()
    }

    /// Gives a request up; the sink hears no more of it. Nothing happens where it has ended.
    pub fn cancel(&mut self, stream: u32, code: Code) {
        if let Some(state) = self.streams.remove(key(stream)) {
            give_up(&mut self.quic.quic, &mut self.core, id(stream), &state, code);
        }
    }

    /// Reads no more of a stream's answer than a piece, until [`Self::grant`]: what comes then fills QUIC's window.
    pub fn hold(&mut self, stream: u32) {
        if let Some(state) = self.streams.get_mut(key(stream)) {
            state.allowance = Some(HELD_PIECE);
        }
    }

    /// Reads another piece of an answer that is held.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn grant(&mut self, stream: u32, sink: &mut impl ClientSink) -> Result<(), ConnectionError> {
        match self.streams.get_mut(key(stream)) {
            Some(state) if state.allowance.is_some() => {
                state.allowance = Some(HELD_PIECE);
                self.read_stream(id(stream), sink)
            }
            _ => Ok(()),
        }
    }

    /// True if this side may go on at another address: the handshake is confirmed (RFC 9000 section 9).
    pub fn may_move(&self) -> bool {
        self.quic.quic.is_confirmed()
    }

    /// This side goes on at another address: the server is told by what is sent next.
    pub fn moved(&mut self) {
        self.quic.quic.connection.local_address_changed();
    }

    /// Takes datagrams that came. Answers go into `sink`.
    ///
    /// # Errors
    /// The server broke the rules of HTTP/3: the connection is closed with the code, and of no more use but to
    /// [`transmit`](Self::transmit) that.
    pub fn read(
        &mut self,
        now: Instant,
        came: Received<'_>,
        sink: &mut impl ClientSink,
    ) -> Result<(), ConnectionError> {
        self.quic.read(now, came);
        self.go_on(now, sink)
    }

    /// When [`Self::tick`] is due, if nothing comes before.
    pub fn deadline(&mut self) -> Option<Instant> {
        self.quic.quic.deadline()
    }

    /// Time has passed: what is due is done.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn tick(&mut self, now: Instant, sink: &mut impl ClientSink) -> Result<(), ConnectionError> {
        self.quic.quic.tick(now);
        self.go_on(now, sink)
    }

    /// Appends datagrams to be sent, at most so many; `None`: there is nothing to be sent now.
    pub fn transmit(&mut self, now: Instant, most: usize, out: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = self.quic.quic.transmit(now, most, out);
        self.quic.settle();
        transmit
    }

    /// Closes the connection.
    pub fn close(&mut self, now: Instant, code: Code) {
        self.quic.quic.close(now, code, b"");
        self.lost.get_or_insert(Lost::Here);
    }

    fn go_on(&mut self, now: Instant, sink: &mut impl ClientSink) -> Result<(), ConnectionError> {
        let result = self.happen(sink);
        self.quic.settle();
        result.inspect_err(|error| {
            self.quic.quic.close(now, error.code(), error.breach.text().as_bytes());
            sink.broke(None, error.breach, &self.core.sample);
            self.lost.get_or_insert(Lost::Breach(error.breach));
        })
    }

    fn happen(&mut self, sink: &mut impl ClientSink) -> Result<(), ConnectionError> {
        self.quic.settle();
        while let Some(happened) = self.quic.quic.poll() {
            match happened {
                Happened::Connected => self.connected(sink),
                Happened::Lost(lost) => self.lost = Some(lost),
                Happened::OpenedOneWay => {
                    self.core.accept(&mut self.quic.quic)?;
                    self.leave(sink);
                }
                Happened::OpenedBothWays => return Err(Http3::ServerStream.into()),
                Happened::Readable(stream) if stream % 4 == 3 => {
                    self.core.read(&mut self.quic.quic, stream)?;
                    self.leave(sink);
                }
                Happened::Readable(stream) => self.read_stream(stream, sink)?,
                Happened::Writable(stream) if stream % 4 == 2 => self.core.flush(&mut self.quic.quic),
                Happened::Writable(stream) => self.may_send(number(stream)),
                Happened::Stopped(stream, _) => {
                    if let Some(state) = self.streams.get_mut(key(number(stream))) {
                        // What is left of the request is not wanted; the answer may come all the same (RFC 9114 section 4.1.1).
                        state.upload.done = true;
                        self.quic.quic.reset(stream, error::NO_ERROR);
                    }
                }
                Happened::Room => self.open_ahead(),
            }
        }
        Ok(())
    }

    fn connected(&mut self, sink: &mut impl ClientSink) {
        self.connected = true;
        let opened = self.quic.opened(self.early);
        self.opened = Some(opened);
        if opened.early == Some(false) {
            // Nothing of what was sent early has been processed (RFC 9001 section 4.9.3).
            for key in self.streams.ids(|_, _| true) {
                if let Some(stream) = self.streams.remove(key) {
                    sink.ended(stream.request, Http2End::Unprocessed);
                }
            }
            self.sending.clear();
            self.ahead.clear();
            self.core.begin_again();
        }
        self.open();
    }

    /// Opens what can be opened: the control stream first.
    fn open(&mut self) {
        self.core.open(&mut self.quic.quic, self.limits.field_section);
        self.open_ahead();
    }

    fn open_ahead(&mut self) {
        while self.ahead.len() < AHEAD
            && let Some(stream) = self.quic.quic.open(true)
        {
            self.ahead.push_back(stream);
        }
    }

    fn may_send(&mut self, number: u32) {
        if let Some(stream) = self.streams.get_mut(key(number))
            && !stream.upload.done
            && !std::mem::replace(&mut stream.upload.queued, true)
        {
            self.sending.push_back(number);
        }
    }

    /// Requests that the server said it does not process are over.
    fn leave(&mut self, sink: &mut impl ClientSink) {
        let Some(first) = self.core.goaway else { return };
        for key in self.streams.ids(|key, stream| id(key / 2) >= first && stream.status == 0) {
            if let Some(stream) = self.streams.remove(key) {
                give_up(&mut self.quic.quic, &mut self.core, id(key / 2), &stream, UNWANTED);
                sink.ended(stream.request, Http2End::Unprocessed);
            }
        }
    }

    /// Reads what came of an answer.
    fn read_stream(&mut self, stream: u64, sink: &mut impl ClientSink) -> Result<(), ConnectionError> {
        let key = key(number(stream));
        let Some(mut state) = self.streams.remove(key) else { return Ok(()) };
        let Client { quic, core, memo, limits, text, .. } = self;
        let mut answer = Http3Answer { core, memo, text, limit: limits.field_section as usize, sink };
        let mut end = None;
        let read = loop {
            let most = state.allowance.unwrap_or(u64::MAX);
            if most == 0 {
                break QuicRead::Enough;
            }
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let read = quic.quic.read(stream, most, |bytes| {
                if let Some(allowance) = &mut state.allowance {
                    *allowance = allowance.saturating_sub(bytes.len() as u64);
                }
                end = answer.take(&mut state, bytes)?;
                Ok(end.is_none() && state.allowance.is_none())
            })?;
            if end.is_some() || read != QuicRead::Enough {
                break read;
            }
        };
        let end = match (end, read) {
            (Some(end), _) => end,
            (None, QuicRead::Blocked | QuicRead::Enough | QuicRead::Gone) => {
                self.streams.insert(key, state);
                return Ok(());
            }
            (None, QuicRead::Ended) => answer.ended(&state)?,
            (None, QuicRead::Reset(code)) => {
                answer.core.counts.reset_received(code);
                if code == error::REQUEST_REJECTED { Http2End::Unprocessed } else { Http2End::Reset(code) }
            }
        };
        match end {
            Http2End::Broken(breach) => {
                give_up(&mut quic.quic, core, stream, &state, code_of(breach));
                sink.broke(Some(state.request), breach, &core.sample);
            }
            _ if !state.upload.done => give_up(&mut quic.quic, core, stream, &state, UNWANTED),
            _ => {}
        }
        sink.ended(state.request, end);
        self.open_ahead();
        Ok(())
    }
}

/// Ends both directions of a stream as far as they are open.
fn give_up(quic: &mut Quic, core: &mut Core, stream: u64, state: &Http3Stream, code: Code) {
    if !state.upload.done {
        quic.reset(stream, code);
    }
    quic.stop(stream, code);
    core.counts.reset_sent(code);
}

/// State needed to read an answer.
struct Http3Answer<'c, S> {
    core: &'c mut Core,
    memo: &'c mut BlockMemo,
    text: &'c mut Vec<u8>,
    limit: usize,
    sink: &'c mut S,
}

impl<S: ClientSink> Http3Answer<'_, S> {
    /// Takes bytes of an answer; how it has ended, if it has.
    fn take(
        &mut self,
        stream: &mut Http3Stream,
        mut bytes: &[u8],
    ) -> Result<Option<Http2End>, ConnectionError> {
        loop {
            let before = bytes;
            let taken = match self.piece(stream, &mut bytes) {
                Ok(None) => continue,
                Ok(Some(Http3Taken::All)) => return Ok(None),
                Ok(Some(Http3Taken::Broken(wrong))) => Ok(Some(Http2End::Broken(wrong.into()))),
                Err(breach) => Err(breach.into()),
            };
            self.core.show(before);
            return taken;
        }
    }

    /// Takes the next piece of `bytes`; `None`: there may be more.
    fn piece(&mut self, stream: &mut Http3Stream, bytes: &mut &[u8]) -> Result<Option<Http3Taken>, Breach> {
        let wrong = match stream.reader.next(bytes, self.limit.max(1024))? {
            None => return Ok(Some(Http3Taken::All)),
            Some(Http3Piece::Begins(kind)) => {
                self.begins(stream, kind)?;
                None
            }
            Some(Http3Piece::Data(data)) => self.data(stream, data),
            Some(Http3Piece::TooLong) => Some(Message::FieldsLimit),
            Some(Http3Piece::Whole(_, Payload::Here(block))) => self.block(stream, block)?,
            Some(Http3Piece::Whole(_, Payload::Kept)) => {
                // Memory that a block is kept in is lent while it is read.
                let block = std::mem::take(&mut stream.reader.kept);
                let wrong = self.block(stream, &block)?;
                stream.reader.kept = block;
                wrong
            }
        };
        Ok(wrong.map(Http3Taken::Broken))
    }

    /// A frame begins: whether it may stand there (RFC 9114 section 4.1).
    fn begins(&mut self, stream: &Http3Stream, kind: Http3FrameKind) -> Result<(), Http3> {
        self.core.counts.received(kind);
        match kind {
            Http3FrameKind::Data | Http3FrameKind::Headers if stream.trailers => Err(Http3::AfterTrailers),
            Http3FrameKind::Data if stream.status == 0 => Err(Http3::DataFirst),
            Http3FrameKind::Data | Http3FrameKind::Headers | Http3FrameKind::Other => Ok(()),
            Http3FrameKind::PushPromise => Err(Http3::Push),
            Http3FrameKind::CancelPush
            | Http3FrameKind::Settings
            | Http3FrameKind::GoAway
            | Http3FrameKind::MaxPushId => Err(Http3::ControlFrame),
        }
    }

    fn data(&mut self, stream: &mut Http3Stream, data: &[u8]) -> Option<Message> {
        self.core.counts.data_bytes += data.len() as u64;
        stream.received += data.len() as u64;
        let may = if stream.may_have_content() { stream.content_length.unwrap_or(u64::MAX) } else { 0 };
        if stream.received > may {
            return Some(if stream.may_have_content() { Message::TooMuch } else { Message::NoContent });
        }
        self.sink.body(stream.request, data);
        None
    }

    fn block(&mut self, stream: &mut Http3Stream, block: &[u8]) -> Result<Option<Message>, Qpack> {
        self.core.counts.blocks += 1;
        self.core.counts.block_bytes += block.len() as u64;
        if stream.status == 0 { self.head(stream, block) } else { self.trailers(stream, block) }
    }

    fn head(&mut self, stream: &mut Http3Stream, block: &[u8]) -> Result<Option<Message>, Qpack> {
        let request = stream.request;
        let (status, content_length) = match self.memo.find(block, 0) {
            Some(known) => {
                self.core.counts.known_blocks += 1;
                self.sink.fields(request, &self.memo.fields);
                known
            }
            None => {
                self.memo.begin(block);
                let mut fields = Fields::new(false, Section::Head, |name, value| {
                    self.memo.learn(name, value);
                    if name[0] != b':' {
                        self.sink.field(request, name, value);
                    }
                });
                let fits = qpack::decode(block, self.limit, self.text, &mut fields)?;
                let wrong = fields.judge().or((!fits).then_some(Message::FieldsLimit));
                let found = (fields.status, fields.content_length);
                if wrong.is_some() {
                    return Ok(wrong);
                }
                if found.0 >= 200 {
                    self.memo.keep(0, found.0, found.1);
                }
                found
            }
        };
        self.core.counts.field_bytes += self.memo.bytes;
        if status >= 200 {
            (stream.status, stream.content_length) = (status, content_length);
            self.sink.head(request, status, content_length, block.len());
            return Ok(None);
        }
        stream.interims += 1;
        self.sink.interim(request, status);
        Ok((stream.interims > INTERIM_LIMIT).then_some(Message::InterimLimit))
    }

    fn trailers(&mut self, stream: &mut Http3Stream, block: &[u8]) -> Result<Option<Message>, Qpack> {
        stream.trailers = true;
        let request = stream.request;
        let mut bytes = 0;
        let mut fields = Fields::new(false, Section::Trailers, |name, value| {
            bytes += name.len() + value.len();
            self.sink.trailer(request, name, value);
        });
        let fits = qpack::decode(block, self.limit, self.text, &mut fields)?;
        let wrong = fields.judge().or((!fits).then_some(Message::FieldsLimit));
        self.core.counts.field_bytes += bytes as u64;
        Ok(wrong)
    }

    /// The server has ended the stream: whether the answer is whole.
    fn ended(&mut self, stream: &Http3Stream) -> Result<Http2End, ConnectionError> {
        if stream.reader.is_within_frame() {
            return Err(Http3::FrameCut.into());
        }
        Ok(match stream.status {
            0 => Http2End::Broken(Http3::NoAnswer.into()),
            _ if !stream.is_as_long_as_said() => Http2End::Broken(Message::TooLittle.into()),
            _ => Http2End::Whole,
        })
    }
}
