//! All that a search was told so far, and the questions that its next step asks of it.

use super::fit::Rated;
use super::judge::{self, Verdict};
use super::outcome::RateRow;
use super::settings::{FindSettings, Limit};
use super::trial::{Pace, Purpose, Trial, TrialResult};
use crate::void::Void;
use plan::draw::hash;

/// Beside a wall, less than this of what a limit allows is over it, and more than that many times.
const CLEAR: f64 = 0.01;
const MUCH: f64 = 5.0;
/// Rates around it that are looked at; how many of them are on either side, at least, and between both, at most.
const WALL_LOW: f64 = 0.93;
const WALL_HIGH: f64 = 1.08;
const WALL_EACH: usize = 2;
const WALL_BETWEEN: usize = 1;

/// A trial that was run.
#[derive(Debug, Clone)]
pub struct Taken {
    /// As it was asked for.
    pub trial: Trial,
    /// Its outcome.
    pub result: TrialResult,
    /// Seconds from the beginning of the search to the middle of the trial.
    pub at_s: f64,
}

impl Taken {
    /// The rate of an open trial.
    pub fn rate(&self) -> Option<f64> {
        match self.trial.pace {
            Pace::Open { rate } => Some(rate),
            Pace::Closed { .. } | Pace::Surge { .. } => None,
        }
    }
}

/// The trials so far.
#[derive(Debug, Clone)]
pub struct Log {
    settings: FindSettings,
    taken: Vec<Taken>,
    elapsed_s: f64,
}

impl Log {
    /// Nothing yet.
    pub fn new(settings: &FindSettings) -> Log {
        Log { settings: settings.clone(), taken: Vec::new(), elapsed_s: 0.0 }
    }

    /// Takes in a trial.
    pub fn push(&mut self, trial: Trial, result: TrialResult) {
        let takes_s = match trial.pace {
            // The way back may have been short.
            Pace::Surge { .. } => result.took_s,
            // A clock that stands still must not keep a search going for ever.
            Pace::Closed { .. } | Pace::Open { .. } => result.took_s.max(trial.takes_s()),
        };
        let at_s = self.elapsed_s + takes_s / 2.0;
        self.elapsed_s += takes_s;
        self.taken.push(Taken { trial, result, at_s });
    }

    /// The trial that was run last.
    pub fn last(&self) -> &Taken {
        self.taken.last().expect("a stage begins with a trial")
    }

    /// The closed trials of many users, in order.
    pub fn saturated(&self) -> impl Iterator<Item = &Taken> {
        self.taken.iter().filter(|taken| matches!(taken.trial.purpose, Purpose::Saturated | Purpose::Again))
    }

    /// All trials, the newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Taken> {
        self.taken.iter().rev()
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.taken.len()
    }

    /// Seconds that they took.
    pub fn elapsed_s(&self) -> f64 {
        self.elapsed_s
    }

    /// Seconds that are left of the budget.
    pub fn left_s(&self) -> f64 {
        self.settings.budget_s - self.elapsed_s
    }

    /// The next trial, with a number and a seed of its own.
    pub fn trial(&self, purpose: Purpose, pace: Pace, warm_s: f64, measure_s: f64, why: String) -> Trial {
        let number = self.taken.len() as u32 + 1;
        Trial {
            number,
            purpose,
            pace,
            warm_s,
            measure_s,
            seed: hash(self.settings.seed, u64::from(number)),
            why,
        }
    }

    /// Open trials that are not void.
    pub fn open(&self) -> Vec<Rated<'_>> {
        let valid = self.taken.iter().filter(|taken| taken.result.void.is_none());
        valid.filter_map(|taken| Some(Rated { rate: taken.rate()?, result: &taken.result })).collect()
    }

    /// The verdict on a rate by all of its trials; `None`: there is no valid one.
    pub fn verdict(&self, rate: f64) -> Option<Verdict> {
        let open = self.open();
        let of_rate: Vec<&TrialResult> =
            open.iter().filter(|trial| trial.rate == rate).map(|trial| trial.result).collect();
        let lower = open.iter().filter(|trial| trial.rate < rate);
        let below = lower.map(|trial| trial.result.good_of(trial.rate));
        (!of_rate.is_empty())
            .then(|| judge::judge(&of_rate, rate, &self.settings.limits, below.reduce(f64::max)))
    }

    /// True if the limits are kept at a rate that was tried, clearly or so far.
    pub fn leans_to_kept(&self, rate: f64) -> bool {
        self.verdict(rate).is_some_and(|verdict| verdict.leans_to_kept())
    }

    /// All rates that were tried, from the lowest.
    pub fn rates(&self) -> Vec<f64> {
        let mut rates: Vec<f64> = self.open().iter().map(|trial| trial.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        rates
    }

    /// The lowest rate that is broken.
    pub fn upper(&self) -> Option<f64> {
        self.rates().into_iter().find(|rate| !self.leans_to_kept(*rate))
    }

    /// The highest rate that is kept, below all that are broken.
    pub fn lower(&self) -> Option<f64> {
        let upper = self.upper().unwrap_or(f64::INFINITY);
        self.rates().into_iter().rfind(|rate| *rate < upper)
    }

    /// The limit that a rate is furthest over, by its place.
    pub fn breaks(&self, rate: f64) -> usize {
        let times = self.times_allowed(rate).into_iter().enumerate();
        times.max_by(|one, other| one.1.total_cmp(&other.1)).map_or(0, |(place, _)| place)
    }

    /// True if around a rate hardly a trial lies between those with next to nothing over the limits and those with much: there is a wall, and no line.
    pub fn has_wall(&self, about: f64) -> bool {
        let near = self.rates().into_iter().filter(|rate| (WALL_LOW..=WALL_HIGH).contains(&(rate / about)));
        let shares: Vec<f64> =
            near.map(|rate| self.times_allowed(rate).into_iter().fold(0.0, f64::max)).collect();
        let below = shares.iter().filter(|share| **share < CLEAR).count();
        let above = shares.iter().filter(|share| **share > MUCH).count();
        let between = shares.len() - below - above;
        below >= WALL_EACH && above >= WALL_EACH && between <= WALL_BETWEEN
    }

    /// How many times of what each limit allows is over it, at a rate.
    fn times_allowed(&self, rate: f64) -> Vec<f64> {
        let open = self.open();
        let of_rate: Vec<&TrialResult> =
            open.iter().filter(|trial| trial.rate == rate).map(|trial| trial.result).collect();
        let due: f64 = of_rate.iter().map(|result| result.due()).sum();
        let times = |(place, limit): (usize, &Limit)| {
            let over: f64 = of_rate.iter().map(|result| result.over(place)).sum();
            over / (limit.allowed() * due).max(f64::MIN_POSITIVE)
        };
        self.settings.limits.iter().enumerate().map(times).collect()
    }

    /// The lowest rate that the generator could not send, twice.
    pub fn generator_limit(&self) -> Option<f64> {
        let is_bound = |taken: &&Taken| matches!(taken.result.void, Some(Void::Generator { .. }));
        let mut bound: Vec<f64> = self.taken.iter().filter(is_bound).filter_map(Taken::rate).collect();
        bound.sort_by(f64::total_cmp);
        bound.chunk_by(|one, other| one == other).find(|same| same.len() >= 2).map(|same| same[0])
    }

    /// Trials that something else had a hand in.
    pub fn disturbed(&self) -> usize {
        self.taken.iter().filter(|taken| matches!(taken.result.void, Some(Void::Disturbed { .. }))).count()
    }

    /// How long the target remembers at about this rate, in seconds, by the trial that was nearest to it.
    pub fn memory_s(&self, rate: f64) -> f64 {
        let open = self.open();
        let distance = |trial: &Rated<'_>| (trial.rate / rate).ln().abs();
        let nearest = open.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.map_or(0.0, |trial| trial.result.memory_s())
    }

    /// Seconds that a trial at this rate should take: enough requests over the limit, and many times the target's memory.
    pub fn wanted_s(&self, rate: f64) -> f64 {
        let shares = self.settings.limits.iter().filter(|limit| limit.is_share());
        let rarest = shares.map(Limit::allowed).fold(1.0, f64::min);
        (30.0 / (rarest * rate)).max(20.0 * self.memory_s(rate)).max(5.0)
    }

    /// Observations at each rate, from the lowest.
    pub fn rows(&self) -> Vec<RateRow> {
        let open = self.open();
        let row = |rate: f64| {
            let of_rate: Vec<&TrialResult> =
                open.iter().filter(|trial| trial.rate == rate).map(|trial| trial.result).collect();
            let mean = |value: &dyn Fn(&TrialResult) -> Option<f64>| {
                let known: Vec<f64> = of_rate.iter().filter_map(|result| value(result)).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
            };
            let due: f64 = of_rate.iter().map(|result| result.due()).sum();
            let over = |limit: usize| {
                let over = of_rate.iter().map(|result| result.over(limit)).sum::<f64>() / due.max(1.0);
                // Those that were under way when the counting began count, too.
                if self.settings.limits[limit].is_share() { over.min(1.0) } else { over }
            };
            RateRow {
                rate,
                trials: of_rate.len(),
                over: (0..self.settings.limits.len()).map(over).collect(),
                good_per_s: mean(&|result| Some(result.good_per_s())).unwrap_or(0.0),
                p99_ms: mean(&|result| result.p99_ms),
                cpu: mean(&|result| result.cpu),
                hit_ratio: mean(&|result| result.hit_ratio),
                verdict: self.verdict(rate).map_or_else(String::new, |verdict| verdict.text()),
            }
        };
        self.rates().into_iter().map(row).collect()
    }
}
