//! The operations of a socket, in terms of the driver's.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{self as sys, SocketFlags};

use super::outbox::MESSAGE_MAX;
use super::slot::{Mode, Slot, SlotEnd, SlotKind};
use super::{UringDriver, tcp, udp};
use crate::backend::unsent::Pieces;
use crate::backend::waits::Way;
use crate::buffer::Lent;
use crate::datagrams::{Datagrams, Outgoing};
use crate::options::{ConnectOptions, ListenOptions};
use crate::turn::Turn;

use crate::usage::count;

/// Messages up to this many bytes are put together, queued, and expected to go out at once: any socket whose peer reads has
/// this room.
pub(crate) const SHORT: usize = MESSAGE_MAX;

/// An open TCP socket, connected or listening. One operation at a time; closes when dropped.
pub(crate) struct Socket {
    turn: Rc<Turn>,
    driver: Rc<UringDriver>,
    slot: Rc<Slot>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.driver.abandon(&self.slot);
    }
}

impl Socket {
    /// Begins to connect; [`poll_connected`](Self::poll_connected) says how it ended.
    pub(crate) fn connect(
        turn: &Rc<Turn>,
        driver: &Rc<UringDriver>,
        to: SocketAddr,
        options: &ConnectOptions,
    ) -> io::Result<Self> {
        // Not in non-blocking mode: the ring waits in its stead, and plain calls say that they do not want to.
        let fd = match tcp::to_connect(to, options, SocketFlags::empty()) {
            // Those that were dropped in this turn may still have theirs.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::MFILE) => {
                driver.close_dropped()?;
                tcp::to_connect(to, options, SocketFlags::empty())?
            }
            made => made?,
        };
        let socket = Self::new(turn, driver, fd);
        socket.slot.resets.set(options.abortive_close);
        socket.slot.target.replace(Some(Box::new(to.as_any())));
        driver.connect(&socket.slot)?;
        Ok(socket)
    }

    pub(crate) fn listen(
        turn: &Rc<Turn>,
        driver: &Rc<UringDriver>,
        at: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        let fd = tcp::listening(at, options, SocketFlags::empty())?;
        Ok(Self::new(turn, driver, fd))
    }

    /// Of a socket that waits for nothing yet.
    pub(crate) fn new(turn: &Rc<Turn>, driver: &Rc<UringDriver>, fd: OwnedFd) -> Self {
        let slot = driver.admit(fd);
        Self { turn: turn.clone(), driver: driver.clone(), slot }
    }

    /// Until when an operation may wait; it then fails with `TimedOut`.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        self.driver.deadlines.set(&self.slot.waits, deadline);
    }

    pub(crate) fn poll_connected(&self) -> Poll<io::Result<()>> {
        match self.slot.connected.get() {
            Some(outcome) => Poll::Ready(outcome.map_err(io::Error::from)),
            None => self.wait(Way::Out),
        }
    }

    pub(crate) fn poll_accept(&self) -> Poll<io::Result<(Self, SocketAddr)>> {
        if !self.slot.has_accepted() {
            if !self.slot.does(SlotKind::Accept) {
                self.driver.accept(&self.slot)?;
            }
            return self.wait(Way::In);
        }
        if !self.turn.may_complete() {
            return Poll::Pending;
        }
        let next = self.slot.next_accepted();
        Poll::Ready(next.expect("seen above").and_then(|fd| self.accepted(fd)))
    }

    fn accepted(&self, fd: OwnedFd) -> io::Result<(Self, SocketAddr)> {
        // A multishot accept does not say who it was.
        let peer = match sys::getpeername(&fd) {
            Ok(peer) => peer.ok_or(Errno::INVAL)?,
            // It is gone again; a name that is none, and the first receive will tell.
            Err(Errno::NOTCONN) => SocketAddr::from(([0, 0, 0, 0], 0)).as_any(),
            Err(errno) => return Err(errno.into()),
        };
        Ok((Self::new(&self.turn, &self.driver, fd), SocketAddr::try_from(peer)?))
    }

    /// Receives at most `max` bytes, at most a buffer full. No buffer is taken while there is nothing to receive.
    pub(crate) fn poll_recv(&self, max: usize) -> Poll<io::Result<Lent>> {
        let slot = &*self.slot;
        let takes_all = max == usize::MAX;
        if !takes_all {
            slot.watch_from_now_on();
        }
        if let Some(ended) = self.poll_ended() {
            return ended.map_ok(|()| Lent::nothing());
        }
        if slot.has_arrived() {
            if !self.turn.may_complete() {
                return Poll::Pending;
            }
            count(&self.turn.counters.recv_calls);
            return Poll::Ready(Ok(slot.take_arrived(max, &self.turn.pool)));
        }
        // Past the deadline only a call of our own tells what need not be waited for.
        let is_last_chance = slot.waits.is_overdue(self.turn.began()) && !slot.does(SlotKind::Receive);
        if is_last_chance {
            slot.is_readable.set(true);
        }
        if slot.mode.get() == Mode::Multishot && !is_last_chance {
            if !slot.does(SlotKind::Receive) {
                self.driver.cancel(slot, SlotKind::Watch);
                self.driver.receive(slot)?;
            }
            return self.wait(Way::In);
        }
        self.attempt_in(|fd| {
            let (bytes, all) = tcp::receive(fd, &self.turn.pool, max)?;
            slot.is_readable.set(all || slot.is_hung.get());
            if takes_all {
                slot.note_length(bytes.len(), bytes.capacity());
            }
            Ok(Lent::from(bytes))
        })
    }

    /// Receives what there is, a buffer full at most, without waiting; `None`: nothing.
    pub(crate) fn try_recv(&self) -> io::Result<Option<Lent>> {
        let slot = &*self.slot;
        if slot.has_arrived() {
            count(&self.turn.counters.recv_calls);
            return Ok(Some(slot.take_arrived(usize::MAX, &self.turn.pool)));
        }
        if slot.end.get().is_some() || slot.unsent.get().is_some() {
            return slot.take_failure().map_or_else(|| Ok(Some(Lent::nothing())), |errno| Err(errno.into()));
        }
        if slot.does(SlotKind::Receive) {
            // What comes goes into its buffer.
            return Ok(None);
        }
        count(&self.turn.counters.recv_calls);
        match tcp::receive(&slot.fd, &self.turn.pool, usize::MAX) {
            Ok((bytes, all)) => {
                slot.is_readable.set(all || slot.is_hung.get());
                Ok(Some(Lent::from(bytes)))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                slot.is_readable.set(false);
                slot.is_hung.set(false);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Throws away at most `max` received bytes without copying them; says how many.
    pub(crate) fn poll_discard(&self, max: u64) -> Poll<io::Result<u64>> {
        let slot = &*self.slot;
        slot.watch_from_now_on();
        if let Some(ended) = self.poll_ended() {
            return ended.map_ok(|()| 0);
        }
        if slot.has_arrived() {
            if !self.turn.may_complete() {
                return Poll::Pending;
            }
            return Poll::Ready(Ok(slot.discard_arrived(max)));
        }
        self.attempt_in(|fd| {
            let (gone, all) = self.driver.nowhere.discard(fd, max)?;
            slot.is_readable.set(all || slot.is_hung.get());
            Ok(gone)
        })
    }

    /// After all that arrived: the end of the stream, or why there is none.
    fn poll_ended(&self) -> Option<Poll<io::Result<()>>> {
        let slot = &*self.slot;
        if slot.has_arrived() || (slot.end.get().is_none() && slot.unsent.get().is_none()) {
            return None;
        }
        if slot.does(SlotKind::Send) {
            // What became of it comes first.
            self.driver.is_urgent.set(true);
            return Some(self.wait(Way::In));
        }
        if !self.turn.may_complete() {
            return Some(Poll::Pending);
        }
        Some(Poll::Ready(slot.take_failure().map_or(Ok(()), |errno| Err(errno.into()))))
    }

    /// In mode Watching: makes a system call if there may be something to receive, and otherwise waits for that.
    fn attempt_in<T>(&self, mut call: impl FnMut(&OwnedFd) -> io::Result<T>) -> Poll<io::Result<T>> {
        let slot = &*self.slot;
        if slot.does(SlotKind::Receive) {
            // First comes what it received, then its end.
            self.driver.cancel(slot, SlotKind::Receive);
            return self.wait(Way::In);
        }
        if slot.is_readable.get() {
            if !self.turn.may_complete() {
                return Poll::Pending;
            }
            count(&self.turn.counters.recv_calls);
            match call(&slot.fd) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    slot.is_readable.set(false);
                    slot.is_hung.set(false);
                }
                done => return Poll::Ready(done),
            }
        }
        if !slot.does(SlotKind::Watch) {
            self.driver.watch(slot)?;
        }
        self.wait(Way::In)
    }

    /// Sends a message that is no longer than [`SHORT`]: it has been sent, or will be in this turn; should that fail, the
    /// next operation says so.
    pub(crate) fn poll_send_short<'a>(
        &self,
        length: usize,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Poll<io::Result<()>> {
        if let Some(wait) = self.poll_way_out() {
            return wait;
        }
        if !self.turn.may_complete() {
            return Poll::Pending;
        }
        count(&self.turn.counters.send_calls);
        Poll::Ready(self.driver.hope(&self.slot, length, pieces))
    }

    pub(crate) fn poll_send(&self, pieces: Pieces<'_>) -> Poll<io::Result<usize>> {
        if let Some(wait) = self.poll_way_out() {
            return wait;
        }
        let slot = &*self.slot;
        if slot.has_room.get() {
            if !self.turn.may_complete() {
                return Poll::Pending;
            }
            count(&self.turn.counters.send_calls);
            match tcp::send(&slot.fd, pieces) {
                Err(Errno::AGAIN) => slot.has_room.set(false),
                sent => {
                    slot.has_room.set(sent == Ok(pieces.len()));
                    return Poll::Ready(sent.map_err(io::Error::from));
                }
            }
        }
        if !slot.does(SlotKind::Room) {
            self.driver.watch_room(slot)?;
        }
        self.wait(Way::Out)
    }

    /// Nothing when the next message may go; a failure that is yet to be told; or waits for the message before it.
    fn poll_way_out<T>(&self) -> Option<Poll<io::Result<T>>> {
        let slot = &*self.slot;
        if slot.unsent.get().is_some() || matches!(slot.end.get(), Some(SlotEnd::Failed(_))) {
            let failure = slot.take_failure()?;
            return Some(Poll::Ready(Err(failure.into())));
        }
        if !slot.is_sending() {
            return None;
        }
        if slot.does(SlotKind::Send) {
            self.driver.is_urgent.set(true);
        }
        Some(self.wait(Way::Out))
    }

    /// Of a socket of datagrams, which is bound. One with a single peer is received from by multishot. Where many send to one, the
    /// ring says when there is something, and plain calls take it: what comes while the first of it is seen to is then answered
    /// along with that.
    pub(crate) fn of_datagrams(
        turn: &Rc<Turn>,
        driver: &Rc<UringDriver>,
        fd: OwnedFd,
        has_peer: bool,
    ) -> io::Result<Self> {
        let socket = Self::new(turn, driver, fd);
        match has_peer {
            true => driver.prepare_for_datagrams()?,
            false => socket.slot.watch_from_now_on(),
        }
        Ok(socket)
    }

    /// Shows the datagrams that came first.
    pub(crate) fn poll_datagrams<T>(
        &self,
        state: &udp::UdpState,
        take: impl FnOnce(Datagrams<'_>) -> T,
    ) -> Poll<io::Result<T>> {
        let slot = &*self.slot;
        if slot.mode.get() == Mode::Watching {
            let mut take = Some(take);
            return self.attempt_in(|fd| udp::receive(fd, &self.driver.area, state, &mut take));
        }
        if slot.has_arrived() || slot.unsent.get().is_some() {
            if !self.turn.may_complete() {
                return Poll::Pending;
            }
            while let Some(buffer) = slot.next_arrived() {
                if let Some(datagrams) =
                    self.driver.inbox.borrow().as_ref().and_then(|inbox| inbox.open(&buffer, state))
                {
                    count(&self.turn.counters.recv_calls);
                    return Poll::Ready(Ok(take(datagrams)));
                }
            }
            if let Some(errno) = slot.unsent.take() {
                return Poll::Ready(Err(errno.into()));
            }
        }
        if !slot.does(SlotKind::Datagrams) {
            self.driver.receive_datagrams(slot)?;
        }
        self.wait(Way::In)
    }

    /// Sends datagrams, all or none.
    pub(crate) fn poll_send_datagrams(
        &self,
        state: &udp::UdpState,
        out: &Outgoing<'_>,
    ) -> Poll<io::Result<()>> {
        self.attempt_out(|fd| udp::send(fd, state, out))
    }

    /// Makes a system call, unless it is known that there is no room, and otherwise waits for that.
    fn attempt_out<T>(&self, mut call: impl FnMut(&OwnedFd) -> io::Result<T>) -> Poll<io::Result<T>> {
        let slot = &*self.slot;
        if slot.has_room.get() {
            if !self.turn.may_complete() {
                return Poll::Pending;
            }
            count(&self.turn.counters.send_calls);
            match call(&slot.fd) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => slot.has_room.set(false),
                done => return Poll::Ready(done),
            }
        }
        if !slot.does(SlotKind::Room) {
            self.driver.watch_room(slot)?;
        }
        self.wait(Way::Out)
    }

    fn wait<T>(&self, way: Way) -> Poll<io::Result<T>> {
        self.slot.waits.wait(way, &self.turn)
    }

    /// True if the last wait would have told of anything that came, and did not.
    pub(crate) fn is_quiet(&self) -> bool {
        let slot = &*self.slot;
        let is_watched = match slot.mode.get() {
            Mode::Multishot => slot.does(SlotKind::Receive),
            Mode::Watching => slot.does(SlotKind::Watch) && !slot.is_readable.get(),
        };
        let is_ended = slot.end.get().is_some() || slot.unsent.get().is_some() || slot.is_hung.get();
        is_watched && !slot.has_arrived() && !is_ended
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.slot.unsent.get().is_some() || tcp::has_failed(&self.slot.fd)
    }

    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        if self.slot.is_sending() {
            self.slot.shuts_down.set(true);
            return Ok(());
        }
        tcp::shutdown_write(&self.slot.fd)
    }

    /// Has the close that follows send a reset.
    pub(crate) fn make_close_abortive(&self) -> io::Result<()> {
        self.slot.resets.set(true);
        tcp::make_close_abortive(&self.slot.fd)
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.slot.fd
    }
}
