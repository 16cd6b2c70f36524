//! Locks: steps that one user at a time walks, whichever worker it is on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A lock. Nobody waits in it: who does not get it comes again.
#[derive(Debug, Default)]
pub(crate) struct Lock(AtomicBool);

/// A lock that is held; it is free once this is dropped.
#[derive(Debug)]
pub(crate) struct LockHeld(Arc<Lock>);

impl Lock {
    /// Takes the lock; `None` where somebody has it.
    pub fn take(self: &Arc<Lock>) -> Option<LockHeld> {
        let free = self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
        free.then(|| LockHeld(self.clone()))
    }
}

impl Drop for LockHeld {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let lock = Arc::<Lock>::default();
        let held = lock.take();
        assert!(held.is_some() && lock.take().is_none());
        drop(held);
        assert!(lock.take().is_some());
    }
}
