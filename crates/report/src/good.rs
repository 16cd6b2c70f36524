//! Offload where answers were not good: an error page costs the origin nothing, but that is no merit of a cache.

use measure::shares::{answered, unjudged};
use measure::{Counts, PhaseResult, Row};

/// Share of answers that cost the origin no body, where most answers were good.
pub fn offload(phase: &PhaseResult) -> Option<f64> {
    phase.origin_offload().filter(|_| mostly_good(phase.counts()))
}

/// Share of body bytes that the origin did not send, where most answers were good.
pub fn byte_offload(phase: &PhaseResult) -> Option<f64> {
    phase.byte_offload().filter(|_| mostly_good(phase.counts()))
}

/// As [`offload`], of one row.
pub fn row_offload(row: &Row) -> Option<f64> {
    row.origin_offload().filter(|_| mostly_good(&row.counts))
}

/// Hit ratio of one row, by stamps, or by both sides' accounts where answers carry none; `None` where most requests told nothing.
pub fn row_hits(row: &Row) -> Option<f64> {
    let judged = answered(&row.counts);
    row.hit_ratio().filter(|_| judged >= unjudged(&row.counts)).or_else(|| row_offload(row))
}

/// Answers that failed a check are a cache's, too, unless there are no others: then it is not our origin's site that was asked.
fn mostly_good(counts: &Counts) -> bool {
    let good = counts.ok + counts.injected + counts.aborted;
    good > 0 && 2 * (good + counts.check_failed) >= counts.ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::OriginCounts;

    #[test]
    fn error_pages_are_no_offload() {
        let mut phase = PhaseResult::new("measure", true);
        phase.origin = Some(OriginCounts { full: 1, ..OriginCounts::default() });
        for (ok, failed, expected) in [(10, 0, Some(0.9)), (5, 5, Some(0.9)), (4, 6, None), (0, 10, None)] {
            phase.tally.counts = Counts { ok, failed, ended: 10, ..Counts::default() };
            assert_eq!(offload(&phase), expected, "{ok} ok, {failed} failed");
        }
        for (ok, expected) in [(1, Some(0.9)), (0, None)] {
            phase.tally.counts = Counts { ok, check_failed: 10 - ok, ended: 10, ..Counts::default() };
            assert_eq!(offload(&phase), expected, "{ok} of ten, the others false");
        }
    }
}
