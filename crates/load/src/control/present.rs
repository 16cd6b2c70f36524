//! Users of a phase who are there, by group: those of all workers. Counted as they come and go, and looked at where records are told.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// How many there are of each group, and how many have come.
#[derive(Debug)]
pub(crate) struct Present {
    groups: Vec<AtomicU32>,
    begun: AtomicU64,
}

impl Present {
    pub fn new(groups: usize) -> Present {
        Present { groups: (0..groups).map(|_| AtomicU32::new(0)).collect(), begun: AtomicU64::new(0) }
    }

    /// A user of a group has come.
    pub fn came(&self, group: usize) {
        if let Some(users) = self.groups.get(group) {
            users.fetch_add(1, Ordering::Relaxed);
            self.begun.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A user of a group has gone.
    pub fn left(&self, group: usize) {
        if let Some(users) = self.groups.get(group) {
            users.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Users that have come so far, be they gone or not.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Users of a group.
    pub fn of_group(&self, group: usize) -> u32 {
        self.groups.get(group).map_or(0, |users| users.load(Ordering::Relaxed))
    }

    /// Users of all groups.
    pub fn of_all(&self) -> u32 {
        self.groups.iter().map(|users| users.load(Ordering::Relaxed)).sum()
    }
}
