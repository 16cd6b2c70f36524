//! Work that both ends of a connection do alike: settings, pings, windows, field blocks, bodies that wait for a window.
//!
//! Must not know what a request or an answer is.

use super::error::{Broken, Code};
use super::flow::{Receiving, Sending};
use super::frame::{self, ACK, END_HEADERS, END_STREAM, Header, Http2FrameKind, PADDED, PRIORITY_FLAG};
use super::hpack::{DecodeError, Decoder, Encoder, Indexing, Skim};
use super::message::Fields;
use super::settings::{DEFAULT_WINDOW, Http2Limits, Http2Settings};
use super::streams::Streams;
use breach::{Hpack, Http2, Message};
use std::collections::VecDeque;

/// Frames and bytes of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Http2Counts {
    /// Frames received, in the order of [`Http2FrameKind::ALL`].
    pub received: [u64; 11],
    /// Frames sent, in the order of [`Http2FrameKind::ALL`].
    pub sent: [u64; 11],
    /// Streams that the peer reset, by code; all beyond RFC 9113's last.
    pub resets_received: [u64; 15],
    /// Streams that this side reset.
    pub resets_sent: [u64; 15],
    /// Field blocks that came.
    pub blocks: u64,
    /// Bytes of the field blocks that came.
    pub block_bytes: u64,
    /// Bytes of the fields in them, names and values.
    pub field_bytes: u64,
    /// Bytes of the field blocks that were sent.
    pub sent_block_bytes: u64,
    /// Bytes of the fields in a client's.
    pub sent_field_bytes: u64,
    /// Blocks that equalled one that was decoded before.
    pub known_blocks: u64,
    /// Bytes of content that came, without padding.
    pub data_bytes: u64,
}

/// Windows that keep content from being sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Blocked {
    /// The connection's window is used up.
    pub by_connection: bool,
    /// Windows of streams are used up.
    pub by_stream: bool,
}

/// Content that is sent, handed over when a window has room for it.
pub trait BodySource {
    /// Appends `length` bytes of the content of `stream` from `from` on; it has as many.
    fn piece(&mut self, stream: u32, from: u64, length: usize, out: &mut Vec<u8>);
}

/// Fields after the content of an answer: names and values.
pub type Trailers = Box<[(Vec<u8>, Vec<u8>)]>;

/// End of a message, after its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// Nothing: its last DATA ends the stream.
    End,
    /// A field section.
    Trailers(Trailers),
    /// RST_STREAM: the content is less than was announced.
    Reset(Code),
}

/// Content that is still to be sent, and what follows it.
#[derive(Debug)]
pub(super) struct Upload {
    pub sent: u64,
    pub length: u64,
    /// Bytes that may be sent by now, for senders that are slow on purpose.
    pub released: u64,
    pub after: After,
}

impl Upload {
    pub(super) fn new(length: u64, after: After) -> Upload {
        Upload { sent: 0, length, released: u64::MAX, after }
    }
}

/// The part of a stream that both ends have.
#[derive(Debug)]
pub(super) struct Half {
    pub receiving: Receiving,
    pub sending: Sending,
    pub upload: Option<Upload>,
}

/// Access to the common part of a stream.
pub(super) trait AsHalf {
    fn half(&mut self) -> &mut Half;
}

/// The state of a connection beside its streams.
#[derive(Debug)]
pub(super) struct Core {
    pub limits: Http2Limits,
    /// Settings that the peer announced.
    pub peer: Http2Settings,
    /// The peer's first SETTINGS came.
    pub settled: bool,
    pub decoder: Decoder,
    pub encoder: Encoder,
    pub counts: Http2Counts,
    pub blocked: Blocked,
    receiving: Receiving,
    sending: Sending,
    /// A field block whose end is still to come.
    block: Option<Block>,
    gathered: Vec<u8>,
    /// The block is longer than is taken, and read for the table's sake alone.
    skim: Option<Box<Skim>>,
    /// Streams with content to send, the next one first.
    uploads: VecDeque<u32>,
    /// Streams that this side reset, the last ones.
    reset: VecDeque<u32>,
    /// Some of them are forgotten.
    reset_forgotten: bool,
    idle_frames: u32,
    /// Streams that the peer broke, less those that ended well.
    broken: u32,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    stream: u32,
    end_stream: bool,
    continuations: u32,
}

/// A field block that is whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeBlock {
    pub stream: u32,
    pub end_stream: bool,
    /// Its fields are longer than is taken: they have been read, and none of them is there.
    pub too_long: bool,
}

/// Streams reset by this side that are remembered, because frames for them may be under way.
const RESETS_KEPT: usize = 256;
/// Bytes of fields beside the block that are worth keeping memory for.
const GATHERED_KEPT: usize = 16_384;
/// Bytes of content that are handed over at once.
const UPLOAD_BATCH: usize = 256 * 1024;

impl Core {
    pub(super) fn new(limits: Http2Limits) -> Core {
        let settings = limits.settings;
        let list = settings.max_header_list_size.map_or(usize::MAX >> 1, |bytes| bytes as usize);
        Core {
            limits,
            peer: Http2Settings::default(),
            settled: false,
            decoder: Decoder::new(settings.header_table_size as usize, list),
            encoder: Encoder::new(limits.encoder_table_size as usize),
            counts: Http2Counts::default(),
            blocked: Blocked::default(),
            receiving: Receiving::new(limits.connection_window.max(DEFAULT_WINDOW)),
            sending: Sending::new(DEFAULT_WINDOW),
            block: None,
            gathered: Vec::new(),
            skim: None,
            uploads: VecDeque::new(),
            reset: VecDeque::new(),
            reset_forgotten: false,
            idle_frames: 0,
            broken: 0,
        }
    }

    /// SETTINGS, and the connection's window where it is larger than at first.
    pub(super) fn open(&mut self, client: bool, out: &mut Vec<u8>) {
        self.limits.settings.write(client, out);
        self.sent(Http2FrameKind::Settings);
        let more = self.limits.connection_window.saturating_sub(DEFAULT_WINDOW);
        if more > 0 {
            self.window_update(0, more, out);
        }
    }

    pub(super) fn half(&self) -> Half {
        Half {
            receiving: Receiving::new(self.limits.settings.initial_window_size),
            sending: Sending::new(self.peer.initial_window_size),
            upload: None,
        }
    }

    /// The peer reset a stream.
    pub(super) fn was_told_reset(&mut self, code: Code) {
        self.counts.resets_received[place(code)] += 1;
    }

    pub(super) fn sent(&mut self, kind: Http2FrameKind) {
        self.counts.sent[kind as usize] += 1;
    }

    /// A frame arrived: the checks that hold for all of them.
    pub(super) fn arrived(&mut self, header: &Header) -> Result<(), Http2> {
        self.counts.received[header.kind as usize] += 1;
        match self.block {
            Some(block) if header.kind != Http2FrameKind::Continuation || header.stream != block.stream => {
                return Err(Http2::FrameWithinBlock);
            }
            None if header.kind == Http2FrameKind::Continuation => {
                return Err(Http2::ContinuationAlone);
            }
            _ => {}
        }
        if !self.settled && (header.kind != Http2FrameKind::Settings || header.has(ACK)) {
            return Err(Http2::FirstFrame);
        }
        let of_stream = matches!(
            header.kind,
            Http2FrameKind::Data
                | Http2FrameKind::Headers
                | Http2FrameKind::Priority
                | Http2FrameKind::RstStream
                | Http2FrameKind::PushPromise
                | Http2FrameKind::Continuation
        );
        let of_connection =
            matches!(header.kind, Http2FrameKind::Settings | Http2FrameKind::Ping | Http2FrameKind::GoAway);
        match header.stream {
            0 if of_stream => Err(Http2::StreamZero),
            1.. if of_connection => Err(Http2::NotStreamZero),
            _ => Ok(()),
        }
    }

    /// A frame that does nothing useful came; too many in a row are an attack (CVE-2019-9512, 9515, 9518).
    pub(super) fn idle(&mut self) -> Result<(), Http2> {
        self.idle_frames += 1;
        if self.idle_frames > self.limits.idle_frames {
            return Err(Http2::IdleFlood);
        }
        Ok(())
    }

    /// Checks that a DATA frame carries anything.
    pub(super) fn data_is_of_use(&mut self, header: &Header) -> Result<(), Http2> {
        if header.length == 0 && !header.has(END_STREAM) {
            return self.idle();
        }
        self.useful();
        Ok(())
    }

    pub(super) fn useful(&mut self) {
        self.idle_frames = 0;
    }

    /// A stream ended well.
    pub(super) fn well(&mut self) {
        self.broken = self.broken.saturating_sub(1);
    }

    /// The peer broke a stream; too many are an attack (CVE-2023-44487, CVE-2025-8671).
    pub(super) fn broke(&mut self) -> Result<(), Http2> {
        self.broken += 1;
        if self.broken > self.limits.broken_streams {
            return Err(Http2::ResetFlood);
        }
        Ok(())
    }

    /// All of a DATA frame counts for the connection, whatever becomes of its stream.
    pub(super) fn data(&mut self, header: &Header, out: &mut Vec<u8>) -> Result<(), Http2> {
        self.receiving.take(header.length).ok_or(Http2::FlowControl)?;
        if let Some(increment) = self.receiving.due() {
            self.window_update(0, increment, out);
        }
        Ok(())
    }

    /// All of a DATA frame counts for its stream.
    pub(super) fn stream_data(
        &mut self,
        half: &mut Half,
        header: &Header,
        out: &mut Vec<u8>,
    ) -> Result<(), Http2> {
        half.receiving.take(header.length).ok_or(Http2::FlowControl)?;
        if !header.has(END_STREAM)
            && let Some(increment) = half.receiving.due()
        {
            self.window_update(header.stream, increment, out);
        }
        Ok(())
    }

    pub(super) fn window_update(&mut self, stream: u32, increment: u32, out: &mut Vec<u8>) {
        frame::window_update(stream, increment, out);
        self.sent(Http2FrameKind::WindowUpdate);
    }

    /// Ends a stream by RST_STREAM. Frames for it may still come.
    pub(super) fn reset(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        frame::rst_stream(stream, code, out);
        self.sent(Http2FrameKind::RstStream);
        self.counts.resets_sent[place(code)] += 1;
        self.uploads.retain(|id| *id != stream);
        if self.reset.len() == RESETS_KEPT {
            self.reset.pop_front();
            self.reset_forgotten = true;
        }
        self.reset.push_back(stream);
    }

    /// True if this side reset a stream, one of the last ones.
    pub(super) fn was_reset(&self, stream: u32) -> bool {
        self.reset.contains(&stream)
    }

    /// A frame came for a stream that is closed; it may have been under way when this side reset it.
    pub(super) fn closed(&self, stream: u32) -> Result<(), Http2> {
        if self.reset_forgotten || self.was_reset(stream) {
            return Ok(());
        }
        Err(Http2::ClosedStream)
    }

    /// SETTINGS: takes them over, for all open streams too, and acknowledges them.
    pub(super) fn settings<T: AsHalf>(
        &mut self,
        header: &Header,
        payload: &[u8],
        from_server: bool,
        streams: &mut Streams<T>,
        out: &mut Vec<u8>,
    ) -> Result<(), Http2> {
        self.idle()?;
        if header.has(ACK) {
            return match payload {
                [] => Ok(()),
                _ => Err(Http2::SettingsAck),
            };
        }
        if !payload.len().is_multiple_of(6) {
            return Err(Http2::SettingsLength);
        }
        let before = self.peer.initial_window_size;
        self.peer.apply(payload, from_server)?;
        self.settled = true;
        self.encoder.allow(self.peer.header_table_size as usize);
        let by = i64::from(self.peer.initial_window_size) - i64::from(before);
        for (_, stream) in streams.iter_mut() {
            stream.half().sending.shift(by).ok_or(Http2::SettingsOverflow)?;
        }
        frame::settings_ack(out);
        self.sent(Http2FrameKind::Settings);
        Ok(())
    }

    /// PING: echoes it.
    pub(super) fn ping(&mut self, header: &Header, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Http2> {
        self.idle()?;
        let payload = payload.try_into().map_err(|_| Http2::PingLength)?;
        if !header.has(ACK) {
            frame::ping(ACK, payload, out);
            self.sent(Http2FrameKind::Ping);
        }
        Ok(())
    }

    /// WINDOW_UPDATE of the connection.
    pub(super) fn connection_window(&mut self, increment: u32) -> Result<(), Http2> {
        if increment == 0 {
            return Err(Http2::WindowZero);
        }
        self.sending.shift(i64::from(increment)).ok_or(Http2::WindowOverflow)
    }

    /// A HEADERS frame: its block, where it is whole, without padding and priority.
    pub(super) fn headers<'b>(
        &mut self,
        header: &Header,
        payload: &'b [u8],
    ) -> Result<Option<(WholeBlock, &'b [u8])>, Http2> {
        let fragment = fragment(header, payload)?;
        let end_stream = header.has(END_STREAM);
        if header.has(END_HEADERS) {
            let whole = WholeBlock { stream: header.stream, end_stream, too_long: false };
            return Ok(Some((whole, fragment)));
        }
        self.block = Some(Block { stream: header.stream, end_stream, continuations: 0 });
        self.gathered.clear();
        self.gathered.extend_from_slice(fragment);
        Ok(None)
    }

    /// True if a field block has begun that goes on in another frame.
    pub(super) fn is_within_block(&self) -> bool {
        self.block.is_some()
    }

    /// A CONTINUATION frame: the whole block, where it is the last one. What was gathered is given back by [`Self::keep`].
    pub(super) fn continuation(
        &mut self,
        header: &Header,
        payload: &[u8],
    ) -> Result<Option<(WholeBlock, Vec<u8>)>, Broken> {
        let Some(block) = &mut self.block else { return Ok(None) };
        block.continuations += 1;
        if block.continuations > self.limits.continuations {
            return Err(Http2::ContinuationFlood.into());
        }
        let Block { stream, end_stream, .. } = *block;
        self.gather(payload)?;
        if !header.has(END_HEADERS) {
            return Ok(None);
        }
        self.block = None;
        let skimmed = self.skim.take();
        let whole = WholeBlock { stream, end_stream, too_long: skimmed.is_some() };
        skimmed.map_or(Ok(()), |skim| skim.end())?;
        Ok(Some((whole, std::mem::take(&mut self.gathered))))
    }

    /// Keeps a piece of a block. One that is longer than is taken is read for the table's sake alone, so that other streams go on.
    fn gather(&mut self, payload: &[u8]) -> Result<(), Hpack> {
        if let Some(skim) = &mut self.skim {
            return skim.piece(&mut self.decoder, payload);
        }
        self.gathered.extend_from_slice(payload);
        let list = self.limits.settings.max_header_list_size.unwrap_or(u32::MAX) as usize;
        if self.gathered.len() > list.max(GATHERED_KEPT) {
            let mut skim = Box::<Skim>::default();
            skim.piece(&mut self.decoder, &self.gathered)?;
            self.gathered = Vec::new();
            self.skim = Some(skim);
        }
        Ok(())
    }

    /// Memory for the next block that comes in pieces.
    pub(super) fn keep(&mut self, mut gathered: Vec<u8>) {
        if gathered.capacity() <= GATHERED_KEPT {
            gathered.clear();
            self.gathered = gathered;
        }
    }

    /// Decodes a block into checked fields; what is wrong with them is for the stream, what cannot be decoded for the connection.
    pub(super) fn decode<F: FnMut(&[u8], &[u8])>(
        &mut self,
        block: &[u8],
        fields: &mut Fields<F>,
    ) -> Result<Option<Message>, Hpack> {
        self.counts.blocks += 1;
        self.counts.block_bytes += block.len() as u64;
        match self.decoder.decode(block, fields) {
            Ok(()) => Ok(fields.judge()),
            Err(DecodeError::TooLong(_)) => Ok(Some(Message::FieldsLimit)),
            Err(DecodeError::Broken(breach)) => Err(breach),
        }
    }

    /// Appends a field block as HEADERS, with CONTINUATION where the peer's frames are too small for it. `write` appends the block.
    pub(super) fn write_block(
        &mut self,
        stream: u32,
        end_stream: bool,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Encoder, &mut Vec<u8>),
    ) {
        let at = out.len();
        let flags = END_HEADERS | if end_stream { END_STREAM } else { 0 };
        frame::header(Http2FrameKind::Headers, flags, stream, 0, out);
        write(&mut self.encoder, out);
        self.sent(Http2FrameKind::Headers);
        self.counts.sent_block_bytes += (out.len() - at - frame::HEADER_LEN) as u64;
        let most = self.peer.max_frame_size as usize;
        if out.len() - at - frame::HEADER_LEN <= most {
            return frame::close(at, out);
        }
        let block = out.split_off(at + frame::HEADER_LEN);
        out.truncate(at);
        let last = block.len().div_ceil(most) - 1;
        for (place, part) in block.chunks(most).enumerate() {
            let ends = if place == last { END_HEADERS } else { 0 };
            let (kind, flags) = match place {
                0 => (Http2FrameKind::Headers, ends | if end_stream { END_STREAM } else { 0 }),
                _ => (Http2FrameKind::Continuation, ends),
            };
            frame::header(kind, flags, stream, part.len(), out);
            out.extend_from_slice(part);
        }
        self.counts.sent[Http2FrameKind::Continuation as usize] += last as u64;
    }

    /// A stream has content to send.
    pub(super) fn upload(&mut self, stream: u32) {
        self.uploads.push_back(stream);
    }

    /// True if content waits to be sent.
    pub(super) fn has_uploads(&self) -> bool {
        !self.uploads.is_empty()
    }

    /// Appends content as the windows allow, a frame of each stream in turn, up to a batch. `done` is told of streams whose content
    /// is sent. Returns whether more could be appended at once.
    pub(super) fn pump<T: AsHalf>(
        &mut self,
        streams: &mut Streams<T>,
        source: &mut impl BodySource,
        out: &mut Vec<u8>,
        mut done: impl FnMut(u32),
    ) -> bool {
        self.blocked = Blocked::default();
        let start = out.len();
        let mut waiting = 0;
        while waiting < self.uploads.len() && out.len() - start < UPLOAD_BATCH {
            let Some(id) = self.uploads.pop_front() else { break };
            let Some(half) = streams.get_mut(id).map(AsHalf::half) else { continue };
            match self.piece(id, half, source, out) {
                Http2Sent::All => {
                    waiting = 0;
                    done(id);
                }
                Http2Sent::Some => {
                    waiting = 0;
                    self.uploads.push_back(id);
                }
                Http2Sent::Nothing => {
                    waiting += 1;
                    self.uploads.push_back(id);
                }
            }
        }
        waiting < self.uploads.len()
    }

    fn piece(
        &mut self,
        id: u32,
        half: &mut Half,
        source: &mut impl BodySource,
        out: &mut Vec<u8>,
    ) -> Http2Sent {
        let Some(upload) = &mut half.upload else { return Http2Sent::All };
        let left = upload.length - upload.sent;
        let released = left.min(upload.released.saturating_sub(upload.sent));
        let most = (self.peer.max_frame_size.min(frame::LEAST_FRAME_SIZE) as usize)
            .min(usize::try_from(released).unwrap_or(usize::MAX));
        let length = most.min(self.sending.room()).min(half.sending.room());
        if length == 0 && left > 0 {
            self.blocked.by_connection |= released > 0 && self.sending.room() == 0;
            self.blocked.by_stream |= released > 0 && half.sending.room() == 0;
            return Http2Sent::Nothing;
        }
        let last = length as u64 == left;
        let ends = last && upload.after == After::End;
        if length > 0 || ends {
            frame::header(Http2FrameKind::Data, if ends { END_STREAM } else { 0 }, id, length, out);
            source.piece(id, upload.sent, length, out);
            self.counts.sent[Http2FrameKind::Data as usize] += 1;
        }
        upload.sent += length as u64;
        half.sending.take(length);
        self.sending.take(length);
        if !last {
            return Http2Sent::Some;
        }
        match half.upload.take().map(|upload| upload.after) {
            Some(After::Trailers(trailers)) => self.write_block(id, true, out, |encoder, out| {
                encoder.begin(out);
                trailers.iter().for_each(|(name, value)| encoder.field(name, value, Indexing::Literal, out));
            }),
            Some(After::Reset(code)) => self.reset(id, code, out),
            Some(After::End) | None => {}
        }
        Http2Sent::All
    }
}

/// Where resets of a code are counted.
fn place(code: Code) -> usize {
    (code.0 as usize).min(14)
}

/// Outcome of a turn of a stream that has content to send.
enum Http2Sent {
    Nothing,
    Some,
    All,
}

/// The field block fragment of a HEADERS frame.
fn fragment<'b>(header: &Header, mut payload: &'b [u8]) -> Result<&'b [u8], Http2> {
    let mut padding = 0;
    if header.has(PADDED) {
        let (first, rest) = payload.split_first().ok_or(Http2::PadLength)?;
        (padding, payload) = (usize::from(*first), rest);
    }
    if header.has(PRIORITY_FLAG) {
        payload = payload.get(5..).ok_or(Http2::HeadersShort)?;
    }
    let length = payload.len().checked_sub(padding).ok_or(Http2::Padding)?;
    Ok(&payload[..length])
}

/// The four bytes of a RST_STREAM or WINDOW_UPDATE frame; otherwise it is this breach.
pub(super) fn four(payload: &[u8], otherwise: Http2) -> Result<u32, Http2> {
    let bytes = payload.try_into().map_err(|_| otherwise)?;
    Ok(u32::from_be_bytes(bytes))
}
