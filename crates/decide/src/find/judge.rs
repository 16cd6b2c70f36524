//! The verdict on a rate: all of its trials together say that it keeps the limits, breaks them, or that nobody can tell yet.

use super::settings::Limit;
use super::trial::{Slice, TrialResult, WINDOWS, Window};
use crate::statistics::theil_sen::{self, Point};
use crate::statistics::{mann_kendall, spread};
use crate::words;

/// So many standard errors from the limit decide.
const CLEAR: f64 = 2.0;
/// A hold may be broken so far by this.
const HOLDS: f64 = 1.0;
/// Chance of a trend in what is in flight.
const TREND: f64 = 0.01;
/// Share of the rate by which what is in flight may grow each second.
const GROWTH: f64 = 0.005;
/// Less of what was sent in the second half was answered in it, by more than chance.
const ANSWERED: f64 = 0.99;
/// Requests in flight at two moments differ by at most so many times the root of their mean: of answers that take the same time each, by three deviations.
const BY_CHANCE: f64 = 4.0;
/// Good answers fall below those of a lower rate by more than this.
const COLLAPSE: f64 = 0.05;

/// The verdict on a rate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The limits are kept.
    Keeps,
    /// They are not; why, a sentence part.
    Breaks(String),
    /// More has to be measured.
    Unclear {
        /// How far the worst limit is broken so far, in standard errors; below 0: it is kept so far.
        errors: f64,
    },
}

impl Verdict {
    /// True if the limits are kept, clearly or so far.
    pub fn leans_to_kept(&self) -> bool {
        match self {
            Verdict::Keeps => true,
            Verdict::Breaks(_) => false,
            Verdict::Unclear { errors } => *errors <= 0.0,
        }
    }

    /// True if nothing speaks against the limits being kept by more than chance.
    pub fn holds(&self) -> bool {
        match self {
            Verdict::Keeps => true,
            Verdict::Breaks(_) => false,
            Verdict::Unclear { errors } => *errors <= HOLDS,
        }
    }

    /// In words. The page tells a kept rate from a broken one by the first of them (`web/src/decision/load.ts`).
    pub fn text(&self) -> String {
        match self {
            Verdict::Keeps => "keeps".to_owned(),
            Verdict::Breaks(why) => format!("breaks: {why}"),
            Verdict::Unclear { errors } if *errors <= 0.0 => "unclear, kept so far".to_owned(),
            Verdict::Unclear { .. } => "unclear, broken so far".to_owned(),
        }
    }
}

/// Judges a rate by all its trials that are not void; there must be one. `best_below`: good answers a second at a lower rate
/// ([`TrialResult::good_of`]), the most there were.
pub fn judge(trials: &[&TrialResult], rate: f64, limits: &[Limit], best_below: Option<f64>) -> Verdict {
    if let Some(why) = unstable(trials, rate, best_below) {
        return Verdict::Breaks(why);
    }
    let windows: Vec<Window> = trials.iter().flat_map(|trial| trial.windows(limits.len())).collect();
    let mut worst = f64::NEG_INFINITY;
    for (place, limit) in limits.iter().enumerate() {
        let standing = Standing::of(&windows, place, limit);
        if standing.errors > CLEAR {
            return Verdict::Breaks(standing.text(limit));
        }
        worst = worst.max(standing.errors);
    }
    if worst < -CLEAR { Verdict::Keeps } else { Verdict::Unclear { errors: worst } }
}

/// True if these slices do not clearly break a limit.
pub fn carries(slices: &[Slice], limits: &[Limit]) -> bool {
    let windows: Vec<Window> = slices.iter().map(Window::of_slice).collect();
    let breaks = |(place, limit): (usize, &Limit)| Standing::of(&windows, place, limit).errors > CLEAR;
    !limits.iter().enumerate().any(breaks)
}

/// Reasons that need no limit: the target does not keep up.
fn unstable(trials: &[&TrialResult], rate: f64, best_below: Option<f64>) -> Option<String> {
    let faulty: u64 = trials.iter().map(|trial| trial.faulty).sum();
    if faulty > 0 {
        return Some(format!("{} had wrong content", words::count(faulty as usize, "answer")));
    }
    let overflow: u64 = trials.iter().map(|trial| trial.overflow).sum();
    if overflow > 0 {
        return Some(format!(
            "{} could not be sent, so many were in flight",
            words::count(overflow as usize, "due request")
        ));
    }
    let last = trials.last()?;
    if let Some(share) = falls_behind(last) {
        let share = words::percent(share);
        return Some(format!("only {share} of what was sent in its second half was answered there"));
    }
    if let Some(growth) = growth(last).filter(|growth| *growth > GROWTH * rate) {
        return Some(format!("requests pile up, {} more in flight each second", words::number(growth)));
    }
    let good = spread::mean(&trials.iter().map(|trial| trial.good_of(rate)).collect::<Vec<_>>());
    let collapsed = best_below.filter(|below| good < below * (1.0 - COLLAPSE));
    collapsed.map(|below| {
        format!("it collapses: {} good answers, {} at a lower rate", words::rate(good), words::rate(below))
    })
}

/// The share of what was sent in the second half that was answered in it, where that is too little: more is missing than what is in flight at its ends
/// by chance, which of few requests is more than a hundredth.
fn falls_behind(trial: &TrialResult) -> Option<f64> {
    let (first, second) = trial.slices.split_at(trial.slices.len() / 2);
    let sent = second.iter().map(|slice| slice.sent).sum::<u64>() as f64;
    let answered = second.iter().map(|slice| slice.answered).sum::<u64>() as f64;
    let in_flight = spread::mean(&first.iter().map(|slice| slice.in_flight).collect::<Vec<_>>());
    let by_chance = BY_CHANCE * (in_flight + 1.0).sqrt();
    (sent * ANSWERED - answered > by_chance).then(|| answered / sent)
}

/// By how much what is in flight grows each second, where it surely does.
fn growth(trial: &TrialResult) -> Option<f64> {
    let in_flight: Vec<f64> = trial.windows(0).iter().map(|window| window.in_flight).collect();
    if mann_kendall::p_of_rise(&in_flight) >= TREND {
        return None;
    }
    let each_s = trial.measured_s() / WINDOWS as f64;
    theil_sen::slope(&Point::series(&in_flight)).map(|slope| slope / each_s)
}

/// How a limit stands.
struct Standing {
    /// Share of due requests that were over it; of a mean, the mean.
    share: f64,
    /// How far from the limit, in standard errors; above 0: broken.
    errors: f64,
}

impl Standing {
    fn of(windows: &[Window], place: usize, limit: &Limit) -> Standing {
        let due: f64 = windows.iter().map(|window| window.due).sum();
        let over: f64 = windows.iter().map(|window| window.over[place]).sum();
        let share = over / due;
        let distance = share - limit.allowed();
        // Requests over a limit come in bursts: the windows tell how much more they vary than single ones would.
        let squares: f64 =
            windows.iter().map(|window| (window.over[place] - window.due * share).powi(2)).sum();
        let by_windows = squares / (windows.len() as f64 - 1.0) * windows.len() as f64 / (due * due);
        let allowed = limit.allowed();
        let variance = if limit.is_share() {
            let binomial = share * (1.0 - share) / due;
            let dispersion = if binomial > 0.0 { (by_windows / binomial).max(1.0) } else { 1.0 };
            dispersion * allowed * (1.0 - allowed) / due
        } else {
            by_windows
        };
        let errors =
            if variance > 0.0 { distance / variance.sqrt() } else { distance.signum() * f64::INFINITY };
        // Where nothing was due nothing is known.
        Standing { share, errors: if due > 0.0 { errors } else { 0.0 } }
    }

    fn text(&self, limit: &Limit) -> String {
        if limit.is_share() {
            // Those that were under way when the counting began count, too.
            let share = words::percent(self.share.min(1.0));
            format!("{share} of the due requests are over {}", limit.text())
        } else {
            format!("the mean is {}, and {} was wanted", words::time(self.share / 1e3), limit.text())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial of five seconds with so many sent in each slice, and so many of the second half missing at its end.
    fn trial(sent: u64, in_flight: f64, missing: u64) -> TrialResult {
        let slice = Slice { due: sent, sent, answered: sent, good: sent, in_flight, over: vec![0.0] };
        let mut slices = vec![slice; 100];
        slices[99].answered -= missing.min(sent);
        TrialResult {
            took_s: 7.0,
            void: None,
            slice_s: 0.05,
            slices,
            overflow: 0,
            faulty: 0,
            cpu: None,
            hit_ratio: None,
            p99_ms: None,
        }
    }

    #[test]
    fn fewer_that_were_due_by_chance_are_no_collapse() {
        let limit = Limit::Quantile { quantile: 0.99, limit_ms: 50.0 };
        let many = trial(6, 2.0, 0);
        let few = trial(5, 2.0, 0);
        let below = many.good_of(100.0);
        assert!(few.good_per_s() < 0.95 * many.good_per_s() && below == 100.0);
        assert_eq!(unstable(&[&few], 101.0, Some(below)), None);
        let mut collapsed = few;
        collapsed.slices.iter_mut().for_each(|slice| slice.good -= 1);
        assert!(unstable(&[&collapsed], 101.0, Some(below)).is_some_and(|why| why.contains("collapses")));
        let verdict = judge(&[&many], 100.0, &[limit], None);
        assert_eq!(verdict, Verdict::Keeps);
    }

    #[test]
    fn a_few_in_flight_at_the_end_are_chance_and_many_are_not() {
        // 100/s that take 20 ms each: two are in flight, and five of 250 are 2 %.
        assert_eq!(falls_behind(&trial(5, 2.0, 5)), None);
        assert_eq!(falls_behind(&trial(1_000, 20.0, 500)), None);
        assert!(falls_behind(&trial(1_000, 20.0, 600)).is_some_and(|share| (share - 0.988).abs() < 1e-9));
        assert!(falls_behind(&trial(20, 4.0, 20)).is_some());
    }
}
