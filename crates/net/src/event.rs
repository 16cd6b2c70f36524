//! [`Event`]: a signal from one task of a worker to another, for a pacer that hands work to users.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::Poll;

use crate::tasks::TaskId;
use crate::turn::Turn;

/// A signal within one worker. [`set`](Self::set) wakes the one task that awaits [`wait`](Self::wait); set before anyone
/// waits, it lets the next wait through. Clones are the same signal.
#[derive(Clone)]
pub struct Event(Rc<EventState>);

struct EventState {
    turn: Weak<Turn>,
    is_set: Cell<bool>,
    waiter: Cell<Option<TaskId>>,
}

impl Event {
    pub(crate) fn new(turn: &Rc<Turn>) -> Self {
        Self(Rc::new(EventState {
            turn: Rc::downgrade(turn),
            is_set: Cell::new(false),
            waiter: Cell::new(None),
        }))
    }

    /// Raises the signal. The waiting task is polled in this turn, after the caller. Setting twice is setting once.
    pub fn set(&self) {
        self.0.is_set.set(true);
        if let (Some(waiter), Some(turn)) = (self.0.waiter.take(), self.0.turn.upgrade()) {
            turn.make_ready(waiter);
        }
    }

    /// Waits until the signal is raised, and lowers it. One task waits at a time; a second one takes the place of the first.
    pub async fn wait(&self) {
        poll_fn(|_| self.poll_wait()).await;
    }

    pub(crate) fn poll_wait(&self) -> Poll<()> {
        if self.0.is_set.replace(false) {
            self.0.waiter.set(None);
            return Poll::Ready(());
        }
        if let Some(turn) = self.0.turn.upgrade() {
            self.0.waiter.set(Some(turn.current()));
        }
        Poll::Pending
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("is_set", &self.0.is_set).finish()
    }
}
