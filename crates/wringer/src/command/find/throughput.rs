//! The highest throughput: closed trials of more and more users, in three rounds.

use super::trials::{self, Trials};
use crate::command::show;
use crate::problem::{Exit, Problem};
use crate::signals;
use decide::find::{
    ClosedResult, ClosedTrial, FindSettings, Pace, Purpose, Rounds, Throughput, ThroughputSettings, Trial,
};
use decide::machine::{Machine, Next, Recorded, Refusal};

/// Seconds of each trial that do not count, and that do.
const WARM_S: f64 = 1.0;
const MEASURE_S: f64 = 5.0;
/// No trial has more users.
const MOST_USERS: u32 = 4096;

/// The rounds, and how they ended.
pub struct Ended {
    /// Their conclusion, with what it rests on.
    pub rounds: Rounds,
    /// The signal that ended them.
    pub by: Option<Exit>,
}

/// The first trial.
///
/// # Errors
/// Nothing can come of the settings.
pub fn first(settings: &FindSettings) -> Result<Trial, Refusal> {
    match Throughput::start(&of(settings))?.next() {
        Next::Run(asked) => Ok(trial(asked, 1)),
        Next::Done(_) => Err(Refusal("no trial is wanted".to_owned())),
    }
}

/// Runs the rounds, and prints what came of them.
///
/// # Errors
/// A trial cannot be run, or another process answers.
pub fn run(trials: &mut Trials<'_>) -> Result<Ended, Problem> {
    let mut machine = Recorded::<Throughput>::start(of(&trials.settings))
        .map_err(|refusal| Problem::Usage(refusal.to_string()))?;
    show::tell(&format!(
        "looking for the highest throughput of {}, seed {}",
        trials.name, trials.settings.seed
    ));
    loop {
        let asked = match machine.next() {
            Next::Run(asked) => asked.clone(),
            Next::Done(highest) => {
                let highest = highest.clone();
                // The search stands before it.
                let gap = if trials.settings.limits.is_empty() { "" } else { "\n" };
                super::print(trials.args, &format!("{gap}{}", highest.report()));
                let record = machine.record().clone();
                let rounds = Rounds { highest: Some(highest), record };
                return Ok(Ended { rounds, by: None });
            }
        };
        let trial = trial(&asked, trials.files.len() as u32 + 1);
        let result = trials.run(&trial)?;
        if let Some(signal) = signals::first() {
            show::tell("ended by hand: nothing is concluded on the highest throughput");
            let record = machine.record().clone();
            let rounds = Rounds { highest: None, record };
            return Ok(Ended { rounds, by: Some(Exit::of_signal(signal)) });
        }
        show::tell(&trials::line(&trial, &result, &[]));
        machine.take(ClosedResult { good_per_s: result.good_per_s(), void: result.void });
    }
}

impl Ended {
    /// How they end: by a signal, without a figure, or with one.
    pub fn exit(&self) -> Exit {
        let figure = self.rounds.highest.as_ref().and_then(|highest| highest.good_per_s);
        self.by.unwrap_or(if figure.is_some() { Exit::Ok } else { Exit::Impossible })
    }
}

fn of(settings: &FindSettings) -> ThroughputSettings {
    ThroughputSettings { seed: settings.seed, warm_s: WARM_S, measure_s: MEASURE_S, most_users: MOST_USERS }
}

/// A closed trial as any other.
fn trial(asked: &ClosedTrial, number: u32) -> Trial {
    Trial {
        number,
        purpose: Purpose::Saturated,
        pace: Pace::Closed { users: asked.users },
        warm_s: asked.warm_s,
        measure_s: asked.measure_s,
        seed: asked.seed,
        why: "the highest throughput".to_owned(),
    }
}
