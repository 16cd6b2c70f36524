//! The knee's figure: the rate at which the share of due requests over a limit is what the limit allows, by a line through all trials around it.

use super::settings::Limit;
use super::trial::TrialResult;
use crate::statistics::Interval;
use crate::statistics::distribution::t_quantile;
use crate::statistics::jackknife::jackknife;
use crate::statistics::quasi_poisson::{self, Counted, QuasiPoissonLine};

/// Trials within this of an estimate are fitted, while there are few.
const FAR: f64 = 0.12;
/// Where there are enough, only those that lie where trials near the knee are run: the line is straight only there.
const NARROW_LOW: f64 = 0.92;
const NARROW_HIGH: f64 = 1.075;
const ENOUGH: usize = 8;
/// Confidence of the interval is 1 less this.
const ALPHA: f64 = 0.05;
/// Without a jackknife, fewer trials tell no interval.
const FEWEST: usize = 5;

/// An open trial at its rate.
#[derive(Debug, Clone, Copy)]
pub struct Rated<'a> {
    /// Requests a second.
    pub rate: f64,
    /// Outcome of the trial.
    pub result: &'a TrialResult,
}

/// The knee as the trials tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Requests a second.
    pub rate: f64,
    /// Those that the trials do not speak against, where they tell.
    pub interval: Option<Interval>,
    /// How fast the logarithm of the share over the limit rises with that of the rate.
    pub slope: f64,
    /// Standard errors that the slope lies above 0.
    pub rises: f64,
    /// The limit that is reached first, by its place in the settings.
    pub limit: usize,
    /// Trials that the figure rests on.
    pub trials: usize,
    /// There is no line: a rate is kept, and one a little higher is broken. The interval lies between both.
    pub is_wall: bool,
}

/// The knee where no line tells it: between a rate that is kept and one that is broken. `limit`: the one that breaks, by its place.
pub fn wall(kept: f64, broken: f64, limit: usize) -> Fit {
    Fit {
        rate: (kept * broken).sqrt(),
        interval: Some(Interval { low: kept, high: broken }),
        slope: f64::INFINITY,
        rises: f64::INFINITY,
        limit,
        trials: 2,
        is_wall: true,
    }
}

/// Fits the knee to the trials around a first estimate; `None`: they do not tell, or the share does not rise with the rate.
pub fn knee(trials: &[Rated<'_>], limits: &[Limit], about: f64) -> Option<Fit> {
    let near = around(trials, about);
    let reached = limits.iter().enumerate().filter_map(|(place, limit)| {
        let line = quasi_poisson::fit(&counted(&near, place))?;
        Some(Reached { limit: place, log_rate: line.reaches(limit.allowed())?, line })
    });
    let first = reached.min_by(|one, other| one.log_rate.total_cmp(&other.log_rate))?;
    let counted = counted(&near, first.limit);
    let interval =
        jackknifed(&counted, limits[first.limit].allowed()).or_else(|| first.by_dispersion(&counted));
    Some(Fit {
        rate: first.log_rate.exp(),
        interval: interval.map(|found| found.map(f64::exp)),
        slope: first.line.slope,
        rises: first.line.slope / first.line.slope_error,
        limit: first.limit,
        trials: near.len(),
        is_wall: false,
    })
}

/// The trials that are fitted.
fn around<'a>(trials: &[Rated<'a>], about: f64) -> Vec<Rated<'a>> {
    let between = |low: f64, high: f64| {
        let is_near = |trial: &&Rated<'_>| (low..=high).contains(&(trial.rate / about));
        trials.iter().filter(is_near).copied().collect::<Vec<_>>()
    };
    let narrow = between(NARROW_LOW, NARROW_HIGH);
    if narrow.len() >= ENOUGH { narrow } else { between(1.0 - FAR, 1.0 + FAR) }
}

fn counted(near: &[Rated<'_>], limit: usize) -> Vec<Counted> {
    let one = |trial: &Rated<'_>| {
        let result = trial.result;
        Counted { x: trial.rate.ln(), tries: result.due(), count: result.over(limit) }
    };
    near.iter().map(one).collect()
}

/// Where a limit is reached.
struct Reached {
    limit: usize,
    log_rate: f64,
    line: QuasiPoissonLine,
}

impl Reached {
    /// The logarithm's interval by the counts' dispersion, where a trial cannot be left out because nothing would be left.
    fn by_dispersion(&self, counted: &[Counted]) -> Option<Interval> {
        let count: f64 = counted.iter().map(|trial| trial.count).sum();
        let freedom = counted.len().checked_sub(2).filter(|_| counted.len() >= FEWEST)? as f64;
        let error = (self.line.dispersion / count).sqrt() / self.line.slope;
        let reach = t_quantile(1.0 - ALPHA / 2.0, freedom) * error;
        Some(Interval { low: self.log_rate - reach, high: self.log_rate + reach })
    }
}

/// The logarithm's interval by leaving out each trial once.
fn jackknifed(counted: &[Counted], allowed: f64) -> Option<Interval> {
    let estimate = |left_out: Option<usize>| {
        let kept = counted.iter().enumerate().filter(|(place, _)| Some(*place) != left_out);
        let kept: Vec<Counted> = kept.map(|(_, trial)| *trial).collect();
        quasi_poisson::fit(&kept)?.reaches(allowed)
    };
    jackknife(counted.len(), estimate).map(|found| found.interval(ALPHA))
}
