//! Chance from a seed: the same seed throws the same numbers.

use std::time::Duration;

/// The 64-bit golden ratio: steps by it never repeat within 2^64.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Splitmix64 (Steele, Lea and Flood, 2014).
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// True in this share of throws.
    pub(super) fn chance(&mut self, share: f64) -> bool {
        share > 0.0 && ((self.bits() >> 11) as f64) < share * (1u64 << 53) as f64
    }

    /// From `least` to `most`, both included.
    pub(super) fn between(&mut self, least: usize, most: usize) -> usize {
        let span = (most.saturating_sub(least) as u64).saturating_add(1);
        least + (self.bits() % span) as usize
    }

    /// From `least` to `most`, both included.
    pub(super) fn time(&mut self, least: Duration, most: Duration) -> Duration {
        if most <= least {
            return least;
        }
        let span = (most - least).as_nanos() as u64 + 1;
        least + Duration::from_nanos(self.bits() % span)
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.between(0, choices.len() - 1)]
    }
}
