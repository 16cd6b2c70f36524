//! [`Standstills`]: when a worker did not go on although something was due, because its thread, its process or the whole machine
//! stood still. Whoever compares moments of two ends knows by it what neither of them could help.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

/// Shorter ones are those of any busy machine.
pub(crate) const LEAST: Duration = Duration::from_millis(250);

/// So many are remembered one by one; older ones are taken for one with the next.
const REMEMBERED: usize = 64;

/// The standstills of a worker so far.
#[derive(Debug, Default)]
pub struct Standstills(RefCell<VecDeque<Standstill>>);

#[derive(Debug, Clone, Copy)]
struct Standstill {
    /// In microseconds since the Unix epoch.
    ended_us: u64,
    length_us: u64,
}

impl Standstills {
    /// How long it stood still after a moment, both in microseconds, the moment since the Unix epoch: all standstills that ended later,
    /// with what of them lay before.
    pub fn since(&self, unix_us: u64) -> u64 {
        let all = self.0.borrow();
        all.iter().filter(|one| one.ended_us > unix_us).map(|one| one.length_us).sum()
    }

    /// True if it never stood still.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    #[cold]
    pub(crate) fn add(&self, ended_us: u64, length: Duration) {
        let mut all = self.0.borrow_mut();
        all.push_back(Standstill { ended_us, length_us: length.as_micros() as u64 });
        if all.len() > REMEMBERED
            && let Some(oldest) = all.pop_front()
            && let Some(next) = all.front_mut()
        {
            next.length_us += oldest.length_us;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standstills_that_ended_before_a_moment_are_none_of_its() {
        let all = Standstills::default();
        assert_eq!(all.since(0), 0);
        all.add(10_000_000, Duration::from_secs(4));
        all.add(20_000_000, Duration::from_secs(1));
        assert_eq!(
            [0, 9_999_999, 10_000_000, 20_000_000].map(|us| all.since(us)),
            [5_000_000, 5_000_000, 1_000_000, 0]
        );
        // However many there are, none is forgotten.
        (0..1_000).for_each(|number| all.add(30_000_000 + number, Duration::from_secs(1)));
        assert_eq!(all.since(0), 1_005_000_000);
        assert!(all.0.borrow().len() <= REMEMBERED);
    }
}
