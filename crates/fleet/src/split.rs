//! Shares of a load: who has which parts.

use plan::Part;
use serde::{Deserialize, Serialize};

/// Neighbouring parts of a load, one for each worker of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The first of them, from 0.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// All parts of the load.
    pub of: u32,
}

impl Share {
    /// All of a load, for so many workers.
    pub fn whole(workers: u32) -> Share {
        Share { first: 0, count: workers, of: workers }
    }

    /// The parts.
    pub fn parts(self) -> impl Iterator<Item = Part> {
        (self.first..self.first + self.count).map(move |index| Part { index, of: self.of })
    }

    /// True if a part of this number is among them.
    pub fn has(self, part: u32) -> bool {
        (self.first..self.first + self.count).contains(&part)
    }

    /// The share of the load, 0 to 1.
    pub fn fraction(self) -> f64 {
        f64::from(self.count) / f64::from(self.of.max(1))
    }
}

/// The shares of agents with so many workers each.
pub fn split(workers: &[u32]) -> Vec<Share> {
    let of = workers.iter().sum();
    let mut first = 0;
    let shares = workers.iter().map(|count| {
        let share = Share { first, count: *count, of };
        first += count;
        share
    });
    shares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_have_the_parts_of_one_machine_with_as_many_workers() {
        for workers in [&[1][..], &[1, 1, 1, 1], &[8, 2, 5], &[3]] {
            let of: u32 = workers.iter().sum();
            let parts: Vec<Part> = split(workers).into_iter().flat_map(Share::parts).collect();
            assert_eq!(parts, Part::all(of).collect::<Vec<_>>());
            let whole: f64 = split(workers).into_iter().map(Share::fraction).sum();
            assert!((whole - 1.0).abs() < 1e-9);
        }
        assert!(split(&[2, 3])[1].has(4) && !split(&[2, 3])[1].has(1));
    }
}
