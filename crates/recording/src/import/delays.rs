//! Times of the server behind, as 64 quantiles.

/// Buckets: 32 for each doubling of microseconds.
const EACH: u32 = 32;

/// Times, counted.
#[derive(Debug, Default)]
pub struct Delays {
    counts: Vec<u64>,
    total: u64,
}

impl Delays {
    /// Counts one, in microseconds.
    pub fn add(&mut self, us: u64) {
        let at = bucket(us);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.total += 1;
    }

    /// The middles of 64 equal parts, in microseconds; none where nothing was counted.
    pub fn quantiles(&self) -> Vec<u64> {
        if self.total == 0 {
            return Vec::new();
        }
        let mut sum = 0;
        let mut at = 0;
        let wanted = (0..64_u64).map(|part| (2 * part + 1) * self.total / 128);
        wanted
            .map(|rank| {
                while sum + self.counts[at] <= rank {
                    sum += self.counts[at];
                    at += 1;
                }
                middle(at)
            })
            .collect()
    }
}

fn bucket(us: u64) -> usize {
    if us < u64::from(EACH) {
        return us as usize;
    }
    let log = 63 - us.leading_zeros();
    let shift = log - EACH.ilog2();
    ((shift + 1) * EACH) as usize + ((us >> shift) - u64::from(EACH)) as usize
}

fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < u64::from(EACH) {
        return bucket;
    }
    let shift = bucket / u64::from(EACH) - 1;
    ((bucket % u64::from(EACH) + u64::from(EACH)) << shift) + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_times() {
        let mut delays = Delays::default();
        (0..64_000).for_each(|us| delays.add(us * 10));
        let found = delays.quantiles();
        assert_eq!(found.len(), 64);
        for (part, us) in found.iter().enumerate() {
            let expected = (part as f64 + 0.5) * 10_000.0;
            assert!((*us as f64 / expected - 1.0).abs() < 0.04, "{part}: {us}");
        }
        assert!(Delays::default().quantiles().is_empty());
    }
}
