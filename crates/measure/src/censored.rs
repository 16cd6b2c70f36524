//! Times of which some are only known to be no shorter.

use crate::Histogram;

/// Times of which some are only known to be no shorter: those of requests that had not ended when time was up.
#[derive(Debug, Clone)]
pub struct Censored {
    times: Histogram,
    /// The shortest of those that are only lower bounds.
    bound_from_us: Option<u64>,
}

/// A figure, or what it is at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The figure; times in µs.
    pub value: f64,
    /// It may be longer.
    pub at_least: bool,
}

impl Censored {
    /// Times that are all known.
    pub fn exact(known: &Histogram) -> Censored {
        Censored { times: known.clone(), bound_from_us: None }
    }

    /// `known` ones, and `bounds` that the others are no shorter than.
    pub(crate) fn new(known: &Histogram, bounds: &Histogram) -> Censored {
        let mut times = known.clone();
        // Both have the one geometry, so nothing can be out of range.
        let _ = times.add(bounds);
        Censored { times, bound_from_us: (!bounds.is_empty()).then(|| bounds.min()) }
    }

    /// All of them, with lower bounds as if they were times.
    pub fn times(&self) -> &Histogram {
        &self.times
    }

    /// Percentiles from here on are lower bounds, in µs.
    pub fn bound_from_us(&self) -> Option<u64> {
        self.bound_from_us
    }

    /// The time that this share of all did not exceed. Where all lower bounds lie above it, it is exact.
    pub fn quantile(&self, quantile: f64) -> Bound {
        let us = if self.times.is_empty() { 0 } else { self.times.value_at_quantile(quantile) };
        Bound { value: us as f64, at_least: self.bound_from_us.is_some_and(|from| from <= us) }
    }

    /// The mean.
    pub fn mean(&self) -> Bound {
        Bound { value: self.times.mean(), at_least: self.bound_from_us.is_some() }
    }

    /// The longest.
    pub fn longest(&self) -> Bound {
        Bound { value: self.times.max() as f64, at_least: self.bound_from_us.is_some() }
    }
}
