//! Randomness as a pure function of (seed, number), so that a plan sends the same requests whatever the number of
//! workers and in whatever order they come.
//!
//! The mixer is SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).

use rand_core::TryRng;
use std::convert::Infallible;

/// Increment of SplitMix64, the golden ratio in 64 bits.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes 64 bits so that neighbouring inputs give unrelated outputs; a bijection.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Hashes a value under a salt that names the purpose of the hash.
#[inline]
pub const fn hash(salt: u64, value: u64) -> u64 {
    mix(mix(salt) ^ value)
}

/// A number in [0, 1) from 64 mixed bits; the upper 53 are used.
#[inline]
pub const fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The stream of random numbers that belongs to one request (or one answer).
#[derive(Debug, Clone)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// The stream of request `number` under `seed`.
    #[inline]
    pub const fn new(seed: u64, number: u64) -> Draw {
        Draw { state: hash(seed, number) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// The next number in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        fraction(self.bits())
    }

    /// True with the given probability. No number is drawn for probability 0, so switching a share off costs nothing.
    #[inline]
    pub fn chance(&mut self, share: f64) -> bool {
        share > 0.0 && self.unit() < share
    }

    /// A whole number in 0..bound, without the bias of a remainder (Lemire 2019, the multiply-shift step).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((self.bits() as u128 * bound as u128) >> 64) as u64
    }
}

impl TryRng for Draw {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.bits().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixer_is_splitmix64() {
        // First outputs of the published generator for seed 0.
        let mut draw = Draw { state: 0 };
        assert_eq!(draw.bits(), mix(GAMMA));
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn a_request_draws_the_same_numbers_each_time_and_others_than_its_neighbour() {
        let first: Vec<u64> = (0..4).map(|_| Draw::new(1, 7).bits()).collect();
        assert!(first.windows(2).all(|pair| pair[0] == pair[1]));
        assert_ne!(Draw::new(1, 7).bits(), Draw::new(1, 8).bits());
        assert_ne!(Draw::new(1, 7).bits(), Draw::new(2, 7).bits());
    }

    #[test]
    fn shares_come_out_as_asked() {
        let hits = (0..100_000).filter(|n| Draw::new(3, *n).chance(0.3)).count();
        assert!((29_000..31_000).contains(&hits), "{hits}");
        let mean = (0..100_000).map(|n| Draw::new(3, n).below(1000)).sum::<u64>() as f64 / 100_000.0;
        assert!((490.0..509.0).contains(&mean), "{mean}");
    }
}
