//! `wringer find`: the highest rate that keeps limits, and the highest throughput. Which trials are run and what follows from them is `decide`'s; here they
//! are run, and their rows are handed over.

mod file;
mod purchase;
mod throughput;
mod trials;

use super::rig::refuse_unknown;
use super::show;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::FindArgs;
use decide::find::{
    Bought, Burdens, Conclusion, Find, FindSettings, Limit, Outcome, Pace, Purpose, Trial, TrialResult,
    forecast,
};
use decide::machine::{Next, Recorded};
use decide::words;
use file::Parts;
use plan::{Arrivals, Metric, Statistic, Threshold};
use purchase::bought;
use throughput::Ended;
use trials::Trials;

/// Runs the command.
pub fn run(args: &FindArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    refuse_unknown(&args.proxy.started.rig)?;
    let seed = args.clients.load.seed.unwrap_or_else(arguments::seed_from_clock);
    let settings = settings(args, seed);
    let kept = args.sought.resume.as_deref().map(file::read).transpose()?;
    file::places(args).can_keep()?;
    let settings = kept.as_ref().map_or(Ok(settings.clone()), |kept| kept.settings_for(args, &settings))?;
    let mut trials = Trials::new(args, settings)?;
    let find = match kept {
        Some(kept) => Some(kept.go_on(&mut trials)?),
        None if trials.settings.limits.is_empty() => None,
        None => Some(Recorded::<Find>::start(trials.settings.clone()).map_err(refused)?),
    };
    if args.sought.show_plan {
        let first = match find.as_ref().map(Recorded::next) {
            Some(Next::Run(trial)) => trial.clone(),
            Some(Next::Done(_)) | None => throughput::first(&trials.settings).map_err(refused)?,
        };
        show::write(&trials.plan_of(&first).to_shown_text());
        return Ok(Exit::Ok);
    }
    let mut found =
        LimitFound { searched: find.map(|find| search(find, &mut trials)).transpose()?, rounds: None };
    let goes_on = found.searched.as_ref().is_none_or(|searched| searched.goes_on);
    if args.sought.throughput && goes_on {
        match throughput::run(&mut trials) {
            Ok(rounds) => found.rounds = Some(rounds),
            // What was found before is not lost.
            Err(problem) => {
                found.keep(&trials, problem.exit())?;
                return Err(problem);
            }
        }
    }
    let exit = found.exit();
    found.keep(&trials, exit)?;
    Ok(exit)
}

fn refused(refusal: decide::machine::Refusal) -> Problem {
    Problem::Usage(refusal.to_string())
}

fn settings(args: &FindArgs, seed: u64) -> FindSettings {
    let sought = &args.sought;
    FindSettings {
        seed,
        limits: sought.slos.iter().map(limit).collect(),
        arrivals: match sought.arrivals {
            Arrivals::Even => decide::find::Arrivals::Even,
            // The command line lets no others pass.
            Arrivals::Poisson | Arrivals::Bursts(_) | Arrivals::EachSecond | Arrivals::Jitter(_) => {
                decide::find::Arrivals::Poisson
            }
        },
        within: sought.within,
        budget_s: sought.budget.as_secs_f64(),
        users: sought.users,
    }
}

/// A limit in the terms of the search.
fn limit(typed: &Threshold) -> Limit {
    let limit_ms = typed.limit / 1e3;
    match typed.metric {
        Metric::Time(_, Statistic::Quantile(quantile)) => Limit::Quantile { quantile, limit_ms },
        Metric::Time(_, Statistic::Mean) => Limit::Mean { limit_ms },
        Metric::Failed(_) => Limit::Failed { share: typed.limit },
        Metric::Time(_, Statistic::Max)
        | Metric::Errors(_)
        | Metric::CheckFailed(_)
        | Metric::Unfinished(_)
        | Metric::Overflow(_)
        | Metric::Stray(_)
        | Metric::Rate
        | Metric::OkRate
        | Metric::OkShare
        | Metric::Decay
        | Metric::HitRatio => unreachable!("the command line refuses {}", typed.text),
    }
}

/// A search that is over, one way or another, and printed.
struct Searched {
    find: Recorded<Find>,
    conclusion: Conclusion,
    bought: Option<Bought>,
    text: String,
    exit: Exit,
    /// It came to its end.
    goes_on: bool,
}

/// Searches, and prints the conclusion.
fn search(mut find: Recorded<Find>, trials: &mut Trials<'_>) -> Result<Searched, Problem> {
    show::tell(&format!(
        "looking for the highest rate of {} that keeps {}, in {} at most, seed {}",
        trials.name,
        words::list(&trials.settings.limits.iter().map(|limit| limit.text()).collect::<Vec<_>>()),
        words::time(trials.settings.budget_s),
        trials.settings.seed,
    ));
    loop {
        let trial = match find.next() {
            Next::Run(trial) => trial.clone(),
            Next::Done(outcome) => {
                let conclusion = concluded(trials, &find, outcome);
                let exit = match conclusion.end().code() {
                    0 => Exit::Ok,
                    3 => Exit::Wrong,
                    _ => Exit::Impossible,
                };
                let bought = bought(trials, &conclusion);
                let bought_text =
                    bought.as_ref().map_or_else(String::new, |bought| format!("\n{}", bought.text()));
                let text = conclusion.text() + &bought_text;
                return Ok(Searched { find, conclusion, bought, text, exit, goes_on: true }.printed(trials));
            }
        };
        let result = trials.run(&trial)?;
        if let Some(signal) = signals::first() {
            let conclusion = concluded(trials, &find, &find.machine().so_far());
            let text = conclusion.text();
            let exit = Exit::of_signal(signal);
            return Ok(
                Searched { find, conclusion, bought: None, text, exit, goes_on: false }.printed(trials)
            );
        }
        find.take(result.clone());
        show::tell(&line(&trial, &result, &find));
        keep_so_far(&find, trials)?;
        if trials.args.sought.forecast && trial.purpose == Purpose::Saturated && result.void.is_none() {
            let conclusion = concluded(trials, &find, &find.machine().so_far());
            let closed = conclusion.closed.expect("the users have answered");
            let text = forecast(&trials.settings, &closed);
            let exit = Exit::Ok;
            return Ok(
                Searched { find, conclusion, bought: None, text, exit, goes_on: false }.printed(trials)
            );
        }
    }
}

/// Writes what there is, so that no trial is lost whatever happens to this process.
fn keep_so_far(find: &Recorded<Find>, trials: &Trials<'_>) -> Result<(), Problem> {
    let conclusion = concluded(trials, find, &find.machine().so_far());
    Parts { conclusion: Some(&conclusion), record: Some(find.record()), ..Parts::default() }.keep(trials)
}

fn concluded(trials: &Trials<'_>, find: &Recorded<Find>, outcome: &Outcome) -> Conclusion {
    let sought = &trials.args.sought;
    let burdens = Burdens { one_of: sought.one_of, surge: sought.surge };
    Conclusion::of(outcome, find.record(), &burdens, sought.at_least)
}

/// A trial in a line.
fn line(trial: &Trial, result: &TrialResult, find: &Recorded<Find>) -> String {
    let verdict = match trial.pace {
        Pace::Open { rate } => find.machine().verdict(rate),
        Pace::Closed { .. } | Pace::Surge { .. } => None,
    };
    let verdict = match &result.void {
        Some(_) => String::new(),
        None => verdict.map_or_else(String::new, |verdict| format!(": {}", verdict.text())),
    };
    let settings = &find.record().settings;
    format!(
        "{}{verdict} ({:.0} of {:.0} s)",
        trials::line(trial, result, &settings.limits),
        find.machine().elapsed_s(),
        settings.budget_s,
    )
}

impl Searched {
    fn printed(self, trials: &Trials<'_>) -> Searched {
        print(trials.args, &self.text);
        self
    }
}

/// Prints a text, unless standard output is for JSON.
fn print(args: &FindArgs, text: &str) {
    if !file::places(args).is_stdout() {
        show::page(text);
    }
    show::step_summary(|| report::summary::fenced(text));
}

/// All that was found.
struct LimitFound {
    searched: Option<Searched>,
    rounds: Option<Ended>,
}

impl LimitFound {
    fn exit(&self) -> Exit {
        let ended = self.rounds.as_ref().and_then(|rounds| rounds.by);
        let of_rounds = || self.rounds.as_ref().map_or(Exit::Ok, Ended::exit);
        ended.unwrap_or_else(|| self.searched.as_ref().map_or_else(of_rounds, |searched| searched.exit))
    }

    /// Writes it where it is wanted.
    fn keep(&self, trials: &Trials<'_>, exit: Exit) -> Result<(), Problem> {
        let searched = self.searched.as_ref();
        let parts = Parts {
            exit: Some(exit.number()),
            text: searched.map(|searched| searched.text.as_str()),
            conclusion: searched.map(|searched| &searched.conclusion),
            record: searched.map(|searched| searched.find.record()),
            purchase: searched.and_then(|searched| searched.bought.as_ref()),
            throughput: self.rounds.as_ref().map(|ended| &ended.rounds),
        };
        parts.keep(trials)
    }
}
