//! Streams that carry no messages: control, and those of QPACK (RFC 9114 section 6.2); and the figures of a connection.
//!
//! Start at [`Core::read`].

use super::error::{self, ConnectionError};
use super::frame::{self, FrameReader, Http3FrameKind, Http3Piece, KINDS, Payload, varint};
use super::quic::{Quic, QuicRead, QuicWritten};
use crate::http2::Code;
use breach::{Breach, Http3, Qpack};

/// Bytes of a frame of the control stream.
const FRAME_LIMIT: usize = 4096;
/// Streams of the peer that are known at once: QUIC allows fewer (`limits.rs`).
const STREAMS_LIMIT: usize = 16;
/// Bytes that are shown of a breach.
const SHOWN: usize = 96;
/// Frames in a row that mean nothing here.
const IDLE_FRAMES: u32 = 10_000;

/// Types of one-way streams.
const CONTROL: u64 = 0x0;
const PUSH: u64 = 0x1;
const ENCODER: u64 = 0x2;
const DECODER: u64 = 0x3;

/// Settings (RFC 9114 section 7.2.4.1; those that only HTTP/2 has are an error).
const MAX_FIELD_SECTION_SIZE: u64 = 0x6;
const OF_HTTP2: [u64; 4] = [0x2, 0x3, 0x4, 0x5];

/// The place of GOAWAY among the frames that are counted.
pub const GOAWAY: usize = Http3FrameKind::GoAway as usize;

/// Frames and bytes of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Http3Counts {
    /// Frames received: DATA, HEADERS, CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID, all others.
    pub received: [u64; KINDS],
    /// Frames sent, in the same order.
    pub sent: [u64; KINDS],
    /// Streams that the peer reset, by code: 0x100 to 0x110, 0x200 to 0x202, all others.
    pub resets_received: [u64; 21],
    /// Streams that this side reset, or had the peer stop.
    pub resets_sent: [u64; 21],
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
    /// Blocks that equalled the one before.
    pub known_blocks: u64,
    /// Bytes of content that came.
    pub data_bytes: u64,
}

impl Http3Counts {
    pub(super) fn reset_received(&mut self, code: Code) {
        self.resets_received[place(code)] += 1;
    }

    pub(super) fn reset_sent(&mut self, code: Code) {
        self.resets_sent[place(code)] += 1;
    }

    pub(super) fn sent(&mut self, kind: Http3FrameKind) {
        self.sent[kind as usize] += 1;
    }

    pub(super) fn received(&mut self, kind: Http3FrameKind) {
        self.received[kind as usize] += 1;
    }
}

/// The place of a code among the counts.
fn place(code: Code) -> usize {
    match code.0 {
        code @ 0x100..=0x110 => (code - 0x100) as usize,
        code @ 0x200..=0x202 => (code - 0x200) as usize + 17,
        _ => 20,
    }
}

/// A one-way stream of the peer.
#[derive(Debug)]
enum OneWay {
    /// Its type has not come whole.
    Unknown([u8; 8], usize),
    Control(Box<FrameReader>),
    Encoder,
    Decoder,
}

/// The state of a connection beside its requests.
#[derive(Debug, Default)]
pub(super) struct Core {
    pub counts: Http3Counts,
    /// The peer's SETTINGS came.
    pub settled: bool,
    /// Bytes of the fields of a message that the peer takes; `None`: no limit is known.
    pub peer_field_section: Option<u64>,
    /// Identifier in the peer's last GOAWAY.
    pub goaway: Option<u64>,
    /// The stream of this side's control frames, and what no window had room for there.
    control: Option<u64>,
    unsent: Vec<u8>,
    streams: Vec<(u64, OneWay)>,
    /// Types of one-way streams of which the peer may have one, and has.
    seen: [bool; 4],
    idle: u32,
    /// First bytes of the last breach.
    pub sample: Vec<u8>,
    /// The peer is a server.
    from_server: bool,
}

impl Core {
    /// That of a client, whose peer is a server.
    pub(super) fn of_client() -> Core {
        Core { from_server: true, ..Core::default() }
    }

    /// Opens the control stream, and says there what this side takes.
    pub(super) fn open(&mut self, quic: &mut Quic, field_section: u32) {
        if self.control.is_some() {
            return;
        }
        let Some(stream) = quic.open(false) else { return };
        self.control = Some(stream);
        let mut settings = Vec::new();
        frame::put_varint(MAX_FIELD_SECTION_SIZE, &mut settings);
        frame::put_varint(field_section.into(), &mut settings);
        let mut out = vec![CONTROL as u8];
        frame::head(0x4, settings.len() as u64, &mut out);
        out.extend_from_slice(&settings);
        self.counts.sent(Http3FrameKind::Settings);
        self.unsent = out;
        self.flush(quic);
    }

    /// Opens no control stream: another one stands for it.
    #[cfg(test)]
    pub(super) fn say_nothing(&mut self) {
        self.control = Some(u64::MAX);
    }

    /// Sends what is left of this side's control frames.
    pub(super) fn flush(&mut self, quic: &mut Quic) {
        if let (Some(control), false) = (self.control, self.unsent.is_empty())
            && let QuicWritten::Bytes(count) = quic.write(control, &self.unsent)
        {
            self.unsent.drain(..count);
        }
    }

    /// Says that no request from this one on is taken.
    pub(super) fn go_away(&mut self, quic: &mut Quic, first: u64) {
        let mut payload = Vec::new();
        frame::put_varint(first, &mut payload);
        frame::head(0x7, payload.len() as u64, &mut self.unsent);
        self.unsent.extend_from_slice(&payload);
        self.counts.sent(Http3FrameKind::GoAway);
        self.flush(quic);
    }

    /// Forgets the streams of a connection that begins anew, because the server refused what came early.
    pub(super) fn begin_again(&mut self) {
        self.control = None;
        self.unsent.clear();
    }

    /// Takes the one-way streams that the peer opened.
    pub(super) fn accept(&mut self, quic: &mut Quic) -> Result<(), ConnectionError> {
        while let Some(stream) = quic.accept(false) {
            debug_assert!(self.streams.len() < STREAMS_LIMIT, "QUIC allows fewer streams");
            self.streams.push((stream, OneWay::Unknown([0; 8], 0)));
            self.read(quic, stream)?;
        }
        Ok(())
    }

    /// Reads what came on a one-way stream of the peer.
    pub(super) fn read(&mut self, quic: &mut Quic, stream: u64) -> Result<(), ConnectionError> {
        let Some(at) = self.streams.iter().position(|(known, _)| *known == stream) else { return Ok(()) };
        let (_, mut state) = self.streams.swap_remove(at);
        let mut wanted = true;
        let read = quic.read(stream, usize::MAX, |bytes| {
            wanted = self.take(&mut state, bytes)?;
            Ok(wanted)
        })?;
        let critical = !matches!(state, OneWay::Unknown(..));
        match read {
            QuicRead::Ended | QuicRead::Reset(_) if critical => Err(Http3::CriticalStream.into()),
            QuicRead::Ended | QuicRead::Reset(_) => Ok(()),
            QuicRead::Enough if !wanted => {
                quic.stop(stream, error::STREAM_CREATION_ERROR);
                Ok(())
            }
            QuicRead::Blocked | QuicRead::Enough | QuicRead::Gone => {
                self.streams.push((stream, state));
                Ok(())
            }
        }
    }

    /// Remembers the bytes that a breach begins with, to be shown.
    #[cold]
    pub(super) fn show(&mut self, bytes: &[u8]) {
        self.sample = bytes[..bytes.len().min(SHOWN)].to_vec();
    }

    /// Takes bytes of a one-way stream; `false`: nobody wants it.
    fn take(&mut self, state: &mut OneWay, bytes: &[u8]) -> Result<bool, ConnectionError> {
        self.sample.clear();
        self.take_bytes(state, bytes).map_err(|breach| {
            if self.sample.is_empty() {
                self.show(bytes);
            }
            breach.into()
        })
    }

    fn take_bytes(&mut self, state: &mut OneWay, mut bytes: &[u8]) -> Result<bool, Breach> {
        if let OneWay::Unknown(head, have) = state {
            let number = loop {
                if let Some((number, _)) = varint(&head[..*have]) {
                    break number;
                }
                let Some((first, rest)) = bytes.split_first() else { return Ok(true) };
                head[*have] = *first;
                *have += 1;
                bytes = rest;
            };
            let Some(known) = self.begin(number)? else { return Ok(false) };
            *state = known;
        }
        match state {
            OneWay::Control(reader) => self.control(reader, bytes)?,
            // Only a table of no size can be asked for (RFC 9204 section 4.3.1).
            OneWay::Encoder if bytes.iter().any(|byte| *byte != 0x20) => {
                return Err(Qpack::EncoderStream.into());
            }
            // Streams that were cancelled may be told (section 4.4.2), and nothing else can have happened.
            OneWay::Decoder if bytes.first().is_some_and(|byte| byte & 0xC0 != 0x40) => {
                return Err(Qpack::DecoderStream.into());
            }
            OneWay::Encoder | OneWay::Decoder | OneWay::Unknown(..) => {}
        }
        Ok(true)
    }

    /// The type of a one-way stream is known; `None`: it is one that nobody wants.
    fn begin(&mut self, number: u64) -> Result<Option<OneWay>, Http3> {
        if number == PUSH {
            return Err(if self.from_server { Http3::PushStream } else { Http3::ClientPush });
        }
        if number > DECODER {
            return Ok(None);
        }
        if std::mem::replace(&mut self.seen[number as usize], true) {
            return Err(Http3::SecondStream);
        }
        Ok(Some(match number {
            CONTROL => OneWay::Control(Box::default()),
            ENCODER => OneWay::Encoder,
            _ => OneWay::Decoder,
        }))
    }

    fn control(&mut self, reader: &mut FrameReader, mut bytes: &[u8]) -> Result<(), Http3> {
        // Where the frame that is read began.
        let mut frame = bytes;
        loop {
            let before = bytes;
            let read = match reader.next(&mut bytes, FRAME_LIMIT) {
                Ok(None) => return Ok(()),
                Ok(Some(Http3Piece::Begins(kind))) => {
                    frame = before;
                    self.arrived(kind)
                }
                Ok(Some(Http3Piece::Data(_) | Http3Piece::TooLong)) => Ok(()),
                Ok(Some(Http3Piece::Whole(kind, Payload::Here(payload)))) => self.frame(kind, payload),
                Ok(Some(Http3Piece::Whole(kind, Payload::Kept))) => {
                    let payload = std::mem::take(&mut reader.kept);
                    self.frame(kind, &payload)
                }
                Err(breach) => Err(breach),
            };
            read.inspect_err(|_| self.show(frame))?;
        }
    }

    /// A frame of the control stream begins: whether it may.
    fn arrived(&mut self, kind: Http3FrameKind) -> Result<(), Http3> {
        self.counts.received(kind);
        match kind {
            Http3FrameKind::Settings if self.settled => Err(Http3::SecondSettings),
            Http3FrameKind::Settings => Ok(()),
            _ if !self.settled => Err(Http3::MissingSettings),
            Http3FrameKind::Data | Http3FrameKind::Headers | Http3FrameKind::PushPromise => {
                Err(Http3::RequestFrame)
            }
            Http3FrameKind::MaxPushId if self.from_server => Err(Http3::MaxPushId),
            Http3FrameKind::CancelPush
            | Http3FrameKind::GoAway
            | Http3FrameKind::MaxPushId
            | Http3FrameKind::Other => {
                self.idle += 1;
                if self.idle > IDLE_FRAMES { Err(Http3::IdleFlood) } else { Ok(()) }
            }
        }
    }

    fn frame(&mut self, kind: Http3FrameKind, payload: &[u8]) -> Result<(), Http3> {
        match kind {
            Http3FrameKind::Settings => self.settings(payload),
            Http3FrameKind::GoAway => {
                let first = only(payload)?;
                if self.from_server && first % 4 != 0 {
                    return Err(Http3::GoAwayId);
                }
                if self.goaway.is_some_and(|before| before < first) {
                    return Err(Http3::GoAwayMore);
                }
                self.goaway = Some(first);
                Ok(())
            }
            Http3FrameKind::CancelPush => {
                only(payload)?;
                Err(Http3::CancelPush)
            }
            Http3FrameKind::MaxPushId => only(payload).map(drop),
            Http3FrameKind::Data
            | Http3FrameKind::Headers
            | Http3FrameKind::PushPromise
            | Http3FrameKind::Other => Ok(()),
        }
    }

    fn settings(&mut self, mut payload: &[u8]) -> Result<(), Http3> {
        self.settled = true;
        let mut known = Vec::new();
        while !payload.is_empty() {
            let (id, taken) = varint(payload).ok_or(Http3::SettingsCut)?;
            let (value, more) = varint(&payload[taken..]).ok_or(Http3::SettingsCut)?;
            payload = &payload[taken + more..];
            if OF_HTTP2.contains(&id) {
                return Err(Http3::SettingOfHttp2);
            }
            if known.contains(&id) {
                return Err(Http3::SettingTwice);
            }
            known.push(id);
            if id == MAX_FIELD_SECTION_SIZE {
                self.peer_field_section = Some(value);
            }
        }
        Ok(())
    }
}

/// The only integer of a payload.
fn only(payload: &[u8]) -> Result<u64, Http3> {
    match varint(payload) {
        Some((value, taken)) if taken == payload.len() => Ok(value),
        _ => Err(Http3::FrameLength),
    }
}
