//! `wringer compare`: legs of two sides in drawn order, and what may be concluded from them. The schedule and the conclusion are
//! `decide`'s; here legs are run, and what came of them is put into its terms.

mod bisect;
mod file;
mod kept;
mod legs;
mod looking;
mod sides;

use super::rig::refuse_unknown;
use super::show;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::CompareArgs;
use decide::compare::{Compare, End, Lengths, Metric, Outcome, Settings};
use decide::machine::{Next, Recorded};
use legs::Legs;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<Exit, Problem> {
    let ended = compared(args);
    if args.asked.for_bisect { bisect::exit_of(ended) } else { ended }
}

fn compared(args: &CompareArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    refuse_unknown(&args.started.rig)?;
    let seed = args.clients.load.seed.unwrap_or_else(arguments::seed_from_clock);
    if let Some(range) = &args.asked.bisect {
        let build = args.asked.build.as_deref().expect("--bisect requires --build");
        return bisect::run(args, range, build);
    }
    if !args.kept.runs.is_empty() {
        return kept::run(args, &settings(args, seed));
    }
    let resumed = args.asked.resume.as_deref().map(file::read).transpose()?;
    let seed = resumed.as_ref().map_or(seed, |resumed| args.clients.load.seed.unwrap_or(resumed.seed()));
    file::places(args).can_keep()?;
    let mut legs = Legs::new(args, seed)?;
    let mut settings = Settings { anew: legs.sides.are_started(), ..settings(args, seed) };
    if legs.sides.are_caches() {
        settings.figures.push(Metric::Hits);
    }
    let mut compare = match resumed {
        Some(resumed) => resumed.go_on(&mut legs, &settings)?,
        None => {
            Recorded::<Compare>::start(settings).map_err(|refusal| Problem::Usage(refusal.to_string()))?
        }
    };
    if let (true, Next::Run(leg)) = (args.asked.show_plan, compare.next()) {
        show::write(&legs.shown(leg)?);
        return Ok(Exit::Ok);
    }
    show::tell(&format!("comparing A {} with B {}, seed {seed}", legs.names[0], legs.names[1]));
    loop {
        let leg = match compare.next() {
            Next::Run(leg) => leg.clone(),
            Next::Done(outcome) => {
                let outcome = outcome.clone();
                return conclude(&legs, args, &compare, &outcome);
            }
        };
        let (number, all) = compare.machine().progress();
        let result = legs.run(&leg, compare.machine())?;
        if let Some(signal) = signals::first() {
            let pairs = leg.pair.saturating_sub(1);
            show::tell(&format!(
                "ended by hand in leg {number} of {all}, after {pairs} pairs: nothing is concluded"
            ));
            return Ok(Exit::of_signal(signal));
        }
        compare.take(result);
        file::keep(args, &legs, &compare, None)?;
    }
}

fn settings(args: &CompareArgs, seed: u64) -> Settings {
    let asked = &args.asked;
    let usual = Settings::new(seed);
    let quick = Settings { pairs: 8, lengths: Lengths::QUICK, ..usual.clone() };
    let usual = if asked.quick { quick } else { usual };
    Settings {
        pairs: asked.pairs.unwrap_or(usual.pairs),
        users: asked.users,
        fail_if_slower: asked.fail_if_slower,
        require_within: asked.require_within,
        until_sure: asked.until.is_some(),
        control: asked.control,
        forecast_only: asked.forecast,
        ..usual
    }
}

/// Says what may be concluded, and writes it where it is wanted.
fn conclude(
    legs: &Legs<'_>,
    args: &CompareArgs,
    compare: &Recorded<Compare>,
    outcome: &Outcome,
) -> Result<Exit, Problem> {
    if !file::places(args).is_stdout() {
        show::page(&file::told(legs, outcome));
    }
    show::step_summary(|| report::summary::fenced(&outcome.text()));
    file::keep(args, legs, compare, Some(outcome))?;
    if args.asked.for_bisect {
        return Ok(Exit::Code(outcome.step().code()));
    }
    Ok(match outcome.end() {
        End::Kept => Exit::Ok,
        End::NoResult => Exit::Impossible,
        End::Violated => Exit::Wrong,
    })
}
