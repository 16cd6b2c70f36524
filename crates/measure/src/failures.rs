//! How often requests failed in which way.

use crate::outcome::Failure;

/// Failures and how often each occurred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// In order of the first of each.
    counts: Vec<(Failure, u64)>,
}

impl Failures {
    /// Reasons told apart at most; failures beyond are counted by kind and stage alone.
    const REASONS: usize = 128;

    /// Counts a failure so many times.
    pub fn add(&mut self, failure: Failure, times: u64) {
        match self.counts.iter().position(|(known, _)| *known == failure) {
            Some(at) => self.counts[at].1 += times,
            None if failure.reason.is_some() && self.counts.len() >= Failures::REASONS => {
                self.add(Failure { reason: None, ..failure }, times);
            }
            None => self.counts.push((failure, times)),
        }
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &Failures) {
        other.counts.iter().for_each(|(failure, count)| self.add(*failure, *count));
    }

    /// All of them, by kind, stage and reason.
    pub fn iter(&self) -> impl Iterator<Item = (Failure, u64)> + use<> {
        let mut sorted = self.counts.clone();
        sorted.sort_unstable();
        sorted.into_iter()
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<(Failure, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{FailureKind, Reason, Stage};

    #[test]
    fn reasons_without_end_take_no_memory_without_end() {
        let mut failures = Failures::default();
        let reset = Failure::new(FailureKind::Reset, Stage::Head);
        (0..1000).for_each(|errno| failures.add(reset.because(Reason::Errno(errno)), 2));
        assert_eq!(failures.iter().count(), Failures::REASONS + 1);
        assert_eq!(failures.iter().next(), Some((reset, 2 * (1000 - Failures::REASONS as u64))));
        let mut twice = failures.clone();
        twice.merge(&failures);
        assert_eq!(twice.iter().map(|(_, count)| count).sum::<u64>(), 4000);
    }
}
