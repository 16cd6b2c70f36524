//! `wringer wrk` and `wringer wrk2`: the old tools' options, streams and exit codes over a session.

use super::show;
use crate::problem::{Exit, Problem};
use crate::session::{self, Surroundings, View, scripts};
use doors::wrk::{Command, Run, Shown, Tool, parse};
use measure::{Event, Row};
use plan::Step;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How often the threads' rates are taken, as in wrk.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long finding out whether anybody listens may take, for each address.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs wrk; `args` are those after its name.
pub fn run_wrk(args: &[OsString]) -> Result<Exit, Problem> {
    Ok(run(Tool::Wrk, args))
}

/// Runs wrk2; `args` are those after its name.
pub fn run_wrk2(args: &[OsString]) -> Result<Exit, Problem> {
    Ok(run(Tool::Wrk2, args))
}

/// Prints what `wrk --help` prints, as the help of a native command: it is no error.
pub fn help_wrk() -> Result<Exit, Problem> {
    show::write(&doors::wrk::help(Tool::Wrk));
    Ok(Exit::Fine)
}

/// Prints what `wrk2 --help` prints, as the help of a native command: it is no error.
pub fn help_wrk2() -> Result<Exit, Problem> {
    show::write(&doors::wrk::help(Tool::Wrk2));
    Ok(Exit::Fine)
}

fn run(tool: Tool, args: &[OsString]) -> Exit {
    let run = match parse(tool, args, super::seed_from_clock(), &|file: &Path| std::fs::read(file)) {
        Command::Show(Shown { complaint, text }) => {
            show::write(&text);
            if !complaint.is_empty() {
                show::notice(&complaint);
            }
            return Exit::Code(ExitCode::from(1));
        }
        Command::Run(run) => run,
    };
    if run.show_plan {
        show::write(&run.plan.to_text());
        return Exit::Fine;
    }
    match test(tool, &run) {
        Ok(exit) => exit,
        Err(problem) => {
            show::notice(&problem.to_string());
            Exit::Code(ExitCode::from(1))
        }
    }
}

fn test(tool: Tool, run: &Run) -> Result<Exit, Problem> {
    let name = tool.name();
    show::can_keep_for_door(run.json.as_deref())?;
    run.view.version.iter().for_each(|version| show::write(version));
    run.notices.iter().for_each(|notice| show::notice(&format!("{name}: {notice}")));
    if !has_script(run) {
        // A script does it in its own way.
        reach(run)?;
    }
    let around = Surroundings { interval: INTERVAL, ..Surroundings::default() };
    let ready = session::prepare(&run.plan, &around, false)?;
    let view = &run.view;
    show::write(&report::wrk::banner(&view.url, view.threads, view.connections, view.duration));
    let mut finished = ready.run(&[], &mut Nothing)?;
    let trouble = finished.scripts.trouble();
    trouble.iter().for_each(|why| show::notice(&format!("{name}: {why}")));
    let options = report::wrk::Options {
        wrk2: tool == Tool::Wrk2,
        latency: view.latency,
        uncorrected: view.uncorrected,
    };
    show::write(&report::wrk::report(&finished.result, options));
    report::wrk::failures(&finished.result).iter().for_each(|line| show::notice(&format!("{name}: {line}")));
    finished.result.notes.iter().for_each(|note| show::notice(&format!("{name}: {note}")));
    show::keep_door_json(run.json.as_deref(), &finished, &run.plan, Some(&run.view.url), None)?;
    finished.scripts.done(&finished.result)?;
    Ok(if trouble.is_some() { Exit::Impossible } else { Exit::Fine })
}

fn has_script(run: &Run) -> bool {
    let phases = run.plan.load.iter().flat_map(|load| &load.phases);
    phases.flat_map(|phase| phase.scenario.sends()).any(|step| matches!(step, Step::Script(_)))
}

/// Looks up the host and finds out whether anybody listens there, in the old tools' words.
fn reach(run: &Run) -> Result<(), Problem> {
    let (host, service) = (&run.host, &run.service);
    let unresolved = |why| Problem::impossible(format!("unable to resolve {host}:{service} {why}"));
    let mut reason = "no address".to_owned();
    for address in scripts::lookup(host, service).map_err(unresolved)? {
        match scripts::connect(address, PATIENCE) {
            Ok(()) => return Ok(()),
            Err(why) => reason = why,
        }
    }
    Err(Problem::impossible(format!("unable to connect to {host}:{service} {reason}")))
}

/// Nothing is shown while it runs.
struct Nothing;

impl View for Nothing {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, _event: Event) {}
}
