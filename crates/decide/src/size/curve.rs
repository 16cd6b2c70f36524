//! Hits of a working set by memory, by the model: what a picture of them is drawn by.

use super::point::Point;
use serde::{Deserialize, Serialize};

/// Places of a curve, each so many times the one before: from a sixteenth of the configured memory to four times of it.
const PLACES: i32 = 25;
const FIRST: i32 = -16;
const PER_DOUBLING: f64 = 4.0;

/// Hits of one working set by memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HitsByMemory {
    /// Bytes of the whole set.
    pub set_bytes: f64,
    /// Hits by the model at the configured memory, all of which works.
    pub at_memory: f64,
    /// Memory that works in bytes, and the share of hits.
    pub places: Vec<(f64, f64)>,
}

impl HitsByMemory {
    /// That of the requests that came for a set.
    pub fn of(point: &Point) -> HitsByMemory {
        let memory = point.memory_bytes as f64;
        let place = |step: i32| {
            let bytes = memory * (f64::from(step) / PER_DOUBLING).exp2();
            (bytes, point.predicted(bytes))
        };
        HitsByMemory {
            set_bytes: point.set_bytes(),
            at_memory: point.predicted(memory),
            places: (FIRST..FIRST + PLACES).map(place).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_memory_has_more_hits_and_the_configured_one_is_among_them() {
        let point = Point {
            object_bytes: 10_000,
            objects: 4_000,
            alpha: 0.9,
            memory_bytes: 20_000_000,
            is_filled: true,
            warm_requests: 60_000,
            requests: 60_000,
            hits: 30_000,
            seconds: 10.0,
        };
        let curve = HitsByMemory::of(&point);
        assert_eq!(curve.set_bytes, 4e7);
        assert!(
            curve.places.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1),
            "{curve:?}"
        );
        assert!(curve.places.contains(&(2e7, curve.at_memory)), "{curve:?}");
        let [first, last] = [curve.places[0], curve.places[PLACES as usize - 1]];
        assert_eq!([first.0, last.0], [20e6 / 16.0, 80e6]);
        assert!(first.1 > 0.1 && last.1 > 0.99, "{curve:?}");
    }
}
