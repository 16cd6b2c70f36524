//! [`Alike`]: good answers that are counted together, because all that a fast run has of them differs in little but the time.

use crate::distribution::{Bucket, Distribution};
use crate::time_metric::micros;
use std::time::Duration;

/// A good answer over a kept connection, which came in one piece: its first byte came when all of it did.
#[derive(Debug, Clone, Copy)]
pub struct Answered {
    /// Status of the answer.
    pub status: u16,
    /// From when the request was due until it was sent.
    pub waited: Duration,
    /// From the request to the answer.
    pub took: Duration,
    /// Bytes of the request.
    pub sent_bytes: u64,
    /// Bytes of the answer's head.
    pub head_bytes: u64,
    /// Bytes of the answer's body.
    pub body_bytes: u64,
}

/// Such answers of one status, to requests that were sent when they were due, to the microsecond, so that service, response and
/// first byte took the same time. One count and one histogram hold them, until a tally takes them.
#[derive(Debug, Default)]
pub struct Alike {
    pub(crate) status: u16,
    pub(crate) count: u64,
    pub(crate) took_us: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
    pub(crate) took: Distribution,
}

impl Alike {
    /// Counts an answer; false if it is not as the others: it is to be counted by itself.
    #[inline]
    pub fn add(&mut self, answer: &Answered) -> bool {
        let us = micros(answer.took);
        if !answer.waited.is_zero() && micros(answer.took + answer.waited) != us {
            return false;
        }
        if self.status != answer.status {
            if self.count > 0 {
                return false;
            }
            self.status = answer.status;
        }
        self.count += 1;
        self.took_us += us;
        self.sent_bytes += answer.sent_bytes;
        self.head_bytes += answer.head_bytes;
        self.body_bytes += answer.body_bytes;
        self.took.count_in(Bucket::of(us), 1);
        true
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        let mut took = std::mem::take(&mut self.took);
        took.clear();
        *self = Alike { took, ..Alike::default() };
    }
}
