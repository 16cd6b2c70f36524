//! Sums and shares of counters that have a name of their own.

use crate::accounts::OriginCounts;
use crate::counts::Counts;

/// Answers of which it is known what the cache did.
pub fn answered(counts: &Counts) -> u64 {
    counts.hits + counts.misses + counts.revalidated + counts.collapsed
}

/// Requests that got no answer by which it could be told what the cache did.
pub fn unjudged(counts: &Counts) -> u64 {
    counts.failed + counts.unfinished
}

/// Requests that have ended, whichever way; those without an answer at the end of their part of the run have not.
pub fn finished(counts: &Counts) -> u64 {
    counts.ok + counts.check_failed + counts.injected + counts.aborted + counts.failed
}

/// Bytes of answers that came in, header fields and bodies.
pub fn received_bytes(counts: &Counts) -> u64 {
    counts.head_bytes + counts.body_bytes
}

pub(crate) fn offload(counts: &Counts, origin: &OriginCounts) -> Option<f64> {
    ratio(origin.documents().min(counts.ended), counts.ended).map(|cost| 1.0 - cost)
}

/// `part` of `whole`, where there is a whole.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
