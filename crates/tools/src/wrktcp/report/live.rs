//! The line that is written over each second.

use crate::wrk::report::units::{binary, microseconds};
use measure::Row;
use measure::shares::received_bytes;
use std::time::Duration;

/// Adds rows up: all figures but the latency are those since the start.
#[derive(Debug)]
pub struct Live {
    lasts_s: u64,
    /// Rows so far. Each is a second, which may end late on a busy machine.
    seconds: u64,
    success: u64,
    failure: u64,
    bytes: u64,
    errors: u64,
    latency_us: f64,
}

impl Live {
    /// For a run of this length.
    pub fn new(lasts: Duration) -> Live {
        Live {
            lasts_s: lasts.as_secs().max(1),
            seconds: 0,
            success: 0,
            failure: 0,
            bytes: 0,
            errors: 0,
            latency_us: 0.0,
        }
    }

    /// The line after another row. Its latency is the mean of the last second that had any answer; the first second counts
    /// as a whole one, whatever part of it the run has taken.
    pub fn row(&mut self, row: &Row) -> String {
        let counts = &row.counts;
        self.seconds += 1;
        self.success += counts.ok;
        self.failure += counts.check_failed;
        self.bytes += received_bytes(counts);
        self.errors += counts.failed;
        if counts.ok + counts.check_failed > 0 {
            self.latency_us = row.mean_us;
        }
        let per_second = |count: u64| count as f64 / row.at_s.max(1.0);
        format!(
            "\r  Time:{}s TPS:{:.2}/{:.2} Latency:{} BPS:{}B Error:{}  ",
            self.seconds.min(self.lasts_s),
            per_second(self.success),
            per_second(self.failure),
            microseconds(self.latency_us),
            binary(per_second(self.bytes)),
            self.errors
        )
    }
}
