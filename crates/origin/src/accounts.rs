//! The live counters of all workers.
//!
//! Each worker writes its own block and nobody else does, so counting costs a plain addition; the blocks lie on cache
//! lines of their own, so that two workers do not slow each other. Reading adds the blocks up.

use measure::{LiveOriginCounts, OriginCounts};
use std::sync::Arc;

/// The origin's counters while it serves; any thread may read them.
#[derive(Debug)]
pub struct Accounts {
    blocks: Box<[Block]>,
}

/// Two lines wide: adjacent lines are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Block(LiveOriginCounts);

impl Accounts {
    /// Counters at zero for this many workers.
    pub fn new(workers: u32) -> Arc<Accounts> {
        Arc::new(Accounts { blocks: (0..workers.max(1)).map(|_| Block::default()).collect() })
    }

    /// The sum over all workers as it is now.
    pub fn read(&self) -> OriginCounts {
        let mut sum = OriginCounts::default();
        self.blocks.iter().for_each(|block| sum.merge(&block.0.read()));
        sum
    }

    /// The block that one worker alone writes.
    pub(crate) fn of(&self, worker: u32) -> &LiveOriginCounts {
        &self.blocks[worker as usize].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_adds_up_what_the_workers_counted() {
        let accounts = Accounts::new(3);
        (0..3).for_each(|worker| accounts.of(worker).requests.add(u64::from(worker) + 1));
        assert_eq!(accounts.read(), OriginCounts { requests: 6, ..OriginCounts::default() });
    }

    #[test]
    fn blocks_do_not_share_a_line() {
        assert_eq!(align_of::<Block>(), 128);
        assert_eq!(size_of::<Block>() % 128, 0);
    }
}
