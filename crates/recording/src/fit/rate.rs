//! Requests per second: stages, and the law of arrivals within them.

use super::FitAsked;
use super::numbers::rounded;
use plan::{Arrivals, Curve, Stage};
use serde::Serialize;
use std::time::Duration;

/// The shortest stage, unless all is shorter.
const SHORTEST_US: u64 = 30_000_000;
/// Stages at most.
const MOST: u64 = 100;
/// Steps of the recording's times that a window has at least: within fewer, arrivals are as the clock has cut them.
const STEPS: u64 = 10;
/// The shortest window, in microseconds.
const WINDOW_US: u64 = 100_000;
/// Below this arrivals are nearer to even gaps than to a Poisson process.
const EVEN: f64 = 0.5;

/// Requests per second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    /// One after the other, each with its mean.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::laws::stages"))]
    pub stages: Vec<Stage>,
    /// The mean of all.
    pub per_second: f64,
    /// The law of arrivals within them.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::laws::arrivals"))]
    pub arrivals: Arrivals,
    /// Variance of the counts of a window over their mean: 1 of a Poisson process, 0 of even gaps.
    pub dispersion: f64,
    /// The window in microseconds, at least ten steps of the recording's times.
    pub window_us: u64,
    /// The largest difference of the shares of requests that are due by a moment.
    pub error: f64,
}

pub(super) fn fit(asked: &[FitAsked], resolution_us: u32) -> Rate {
    let first = asked.first().map_or(0, |asked| asked.begin_us);
    let at: Vec<u64> = asked.iter().map(|asked| asked.begin_us - first).collect();
    let span = at.last().copied().unwrap_or(0) + 1;
    let stages = stages(&at, span);
    let curve = Curve::of(&stages, 0.0);
    let total = at.len() as f64;
    let mut error = 0.0_f64;
    for (number, at) in at.iter().enumerate() {
        error = error.max((curve.arrivals_by(*at as f64 / 1e6) - number as f64).abs() / total);
    }
    let window_us = (u64::from(resolution_us) * STEPS).max(WINDOW_US);
    let dispersion = dispersion(&at, window_us, &curve);
    Rate {
        per_second: total / (span as f64 / 1e6),
        stages,
        arrivals: if dispersion < EVEN { Arrivals::Even } else { Arrivals::Poisson },
        dispersion,
        window_us,
        error,
    }
}

/// Stages of equal length, whole milliseconds each.
fn stages(at: &[u64], span: u64) -> Vec<Stage> {
    let count = (span / SHORTEST_US).clamp(1, MOST);
    let piece = span.div_ceil(count).div_ceil(1_000) * 1_000;
    let mut counts = vec![0_u64; count as usize];
    at.iter().for_each(|at| counts[(at / piece) as usize] += 1);
    let lasts = Duration::from_micros(piece);
    let stage = |count: &u64| {
        let rate = rounded(*count as f64 / lasts.as_secs_f64(), 6);
        Stage { lasts, from: rate, to: rate }
    };
    counts.iter().map(stage).collect()
}

/// Variance over mean of the counts of windows, the change of the rate from stage to stage taken out.
fn dispersion(at: &[u64], window_us: u64, curve: &Curve) -> f64 {
    let windows = at.last().copied().unwrap_or(0) / window_us;
    let mut counts = vec![0_u64; windows as usize + 1];
    at.iter().for_each(|at| counts[(at / window_us) as usize] += 1);
    let mut squares = 0.0;
    let mut sum = 0.0;
    for (number, count) in (0..windows).zip(&counts) {
        let by = |edge: u64| curve.arrivals_by((edge * window_us) as f64 / 1e6);
        let mean = by(number + 1) - by(number);
        squares += (*count as f64 - mean).powi(2);
        sum += mean;
    }
    if sum > 0.0 { squares / sum } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(begin_us: u64) -> FitAsked {
        FitAsked {
            begin_us,
            size: 1,
            user: 0,
            object: 0,
            class: 0,
            condition: false,
            range: false,
            reload: false,
            aborted: false,
        }
    }

    #[test]
    fn stages_hold_as_many_requests_as_there_were() {
        // A minute of 10 a second, then a minute of 30.
        let slow = (0..600).map(|number| at(number * 100_000));
        let fast = (0..1_800).map(|number| at(60_000_000 + number * 33_333));
        let asked: Vec<FitAsked> = slow.chain(fast).collect();
        let rate = fit(&asked, 1_000);
        let due: f64 = rate.stages.iter().map(|stage| stage.from * stage.lasts.as_secs_f64()).sum();
        assert!((due - 2_400.0).abs() < 1.0 && rate.stages.len() == 3, "{rate:?}");
        assert_eq!(rate.arrivals, Arrivals::Even);
        assert!((rate.per_second - 20.0).abs() < 0.1);
    }

    #[test]
    fn a_clock_of_whole_seconds_has_wider_windows() {
        let asked: Vec<FitAsked> = (0..1_000).map(|number| at(number * 90_000)).collect();
        assert_eq!(fit(&asked, 1_000_000).window_us, 10_000_000);
        assert_eq!(fit(&asked, 1).window_us, WINDOW_US);
    }
}
