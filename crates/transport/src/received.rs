//! [`Received`]: bytes lent by a connection.

use net::{Buffer, Lent};
use std::fmt;
use std::ops::{Deref, Range};

/// Received bytes in a pooled buffer that goes back when this drops. It may be held across awaits. Empty: end of stream.
///
/// Two words, so that it stays in registers on its way from the socket to whoever reads it.
pub struct Received {
    lent: Lent,
    /// Of the buffer, what is lent: over TLS, the part of it that was opened there.
    start: u32,
    end: u32,
}

impl Received {
    pub(crate) fn opened(buffer: Buffer, plain: Range<usize>) -> Received {
        // Buffers are shorter than that.
        Received { lent: buffer.into(), start: plain.start as u32, end: plain.end as u32 }
    }

    pub(crate) fn copied(buffer: Buffer) -> Received {
        Received::from(Lent::from(buffer))
    }

    /// No bytes: the end of the stream.
    pub fn end_of_stream() -> Received {
        Received::from(Lent::nothing())
    }

    /// Leaves out the first bytes.
    pub(crate) fn skip(&mut self, count: usize) {
        self.start = (self.start as usize + count).min(self.end as usize) as u32;
    }
}

impl From<Lent> for Received {
    #[inline]
    fn from(lent: Lent) -> Received {
        let end = lent.len() as u32;
        Received { lent, start: 0, end }
    }
}

impl Deref for Received {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.lent[self.start as usize..self.end as usize]
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Received({} bytes)", self.len())
    }
}
