//! A sample of the requests of all inputs, to tell how much of one input stands in another, too.
//!
//! All are remembered while they are few. Of many those stay whose hash begins with so many zeros, whichever input they came from:
//! what two inputs have in common is in the samples of both, or of neither.

use std::collections::HashMap;

/// The most that are remembered: 4 MiB of them.
const MOST: usize = 1 << 18;
/// Fewer of a larger input than this tell nothing.
const LEAST: u64 = 16;

/// The hash of a request, and the number of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SampledLine {
    hash: u64,
    input: u32,
}

/// The sample.
#[derive(Debug, Default)]
pub struct Samples {
    found: Vec<SampledLine>,
    /// Zeros that a hash has to begin with.
    zeros: u32,
}

/// Requests that inputs have in common.
#[derive(Debug, Default)]
pub struct Common {
    counts: HashMap<u32, u64>,
    /// By the numbers of both inputs, the smaller one first.
    common: HashMap<[u32; 2], u64>,
}

impl Samples {
    /// Takes what is known of a request of an input; equal requests have equal hashes.
    #[inline]
    pub fn add(&mut self, hash: u64, input: u32) {
        if hash.leading_zeros() < self.zeros {
            return;
        }
        self.found.push(SampledLine { hash, input });
        // Where most are equal no number of zeros thins them out.
        while self.found.len() > MOST && self.zeros < u64::BITS {
            self.zeros += 1;
            self.found.retain(|sample| sample.hash.leading_zeros() >= self.zeros);
        }
    }

    /// Compares all inputs; a request that occurs thrice in both is common three times.
    pub fn compare(&mut self) -> Common {
        self.found.sort_unstable();
        let mut compared = Common::default();
        for equal in self.found.chunk_by(|one, other| one.hash == other.hash) {
            let runs: Vec<&[SampledLine]> = equal.chunk_by(|one, other| one.input == other.input).collect();
            for (number, run) in runs.iter().enumerate() {
                *compared.counts.entry(run[0].input).or_default() += run.len() as u64;
                for other in &runs[number + 1..] {
                    let both = compared.common.entry([run[0].input, other[0].input]).or_default();
                    *both += run.len().min(other.len()) as u64;
                }
            }
        }
        compared
    }
}

impl Common {
    /// Share of the shorter one's requests that stand in both, by the numbers of two inputs, the smaller one first. `None`: the sample
    /// has too few of the shorter one, which has so many requests.
    pub fn share(&self, inputs: [u32; 2], requests: u64) -> Option<f64> {
        let count = |input| self.counts.get(&input).copied().unwrap_or(0);
        let least = count(inputs[0]).min(count(inputs[1]));
        let common = self.common.get(&inputs).copied().unwrap_or(0);
        (least >= LEAST.min(requests).max(1)).then(|| (common as f64 / least as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::draw::mix;

    #[test]
    fn shares_are_exact_for_few_and_near_for_many() {
        for (length, tolerance) in [(200, 0.0), (2_000_000, 0.02)] {
            let mut samples = Samples::default();
            (0..length).for_each(|number| samples.add(mix(number), 0));
            (length / 2..length + length / 2).for_each(|number| samples.add(mix(number), 1));
            assert!(samples.found.len() <= MOST);
            let share = samples.compare().share([0, 1], length).expect("many");
            assert!((share - 0.5).abs() <= tolerance, "{share}");
        }
    }

    #[test]
    fn too_few_of_a_short_one_tell_nothing() {
        let mut samples = Samples::default();
        (0..3_000_000).for_each(|number| samples.add(mix(number), 0));
        (0..40).for_each(|number| samples.add(mix(number), 1));
        assert_eq!(samples.compare().share([0, 1], 40), None);
        let mut all_equal = Samples::default();
        (0..MOST as u64 + 2).for_each(|_| all_equal.add(7, 0));
        assert!(all_equal.found.len() <= MOST);
    }
}
