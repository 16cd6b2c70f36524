//! The highest throughput, and the fewest users that reach it: closed trials with 1, 2, 4, … users, in three rounds of a drawn order.

use crate::machine::{Machine, Next, Refusal};
use crate::statistics::energy::shuffle;
use crate::statistics::spread;
use crate::statistics::usl::{self, Measured, Usl};
use crate::void::Void;
use crate::words;
use plan::draw::{Draw, hash};
use serde::{Deserialize, Serialize};

/// Doublings that gain less than this are none, and two of them end the first round.
const GAIN: f64 = 0.02;
/// The fewest users that come within this of the best are enough.
const ENOUGH: f64 = 0.02;
/// Rounds in all.
const ROUNDS: usize = 3;

/// How to look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThroughputSettings {
    /// All chance comes from it.
    pub seed: u64,
    /// Seconds of each trial that are not counted, and that are.
    pub warm_s: f64,
    /// See `warm_s`.
    pub measure_s: f64,
    /// No trial has more users.
    pub most_users: u32,
}

/// A closed trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClosedTrial {
    /// Counted from 1.
    pub number: u32,
    /// Users, each with one request at a time.
    pub users: u32,
    /// Seconds that are not counted, and that are.
    pub warm_s: f64,
    /// See `warm_s`.
    pub measure_s: f64,
    /// Of the requests.
    pub seed: u64,
}

/// Its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClosedResult {
    /// Good answers a second.
    pub good_per_s: f64,
    /// Why it says nothing of the target; `None`: it does.
    pub void: Option<Void>,
}

/// The highest throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Highest {
    /// Good answers a second, the median of the rounds; `None`: no trial told.
    pub good_per_s: Option<f64>,
    /// The fewest users that come within 2 % of it.
    pub users: Option<u32>,
    /// Throughput by users, from the fewest.
    pub curve: Vec<OfUsers>,
    /// The scalability law, or why it is not fitted.
    pub law: Result<Usl, usl::Refusal>,
    /// True if the generator was the limit of some trial, so that there may be more.
    pub at_least: bool,
}

/// Throughput of a number of users.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OfUsers {
    /// Users.
    pub users: u32,
    /// Good answers a second, the median of the rounds.
    pub good_per_s: f64,
}

/// The search for the highest throughput.
#[derive(Debug, Clone)]
pub struct Throughput {
    settings: ThroughputSettings,
    results: Vec<(ClosedTrial, ClosedResult)>,
    /// Users of the trials that are still to be run, once the first round is over; the next is last.
    left: Option<Vec<u32>>,
    next: Next<ClosedTrial, Highest>,
}

impl Machine for Throughput {
    type Settings = ThroughputSettings;
    type Ask = ClosedTrial;
    type Answer = ClosedResult;
    type Outcome = Highest;

    fn start(settings: &ThroughputSettings) -> Result<Throughput, Refusal> {
        if settings.most_users == 0 || !(settings.measure_s > 0.0) {
            return Err(Refusal("a closed trial needs at least one user and some time".to_owned()));
        }
        let next = Next::Run(trial(settings, 0, 1));
        Ok(Throughput { settings: settings.clone(), results: Vec::new(), left: None, next })
    }

    fn next(&self) -> &Next<ClosedTrial, Highest> {
        &self.next
    }

    fn take(&mut self, answer: ClosedResult) {
        let Next::Run(asked) = &self.next else { return };
        self.results.push((asked.clone(), answer));
        let users = match &mut self.left {
            None => self.more_users(),
            Some(left) => left.pop(),
        };
        self.next = match users {
            Some(users) => Next::Run(trial(&self.settings, self.results.len(), users)),
            None => Next::Done(self.highest()),
        };
    }
}

fn trial(settings: &ThroughputSettings, before: usize, users: u32) -> ClosedTrial {
    let number = before as u32 + 1;
    let seed = hash(settings.seed, u64::from(number));
    ClosedTrial { number, users, warm_s: settings.warm_s, measure_s: settings.measure_s, seed }
}

impl Throughput {
    /// Goes on doubling; when two doublings gained nothing, draws the order of the other rounds.
    fn more_users(&mut self) -> Option<u32> {
        let reached: Vec<f64> = self.results.iter().map(|(_, result)| result.good_per_s).collect();
        let last = self.results.last().map_or(1, |(trial, _)| trial.users);
        let is_flat = reached.len() >= 3 && {
            let [.., before, one, other] = reached[..] else { return None };
            one < before * (1.0 + GAIN) && other < one.max(before) * (1.0 + GAIN)
        };
        let is_bound = self.results.last().is_some_and(|(_, result)| result.void.is_some());
        if !is_flat && !is_bound && last <= self.settings.most_users / 2 {
            return Some(last * 2);
        }
        let sizes: Vec<u32> = self.results.iter().map(|(trial, _)| trial.users).collect();
        let mut left = Vec::new();
        for round in 1..ROUNDS {
            let mut order = sizes.clone();
            shuffle(&mut order, &mut Draw::new(self.settings.seed, round as u64));
            left.extend(order);
        }
        let next = left.pop();
        self.left = Some(left);
        next
    }

    fn highest(&self) -> Highest {
        let valid: Vec<_> = self.results.iter().filter(|(_, result)| result.void.is_none()).collect();
        let mut sizes: Vec<u32> = valid.iter().map(|(trial, _)| trial.users).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let of_size = |users: u32| {
            let rounds = valid.iter().filter(|(trial, _)| trial.users == users);
            let good: Vec<f64> = rounds.map(|(_, result)| result.good_per_s).collect();
            OfUsers { users, good_per_s: spread::median(&good) }
        };
        let curve: Vec<OfUsers> = sizes.into_iter().map(of_size).collect();
        let best = curve.iter().map(|one| one.good_per_s).reduce(f64::max);
        let enough = best.and_then(|best| curve.iter().find(|one| one.good_per_s >= best * (1.0 - ENOUGH)));
        let measured = |(trial, result): &(ClosedTrial, ClosedResult)| Measured {
            users: f64::from(trial.users),
            throughput: result.good_per_s,
            generator_bound: result.void.is_some(),
        };
        let trials: Vec<Measured> = self.results.iter().map(measured).collect();
        Highest {
            good_per_s: best,
            users: enough.map(|one| one.users),
            law: usl::fit(&trials, self.settings.seed),
            at_least: valid.len() < self.results.len(),
            curve,
        }
    }
}

/// The text of a search, as far as there was one, with the highest throughput behind it.
pub fn searched(search: Option<&str>, highest: Option<&Highest>) -> String {
    let rounds = highest.map(Highest::report);
    let parts: Vec<&str> = search.into_iter().chain(rounds.as_deref()).collect();
    parts.join("\n")
}

impl Highest {
    /// In one sentence.
    pub fn text(&self) -> String {
        match (self.good_per_s, self.users) {
            (Some(best), Some(users)) => {
                let at_least = if self.at_least { "at least " } else { "" };
                let reach = if users == 1 { "reaches" } else { "reach" };
                let users = words::count(users as usize, "user");
                format!(
                    "{at_least}{} at most, which {users} {reach} within {}",
                    words::rate(best),
                    words::percent(ENOUGH)
                )
            }
            _ => "nothing is known: each trial said nothing of the target".to_owned(),
        }
    }

    /// All of it as people read it: the figure, throughput by users, and how it bends or why that is not told.
    pub fn report(&self) -> String {
        let mut lines = vec![format!("highest throughput: {}", self.text())];
        let best = self.good_per_s.unwrap_or(0.0);
        lines.extend(self.curve.iter().map(|one| {
            let share = words::percent(one.good_per_s / best);
            let users = words::count(one.users as usize, "user");
            format!("  {users:<11} {:<8} {share} of it", words::rate(one.good_per_s))
        }));
        lines.push(match &self.law {
            Ok(law) => law.text(),
            Err(why) => format!("no law of scaling is told: {why}"),
        });
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Recorded, ResumeError};
    use crate::statistics::distribution;

    fn settings() -> ThroughputSettings {
        ThroughputSettings { seed: 3, warm_s: 1.0, measure_s: 5.0, most_users: 1024 }
    }

    fn run(throughput: impl Fn(f64) -> ClosedResult) -> (Highest, Recorded<Throughput>) {
        let mut machine = Recorded::<Throughput>::start(settings()).unwrap();
        loop {
            match machine.next().clone() {
                Next::Run(trial) => machine.take(throughput(f64::from(trial.users))),
                Next::Done(highest) => return (highest, machine),
            }
        }
    }

    fn good(good_per_s: f64) -> ClosedResult {
        ClosedResult { good_per_s, void: None }
    }

    #[test]
    fn the_fewest_users_of_the_best() {
        let (highest, machine) = run(|users| good(500.0 * users.min(8.0)));
        assert_eq!((highest.good_per_s, highest.users, highest.at_least), (Some(4_000.0), Some(8), false));
        assert_eq!(highest.curve.iter().map(|one| one.users).max(), Some(32));
        assert!(matches!(highest.law, Err(usl::Refusal::RoofFits { .. })), "{:?}", highest.law);
        assert_eq!(highest.text(), "4000/s at most, which 8 users reach within 2.0 %");
        let report = highest.report();
        assert!(report.contains("  8 users     4000/s   100 % of it\n"), "{report}");
        assert!(report.contains("no law of scaling is told: throughput that grows"), "{report}");
        assert_eq!(machine.record().steps.len(), 18);
        let mut record = machine.record().clone();
        record.steps.truncate(9);
        assert!(Recorded::<Throughput>::resume(record.clone()).is_ok());
        record.steps[4].asked.users += 1;
        assert_eq!(Recorded::<Throughput>::resume(record).unwrap_err(), ResumeError::Differs(5));
    }

    #[test]
    fn a_law_is_fitted_where_there_is_one() {
        let mut draw = Draw::new(1, 1);
        let noise: Vec<f64> = (0..100).map(|_| (0.005 * distribution::normal(&mut draw)).exp()).collect();
        let count = std::cell::Cell::new(0);
        let (highest, _) = run(|users| {
            count.set(count.get() + 1);
            good(
                500.0 * users / (1.0 + 0.05 * (users - 1.0) + 2e-4 * users * (users - 1.0))
                    * noise[count.get()],
            )
        });
        let law = highest.law.unwrap();
        assert!((law.contention.value / 0.05 - 1.0).abs() < 0.1, "{law:?}");
        assert!(law.peak.is_some());
        assert!(law.text().contains("most at about 6"), "{}", law.text());
    }

    #[test]
    fn a_generator_at_its_limit_gives_at_least() {
        let (highest, _) = run(|users| {
            let void = (users > 16.0).then(|| Void::Generator { why: "CPU".to_owned() });
            ClosedResult { good_per_s: users * 100.0, void }
        });
        assert_eq!((highest.good_per_s, highest.at_least), (Some(1_600.0), true));
        assert!(highest.text().starts_with("at least 1600/s"));
    }
}
