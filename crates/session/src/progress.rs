//! How far the workers of agents are, and what is told for one of them that tells nothing more.

use measure::{Snapshot, Tally};
use std::time::Duration;

/// How far a worker is, as far as it has told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// The phase in which it told its last figures.
    pub phase: u32,
    /// The interval that it tells of next.
    pub interval: u64,
    /// When that phase began.
    pub began: Duration,
    /// Until when it has told.
    pub until: Duration,
    /// Requests under way then.
    pub in_flight: u64,
    /// Requests that it has begun in the phase.
    pub done: u64,
    /// Nothing more comes of it.
    pub gone: bool,
}

impl Progress {
    /// When the interval ends that it tells of next. Its loss may be known long after that, and is no figure of it: the row that others
    /// have told ends where it would.
    pub fn next_ends(&self, length: Duration) -> Duration {
        length.saturating_mul(u32::try_from(self.interval + 1).unwrap_or(u32::MAX))
    }
}

/// The last word of a worker that does not say it. `last`: nobody goes on behind it.
pub(crate) fn nothing_more(worker: u32, progress: Progress, now: Duration, last: bool) -> Snapshot {
    let until = progress.until.max(now);
    let mut tally = Box::new(Tally::new());
    // What was under way when it told its last figures has an end that nobody will know.
    tally.counts.unfinished = progress.in_flight;
    Snapshot {
        worker,
        phase: progress.phase,
        interval: progress.interval,
        tally,
        in_flight: 0,
        peak: 0,
        cpu: Duration::ZERO,
        closes_interval: true,
        last,
        span: (progress.began, until),
        paced_until: progress.until,
        due_until: progress.until,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Collector, RunEvent};

    fn second(worker: u32, interval: u64) -> Snapshot {
        let end = Duration::from_secs(interval + 1);
        let progress = Progress { interval, until: end, ..Progress::default() };
        let mut told = nothing_more(worker, progress, end, false);
        told.tally.counts.requests = 5;
        told
    }

    #[test]
    fn a_loss_that_is_known_late_moves_no_row() {
        let length = Duration::from_secs(1);
        let mut collector = Collector::new([("measure", true)].into_iter(), 2);
        let mut events = Vec::new();
        for interval in 0..9 {
            events.extend(collector.add(second(0, interval), None).0);
        }
        events.extend(collector.add(second(1, 0), None).0);
        let progress = Progress { interval: 1, until: length, in_flight: 3, ..Progress::default() };
        let lost_at = Duration::from_millis(8_700).min(progress.next_ends(length));
        events.extend(collector.add(nothing_more(1, progress, lost_at, true), None).0);
        let rows: Vec<(f64, f64)> = events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Second(second) => Some((second.at.as_secs_f64(), second.took.as_secs_f64())),
                _ => None,
            })
            .collect();
        let each: Vec<(f64, f64)> = (1..10).map(|at| (f64::from(at), 1.0)).collect();
        assert_eq!(rows, each);
    }
}
