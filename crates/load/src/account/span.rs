//! Where a worker stands in its run: the phase and interval that its next snapshot belongs to.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Moments of the run and of its phase under way.
pub(super) struct Span {
    /// When the run started.
    pub started: Cell<Instant>,
    pub phase: Cell<usize>,
    pub interval: Cell<u64>,
    /// When the phase began, since the start of the run.
    pub phase_began: Cell<Duration>,
    /// When the phase had ended here, since the start of the run.
    pub phase_ended: Cell<Option<Duration>>,
    /// Until when the phase could begin requests, once that is over.
    pub paced_until: Cell<Option<Instant>>,
    /// Until when requests were due in it, once that is over.
    pub due_until: Cell<Option<Instant>>,
    /// Nobody waits any more for what is under way.
    pub gives_up: Cell<bool>,
    /// CPU time of this thread that has been told, or was used before the run started.
    pub cpu_told: Cell<Duration>,
}

impl Span {
    pub fn new(now: Instant) -> Span {
        Span {
            started: Cell::new(now),
            phase: Cell::new(0),
            interval: Cell::new(0),
            phase_began: Cell::new(Duration::ZERO),
            phase_ended: Cell::new(None),
            paced_until: Cell::new(None),
            due_until: Cell::new(None),
            gives_up: Cell::new(false),
            cpu_told: Cell::new(Duration::ZERO),
        }
    }
}

/// The reason for a snapshot.
#[derive(Clone, Copy)]
pub(crate) enum Closing {
    /// A phase has ended within the interval.
    Phase,
    Interval,
    /// Nothing comes after it.
    Run,
}
