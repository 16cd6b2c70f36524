//! How a client reads that is slow, loses patience, or breaks off on purpose.

use crate::asked::Asked;
use crate::worker::Worker;
use plan::Reading;
use std::io;
use std::time::{Duration, Instant};
use transport::{Received, Stream};
use wire::http1::ResponseReader;

/// Bytes of the first read of an answer that is to be broken off: jtest's.
const FIRST_READ: u64 = 2048;

/// How a client reads that is slow, or breaks off.
pub(super) struct Patience {
    bytes_per_second: Option<u64>,
    give_up: Option<plan::GiveUp>,
    abort_at: Option<f64>,
    /// Body bytes after which to break off, once the head is known.
    abort_after: Option<u64>,
    /// Bytes of a read before the head is known, of an answer that is to be broken off. No more than all of the body but
    /// a byte, so that the read that completes the head leaves something to leave out, however short the head is.
    first_read: u64,
    since: Instant,
}

impl Patience {
    pub(super) fn new(asked: &Asked, reading: &Reading, since: Instant) -> Patience {
        let bytes_per_second = reading.bytes_per_second.filter(|_| asked.slow);
        Patience {
            bytes_per_second,
            give_up: reading.give_up,
            abort_at: asked.abort_at,
            abort_after: None,
            first_read: FIRST_READ.min(asked.body_bytes().saturating_sub(1)).max(1),
            since,
        }
    }

    /// Whether bytes must pass one by one, as it were.
    pub(super) fn is_needed(&self) -> bool {
        self.bytes_per_second.is_some() || self.give_up.is_some() || self.abort_at.is_some()
    }

    /// Whether to break off now.
    pub(super) fn lost(&mut self, reader: &ResponseReader, got: u64, worker: &Worker) -> bool {
        if let (Some(share), None) = (self.abort_at, self.abort_after) {
            // As the original: of what is left after the first read, all but one byte at most.
            let left = reader.remaining().unwrap_or(0);
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
    pub(super) async fn recv(&self, stream: &mut Stream, worker: &Worker, got: u64) -> io::Result<Received> {
        let wanted = match (self.abort_at, self.abort_after) {
            (None, _) => None,
            (Some(_), None) => Some(self.first_read),
            (Some(_), Some(after)) => Some(after.saturating_sub(got).max(1)),
        };
        let Some(speed) = self.bytes_per_second else {
            return match wanted {
                Some(bytes) => stream.recv_at_most(bytes as usize).await,
                None => stream.recv().await,
            };
        };
        let due = self.since + Duration::from_secs_f64(got as f64 / speed.max(1) as f64);
        worker.net.sleep_until(due).await;
        // Fifty reads a second, so that the peer sees a steady trickle.
        let trickle = (speed / 50).clamp(1, 65_536);
        stream.recv_at_most(wanted.map_or(trickle, |bytes| bytes.min(trickle)) as usize).await
    }
}
