//! The slowest of a worker's requests, as far as somebody wants to know which they are.

use std::cell::RefCell;
use std::time::Duration;

/// Response times of the slowest requests of a phase, the slowest first.
#[derive(Debug, Default)]
pub(crate) struct Slowest(RefCell<Vec<Duration>>);

impl Slowest {
    /// True if a request is among the `most` slowest so far; it is remembered then.
    pub fn takes(&self, response: Duration, most: usize) -> bool {
        let mut slowest = self.0.borrow_mut();
        let at = slowest.partition_point(|other| *other >= response);
        if at >= most {
            return false;
        }
        slowest.insert(at, response);
        slowest.truncate(most);
        true
    }

    /// Another phase begins.
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_slower_than_all_but_a_few_is_taken() {
        let slowest = Slowest::default();
        let taken = |ms| slowest.takes(Duration::from_millis(ms), 2);
        assert_eq!([5, 3, 3, 4, 4, 9, 5, 6].map(taken), [true, true, false, true, false, true, false, true]);
        slowest.clear();
        assert!(taken(1));
    }
}
