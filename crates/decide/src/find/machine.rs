//! The search as a machine: baseline, ramp, bracket, near, hold, recovery.
//!
//! Bounds are never final: the verdict on a rate is that of all its trials, and the figure comes from a line through all trials around it. A figure is
//! only told when its lower end held for a minute.

mod no_line;

use super::fit::{self, Fit};
use super::judge::{self, Verdict};
use super::log::{Log, Taken};
use super::notes::notes;
use super::outcome::{FindFinding, Knee, Outcome, Recovery};
use super::recovery::{self, HEALTHY_S};
use super::settings::FindSettings;
use super::trial::{Pace, Purpose, Slice, Trial, TrialResult};
use crate::machine::{Machine, Next, Refusal};
use crate::statistics::Interval;
use crate::statistics::energy::shuffle;
use crate::void::Void;
use crate::words;
use plan::draw::{Draw, fraction, hash};

/// Seconds of the closed trial of one user, of those of many, and seconds before them that are not counted.
const ALONE_S: f64 = 3.0;
const CROWD_S: f64 = 5.0;
const CLOSED_WARM_S: f64 = 1.0;
/// The ramp begins at this share of what many users got, and ends at that multiple.
const RAMP_FROM: f64 = 1.0 / 8.0;
const RAMP_TO: f64 = 4.0;
/// Below this share of it nothing is looked for.
const LOWEST: f64 = 1.0 / 64.0;
/// How much higher the ramp goes on where a bound turned out to be none.
const RAMP_ON: f64 = 1.5;
/// A bracket this narrow is left for the fit.
const BRACKET: f64 = 1.12;
/// Before the knee is bracketed no trial takes more of the budget; later none but the hold.
const PART_BEFORE: f64 = 1.0 / 45.0;
const PART_NEAR: f64 = 1.0 / 18.0;
const SHORTEST_S: f64 = 5.0;
/// Before the knee is bracketed no more than this share of the budget is spent on unclear rates.
const SEARCHING: f64 = 0.45;
/// Trials near the knee in a first round, and in each round after a hold that broke. A round may end early by so many.
const NEAR: usize = 12;
const NEAR_AGAIN: usize = 4;
const NEAR_EARLY: usize = 4;
/// If so many of a round's first trials all lie on one side, a bound was wrong.
const ONE_SIDED: usize = 5;
/// With so many of a round left it is asked whether the rate decides at all.
const HALF_AT: usize = 2;
/// Standard errors by which the share over the limit must rise with the rate, and the width of an interval that is none.
const RISES: f64 = 3.0;
const NO_INTERVAL: f64 = 0.25;
/// Seconds of the trial at half of the estimate, where it does not.
const HALF_S: f64 = 30.0;
/// The range of trials near the knee, as shares of the estimate, at most; of a mean, whose curve bends more.
const NEAR_LOW: f64 = 0.94;
const NEAR_HIGH: f64 = 1.06;
const NEAR_LOW_MEAN: f64 = 0.95;
const NEAR_HIGH_MEAN: f64 = 1.04;
/// And the share over the limit should lie between these multiples of what is allowed. A higher end than three times brings more of the
/// rare requests that tell the figure: by it 90 % of the searches for a p99.9 came within 4 %, and 77 % without.
const SHARE_LOW: f64 = 0.3;
const SHARE_HIGH: f64 = 8.0;
const SHARE_HIGH_AT_LEAST: f64 = 3.0;
/// But no higher than this: a share cannot rise above 1, and bends before.
const SHARE_BENDS: f64 = 0.15;
/// The estimate moves by no more in one step.
const STRIDE: f64 = 1.07;
/// Where there is no line yet, it moves by these.
const BLIND_UP: f64 = 1.02;
const BLIND_DOWN: f64 = 0.96;
/// Seconds of the hold, how often one is tried, and how far below one that broke.
const HOLD_S: f64 = 60.0;
const HOLDS: usize = 3;
const BELOW_REFUTED: f64 = 0.98;
/// Where the trials tell no interval, a hold is tried so far below the figure.
const BELOW_FIGURE: f64 = 0.97;
/// The surge: how much too much, for how long; the way back; and after it.
const SURGE: f64 = 1.3;
const SURGE_S: f64 = 10.0;
const BACK: f64 = 0.5;
const BACK_S: f64 = 60.0;
const AGAIN: f64 = 0.95;
/// Trials may be disturbed in this share, after the first few.
const VOIDS: f64 = 0.2;
const FEW_VOIDS: usize = 3;
/// The target drifted if what many users get moved by more than this multiple of the width that is wanted, and of its standard error.
const DRIFT_WIDTHS: f64 = 2.0;
const DRIFT_ERRORS: f64 = 3.0;

/// A search for the highest rate that keeps limits.
#[derive(Debug, Clone)]
pub struct Find {
    settings: FindSettings,
    log: Log,
    stage: FindStage,
    /// Good answers a second that many users got.
    saturated_rate: f64,
    /// Seconds of each trial near the knee.
    near_s: f64,
    /// True once it was asked whether the rate decides at all.
    half_tried: bool,
    /// Rates at which a hold broke.
    refuted: Vec<f64>,
    next: Next<Trial, Outcome>,
}

/// Where the search stands.
#[derive(Debug, Clone)]
enum FindStage {
    Alone,
    Saturated,
    /// The rate that is tried.
    Ramp(f64),
    Bracket,
    Near(Round),
    /// Half of the estimate is tried, and then the round goes on.
    Half(Round),
    /// The range between a rate that is kept and one that is broken is halved.
    Wall(f64),
    Hold(Fit),
    Again(Closing),
    /// The fit, and the rate that was held.
    Recovery(Fit, f64),
}

/// Says the rest, once it is known that the target is still the same.
#[derive(Debug, Clone)]
enum Closing {
    /// The rate was held.
    Held(Fit, f64),
    /// There is a figure that nothing confirmed, and why.
    Unheld(Fit, String),
    /// Holds broke again and again.
    NotSteady(Fit),
}

impl Closing {
    fn fit(&self) -> &Fit {
        match self {
            Closing::Held(fit, _) | Closing::Unheld(fit, _) | Closing::NotSteady(fit) => fit,
        }
    }
}

/// A round of trials near the knee.
#[derive(Debug, Clone)]
struct Round {
    /// Places between the ends of the near range that are still to be tried, 0 to 1.
    left: Vec<f64>,
    /// The estimate.
    about: f64,
    /// How many were tried.
    tried: usize,
}

impl Machine for Find {
    type Settings = FindSettings;
    type Ask = Trial;
    type Answer = TrialResult;
    type Outcome = Outcome;

    fn start(settings: &FindSettings) -> Result<Find, Refusal> {
        settings.check()?;
        let log = Log::new(settings);
        let why = "does one user at a time keep the limits?".to_owned();
        let first = log.trial(Purpose::Alone, Pace::Closed { users: 1 }, CLOSED_WARM_S, ALONE_S, why);
        Ok(Find {
            settings: settings.clone(),
            log,
            stage: FindStage::Alone,
            saturated_rate: 0.0,
            near_s: SHORTEST_S,
            half_tried: false,
            refuted: Vec::new(),
            next: Next::Run(first),
        })
    }

    fn next(&self) -> &Next<Trial, Outcome> {
        &self.next
    }

    fn take(&mut self, answer: TrialResult) {
        let Next::Run(trial) = &self.next else { return };
        self.log.push(trial.clone(), answer);
        self.next = self.after_void().unwrap_or_else(|| match self.stage.clone() {
            FindStage::Alone => self.after_alone(),
            FindStage::Saturated => self.after_saturated(),
            FindStage::Ramp(rate) => self.after_ramp(rate),
            FindStage::Bracket => self.bracket(),
            FindStage::Near(round) => self.near(round),
            FindStage::Half(round) => self.after_half(round),
            FindStage::Wall(about) => {
                let fit = fit::knee(&self.log.open(), &self.settings.limits, about);
                self.hold(about, fit)
            }
            FindStage::Hold(fit) => self.after_hold(fit),
            FindStage::Again(closing) => self.after_again(closing),
            FindStage::Recovery(fit, held) => self.after_recovery(&fit, held),
        });
    }
}

type Step = Next<Trial, Outcome>;

// Lengths, and trials of them.
impl Find {
    fn warm_s(&self, rate: f64) -> f64 {
        (3.0 * self.log.memory_s(rate)).clamp(2.0, (self.settings.budget_s * PART_BEFORE).max(2.0))
    }

    /// Seconds of a trial before the knee is bracketed.
    fn searching_s(&self, rate: f64) -> f64 {
        self.log.wanted_s(rate).min(self.settings.budget_s * PART_BEFORE).max(SHORTEST_S)
    }

    /// Seconds that a hold and a short way back want.
    fn reserve_s(&self, rate: f64) -> f64 {
        self.warm_s(rate) + HOLD_S + SURGE_S + 3.5 * HEALTHY_S
    }

    fn has_time(&self, rate: f64, measure_s: f64, reserve_s: f64) -> bool {
        self.log.left_s() >= self.warm_s(rate) + measure_s + reserve_s
    }

    fn open(&self, purpose: Purpose, rate: f64, measure_s: f64, why: String) -> Step {
        Next::Run(self.log.trial(purpose, Pace::Open { rate }, self.warm_s(rate), measure_s, why))
    }

    /// A trial twice as long at a rate that is unclear, twice at most, while there is time to search.
    fn longer(&self, purpose: Purpose, rate: f64) -> Option<Step> {
        let mut before = self.log.newest_first().filter(|taken| taken.rate() == Some(rate));
        let measure_s = 2.0 * before.next()?.trial.measure_s;
        let is_third = before.count() < 2;
        let has_time = self.log.elapsed_s() + measure_s < SEARCHING * self.settings.budget_s;
        let why = format!("{} is unclear so far", words::rate(rate));
        (is_third && has_time).then(|| self.open(purpose, rate, measure_s, why))
    }
}

// Trials that say nothing of the target.
impl Find {
    fn after_void(&mut self) -> Option<Step> {
        let last = self.log.last();
        let trial = last.trial.clone();
        match last.result.void.clone()? {
            Void::Disturbed { why } => {
                let disturbed = self.log.disturbed();
                if disturbed > FEW_VOIDS && disturbed as f64 > VOIDS * self.log.count() as f64 {
                    let of = self.log.count();
                    let why = format!(
                        "{disturbed} of {of} trials said nothing of the target, the last because {why}"
                    );
                    return Some(self.done(FindFinding::NoVerdict { why }));
                }
            }
            Void::Generator { why } => match trial.pace {
                // They tell what can be sent, which is all that is wanted of them.
                Pace::Closed { .. } => return None,
                Pace::Open { rate } if self.log.generator_limit().is_some_and(|limit| limit <= rate) => {
                    return Some(self.at_generators_limit(trial.purpose, &why));
                }
                Pace::Surge { .. } => return None,
                Pace::Open { .. } => {}
            },
        }
        if self.log.left_s() < trial.takes_s() {
            return Some(
                self.partial("the last trial said nothing of the target, and there is no time to repeat it"),
            );
        }
        let why = "the one before said nothing of the target".to_owned();
        Some(Next::Run(self.log.trial(trial.purpose, trial.pace, trial.warm_s, trial.measure_s, why)))
    }

    fn at_generators_limit(&mut self, purpose: Purpose, why: &str) -> Step {
        match (purpose, self.log.lower()) {
            (Purpose::Ramp | Purpose::Bracket, Some(_)) => self.bracket(),
            (_, Some(rate)) => self.done(FindFinding::AtLeast {
                rate,
                why: format!("beyond that the generator is the limit ({why})"),
            }),
            (_, None) => {
                let why = format!("the generator is the limit at the lowest rate already ({why})");
                self.done(FindFinding::NoVerdict { why })
            }
        }
    }
}

// Until the knee is bracketed.
impl Find {
    fn after_alone(&mut self) -> Step {
        let alone = &self.log.last().result;
        if let Verdict::Breaks(why) = judge::judge(&[alone], alone.good_per_s(), &self.settings.limits, None)
        {
            return self.done(FindFinding::NoRate { lowest: None, why });
        }
        self.stage = FindStage::Saturated;
        let users = self.settings.users;
        let why = format!("how much do {users} users get?");
        Next::Run(self.log.trial(Purpose::Saturated, Pace::Closed { users }, CLOSED_WARM_S, CROWD_S, why))
    }

    fn after_saturated(&mut self) -> Step {
        self.saturated_rate = self.log.last().result.good_per_s();
        if !(self.saturated_rate > 0.0) {
            let why = format!("not one answer to {} users was good", self.settings.users);
            return self.done(FindFinding::NoRate { lowest: None, why });
        }
        self.ramp(
            self.saturated_rate * RAMP_FROM,
            format!("an eighth of what {} users got", self.settings.users),
        )
    }

    fn ramp(&mut self, rate: f64, why: String) -> Step {
        let highest = self.saturated_rate * RAMP_TO * 1.001;
        if let (true, Some(kept)) = (rate > highest, self.log.lower()) {
            let users = words::count(self.settings.users as usize, "user");
            let why = format!(
                "nothing broke up to {RAMP_TO} times what {users} got: more users would look higher up"
            );
            return self.done(FindFinding::AtLeast { rate: kept, why });
        }
        self.stage = FindStage::Ramp(rate);
        let measure_s = self.searching_s(rate);
        if !self.has_time(rate, measure_s, 0.0) {
            return self.partial("the time is over");
        }
        self.open(Purpose::Ramp, rate, measure_s, why)
    }

    fn after_ramp(&mut self, rate: f64) -> Step {
        let verdict = self.log.verdict(rate).expect("the rate was tried just now");
        if let Verdict::Unclear { .. } = verdict
            && !verdict.leans_to_kept()
            && let Some(longer) = self.longer(Purpose::Ramp, rate)
        {
            return longer;
        }
        if verdict.leans_to_kept() && self.log.upper().is_none() {
            return self.ramp(rate * 2.0, format!("{} was kept", words::rate(rate)));
        }
        if self.log.lower().is_some() {
            return self.bracket();
        }
        if rate / 2.0 < self.saturated_rate * LOWEST * 0.999 {
            return self.done(FindFinding::NoRate { lowest: Some(rate), why: verdict.text() });
        }
        self.ramp(rate / 2.0, format!("{} was broken", words::rate(rate)))
    }

    fn bracket(&mut self) -> Step {
        self.stage = FindStage::Bracket;
        let Some(lower) = self.log.lower() else {
            let lowest = self.log.rates().first().map_or(self.saturated_rate * RAMP_FROM, |rate| rate / 2.0);
            return self.ramp(lowest, "the rate that seemed to be kept is broken".to_owned());
        };
        let broken = self.log.upper();
        let generators = self.log.generator_limit();
        let Some(upper) = [broken, generators].into_iter().flatten().reduce(f64::min) else {
            return self.ramp(lower * RAMP_ON, "the rate that seemed to be broken is kept".to_owned());
        };
        if upper / lower <= BRACKET {
            if broken.is_none_or(|broken| broken > upper) {
                let why = format!("at {} the generator is the limit", words::rate(upper));
                return self.done(FindFinding::AtLeast { rate: lower, why });
            }
            return self.begin_round((lower * upper).sqrt(), NEAR);
        }
        if let Some(rate) = self.log.last().rate()
            && let Some(Verdict::Unclear { .. }) = self.log.verdict(rate)
            && let Some(longer) = self.longer(Purpose::Bracket, rate)
        {
            return longer;
        }
        let rate = (lower * upper).sqrt();
        let measure_s = self.searching_s(rate);
        if !self.has_time(rate, measure_s, 0.0) {
            return self.partial("the time is over");
        }
        let why = format!("between {}, which was kept, and {}", words::rate(lower), words::rate(upper));
        self.open(Purpose::Bracket, rate, measure_s, why)
    }
}

// Near the knee.
impl Find {
    /// Begins a round of trials around an estimate, which share the time that a hold leaves.
    fn begin_round(&mut self, about: f64, count: usize) -> Step {
        let mut left: Vec<f64> = (0..count).map(|place| (place as f64 + 0.5) / count as f64).collect();
        shuffle(&mut left, &mut Draw::new(self.settings.seed, hash(1, self.log.count() as u64)));
        let share_s = (self.log.left_s() - self.reserve_s(about)) / count as f64 - self.warm_s(about) - 0.5;
        self.near_s = share_s.min(self.settings.budget_s * PART_NEAR).max(SHORTEST_S);
        self.near(Round { left, about, tried: 0 })
    }

    fn near(&mut self, mut round: Round) -> Step {
        if let Some(step) = self.revised(&round) {
            return step;
        }
        let fit = fit::knee(&self.log.open(), &self.settings.limits, round.about);
        round.about = match &fit {
            Some(fit) => fit.rate.clamp(round.about / STRIDE, round.about * STRIDE),
            None if round.tried == 0 => round.about,
            None if self.log.last().rate().is_some_and(|rate| self.log.leans_to_kept(rate)) => {
                round.about * BLIND_UP
            }
            None => round.about * BLIND_DOWN,
        };
        let has_time = self.has_time(round.about, self.near_s, self.reserve_s(round.about));
        if round.left.len() == HALF_AT && self.rate_may_not_decide(fit.as_ref()) {
            return self.half(round);
        }
        let is_narrow = fit
            .as_ref()
            .and_then(|fit| fit.interval)
            .is_some_and(|found| found.relative_width() <= self.settings.within);
        if is_narrow && round.left.len() <= NEAR_EARLY {
            round.left.clear();
        } else if round.left.is_empty() {
            round.left.push(fraction(hash(self.settings.seed, hash(2, self.log.count() as u64))));
        }
        match round.left.pop().filter(|_| has_time) {
            Some(place) => {
                let rate = self.near_rate(place, round.about, fit.as_ref());
                let why = format!("the knee is about {}", words::rate(round.about));
                round.tried += 1;
                self.stage = FindStage::Near(round);
                self.open(Purpose::Near, rate, self.near_s, why)
            }
            None => self.hold(round.about, fit),
        }
    }

    /// Where the first trials of a round all lie on one side of the knee, the bound there was wrong, and is tried again.
    fn revised(&mut self, round: &Round) -> Option<Step> {
        if round.tried != ONE_SIDED {
            return None;
        }
        let newest = self.log.newest_first().filter(|taken| taken.result.void.is_none());
        let near: Vec<f64> = newest.filter_map(|taken| taken.rate()).take(ONE_SIDED).collect();
        let kept = near.iter().filter(|rate| self.log.leans_to_kept(**rate)).count();
        let bound = if kept == ONE_SIDED {
            self.log.upper()?
        } else if kept == 0 {
            let lowest = near.iter().copied().fold(f64::INFINITY, f64::min);
            self.log.rates().into_iter().rfind(|rate| *rate < lowest && self.log.leans_to_kept(*rate))?
        } else {
            return None;
        };
        let measure_s = self.near_s.min(self.settings.budget_s * PART_NEAR / 2.0);
        if !self.has_time(bound, measure_s, self.reserve_s(bound)) {
            return None;
        }
        self.stage = FindStage::Bracket;
        let why = format!(
            "all of the last {ONE_SIDED} trials lie on one side of the knee, so this bound may be wrong"
        );
        Some(self.open(Purpose::Bracket, bound, measure_s, why))
    }

    /// The rate at a place between the ends of the near range.
    fn near_rate(&self, place: f64, about: f64, fit: Option<&Fit>) -> f64 {
        let limit = &self.settings.limits[fit.map_or(0, |fit| fit.limit)];
        let mut low = if limit.is_share() { NEAR_LOW.ln() } else { NEAR_LOW_MEAN.ln() };
        let mut high = if limit.is_share() { NEAR_HIGH.ln() } else { NEAR_HIGH_MEAN.ln() };
        if let Some(fit) = fit {
            let highest_share = SHARE_HIGH.min((SHARE_BENDS / limit.allowed()).max(SHARE_HIGH_AT_LEAST));
            low = low.max(SHARE_LOW.ln() / fit.slope);
            high = high.min(highest_share.ln() / fit.slope);
        }
        let rate = about * (low + place * (high - low)).exp();
        // Beyond what can be sent nothing is to be learnt.
        self.log.generator_limit().map_or(rate, |limit| rate.min(limit * 0.99))
    }
}

// The hold, the way back, and the end.
impl Find {
    fn hold(&mut self, about: f64, fit: Option<Fit>) -> Step {
        if self.rate_may_not_decide(fit.as_ref()) {
            return self.half(Round { left: Vec::new(), about, tried: 0 });
        }
        let fit = match fit {
            Some(_) | None if self.log.has_wall(about) => match self.wall(about) {
                Ok(wall) => wall,
                Err(step) => return *step,
            },
            Some(fit) => fit,
            None => return self.partial("the trials near it do not tell where it is"),
        };
        // A wide interval is told as it is, but a hold far below the figure would confirm nothing.
        let mut rate =
            fit.interval.map_or(fit.rate * BELOW_FIGURE, |found| found.low.max(fit.rate * NEAR_LOW));
        if fit.is_wall {
            // A short trial forgives a rate that is a little too high, a minute does not.
            rate *= 1.0 - self.settings.within / 2.0;
        }
        if let Some(refuted) = self.refuted.iter().copied().reduce(f64::min) {
            rate = rate.min(refuted * BELOW_REFUTED);
        }
        if !self.has_time(rate, HOLD_S, 0.0) {
            let why = match self.refuted.last() {
                Some(refuted) => {
                    format!(
                        "{} did not hold for a minute, and there was no time for a lower rate",
                        words::rate(*refuted)
                    )
                }
                None => "there was no time left for the minute that must hold".to_owned(),
            };
            return self.again(Closing::Unheld(fit, why));
        }
        self.stage = FindStage::Hold(fit);
        self.open(Purpose::Hold, rate, HOLD_S, "the figure's lower end must hold for a minute".to_owned())
    }

    fn after_hold(&mut self, fit: Fit) -> Step {
        let held = self.log.last().rate().expect("a hold is an open trial");
        let fit = match fit.is_wall {
            true => fit,
            false => fit::knee(&self.log.open(), &self.settings.limits, fit.rate).unwrap_or(fit),
        };
        if self.log.verdict(held).is_some_and(|verdict| verdict.holds()) {
            return self.again(Closing::Held(fit, held));
        }
        self.refuted.push(held);
        if self.refuted.len() >= HOLDS {
            return self.again(Closing::NotSteady(fit));
        }
        self.begin_round(fit.rate, NEAR_AGAIN)
    }

    /// Many users again, if there is time: a target that changed meanwhile has no knee.
    fn again(&mut self, closing: Closing) -> Step {
        if self.log.left_s() < CLOSED_WARM_S + CROWD_S {
            return self.close(closing);
        }
        self.stage = FindStage::Again(closing);
        let users = self.settings.users;
        let why = format!("do {users} users still get what they got?");
        Next::Run(self.log.trial(Purpose::Again, Pace::Closed { users }, CLOSED_WARM_S, CROWD_S, why))
    }

    fn after_again(&mut self, closing: Closing) -> Step {
        let Some(per_minute) = self.drift() else { return self.close(closing) };
        let fit = closing.fit();
        let about = fit.interval.unwrap_or(Interval { low: fit.rate, high: fit.rate });
        self.done(FindFinding::Drifted { per_minute, about })
    }

    /// Share by which what many users get moved each minute, where it surely did.
    fn drift(&self) -> Option<f64> {
        let saturated: Vec<&Taken> =
            self.log.saturated().filter(|taken| taken.result.void.is_none()).collect();
        let [first, .., last] = saturated[..] else { return None };
        let moved = (last.result.good_per_s() / first.result.good_per_s()).ln();
        let error = first.result.good_error().hypot(last.result.good_error());
        let minutes = (last.at_s - first.at_s) / 60.0;
        let surely = moved.abs() > DRIFT_WIDTHS * self.settings.within && moved.abs() > DRIFT_ERRORS * error;
        surely.then(|| moved / minutes)
    }

    fn close(&mut self, closing: Closing) -> Step {
        match closing {
            Closing::Held(fit, held) => self.recovery(fit, held),
            Closing::Unheld(fit, why) => {
                let kept = self.log.lower();
                let broken = self.log.upper();
                self.done(FindFinding::Partial { kept, broken, about: fit.interval, why })
            }
            Closing::NotSteady(_) => {
                let finding =
                    FindFinding::NotSteady { refuted: self.refuted.clone(), kept: self.log.lower() };
                self.done(finding)
            }
        }
    }

    fn recovery(&mut self, fit: Fit, held: f64) -> Step {
        let waits_s = (self.log.left_s() - SURGE_S - HEALTHY_S).min(BACK_S);
        if waits_s < 2.0 * HEALTHY_S {
            return self.conclude(&fit, held, None);
        }
        let pace = Pace::Surge { over: SURGE * fit.rate, back: BACK * fit.rate, again: AGAIN * fit.rate };
        self.stage = FindStage::Recovery(fit, held);
        let why = "too much for a while, and then the way back".to_owned();
        Next::Run(self.log.trial(Purpose::Recovery, pace, SURGE_S, waits_s, why))
    }

    fn after_recovery(&mut self, fit: &Fit, held: f64) -> Step {
        let last = self.log.last();
        if last.result.void.is_some() {
            return self.conclude(fit, held, None);
        }
        let slices = &last.result.slices;
        let slice_s = last.result.slice_s;
        let after_s = recovery::recovered_after(slices, slice_s, &self.settings.limits);
        let again = after_s.and_then(|after| slices.get(((after + HEALTHY_S) / slice_s).round() as usize..));
        let carries = |slices: &[Slice]| judge::carries(slices, &self.settings.limits);
        let recovery = Recovery {
            after_s,
            waited_s: last.trial.measure_s,
            at_share: BACK,
            carries_again: again.filter(|slices| !slices.is_empty()).map(carries),
        };
        self.conclude(fit, held, Some(recovery))
    }

    fn conclude(&mut self, fit: &Fit, held: f64, recovery: Option<Recovery>) -> Step {
        let limit = self.settings.limits[fit.limit];
        let finding = match fit.interval {
            Some(interval) => FindFinding::Knee(Knee {
                rate: fit.rate,
                interval,
                is_wall: fit.is_wall,
                held,
                limit,
                trials: fit.trials,
                recovery,
            }),
            None => FindFinding::Partial {
                kept: Some(held),
                broken: self.log.upper(),
                about: None,
                why: "the trials near it do not tell how exact the figure is".to_owned(),
            },
        };
        self.done(finding)
    }

    fn partial(&mut self, why: &str) -> Step {
        let kept = self.log.lower();
        let broken = self.log.upper();
        let rates = self.log.rates();
        let reaches_down =
            rates.last().zip(rates.first()).is_some_and(|(highest, lowest)| highest / lowest >= 2.0);
        let finding = match broken {
            Some(lowest) if kept.is_none() && reaches_down => {
                let why = self.log.verdict(lowest).map_or_else(String::new, |verdict| verdict.text());
                FindFinding::NoRate { lowest: Some(lowest), why }
            }
            Some(_) | None => FindFinding::Partial { kept, broken, about: None, why: why.to_owned() },
        };
        self.done(finding)
    }

    fn done(&mut self, finding: FindFinding) -> Step {
        Next::Done(self.outcome(finding))
    }

    fn outcome(&self, finding: FindFinding) -> Outcome {
        Outcome {
            notes: notes(&self.settings, &self.log, self.near_s, &finding),
            rates: self.log.rows(),
            took_s: self.log.elapsed_s(),
            trials: self.log.count(),
            finding,
        }
    }

    /// The outcome so far, for somebody who ends it by hand.
    pub fn so_far(&self) -> Outcome {
        let why = "it was ended by hand".to_owned();
        let kept = self.log.lower();
        let broken = self.log.upper();
        self.outcome(FindFinding::Partial { kept, broken, about: None, why })
    }

    /// The verdict on a rate by all of its trials so far; `None`: there is none that is not void.
    pub fn verdict(&self, rate: f64) -> Option<Verdict> {
        self.log.verdict(rate)
    }

    /// Seconds that the trials took so far.
    pub fn elapsed_s(&self) -> f64 {
        self.log.elapsed_s()
    }
}
