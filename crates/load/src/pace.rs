//! When requests are due: a schedule is a pure function of the plan and the seed.

use plan::Arrivals;
use plan::draw::{fraction, hash};
use std::time::Duration;

/// The moments at which the requests of one worker are due, since the start of the phase.
#[derive(Debug, Clone)]
pub struct Schedule {
    per_second: f64,
    arrivals: Arrivals,
    seed: u64,
    next: u64,
    /// Sum of the gaps drawn so far, in seconds (Poisson).
    at: f64,
}

impl Schedule {
    /// The schedule of `per_second` requests a second under a law of arrivals.
    pub fn new(per_second: f64, arrivals: Arrivals, seed: u64) -> Schedule {
        Schedule { per_second, arrivals, seed, next: 0, at: 0.0 }
    }

    fn gap(&self, number: u64) -> f64 {
        // 1 - u lies in (0, 1], so the logarithm is finite.
        -(1.0 - fraction(hash(self.seed, number))).ln() / self.per_second
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    /// The moment of the next request; the iterator does not end.
    fn next(&mut self) -> Option<Duration> {
        let number = self.next;
        self.next += 1;
        let seconds = match self.arrivals {
            Arrivals::Even => number as f64 / self.per_second,
            Arrivals::Poisson => {
                self.at += self.gap(number);
                self.at
            }
            // As many as a second's share, all at its end, as the original does at each boundary.
            Arrivals::EachSecond => (number as f64 / self.per_second).floor() + 1.0,
        };
        Some(Duration::from_secs_f64(seconds.min(1e9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_by(arrivals: Arrivals, per_second: f64, seconds: f64) -> usize {
        Schedule::new(per_second, arrivals, 5).take_while(|at| at.as_secs_f64() < seconds).count()
    }

    #[test]
    fn what_is_due_is_the_integral_of_the_rate() {
        assert_eq!(due_by(Arrivals::Even, 1000.0, 10.0), 10_000);
        assert_eq!(due_by(Arrivals::EachSecond, 50.0, 10.5), 500);
        let poisson = due_by(Arrivals::Poisson, 1000.0, 10.0);
        assert!((9_700..10_300).contains(&poisson), "{poisson}");
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let at: Vec<f64> =
            Schedule::new(100.0, Arrivals::Poisson, 1).take(20_001).map(|at| at.as_secs_f64()).collect();
        let gaps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let long = gaps.iter().filter(|gap| **gap > 0.01).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0f64).exp()).abs() < 0.01, "{long} of the gaps are longer than their mean");
    }

    #[test]
    fn a_schedule_never_goes_back() {
        for arrivals in [Arrivals::Even, Arrivals::Poisson, Arrivals::EachSecond] {
            let at: Vec<Duration> = Schedule::new(321.0, arrivals, 3).take(5_000).collect();
            assert!(at.windows(2).all(|pair| pair[0] <= pair[1]), "{arrivals:?}");
        }
    }
}
