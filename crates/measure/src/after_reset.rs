//! Work after reset: what became, at the origin, of requests that clients broke off.

use crate::buckets::{Buckets, Digits};
use crate::distribution::Distribution;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Requests that clients broke off, by what the origin of the same run saw of them. Each is in one of the counts beside
/// `broken_off`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct AfterReset {
    /// Requests that clients broke off, on purpose or because their time was up.
    pub broken_off: u64,
    /// Whose answer the other side of the origin's connection gave up, too.
    pub ended_early: u64,
    /// Answered whole after the client had broken off.
    pub whole_after: u64,
    /// Bytes of their bodies: sent in vain.
    pub whole_after_bytes: u64,
    /// Answered whole before the client broke off.
    pub whole_before: u64,
    /// Still being answered when the run was over.
    pub under_way: u64,
    /// The origin saw no such request, or so long ago that it does not remember: a cache had the answer, mostly.
    pub not_seen: u64,
    /// Times from breaking off until the origin saw the early end.
    #[serde(skip_serializing_if = "Buckets::is_empty")]
    pub delays: Buckets,
}

impl AfterReset {
    /// Counts an answer that ended early, so long after the client had broken off.
    pub fn end_early(&mut self, after: Duration) {
        self.ended_early += 1;
        let us = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        self.delays.merge(&Buckets::of_counts([(Digits::Three.bucket(us), 1)].into_iter(), Digits::Three));
    }

    /// Adds another part's figures.
    pub fn merge(&mut self, other: &AfterReset) {
        for (mine, theirs) in [
            (&mut self.broken_off, other.broken_off),
            (&mut self.ended_early, other.ended_early),
            (&mut self.whole_after, other.whole_after),
            (&mut self.whole_after_bytes, other.whole_after_bytes),
            (&mut self.whole_before, other.whole_before),
            (&mut self.under_way, other.under_way),
            (&mut self.not_seen, other.not_seen),
        ] {
            *mine += theirs;
        }
        self.delays.merge(&other.delays);
    }

    /// Median and longest time until the origin saw the early end, in µs; `None` where it saw none.
    pub fn delay_us(&self) -> Option<(u64, u64)> {
        let mut times = Distribution::default();
        times.add_kept(&self.delays, Digits::Three);
        let histogram = times.histogram();
        (!histogram.is_empty()).then(|| (histogram.value_at_quantile(0.5), histogram.max()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_delays_have_a_median_and_a_longest() {
        let mut early = AfterReset { broken_off: 2, whole_after: 1, ..AfterReset::default() };
        early.end_early(Duration::from_micros(100));
        let mut late = AfterReset { broken_off: 2, ..AfterReset::default() };
        late.end_early(Duration::from_micros(300));
        late.end_early(Duration::from_micros(200));
        assert_eq!(AfterReset::default().delay_us(), None);
        early.merge(&late);
        assert_eq!((early.broken_off, early.ended_early, early.whole_after), (4, 3, 1));
        assert_eq!(early.delay_us(), Some((200, 300)));
    }
}
