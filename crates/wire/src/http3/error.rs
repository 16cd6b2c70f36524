//! Error codes of HTTP/3 and QPACK, and errors that end a connection.

use breach::{Breach, Http3, Protocol};
use thiserror::Error;

/// An error code as HTTP/2 has it, too; those of HTTP/3 are in this module.
pub use crate::http2::Code;

/// Not an error: a graceful end (RFC 9114 section 8.1, and so on for all of these).
pub const NO_ERROR: Code = Code(0x100);
/// The sender's own fault.
pub const INTERNAL_ERROR: Code = Code(0x102);
/// A stream that the peer may not open.
pub const STREAM_CREATION_ERROR: Code = Code(0x103);
/// A stream that the connection needs was closed.
pub const CLOSED_CRITICAL_STREAM: Code = Code(0x104);
/// A frame where it may not be.
pub const FRAME_UNEXPECTED: Code = Code(0x105);
/// A frame that is cut off or of a wrong length.
pub const FRAME_ERROR: Code = Code(0x106);
/// The peer might be causing excessive load.
pub const EXCESSIVE_LOAD: Code = Code(0x107);
/// An identifier that may not be.
pub const ID_ERROR: Code = Code(0x108);
/// A SETTINGS frame with what it may not have.
pub const SETTINGS_ERROR: Code = Code(0x109);
/// No SETTINGS at the beginning of the control stream.
pub const MISSING_SETTINGS: Code = Code(0x10A);
/// Nothing of the request was processed: it may be sent again.
pub const REQUEST_REJECTED: Code = Code(0x10B);
/// The request, or its answer, is no longer wanted.
pub const REQUEST_CANCELLED: Code = Code(0x10C);
/// The request ended before it was whole.
pub const REQUEST_INCOMPLETE: Code = Code(0x10D);
/// A message that is malformed.
pub const MESSAGE_ERROR: Code = Code(0x10E);
/// A field block cannot be decoded (RFC 9204 section 6).
pub const DECOMPRESSION_FAILED: Code = Code(0x200);
/// Instructions of the peer's encoder that may not be.
pub const ENCODER_STREAM_ERROR: Code = Code(0x201);
/// Instructions of the peer's decoder that may not be.
pub const DECODER_STREAM_ERROR: Code = Code(0x202);

/// A code that came; those beyond 32 bits are none that is known.
pub(super) fn code(number: u64) -> Code {
    Code(u32::try_from(number).unwrap_or(u32::MAX))
}

/// The code that a breach over HTTP/3 is answered with.
///
/// # Panics
/// If it is none of HTTP/3, or of what HTTP/3 shares with HTTP/2.
pub fn code_of(breach: Breach) -> Code {
    let code =
        breach.code(Protocol::Http3).expect("the catalogue has a code of HTTP/3 for each that occurs there");
    Code(code.number as u32)
}

/// The peer broke the protocol: the connection is closed with the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{}", breach.text())]
pub struct ConnectionError {
    /// Name of the violation that the peer committed.
    pub breach: Breach,
}

impl ConnectionError {
    /// Error code that the connection is closed with.
    pub fn code(&self) -> Code {
        code_of(self.breach)
    }
}

impl From<Breach> for ConnectionError {
    fn from(breach: Breach) -> ConnectionError {
        ConnectionError { breach }
    }
}

impl From<Http3> for ConnectionError {
    fn from(breach: Http3) -> ConnectionError {
        ConnectionError { breach: breach.into() }
    }
}

/// How a connection was lost.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Lost {
    /// The peer closed it: with a code of HTTP/3, and a text.
    #[error("closed by the peer with {code:#x}: {text}")]
    Closed {
        /// Its code.
        code: u64,
        /// Its text.
        text: String,
    },
    /// QUIC closed it, at the peer: with a code of RFC 9000 section 20.1, and a text.
    #[error("closed by the peer's QUIC with {code:#x}: {text}")]
    Aborted {
        /// Its code.
        code: u64,
        /// Its text.
        text: String,
    },
    /// The peer ended TLS with an alert (RFC 9001 section 4.8).
    #[error("closed by the peer with TLS alert {0}")]
    Alert(u8),
    /// TLS failed at this end, which sent this alert.
    #[error("TLS failed here, with alert {0}")]
    Refused(u8),
    /// QUIC closed it, at this end: with a code of RFC 9000 section 20.1, and a text.
    #[error("closed by QUIC at this end with {code:#x}: {text}")]
    Broken {
        /// Its code.
        code: u64,
        /// Its text.
        text: String,
    },
    /// The peer broke a rule of HTTP/3, so that this end closed it.
    #[error("closed by this end: {}", .0.text())]
    Breach(Breach),
    /// The peer knows nothing of the connection (stateless reset).
    #[error("reset by the peer")]
    Reset,
    /// Nothing came for the time that both ends allow.
    #[error("nothing came for too long")]
    Idle,
    /// The peer speaks no version of QUIC that is spoken here.
    #[error("no version of QUIC in common")]
    Version,
    /// This end closed it.
    #[error("closed by this end")]
    Here,
}
