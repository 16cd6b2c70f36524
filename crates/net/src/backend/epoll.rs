//! Readiness turned into completion: edge-triggered epoll (by mio) under operations that finish.
//!
//! Each socket remembers what it is known to be ready for. An operation is tried only when that says so; a short read or
//! write, or `EAGAIN`, takes it back, and the next event gives it again. So a request costs one write, one read and a share
//! of one wait: no call is made only to hear that there is nothing.
//!
//! It must not know what tasks are: it keeps the id of the one that waits and hands it back. Start at [`Driver::wait`] and
//! [`EpollSocket::attempt`].

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Interest, Token};
use rustix::io::Errno;
use rustix::net::{self as sys, SocketFlags, sockopt};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use slab::Slab;

use super::tcp::{self, Nowhere};
use super::udp;
use super::unsent::Pieces;
use super::waits::{Deadlines, Waits, Way};
use super::{Happened, Rest};
use crate::buffer::Lent;
use crate::datagrams::{Datagrams, Outgoing};
use crate::options::{ConnectOptions, ListenOptions};
use crate::tasks::TaskId;
use crate::turn::Turn;

use crate::usage::count;

/// The wait itself counts in milliseconds; what is due sooner than this gets an alarm with nanoseconds.
const NEAR: Duration = Duration::from_millis(2);

const ANSWERS: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);

// A token carries a place and a generation.
const _: () = assert!(usize::BITS == 64);

pub(crate) struct Driver {
    poll: RefCell<mio::Poll>,
    sockets: RefCell<Slab<Rc<EpollSlot>>>,
    next_generation: Cell<u32>,
    waker: Arc<mio::Waker>,
    alarm: OwnedFd,
    alarm_at: Cell<Option<Instant>>,
    alarms: Cell<u64>,
    deadlines: Deadlines,
    nowhere: Nowhere,
    /// Memory that datagrams are received into.
    area: udp::Area,
}

impl Driver {
    pub(crate) fn new() -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        let waker = Arc::new(mio::Waker::new(poll.registry(), ANSWERS)?);
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let alarm = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let source = &mut SourceFd(&alarm.as_raw_fd());
        poll.registry().register(source, ALARM, Interest::READABLE)?;
        Ok(Self {
            poll: RefCell::new(poll),
            sockets: RefCell::default(),
            next_generation: Cell::new(0),
            waker,
            alarm,
            alarm_at: Cell::new(None),
            alarms: Cell::new(0),
            deadlines: Deadlines::new(),
            nowhere: Nowhere::default(),
            area: udp::Area::default(),
        })
    }

    /// For another thread, to report [`Happened::Answers`].
    pub(crate) fn waker(&self) -> Arc<mio::Waker> {
        self.waker.clone()
    }

    pub(crate) fn alarms(&self) -> u64 {
        self.alarms.get()
    }

    pub(crate) fn open_sockets(&self) -> usize {
        self.sockets.borrow().len()
    }

    /// Waits for events. One system call, two when an alarm has to be set.
    pub(crate) fn wait(&self, events: &mut mio::Events, rest: Rest) -> io::Result<()> {
        let timeout = match rest {
            Rest::Until(at, _) => self.timeout_until(at, rest.timeout())?,
            other => other.timeout(),
        };
        match self.poll.borrow_mut().poll(events, self.deadlines.bound(timeout)) {
            // A signal: a turn without events.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }

    /// Whole milliseconds as long as the instant is far; when it is near, no timeout but an alarm.
    fn timeout_until(&self, at: Instant, left: Option<Duration>) -> io::Result<Option<Duration>> {
        let left = left.unwrap_or_default();
        if left.is_zero() {
            return Ok(Some(Duration::ZERO));
        }
        if left >= NEAR {
            return Ok(Some(Duration::from_millis(left.as_millis() as u64)));
        }
        if self.alarm_at.replace(Some(at)) != Some(at) {
            self.set_alarm(left)?;
        }
        Ok(None)
    }

    fn set_alarm(&self, left: Duration) -> io::Result<()> {
        count(&self.alarms);
        let never = Timespec::default();
        let it_value = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let once = Itimerspec { it_interval: never, it_value };
        timerfd_settime(&self.alarm, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Takes note of an event and says who is to be polled for it.
    pub(crate) fn note(&self, event: &mio::event::Event) -> Happened {
        match event.token() {
            ANSWERS => Happened::Answers,
            ALARM => {
                self.alarm_at.set(None);
                Happened::Nothing
            }
            token => self.note_socket(token, event),
        }
    }

    fn note_socket(&self, token: Token, event: &mio::event::Event) -> Happened {
        let sockets = self.sockets.borrow();
        match sockets.get(token.0 & u32::MAX as usize) {
            // The place may have a new owner since the kernel queued the event.
            Some(slot) if slot.token == token => slot.note(Ready::of(event)),
            _ => Happened::Nothing,
        }
    }

    /// Names the tasks whose operation is past its deadline, if it is time to look.
    pub(crate) fn sweep(&self, now: Instant, mut overdue: impl FnMut(TaskId)) {
        if !self.deadlines.is_time_to_look(now) {
            return;
        }
        for (_, slot) in self.sockets.borrow().iter().filter(|(_, slot)| slot.waits.is_overdue(now)) {
            slot.waits.take_both().for_each(&mut overdue);
        }
    }

    /// The longest wait that there is while a socket has a deadline.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        self.deadlines.longest_wait()
    }

    /// Moves the deadlines of all sockets.
    pub(crate) fn postpone(&self, by: Duration) {
        self.sockets.borrow().iter().for_each(|(_, slot)| slot.waits.postpone(by));
    }

    fn admit(&self, fd: &OwnedFd, interest: Interest, ready: Ready) -> io::Result<Rc<EpollSlot>> {
        let generation = self.next_generation.get().wrapping_add(1) & (u32::MAX >> 1);
        self.next_generation.set(generation);
        let mut sockets = self.sockets.borrow_mut();
        let place = sockets.vacant_entry();
        let token = Token((generation as usize) << 32 | place.key());
        let registry = self.poll.borrow();
        let source = &mut SourceFd(&fd.as_raw_fd());
        registry.registry().register(source, token, interest)?;
        let slot = Rc::new(EpollSlot { token, ready: Cell::new(ready), waits: Waits::new() });
        place.insert(slot.clone());
        Ok(slot)
    }

    fn watch_both_ways(&self, fd: &OwnedFd, slot: &EpollSlot) -> io::Result<()> {
        let source = &mut SourceFd(&fd.as_raw_fd());
        let both = Interest::READABLE | Interest::WRITABLE;
        let poll = self.poll.borrow();
        poll.registry().reregister(source, slot.token, both)
    }

    fn forget(&self, slot: &EpollSlot) {
        self.deadlines.set(&slot.waits, None);
        let place = slot.token.0 & u32::MAX as usize;
        self.sockets.borrow_mut().remove(place);
    }
}

/// The ways that a socket is known to be ready for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ready(u8);

impl Ready {
    const NOTHING: Self = Self(0);
    const READ: Self = Self(1);
    const WRITE: Self = Self(2);
    /// The peer's end of stream, a reset or another error lies behind what is left to read: a short read does not mean
    /// that nothing follows.
    const HUNG: Self = Self(4);

    fn of(event: &mio::event::Event) -> Self {
        let hung = event.is_read_closed() || event.is_error();
        let read = event.is_readable() || hung;
        let write = event.is_writable() || event.is_write_closed() || event.is_error();
        Self(u8::from(read) | u8::from(write) << 1 | u8::from(hung) << 2)
    }

    const fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    fn without(self, less: Self) -> Self {
        Self(self.0 & !less.0)
    }

    /// The readiness that an operation this way needs.
    fn to_go(way: Way) -> Self {
        match way {
            Way::In => Self::READ,
            Way::Out => Self::WRITE,
        }
    }

    fn meets(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}

/// State of a socket that its driver and its owner share.
struct EpollSlot {
    token: Token,
    ready: Cell<Ready>,
    waits: Waits,
}

impl EpollSlot {
    fn note(&self, news: Ready) -> Happened {
        self.ready.set(self.ready.get().with(news));
        let receives = news.meets(Ready::READ).then(|| self.waits.take(Way::In)).flatten();
        let sends = news.meets(Ready::WRITE).then(|| self.waits.take(Way::Out)).flatten();
        Happened::waking(receives, sends)
    }

    /// The kernel gave or took less than was asked for.
    fn fell_short(&self, way: Way) {
        if !self.ready.get().meets(Ready::HUNG) {
            self.ready.set(self.ready.get().without(Ready::to_go(way)));
        }
    }

    /// The kernel would have had the caller wait.
    fn would_block(&self, way: Way) {
        self.ready.set(self.ready.get().without(Ready::to_go(way)).without(Ready::HUNG));
    }
}

/// An open TCP socket, connected or listening. One operation at a time; closes when dropped.
pub(crate) struct EpollSocket {
    turn: Rc<Turn>,
    driver: Rc<Driver>,
    slot: Rc<EpollSlot>,
    /// True if the kernel reports room to send. A server's socket asks for that only once it ran out of it.
    reports_room: Cell<bool>,
    fd: OwnedFd,
}

impl Drop for EpollSocket {
    fn drop(&mut self) {
        // Closing takes the descriptor out of the epoll set.
        self.driver.forget(&self.slot);
    }
}

impl EpollSocket {
    /// Begins to connect; [`poll_connected`](Self::poll_connected) says how it ended.
    pub(crate) fn connect(
        turn: &Rc<Turn>,
        driver: &Rc<Driver>,
        to: SocketAddr,
        options: &ConnectOptions,
    ) -> io::Result<Self> {
        let fd = tcp::to_connect(to, options, SocketFlags::NONBLOCK)?;
        match sys::connect(&fd, &to) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let both = Interest::READABLE | Interest::WRITABLE;
        let slot = driver.admit(&fd, both, Ready::NOTHING)?;
        Ok(Self::new(turn, driver, slot, fd, true))
    }

    pub(crate) fn listen(
        turn: &Rc<Turn>,
        driver: &Rc<Driver>,
        at: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        let fd = tcp::listening(at, options, SocketFlags::NONBLOCK)?;
        let interest = Interest::READABLE;
        let slot = driver.admit(&fd, interest, Ready::NOTHING)?;
        Ok(Self::new(turn, driver, slot, fd, false))
    }

    /// Of a socket that is connected already.
    pub(crate) fn accepted(turn: &Rc<Turn>, driver: &Rc<Driver>, fd: OwnedFd) -> io::Result<Self> {
        let interest = Interest::READABLE;
        let slot = driver.admit(&fd, interest, Ready::WRITE)?;
        Ok(Self::new(turn, driver, slot, fd, false))
    }

    fn new(
        turn: &Rc<Turn>,
        driver: &Rc<Driver>,
        slot: Rc<EpollSlot>,
        fd: OwnedFd,
        reports_room: bool,
    ) -> Self {
        let turn = turn.clone();
        let driver = driver.clone();
        Self { turn, driver, slot, reports_room: Cell::new(reports_room), fd }
    }

    /// Until when an operation may wait; it then fails with `TimedOut`.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        self.driver.deadlines.set(&self.slot.waits, deadline);
    }

    pub(crate) fn poll_connected(&self) -> Poll<io::Result<()>> {
        if !self.slot.ready.get().meets(Ready::WRITE) {
            return self.wait(Way::Out);
        }
        if self.slot.ready.get().meets(Ready::HUNG) {
            let outcome = sockopt::socket_error(&self.fd).and_then(|outcome| outcome);
            return Poll::Ready(outcome.map_err(io::Error::from));
        }
        Poll::Ready(Ok(()))
    }

    pub(crate) fn poll_accept(&self) -> Poll<io::Result<(EpollSocket, SocketAddr)>> {
        self.attempt(Way::In, |fd| {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let (accepted, peer) = sys::acceptfrom_with(fd, flags)?;
            let peer = peer.ok_or(Errno::INVAL)?;
            let socket = Self::accepted(&self.turn, &self.driver, accepted)?;
            Ok((socket, SocketAddr::try_from(peer)?))
        })
    }

    /// Receives at most `max` bytes, at most a buffer full. No buffer is taken while there is nothing to receive.
    pub(crate) fn poll_recv(&self, max: usize) -> Poll<io::Result<Lent>> {
        self.attempt(Way::In, |fd| {
            count(&self.turn.counters.recv_calls);
            let (buffer, all) = tcp::receive(fd, &self.turn.pool, max)?;
            if !all {
                self.slot.fell_short(Way::In);
            }
            Ok(Lent::from(buffer))
        })
    }

    /// Receives what there is, a buffer full at most, without waiting; `None`: nothing.
    pub(crate) fn try_recv(&self) -> io::Result<Option<Lent>> {
        count(&self.turn.counters.recv_calls);
        match tcp::receive(&self.fd, &self.turn.pool, usize::MAX) {
            Ok((buffer, all)) => {
                if !all {
                    self.slot.fell_short(Way::In);
                }
                Ok(Some(Lent::from(buffer)))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.slot.would_block(Way::In);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Throws away at most `max` received bytes without copying them; says how many.
    pub(crate) fn poll_discard(&self, max: u64) -> Poll<io::Result<u64>> {
        self.attempt(Way::In, |fd| {
            count(&self.turn.counters.recv_calls);
            let (gone, all) = self.driver.nowhere.discard(fd, max)?;
            if !all {
                self.slot.fell_short(Way::In);
            }
            Ok(gone)
        })
    }

    /// Sends what there is room for; says how many bytes that was.
    pub(crate) fn poll_send(&self, pieces: Pieces<'_>) -> Poll<io::Result<usize>> {
        self.attempt(Way::Out, |fd| {
            count(&self.turn.counters.send_calls);
            let sent = tcp::send(fd, pieces)?;
            if sent < pieces.len() {
                self.slot.fell_short(Way::Out);
            }
            Ok(sent)
        })
    }

    /// Of a socket of datagrams, which is bound.
    pub(crate) fn of_datagrams(turn: &Rc<Turn>, driver: &Rc<Driver>, fd: OwnedFd) -> io::Result<Self> {
        let both = Interest::READABLE | Interest::WRITABLE;
        let slot = driver.admit(&fd, both, Ready::WRITE)?;
        Ok(Self::new(turn, driver, slot, fd, true))
    }

    /// Shows the datagrams that came first.
    pub(crate) fn poll_datagrams<T>(
        &self,
        state: &udp::UdpState,
        take: impl FnOnce(Datagrams<'_>) -> T,
    ) -> Poll<io::Result<T>> {
        let mut take = Some(take);
        self.attempt(Way::In, |fd| {
            count(&self.turn.counters.recv_calls);
            udp::receive(fd, &self.driver.area, state, &mut take)
        })
    }

    /// Sends datagrams, all or none.
    pub(crate) fn poll_send_datagrams(
        &self,
        state: &udp::UdpState,
        out: &Outgoing<'_>,
    ) -> Poll<io::Result<()>> {
        self.attempt(Way::Out, |fd| {
            count(&self.turn.counters.send_calls);
            udp::send(fd, state, out)
        })
    }

    /// Makes a system call if the socket is known to be ready for it, and otherwise waits for that.
    fn attempt<T>(&self, way: Way, mut call: impl FnMut(&OwnedFd) -> io::Result<T>) -> Poll<io::Result<T>> {
        if !self.slot.ready.get().meets(Ready::to_go(way)) {
            return self.wait(way);
        }
        if !self.turn.may_complete() {
            return Poll::Pending;
        }
        match call(&self.fd) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.slot.would_block(way);
                self.wait(way)
            }
            done => Poll::Ready(done),
        }
    }

    fn wait<T>(&self, way: Way) -> Poll<io::Result<T>> {
        let waits = self.slot.waits.wait(way, &self.turn);
        if waits.is_pending() && way == Way::Out && !self.reports_room.replace(true) {
            self.driver.watch_both_ways(&self.fd, &self.slot)?;
        }
        waits
    }

    /// True if the last wait would have told of anything that came, and did not.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.slot.ready.get().meets(Ready::READ.with(Ready::HUNG))
    }

    pub(crate) fn is_refused(&self) -> bool {
        tcp::has_failed(&self.fd)
    }

    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        tcp::shutdown_write(&self.fd)
    }

    /// Has the close that follows send a reset.
    pub(crate) fn make_close_abortive(&self) -> io::Result<()> {
        tcp::make_close_abortive(&self.fd)
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Driver as Backend;
    use crate::options::{Io, Limits};
    use crate::run::run;
    use std::future::poll_fn;
    use std::net::Ipv4Addr;

    #[test]
    fn accepted_sockets_do_not_delay_either() {
        let delays = run(Io::Epoll, Limits::default(), |net| async move {
            let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let Backend::Epoll(driver) = &net.0.driver else { panic!("epoll was asked for") };
            let listener = EpollSocket::listen(&net.0.turn, driver, anywhere, &ListenOptions::default())?;
            let at = tcp::local_addr(listener.fd())?;
            let client = EpollSocket::connect(&net.0.turn, driver, at, &ConnectOptions::default())?;
            let (server, _) = poll_fn(|_| listener.poll_accept()).await?;
            let both = [&client, &server].map(|socket| sockopt::tcp_nodelay(&socket.fd));
            io::Result::Ok(both)
        });
        assert_eq!(delays.unwrap().unwrap(), [Ok(true), Ok(true)]);
    }
}
