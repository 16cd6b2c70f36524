//! Plain counters of what a worker did and holds, for its checks of itself.

use std::cell::Cell;

/// A worker's calls since it started, and its holdings now. See [`Net::usage`](crate::Net::usage).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Turns of the loop, each with one wait.
    pub turns: u64,
    /// Polls of tasks.
    pub polls: u64,
    /// Receives: calls to the kernel, those that found nothing included, or arrivals that io_uring reported.
    pub recv_calls: u64,
    /// Sends: calls to the kernel, those that found no room included, or messages queued for io_uring.
    pub send_calls: u64,
    /// Timers that epoll's waits for near moments were given; io_uring's have timeouts of their own.
    pub alarms: u64,
    /// Receives that found none of the buffers provided for io_uring, and went on when more were provided.
    pub buffer_shortages: u64,
    /// Waits after which completions of io_uring had not fitted into their queue; the kernel kept them.
    pub completion_overflows: u64,
    /// Sockets open now, listeners included.
    pub open_sockets: usize,
    /// Tasks alive now, the main one not included.
    pub tasks: usize,
    /// Pooled buffers in somebody's hands now.
    pub buffers_outstanding: usize,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) turns: Cell<u64>,
    pub(crate) polls: Cell<u64>,
    pub(crate) recv_calls: Cell<u64>,
    pub(crate) send_calls: Cell<u64>,
}

/// Events of the queues that are shared with the kernel.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shortages {
    pub(crate) buffers: u64,
    pub(crate) completions: u64,
}

pub(crate) fn count(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}
