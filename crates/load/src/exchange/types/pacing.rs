//! Reads as a client does that is slow, loses patience, or breaks off on purpose.

use super::worker::Worker;
use plan::{GiveUp, Reading};
use std::io;
use std::time::{Duration, Instant};
use transport::{Received, TransportStream};

/// Bytes of the first read of an answer that is to be broken off: jtest's.
const FIRST_READ: u64 = 2048;

/// The pace at which one answer is read.
#[derive(Debug)]
pub(crate) struct Pacing {
    bytes_per_second: Option<u64>,
    /// Bytes of one read at that speed.
    trickle: Option<u64>,
    give_up: Option<GiveUp>,
    /// Share of the body after which to break off.
    abort_at: Option<f64>,
    /// Body bytes after which to break off, once the head is known.
    abort_after: Option<u64>,
    /// Bytes of a read before the head is known, of an answer that is to be broken off.
    first_read: u64,
    /// Longest silence.
    idle: Option<Duration>,
    /// When the request was sent.
    since: Instant,
}

impl Pacing {
    /// The pace of an answer to a request sent at a moment, where it differs from as fast as can be. `slow`: it is one of
    /// those that are read slowly. `abort`: the share of the body after which to break off, and the body's length.
    pub fn new(
        worker: &Worker,
        reading: &Reading,
        slow: bool,
        abort: Option<(f64, u64)>,
        since: Instant,
    ) -> Option<Pacing> {
        let limits = &worker.load.limits;
        let bytes_per_second = reading.bytes_per_second.filter(|_| slow);
        let plain = bytes_per_second.is_none() && reading.give_up.is_none();
        (!plain || abort.is_some() || limits.idle.is_some()).then(|| Pacing {
            bytes_per_second,
            trickle: bytes_per_second.and_then(|_| reading.trickle()),
            give_up: reading.give_up,
            abort_at: abort.map(|(share, _)| share),
            abort_after: None,
            // No more than all of the body but a byte, so that the read that completes the head leaves something to leave
            // out, however short the head is.
            first_read: abort.map_or(0, |(_, bytes)| FIRST_READ.min(bytes.saturating_sub(1)).max(1)),
            idle: limits.idle,
            since,
        })
    }

    /// True to break off now, with so many body bytes.
    /// `left`: bytes of body that are still to come.
    pub fn is_over(&mut self, left: Option<u64>, got: u64, worker: &Worker) -> bool {
        if let (Some(share), None) = (self.abort_at, self.abort_after) {
            // As the original: of what is left after the first read, all but one byte at most.
            let left = left.unwrap_or(0);
            self.abort_after = Some(got + (share * left.saturating_sub(1) as f64) as u64);
        }
        self.abort_after.is_some_and(|after| got >= after) || self.too_slow(got, worker)
    }

    fn too_slow(&self, got: u64, worker: &Worker) -> bool {
        let Some(limit) = self.give_up else { return false };
        let elapsed = worker.net.now().saturating_duration_since(self.since);
        let speed = got as f64 / elapsed.as_secs_f64().max(1e-6);
        elapsed > limit.after && got > limit.after_bytes && speed < limit.below_bytes_per_second as f64
    }

    /// Receives, at the speed of this client.
    pub async fn recv(
        &self,
        stream: &mut TransportStream,
        worker: &Worker,
        got: u64,
    ) -> io::Result<Received> {
        let wanted = match (self.abort_at, self.abort_after) {
            (None, _) => None,
            (Some(_), None) => Some(self.first_read),
            (Some(_), Some(after)) => Some(after.saturating_sub(got).max(1)),
        };
        self.rest(worker, got).await;
        if self.idle.is_some() {
            stream.set_deadline(Some(self.deadline(worker, self.until(worker))));
        }
        match wanted.into_iter().chain(self.trickle).min() {
            Some(bytes) => stream.recv_at_most(bytes as usize).await,
            None => stream.recv().await,
        }
    }

    /// Waits until more than `got` bytes of body are read.
    pub async fn rest(&self, worker: &Worker, got: u64) {
        if let Some(speed) = self.bytes_per_second {
            let due = self.since + Duration::from_secs_f64(got as f64 / speed.max(1) as f64);
            worker.net.sleep_until(due.min(self.until(worker))).await;
        }
    }

    /// The latest moment for the end of it.
    fn until(&self, worker: &Worker) -> Instant {
        worker.channels.last_deadline(self.since)
    }

    /// The latest moment for what comes next, where that is otherwise `until`.
    pub fn deadline(&self, worker: &Worker, until: Instant) -> Instant {
        self.idle.map_or(until, |idle| (worker.net.now() + idle).min(until))
    }

    /// True if it reads at a speed of its own.
    pub fn is_slow(&self) -> bool {
        self.bytes_per_second.is_some()
    }

    /// Bytes of body that are still read before the answer is broken off; `None`: all.
    pub fn wanted(&self, got: u64) -> Option<u64> {
        self.abort_after.map(|after| after.saturating_sub(got))
    }
}
