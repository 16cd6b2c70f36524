//! When requests are due: a schedule is a pure function of the plan and the seed.

use plan::draw::{fraction, hash};
use plan::{Arrivals, Part};
use std::time::Duration;

/// The moments at which the requests of one worker are due, since the start of the phase.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// This worker's share of the rate.
    per_second: f64,
    arrivals: Arrivals,
    part: Part,
    seed: u64,
    next: u64,
    /// Sum of the gaps drawn so far, in seconds (Poisson).
    at: f64,
}

impl Schedule {
    /// The schedule of one part of a load, whose share is `per_second` requests a second, under a law of arrivals.
    pub fn new(per_second: f64, arrivals: Arrivals, part: Part, seed: u64) -> Schedule {
        Schedule { per_second, arrivals, part, seed, next: 0, at: 0.0 }
    }

    /// When the `nth` request would be due in a steady stream of all parts' requests, in seconds: parts take turns.
    fn even(&self, nth: u64) -> f64 {
        self.part.number(nth) as f64 / (self.per_second * f64::from(self.part.of))
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
            Arrivals::Even => self.even(number),
            Arrivals::Poisson => {
                self.at += self.gap(number);
                self.at
            }
            // All of a second's at once, in the middle: at its end they would fall into either interval. The little bit
            // keeps a whole number of seconds whole.
            Arrivals::EachSecond => (self.even(number) + 1e-9).floor() + 0.5,
        };
        Some(Duration::from_secs_f64(seconds.min(1e9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due_by(arrivals: Arrivals, per_second: f64, seconds: f64) -> usize {
        Schedule::new(per_second, arrivals, Part::WHOLE, 5)
            .take_while(|at| at.as_secs_f64() < seconds)
            .count()
    }

    #[test]
    fn what_is_due_is_the_integral_of_the_rate() {
        assert_eq!(due_by(Arrivals::Even, 1000.0, 10.0), 10_000);
        assert_eq!(due_by(Arrivals::EachSecond, 50.0, 10.5), 500);
        let poisson = due_by(Arrivals::Poisson, 1000.0, 10.0);
        assert!((9_700..10_300).contains(&poisson), "{poisson}");
    }

    #[test]
    fn the_parts_of_a_steady_load_make_the_stream_of_the_whole() {
        for (arrivals, expected) in [
            (Arrivals::Even, vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8]),
            (Arrivals::EachSecond, vec![0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 1.5, 1.5, 1.5, 1.5]),
        ] {
            let of_part = |part| Schedule::new(5.0 / 3.0, arrivals, part, 1).take(5);
            let mut at: Vec<f64> = Part::all(3).flat_map(of_part).map(|at| at.as_secs_f64()).collect();
            at.sort_by(f64::total_cmp);
            let off = at.iter().zip(&expected).find(|(at, due)| (*at - *due).abs() > 1e-6);
            assert_eq!(off, None, "{arrivals:?}: {at:?}");
        }
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        let at: Vec<f64> = Schedule::new(100.0, Arrivals::Poisson, Part::WHOLE, 1)
            .take(20_001)
            .map(|at| at.as_secs_f64())
            .collect();
        let gaps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let long = gaps.iter().filter(|gap| **gap > 0.01).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0f64).exp()).abs() < 0.01, "{long} of the gaps are longer than their mean");
    }

    #[test]
    fn a_schedule_never_goes_back() {
        for arrivals in [Arrivals::Even, Arrivals::Poisson, Arrivals::EachSecond] {
            let at: Vec<Duration> = Schedule::new(321.0, arrivals, Part::WHOLE, 3).take(5_000).collect();
            assert!(at.windows(2).all(|pair| pair[0] <= pair[1]), "{arrivals:?}");
        }
    }
}
