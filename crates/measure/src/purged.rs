//! Objects that were served after they had been purged: how long a purge takes to be done.

use serde::{Deserialize, Serialize};

/// Purges after whose acknowledgement something of before was still served, as far as one worker or all of them saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LatePurges {
    /// How many.
    pub purges: u64,
    /// The longest time from an acknowledgement to the last request that was answered so, in µs.
    pub longest_us: u64,
    /// Sum of these times over all of the purges, in µs.
    pub sum_us: u64,
    /// The object of the longest.
    pub object: u64,
    /// Its size, which is a part of its address.
    pub size: u64,
}

impl LatePurges {
    /// Adds a purge after which the last such request came so late.
    pub fn add(&mut self, object: u64, size: u64, last_us: u64) {
        self.merge(&LatePurges { purges: 1, longest_us: last_us, sum_us: last_us, object, size });
    }

    /// Adds what another worker saw.
    pub fn merge(&mut self, other: &LatePurges) {
        self.purges += other.purges;
        self.sum_us += other.sum_us;
        if other.longest_us > self.longest_us {
            (self.longest_us, self.object, self.size) = (other.longest_us, other.object, other.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_keeps_its_object() {
        let mut sum = LatePurges::default();
        sum.add(7, 300, 20);
        let mut other = LatePurges::default();
        other.add(8, 400, 50);
        other.add(9, 500, 30);
        sum.merge(&other);
        assert_eq!(sum, LatePurges { purges: 3, longest_us: 50, sum_us: 100, object: 8, size: 400 });
    }
}
