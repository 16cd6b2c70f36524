//! Barriers: users of all workers wait until enough of them are there.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A barrier.
#[derive(Debug, Default)]
pub(crate) struct Meeting(Mutex<MeetingState>);

#[derive(Debug, Default)]
struct MeetingState {
    waiting: u64,
    /// Meetings that have come about.
    met: u64,
}

impl Meeting {
    fn state(&self) -> MutexGuard<'_, MeetingState> {
        // Whoever panicked while it held the lock has left two whole numbers.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A user has come, to a meeting of so many. The number of the meeting that it waits for; `None`: it was the last one, and
    /// all go on.
    pub fn arrive(&self, of: u64) -> Option<u64> {
        let mut state = self.state();
        state.waiting += 1;
        if state.waiting >= of {
            state.waiting = 0;
            state.met += 1;
            return None;
        }
        Some(state.met)
    }

    /// True once a meeting has come about.
    pub fn is_over(&self, number: u64) -> bool {
        self.state().met > number
    }

    /// A user does not wait any longer.
    pub fn leave(&self, number: u64) {
        let mut state = self.state();
        if state.met == number {
            state.waiting = state.waiting.saturating_sub(1);
        }
    }
}
