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
    #[expect(clippy::vec_box, reason = "they go in and out as boxes, which are one word")]
    free: RefCell<Vec<Box<Pooled>>>,
    buffer_bytes: usize,
    outstanding: Cell<usize>,
}

/// The memory of a buffer.
pub(crate) struct Pooled {
    bytes: Vec<u8>,
    /// Where it belongs, while it is in somebody's hands.
    pool: Option<Rc<Pool>>,
}

impl Pooled {
    /// Returns the memory that the kernel may fill.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
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
        self.hand_out(self.take_free())
    }

    /// An empty one of the usual size that is in nobody's hands, for a kernel to fill.
    pub(crate) fn take_free(&self) -> Box<Pooled> {
        let free = self.free.borrow_mut().pop();
        let fresh = || Box::new(Pooled { bytes: Vec::with_capacity(self.buffer_bytes), pool: None });
        free.unwrap_or_else(fresh)
    }

    /// Puts it into somebody's hands.
    pub(crate) fn hand_out(self: &Rc<Self>, mut pooled: Box<Pooled>) -> Buffer {
        self.outstanding.set(self.outstanding.get() + 1);
        pooled.pool = Some(self.clone());
        Buffer(Some(pooled))
    }

    fn give_back(&self, mut pooled: Box<Pooled>) {
        self.outstanding.set(self.outstanding.get() - 1);
        let usual = self.buffer_bytes..=self.buffer_bytes * GROWTH_MAX;
        let mut free = self.free.borrow_mut();
        if free.len() < FREE_MAX && usual.contains(&pooled.bytes.capacity()) {
            pooled.bytes.clear();
            free.push(pooled);
        }
    }
}

/// A pooled byte buffer for composing a message. It goes back to the pool when it drops or when its send ended.
///
/// One word, so that results of receives fit into registers on their way up.
pub struct Buffer(Option<Box<Pooled>>);

impl Buffer {
    /// Without memory, for what will only be read.
    const NONE: Self = Self(None);
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        if let Some(mut pooled) = self.0.take()
            && let Some(pool) = pooled.pool.take()
        {
            pool.give_back(pooled);
        }
    }
}

/// Content of a buffer without memory.
static NOTHING: Vec<u8> = Vec::new();

impl Deref for Buffer {
    type Target = Vec<u8>;

    #[inline]
    fn deref(&self) -> &Vec<u8> {
        self.0.as_ref().map_or(&NOTHING, |pooled| &pooled.bytes)
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0.as_mut().expect("only what is lent is without memory").bytes
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}

/// Received bytes in a pooled buffer that goes back when this drops. It may be held across awaits. Empty: end of stream.
pub struct Lent(Buffer);

impl From<Buffer> for Lent {
    #[inline]
    fn from(filled: Buffer) -> Self {
        Self(filled)
    }
}

impl Lent {
    /// Nothing, as at the end of a stream.
    pub fn nothing() -> Self {
        Self(Buffer::NONE)
    }

    /// The same bytes as a buffer to change or to send on; nothing is copied.
    pub fn into_buffer(self) -> Buffer {
        self.0
    }
}

impl Deref for Lent {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
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
