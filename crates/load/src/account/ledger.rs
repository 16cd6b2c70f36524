//! Exchanges written down a second time, within reach of whoever conducts the run.

use measure::{Exchange, Tally};
use std::sync::{Mutex, PoisonError};

/// Exchanges of a worker since its last snapshot: whoever conducts the run still has them where the worker does not come back
/// from its script.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vec<Exchange>>);

/// Exchanges that a ledger holds at most; an interval has fewer.
const MOST_IN_LEDGER: usize = 1 << 17;

impl Ledger {
    /// Writes down an exchange.
    pub(crate) fn add(&self, exchange: &Exchange) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_IN_LEDGER {
            kept.push(*exchange);
        }
    }

    /// A snapshot has them all.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The figures of what is written down.
    pub fn tally(&self) -> Box<Tally> {
        let mut tally = Box::new(Tally::new());
        for exchange in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            tally.counts.requests += u64::from(exchange.times);
            tally.exchange(exchange);
        }
        tally
    }
}
