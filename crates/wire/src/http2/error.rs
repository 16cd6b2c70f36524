//! Error codes, and errors that end a connection.

use breach::{Breach, Protocol};
use std::fmt;
use thiserror::Error;

/// An error code of RST_STREAM and GOAWAY (RFC 9113 section 7); unknown ones are kept as they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub u32);

impl Code {
    /// Not an error: a graceful end.
    pub const NO_ERROR: Code = Code(0x0);
    /// The peer did what the protocol forbids.
    pub const PROTOCOL_ERROR: Code = Code(0x1);
    /// The sender's own fault.
    pub const INTERNAL_ERROR: Code = Code(0x2);
    /// More data than a window allows.
    pub const FLOW_CONTROL_ERROR: Code = Code(0x3);
    /// SETTINGS were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Code = Code(0x4);
    /// A frame for a stream that is closed.
    pub const STREAM_CLOSED: Code = Code(0x5);
    /// A frame of a wrong length.
    pub const FRAME_SIZE_ERROR: Code = Code(0x6);
    /// Nothing of the request was processed: it may be sent again.
    pub const REFUSED_STREAM: Code = Code(0x7);
    /// The stream is no longer wanted.
    pub const CANCEL: Code = Code(0x8);
    /// A field block cannot be decoded.
    pub const COMPRESSION_ERROR: Code = Code(0x9);
    /// The connection of a CONNECT request broke.
    pub const CONNECT_ERROR: Code = Code(0xA);
    /// The peer might be causing excessive load.
    pub const ENHANCE_YOUR_CALM: Code = Code(0xB);
    /// TLS is not good enough.
    pub const INADEQUATE_SECURITY: Code = Code(0xC);
    /// The request needs HTTP/1.1.
    pub const HTTP_1_1_REQUIRED: Code = Code(0xD);

    /// The code that a breach over HTTP/2 is answered with.
    ///
    /// # Panics
    /// If it is none of HTTP/2, or of what HTTP/2 shares with HTTP/3.
    pub fn of(breach: Breach) -> Code {
        let code = breach
            .code(Protocol::Http2)
            .expect("the catalogue has a code of HTTP/2 for each that occurs there");
        Code(code.number as u32)
    }
}

/// Its number; the catalogue has names.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The peer broke the protocol: the connection is over. GOAWAY with the code stands in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{}", breach.text())]
pub struct ConnectionError {
    /// Name of the violation that the peer committed.
    pub breach: Breach,
}

impl ConnectionError {
    /// Error code in GOAWAY.
    pub fn code(&self) -> Code {
        Code::of(self.breach)
    }
}

/// Extent of a breach, with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// The connection.
    Connection(Breach),
    /// A stream, or what was to become one.
    Stream(u32, Breach),
}

impl Broken {
    /// Of a stream.
    pub(super) fn stream(stream: u32, breach: impl Into<Breach>) -> Broken {
        Broken::Stream(stream, breach.into())
    }
}

/// Most breaches are the connection's.
impl<B: Into<Breach>> From<B> for Broken {
    fn from(breach: B) -> Broken {
        Broken::Connection(breach.into())
    }
}
