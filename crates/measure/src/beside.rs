//! Fetches of one object at the same time. A cache that has requests wait for a fetch under way, and then fetches for each of them all the same,
//! serves them one after the other.
//!
//! Start reading at [`Fetches::serial`].

use crate::shares::ratio;
use serde::{Deserialize, Serialize};

/// Requests that were sent while an earlier fetch was under way, and needed one of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Beside {
    /// How many.
    pub requests: u64,
    /// Those of them whose own fetch began only when the earlier one had ended.
    pub waited: u64,
    /// Sum of the times from sending those to the beginning of their fetches, in µs.
    pub waited_us: u64,
}

/// Pairs of fetches at the same time, as far as one worker or all of them saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Fetches {
    /// Both of one object.
    pub same: Beside,
    /// Of two objects, each of which is fetched again and again: what is to be expected of requests that do not wait for each other.
    pub other: Beside,
}

/// Requests for one object wait for each other's fetches, and then make their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Serial {
    /// Requests for what was being fetched already.
    pub requests: u64,
    /// Share of them that waited.
    pub waited: f64,
    /// Share of those that waited where the fetch was one of another object.
    pub others: f64,
    /// Mean time that one waited, in ms.
    pub wait_ms: f64,
}

/// Pairs of either kind below which nothing is said.
const ENOUGH: u64 = 50;
/// Share of the requests that must wait.
const MOST: f64 = 0.95;
/// Share by which they must be more than those beside fetches of other objects.
const MORE: f64 = 0.2;
/// Standard deviations between both shares: one in 10⁸ by chance, were the requests independent. They are not quite, and in simulations of caches
/// that have nobody wait the largest of 3,000 was 4.7, at shares that lay within a tenth of each other.
const SURELY: f64 = 5.7;

impl Beside {
    fn merge(&mut self, other: &Beside) {
        self.requests += other.requests;
        self.waited += other.waited;
        self.waited_us += other.waited_us;
    }
}

impl Fetches {
    /// Adds what another worker saw.
    pub fn merge(&mut self, other: &Fetches) {
        self.same.merge(&other.same);
        self.other.merge(&other.other);
    }

    /// Where requests for one object wait for its fetch, and those for others do not.
    pub fn serial(&self) -> Option<Serial> {
        if self.same.requests.min(self.other.requests) < ENOUGH {
            return None;
        }
        let waited = ratio(self.same.waited, self.same.requests)?;
        let others = ratio(self.other.waited, self.other.requests)?;
        let all =
            (self.same.waited + self.other.waited) as f64 / (self.same.requests + self.other.requests) as f64;
        let each = 1.0 / self.same.requests as f64 + 1.0 / self.other.requests as f64;
        let spread = (all * (1.0 - all) * each).sqrt();
        let surely = waited - others >= MORE.max(SURELY * spread);
        (waited >= MOST && surely).then(|| Serial {
            requests: self.same.requests,
            waited,
            others,
            wait_ms: self.same.waited_us as f64 / 1e3 / self.same.waited.max(1) as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetches(same: (u64, u64), other: (u64, u64)) -> Fetches {
        let of = |(requests, waited)| Beside { requests, waited, waited_us: waited * 5_000 };
        Fetches { same: of(same), other: of(other) }
    }

    #[test]
    fn requests_that_wait_for_fetches_of_their_own_object_alone_are_told() {
        let told = fetches((2_000, 1_990), (2_000, 40)).serial().expect("all of them wait");
        assert!(told.waited > 0.99 && told.others < 0.03 && told.wait_ms == 5.0, "{told:?}");
        for (same, other) in [
            ((2_000, 1_990), (2_000, 1_980)),
            ((2_000, 1_000), (2_000, 40)),
            ((2_000, 1_990), (40, 0)),
            ((40, 40), (2_000, 0)),
            ((60, 60), (60, 50)),
            ((0, 0), (0, 0)),
        ] {
            assert_eq!(fetches(same, other).serial(), None, "{same:?} {other:?}");
        }
    }

    #[test]
    fn workers_add_up() {
        let mut sum = fetches((10, 5), (20, 1));
        sum.merge(&fetches((1, 1), (2, 2)));
        assert_eq!(sum, fetches((11, 6), (22, 3)));
    }
}
