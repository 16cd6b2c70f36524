//! Who waits for a socket, for what and until when: the part of a socket that is the same whatever carries the I/O.
//!
//! Receiving and sending each have a waiter of their own, so that a task which does both at once is told of either. It must
//! not know how an event is learnt of.

use std::cell::Cell;
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::tasks::TaskId;
use crate::turn::Turn;

/// Time between two looks for operations past their deadlines, and so the latest that one is noticed.
const SWEEP: Duration = Duration::from_millis(20);

/// The way that an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Bytes, their end, or a connection to accept.
    In,
    /// Room to send, or to be connected.
    Out,
}

/// The waiters of a socket: one for each way.
pub(crate) struct Waits {
    incoming: Cell<Option<TaskId>>,
    outgoing: Cell<Option<TaskId>>,
    deadline: Cell<Option<Instant>>,
}

impl Waits {
    pub(crate) fn new() -> Self {
        Self { incoming: Cell::new(None), outgoing: Cell::new(None), deadline: Cell::new(None) }
    }

    fn waiter(&self, way: Way) -> &Cell<Option<TaskId>> {
        match way {
            Way::In => &self.incoming,
            Way::Out => &self.outgoing,
        }
    }

    /// Has the task that is polled now wait, unless the deadline is past: then the operation fails with `TimedOut`.
    pub(crate) fn wait<T>(&self, way: Way, turn: &Turn) -> Poll<io::Result<T>> {
        if self.is_overdue(turn.began()) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.waiter(way).set(Some(turn.current()));
        Poll::Pending
    }

    /// Who waits for this, to be polled.
    pub(crate) fn take(&self, way: Way) -> Option<TaskId> {
        self.waiter(way).take()
    }

    /// Whoever waits for anything, to be polled: each task once.
    pub(crate) fn take_both(&self) -> impl Iterator<Item = TaskId> + use<> {
        let incoming = self.incoming.take();
        let outgoing = self.outgoing.take();
        incoming.into_iter().chain(outgoing.filter(|task| incoming != Some(*task)))
    }

    /// Has whoever waits wait for so much longer.
    pub(crate) fn postpone(&self, by: Duration) {
        self.deadline.set(self.deadline.get().map(|deadline| deadline + by));
    }

    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        self.deadline.get().is_some_and(|deadline| deadline <= now)
    }

    /// Until when operations may wait.
    #[cfg(feature = "sim")]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline.get()
    }

    /// Sets the deadline and returns the one before.
    pub(crate) fn set_deadline(&self, deadline: Option<Instant>) -> Option<Instant> {
        self.deadline.replace(deadline)
    }
}

/// The deadlines of a worker's sockets: how many there are, and when they are looked through.
pub(crate) struct Deadlines {
    count: Cell<usize>,
    next_look: Cell<Instant>,
}

impl Deadlines {
    pub(crate) fn new() -> Self {
        Self { count: Cell::new(0), next_look: Cell::new(Instant::now()) }
    }

    pub(crate) fn set(&self, waits: &Waits, deadline: Option<Instant>) {
        let before = waits.set_deadline(deadline);
        match (before.is_some(), deadline.is_some()) {
            (false, true) => self.count.set(self.count.get() + 1),
            (true, false) => self.count.set(self.count.get().saturating_sub(1)),
            _ => {}
        }
    }

    /// The longest wait, where there are deadlines: no longer than until they are to be looked at.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        (self.count.get() > 0).then_some(SWEEP)
    }

    /// The same, where nothing else ends the wait earlier.
    pub(crate) fn bound(&self, timeout: Option<Duration>) -> Option<Duration> {
        let sweep = self.longest_wait();
        timeout.into_iter().chain(sweep).min()
    }

    /// True if it is time to look through the sockets. Asked once for each look.
    pub(crate) fn is_time_to_look(&self, now: Instant) -> bool {
        if self.count.get() == 0 || now < self.next_look.get() {
            return false;
        }
        self.next_look.set(now + SWEEP);
        true
    }
}
