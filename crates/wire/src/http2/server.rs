//! The server's end of a connection.
//!
//! Start at [`Server::read`] and [`Server::respond`].

use super::PREFACE;
use super::core::{After, AsHalf, Blocked, BodySource, Core, Half, Http2Counts, Upload, WholeBlock};
use super::error::{Broken, Code, ConnectionError};
use super::frame::{self, END_STREAM, Header, Http2FrameKind};
use super::hpack::{Encoder, Indexing};
use super::message::{Fields, Section};
use super::part::{self, Part};
use super::reader::FrameReader;
use super::settings::{Http2Limits, Http2Settings};
use super::streams::Streams;
use breach::{Breach, Http2, Message};

/// Where the requests of a connection go, each with its stream. Slices live for the call only.
pub trait ServerSink {
    /// A field of a request, pseudo-fields first and all of them in order, before [`head`](Self::head).
    fn field(&mut self, stream: u32, name: &[u8], value: &[u8]);

    /// The head is complete. `bytes`: the length of its field block; `content`: more follows.
    fn head(&mut self, stream: u32, bytes: usize, content: bool);

    /// A part of the content, not empty.
    fn body(&mut self, stream: u32, bytes: &[u8]) {
        let _ = (stream, bytes);
    }

    /// A field of the trailers.
    fn trailer(&mut self, stream: u32, name: &[u8], value: &[u8]) {
        let _ = (stream, name, value);
    }

    /// The request is whole; also told of one without content.
    fn whole(&mut self, stream: u32);

    /// The client broke a rule, by these bytes: for a request, which is [reset](Self::reset) next, or for the connection.
    fn broke(&mut self, stream: Option<u32>, breach: Breach, sample: &[u8]) {
        let _ = (stream, breach, sample);
    }

    /// The request is gone: the client reset it, or it broke the protocol and was reset.
    fn reset(&mut self, stream: u32, code: Code);
}

/// The server's end of a connection.
#[derive(Debug)]
pub struct Server {
    reader: FrameReader,
    core: Core,
    streams: Streams<Http2ServerStream>,
    /// Bytes of the preface that came.
    preface: usize,
    /// Highest stream that a client opened.
    last: u32,
    /// Streams above it are not processed any more.
    leaving: Option<u32>,
    /// The stream that content is coming for; `None` where nobody wants it.
    receiving: Option<u32>,
}

/// A request under way.
#[derive(Debug)]
struct Http2ServerStream {
    half: Half,
    content_length: Option<u64>,
    received: u64,
    /// All of the request came.
    whole: bool,
    /// The answer has begun.
    answered: bool,
}

impl AsHalf for Http2ServerStream {
    fn half(&mut self) -> &mut Half {
        &mut self.half
    }
}

impl Server {
    /// A connection of which nothing came yet. Streams beyond `max_concurrent_streams` of the limits are refused.
    pub fn new(limits: Http2Limits) -> Server {
        Server {
            reader: FrameReader::default(),
            core: Core::new(limits),
            streams: Streams::new(1),
            preface: 0,
            last: 0,
            leaving: None,
            receiving: None,
        }
    }

    /// Appends what a server sends first: SETTINGS, and the connection's window.
    pub fn open(&mut self, out: &mut Vec<u8>) {
        self.core.open(false, out);
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.streams.len()
    }

    /// Returns the settings that the client announced.
    pub fn peer(&self) -> &Http2Settings {
        &self.core.peer
    }

    /// Frames and bytes so far.
    pub fn counts(&self) -> &Http2Counts {
        &self.core.counts
    }

    /// Returns the windows that kept content from being sent when [`Self::send`] ran last.
    pub fn blocked(&self) -> Blocked {
        self.core.blocked
    }

    /// True if a frame, or the preface, has come in part.
    pub fn is_within_frame(&self) -> bool {
        self.reader.is_within_frame() || !matches!(self.preface, 0 | 24)
    }

    /// True if the preface, or a field block, has come in part, or the header of whatever frame.
    pub fn is_within_head(&self) -> bool {
        self.preface < PREFACE.len() || self.core.is_within_block() || self.reader.is_within_head()
    }

    /// Appends an interim answer.
    pub fn interim<'f>(
        &mut self,
        stream: u32,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
        out: &mut Vec<u8>,
    ) {
        if self.streams.get(stream).is_some_and(|stream| !stream.answered) {
            self.core.write_block(stream, false, out, |encoder, out| block(encoder, fields, out));
        }
    }

    /// Begins the answer to a request: appends its head; content of so many bytes is sent by [`Self::send`], and what follows it.
    /// `None` ends it with its head. Nothing happens where the request is gone.
    pub fn respond<'f>(
        &mut self,
        stream: u32,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
        body: Option<(u64, After)>,
        out: &mut Vec<u8>,
    ) {
        let Some(state) = self.streams.get_mut(stream).filter(|state| !state.answered) else { return };
        state.answered = true;
        let ends = body.is_none();
        if let Some((length, after)) = body {
            state.half.upload = Some(Upload::new(length, after));
            self.core.upload(stream);
        }
        self.core.write_block(stream, ends, out, |encoder, out| block(encoder, fields, out));
        if ends {
            self.answered(stream, out);
        }
    }

    /// Content of a stream goes no further than `bytes` until more is released.
    pub fn release(&mut self, stream: u32, bytes: u64) {
        if let Some(upload) = self.streams.get_mut(stream).and_then(|stream| stream.half.upload.as_mut()) {
            upload.released = bytes;
        }
    }

    /// True if a stream is open.
    pub fn is_open(&self, stream: u32) -> bool {
        self.streams.get(stream).is_some()
    }

    /// Appends content that waits, as windows allow. Returns whether more could be appended at once.
    pub fn send(&mut self, source: &mut impl BodySource, out: &mut Vec<u8>) -> bool {
        let mut done = Vec::new();
        let more = self.core.pump(&mut self.streams, source, out, |stream| done.push(stream));
        done.into_iter().for_each(|stream| self.answered(stream, out));
        more
    }

    /// True if content waits to be sent.
    pub fn has_content(&self) -> bool {
        self.core.has_uploads()
    }

    /// Resets a stream. Nothing happens where it has ended.
    pub fn reset(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        if self.streams.remove(stream).is_some() {
            self.core.reset(stream, code, out);
        }
    }

    /// Appends GOAWAY: no more streams are taken than came so far; with `last` above them, those up to it are.
    pub fn go_away(&mut self, last: Option<u32>, code: Code, text: &[u8], out: &mut Vec<u8>) {
        let last = last.unwrap_or(self.last);
        self.leaving = Some(last);
        frame::goaway(last, code, text, out);
        self.core.sent(Http2FrameKind::GoAway);
    }

    /// The answer is all sent: the stream is over; what is left of the request is not wanted (RFC 9113 section 8.1).
    fn answered(&mut self, id: u32, out: &mut Vec<u8>) {
        if let Some(stream) = self.streams.remove(id) {
            self.core.well();
            if !stream.whole && !self.core.was_reset(id) {
                self.core.reset(id, Code::NO_ERROR, out);
            }
        }
    }

    /// Takes all of `input`. Requests go into `sink`; what the protocol wants sent is appended to `out`.
    ///
    /// # Errors
    /// The client broke the protocol; GOAWAY stands in `out`, and the connection is of no more use.
    pub fn read(
        &mut self,
        input: &[u8],
        sink: &mut impl ServerSink,
        out: &mut Vec<u8>,
    ) -> Result<(), ConnectionError> {
        let last = self.last;
        self.pieces(input, sink, out).inspect_err(|error| {
            frame::goaway(last, error.code(), error.breach.text().as_bytes(), out);
        })
    }

    fn pieces(
        &mut self,
        mut input: &[u8],
        sink: &mut impl ServerSink,
        out: &mut Vec<u8>,
    ) -> Result<(), ConnectionError> {
        let expected = &PREFACE[self.preface..];
        let taken = expected.len().min(input.len());
        if input[..taken] != expected[..taken] {
            let breach = Breach::Http2(Http2::Preface);
            sink.broke(None, breach, &input[..input.len().min(PREFACE.len())]);
            return Err(ConnectionError { breach });
        }
        self.preface += taken;
        input = &input[taken..];
        let Server { reader, core, streams, last, leaving, receiving, .. } = self;
        let mut part = Http2Requests { sink, core, streams, last, leaving: *leaving, receiving };
        part::read(reader, &mut part, input, out)
    }
}

fn block<'f>(
    encoder: &mut Encoder,
    fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
    out: &mut Vec<u8>,
) {
    encoder.begin(out);
    fields.for_each(|(name, value, indexing)| encoder.field(name, value, indexing, out));
}

/// All of a server but its reader, whose buffer is lent while a frame is dealt with.
struct Http2Requests<'s, S> {
    sink: &'s mut S,
    core: &'s mut Core,
    streams: &'s mut Streams<Http2ServerStream>,
    last: &'s mut u32,
    leaving: Option<u32>,
    receiving: &'s mut Option<u32>,
}

impl<S: ServerSink> Part for Http2Requests<'_, S> {
    type Stream = Http2ServerStream;

    const FROM_SERVER: bool = false;

    fn state(&mut self) -> (&mut Core, &mut Streams<Http2ServerStream>) {
        (self.core, self.streams)
    }

    fn is_idle(&self, stream: u32) -> bool {
        stream.is_multiple_of(2) || stream > *self.last
    }

    fn data_begins(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), Broken> {
        *self.receiving = None;
        self.core.data_is_of_use(header)?;
        let Some(stream) = self.streams.get_mut(header.stream) else {
            return Ok(self.closed(header.stream)?);
        };
        if stream.whole {
            return Err(Broken::stream(header.stream, Http2::HalfClosed));
        }
        self.core
            .stream_data(&mut stream.half, header, out)
            .map_err(|breach| Broken::stream(header.stream, breach))?;
        *self.receiving = Some(header.stream);
        Ok(())
    }

    #[inline]
    fn data(&mut self, bytes: &[u8]) {
        let Some(id) = *self.receiving else { return };
        let Some(stream) = self.streams.get_mut(id) else { return };
        self.core.counts.data_bytes += bytes.len() as u64;
        stream.received += bytes.len() as u64;
        self.sink.body(id, bytes);
    }

    fn data_ends(&mut self, header: &Header, _out: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(id) = self.receiving.take() else { return Ok(()) };
        let Some(stream) = self.streams.get_mut(id) else { return Ok(()) };
        let ended = header.has(END_STREAM);
        match stream.content_length {
            Some(length) if stream.received > length => return Err(Broken::stream(id, Message::TooMuch)),
            Some(length) if ended && stream.received < length => {
                return Err(Broken::stream(id, Message::TooLittle));
            }
            Some(_) | None => {}
        }
        if ended {
            stream.whole = true;
            self.sink.whole(id);
        }
        Ok(())
    }

    /// A field block is whole: a new request, or the trailers of one.
    fn block(&mut self, whole: WholeBlock, block: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        self.core.useful();
        if whole.stream > *self.last {
            return self.head(whole, block, out);
        }
        if whole.stream.is_multiple_of(2) {
            return Err(Http2::EvenStream.into());
        }
        let Some(stream) = self.streams.get(whole.stream) else {
            self.core.decode(block, &mut Fields::new(true, Section::Head, |_, _| {}))?;
            return Ok(self.closed(whole.stream)?);
        };
        let closed = stream.whole;
        let fits = stream.content_length.is_none_or(|length| length == stream.received);
        let mut fields =
            Fields::new(true, Section::Trailers, |name, value| self.sink.trailer(whole.stream, name, value));
        let wrong = self.core.decode(block, &mut fields)?;
        let breach = match wrong {
            _ if closed => Http2::HalfClosed.into(),
            _ if whole.too_long => Message::FieldsLimit.into(),
            Some(wrong) => wrong.into(),
            None if !whole.end_stream => Http2::TrailersOpen.into(),
            None if !fits => Message::TooLittle.into(),
            None => {
                self.is_whole(whole.stream);
                return Ok(());
            }
        };
        Err(Broken::Stream(whole.stream, breach))
    }

    fn rst_stream(&mut self, id: u32, code: Code) -> Result<(), Broken> {
        if self.streams.remove(id).is_some() {
            self.sink.reset(id, code);
            self.core.broke()?;
        }
        Ok(self.core.idle()?)
    }

    /// The client broke a stream: it is reset, and counted (CVE-2025-8671).
    fn give_up(&mut self, id: u32, breach: Breach, sample: &[u8], out: &mut Vec<u8>) -> Result<(), Http2> {
        let code = Code::of(breach);
        self.streams.remove(id);
        self.core.reset(id, code, out);
        self.sink.broke(Some(id), breach, sample);
        self.sink.reset(id, code);
        self.core.broke()
    }

    fn broke(&mut self, breach: Breach, sample: &[u8]) {
        self.sink.broke(None, breach, sample);
    }

    fn goaway(&mut self, _payload: &[u8]) -> Result<(), Broken> {
        Ok(self.core.idle()?)
    }
}

impl<S: ServerSink> Http2Requests<'_, S> {
    /// A frame came for a stream that is over. One above the last number of GOAWAY was never taken.
    fn closed(&self, stream: u32) -> Result<(), Http2> {
        if self.leaving.is_some_and(|last| stream > last) { Ok(()) } else { self.core.closed(stream) }
    }

    fn head(&mut self, whole: WholeBlock, block: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        let id = whole.stream;
        if id.is_multiple_of(2) {
            return Err(Http2::EvenStream.into());
        }
        *self.last = id;
        let refused = self.is_refused(id);
        let mut bytes = 0;
        let mut fields = Fields::new(true, Section::Head, |name, value| {
            bytes += name.len() + value.len();
            if refused.is_none() {
                self.sink.field(id, name, value);
            }
        });
        let mut wrong = self.core.decode(block, &mut fields)?;
        let content_length = fields.content_length;
        self.core.counts.field_bytes += bytes as u64;
        if whole.end_stream && content_length.is_some_and(|length| length > 0) {
            wrong = wrong.or(Some(Message::TooLittle));
        }
        if whole.too_long {
            wrong = Some(Message::FieldsLimit);
        }
        match (wrong, refused) {
            (Some(wrong), _) => return Err(Broken::stream(id, wrong)),
            (None, Some(Refused::Silently)) => return Ok(()),
            (None, Some(Refused::Told)) => {
                self.core.reset(id, Code::REFUSED_STREAM, out);
                return Ok(());
            }
            (None, None) => {}
        }
        let half = self.core.half();
        self.streams.insert(
            id,
            Http2ServerStream { half, content_length, received: 0, whole: false, answered: false },
        );
        self.sink.head(id, block.len(), !whole.end_stream);
        if whole.end_stream {
            self.is_whole(id);
        }
        Ok(())
    }

    /// Reason why a new stream is not taken: there are too many, or this side is leaving.
    fn is_refused(&self, id: u32) -> Option<Refused> {
        if self.leaving.is_some_and(|last| id > last) {
            return Some(Refused::Silently);
        }
        let most = self.core.limits.settings.max_concurrent_streams.map_or(usize::MAX, |most| most as usize);
        (self.streams.len() >= most).then_some(Refused::Told)
    }

    fn is_whole(&mut self, id: u32) {
        if let Some(stream) = self.streams.get_mut(id) {
            stream.whole = true;
            self.sink.whole(id);
        }
    }
}

/// How a stream is not taken.
#[derive(Clone, Copy)]
enum Refused {
    /// With REFUSED_STREAM.
    Told,
    /// GOAWAY has said it.
    Silently,
}
