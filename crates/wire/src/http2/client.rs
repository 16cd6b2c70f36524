//! The client's end of a connection.
//!
//! Start at [`Client::request`] and [`Client::read`].

use super::PREFACE;
use super::core::{After, AsHalf, Blocked, BodySource, Core, Half, Http2Counts, Upload, WholeBlock};
use super::error::{Broken, Code, ConnectionError};
use super::fields::FieldList;
use super::frame::{self, END_STREAM, Header, Http2FrameKind};
use super::hpack::{Encoder, Indexing};
use super::memo::BlockMemo;
use super::message::{Fields, Section};
use super::part::{self, Part};
use super::reader::FrameReader;
use super::settings::{Http2Limits, Http2Settings, MOST_WINDOW};
use super::streams::Streams;
use breach::{Breach, Http2, Message};

/// Streams that are opened before the server's SETTINGS say how many may be, as curl and h2o do.
const STREAMS_AT_FIRST: usize = 100;
/// Streams that are opened where the server sets no limit.
const STREAMS_AT_MOST: usize = 1 << 16;
/// Interim answers before a final one.
const INTERIM_LIMIT: u8 = 16;
/// Bytes of GOAWAY's text that are kept.
const TEXT_KEPT: usize = 256;
/// Identifiers end at 2^31-1.
const LAST_ID: u32 = MOST_WINDOW;

/// Where the answers of a connection go, each with the number that the caller gave its request. Slices live for the call only.
pub trait ClientSink {
    /// A field of an answer's head, in order, before [`head`](Self::head) or [`interim`](Self::interim). Pseudo-fields are not told.
    fn field(&mut self, request: u64, name: &[u8], value: &[u8]) {
        let _ = (request, name, value);
    }

    /// All fields of an answer's head at once, as [`field`](Self::field) has them, where the head equals the one before it.
    fn fields(&mut self, request: u64, list: &FieldList) {
        list.iter().for_each(|(name, value, _)| self.field(request, name, value));
    }

    /// An interim answer (RFC 9110 section 15.2) came.
    fn interim(&mut self, request: u64, status: u16) {
        let _ = (request, status);
    }

    /// The head of the final answer is complete. `bytes`: the length of its field block.
    fn head(&mut self, request: u64, status: u16, content_length: Option<u64>, bytes: usize);

    /// A part of the content, not empty.
    fn body(&mut self, request: u64, bytes: &[u8]) {
        let _ = (request, bytes);
    }

    /// A field of the trailers.
    fn trailer(&mut self, request: u64, name: &[u8], value: &[u8]) {
        let _ = (request, name, value);
    }

    /// The server broke a rule, by these bytes: for a request, which ends of it, or for the connection.
    fn broke(&mut self, request: Option<u64>, breach: Breach, sample: &[u8]) {
        let _ = (request, breach, sample);
    }

    /// The request has ended. The last thing that is told of it.
    fn ended(&mut self, request: u64, end: Http2End);
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http2End {
    /// Its answer is whole.
    Whole,
    /// The server reset it.
    Reset(Code),
    /// The server did not process it, so that it may be sent again (RFC 9113 section 8.7): REFUSED_STREAM, or a number above the
    /// last one of GOAWAY.
    Unprocessed,
    /// Its answer breaks a rule, or goes beyond a limit of this side's, which reset it.
    Broken(Breach),
}

/// The server's GOAWAY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoAway {
    /// Highest stream that it processes.
    pub last: u32,
    /// Why.
    pub code: Code,
    /// Its text, up to 256 bytes.
    pub text: Vec<u8>,
}

/// The field block of requests that are alike on one connection: encoded once, copied from then on.
#[derive(Debug, Default)]
pub struct Template {
    block: Vec<u8>,
    /// The encoder's version at which `block` means what it meant.
    version: Option<u64>,
    /// Bytes of the fields, names and values.
    bytes: u64,
    /// The method is HEAD.
    head: bool,
}

impl Template {
    /// Forgets the block, for a list of fields that is another one.
    pub fn forget(&mut self) {
        self.version = None;
    }

    /// Appends the block of `fields`. One template has one list of fields and one connection.
    fn write<'f>(
        &mut self,
        encoder: &mut Encoder,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
        out: &mut Vec<u8>,
    ) {
        encoder.begin(out);
        if self.version != Some(encoder.version()) {
            let before = encoder.version();
            self.block.clear();
            (self.head, self.bytes) = (false, 0);
            fields.for_each(|(name, value, indexing)| {
                self.bytes += (name.len() + value.len()) as u64;
                self.head |= name == b":method" && value == b"HEAD";
                encoder.field(name, value, indexing, &mut self.block);
            });
            self.version = (encoder.version() == before).then_some(before);
        }
        out.extend_from_slice(&self.block);
    }
}

/// The client's end of a connection.
///
/// ```
/// use wire::http2::{Client, ClientSink, Http2End, Indexing, Http2Limits, Template};
///
/// struct Statuses(Vec<u16>);
/// impl ClientSink for Statuses {
///     fn head(&mut self, _request: u64, status: u16, _content_length: Option<u64>, _bytes: usize) {
///         self.0.push(status);
///     }
///     fn ended(&mut self, request: u64, end: Http2End) {
///         assert_eq!((request, end), (7, Http2End::Whole));
///     }
/// }
///
/// let (mut client, mut out) = (Client::new(Http2Limits::default()), Vec::new());
/// client.open(&mut out);
/// let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "localhost")];
/// let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes(), Indexing::Insert));
/// client.request(7, &mut Template::default(), fields, None, &mut out);
///
/// let mut statuses = Statuses(Vec::new());
/// let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/// client.read(&settings, &mut statuses, &mut out)?;
/// let answer = [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88];
/// client.read(&answer, &mut statuses, &mut out)?;
/// assert_eq!(statuses.0, [200]);
/// # Ok::<(), wire::http2::ConnectionError>(())
/// ```
#[derive(Debug)]
pub struct Client {
    reader: FrameReader,
    core: Core,
    streams: Streams<Http2Stream>,
    next_id: u32,
    goaway: Option<GoAway>,
    memo: BlockMemo,
    /// The stream that content is coming for; `None` where nobody wants it.
    receiving: Option<u32>,
}

/// A request under way.
#[derive(Debug)]
struct Http2Stream {
    request: u64,
    half: Half,
    /// Content-Length of the answer.
    content_length: Option<u64>,
    received: u64,
    /// Of the final head; 0 before it.
    status: u16,
    interims: u8,
    /// The method was HEAD: an answer has no content.
    head: bool,
}

impl AsHalf for Http2Stream {
    fn half(&mut self) -> &mut Half {
        &mut self.half
    }
}

impl Http2Stream {
    /// True if the answer may have content at all (RFC 9110 section 6.4.1).
    fn may_have_content(&self) -> bool {
        !self.head && !matches!(self.status, 204 | 304)
    }

    /// The answer ended: whether as long as it said.
    fn is_as_long_as_said(&self) -> bool {
        !self.may_have_content() || self.content_length.is_none_or(|length| length == self.received)
    }
}

impl Client {
    /// A connection that is not open yet.
    pub fn new(limits: Http2Limits) -> Client {
        Client {
            reader: FrameReader::default(),
            core: Core::new(limits),
            streams: Streams::new(1),
            next_id: 1,
            goaway: None,
            memo: BlockMemo::default(),
            receiving: None,
        }
    }

    /// Appends what a client sends first: preface, SETTINGS, and the connection's window.
    pub fn open(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        self.core.open(true, out);
    }

    /// Requests that may be begun now. 0 for ever once the server said GOAWAY or all identifiers are used up.
    pub fn room(&self) -> usize {
        if self.goaway.is_some() || self.next_id > LAST_ID {
            return 0;
        }
        let allowed = match self.core.peer.max_concurrent_streams {
            _ if !self.core.settled => STREAMS_AT_FIRST,
            Some(streams) => streams as usize,
            None => STREAMS_AT_MOST,
        };
        let left = ((LAST_ID - self.next_id) / 2 + 1) as usize;
        allowed.saturating_sub(self.streams.len()).min(left)
    }

    /// True if no more requests can be begun on this connection, ever.
    pub fn is_leaving(&self) -> bool {
        self.goaway.is_some() || self.next_id > LAST_ID
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.streams.len()
    }

    /// True if the server's SETTINGS came.
    pub fn is_settled(&self) -> bool {
        self.core.settled
    }

    /// Returns the settings that the server announced.
    pub fn peer(&self) -> &Http2Settings {
        &self.core.peer
    }

    /// The server's last GOAWAY.
    pub fn goaway(&self) -> Option<&GoAway> {
        self.goaway.as_ref()
    }

    /// Frames and bytes so far.
    pub fn counts(&self) -> &Http2Counts {
        &self.core.counts
    }

    /// The same since this was asked last.
    pub fn take_counts(&mut self) -> Http2Counts {
        std::mem::take(&mut self.core.counts)
    }

    /// Returns the windows that kept content from being sent when [`Self::send`] ran last.
    pub fn blocked(&self) -> Blocked {
        self.core.blocked
    }

    /// True if a frame has come in part: a connection that ends now ends within it.
    pub fn is_within_frame(&self) -> bool {
        self.reader.is_within_frame()
    }

    /// True if a template holds its block, so that its fields are not read.
    pub fn knows(&self, template: &Template) -> bool {
        template.version == Some(self.core.encoder.version()) && !self.core.encoder.has_news()
    }

    /// Begins a request, for which there must be [`room`](Self::room): appends its head; content of `body` bytes is sent by
    /// [`Self::send`]. Returns its stream.
    ///
    /// `fields` has pseudo-fields first and names in lower case; it is read only when `template` does not hold the block yet.
    pub fn request<'f>(
        &mut self,
        request: u64,
        template: &mut Template,
        fields: impl Iterator<Item = (&'f [u8], &'f [u8], Indexing)>,
        body: Option<u64>,
        out: &mut Vec<u8>,
    ) -> u32 {
        let id = self.next_id;
        self.next_id += 2;
        self.core.write_block(id, body.is_none(), out, |encoder, out| template.write(encoder, fields, out));
        self.core.counts.sent_field_bytes += template.bytes;
        let mut half = self.core.half();
        if let Some(length) = body {
            half.upload = Some(Upload::new(length, After::End));
            self.core.upload(id);
        }
        let head = template.head;
        self.streams.insert(
            id,
            Http2Stream { request, half, content_length: None, received: 0, status: 0, interims: 0, head },
        );
        id
    }

    /// Appends content that waits, as windows allow. Returns whether more could be appended at once.
    pub fn send(&mut self, source: &mut impl BodySource, out: &mut Vec<u8>) -> bool {
        self.core.pump(&mut self.streams, source, out, |_| {})
    }

    /// True if content waits to be sent.
    pub fn has_content(&self) -> bool {
        self.core.has_uploads()
    }

    /// Gives a request up; the sink hears no more of it. Nothing happens where it has ended.
    pub fn cancel(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        if self.streams.remove(stream).is_some() {
            self.core.reset(stream, code, out);
        }
    }

    /// Grants a stream no more of its answer than its first window, until [`Self::grant`] does: for clients that read slowly.
    pub fn hold(&mut self, stream: u32) {
        if let Some(state) = self.streams.get_mut(stream) {
            state.half.receiving.hold();
        }
    }

    /// Grants a stream as much again as has come.
    pub fn grant(&mut self, stream: u32, out: &mut Vec<u8>) {
        let state = self.streams.get_mut(stream);
        if let Some(increment) = state.and_then(|state| state.half.receiving.grant()) {
            self.core.window_update(stream, increment, out);
        }
    }

    /// Makes the window of a stream, which has just begun, larger than was announced for all.
    pub fn widen(&mut self, stream: u32, window: u32, out: &mut Vec<u8>) {
        let state = self.streams.get_mut(stream);
        if let Some(increment) = state.and_then(|state| state.half.receiving.widen(window)) {
            self.core.window_update(stream, increment, out);
        }
    }

    /// Appends a PING with a payload of the caller's.
    pub fn ping(&mut self, payload: [u8; 8], out: &mut Vec<u8>) {
        frame::ping(0, payload, out);
        self.core.sent(Http2FrameKind::Ping);
    }

    /// Takes all of `input`. Answers go into `sink`; what the protocol wants sent is appended to `out`.
    ///
    /// # Errors
    /// The server broke the protocol; GOAWAY stands in `out`, and the connection is of no more use.
    pub fn read(
        &mut self,
        input: &[u8],
        sink: &mut impl ClientSink,
        out: &mut Vec<u8>,
    ) -> Result<(), ConnectionError> {
        self.pieces(input, sink, out).inspect_err(|error| {
            frame::goaway(0, error.code(), error.breach.text().as_bytes(), out);
        })
    }

    fn pieces(
        &mut self,
        input: &[u8],
        sink: &mut impl ClientSink,
        out: &mut Vec<u8>,
    ) -> Result<(), ConnectionError> {
        let Client { reader, core, streams, next_id, goaway, memo, receiving } = self;
        let mut part = Answers { sink, core, streams, next_id: *next_id, goaway, memo, receiving };
        part::read(reader, &mut part, input, out)
    }
}

/// All of a client but its reader, whose buffer is lent while a frame is dealt with.
struct Answers<'c, S> {
    sink: &'c mut S,
    core: &'c mut Core,
    streams: &'c mut Streams<Http2Stream>,
    next_id: u32,
    goaway: &'c mut Option<GoAway>,
    memo: &'c mut BlockMemo,
    receiving: &'c mut Option<u32>,
}

impl<S: ClientSink> Part for Answers<'_, S> {
    type Stream = Http2Stream;

    const FROM_SERVER: bool = true;

    fn state(&mut self) -> (&mut Core, &mut Streams<Http2Stream>) {
        (self.core, self.streams)
    }

    fn is_idle(&self, stream: u32) -> bool {
        stream.is_multiple_of(2) || stream >= self.next_id
    }

    fn data_begins(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), Broken> {
        *self.receiving = None;
        let Some(stream) = self.streams.get_mut(header.stream) else {
            return Ok(self.core.closed(header.stream)?);
        };
        self.core.data_is_of_use(header)?;
        if stream.status == 0 {
            return Err(Broken::stream(header.stream, Http2::DataFirst));
        }
        self.core
            .stream_data(&mut stream.half, header, out)
            .map_err(|breach| Broken::stream(header.stream, breach))?;
        *self.receiving = Some(header.stream);
        Ok(())
    }

    #[inline]
    fn data(&mut self, bytes: &[u8]) {
        let Some(stream) = self.receiving.and_then(|id| self.streams.get_mut(id)) else { return };
        self.core.counts.data_bytes += bytes.len() as u64;
        stream.received += bytes.len() as u64;
        self.sink.body(stream.request, bytes);
    }

    /// A DATA frame is complete: is the content still as long as it may be, and does the stream end?
    fn data_ends(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), Broken> {
        let Some(id) = self.receiving.take() else { return Ok(()) };
        let Some(stream) = self.streams.get(id) else { return Ok(()) };
        let may = if stream.may_have_content() { stream.content_length.unwrap_or(u64::MAX) } else { 0 };
        let ended = header.has(END_STREAM);
        if stream.received > may {
            let breach = if stream.may_have_content() { Message::TooMuch } else { Message::NoContent };
            return Err(Broken::stream(id, breach));
        }
        if ended {
            if !stream.is_as_long_as_said() {
                return Err(Broken::stream(id, Message::TooLittle));
            }
            self.end(id, Http2End::Whole, out);
        }
        Ok(())
    }

    /// A field block is whole: the head of an answer, an interim one, or trailers.
    fn block(&mut self, whole: WholeBlock, block: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        self.not_idle(whole.stream)?;
        self.core.useful();
        let Some(stream) = self.streams.get_mut(whole.stream) else {
            self.core.decode(block, &mut Fields::new(false, Section::Head, |_, _| {}))?;
            return Ok(self.core.closed(whole.stream)?);
        };
        if whole.too_long {
            return Err(Broken::stream(whole.stream, Message::FieldsLimit));
        }
        match stream.status {
            0 => self.head(whole, block)?,
            _ => self.trailers(whole, block)?,
        }
        if whole.end_stream {
            self.end(whole.stream, Http2End::Whole, out);
        }
        Ok(())
    }

    fn rst_stream(&mut self, id: u32, code: Code) -> Result<(), Broken> {
        if let Some(stream) = self.streams.remove(id) {
            self.sink.ended(
                stream.request,
                if code == Code::REFUSED_STREAM { Http2End::Unprocessed } else { Http2End::Reset(code) },
            );
        }
        Ok(())
    }

    fn goaway(&mut self, payload: &[u8]) -> Result<(), Broken> {
        let (fixed, text) = payload.split_first_chunk::<8>().ok_or(Http2::GoAwayLength)?;
        let [a, b, c, d, code @ ..] = *fixed;
        let last = u32::from_be_bytes([a, b, c, d]) & MOST_WINDOW;
        let last = self.goaway.as_ref().map_or(last, |earlier| earlier.last.min(last));
        let text = text[..text.len().min(TEXT_KEPT)].to_vec();
        *self.goaway = Some(GoAway { last, code: Code(u32::from_be_bytes(code)), text });
        for id in self.streams.ids(|id, stream| id > last && stream.status == 0) {
            if let Some(stream) = self.streams.remove(id) {
                self.sink.ended(stream.request, Http2End::Unprocessed);
            }
        }
        Ok(())
    }

    fn give_up(
        &mut self,
        stream: u32,
        breach: Breach,
        sample: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Http2> {
        if let Some(state) = self.streams.get(stream) {
            self.sink.broke(Some(state.request), breach, sample);
            self.end(stream, Http2End::Broken(breach), out);
        }
        Ok(())
    }

    fn broke(&mut self, breach: Breach, sample: &[u8]) {
        self.sink.broke(None, breach, sample);
    }
}

impl<S: ClientSink> Answers<'_, S> {
    fn head(&mut self, whole: WholeBlock, block: &[u8]) -> Result<(), Broken> {
        let broken = |breach: Breach| Err(Broken::Stream(whole.stream, breach));
        let Some(stream) = self.streams.get_mut(whole.stream) else { return Ok(()) };
        let request = stream.request;
        let (status, content_length) = match self.memo.find(block, self.core.decoder.version()) {
            Some((status, content_length)) => {
                self.core.counts.blocks += 1;
                self.core.counts.known_blocks += 1;
                self.core.counts.block_bytes += block.len() as u64;
                self.core.counts.field_bytes += self.memo.bytes;
                self.sink.fields(request, &self.memo.fields);
                (status, content_length)
            }
            None => {
                let before = self.core.decoder.version();
                self.memo.begin(block);
                let mut fields = Fields::new(false, Section::Head, |name, value| {
                    self.memo.learn(name, value);
                    if name[0] != b':' {
                        self.sink.field(request, name, value);
                    }
                });
                let wrong = self.core.decode(block, &mut fields)?;
                let status = fields.status;
                let content_length = fields.content_length;
                self.core.counts.field_bytes += self.memo.bytes;
                if let Some(wrong) = wrong {
                    return broken(wrong.into());
                }
                if self.core.decoder.version() == before && status >= 200 {
                    self.memo.keep(before, status, content_length);
                }
                (status, content_length)
            }
        };
        if status >= 200 {
            (stream.status, stream.content_length) = (status, content_length);
            self.sink.head(request, status, content_length, block.len());
            let is_short = whole.end_stream && !stream.is_as_long_as_said();
            return if is_short { broken(Message::TooLittle.into()) } else { Ok(()) };
        }
        stream.interims += 1;
        self.sink.interim(request, status);
        match () {
            () if whole.end_stream => broken(Http2::InterimEnds.into()),
            () if stream.interims > INTERIM_LIMIT => broken(Message::InterimLimit.into()),
            () => Ok(()),
        }
    }

    fn trailers(&mut self, whole: WholeBlock, block: &[u8]) -> Result<(), Broken> {
        let Some(stream) = self.streams.get(whole.stream) else { return Ok(()) };
        let request = stream.request;
        let mut bytes = 0;
        let mut fields = Fields::new(false, Section::Trailers, |name, value| {
            bytes += name.len() + value.len();
            self.sink.trailer(request, name, value);
        });
        let wrong = self.core.decode(block, &mut fields)?;
        self.core.counts.field_bytes += bytes as u64;
        let open = (!whole.end_stream).then_some(Breach::Http2(Http2::TrailersOpen));
        let short = (!stream.is_as_long_as_said()).then_some(Breach::Message(Message::TooLittle));
        match wrong.map(Breach::Message).or(open).or(short) {
            Some(breach) => Err(Broken::Stream(whole.stream, breach)),
            None => Ok(()),
        }
    }

    /// Ends a stream, and tells the server where it does not know.
    fn end(&mut self, id: u32, end: Http2End, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.remove(id) else { return };
        match end {
            Http2End::Whole if stream.half.upload.is_some() => self.core.reset(id, Code::CANCEL, out),
            Http2End::Broken(breach) => self.core.reset(id, Code::of(breach), out),
            Http2End::Whole | Http2End::Reset(_) | Http2End::Unprocessed => {}
        }
        self.sink.ended(stream.request, end);
    }
}
