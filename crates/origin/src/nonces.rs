//! The nonces of requests that came lately, over all connections and workers: one that comes again is of a request that somebody sent
//! twice.

use plan::draw::hash;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nonces remembered; each has one place.
const PLACES: usize = 1 << 16;

/// A number may be forgotten, but none is made up. Its memory, half a megabyte, is taken with the first.
#[derive(Debug, Default)]
pub(crate) struct Nonces(OnceLock<Box<[AtomicU64]>>);

impl Nonces {
    /// True if this nonce came before.
    pub(crate) fn again(&self, nonce: u64) -> bool {
        let places = self.0.get_or_init(|| (0..PLACES).map(|_| AtomicU64::new(0)).collect());
        let place = &places[hash(0, nonce) as usize % PLACES];
        nonce != 0 && place.swap(nonce, Ordering::Relaxed) == nonce
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
}
