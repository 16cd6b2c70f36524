//! The log's own account of requests that are sent again, which stands beside what is measured of them.

use serde::{Deserialize, Serialize};

/// Figures that a recording has of the requests that are sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RecordedFigures {
    /// The recording's file.
    pub file: String,
    /// Requests that are sent, without those that only warm up; copies count.
    pub requests: u64,
    /// Requests that are due, in equal parts of the time from the first moment on; none where users wait for their answers.
    pub due: Vec<u64>,
    /// Length of such a part in seconds.
    pub part_s: f64,
    /// Each status with its requests.
    pub statuses: Vec<(u16, u64)>,
    /// Times from a request to its answer's end, where the log has them: p50, p90, p99 and the longest.
    pub times_us: Option<[u32; 4]>,
    /// Requests that have such a time.
    pub timed: u64,
    /// Shares of requests and of bytes that came from a cache by its own account, where the log has that.
    pub hits: Option<[f64; 2]>,
    /// Bytes of an exact LRU cache without lifetimes, each with the requests that it would answer.
    pub lru: Vec<(u64, u64)>,
    /// Whatever is not sent, and why.
    pub left_out: Vec<NotSent>,
}

/// Requests, or lines of a log, that are not sent for a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NotSent {
    /// The reason.
    pub why: String,
    /// How many.
    pub requests: u64,
}

/// The most parts that moments are counted in.
const PARTS: u64 = 600;

/// Requests that are due in each part of the time, from their moments in order, and the length of a part in seconds: whole seconds.
pub fn in_parts(at_us: &[u64]) -> (Vec<u64>, f64) {
    let Some(last) = at_us.last() else { return (Vec::new(), 0.0) };
    let part_s = (last / 1_000_000 + 1).div_ceil(PARTS);
    let mut due = vec![0; (last / 1_000_000 / part_s + 1) as usize];
    at_us.iter().for_each(|at| due[(at / 1_000_000 / part_s) as usize] += 1);
    (due, part_s as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moment_is_counted_once_in_few_parts() {
        assert_eq!(in_parts(&[]), (Vec::new(), 0.0));
        assert_eq!(in_parts(&[0, 999_999, 1_000_000, 3_500_000]), (vec![2, 1, 0, 1], 1.0));
        let day: Vec<u64> = (0..86_400).map(|second| second * 1_000_000).collect();
        let (due, part_s) = in_parts(&day);
        assert_eq!((due.len(), part_s, due.iter().sum()), (600, 144.0, 86_400_u64));
        assert!(due.iter().all(|requests| *requests == 144));
    }
}
