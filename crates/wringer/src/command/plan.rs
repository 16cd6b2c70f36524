//! `wringer run`, `wringer plan show`, `wringer plan check`: plan files.

use super::show::{self, Lines, Ran};
use crate::problem::{Exit, Problem};
use crate::session::{self, Surroundings};
use doors::native::RunArgs;
use plan::Plan;
use std::path::Path;

/// Runs a plan file.
pub fn run(args: &RunArgs) -> Result<Exit, Problem> {
    let mut plan = read(&args.plan)?;
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.io = args.io.unwrap_or(plan.io);
    if args.output.show_plan {
        show::write(&plan.to_text());
        return Ok(Exit::Fine);
    }
    show::can_keep(&args.output)?;
    session::settle(&mut plan)?;
    session::take_keys(&mut plan)?;
    let around = Surroundings {
        join_remote: plan.origin.is_none()
            && plan.load.as_ref().is_some_and(|load| load.protocol.http1().is_some()),
        watch_pids: args.watch.pids.clone(),
        ..Surroundings::default()
    };
    let mut lines = Lines::new(&args.output, &plan, plan.origin.is_some());
    // What the origin sees is told from there.
    let heads = plan.load.as_ref().is_some_and(|load| load.trace.heads);
    let ready = session::prepare(&plan, &around, heads)?;
    show::warn(ready.warnings());
    let mut finished = ready.run(&[], &mut lines)?;
    let trouble = finished.scripts.trouble();
    trouble.iter().for_each(|why| show::notice(&format!("wringer: {why}")));
    let target = plan.load.as_ref().and_then(|load| load.target.clone());
    let exit =
        show::report(&mut finished, &Ran { plan: &plan, target, output: &args.output, seed_option: None })?;
    finished.scripts.done(&finished.result)?;
    Ok(if trouble.is_some() { Exit::Impossible } else { exit })
}

/// Prints a plan as it is understood.
pub fn show(file: &Path) -> Result<Exit, Problem> {
    show::write(&read(file)?.to_text());
    Ok(Exit::Fine)
}

/// Names every mistake of a plan.
pub fn check(file: &Path) -> Result<Exit, Problem> {
    let is_ini = file.extension().is_some_and(|extension| extension == "ini");
    let found = if is_ini { mistakes_of_ini(file)? } else { read(file)?.check() };
    for violation in &found {
        show::notice(&format!("{}: {violation}", file.display()));
    }
    if found.is_empty() {
        show::line(&format!("{}: nothing wrong", file.display()));
    }
    Ok(if found.is_empty() { Exit::Fine } else { Exit::Usage })
}

/// What is wrong with wrktcp's ini file.
fn mistakes_of_ini(file: &Path) -> Result<Vec<String>, Problem> {
    let text = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
    let found = doors::wrktcp::ini::read(&text).err().unwrap_or_default();
    Ok(found.iter().map(ToString::to_string).collect())
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
