//! The backends behind the surface: one file or folder per way of doing I/O, chosen when a worker starts.
//!
//! A backend is a driver, which waits and says who is to be polled, and sockets, whose operations complete. The choice is
//! an enum, so a call costs one predictable branch and nothing above this folder asks which backend it is, or whether a
//! socket is ready. Start at [`Driver`] and [`BackendSocket`]; then `epoll.rs`, the plainest of them.

pub(crate) mod epoll;
#[cfg(feature = "sim")]
pub(crate) mod sim;
mod tcp;
mod udp;
mod unsent;
pub(crate) mod uring;
mod waits;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::buffer::{Buffer, Lent, Pool};
use crate::clock::WallClock;
use crate::datagrams::{Datagrams, Outgoing};
use crate::options::{ConnectOptions, Io, Limits, ListenOptions, UdpOptions};
use crate::tasks::TaskId;
use crate::turn::Turn;

use crate::usage::Shortages;
use rustix::net::SocketFlags;
pub(crate) use tcp::set_option;
use unsent::Pieces;

/// The same call, on whichever socket it is.
macro_rules! on_each {
    ($self:expr, $socket:ident => $call:expr) => {
        match $self {
            Self::Epoll($socket) => $call,
            Self::Uring($socket) => $call,
            #[cfg(feature = "sim")]
            Self::Sim($socket) => $call,
        }
    };
}

/// The meaning of an event for the worker.
pub(crate) enum Happened {
    /// This task waits for it.
    Wakes(TaskId),
    /// One task receives and another one sends, and both wait for it.
    WakesBoth(TaskId, TaskId),
    /// The lookup thread has answers.
    Answers,
    /// Nobody waits for it.
    Nothing,
}

impl Happened {
    /// Has these tasks polled, each once.
    fn waking(receives: Option<TaskId>, sends: Option<TaskId>) -> Self {
        match (receives, sends) {
            (None, None) => Self::Nothing,
            (Some(one), Some(other)) if one != other => Self::WakesBoth(one, other),
            (Some(task), _) | (None, Some(task)) => Self::Wakes(task),
        }
    }
}

/// Time that the worker may sleep.
pub(crate) enum Rest {
    None,
    /// Until a moment, seen from one a short while ago.
    Until(Instant, Instant),
    Forever,
}

/// An end of the sleep that is further away is approached in two steps: the first needs no clock.
const FAR: Duration = Duration::from_millis(4);

impl Rest {
    /// When it ends at the latest; `None`: when something happens. `began`: when it was begun to be worked for.
    pub(crate) fn ends(&self, began: Instant) -> Option<Instant> {
        match self {
            Rest::None => Some(began),
            Rest::Until(at, _) => Some(*at),
            Rest::Forever => None,
        }
    }

    /// Longest sleep, where there is one.
    fn timeout(self) -> Option<Duration> {
        match self {
            Self::None => Some(Duration::ZERO),
            Self::Until(at, seen) => {
                let left = at.saturating_duration_since(seen);
                Some(if left >= FAR { left - FAR / 2 } else { at.saturating_duration_since(Instant::now()) })
            }
            Self::Forever => None,
        }
    }
}

/// The events of one turn, in the form that the backend has them.
pub(crate) enum Occurrences {
    Epoll(mio::Events),
    Uring(uring::Completions),
    /// Number of things happen now.
    #[cfg(feature = "sim")]
    Sim(usize),
}

/// The driver: it waits for a worker, and keeps its clock.
pub(crate) enum Driver {
    Epoll(Rc<epoll::Driver>),
    Uring(Rc<uring::UringDriver>),
    #[cfg(feature = "sim")]
    Sim(Rc<sim::Driver>),
}

impl Driver {
    pub(crate) fn new(io: Io, limits: &Limits, pool: &Rc<Pool>) -> io::Result<Self> {
        match io {
            Io::Auto => Self::uring(limits, pool).or_else(|_| Self::epoll()),
            Io::Uring => Ok(Self::uring(limits, pool)?),
            Io::Epoll => Self::epoll(),
        }
    }

    fn epoll() -> io::Result<Self> {
        Ok(Self::Epoll(Rc::new(epoll::Driver::new()?)))
    }

    fn uring(limits: &Limits, pool: &Rc<Pool>) -> Result<Self, uring::Unavailable> {
        Ok(Self::Uring(Rc::new(uring::UringDriver::new(limits, pool)?)))
    }

    /// Ends what is still under way in the kernel, at the end of a run.
    pub(crate) fn finish(&self) {
        match self {
            // Nothing ever is.
            Self::Epoll(_) => {}
            Self::Uring(driver) => driver.finish(),
            #[cfg(feature = "sim")]
            Self::Sim(_) => {}
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Epoll(_) => "epoll",
            Self::Uring(_) => "io_uring",
            #[cfg(feature = "sim")]
            Self::Sim(_) => "simulated",
        }
    }

    /// The monotonic clock, read now.
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::Epoll(_) | Self::Uring(_) => Instant::now(),
            #[cfg(feature = "sim")]
            Self::Sim(driver) => driver.now(),
        }
    }

    /// The wall clock, as it goes on from now.
    pub(crate) fn wall_clock(&self) -> WallClock {
        match self {
            Self::Epoll(_) | Self::Uring(_) => WallClock::start(self.now()),
            #[cfg(feature = "sim")]
            Self::Sim(driver) => driver.wall_clock(),
        }
    }

    /// Room for the events of a turn.
    pub(crate) fn occurrences(&self, limits: &Limits) -> Occurrences {
        let events = limits.events.max(1);
        match self {
            Self::Epoll(_) => Occurrences::Epoll(mio::Events::with_capacity(events)),
            Self::Uring(_) => Occurrences::Uring(uring::Completions::with_capacity(events)),
            #[cfg(feature = "sim")]
            Self::Sim(_) => Occurrences::Sim(events),
        }
    }

    /// Waits for events, a signal, or the end of the rest.
    pub(crate) fn wait(&self, occurrences: &mut Occurrences, rest: Rest) -> io::Result<()> {
        match (self, occurrences) {
            (Self::Epoll(driver), Occurrences::Epoll(events)) => driver.wait(events, rest),
            (Self::Uring(driver), Occurrences::Uring(completions)) => driver.wait(completions, rest),
            #[cfg(feature = "sim")]
            (Self::Sim(driver), Occurrences::Sim(count)) => driver.wait(rest).map(|due| *count = due),
            _ => unreachable!("a driver is given what it made room for"),
        }
    }

    /// In the middle of a long turn: hands over what would otherwise wait for its end.
    pub(crate) fn submit(&self) {
        match self {
            Self::Epoll(_) => {}
            Self::Uring(driver) => driver.submit(),
            #[cfg(feature = "sim")]
            Self::Sim(_) => {}
        }
    }

    /// Names the tasks whose operation is past its deadline, if it is time to look.
    pub(crate) fn sweep(&self, now: Instant, overdue: impl FnMut(TaskId)) {
        match self {
            Self::Epoll(driver) => driver.sweep(now, overdue),
            Self::Uring(driver) => driver.sweep(now, overdue),
            // A deadline is one of the things that happen.
            #[cfg(feature = "sim")]
            Self::Sim(_) => {}
        }
    }

    /// The longest wait that there is while a socket has a deadline.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        match self {
            Self::Epoll(driver) => driver.longest_wait(),
            Self::Uring(driver) => driver.longest_wait(),
            #[cfg(feature = "sim")]
            Self::Sim(_) => None,
        }
    }

    /// The worker has stood still for so long and could look at nothing that came: what waits may wait for so much longer.
    pub(crate) fn postpone(&self, by: Duration) {
        on_each!(self, driver => driver.postpone(by));
    }

    /// For another thread, to report [`Happened::Answers`].
    pub(crate) fn waker(&self) -> io::Result<Waker> {
        match self {
            Self::Epoll(driver) => Ok(Waker::Epoll(driver.waker())),
            Self::Uring(driver) => Ok(Waker::Uring(driver.waker()?)),
            // No other thread is part of a simulation.
            #[cfg(feature = "sim")]
            Self::Sim(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Times that a queue shared with the kernel was too short.
    pub(crate) fn shortages(&self) -> Shortages {
        match self {
            // Shares none.
            Self::Epoll(_) => Shortages::default(),
            Self::Uring(driver) => driver.shortages(),
            #[cfg(feature = "sim")]
            Self::Sim(_) => Shortages::default(),
        }
    }

    /// Timers that the kernel was given.
    pub(crate) fn alarms(&self) -> u64 {
        match self {
            Self::Epoll(driver) => driver.alarms(),
            // Its waits end by timeouts of their own.
            Self::Uring(_) => 0,
            // Its clock needs none.
            #[cfg(feature = "sim")]
            Self::Sim(_) => 0,
        }
    }

    /// Sockets in somebody's hands.
    pub(crate) fn open_sockets(&self) -> usize {
        match self {
            Self::Epoll(driver) => driver.open_sockets(),
            Self::Uring(driver) => driver.open_sockets(),
            #[cfg(feature = "sim")]
            Self::Sim(driver) => driver.open_sockets(),
        }
    }
}

/// An open socket of datagrams. Closes when dropped.
pub(crate) enum Datagram {
    Real(Real, udp::UdpState),
    #[cfg(feature = "sim")]
    Sim(sim::Datagrams),
}

/// A socket of the system, in the hands of the backend in use.
pub(crate) enum Real {
    Epoll(epoll::EpollSocket),
    Uring(uring::Socket),
}

impl Datagram {
    pub(crate) fn new(
        driver: &Driver,
        turn: &Rc<Turn>,
        at: SocketAddr,
        to: Option<SocketAddr>,
        options: &UdpOptions,
    ) -> io::Result<Self> {
        let real = match driver {
            Driver::Epoll(driver) => {
                let fd = udp::bound(at, to, options, SocketFlags::NONBLOCK)?;
                Real::Epoll(epoll::EpollSocket::of_datagrams(turn, driver, fd)?)
            }
            Driver::Uring(driver) => {
                let fd = udp::bound(at, to, options, SocketFlags::empty())?;
                Real::Uring(uring::Socket::of_datagrams(turn, driver, fd, to.is_some())?)
            }
            #[cfg(feature = "sim")]
            Driver::Sim(driver) => return sim::Datagrams::new(turn, driver, at, to).map(Self::Sim),
        };
        Ok(Self::Real(real, udp::UdpState::default()))
    }

    pub(crate) fn poll_recv<T>(&self, take: impl FnOnce(Datagrams<'_>) -> T) -> Poll<io::Result<T>> {
        match self {
            Self::Real(Real::Epoll(socket), state) => socket.poll_datagrams(state, take),
            Self::Real(Real::Uring(socket), state) => socket.poll_datagrams(state, take),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.poll_recv(take),
        }
    }

    pub(crate) fn poll_send(&self, out: &Outgoing<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Real(Real::Epoll(socket), state) => socket.poll_send_datagrams(state, out),
            Self::Real(Real::Uring(socket), state) => socket.poll_send_datagrams(state, out),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.poll_send(out),
        }
    }

    pub(crate) fn most_segments(&self) -> usize {
        match self {
            Self::Real(_, state) => state.most_segments(),
            #[cfg(feature = "sim")]
            Self::Sim(_) => udp::SEGMENTS_MAX,
        }
    }

    pub(crate) fn overflowed(&self) -> u64 {
        match self {
            Self::Real(_, state) => state.overflowed(),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.overflowed(),
        }
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Real(Real::Epoll(socket), _) => tcp::local_addr(socket.fd()),
            Self::Real(Real::Uring(socket), _) => tcp::local_addr(socket.fd()),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.local_addr(),
        }
    }
}

/// Ends a worker's wait from another thread.
pub(crate) enum Waker {
    Epoll(Arc<mio::Waker>),
    Uring(Arc<OwnedFd>),
}

impl Waker {
    pub(crate) fn wake(&self) -> io::Result<()> {
        match self {
            Self::Epoll(waker) => waker.wake(),
            Self::Uring(counter) => Ok(rustix::io::write(counter, &1u64.to_ne_bytes()).map(drop)?),
        }
    }
}

/// An open TCP socket, connected or listening. One operation at a time each way; closes when dropped.
pub(crate) enum BackendSocket {
    Epoll(epoll::EpollSocket),
    Uring(uring::Socket),
    #[cfg(feature = "sim")]
    Sim(sim::Socket),
}

impl BackendSocket {
    /// Begins to connect; [`poll_connected`](Self::poll_connected) says how it ended.
    pub(crate) fn connect(
        driver: &Driver,
        turn: &Rc<Turn>,
        to: SocketAddr,
        options: &ConnectOptions,
    ) -> io::Result<Self> {
        match driver {
            Driver::Epoll(driver) => epoll::EpollSocket::connect(turn, driver, to, options).map(Self::Epoll),
            Driver::Uring(driver) => uring::Socket::connect(turn, driver, to, options).map(Self::Uring),
            #[cfg(feature = "sim")]
            Driver::Sim(driver) => sim::Socket::connect(turn, driver, to, options).map(Self::Sim),
        }
    }

    /// Connects to a Unix socket. That never waits: where its queue is full, the error is `WouldBlock`.
    pub(crate) fn connect_unix(driver: &Driver, turn: &Rc<Turn>, path: &Path) -> io::Result<Self> {
        match driver {
            Driver::Epoll(driver) => {
                let fd = tcp::connected_unix(path)?;
                epoll::EpollSocket::accepted(turn, driver, fd).map(Self::Epoll)
            }
            Driver::Uring(driver) => {
                let fd = tcp::connected_unix(path)?;
                // The ring waits in its stead.
                rustix::io::ioctl_fionbio(&fd, false)?;
                Ok(Self::Uring(uring::Socket::new(turn, driver, fd)))
            }
            // A simulated world has no files.
            #[cfg(feature = "sim")]
            Driver::Sim(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    pub(crate) fn listen(
        driver: &Driver,
        turn: &Rc<Turn>,
        at: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        match driver {
            Driver::Epoll(driver) => epoll::EpollSocket::listen(turn, driver, at, options).map(Self::Epoll),
            Driver::Uring(driver) => uring::Socket::listen(turn, driver, at, options).map(Self::Uring),
            #[cfg(feature = "sim")]
            Driver::Sim(driver) => sim::Socket::listen(turn, driver, at, options).map(Self::Sim),
        }
    }

    pub(crate) fn poll_accept(&self) -> Poll<io::Result<(Self, SocketAddr)>> {
        match self {
            Self::Epoll(socket) => {
                socket.poll_accept().map_ok(|(accepted, peer)| (Self::Epoll(accepted), peer))
            }
            Self::Uring(socket) => {
                socket.poll_accept().map_ok(|(accepted, peer)| (Self::Uring(accepted), peer))
            }
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.poll_accept().map_ok(|(accepted, peer)| (Self::Sim(accepted), peer)),
        }
    }

    /// Until when operations may wait; they then fail with `TimedOut`.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) {
        on_each!(self, socket => socket.set_deadline(deadline));
    }

    pub(crate) fn poll_connected(&self) -> Poll<io::Result<()>> {
        on_each!(self, socket => socket.poll_connected())
    }

    /// Receives at most `max` bytes, at most a buffer full. Nothing of it is lost when the caller stops polling.
    pub(crate) fn poll_recv(&self, max: usize) -> Poll<io::Result<Lent>> {
        on_each!(self, socket => socket.poll_recv(max))
    }

    /// Receives what there is, a buffer full at most, without waiting; `None`: nothing.
    pub(crate) fn try_recv(&self) -> io::Result<Option<Lent>> {
        match self {
            Self::Epoll(socket) => socket.try_recv(),
            Self::Uring(socket) => socket.try_recv(),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.try_recv(),
        }
    }

    /// Throws away at most `max` received bytes without copying them; says how many.
    pub(crate) fn poll_discard(&self, max: u64) -> Poll<io::Result<u64>> {
        on_each!(self, socket => socket.poll_discard(max))
    }

    /// Sends what there is room for; says how many bytes that was.
    fn poll_send(&self, pieces: Pieces<'_>) -> Poll<io::Result<usize>> {
        on_each!(self, socket => socket.poll_send(pieces))
    }

    /// Sends what there is room for of a message; says how many bytes that was.
    pub(crate) fn poll_send_some(&self, message: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Uring(socket) if (1..=uring::SHORT).contains(&message.len()) => {
                let sent = socket.poll_send_short(message.len(), std::iter::once(message));
                sent.map_ok(|()| message.len())
            }
            _ => self.poll_send(Pieces::One(message)),
        }
    }

    /// Sends all of `head` and `body`.
    pub(crate) async fn send(&self, head: Option<Buffer>, body: &[&'static [u8]]) -> io::Result<()> {
        if let Self::Uring(socket) = self {
            let length = head.as_ref().map_or(0, |head| head.len());
            let length = length + body.iter().map(|piece| piece.len()).sum::<usize>();
            if (1..=uring::SHORT).contains(&length) {
                let pieces = || head.iter().map(|head| &head[..]).chain(body.iter().copied());
                return poll_fn(|_| socket.poll_send_short(length, pieces())).await;
            }
        }
        let head = head.as_ref().map_or(&[][..], |head| &head[..]);
        unsent::send_all(head, body, |pieces| self.poll_send(pieces)).await
    }

    /// True if neither bytes nor an end can have come that were not received, as of the last wait.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            Self::Epoll(socket) => socket.is_quiet(),
            Self::Uring(socket) => socket.is_quiet(),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.is_quiet(),
        }
    }

    /// True if a reset came behind the end of the stream.
    pub(crate) fn is_refused(&self) -> bool {
        match self {
            Self::Epoll(socket) => socket.is_refused(),
            Self::Uring(socket) => socket.is_refused(),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.is_refused(),
        }
    }

    pub(crate) fn shutdown_write(&self) -> io::Result<()> {
        on_each!(self, socket => socket.shutdown_write())
    }

    /// Has the close that follows send a reset.
    pub(crate) fn make_close_abortive(&self) -> io::Result<()> {
        on_each!(self, socket => socket.make_close_abortive())
    }

    /// See [`tcp::set_low_water`].
    pub(crate) fn set_low_water(&self, bytes: u32) -> io::Result<()> {
        match self {
            Self::Epoll(socket) => tcp::set_low_water(socket.fd(), bytes),
            Self::Uring(socket) => tcp::set_low_water(socket.fd(), bytes),
            // It saves work and changes nothing else; a simulated wake-up costs none.
            #[cfg(feature = "sim")]
            Self::Sim(_) => Ok(()),
        }
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Epoll(socket) => tcp::local_addr(socket.fd()),
            Self::Uring(socket) => tcp::local_addr(socket.fd()),
            #[cfg(feature = "sim")]
            Self::Sim(socket) => socket.local_addr(),
        }
    }
}
