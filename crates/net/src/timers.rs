//! Timers: a heap of instants, each with the task to poll at it.
//!
//! A removed timer only marks its entry; entries without an owner are skipped when they surface and swept out when they are
//! the majority. It must not know how the worker waits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use slab::Slab;

use crate::tasks::TaskId;

/// Entries without an owner are tolerated up to this many, whatever their share.
const STALE_MIN: usize = 64;

#[derive(Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, TimerKey)>>,
    /// Who waits: the owners of entries in the heap.
    owners: Slab<(u32, TaskId)>,
    next_generation: u32,
}

/// An owner's place and generation; ordered so that timers of one instant fire as they were set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerKey {
    generation: u32,
    index: u32,
}

impl Timers {
    pub(crate) fn insert(&mut self, at: Instant, task: TaskId) -> TimerKey {
        self.compact();
        self.next_generation = self.next_generation.wrapping_add(1);
        let generation = self.next_generation;
        // More than four thousand million do not fit into memory.
        let index = self.owners.insert((generation, task)) as u32;
        let key = TimerKey { generation, index };
        self.heap.push(Reverse((at, key)));
        key
    }

    /// Forgets a timer. Its entry in the heap stays behind without an owner.
    pub(crate) fn remove(&mut self, key: TimerKey) {
        if self.owner(key).is_some() {
            self.owners.remove(key.index as usize);
        }
    }

    /// True if the timer has yet to fire; if so, it will wake `task` and nobody else.
    pub(crate) fn still_wakes(&mut self, key: TimerKey, task: TaskId) -> bool {
        match self.owners.get_mut(key.index as usize) {
            Some((generation, waiter)) if *generation == key.generation => {
                *waiter = task;
                true
            }
            _ => false,
        }
    }

    /// The instant of the earliest timer.
    pub(crate) fn earliest(&mut self) -> Option<Instant> {
        while let Some(&Reverse((at, key))) = self.heap.peek() {
            if self.owner(key).is_some() {
                return Some(at);
            }
            self.heap.pop();
        }
        None
    }

    /// The task of the next timer that is due at `now`. The timer has then fired and is gone.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<TaskId> {
        // What is not due yet need not be looked at more closely.
        self.heap.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.earliest().filter(|at| *at <= now)?;
        let Reverse((_, key)) = self.heap.pop()?;
        Some(self.owners.remove(key.index as usize).1)
    }

    fn owner(&self, key: TimerKey) -> Option<TaskId> {
        let (generation, task) = self.owners.get(key.index as usize)?;
        (*generation == key.generation).then_some(*task)
    }

    fn compact(&mut self) {
        if self.heap.len() > 2 * self.owners.len() + STALE_MIN {
            let owners = &self.owners;
            self.heap.retain(|Reverse((_, key))| {
                matches!(owners.get(key.index as usize), Some((generation, _)) if *generation == key.generation)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn timers_fire_in_order_and_only_when_due() {
        let mut timers = Timers::default();
        let start = Instant::now();
        for millis in [30, 10, 20] {
            timers.insert(start + Duration::from_millis(millis), TaskId::MAIN);
        }
        let mut fired_at = Vec::new();
        for millis in 0..40 {
            while timers.pop_due(start + Duration::from_millis(millis)).is_some() {
                fired_at.push(millis);
            }
        }
        assert_eq!(fired_at, [10, 20, 30]);
    }

    #[test]
    fn a_removed_timer_does_not_fire() {
        let mut timers = Timers::default();
        let start = Instant::now();
        let key = timers.insert(start, TaskId::MAIN);
        timers.remove(key);
        timers.remove(key);
        assert_eq!(timers.earliest(), None);
        assert_eq!(timers.pop_due(start), None);
    }

    #[test]
    fn removed_timers_do_not_pile_up() {
        let mut timers = Timers::default();
        let later = Instant::now() + Duration::from_secs(60);
        for _ in 0..10_000 {
            let key = timers.insert(later, TaskId::MAIN);
            timers.remove(key);
        }
        assert!(timers.heap.len() <= STALE_MIN + 1);
    }
}
