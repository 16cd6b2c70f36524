//! The buffers that the kernel receives into: pooled ones, offered in a ring, taken out when they are filled.
//!
//! A filled buffer is handed out as it is and another one from the pool takes its place, so an idle connection owns none
//! and nothing is copied. Few are offered at first, so that those in use stay warm in the cache; when they run out, twice
//! as many are.

use std::alloc::{self, Layout};
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;

use super::ring::Ring;
use crate::buffer::{Buffer, Pool, Pooled};

/// A ring of buffers among those of a worker.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// Number that operations call it by.
    pub(super) name: u16,
    /// Buffers offered at first.
    pub(super) least: u16,
    /// Buffers offered at most; a power of two.
    pub(super) most: u16,
}

/// The buffers of streams.
pub(super) const STREAMS: Group = Group { name: 0, least: 64, most: 4096 };

/// The kernel wants the table at the beginning of a page.
const PAGE: usize = 4096;

pub(super) struct Provided {
    pool: Rc<Pool>,
    group: Group,
    table: ProvidedTable,
    /// By number: what the kernel may write to. Their heap memory stays where it is while they are here.
    #[expect(clippy::vec_box, reason = "they go in and out as boxes, which are one word")]
    offered: Vec<Box<Pooled>>,
    tail: u16,
}

impl Provided {
    /// Registers the table with the ring. It must be kept until the ring has no operation left.
    pub(super) fn new(ring: &Ring, pool: &Rc<Pool>, group: Group) -> io::Result<Self> {
        let table = ProvidedTable::new(group.most);
        table.register(ring, group.name)?;
        let offered = Vec::with_capacity(usize::from(group.most));
        let mut provided = Self { pool: pool.clone(), group, table, offered, tail: 0 };
        provided.offer_more(group.least);
        Ok(provided)
    }

    /// Takes out a buffer that the kernel filled with `length` bytes, and offers another one under its number.
    #[expect(unsafe_code, reason = "only the kernel knows that the bytes are initialised")]
    pub(super) fn take(&mut self, number: u16, length: usize) -> Buffer {
        let fresh = self.pool.take_free();
        let mut filled = std::mem::replace(&mut self.offered[usize::from(number)], fresh);
        self.offer(number);
        let bytes = filled.bytes();
        assert!(length <= bytes.capacity(), "the kernel filled more than there was room for");
        // SAFETY: the kernel reported to have written this many bytes from the start of the vector's memory, and has
        // given the buffer back with that report.
        unsafe { bytes.set_len(length) };
        self.pool.hand_out(filled)
    }

    /// Offers twice as many, if that is not too many.
    pub(super) fn grow(&mut self) {
        let now = self.offered.len() as u16;
        self.offer_more(now.min(self.group.most - now));
    }

    fn offer_more(&mut self, more: u16) {
        for _ in 0..more {
            let number = self.offered.len() as u16;
            self.offered.push(self.pool.take_free());
            self.offer(number);
        }
    }

    fn offer(&mut self, number: u16) {
        let bytes = self.offered[usize::from(number)].bytes();
        self.table.write(self.tail, number, bytes);
        self.tail = self.tail.wrapping_add(1);
        self.table.publish(self.tail);
    }
}

/// The memory of the ring, in which the kernel reads where buffers are.
struct ProvidedTable {
    first: NonNull<BufRingEntry>,
    /// Their number; a power of two.
    places: u16,
}

impl ProvidedTable {
    fn layout(places: u16) -> Layout {
        let entries = Layout::array::<BufRingEntry>(usize::from(places));
        entries.and_then(|layout| layout.align_to(PAGE)).expect("a constant that fits")
    }

    #[expect(unsafe_code, reason = "memory at the beginning of a page")]
    fn new(places: u16) -> Self {
        let layout = Self::layout(places);
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc::alloc_zeroed(layout) };
        match NonNull::new(memory.cast()) {
            Some(first) => Self { first, places },
            None => alloc::handle_alloc_error(layout),
        }
    }

    #[expect(unsafe_code, reason = "the kernel is told an address")]
    fn register(&self, ring: &Ring, group: u16) -> io::Result<()> {
        let address = self.first.as_ptr().expose_provenance() as u64;
        let submitter = ring.inner().submitter();
        // SAFETY: the table has this many entries, and the driver drops it only after the ring.
        unsafe { submitter.register_buf_ring_with_flags(address, self.places, group, 0) }
    }

    #[expect(unsafe_code, reason = "memory shared with the kernel")]
    fn write(&mut self, tail: u16, number: u16, bytes: &mut Vec<u8>) {
        let place = usize::from(tail % self.places);
        // SAFETY: the place is inside the table, whose zeroed memory holds valid entries. The kernel reads an entry only
        // after the tail went past it, and at most as many buffers are offered as there are places.
        let entry = unsafe { self.first.add(place).as_mut() };
        entry.set_addr(bytes.as_mut_ptr().expose_provenance() as u64);
        entry.set_len(bytes.capacity().min(u32::MAX as usize) as u32);
        entry.set_bid(number);
    }

    #[expect(unsafe_code, reason = "memory shared with the kernel")]
    fn publish(&mut self, tail: u16) {
        // SAFETY: the pointer is to the first entry of the table, where the tail lives; it is aligned, and both sides
        // treat it as atomic.
        let shared = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.first.as_ptr()).cast_mut()) };
        shared.store(tail, Ordering::Release);
    }
}

impl Drop for ProvidedTable {
    #[expect(unsafe_code, reason = "memory at the beginning of a page")]
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`.
        unsafe { alloc::dealloc(self.first.as_ptr().cast(), Self::layout(self.places)) };
    }
}
