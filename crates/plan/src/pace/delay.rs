//! Laws of delays: how long an origin waits before it answers, how long a user thinks.

use crate::draw::Draw;
use crate::units::{UnitError, duration, duration_text, show_duration};
use rand_distr::{Distribution, Poisson, StandardNormal};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// A law of delays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delay {
    /// None.
    #[default]
    None,
    /// Always the same.
    Fixed {
        /// The delay.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        delay: Duration,
    },
    /// Evenly between both.
    Uniform {
        /// Shortest delay.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        min: Duration,
        /// Longest delay.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        max: Duration,
    },
    /// Exponential.
    Exponential {
        /// Mean delay.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        mean: Duration,
    },
    /// Lognormal: half of the delays are shorter than the median, few are much longer.
    Lognormal {
        /// Median delay; the mean is this times exp(sigma²/2).
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        median: Duration,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Normal; a delay that would be negative is as long as its opposite.
    Normal {
        /// Mean delay.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        mean: Duration,
        /// Standard deviation.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        deviation: Duration,
    },
    /// A whole number of milliseconds by Poisson's law, on top of a time that is always the same.
    Poisson {
        /// Always.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        delay: Duration,
        /// Mean of what comes on top.
        #[serde(with = "duration_text")]
        #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
        mean: Duration,
    },
}

impl Delay {
    /// Longest delay that a law gives.
    pub const MAX: Duration = Duration::from_secs(3600);

    /// Draws a delay.
    pub fn draw(&self, draw: &mut Draw) -> Duration {
        self.draw_of(draw, false)
    }

    /// Draws what is left of a delay at a moment that does not know of it: long delays are met more often, in the middle of
    /// them. Whoever begins so, keeps the rate from the first moment on.
    pub fn draw_rest(&self, draw: &mut Draw) -> Duration {
        match self {
            Delay::None => Duration::ZERO,
            // Nobody thinks by these laws: the rest is that of any moment of it.
            Delay::Normal { .. } | Delay::Poisson { .. } => self.draw_of(draw, false).mul_f64(draw.unit()),
            // An exponential delay has no memory.
            Delay::Exponential { .. } => self.draw(draw),
            Delay::Fixed { .. } | Delay::Uniform { .. } | Delay::Lognormal { .. } => {
                let met = self.draw_of(draw, true);
                met.mul_f64(draw.unit())
            }
        }
    }

    /// `by_length`: long delays are drawn more often, in the measure of their length.
    fn draw_of(&self, draw: &mut Draw, by_length: bool) -> Duration {
        let delay = match *self {
            Delay::None => Duration::ZERO,
            Delay::Fixed { delay } => delay,
            Delay::Uniform { min, max } if by_length => {
                let square = |delay: Duration| delay.as_secs_f64().powi(2);
                let between = (square(max) - square(min)).max(0.0) * draw.unit();
                Duration::from_secs_f64((square(min) + between).sqrt())
            }
            Delay::Uniform { min, max } => min + max.saturating_sub(min).mul_f64(draw.unit()),
            Delay::Exponential { mean } => mean.mul_f64(-(1.0 - draw.unit()).ln()),
            Delay::Lognormal { median, sigma } => {
                let normal: f64 = StandardNormal.sample(draw);
                let shift = if by_length { sigma * sigma } else { 0.0 };
                let seconds = median.as_secs_f64() * (sigma * normal + shift).exp();
                Duration::from_secs_f64(seconds.min(Self::MAX.as_secs_f64()))
            }
            Delay::Normal { mean, deviation } => {
                let normal: f64 = StandardNormal.sample(draw);
                let seconds = (mean.as_secs_f64() + normal * deviation.as_secs_f64()).abs();
                Duration::from_secs_f64(seconds.min(Self::MAX.as_secs_f64()))
            }
            Delay::Poisson { delay, mean } => {
                let drawn = Poisson::new(mean.as_secs_f64() * 1e3).map_or(0.0, |law| law.sample(draw));
                delay + Duration::from_secs_f64((drawn / 1e3).min(Self::MAX.as_secs_f64()))
            }
        };
        delay.min(Self::MAX)
    }

    /// Reads `20ms`, `10ms..50ms`, `exp:20ms`, or `lognormal:20ms` with `:SIGMA` after it where that is not 1.
    ///
    /// # Errors
    /// The text is no such law; the error says so in words.
    pub fn parse(text: &str) -> Result<Delay, UnitError> {
        if let Some(law) = text.strip_prefix("lognormal:") {
            const WANTED: &str = "a median with a sigma from 0 to 5, such as lognormal:20ms:0.5";
            let wrong = || UnitError { typed: text.to_owned(), wanted: WANTED };
            let (median, sigma) = law.split_once(':').unwrap_or((law, "1"));
            let sigma = sigma.parse().ok().filter(|sigma| (0.0..=5.0).contains(sigma)).ok_or_else(wrong)?;
            return Ok(Delay::Lognormal { median: duration(median)?, sigma });
        }
        if let Some((mean, deviation)) = text.strip_prefix("normal:").and_then(|law| law.split_once(':')) {
            return Ok(Delay::Normal { mean: duration(mean)?, deviation: duration(deviation)? });
        }
        if let Some((delay, mean)) = text.strip_prefix("poisson:").and_then(|law| law.split_once(':')) {
            return Ok(Delay::Poisson { delay: duration(delay)?, mean: duration(mean)? });
        }
        if let Some((min, max)) = text.split_once("..") {
            return Ok(Delay::Uniform { min: duration(min)?, max: duration(max)? });
        }
        if let Some(mean) = text.strip_prefix("exp:") {
            return Ok(Delay::Exponential { mean: duration(mean)? });
        }
        Ok(match duration(text)? {
            Duration::ZERO => Delay::None,
            delay => Delay::Fixed { delay },
        })
    }
}

impl fmt::Display for Delay {
    /// As [`Delay::parse`] reads it.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Delay::None => write!(to, "0s"),
            Delay::Fixed { delay } => write!(to, "{}", show_duration(delay)),
            Delay::Uniform { min, max } => write!(to, "{}..{}", show_duration(min), show_duration(max)),
            Delay::Exponential { mean } => write!(to, "exp:{}", show_duration(mean)),
            Delay::Lognormal { median, sigma } => {
                write!(to, "lognormal:{}:{sigma}", show_duration(median))
            }
            Delay::Normal { mean, deviation } => {
                write!(to, "normal:{}:{}", show_duration(mean), show_duration(deviation))
            }
            Delay::Poisson { delay, mean } => {
                write!(to, "poisson:{}:{}", show_duration(delay), show_duration(mean))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn laws_of_delays_read_as_they_are_shown() {
        for (text, shown) in [
            ("0", "0s"),
            ("20ms", "20ms"),
            ("0.5s..2s", "500ms..2s"),
            ("exp:1s", "exp:1s"),
            ("lognormal:1s", "lognormal:1s:1"),
            ("lognormal:20ms:0.5", "lognormal:20ms:0.5"),
            ("normal:0.3s:100ms", "normal:300ms:100ms"),
            ("poisson:1s:100ms", "poisson:1s:100ms"),
        ] {
            let law = Delay::parse(text).unwrap();
            assert_eq!((law.to_string().as_str(), Delay::parse(shown)), (shown, Ok(law)));
        }
        for text in ["lognormal:", "lognormal:1s:x", "lognormal:1s:-1", "lognormal:1s:nan", "x", "1s..x"] {
            assert!(Delay::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn laws_of_delays_have_the_mean_they_say() {
        for (text, mean_ms) in [
            ("100ms", 100.0),
            ("100ms..300ms", 200.0),
            ("exp:100ms", 100.0),
            ("lognormal:100ms:0.5", 100.0 * 0.125f64.exp()),
            ("normal:300ms:50ms", 300.0),
            // The mean of the absolute value of a normal law around nothing.
            ("normal:0:100ms", 100.0 * (2.0 / std::f64::consts::PI).sqrt()),
            ("poisson:50ms:100ms", 150.0),
        ] {
            let law = Delay::parse(text).unwrap();
            let of = |n| law.draw(&mut Draw::new(1, n)).as_secs_f64() * 1e3;
            let mean = (0..100_000).map(of).sum::<f64>() / 1e5;
            assert!((mean / mean_ms - 1.0).abs() < 0.02, "{text}: {mean} ms");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// JMeter's random timers: `delay + u·range`, `|delay + z·range|`, and `delay` plus a whole number of milliseconds by
        /// Poisson's law of mean `range`.
        #[test]
        fn random_timers_follow_jmeters_formulas(delay_ms in 0u64..5_000, range_ms in 1u64..700, seed in any::<u64>()) {
            let delay = Duration::from_millis(delay_ms);
            let range = Duration::from_millis(range_ms);
            let drawn = |law: Delay| (0..4_000).map(|n| law.draw(&mut Draw::new(seed, n))).collect::<Vec<_>>();
            let even = drawn(Delay::Uniform { min: delay, max: delay + range });
            prop_assert!(even.iter().all(|one| (delay..=delay + range).contains(one)));
            let delay = delay_ms as f64;
            let range = range_ms as f64;
            prop_assert!(is_like(&even, delay + range / 2.0, range / 12f64.sqrt()));
            // So far from nothing that no delay has to be turned around.
            let far = delay + 8.0 * range;
            let law = Delay::Normal { mean: Duration::from_secs_f64(far / 1e3), deviation: Duration::from_millis(range_ms) };
            prop_assert!(is_like(&drawn(law), far, range));
            let poisson = drawn(Delay::Poisson { delay: Duration::from_millis(delay_ms), mean: Duration::from_millis(range_ms) });
            prop_assert!(poisson.iter().all(|one| one.as_micros() % 1_000 == 0 && one.as_millis() as f64 >= delay));
            prop_assert!(is_like(&poisson, delay + range, range.sqrt()));
        }
    }

    /// True if delays have this mean and deviation in milliseconds: the mean within six of its own deviations, the other
    /// within a fifth.
    fn is_like(drawn: &[Duration], mean: f64, deviation: f64) -> bool {
        let count = drawn.len() as f64;
        let ms = || drawn.iter().map(|one| one.as_secs_f64() * 1e3);
        let found = ms().sum::<f64>() / count;
        let spread = (ms().map(|one| (one - found).powi(2)).sum::<f64>() / count).sqrt();
        (found - mean).abs() <= 6.0 * deviation / count.sqrt() && (spread / deviation - 1.0).abs() < 0.2
    }

    /// As renewal theory has it: the mean of the rest is E[X²] / 2 E[X], and its density at 0 is 1 / E[X].
    #[test]
    fn the_rest_of_a_delay_keeps_the_rate() {
        for (text, mean_ms, rest_ms) in [
            ("100ms", 100.0, 50.0),
            ("100ms..300ms", 200.0, (300f64.powi(3) - 100f64.powi(3)) / (3.0 * 200.0) / 400.0),
            ("exp:100ms", 100.0, 100.0),
            ("lognormal:100ms:0.5", 100.0 * 0.125f64.exp(), 50.0 * 0.375f64.exp()),
        ] {
            let law = Delay::parse(text).unwrap();
            let of = |n| law.draw_rest(&mut Draw::new(1, n)).as_secs_f64() * 1e3;
            let rests: Vec<f64> = (0..200_000).map(of).collect();
            let mean = rests.iter().sum::<f64>() / rests.len() as f64;
            assert!((mean / rest_ms - 1.0).abs() < 0.02, "{text}: {mean} ms, not {rest_ms} ms");
            let soon =
                rests.iter().filter(|rest| **rest < mean_ms / 20.0).count() as f64 / rests.len() as f64;
            assert!((soon * 20.0 - 1.0).abs() < 0.06, "{text}: {soon} of all in a twentieth of the mean");
        }
    }
}
