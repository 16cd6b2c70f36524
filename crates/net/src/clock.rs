//! The clocks that are not the backend's: the wall clock and CPU time. The monotonic clock is the driver's
//! ([`Worker::now`](crate::worker::Worker::now)), so that a simulation can answer instead of the system.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// CPU time, user and system, of the calling thread since it started.
pub fn thread_cpu() -> Duration {
    // By the C library, because rustix finds its own way to the clock, which crashes under valgrind. The clock exists
    // wherever Linux does.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// The wall clock as one pair of readings plus the monotonic clock: it never steps back during a run.
pub(crate) struct WallClock {
    started: Instant,
    started_unix_us: u64,
}

impl WallClock {
    /// The system's wall clock, joined to the monotonic clock that reads `now`.
    pub(crate) fn start(now: Instant) -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::new(now, since_epoch.as_micros() as u64)
    }

    /// One that reads `unix_us` when the monotonic clock reads `now`.
    pub(crate) fn new(now: Instant, unix_us: u64) -> Self {
        Self { started: now, started_unix_us: unix_us }
    }

    pub(crate) fn unix_micros_at(&self, at: Instant) -> u64 {
        match at.checked_duration_since(self.started) {
            Some(since) => self.started_unix_us + since.as_micros() as u64,
            None => self.started_unix_us - (self.started - at).as_micros() as u64,
        }
    }
}
