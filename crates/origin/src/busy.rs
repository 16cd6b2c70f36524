//! Which objects are being answered right now, so that a request for one of them can be counted as concurrent.
//!
//! A table of fixed size with a short probe: when it is crowded a request goes uncounted rather than costing time or
//! memory. Only filled where answers take time, because otherwise a worker finishes one before it reads the next.

use std::cell::Cell;
use std::rc::Rc;

const SLOTS: usize = 4096;
/// Slots looked at per key.
const PROBES: usize = 8;

#[derive(Debug)]
pub(crate) struct Busy {
    slots: Box<[Cell<BusySlot>]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct BusySlot {
    key: u64,
    /// 0: free.
    count: u32,
}

/// An answer under way; dropping it ends it.
#[derive(Debug)]
pub(crate) struct BusyUnderWay {
    busy: Rc<Busy>,
    at: usize,
    /// Another answer under the same key was under way when this one began.
    pub(crate) concurrent: bool,
}

impl Busy {
    pub(crate) fn new() -> Rc<Busy> {
        Rc::new(Busy { slots: (0..SLOTS).map(|_| Cell::default()).collect() })
    }

    /// Begins an answer under a hashed key; `None` where the table is crowded.
    pub(crate) fn begin(self: &Rc<Self>, key: u64) -> Option<BusyUnderWay> {
        let places = || (0..PROBES).map(|step| (key as usize).wrapping_add(step) % SLOTS);
        let at = places()
            .find(|at| self.slots[*at].get().count > 0 && self.slots[*at].get().key == key)
            .or_else(|| places().find(|at| self.slots[*at].get().count == 0))?;
        let count = self.slots[at].get().count;
        self.slots[at].set(BusySlot { key, count: count + 1 });
        Some(BusyUnderWay { busy: self.clone(), at, concurrent: count > 0 })
    }
}

impl Drop for BusyUnderWay {
    fn drop(&mut self) {
        let slot = &self.busy.slots[self.at];
        let BusySlot { key, count } = slot.get();
        slot.set(BusySlot { key, count: count - 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_second_at_a_time_is_concurrent() {
        let busy = Busy::new();
        let first = busy.begin(7).unwrap();
        let other = busy.begin(7 + SLOTS as u64).unwrap();
        let second = busy.begin(7).unwrap();
        assert!(!first.concurrent && !other.concurrent && second.concurrent);
        drop(first);
        assert!(busy.begin(7).unwrap().concurrent, "the second is still under way");
        drop(second);
        assert!(!busy.begin(7).unwrap().concurrent);
    }

    #[test]
    fn a_crowded_table_counts_nothing() {
        let busy = Busy::new();
        let held: Vec<_> = (0..PROBES as u64).filter_map(|n| busy.begin(n * SLOTS as u64)).collect();
        assert_eq!(held.len(), PROBES);
        assert!(busy.begin(99 * SLOTS as u64).is_none());
    }
}
