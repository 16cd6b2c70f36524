//! Frames (RFC 9114 section 7), and the integers of QUIC (RFC 9000 section 16).

use breach::{Http3, Message};

/// Bytes that the type and the length of a frame have at most.
const HEAD: usize = 16;

/// The types of frames that are counted apart, in the order of [`Http3FrameKind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Http3FrameKind {
    Data,
    Headers,
    CancelPush,
    Settings,
    PushPromise,
    GoAway,
    MaxPushId,
    /// Whatever else: it is passed over.
    Other,
}

/// Number of the types.
pub(super) const KINDS: usize = 8;

impl Http3FrameKind {
    /// The type with a number; those of HTTP/2 that HTTP/3 has not are an error (section 7.2.8).
    pub(super) fn of(number: u64) -> Result<Http3FrameKind, Http3> {
        Ok(match number {
            0x0 => Http3FrameKind::Data,
            0x1 => Http3FrameKind::Headers,
            0x3 => Http3FrameKind::CancelPush,
            0x4 => Http3FrameKind::Settings,
            0x5 => Http3FrameKind::PushPromise,
            0x7 => Http3FrameKind::GoAway,
            0xD => Http3FrameKind::MaxPushId,
            0x2 | 0x6 | 0x8 | 0x9 => return Err(Http3::FrameOfHttp2),
            _ => Http3FrameKind::Other,
        })
    }
}

/// The integer at the front of `input`, and the bytes that it takes; `None`: it is cut off.
pub(super) fn varint(input: &[u8]) -> Option<(u64, usize)> {
    let first = *input.first()?;
    let length = 1 << (first >> 6);
    let bytes = input.get(..length)?;
    let value = bytes[1..].iter().fold(u64::from(first & 0x3F), |value, byte| value << 8 | u64::from(*byte));
    Some((value, length))
}

/// Appends an integer below 2^62.
pub(super) fn put_varint(value: u64, out: &mut Vec<u8>) {
    match value {
        0..=0x3F => out.push(value as u8),
        0x40..=0x3FFF => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..=0x3FFF_FFFF => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xC000_0000_0000_0000).to_be_bytes()),
    }
}

/// Appends the type and the length of a frame.
pub(super) fn head(number: u64, length: u64, out: &mut Vec<u8>) {
    put_varint(number, out);
    put_varint(length, out);
}

/// A part of a stream of frames.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Http3Piece<'b> {
    /// A frame begins.
    Begins(Http3FrameKind),
    /// A part of the payload of DATA, not empty.
    Data(&'b [u8]),
    /// The payload of a frame that is kept until it is whole: of HEADERS, or of a frame of the control stream.
    Whole(Http3FrameKind, Payload<'b>),
    /// The payload of HEADERS is longer than is kept: it is passed over.
    TooLong,
}

/// Result of a piece of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Http3Taken {
    /// Nothing is left of what came.
    All,
    /// It breaks a rule for messages.
    Broken(Message),
}

/// Where a whole payload is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Payload<'b> {
    /// In what came.
    Here(&'b [u8]),
    /// In [`FrameReader::kept`], because it came in parts.
    Kept,
}

#[derive(Debug, Default)]
enum Http3State {
    #[default]
    Head,
    Data(u64),
    Kept(Http3FrameKind, usize),
    /// Longer than is kept.
    TooLong(Http3FrameKind, u64),
    Skipped(u64),
}

/// Reads the frames of one stream, however it is cut.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    state: Http3State,
    head: [u8; HEAD],
    have: usize,
    /// A payload that came in parts.
    pub kept: Vec<u8>,
}

impl FrameReader {
    /// True if a frame has come in part.
    pub(super) fn is_within_frame(&self) -> bool {
        self.have > 0 || !matches!(self.state, Http3State::Head)
    }

    /// The next part of `input`, of which it takes so much. `None`: all is taken. `most`: bytes of a payload that is kept.
    pub(super) fn next<'b>(
        &mut self,
        input: &mut &'b [u8],
        most: usize,
    ) -> Result<Option<Http3Piece<'b>>, Http3> {
        loop {
            match &mut self.state {
                Http3State::Head => match self.begin(input, most)? {
                    Some(kind) => return Ok(Some(Http3Piece::Begins(kind))),
                    None => return Ok(None),
                },
                Http3State::Data(0) | Http3State::Skipped(0) => self.state = Http3State::Head,
                Http3State::Data(left) => {
                    let Some(bytes) = take(input, left) else { return Ok(None) };
                    return Ok(Some(Http3Piece::Data(bytes)));
                }
                Http3State::Skipped(left) => {
                    if take(input, left).is_none() {
                        return Ok(None);
                    }
                }
                Http3State::TooLong(Http3FrameKind::Headers, length) => {
                    self.state = Http3State::Skipped(*length);
                    return Ok(Some(Http3Piece::TooLong));
                }
                Http3State::TooLong(..) => return Err(Http3::FrameLimit),
                Http3State::Kept(kind, length) => {
                    let kind = *kind;
                    let length = *length;
                    let payload = if self.kept.is_empty() && input.len() >= length {
                        let (payload, rest) = input.split_at(length);
                        *input = rest;
                        Payload::Here(payload)
                    } else {
                        let missing = (length - self.kept.len()).min(input.len());
                        let (part, rest) = input.split_at(missing);
                        self.kept.extend_from_slice(part);
                        *input = rest;
                        if self.kept.len() < length {
                            return Ok(None);
                        }
                        Payload::Kept
                    };
                    self.state = Http3State::Head;
                    return Ok(Some(Http3Piece::Whole(kind, payload)));
                }
            }
        }
    }

    /// Reads the type and the length of the next frame; `None`: they are not all there yet.
    fn begin(&mut self, input: &mut &[u8], most: usize) -> Result<Option<Http3FrameKind>, Http3> {
        while let Some((first, rest)) = input.split_first() {
            self.head[self.have] = *first;
            self.have += 1;
            *input = rest;
            let known = &self.head[..self.have];
            let Some((number, taken)) = varint(known) else { continue };
            let Some((length, _)) = varint(&known[taken..]) else { continue };
            self.have = 0;
            let kind = Http3FrameKind::of(number)?;
            self.state = match kind {
                Http3FrameKind::Data => Http3State::Data(length),
                Http3FrameKind::Other => Http3State::Skipped(length),
                kind if length > most as u64 => Http3State::TooLong(kind, length),
                _ => {
                    self.kept.clear();
                    Http3State::Kept(kind, length as usize)
                }
            };
            return Ok(Some(kind));
        }
        Ok(None)
    }
}

/// Takes as much as is left from the front; `None`: nothing is there.
fn take<'b>(input: &mut &'b [u8], left: &mut u64) -> Option<&'b [u8]> {
    if input.is_empty() {
        return None;
    }
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
    let (bytes, rest) = input.split_at(length);
    *input = rest;
    *left -= length as u64;
    Some(bytes)
}
