//! `wringer stress`: scenarios beside a bystander. What presses, and what follows from what was seen, is `decide`'s; here the target is started, both are run
//! side by side, and the target is watched.

mod action;
mod bystander;
mod gauge;
mod place;
mod trial;
mod watch;

use super::decided::DecisionFiles;
use super::findings;
use super::rig::refuse_unknown;
use super::show;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::StressArgs;
use decide::stress::{
    Report, Scenario, StressFinding, StressOptions, StressState, catalogue, catalogue_text,
};
use decide::words;
use place::Place;

/// Runs the command.
pub fn run(args: &StressArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    refuse_unknown(&args.started.rig)?;
    let wanted = wanted(args)?;
    if args.scenarios.list {
        show::page(&catalogue_text());
        return Ok(Exit::Ok);
    }
    if args.scenarios.forecast {
        show::page(&forecast(args, wanted.len()));
        return Ok(Exit::Ok);
    }
    let kept: Option<Report> =
        args.resume.as_deref().map(|file| findings::read("--resume", file)).transpose()?;
    let places = places(args);
    places.can_keep()?;
    let kept_seed = || kept.as_ref().map(|kept| kept.asked.seed);
    let seed = args.seed.or_else(kept_seed).unwrap_or_else(arguments::seed_from_clock);
    let mut place = Place::new(args, seed)?;
    let mut report = begun(&mut place, kept)?;
    show::tell(&format!(
        "stressing {} with {}, seed {seed}; it carries {} over kept connections and {} with one for each request",
        place.title,
        words::count(wanted.len(), "scenario"),
        words::rate(report.ground.capacity),
        words::rate(report.ground.connections),
    ));
    for (number, scenario) in (1..).zip(&wanted) {
        if report.has(scenario.name) {
            continue;
        }
        let finding = finding(&place, scenario, &report)?;
        if signals::first().is_some() {
            report.ended_early = true;
            break;
        }
        show::tell(&finding.line(number, wanted.len()));
        report.findings.push(finding);
        findings::keep(&places, &report, None)?;
    }
    findings::conclude(&places, &report)
}

/// The places of the files: JSON where it is wanted or where they go on from, and the page.
fn places(args: &StressArgs) -> DecisionFiles<'_> {
    let json = args.json.as_deref().or(args.resume.as_deref());
    DecisionFiles { what: "the findings", json, html: args.html.as_deref() }
}

/// A report without findings, or with those that were there when it was ended. What the target carries is not measured again then: all scenarios are fitted to the
/// same.
fn begun(place: &mut Place<'_>, kept: Option<Report>) -> Result<Report, Problem> {
    let scenarios = &place.args.scenarios;
    let asked = StressOptions {
        target: place.typed(),
        seed: place.seed,
        press_s: scenarios.press.as_secs_f64(),
        back_s: scenarios.back.as_secs_f64(),
        capacity: scenarios.capacity,
        cache_bytes: place.cache_bytes(),
        is_secure: place.args.is_secure(),
        is_owned: place.is_ours() || scenarios.i_own_this,
    };
    if let Some((kept, file)) = kept.zip(place.args.resume.as_deref()) {
        findings::refuse_other(file, &kept.asked, &asked)?;
        place.title = kept.target.clone();
        // With a given capacity nothing was started before the first scenario, and no version is in the title.
        place.is_known = asked.capacity.is_none();
        show::tell(&format!("going on after {}", words::count(kept.findings.len(), "scenario")));
        return Ok(Report { ended_early: false, ..kept });
    }
    let ground = gauge::ground(place)?;
    let target = place.title.clone();
    let assumed = asked.capacity.is_some();
    Ok(Report { target, asked, ground, assumed, ended_early: false, findings: Vec::new() })
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
fn finding(
    place: &Place<'_>,
    scenario: &'static Scenario,
    report: &Report,
) -> Result<StressFinding, Problem> {
    if let Some(why) = (scenario.lacks)(&report.ground) {
        return Ok(trial::not_run(scenario, why));
    }
    let mut finding = trial::run(place, scenario, &report.ground)?;
    let is_suspect = !matches!(finding.verdict.state, StressState::Pass | StressState::NotRun);
    if is_suspect && place.is_ours() && signals::first().is_none() {
        show::tell(&format!("{}: {}, again", scenario.name, finding.verdict.state.text()));
        let again = trial::run(place, scenario, &report.ground)?;
        finding.files.extend(again.files);
        finding.again = Some(again.verdict);
    }
    Ok(finding)
}
