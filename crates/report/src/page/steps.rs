//! The figures of steps: how often each was walked through in equal parts of the run.

/// Parts that the run is cut into at most.
const PARTS: usize = 32;

/// Requests of a step in equal parts of the time so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Trend {
    counts: Vec<u64>,
    /// Seconds of a part; doubled whenever there would be too many.
    part_s: f64,
}

impl Trend {
    /// So many requests ended in the second that ends then.
    pub fn add(&mut self, at_s: f64, count: u64) {
        if self.part_s == 0.0 {
            self.part_s = 1.0;
        }
        while ((at_s - 1e-6) / self.part_s) as usize >= PARTS {
            self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.part_s *= 2.0;
        }
        let part = ((at_s - 1e-6).max(0.0) / self.part_s) as usize;
        if self.counts.len() <= part {
            self.counts.resize(part + 1, 0);
        }
        self.counts[part] += count;
    }

    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_stays_in_few_parts_and_loses_nothing() {
        let mut trend = Trend::default();
        (1..=1000).for_each(|second| trend.add(f64::from(second), 2));
        assert_eq!(trend.counts().iter().sum::<u64>(), 2000);
        assert!(trend.counts().len() <= PARTS && trend.counts().len() > PARTS / 4, "{:?}", trend.counts());
        trend.add(1e6, 1);
        assert!(trend.counts().len() <= PARTS);
    }
}
