//! [`Net`]: what the code of tasks has of its worker.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::backend::BackendSocket;
use crate::buffer::Buffer;
use crate::event::Event;
use crate::listener::Listener;
use crate::options::{ConnectOptions, ListenOptions, UdpOptions};
use crate::sleep::Sleep;
use crate::standstills::Standstills;
use crate::stream::Stream;
use crate::tasks::TaskId;
use crate::udp::UdpSocket;
use crate::usage::Usage;
use crate::worker::Worker;

/// The handle of this thread's worker. Clones are cheap and name the same worker.
#[derive(Clone)]
pub struct Net(pub(crate) Rc<Worker>);

impl Net {
    /// The system interface in use, for reports: `"io_uring"` or `"epoll"`.
    pub fn backend(&self) -> &'static str {
        self.0.driver.name()
    }

    /// Has a task that panics end alone: it is dropped, the others go on, and this is called with what the panic said, so
    /// that whoever runs the worker can end the run and tell. Without it the panic of a task is one of [`run`](crate::run).
    pub fn on_panic(&self, hook: impl Fn(&str) + 'static) {
        self.0.panic_hook.replace(Some(Rc::new(hook)));
    }

    /// Starts a task. It is polled for the first time in this turn, after the caller.
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) -> TaskId {
        let id = self.0.tasks.borrow_mut().insert(Box::pin(task));
        self.0.turn.make_ready(id);
        id
    }

    /// Drops a task where it stands; a task that cancels itself is dropped when its current poll returns. A task that has
    /// ended is left in peace.
    pub fn cancel(&self, id: TaskId) {
        let task = self.0.tasks.borrow_mut().remove(id);
        drop(task);
    }

    /// The monotonic clock, read now.
    pub fn now(&self) -> Instant {
        let now = self.0.driver.now();
        self.0.turn.note_clock(now);
        now
    }

    /// The monotonic clock, as it was read a few short polls ago at most: one reading serves several completions of a
    /// batch. Whoever does more than a little between two waits says so ([`spent`](Self::spent)).
    pub fn recently(&self) -> Instant {
        self.0.turn.recent().unwrap_or_else(|| self.now())
    }

    /// The running poll has taken its time: the clock is read again before it is told as of [`recently`](Self::recently).
    pub fn spent(&self) {
        self.0.turn.spend();
    }

    /// The monotonic clock as it was when this turn's wait returned. Costs nothing.
    pub fn turn(&self) -> Instant {
        self.0.turn.began()
    }

    /// Microseconds since the Unix epoch, derived from the monotonic clock: it never steps back.
    pub fn unix_micros(&self) -> u64 {
        self.0.wall_clock.unix_micros_at(self.now())
    }

    /// The same for a moment that was read before: no clock is read again.
    pub fn unix_micros_at(&self, at: Instant) -> u64 {
        self.0.wall_clock.unix_micros_at(at)
    }

    /// When this worker stood still although something was due.
    pub fn standstills(&self) -> &Standstills {
        &self.0.standstills
    }

    /// How long it has stood still since a moment: a time in which it waited for nobody.
    #[inline]
    pub fn stood_still_since(&self, at: Instant) -> Duration {
        match self.0.standstills.is_empty() {
            true => Duration::ZERO,
            false => Duration::from_micros(self.0.standstills.since(self.unix_micros_at(at))),
        }
    }

    /// Waits until an instant, with microsecond resolution.
    pub fn sleep_until(&self, at: Instant) -> Sleep {
        Sleep::new(self.0.turn.clone(), at)
    }

    /// Waits until a signal is raised, and lowers it, at most until an instant, which comes later by as long as the worker has stood
    /// still meanwhile; `false`: the instant came first.
    pub async fn wait_until(&self, signal: &Event, at: Instant) -> bool {
        let began = self.turn();
        let mut until = at;
        let mut sleep = self.sleep_until(until);
        poll_fn(|context| {
            loop {
                if signal.poll_wait().is_ready() {
                    return Poll::Ready(true);
                }
                if Pin::new(&mut sleep).poll(context).is_pending() {
                    return Poll::Pending;
                }
                let later = at + self.stood_still_since(began);
                if later <= until {
                    return Poll::Ready(false);
                }
                until = later;
                sleep = self.sleep_until(until);
            }
        })
        .await
    }

    /// Waits for a while from now, with microsecond resolution.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        self.sleep_until(self.now() + duration)
    }

    /// Restricts this worker's connections to loopback addresses and to these hosts, for good: whatever else is asked for,
    /// Unix sockets included, is refused before a socket is made.
    pub fn restrict_to(&self, hosts: Arc<[IpAddr]>) {
        // Whoever comes second widens nothing.
        let _ = self.0.hosts.set(hosts);
    }

    /// Opens a TCP connection.
    ///
    /// # Errors
    ///
    /// The system's error (refused, unreachable, no local port or descriptor left),
    /// [`TimedOut`](io::ErrorKind::TimedOut) at the deadline, or
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) as of [`restrict_to`](Self::restrict_to).
    pub async fn connect(&self, to: SocketAddr, options: &ConnectOptions) -> io::Result<Stream> {
        if !self.0.may_reach(to.ip()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Stream::connect(&self.0.driver, &self.0.turn, to, options).await
    }

    /// Opens a connection to a Unix socket. It has no IP addresses: those it tells are unspecified.
    ///
    /// # Errors
    ///
    /// The system's error (no such file, refused, not allowed), or [`TimedOut`](io::ErrorKind::TimedOut) when its queue
    /// is full until the deadline; [`PermissionDenied`](io::ErrorKind::PermissionDenied) as of
    /// [`restrict_to`](Self::restrict_to).
    pub async fn connect_unix(&self, path: &Path, deadline: Option<Instant>) -> io::Result<Stream> {
        if self.0.hosts.get().is_some() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Stream::connect_unix(&self.0.driver, &self.0.turn, path, deadline).await
    }

    /// Listens for TCP connections; port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// The system's error: the address is in use, is not of this machine, or is not allowed.
    pub fn listen(&self, at: SocketAddr, options: &ListenOptions) -> io::Result<Listener> {
        Ok(Listener::new(&self.0.turn, BackendSocket::listen(&self.0.driver, &self.0.turn, at, options)?))
    }

    /// Opens a socket of datagrams to one peer, whose datagrams alone it receives.
    ///
    /// # Errors
    ///
    /// The system's error (no local port or descriptor left), or [`PermissionDenied`](io::ErrorKind::PermissionDenied) as of
    /// [`restrict_to`](Self::restrict_to).
    pub fn connect_udp(&self, to: SocketAddr, options: &UdpOptions) -> io::Result<UdpSocket> {
        if !self.0.may_reach(to.ip()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let anywhere = match to {
            SocketAddr::V4(_) => IpAddr::from([0; 4]),
            SocketAddr::V6(_) => IpAddr::from([0; 16]),
        };
        let at = SocketAddr::new(options.source.unwrap_or(anywhere), 0);
        UdpSocket::new(&self.0.driver, &self.0.turn, at, Some(to), options)
    }

    /// Opens a socket of datagrams at an address, for whoever sends there; port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// The system's error: the address is in use, is not of this machine, or is not allowed.
    pub fn bind_udp(&self, at: SocketAddr, options: &UdpOptions) -> io::Result<UdpSocket> {
        UdpSocket::new(&self.0.driver, &self.0.turn, at, None, options)
    }

    /// An empty pooled buffer to compose a message in.
    pub fn buffer(&self) -> Buffer {
        self.0.turn.pool.take()
    }

    /// The addresses of a host, by the system's resolver on a helper thread. An IP address (IPv6 with or without brackets)
    /// is returned as it is.
    ///
    /// # Errors
    ///
    /// The resolver's; and [`NotFound`](io::ErrorKind::NotFound) for a name without an address.
    pub async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.0.lookups.addresses(&self.0.turn, &self.0.driver, host, port).await
    }

    /// A signal between tasks of this worker.
    pub fn event(&self) -> Event {
        Event::new(&self.0.turn)
    }

    /// This worker's calls so far, and its holdings now.
    pub fn usage(&self) -> Usage {
        self.0.usage()
    }
}
