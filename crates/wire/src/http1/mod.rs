//! HTTP/1.0 and HTTP/1.1 (RFC 9112): reads and writes messages, holds no connection.
//!
//! A reader is a state machine: [`ResponseReader::begin`], then [`ResponseReader::read`] with whatever arrived, as often
//! as something arrives. It pushes what it finds into a sink ([`ResponseSink`], [`RequestSink`]) as slices of the
//! caller's buffer; nothing is copied and nothing allocated unless a head or a trailer section arrives split. `read`
//! stops exactly at the end of the message, so that pipelined messages are read by `begin` and `read` with the rest.
//!
//! It is a tester's codec: where RFC 9112 lets a recipient repair a message whose framing is doubtful (a length
//! beside chunked), this one refuses, because the point is to tell. What it refuses has a name ([`Breach`]).
//!
//! It must not know who asked, why, or when: no sockets, no clock, no plan. Only [`Expect`] crosses over, since the
//! request decides how its response is framed (RFC 9112 section 6.3).
//!
//! Start reading at [`ResponseReader`] (`response.rs`); `request.rs` is its twin. `head.rs` gathers heads and reads the
//! fields that frame a message, `body.rs` removes the framing, `write.rs` is the way back; `batch.rs` counts requests that
//! somebody else wrote; `diagnosis.rs` names what the parser refuses.

pub mod batch;
mod body;
mod diagnosis;
mod error;
mod head;
mod memo;
mod request;
mod response;
pub mod write;

pub use breach::Http1 as Breach;
pub use error::{Error, ErrorContext};
pub use memo::HeadMemo;
pub use request::{RequestHead, RequestReader, RequestSink, Target};
pub use response::{Expect, ResponseHead, ResponseReader, ResponseSink};

/// More fields than this are refused whatever [`Http1Limits`] says: the parser's table lives on the stack.
pub const FIELDS_CAP: usize = 256;
/// Interim (1xx) responses before one final response; one more is [`Breach::InterimLimit`].
pub const INTERIM_LIMIT: usize = 16;
/// Bytes of one chunk-size line, extensions and line end included; one more is [`Breach::ChunkLineLimit`].
pub const CHUNK_LINE_LIMIT: usize = 4096;
/// Bytes of empty lines before a request line; one more is [`Breach::EmptyLines`].
pub const EMPTY_LINES_LIMIT: usize = 16;

/// Limits of a peer's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http1Limits {
    /// Bytes of one head, first line to blank line; also of one trailer section.
    pub head_bytes: usize,
    /// Field lines of one head or one trailer section; at most [`FIELDS_CAP`] counts.
    pub fields: usize,
}

impl Default for Http1Limits {
    fn default() -> Self {
        Http1Limits { head_bytes: 65536, fields: 128 }
    }
}

/// The protocol version in a first line (RFC 9112 section 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `HTTP/1.0`
    Http10,
    /// `HTTP/1.1`
    Http11,
    /// `HTTP/2`, told of answers that came over it; no first line has it.
    Http2,
    /// `HTTP/3`, likewise.
    Http3,
}

impl Version {
    /// The version as it stands in a first line.
    pub const fn as_bytes(self) -> &'static [u8] {
        match self {
            Version::Http10 => b"HTTP/1.0",
            Version::Http11 => b"HTTP/1.1",
            Version::Http2 => b"HTTP/2",
            Version::Http3 => b"HTTP/3",
        }
    }

    fn from_minor(minor: Option<u8>) -> Self {
        if minor == Some(0) { Version::Http10 } else { Version::Http11 }
    }
}

/// Ways to find the end of a message's content (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http1Framing {
    /// No content: the message ends with its head.
    None,
    /// So many bytes follow.
    Length(u64),
    /// Chunked transfer coding, then trailers.
    Chunked,
    /// Everything until the peer closes; also a tunnel. Responses only.
    UntilClose,
}

/// The result of one call of `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http1Progress {
    /// Bytes of the input that belong to this message and have been dealt with. Less than the input only when `done`.
    pub consumed: usize,
    /// The message is complete; what was not consumed belongs to the next one.
    pub done: bool,
}

/// The stage of a reader within its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http1Stage {
    /// No byte of the message seen yet.
    Idle,
    /// Within the head (or after an interim response).
    Head,
    /// The head is complete, content is expected.
    Body,
    /// The message is complete.
    Done,
}
