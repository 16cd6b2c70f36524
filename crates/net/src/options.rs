//! The settings of a worker and its sockets. Plain values; nothing here acts.

use std::fmt;
use std::net::IpAddr;
use std::time::Instant;

/// Which system interface carries the I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// The best one that works here.
    #[default]
    Auto,
    /// Completion by io_uring.
    Uring,
    /// Readiness by epoll.
    Epoll,
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Uring => "io_uring",
            Self::Epoll => "epoll",
        })
    }
}

/// The bounds of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a fresh pooled buffer in bytes: about the most that one receive returns.
    pub buffer_bytes: usize,
    /// Events taken from the system per turn at most.
    pub events: usize,
    /// Operations that may complete at once within one poll of a task, before the other tasks get their turn.
    pub completions_per_poll: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { buffer_bytes: 64 * 1024, events: 1024, completions_per_poll: 64 }
    }
}

/// Options of a connection to open. `TCP_NODELAY` is always on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The local address to connect from; its port is chosen per target.
    pub source: Option<IpAddr>,
    /// When to give up connecting, with [`TimedOut`](std::io::ErrorKind::TimedOut). It does not apply to what follows.
    pub deadline: Option<Instant>,
    /// Close with a reset: no port is left in TIME_WAIT, and bytes not yet delivered are lost.
    pub abortive_close: bool,
    /// The kernel's receive buffer in bytes, and with it the window; the kernel doubles it for its own needs.
    pub receive_buffer: Option<usize>,
    /// The kernel's send buffer in bytes, doubled likewise.
    pub send_buffer: Option<usize>,
}

/// Options of a listener. `SO_REUSEADDR` is always on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// Connections that the kernel keeps waiting to be accepted, at most.
    pub backlog: u32,
    /// Let several sockets, one per worker, listen at one address; the kernel shares the connections out.
    pub reuse_port: bool,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { backlog: 4096, reuse_port: false }
    }
}

/// Options of a socket of datagrams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UdpOptions {
    /// The local address to send from; its port is chosen by the system.
    pub source: Option<IpAddr>,
    /// Let several sockets, one per worker, have one address; the kernel shares out by who sends.
    pub reuse_port: bool,
    /// The kernel's buffers in bytes, each way; it may grant less.
    pub buffer: Option<usize>,
}

/// Ways to close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// After what was sent, as by dropping. The kernel still resets if received bytes were left unread.
    Graceful,
    /// At once, by a reset.
    Reset,
}
