//! `wringer stress`: scenarios beside a bystander. What presses, and what follows from what was seen, is `decide`'s; here the target is started, both are run
//! side by side, and the target is watched.

mod action;
mod bystander;
mod gauge;
mod place;
mod trial;
mod watch;

use super::findings;
use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::StressArgs;
use decide::stress::{Finding, Report, Scenario, State, catalogue, catalogue_text};
use decide::words;
use place::Place;

/// Runs the command.
pub fn run(args: &StressArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    let wanted = wanted(args)?;
    if args.scenarios.list {
        show::write(&catalogue_text());
        return Ok(Exit::Ok);
    }
    if args.scenarios.forecast {
        show::write(&forecast(args, wanted.len()));
        return Ok(Exit::Ok);
    }
    if let Some(file) = &args.json {
        output::can_keep("the findings", file)?;
    }
    let seed = args.seed.unwrap_or_else(arguments::seed_from_clock);
    let mut place = Place::new(args, seed)?;
    let ground = gauge::ground(&mut place)?;
    show::notice(&format!(
        "stressing {} with {}, seed {seed}; it carries {} over kept connections and {} with one for each request",
        place.title,
        words::count(wanted.len(), "scenario"),
        words::rate(ground.capacity),
        words::rate(ground.connections),
    ));
    let assumed = args.scenarios.capacity.is_some();
    let target = place.title.clone();
    let mut report = Report { target, ground, assumed, ended_early: false, findings: Vec::new() };
    for (number, scenario) in (1..).zip(&wanted) {
        let finding = finding(&place, scenario, &report)?;
        if signals::first().is_some() {
            report.ended_early = true;
            break;
        }
        show::notice(&finding.line(number, wanted.len()));
        report.findings.push(finding);
        findings::keep(args.json.as_deref(), &report, None)?;
    }
    findings::conclude(args.json.as_deref(), &report)
}

/// The scenarios that are asked for, in the order of the catalogue.
fn wanted(args: &StressArgs) -> Result<Vec<&'static Scenario>, Problem> {
    let only = &args.scenarios.only;
    if let Some(unknown) = only.iter().find(|name| catalogue::named(name).is_none()) {
        let names: Vec<&str> = catalogue::all().map(|scenario| scenario.name).collect();
        return Err(Problem::Usage(format!(
            "--only: there is no scenario {unknown:?}: the choices are {}",
            names.join(", ")
        )));
    }
    let is_wanted = |scenario: &&Scenario| only.is_empty() || only.iter().any(|name| name == scenario.name);
    Ok(catalogue::all().filter(is_wanted).collect())
}

/// How long it takes, in words.
fn forecast(args: &StressArgs, scenarios: usize) -> String {
    let least = bystander::before_s(args) + args.scenarios.press.as_secs_f64() + bystander::LEAST_BESIDE_S;
    let most = least + args.scenarios.back.as_secs_f64();
    let all = scenarios as f64;
    format!(
        "{}: {} if the target is well again at once, {} at most; what does not pass is run a second time where wringer starts the target\n",
        words::count(scenarios, "scenario"),
        words::time(least * all),
        words::time(2.0 * most * all),
    )
}

/// Runs a scenario, and a second time on a fresh target where it was no pass.
fn finding(place: &Place<'_>, scenario: &'static Scenario, report: &Report) -> Result<Finding, Problem> {
    if let Some(why) = (scenario.lacks)(&report.ground) {
        return Ok(trial::not_run(scenario, why));
    }
    let mut finding = trial::run(place, scenario, &report.ground)?;
    let is_suspect = !matches!(finding.verdict.state, State::Pass | State::NotRun);
    if is_suspect && place.is_ours() && signals::first().is_none() {
        show::notice(&format!("{}: {}, again", scenario.name, finding.verdict.state.text()));
        let again = trial::run(place, scenario, &report.ground)?;
        finding.files.extend(again.files);
        finding.again = Some(again.verdict);
    }
    Ok(finding)
}
