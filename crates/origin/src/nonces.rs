//! The nonces of requests that came lately, over all connections and workers: one that comes again is of a request that somebody sent
//! twice.

use plan::draw::hash;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Parts of the nonces. Of each part the last two are remembered, so that a stranger that comes between a nonce and its second
/// coming has none forgotten.
const SETS: usize = 1 << 15;

/// A number may be forgotten, but none is made up. Its memory, half a megabyte, is taken with the first.
#[derive(Debug, Default)]
pub(crate) struct Nonces(OnceLock<Box<[LastTwo]>>);

/// The last nonces of a part, or 0.
#[derive(Debug, Default)]
struct LastTwo {
    last: AtomicU64,
    before: AtomicU64,
}

impl Nonces {
    /// True if this nonce came before.
    pub(crate) fn again(&self, nonce: u64) -> bool {
        let sets = self.0.get_or_init(|| (0..SETS).map(|_| LastTwo::default()).collect());
        let set = &sets[hash(0, nonce) as usize % SETS];
        nonce != 0 && {
            let last = set.last.swap(nonce, Ordering::Relaxed);
            last == nonce || set.before.swap(last, Ordering::Relaxed) == nonce
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_before_is_known() {
        let nonces = Nonces::default();
        assert!((1..10_000).all(|nonce| !nonces.again(nonce)));
        assert!(nonces.again(9_999) && !nonces.again(0) && !nonces.again(0));
    }
    #[test]
    fn one_stranger_in_between_has_none_forgotten() {
        let nonces = Nonces::default();
        let set = |nonce| hash(0, nonce) as usize % SETS;
        let same: Vec<u64> = (1..).filter(|nonce| set(*nonce) == set(1)).take(3).collect();
        let came = [0, 1, 0, 1, 0, 1, 2, 0].map(|at: usize| nonces.again(same[at]));
        assert_eq!(came, [false, false, true, true, true, true, false, false]);
    }
}
