//! State of a socket that its driver and its owner share.
//!
//! A slot outlives its socket until the kernel has ended each of its operations, and only then is the descriptor closed:
//! so no queued entry can name a descriptor that meanwhile belongs to somebody else. Plain state; it must not know the
//! ring.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;
use rustix::net::SocketAddrAny;

use super::outbox::OutboxPlace;
use super::queue::Queue;
use crate::backend::waits::Waits;
use crate::buffer::{Buffer, Lent, Pool};

/// Receives shorter than this part of a buffer, one after the other, until a socket is received from by multishot again.
const CALM: u8 = 8;
const CALM_PART: usize = 4;

/// The first receives of a connection end with what they got: should it close then, nothing has to be cancelled.
const SINGLE: u8 = 4;

/// The operations of a socket. At most one of each kind is under way; the kind is part of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum SlotKind {
    /// Into a provided buffer. Multishot, a completion per arrival, but for the first of a connection.
    Receive = 0,
    /// Of a short message that is expected to be sent at once; it completes only if not.
    Send = 1,
    Connect = 2,
    /// Multishot: a completion per connection.
    Accept = 3,
    /// Multishot: a completion whenever there is more to receive.
    Watch = 4,
    /// One that there is room to send.
    Room = 5,
    /// Of the cancellation of any of these. It says nothing of interest.
    Cancel = 6,
    /// The lookup thread's. It belongs to no socket.
    Wake = 7,
    /// Of datagrams, into a provided buffer. Multishot: a completion for each, or for those that came together.
    Datagrams = 8,
}

impl SlotKind {
    const BITS: u32 = 4;

    /// Those that wait in the kernel until something happens.
    pub(super) const CANCELLABLE: [Self; 6] =
        [Self::Receive, Self::Connect, Self::Accept, Self::Watch, Self::Room, Self::Datagrams];

    pub(super) fn of(name: u64) -> Self {
        let all = [
            Self::Receive,
            Self::Send,
            Self::Connect,
            Self::Accept,
            Self::Watch,
            Self::Room,
            Self::Cancel,
            Self::Wake,
            Self::Datagrams,
        ];
        all[(name & ((1 << Self::BITS) - 1)) as usize]
    }
}

/// Where a slot is, and which of those that were there. An operation's name is this and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotKey(u64);

impl SlotKey {
    pub(super) fn new(place: usize, generation: u32) -> Self {
        let place = u32::try_from(place << SlotKind::BITS).expect("fewer sockets than 2^28");
        Self(u64::from(generation) << 32 | u64::from(place))
    }

    pub(super) fn of(name: u64) -> Self {
        Self(name & !((1 << SlotKind::BITS) - 1))
    }

    pub(super) fn place(self) -> usize {
        (self.0 as u32 >> SlotKind::BITS) as usize
    }

    pub(super) fn name(self, kind: SlotKind) -> u64 {
        self.0 | kind as u64
    }
}

/// Ways to receive from a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The kernel fills provided buffers whether or not a task waits: the cheapest way for short messages.
    Multishot,
    /// A task is told when there is something, and takes it by a call of its own: for long bodies, whose bytes are then
    /// still warm when they are compared, for discarding, and for who reads slowly.
    Watching,
}

/// The end of the incoming side.
#[derive(Clone, Copy)]
pub(super) enum SlotEnd {
    Closed,
    Failed(Errno),
}

/// The message that is on its way out.
pub(super) enum Sending {
    Idle,
    /// Queued, and expected to be gone after the next submission.
    Hoped(OutboxPlace),
    /// The kernel had room for a part of it. The rest, from this byte on, is sent when there is room again.
    Rest(Box<(Buffer, usize)>),
}

type Accepted = RefCell<VecDeque<io::Result<OwnedFd>>>;

pub(super) struct Slot {
    pub(super) key: SlotKey,
    pub(super) fd: OwnedFd,
    /// The operations that the kernel has yet to end, by [`SlotKind`].
    under_way: Cell<u16>,
    /// Those of them that are to end soon.
    cancelled: Cell<u16>,
    /// True if the socket was dropped.
    pub(super) is_gone: Cell<bool>,
    /// True if what is not yet sent may be lost when it is dropped.
    pub(super) resets: Cell<bool>,
    pub(super) waits: Waits,
    pub(super) mode: Cell<Mode>,
    calm: Cell<u8>,
    /// Receives begun, up to [`SINGLE`].
    begun: Cell<u8>,
    /// In mode Watching: whether there may be something to receive.
    pub(super) is_readable: Cell<bool>,
    /// In mode Watching: the peer's end of stream or an error lies behind what is left to receive, so a short receive does
    /// not mean that nothing follows.
    pub(super) is_hung: Cell<bool>,
    pub(super) has_room: Cell<bool>,
    arrived: RefCell<Queue<Buffer>>,
    /// Bytes of the first of them that are gone.
    taken: Cell<u32>,
    pub(super) end: Cell<Option<SlotEnd>>,
    pub(super) sending: RefCell<Sending>,
    /// Why the last message did not go out; nobody has been told yet.
    pub(super) unsent: Cell<Option<Errno>>,
    /// The half close waits for the message that is on its way.
    pub(super) shuts_down: Cell<bool>,
    /// Where to, until it is connected; it stays in place until the kernel has read it.
    pub(super) target: RefCell<Option<Box<SocketAddrAny>>>,
    pub(super) connected: Cell<Option<Result<(), Errno>>>,
    /// Connections that nobody asked for yet, of a listening socket.
    accepted: OnceCell<Box<Accepted>>,
}

impl Slot {
    pub(super) fn new(key: SlotKey, fd: OwnedFd) -> Self {
        Self {
            key,
            fd,
            under_way: Cell::new(0),
            cancelled: Cell::new(0),
            is_gone: Cell::new(false),
            resets: Cell::new(false),
            waits: Waits::new(),
            mode: Cell::new(Mode::Multishot),
            calm: Cell::new(0),
            begun: Cell::new(0),
            is_readable: Cell::new(true),
            is_hung: Cell::new(false),
            has_room: Cell::new(true),
            arrived: RefCell::default(),
            taken: Cell::new(0),
            end: Cell::new(None),
            sending: RefCell::new(Sending::Idle),
            unsent: Cell::new(None),
            shuts_down: Cell::new(false),
            target: RefCell::new(None),
            connected: Cell::new(None),
            accepted: OnceCell::new(),
        }
    }

    pub(super) fn begin(&self, kind: SlotKind) {
        debug_assert!(!self.does(kind), "one {kind:?} at a time");
        self.under_way.set(self.under_way.get() | 1 << kind as u8);
    }

    pub(super) fn ended(&self, kind: SlotKind) {
        debug_assert!(self.does(kind), "a {kind:?} that was not begun");
        let but = !(1 << kind as u8);
        self.under_way.set(self.under_way.get() & but);
        self.cancelled.set(self.cancelled.get() & but);
    }

    /// True if the kernel has yet to end such an operation.
    pub(super) fn does(&self, kind: SlotKind) -> bool {
        self.under_way.get() & 1 << kind as u8 != 0
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.get() == 0
    }

    /// True if this is the first cancellation of an operation that is under way.
    pub(super) fn to_cancel(&self, kind: SlotKind) -> bool {
        let bit = 1 << kind as u8;
        let is_first = self.does(kind) && self.cancelled.get() & bit == 0;
        if is_first {
            self.cancelled.set(self.cancelled.get() | bit);
        }
        is_first
    }

    pub(super) fn is_sending(&self) -> bool {
        !matches!(*self.sending.borrow(), Sending::Idle)
    }

    /// A failure that the next operation is to report, if it is a receive after all that arrived.
    pub(super) fn take_failure(&self) -> Option<Errno> {
        if let Some(SlotEnd::Failed(errno)) = self.end.get() {
            self.end.set(Some(SlotEnd::Closed));
            return Some(errno);
        }
        self.unsent.take()
    }

    pub(super) fn add_arrived(&self, bytes: Buffer) -> usize {
        let mut arrived = self.arrived.borrow_mut();
        arrived.push(bytes);
        arrived.len()
    }

    pub(super) fn has_arrived(&self) -> bool {
        !self.arrived.borrow().is_empty()
    }

    pub(super) fn forget_arrived(&self) {
        self.arrived.borrow_mut().clear();
        if let Some(accepted) = self.accepted.get() {
            accepted.borrow_mut().clear();
        }
    }

    /// Adds a connection that came, or why none did; how many wait now.
    pub(super) fn add_accepted(&self, accepted: io::Result<OwnedFd>) -> usize {
        let mut waiting = self.accepted.get_or_init(Box::default).borrow_mut();
        waiting.push_back(accepted);
        waiting.len()
    }

    pub(super) fn has_accepted(&self) -> bool {
        self.accepted.get().is_some_and(|waiting| !waiting.borrow().is_empty())
    }

    pub(super) fn next_accepted(&self) -> Option<io::Result<OwnedFd>> {
        self.accepted.get()?.borrow_mut().pop_front()
    }

    /// Takes the buffer that arrived first, whole.
    pub(super) fn next_arrived(&self) -> Option<Buffer> {
        self.arrived.borrow_mut().pop()
    }

    /// At most `max` of the bytes that arrived; something has.
    pub(super) fn take_arrived(&self, max: usize, pool: &Rc<Pool>) -> Lent {
        let mut arrived = self.arrived.borrow_mut();
        let first = arrived.front().expect("something arrived");
        let taken = self.taken.get() as usize;
        if taken == 0 && first.len() <= max {
            return Lent::from(arrived.pop().expect("seen above"));
        }
        let mut part = pool.take();
        let left = &first[taken..];
        part.extend_from_slice(&left[..left.len().min(max)]);
        self.strike_out(&mut arrived, part.len());
        Lent::from(part)
    }

    /// Throws away at most `max` of the bytes that arrived; says how many.
    pub(super) fn discard_arrived(&self, max: u64) -> u64 {
        let mut arrived = self.arrived.borrow_mut();
        let first = arrived.front().expect("something arrived");
        let left = (first.len() - self.taken.get() as usize) as u64;
        let gone = left.min(max);
        self.strike_out(&mut arrived, gone as usize);
        gone
    }

    fn strike_out(&self, arrived: &mut Queue<Buffer>, bytes: usize) {
        let taken = self.taken.get() as usize + bytes;
        // Buffers are shorter than that.
        self.taken.set(taken as u32);
        if arrived.front().is_some_and(|first| first.len() == taken) {
            arrived.pop();
            self.taken.set(0);
        }
    }

    /// True if the receive that is about to begin is one of the first. Asked once for each.
    pub(super) fn is_new(&self) -> bool {
        let begun = self.begun.get();
        self.begun.set(SINGLE.min(begun + 1));
        begun < SINGLE
    }

    pub(super) fn watch_from_now_on(&self) {
        self.mode.set(Mode::Watching);
        self.calm.set(0);
    }

    /// Takes note of a receive in mode Watching; several short ones end that mode.
    pub(super) fn note_length(&self, length: usize, capacity: usize) {
        let calm = match length < capacity / CALM_PART {
            true => self.calm.get() + 1,
            false => 0,
        };
        self.calm.set(calm);
        if calm >= CALM {
            self.calm.set(0);
            self.mode.set(Mode::Multishot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_where_and_what() {
        let key = SlotKey::new(20_000, 7);
        for kind in [SlotKind::Receive, SlotKind::Room, SlotKind::Wake] {
            let name = key.name(kind);
            assert_eq!(
                (SlotKey::of(name), SlotKey::of(name).place(), SlotKind::of(name)),
                (key, 20_000, kind)
            );
        }
        assert_ne!(key, SlotKey::new(20_000, 8));
    }
}
