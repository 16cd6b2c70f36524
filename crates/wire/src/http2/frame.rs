//! Frames (RFC 9113 sections 4 and 6): their headers read and written.

use super::error::Code;

/// Bytes of a frame's header.
pub(super) const HEADER_LEN: usize = 9;
/// Largest payload before SETTINGS allow more; no peer may be denied it.
pub(super) const LEAST_FRAME_SIZE: u32 = 16_384;
/// Largest payload that SETTINGS may allow.
pub(super) const MOST_FRAME_SIZE: u32 = (1 << 24) - 1;

/// END_STREAM of DATA and HEADERS; ACK of SETTINGS and PING.
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITY_FLAG: u8 = 0x20;

/// Type of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http2FrameKind {
    /// Content.
    Data,
    /// A field block, or its beginning.
    Headers,
    /// Deprecated priority.
    Priority,
    /// End of a stream by error.
    RstStream,
    /// Parameters of the connection.
    Settings,
    /// A promised answer.
    PushPromise,
    /// A question that is answered by an equal one.
    Ping,
    /// The connection accepts no more streams.
    GoAway,
    /// More may be sent.
    WindowUpdate,
    /// The rest of a field block.
    Continuation,
    /// A type that RFC 9113 does not know.
    Unknown,
}

impl Http2FrameKind {
    /// All, in the order of their numbers.
    pub const ALL: [Http2FrameKind; 11] = [
        Http2FrameKind::Data,
        Http2FrameKind::Headers,
        Http2FrameKind::Priority,
        Http2FrameKind::RstStream,
        Http2FrameKind::Settings,
        Http2FrameKind::PushPromise,
        Http2FrameKind::Ping,
        Http2FrameKind::GoAway,
        Http2FrameKind::WindowUpdate,
        Http2FrameKind::Continuation,
        Http2FrameKind::Unknown,
    ];

    /// Its name in RFC 9113.
    pub fn name(self) -> &'static str {
        match self {
            Http2FrameKind::Data => "DATA",
            Http2FrameKind::Headers => "HEADERS",
            Http2FrameKind::Priority => "PRIORITY",
            Http2FrameKind::RstStream => "RST_STREAM",
            Http2FrameKind::Settings => "SETTINGS",
            Http2FrameKind::PushPromise => "PUSH_PROMISE",
            Http2FrameKind::Ping => "PING",
            Http2FrameKind::GoAway => "GOAWAY",
            Http2FrameKind::WindowUpdate => "WINDOW_UPDATE",
            Http2FrameKind::Continuation => "CONTINUATION",
            Http2FrameKind::Unknown => "unknown",
        }
    }

    fn of(number: u8) -> Http2FrameKind {
        Http2FrameKind::ALL.get(usize::from(number)).copied().unwrap_or(Http2FrameKind::Unknown)
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the payload.
    pub length: u32,
    pub kind: Http2FrameKind,
    /// The number of the type, also of one that is not known.
    pub number: u8,
    pub flags: u8,
    pub stream: u32,
}

impl Header {
    #[inline]
    pub(super) fn read(bytes: &[u8; HEADER_LEN]) -> Header {
        let [a, b, c, number, flags, stream @ ..] = *bytes;
        Header {
            length: u32::from_be_bytes([0, a, b, c]),
            kind: Http2FrameKind::of(number),
            number,
            flags,
            stream: u32::from_be_bytes(stream) & 0x7FFF_FFFF,
        }
    }

    /// The bytes that it was read of.
    pub(super) fn bytes(&self) -> [u8; HEADER_LEN] {
        let [_, a, b, c] = self.length.to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        [a, b, c, self.number, self.flags, d, e, f, g]
    }

    #[inline]
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends the header of a frame.
#[inline]
pub(super) fn header(kind: Http2FrameKind, flags: u8, stream: u32, length: usize, out: &mut Vec<u8>) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    let [d, e, f, g] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind as u8, flags, d, e, f, g]);
}

/// Sets the length of a frame whose header begins at `at` to all that was appended since.
pub(super) fn close(at: usize, out: &mut [u8]) {
    let [_, a, b, c] = ((out.len() - at - HEADER_LEN) as u32).to_be_bytes();
    out[at..at + 3].copy_from_slice(&[a, b, c]);
}

pub(super) fn rst_stream(stream: u32, code: Code, out: &mut Vec<u8>) {
    header(Http2FrameKind::RstStream, 0, stream, 4, out);
    out.extend_from_slice(&code.0.to_be_bytes());
}

pub(super) fn window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    header(Http2FrameKind::WindowUpdate, 0, stream, 4, out);
    out.extend_from_slice(&increment.to_be_bytes());
}

pub(super) fn ping(flags: u8, payload: [u8; 8], out: &mut Vec<u8>) {
    header(Http2FrameKind::Ping, flags, 0, 8, out);
    out.extend_from_slice(&payload);
}

pub(super) fn settings_ack(out: &mut Vec<u8>) {
    header(Http2FrameKind::Settings, ACK, 0, 0, out);
}

pub(super) fn goaway(last: u32, code: Code, text: &[u8], out: &mut Vec<u8>) {
    header(Http2FrameKind::GoAway, 0, 0, 8 + text.len(), out);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
    out.extend_from_slice(text);
}
