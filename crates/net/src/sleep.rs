//! [`Sleep`]: the future that waits for an instant.

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use crate::timers::TimerKey;
use crate::turn::Turn;

/// Waits for an instant. See [`Net::sleep_until`](crate::Net::sleep_until).
pub struct Sleep {
    turn: Rc<Turn>,
    at: Instant,
    key: Option<TimerKey>,
}

impl Sleep {
    pub(crate) fn new(turn: Rc<Turn>, at: Instant) -> Self {
        let key = None;
        Self { turn, at, key }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let current = self.turn.current();
        let mut timers = self.turn.timers.borrow_mut();
        let key = match self.key {
            Some(key) if timers.still_wakes(key, current) => key,
            Some(_) => return Poll::Ready(()),
            None if self.at <= self.turn.began() => return Poll::Ready(()),
            None => timers.insert(self.at, current),
        };
        drop(timers);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.turn.timers.borrow_mut().remove(key);
        }
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("at", &self.at).finish()
    }
}
