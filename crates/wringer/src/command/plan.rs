//! `wringer run`, `wringer plan show`, `wringer plan check`: plan files.

use super::jmx;
use super::show::{self, Lines, Ran};
use crate::problem::{Exit, Problem};
use crate::session::{self, SessionOptions, files};
use doors::native::{JmeterArgs, RunArgs};
use plan::Plan;
use std::path::Path;

/// Runs a plan file.
pub fn run(args: &RunArgs) -> Result<Exit, Problem> {
    let mut plan =
        if jmx::is_jmx(&args.plan) { jmx::runnable(&args.plan, &jmeter(args))? } else { read(&args.plan)? };
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.io = args.io.unwrap_or(plan.io);
    if args.output.show_plan {
        show::write(&plan.to_text());
        return Ok(Exit::Fine);
    }
    show::can_keep(&args.output)?;
    session::settle(&mut plan)?;
    let around = SessionOptions {
        join_remote: plan.origin.is_none()
            && plan.load.as_ref().is_some_and(|load| load.protocol.http1().is_some()),
        watch_pids: args.watch.pids.clone(),
        ..SessionOptions::default()
    };
    let mut lines = Lines::new(&args.output, &plan, plan.origin.is_some());
    // What the origin sees is told from there.
    let heads = plan.load.as_ref().is_some_and(|load| load.trace.heads);
    let ready = session::prepare(&plan, &around, heads)?;
    show::warn(ready.warnings());
    let target = plan.load.as_ref().and_then(|load| load.target.clone());
    let about = show::about("run", &plan, target, (&args.output, &args.keep), None)?;
    let server = show::serve(&args.output, &about)?;
    let mut finished = ready.about(about).run(&[], &mut lines)?;
    let failure = finished.scripts.failure();
    failure.iter().for_each(|why| show::notice(&format!("wringer: {why}")));
    let exit = show::report(&mut finished, &Ran { plan: &plan, output: &args.output, server });
    let done = finished.scripts.done(&finished.result);
    if let Err(problem) = &done {
        show::notice(&format!("wringer: {problem}"));
    }
    Ok(if failure.is_some() || done.is_err() { exit.or_worse(Exit::Impossible) } else { exit })
}

/// What is said of a plan of JMeter's; its random start values follow from the seed, too.
fn jmeter(args: &RunArgs) -> JmeterArgs {
    JmeterArgs { seed: args.seed, ..args.jmeter.clone() }
}

/// Prints a plan as it is understood; that of wrktcp's ini file, too.
pub fn show(file: &Path) -> Result<Exit, Problem> {
    let plan = if is_ini(file) {
        of_ini(file)?.map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(|mistake| in_file(file, mistake)).collect();
            Problem::Usage(lines.join("\nwringer: "))
        })?
    } else {
        read(file)?
    };
    show::write(&plan.to_text());
    Ok(Exit::Fine)
}

/// Names every mistake of a plan.
pub fn check(file: &Path, args: &JmeterArgs) -> Result<Exit, Problem> {
    if jmx::is_jmx(file) {
        return jmx::check(file, args);
    }
    let found = if is_ini(file) { of_ini(file)?.err().unwrap_or_default() } else { read(file)?.check() };
    for violation in &found {
        show::notice(&in_file(file, violation));
    }
    if found.is_empty() {
        show::line(&format!("{}: nothing wrong", file.display()));
    }
    Ok(if found.is_empty() { Exit::Fine } else { Exit::Usage })
}

/// Prints a plan of another tool as a native one.
pub fn convert(file: &Path, args: &JmeterArgs) -> Result<Exit, Problem> {
    if jmx::is_jmx(file) { jmx::convert(file, args) } else { show(file) }
}

fn in_file(file: &Path, mistake: &str) -> String {
    format!("{}: {mistake}", file.display())
}

fn is_ini(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "ini")
}

/// What wrktcp's ini file means, or all its mistakes.
fn of_ini(file: &Path) -> Result<Result<Plan, Vec<String>>, Problem> {
    let text = files::read_ini(file).map_err(|error| unreadable(file, &error))?;
    let plan = doors::wrktcp::plan_of(&text, &files::read_ini);
    Ok(plan.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect()))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Problem {
    Problem::Usage(format!("the plan {} cannot be read: {error}", file.display()))
}

/// Reads a plan file.
pub fn read(file: &Path) -> Result<Plan, Problem> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    Plan::from_text(&text).map_err(|error| Problem::Usage(format!("{name}: {error}")))
}
