//! Snapshots that workers hand over.

use crate::tally::Tally;
use std::time::Duration;

/// Figures that a worker hands over at the end of an interval.
#[derive(Debug)]
pub struct Snapshot {
    /// Which worker.
    pub worker: u32,
    /// Which phase of the plan the figures belong to.
    pub phase: u32,
    /// Number of the interval since the start of the run.
    pub interval: u64,
    /// The figures.
    pub tally: Box<Tally>,
    /// Requests under way at the end of the interval.
    pub in_flight: u64,
    /// The most requests under way at once in the phase so far.
    pub peak: u64,
    /// CPU time of the worker's thread since its last snapshot, or since the run started.
    pub cpu: Duration,
    /// True if the interval ends with this snapshot; where not, the phase has ended within it.
    pub closes_interval: bool,
    /// True if this is the worker's last snapshot.
    pub last: bool,
    /// When the phase began and when this interval ended, since the start of the run.
    pub span: (Duration, Duration),
    /// Until when requests could begin in the phase, since the start of the run: what comes after waits for answers only.
    pub paced_until: Duration,
    /// Until when requests were due in the phase: no later than that, and earlier where as many as there were to be had begun.
    pub due_until: Duration,
}

impl Snapshot {
    /// One without figures, of a span in the middle of a phase that goes on.
    pub fn empty(worker: u32, phase: u32, from: Duration, until: Duration) -> Snapshot {
        Snapshot {
            worker,
            phase,
            interval: 0,
            tally: Box::new(Tally::new()),
            in_flight: 0,
            peak: 0,
            cpu: Duration::ZERO,
            closes_interval: true,
            last: false,
            span: (from, until),
            paced_until: until,
            due_until: until,
        }
    }

    /// The phase that is under way once this has been handed over: the last snapshot of a phase is sent when all
    /// workers are done with it and the next one is about to begin.
    pub fn under_way(&self) -> u32 {
        self.phase + u32::from(!self.closes_interval)
    }
}
