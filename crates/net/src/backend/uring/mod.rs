//! Completion as the kernel offers it: one io_uring per worker.
//!
//! Entries that a turn queues are submitted in one call, which is also the wait. Receiving is by multishot into buffers
//! provided by the worker ([`provided`]); a short message is sent by an entry that completes only if it did not go out at
//! once, which it nearly always does; long ones are sent, and long bodies received, by plain calls when the ring says that it
//! is time. So besides the provided buffers and the short messages of a turn, both of which the driver owns, nothing that a task
//! could drop is ever in the kernel's hands.
//!
//! Needs Linux 6.1. Start at [`UringDriver::wait`] and [`UringDriver::note`], then `socket.rs`.

mod datagrams;
mod outbox;
mod provided;
mod queue;
mod ring;
mod slot;
mod socket;

pub(crate) use ring::Unavailable;
pub(crate) use socket::{SHORT, Socket};

use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use io_uring::types::Fd;
use io_uring::{cqueue, opcode, squeue};
use rustix::event::{EventfdFlags, PollFlags, eventfd};
use rustix::io::Errno;
use rustix::net::SendFlags;
use slab::Slab;

use self::datagrams::Inbox;
use self::outbox::Outbox;
use self::provided::Provided;
use self::ring::Ring;
use self::slot::{Sending, Slot, SlotEnd, SlotKey, SlotKind};
use super::tcp::{self, Nowhere};
use super::udp;
use super::unsent::Pieces;
use super::waits::{Deadlines, Way};
use super::{Happened, Rest};
use crate::buffer::{Buffer, Pool};
use crate::options::Limits;
use crate::tasks::TaskId;
use crate::usage::{Shortages, count};

/// Arrivals that nobody asked for, per socket, until the kernel is told to leave the rest where it is.
const ARRIVED_MAX: usize = 2;

/// Datagrams that came together and that nobody asked for, likewise.
const DATAGRAMS_MAX: usize = 16;

/// Connections that nobody asked for, likewise.
const ACCEPTED_MAX: usize = 1024;

/// Time that the rest of a message may take to go out after its socket was dropped.
const LINGER: Duration = Duration::from_secs(30);

/// Time that the end of a run waits for the kernel to end its operations. It takes microseconds.
const FAREWELL: Duration = Duration::from_secs(1);

/// Findings of a wait.
#[derive(Default)]
pub(crate) struct Completions {
    entries: Vec<cqueue::Entry>,
    /// Who waited for a message to be gone.
    woken: Vec<TaskId>,
}

impl Completions {
    pub(crate) fn with_capacity(events: usize) -> Self {
        Self { entries: Vec::with_capacity(events), woken: Vec::new() }
    }

    /// Returns the events, each noted only when it is asked for.
    pub(crate) fn noted_by(&self, driver: &UringDriver) -> impl Iterator<Item = Happened> {
        let woken = self.woken.iter().map(|task| Happened::Wakes(*task));
        woken.chain(self.entries.iter().map(|entry| driver.note(entry)))
    }
}

pub(crate) struct UringDriver {
    ring: RefCell<Ring>,
    /// Kept when the kernel could not be brought to leave them alone.
    provided: ManuallyDrop<RefCell<Provided>>,
    slots: RefCell<Slab<Rc<Slot>>>,
    next_generation: Cell<u32>,
    /// Whose message was queued since the last submission.
    hoped: RefCell<Vec<Rc<Slot>>>,
    /// Messages that they sent.
    outbox: RefCell<Outbox>,
    pool: Rc<Pool>,
    /// Somebody waits for a message to be submitted: the next wait is none.
    is_urgent: Cell<bool>,
    /// More buffers were offered in this turn.
    has_grown: Cell<bool>,
    under_way: Cell<usize>,
    open_sockets: Cell<usize>,
    waker: RefCell<Option<Arc<OwnedFd>>>,
    deadlines: Deadlines,
    /// Completions that were collected before their turn.
    early: RefCell<Vec<cqueue::Entry>>,
    nowhere: Nowhere,
    /// Memory that datagrams of many peers are received into.
    area: udp::Area,
    /// Buffers that those of one peer are received into, where there are such sockets; kept as `provided` is.
    inbox: ManuallyDrop<RefCell<Option<Inbox>>>,
    buffer_shortages: Cell<u64>,
    overflows: Cell<u64>,
}

impl UringDriver {
    pub(crate) fn new(limits: &Limits, pool: &Rc<Pool>) -> Result<Self, Unavailable> {
        let ring = Ring::new(limits.events)?;
        let provided = Provided::new(&ring, pool, provided::STREAMS).map_err(Unavailable::Refused)?;
        Ok(Self {
            ring: RefCell::new(ring),
            provided: ManuallyDrop::new(RefCell::new(provided)),
            slots: RefCell::default(),
            next_generation: Cell::new(0),
            hoped: RefCell::default(),
            outbox: RefCell::default(),
            pool: pool.clone(),
            is_urgent: Cell::new(false),
            has_grown: Cell::new(false),
            under_way: Cell::new(0),
            open_sockets: Cell::new(0),
            waker: RefCell::default(),
            deadlines: Deadlines::new(),
            early: RefCell::default(),
            nowhere: Nowhere::default(),
            area: udp::Area::default(),
            inbox: ManuallyDrop::default(),
            buffer_shortages: Cell::new(0),
            overflows: Cell::new(0),
        })
    }

    pub(crate) fn open_sockets(&self) -> usize {
        self.open_sockets.get()
    }

    pub(crate) fn shortages(&self) -> Shortages {
        Shortages { buffers: self.buffer_shortages.get(), completions: self.overflows.get() }
    }

    /// For another thread: what is written to it reports [`Happened::Answers`].
    pub(crate) fn waker(&self) -> io::Result<Arc<OwnedFd>> {
        let mut waker = self.waker.borrow_mut();
        if waker.is_none() {
            *waker = Some(Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?));
        }
        let waker = waker.as_ref().expect("made above").clone();
        self.watch_waker(&waker)?;
        Ok(waker)
    }

    fn watch_waker(&self, waker: &OwnedFd) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(waker.as_raw_fd()), PollFlags::IN.bits().into());
        self.push(&poll.build().user_data(SlotKey::new(0, 0).name(SlotKind::Wake)))?;
        self.under_way.set(self.under_way.get() + 1);
        Ok(())
    }

    /// Hands over what is queued and waits for completions, all in one system call.
    pub(crate) fn wait(&self, completions: &mut Completions, rest: Rest) -> io::Result<()> {
        let timeout = self.deadlines.bound(rest.timeout());
        let mut early = self.early.borrow_mut();
        let is_urgent = self.is_urgent.take() || !early.is_empty();
        let timeout = if is_urgent { Some(Duration::ZERO) } else { timeout };
        self.has_grown.set(false);
        completions.entries.clear();
        completions.entries.append(&mut early);
        completions.woken.clear();
        self.ring.borrow_mut().wait(timeout)?;
        self.collect(&mut completions.entries)?;
        self.settle(completions);
        Ok(())
    }

    fn collect(&self, entries: &mut Vec<cqueue::Entry>) -> io::Result<()> {
        if self.ring.borrow_mut().collect(entries)? {
            count(&self.overflows);
        }
        Ok(())
    }

    /// In the middle of a turn: closes sockets that were dropped in it, whose descriptors the next one may need.
    fn close_dropped(&self) -> io::Result<()> {
        self.ring.borrow_mut().look()?;
        let mut early = self.early.borrow_mut();
        self.collect(&mut early)?;
        early.retain(|entry| {
            let is_of_dropped = SlotKind::of(entry.user_data()) != SlotKind::Send
                && self.slot(entry).is_some_and(|slot| slot.is_gone.get());
            if is_of_dropped {
                self.note(entry);
            }
            !is_of_dropped
        });
        Ok(())
    }

    /// Hands over what is queued in the middle of a long turn.
    pub(crate) fn submit(&self) {
        // What fails here is tried again by the wait, which reports it.
        let _ = self.ring.borrow_mut().submit();
    }

    /// Now that all is submitted: the messages of the turn are gone, except those that a completion says are not.
    fn settle(&self, completions: &mut Completions) {
        let mut hoped = self.hoped.borrow_mut();
        if hoped.is_empty() {
            return;
        }
        for entry in &completions.entries {
            if SlotKind::of(entry.user_data()) == SlotKind::Send {
                self.note_unsent(entry, &mut completions.woken);
            }
        }
        for slot in hoped.drain(..) {
            if !slot.does(SlotKind::Send) {
                continue;
            }
            self.sent(&slot);
            self.end_operation(&slot, SlotKind::Send);
            completions.woken.extend(slot.waits.take(Way::Out));
            if slot.end.get().is_some() {
                // Whoever receives waited to hear first what became of the message.
                completions.woken.extend(slot.waits.take(Way::In));
            }
        }
        self.outbox.borrow_mut().clear();
    }

    /// The message is gone, or has failed for good.
    fn sent(&self, slot: &Slot) {
        slot.sending.replace(Sending::Idle);
        if slot.shuts_down.take() {
            // It fails only for a connection that is gone, which the next receive tells.
            let _ = tcp::shutdown_write(&slot.fd);
        }
    }

    /// A message that did not go out at once: the kernel had room for a part of it at most, or the connection is gone.
    fn note_unsent(&self, entry: &cqueue::Entry, woken: &mut Vec<TaskId>) {
        let Some(slot) = self.slot(entry) else { return };
        let sending = slot.sending.replace(Sending::Idle);
        let Sending::Hoped(place) = sending else { return };
        let sent = match outcome(entry) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(errno) => Err(errno),
        };
        match sent {
            Ok(sent) => {
                let mut rest = self.pool.take();
                rest.extend_from_slice(&self.outbox.borrow().get(&place)[sent..]);
                self.await_room_for(&slot, rest, 0);
            }
            Err(errno) => self.fail_to_send(&slot, errno),
        }
        self.end_operation(&slot, SlotKind::Send);
        if slot.unsent.get().is_some() {
            // Whichever way it waits, it is told.
            woken.extend(slot.waits.take_both());
        }
    }

    fn await_room_for(&self, slot: &Slot, message: Buffer, sent: usize) {
        slot.sending.replace(Sending::Rest(Box::new((message, sent))));
        slot.has_room.set(false);
        if self.watch_room(slot).is_err() {
            self.fail_to_send(slot, Errno::NOMEM);
        }
    }

    fn fail_to_send(&self, slot: &Slot, errno: Errno) {
        slot.unsent.set(Some(errno));
        self.sent(slot);
    }

    /// Takes note of a completion and says who is to be polled for it.
    fn note(&self, entry: &cqueue::Entry) -> Happened {
        let kind = SlotKind::of(entry.user_data());
        match kind {
            // Seen to before the turn.
            SlotKind::Send | SlotKind::Cancel => return Happened::Nothing,
            SlotKind::Wake => return self.note_wake(),
            _ => {}
        }
        let Some(slot) = self.slot(entry) else {
            self.discard(kind, entry);
            return Happened::Nothing;
        };
        let has_ended = !cqueue::more(entry.flags());
        if has_ended {
            slot.ended(kind);
            self.under_way.set(self.under_way.get() - 1);
        }
        let wakes = match kind {
            SlotKind::Receive => self.note_received(&slot, entry),
            SlotKind::Datagrams => self.note_datagrams(&slot, entry),
            SlotKind::Accept => note_accepted(self, &slot, entry),
            SlotKind::Watch => note_readable(&slot, entry),
            SlotKind::Room => self.note_room(&slot, entry),
            SlotKind::Connect => {
                slot.target.take();
                slot.connected.set(Some(outcome(entry).map(drop)));
                slot.waits.take(Way::Out)
            }
            SlotKind::Send | SlotKind::Cancel | SlotKind::Wake => None,
        };
        self.forget_if_over(&slot);
        Happened::waking(wakes, None)
    }

    /// A completion for a socket that is closed already: its buffer or descriptor is given back.
    fn discard(&self, kind: SlotKind, entry: &cqueue::Entry) {
        let number = cqueue::buffer_select(entry.flags());
        drop(number.and_then(|number| self.filled(kind, number, 0)));
        if let (SlotKind::Accept, Ok(fd)) = (kind, outcome(entry)) {
            drop(own(fd));
        }
    }

    fn note_wake(&self) -> Happened {
        self.under_way.set(self.under_way.get() - 1);
        if let Some(waker) = &*self.waker.borrow() {
            // Nothing to read means that the poll was cancelled.
            if rustix::io::read(&**waker, &mut [0; 8]).is_ok() && self.watch_waker(waker).is_err() {
                return Happened::Nothing;
            }
        }
        Happened::Answers
    }

    fn note_received(&self, slot: &Slot, entry: &cqueue::Entry) -> Option<TaskId> {
        let outcome = outcome(entry);
        let number = cqueue::buffer_select(entry.flags());
        let filled = number.and_then(|number| self.filled(SlotKind::Receive, number, outcome.unwrap_or(0)));
        match (outcome, filled) {
            (Ok(0), _) => slot.end.set(Some(SlotEnd::Closed)),
            (Ok(_), Some(bytes)) if !slot.is_gone.get() => self.note_arrived(slot, bytes),
            (Err(Errno::NOBUFS), _) => self.offer_more(SlotKind::Receive),
            (Err(Errno::CANCELED | Errno::INTR | Errno::AGAIN), _) | (Ok(_), _) => {}
            (Err(errno), _) => slot.end.set(Some(SlotEnd::Failed(errno))),
        }
        slot.waits.take(Way::In)
    }

    /// Datagrams came, or the system was told of some that were sent and did not arrive (ICMP).
    fn note_datagrams(&self, slot: &Slot, entry: &cqueue::Entry) -> Option<TaskId> {
        let outcome = outcome(entry);
        let number = cqueue::buffer_select(entry.flags());
        let filled = number.and_then(|number| self.filled(SlotKind::Datagrams, number, outcome.unwrap_or(0)));
        match (outcome, filled) {
            (Ok(_), Some(buffer)) if !slot.is_gone.get() => {
                if slot.add_arrived(buffer) > DATAGRAMS_MAX {
                    self.cancel(slot, SlotKind::Datagrams);
                }
            }
            (Err(Errno::NOBUFS), _) => self.offer_more(SlotKind::Datagrams),
            (Err(Errno::CANCELED | Errno::INTR | Errno::AGAIN), _) | (Ok(_), _) => {}
            (Err(errno), _) => slot.unsent.set(Some(errno)),
        }
        slot.waits.take(Way::In)
    }

    /// Takes out a provided buffer that was filled.
    fn filled(&self, kind: SlotKind, number: u16, length: usize) -> Option<Buffer> {
        match kind {
            SlotKind::Datagrams => self.inbox.borrow_mut().as_mut().map(|inbox| inbox.take(number, length)),
            _ => Some(self.provided.borrow_mut().take(number, length)),
        }
    }

    fn note_arrived(&self, slot: &Slot, bytes: Buffer) {
        let is_long = bytes.len() == bytes.capacity();
        if slot.add_arrived(bytes) > ARRIVED_MAX || is_long {
            slot.watch_from_now_on();
            slot.is_readable.set(true);
            self.cancel(slot, SlotKind::Receive);
        }
    }

    fn offer_more(&self, kind: SlotKind) {
        count(&self.buffer_shortages);
        if self.has_grown.replace(true) {
            return;
        }
        match kind {
            SlotKind::Datagrams => self.inbox.borrow_mut().iter_mut().for_each(Inbox::grow),
            _ => self.provided.borrow_mut().grow(),
        }
    }

    fn note_room(&self, slot: &Slot, entry: &cqueue::Entry) -> Option<TaskId> {
        if outcome(entry).is_err() && slot.is_gone.get() {
            slot.sending.replace(Sending::Idle);
            return None;
        }
        slot.has_room.set(true);
        if let Sending::Rest(rest) = slot.sending.replace(Sending::Idle) {
            let (message, sent) = *rest;
            self.send_rest(slot, message, sent);
        }
        if slot.is_sending() {
            return None;
        }
        slot.waits.take(Way::Out)
    }

    fn send_rest(&self, slot: &Slot, message: Buffer, sent: usize) {
        match tcp::send(&slot.fd, Pieces::One(&message[sent..])) {
            Ok(more) if sent + more == message.len() => self.sent(slot),
            Ok(more) => self.await_room_for(slot, message, sent + more),
            Err(Errno::AGAIN | Errno::INTR) => self.await_room_for(slot, message, sent),
            Err(errno) => self.fail_to_send(slot, errno),
        }
    }

    /// Names the tasks whose operation is past its deadline, if it is time to look.
    pub(crate) fn sweep(&self, now: Instant, mut overdue: impl FnMut(TaskId)) {
        if !self.deadlines.is_time_to_look(now) {
            return;
        }
        for (_, slot) in self.slots.borrow().iter().filter(|(_, slot)| slot.waits.is_overdue(now)) {
            if slot.is_gone.get() {
                self.deadlines.set(&slot.waits, None);
                self.cancel(slot, SlotKind::Room);
            }
            slot.waits.take_both().for_each(&mut overdue);
        }
    }

    /// The longest wait that there is while a socket has a deadline.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        self.deadlines.longest_wait()
    }

    /// Moves the deadlines of all sockets.
    pub(crate) fn postpone(&self, by: Duration) {
        self.slots.borrow().iter().for_each(|(_, slot)| slot.waits.postpone(by));
    }

    fn admit(&self, fd: OwnedFd) -> Rc<Slot> {
        self.open_sockets.set(self.open_sockets.get() + 1);
        let generation = self.next_generation.get().wrapping_add(1);
        self.next_generation.set(generation);
        let mut slots = self.slots.borrow_mut();
        let place = slots.vacant_entry();
        let slot = Rc::new(Slot::new(SlotKey::new(place.key(), generation), fd));
        place.insert(slot.clone());
        slot
    }

    /// The socket was dropped: what the kernel does for it comes to an end, and then it closes.
    fn abandon(&self, slot: &Slot) {
        self.open_sockets.set(self.open_sockets.get() - 1);
        slot.is_gone.set(true);
        slot.waits.take_both().for_each(drop);
        if slot.has_arrived() {
            // As the kernel does when it closes a socket with bytes that nobody read.
            let _ = tcp::make_close_abortive(&slot.fd);
        }
        slot.forget_arrived();
        self.deadlines.set(&slot.waits, None);
        for kind in
            [SlotKind::Receive, SlotKind::Datagrams, SlotKind::Connect, SlotKind::Accept, SlotKind::Watch]
        {
            self.cancel(slot, kind);
        }
        if slot.does(SlotKind::Accept) {
            // At once: nobody may be let in any more.
            let _ = rustix::net::shutdown(&slot.fd, rustix::net::Shutdown::Both);
        }
        if slot.is_sending() && !slot.resets.get() {
            self.deadlines.set(&slot.waits, Some(Instant::now() + LINGER));
        } else {
            self.cancel(slot, SlotKind::Room);
        }
        self.forget_if_over(slot);
    }

    fn forget_if_over(&self, slot: &Slot) {
        if slot.is_gone.get() && slot.is_idle() {
            self.deadlines.set(&slot.waits, None);
            let forgotten = self.slots.borrow_mut().try_remove(slot.key.place());
            drop(forgotten);
        }
    }

    fn slot(&self, entry: &cqueue::Entry) -> Option<Rc<Slot>> {
        let key = SlotKey::of(entry.user_data());
        let slots = self.slots.borrow();
        slots.get(key.place()).filter(|slot| slot.key == key).cloned()
    }

    fn end_operation(&self, slot: &Slot, kind: SlotKind) {
        slot.ended(kind);
        self.under_way.set(self.under_way.get() - 1);
        self.forget_if_over(slot);
    }

    fn begin(&self, slot: &Slot, kind: SlotKind, entry: squeue::Entry) -> io::Result<()> {
        self.push(&entry.user_data(slot.key.name(kind)))?;
        slot.begin(kind);
        self.under_way.set(self.under_way.get() + 1);
        Ok(())
    }

    /// Queues an entry. All that entries point to: provided buffers and the shape of those for datagrams, which live as
    /// long as the driver; a message in the outbox or an address in a slot, which stay in place until they were submitted.
    #[expect(unsafe_code, reason = "an entry holds addresses")]
    fn push(&self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: see above; a slot is kept while an operation of it is under way, an address is set once, and the outbox is
        // cleared only by `settle`, after the submission.
        unsafe { self.ring.borrow_mut().push(entry) }
    }

    fn receive(&self, slot: &Slot) -> io::Result<()> {
        let fd = Fd(slot.fd.as_raw_fd());
        if slot.is_new() {
            let receive = opcode::Recv::new(fd, ptr::null_mut(), 0).buf_group(provided::STREAMS.name);
            let receive = receive.build().flags(squeue::Flags::BUFFER_SELECT);
            return self.begin(slot, SlotKind::Receive, receive);
        }
        self.begin(slot, SlotKind::Receive, opcode::RecvMulti::new(fd, provided::STREAMS.name).build())
    }

    /// Offers buffers for datagrams, once.
    fn prepare_for_datagrams(&self) -> io::Result<()> {
        let mut inbox = self.inbox.borrow_mut();
        if inbox.is_none() {
            *inbox = Some(Inbox::new(&self.ring.borrow())?);
        }
        Ok(())
    }

    fn receive_datagrams(&self, slot: &Slot) -> io::Result<()> {
        let inbox = self.inbox.borrow();
        let (shape, group) = inbox.as_ref().ok_or(io::ErrorKind::Unsupported)?.parts();
        let receive = opcode::RecvMsgMulti::new(Fd(slot.fd.as_raw_fd()), shape, group);
        self.begin(slot, SlotKind::Datagrams, receive.build())
    }

    fn accept(&self, slot: &Slot) -> io::Result<()> {
        let accept = opcode::AcceptMulti::new(Fd(slot.fd.as_raw_fd())).flags(nix::libc::SOCK_CLOEXEC);
        self.begin(slot, SlotKind::Accept, accept.build())
    }

    fn watch(&self, slot: &Slot) -> io::Result<()> {
        let events = (PollFlags::IN | PollFlags::RDHUP).bits();
        let poll = opcode::PollAdd::new(Fd(slot.fd.as_raw_fd()), events.into()).multi(true);
        slot.is_readable.set(false);
        self.begin(slot, SlotKind::Watch, poll.build())
    }

    fn watch_room(&self, slot: &Slot) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(slot.fd.as_raw_fd()), PollFlags::OUT.bits().into());
        self.begin(slot, SlotKind::Room, poll.build())
    }

    fn connect(&self, slot: &Slot) -> io::Result<()> {
        let target = slot.target.borrow();
        let target = target.as_ref().expect("set by the caller");
        let address = target.as_ptr().cast();
        let length = target.addr_len();
        let connect = opcode::Connect::new(Fd(slot.fd.as_raw_fd()), address, length);
        self.begin(slot, SlotKind::Connect, connect.build())
    }

    /// Queues a message that should go out at once. All of it does, or a completion says how much did: the call may not
    /// wait (DONTWAIT), and less than all is a failure (WAITALL).
    fn hope<'a>(
        &self,
        slot: &Rc<Slot>,
        length: usize,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> io::Result<()> {
        let flags = SendFlags::NOSIGNAL.bits() as i32 | nix::libc::MSG_DONTWAIT | nix::libc::MSG_WAITALL;
        let mut outbox = self.outbox.borrow_mut();
        let place = outbox.put(length, pieces);
        let message = outbox.get(&place);
        let send = opcode::Send::new(Fd(slot.fd.as_raw_fd()), message.as_ptr(), message.len() as u32);
        let send = send.flags(flags).build().flags(squeue::Flags::SKIP_SUCCESS);
        self.begin(slot, SlotKind::Send, send)?;
        slot.sending.replace(Sending::Hoped(place));
        self.hoped.borrow_mut().push(slot.clone());
        Ok(())
    }

    /// Has the kernel end an operation soon.
    fn cancel(&self, slot: &Slot, kind: SlotKind) {
        if !slot.to_cancel(kind) {
            return;
        }
        // If it cannot be queued, the operation ends with its connection or with the run.
        let _ = self.push_cancel(slot.key.name(kind));
    }

    fn push_cancel(&self, name: u64) -> io::Result<()> {
        let cancel = opcode::AsyncCancel::new(name).build().flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&cancel.user_data(SlotKey::new(0, 0).name(SlotKind::Cancel)))
    }

    /// Has the kernel end everything, and waits for that: at the end of a run.
    pub(crate) fn finish(&self) {
        // Each by its name, not all at once: the kernel would look for each of them among all of them.
        let slots: Vec<_> = self.slots.borrow().iter().map(|(_, slot)| slot.clone()).collect();
        for kind in SlotKind::CANCELLABLE {
            slots.iter().for_each(|slot| self.cancel(slot, kind));
        }
        drop(slots);
        if self.waker.borrow().is_some() {
            // Fails only if nothing can be queued; then the wait below ends by its time.
            let _ = self.push_cancel(SlotKey::new(0, 0).name(SlotKind::Wake));
        }
        let until = Instant::now() + FAREWELL;
        let mut completions = Completions::default();
        let mut rest = Rest::None;
        while self.wait(&mut completions, rest).is_ok() {
            completions.noted_by(self).for_each(drop);
            let now = Instant::now();
            if self.under_way.get() == 0 || now >= until {
                return;
            }
            rest = Rest::Until(now + Duration::from_millis(10), now);
        }
    }
}

impl Drop for UringDriver {
    #[expect(unsafe_code, reason = "memory that the kernel may write to is given back only when it does not")]
    fn drop(&mut self) {
        self.finish();
        if self.under_way.get() == 0 {
            // SAFETY: dropped here only, and no operation is left that could use the memory.
            unsafe {
                ManuallyDrop::drop(&mut self.provided);
                ManuallyDrop::drop(&mut self.inbox);
            }
        }
    }
}

fn note_accepted(driver: &UringDriver, slot: &Slot, entry: &cqueue::Entry) -> Option<TaskId> {
    let accepted = match outcome(entry) {
        Ok(fd) => Ok(own(fd)),
        Err(Errno::CANCELED | Errno::INTR | Errno::AGAIN) => return slot.waits.take(Way::In),
        Err(errno) => Err(errno.into()),
    };
    if slot.is_gone.get() {
        return None;
    }
    if slot.add_accepted(accepted) > ACCEPTED_MAX {
        driver.cancel(slot, SlotKind::Accept);
    }
    slot.waits.take(Way::In)
}

fn note_readable(slot: &Slot, entry: &cqueue::Entry) -> Option<TaskId> {
    // A watch that was cancelled says nothing of the socket: whoever waits looks for himself.
    let events = outcome(entry).unwrap_or(0);
    let hung = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    if events & usize::from(hung.bits()) != 0 {
        slot.is_hung.set(true);
    }
    slot.is_readable.set(true);
    slot.waits.take(Way::In)
}

#[expect(unsafe_code, reason = "a completion tells a descriptor by its number")]
fn own(fd: usize) -> OwnedFd {
    // SAFETY: the kernel made this descriptor for us and reports it once.
    unsafe { OwnedFd::from_raw_fd(fd as i32) }
}

/// The result of an operation: a number of bytes, a descriptor, a set of events.
fn outcome(entry: &cqueue::Entry) -> Result<usize, Errno> {
    match entry.result() {
        number @ 0.. => Ok(number as usize),
        errno => Err(Errno::from_raw_os_error(-errno)),
    }
}
