//! Byte buffers from a bounded pool: [`Buffer`] to compose a message in, [`Lent`] for what was received.
//!
//! The pool is a stack, so that the buffer used next is the one still warm in the cache. It must not know about sockets.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Free buffers kept at most; more are given back to the allocator.
const FREE_MAX: usize = 1024;

/// A buffer that grew beyond this many times the usual size is not kept.
const GROWTH_MAX: usize = 4;

pub(crate) struct Pool {
    free: RefCell<Vec<Vec<u8>>>,
    buffer_bytes: usize,
    outstanding: Cell<usize>,
}

impl Pool {
    pub(crate) fn new(buffer_bytes: usize) -> Rc<Self> {
        Rc::new(Self {
            free: RefCell::new(Vec::with_capacity(FREE_MAX)),
            buffer_bytes: buffer_bytes.max(1),
            outstanding: Cell::new(0),
        })
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding.get()
    }

    pub(crate) fn take(self: &Rc<Self>) -> Buffer {
        self.hand_out(self.take_bytes())
    }

    /// Empty bytes of the usual size that are in nobody's hands, for a kernel to fill.
    pub(crate) fn take_bytes(&self) -> Vec<u8> {
        let free = self.free.borrow_mut().pop();
        free.unwrap_or_else(|| Vec::with_capacity(self.buffer_bytes))
    }

    /// Puts bytes into somebody's hands.
    pub(crate) fn hand_out(self: &Rc<Self>, bytes: Vec<u8>) -> Buffer {
        self.outstanding.set(self.outstanding.get() + 1);
        Buffer { bytes, pool: self.clone() }
    }

    fn give_back(&self, mut bytes: Vec<u8>) {
        self.outstanding.set(self.outstanding.get() - 1);
        let usual = self.buffer_bytes..=self.buffer_bytes * GROWTH_MAX;
        let mut free = self.free.borrow_mut();
        if free.len() < FREE_MAX && usual.contains(&bytes.capacity()) {
            bytes.clear();
            free.push(bytes);
        }
    }
}

/// A pooled byte buffer for composing a message. It goes back to the pool when it drops or when its send ended.
pub struct Buffer {
    bytes: Vec<u8>,
    pool: Rc<Pool>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.bytes));
    }
}

impl Deref for Buffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes.len())
    }
}

/// Received bytes in a pooled buffer that goes back when this drops. It may be held across awaits. Empty: end of stream.
pub struct Lent(Buffer);

impl Lent {
    pub(crate) fn new(filled: Buffer) -> Self {
        Self(filled)
    }

    /// The same bytes as a buffer to change or to send on; nothing is copied.
    pub fn into_buffer(self) -> Buffer {
        self.0
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_dropped_buffer_is_taken_next() {
        let pool = Pool::new(64);
        let mut first = pool.take();
        first.write_all(b"some").unwrap();
        let place = first.as_ptr();
        assert_eq!(pool.outstanding(), 1);
        drop(first);
        let second = pool.take();
        assert_eq!((second.as_ptr(), second.len()), (place, 0));
    }

    #[test]
    fn buffers_of_unusual_size_are_not_kept() {
        let pool = Pool::new(64);
        pool.take().reserve(64 * GROWTH_MAX + 1);
        drop(std::mem::take(&mut *pool.take()));
        assert_eq!(pool.free.borrow().len(), 0);
        assert_eq!(pool.outstanding(), 0);
    }

    #[test]
    fn the_pool_is_bounded() {
        let pool = Pool::new(1);
        let many: Vec<_> = (0..FREE_MAX + 10).map(|_| pool.take()).collect();
        drop(many);
        assert_eq!(pool.free.borrow().len(), FREE_MAX);
    }
}
