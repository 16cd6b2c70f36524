//! Ids of runs that an agent which stays has carried: each is good for one run.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// So many are remembered; the oldest are forgotten.
const REMEMBERED: usize = 10_000;

/// Ids of runs that were carried.
#[derive(Debug, Clone, Default)]
pub struct CarriedRuns(Arc<Mutex<KnownRuns>>);

#[derive(Debug, Default)]
struct KnownRuns {
    known: BTreeSet<u64>,
    order: VecDeque<u64>,
}

impl CarriedRuns {
    /// A run begins; false where one of this id has begun before.
    pub fn begin(&self, run: u64) -> bool {
        // Each change of it is whole.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.known.insert(run) {
            return false;
        }
        all.order.push_back(run);
        if all.order.len() > REMEMBERED
            && let Some(oldest) = all.order.pop_front()
        {
            all.known.remove(&oldest);
        }
        true
    }
}

/// Why a run is not carried whose id is known.
pub(crate) fn twice(run: &str) -> String {
    format!(
        "run {run} was carried here before, and an id is good for one run: what came is a copy of an older order, or two controllers have \
         one id; begin the run anew"
    )
}

/// Why a run is not carried that another controller commands.
#[cfg(feature = "nats")]
pub(crate) fn anothers(run: &str, host: &str) -> String {
    format!(
        "run {run} is commanded by another controller, on {host}, and an id is good for one run: begin the run anew, which gives it another \
         id; the run there goes on"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_good_for_one_run_and_the_oldest_are_forgotten() {
        let runs = CarriedRuns::default();
        assert!(runs.begin(7) && !runs.begin(7) && !runs.clone().begin(7));
        assert!((0..REMEMBERED as u64).filter(|run| *run != 7).all(|run| runs.begin(1_000_000 + run)));
        assert!(!runs.begin(7), "it is the oldest that is remembered");
        assert!(runs.begin(1) && runs.begin(7), "it is forgotten");
    }
}
