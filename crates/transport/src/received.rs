//! [`Received`]: bytes lent by a connection.

use net::{Buffer, Lent};
use std::fmt;
use std::ops::{Deref, Range};

/// Received bytes in a pooled buffer that goes back when this drops. It may be held across awaits. Empty: end of stream.
pub struct Received(Bytes);

enum Bytes {
    /// As they came.
    Plain(Lent),
    /// Opened in the buffer that they came in.
    Opened(Buffer, Range<usize>),
    Copied(Buffer),
    None,
}

impl Received {
    pub(crate) fn opened(buffer: Buffer, plain: Range<usize>) -> Received {
        Received(Bytes::Opened(buffer, plain))
    }

    pub(crate) fn copied(buffer: Buffer) -> Received {
        Received(Bytes::Copied(buffer))
    }

    pub(crate) fn end_of_stream() -> Received {
        Received(Bytes::None)
    }

    /// Leaves out the first bytes.
    pub(crate) fn skip(&mut self, count: usize) {
        if let Bytes::Opened(_, plain) = &mut self.0 {
            plain.start = (plain.start + count).min(plain.end);
        }
    }
}

impl From<Lent> for Received {
    #[inline]
    fn from(lent: Lent) -> Received {
        Received(Bytes::Plain(lent))
    }
}

impl Deref for Received {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Plain(lent) => lent,
            Bytes::Opened(buffer, plain) => &buffer[plain.clone()],
            Bytes::Copied(buffer) => buffer,
            Bytes::None => &[],
        }
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Received({} bytes)", self.len())
    }
}
