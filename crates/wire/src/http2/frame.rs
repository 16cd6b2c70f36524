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
pub enum Kind {
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

impl Kind {
    /// All, in the order of their numbers.
    pub const ALL: [Kind; 11] = [
        Kind::Data,
        Kind::Headers,
        Kind::Priority,
        Kind::RstStream,
        Kind::Settings,
        Kind::PushPromise,
        Kind::Ping,
        Kind::GoAway,
        Kind::WindowUpdate,
        Kind::Continuation,
        Kind::Unknown,
    ];

    /// Its name in RFC 9113.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Data => "DATA",
            Kind::Headers => "HEADERS",
            Kind::Priority => "PRIORITY",
            Kind::RstStream => "RST_STREAM",
            Kind::Settings => "SETTINGS",
            Kind::PushPromise => "PUSH_PROMISE",
            Kind::Ping => "PING",
            Kind::GoAway => "GOAWAY",
            Kind::WindowUpdate => "WINDOW_UPDATE",
            Kind::Continuation => "CONTINUATION",
            Kind::Unknown => "unknown",
        }
    }

    fn of(number: u8) -> Kind {
        Kind::ALL.get(usize::from(number)).copied().unwrap_or(Kind::Unknown)
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the payload.
    pub length: u32,
    pub kind: Kind,
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
            kind: Kind::of(number),
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
pub(super) fn header(kind: Kind, flags: u8, stream: u32, length: usize, out: &mut Vec<u8>) {
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
    header(Kind::RstStream, 0, stream, 4, out);
    out.extend_from_slice(&code.0.to_be_bytes());
}

pub(super) fn window_update(stream: u32, increment: u32, out: &mut Vec<u8>) {
    header(Kind::WindowUpdate, 0, stream, 4, out);
    out.extend_from_slice(&increment.to_be_bytes());
}

pub(super) fn ping(flags: u8, payload: [u8; 8], out: &mut Vec<u8>) {
    header(Kind::Ping, flags, 0, 8, out);
    out.extend_from_slice(&payload);
}

pub(super) fn settings_ack(out: &mut Vec<u8>) {
    header(Kind::Settings, ACK, 0, 0, out);
}

pub(super) fn goaway(last: u32, code: Code, text: &[u8], out: &mut Vec<u8>) {
    header(Kind::GoAway, 0, 0, 8 + text.len(), out);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
    out.extend_from_slice(text);
}
