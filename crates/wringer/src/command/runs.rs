//! `wringer runs`: the history of what was kept.

use super::show;
use super::trend;
use crate::problem::{Exit, Problem};
use crate::runs::{self, PruneLimits, Query, Spare, Summary};
use cli::{PruneArgs, RunsArgs, RunsCommand};
use measure::stream::Command;
use measure::{RunEvent, RunState};
use plan::Plan;
use plan::units;
use report::show::{ShowTable, bound, percent, rate};
use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::Path;

/// Runs the command.
pub fn run(args: &RunsArgs) -> Result<Exit, Problem> {
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    match args.command.as_ref().unwrap_or(&RunsCommand::List { words: Vec::new() }) {
        RunsCommand::List { words } | RunsCommand::Search { words } => list(&folder, words),
        RunsCommand::Trend { words, json } => trend::run(&folder, words, json.as_deref()),
        RunsCommand::Show { run } => show_one(&folder, run),
        RunsCommand::Label { run, labels } => label(&folder, run, labels),
        RunsCommand::Prune(args) => prune(&folder, args),
        RunsCommand::Repeat { run, plan } => repeat(&folder, run, *plan),
    }
    .map(|()| Exit::Ok)
}

/// A line for each run that all of the words hold of, the newest first.
fn list(folder: &Path, words: &[String]) -> Result<(), Problem> {
    let query = Query::parse(words.iter().map(String::as_str))?;
    let mut table = ShowTable::new("llllrrrrrll");
    table.row([
        "run", "began", "command", "target", "took", "rate", "p50", "p99", "failed", "verdict", "labels",
    ]);
    let all = runs::summaries(folder);
    let found: Vec<&Summary> = all.iter().filter(|run| query.finds(run)).collect();
    if found.is_empty() {
        show::notice(&format!("no such run is kept in {}", folder.display()));
        return Ok(());
    }
    found.into_iter().for_each(|run| table.row(cells(run)));
    // On a terminal each run has one line; whatever else reads it gets the whole.
    let size = std::io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok());
    let width = size.flatten().map_or(usize::MAX, |size| usize::from(size.ws_col));
    table.lines().iter().for_each(|line| show::line(&fitted(line, width)));
    Ok(())
}

/// A line that is no wider than a terminal; a width of 0 is none.
fn fitted(line: &str, width: usize) -> Cow<'_, str> {
    if width == 0 || line.chars().count() <= width {
        return line.into();
    }
    line.chars().take(width - 1).chain(['…']).collect()
}

fn cells(run: &Summary) -> [String; 11] {
    let [short, began, door] = [run.short().to_owned(), run.began(), run.door.clone()];
    let labels = run.labels().collect::<Vec<_>>().join(" ");
    let dash = || "-".to_owned();
    let target = run.target.clone().unwrap_or_else(dash);
    let Some(end) = &run.end else {
        let verdict = run.verdict().to_string();
        return [short, began, door, target, dash(), dash(), dash(), dash(), dash(), verdict, labels];
    };
    let figures = &end.figures;
    let percentile = |of| end.bound(of).map_or_else(dash, bound);
    [
        short,
        began,
        door,
        target,
        report::show::duration(end.took()),
        rate(figures.requests_per_s),
        percentile(|figures| figures.p50_us),
        percentile(|figures| figures.p99_us),
        percent(figures.failed_share),
        end.verdict.to_string(),
        labels,
    ]
}

/// Shows what is known of a run without its figures: where it lies, what it was, how it ended.
fn show_one(folder: &Path, run: &str) -> Result<(), Problem> {
    let run = the_run(folder, run)?;
    let ended = run.end.as_ref().map_or_else(
        || if run.goes_on() { "it goes on" } else { "it was cut off" }.to_owned(),
        |end| {
            let word = if end.interrupted { "interrupted" } else { "ended" };
            let took = report::show::duration(end.took());
            format!("{word} after {took}, exit code {}, {}", end.exit, end.verdict)
        },
    );
    let labels = run.labels().collect::<Vec<_>>().join(" ");
    for (name, value) in [
        ("run", run.id.as_str()),
        ("file", &format!("{} ({})", run.file.display(), units::show_size(run.bytes))),
        ("began", &run.began()),
        ("end", &ended),
        ("target", run.target.as_deref().unwrap_or("")),
        ("host", &run.host),
        ("commit", run.commit.as_deref().unwrap_or("")),
        ("labels", &labels),
        ("command", &run.command),
    ] {
        if !value.is_empty() {
            show::line(&format!("{name:<8} {value}"));
        }
    }
    Ok(())
}

fn the_run(folder: &Path, run: &str) -> Result<Summary, Problem> {
    let file = runs::find(run, folder)?;
    // Says why, where it is none.
    runs::events(&runs::bytes(&file)?, &file).map(drop)?;
    runs::summary(&file)
        .ok_or_else(|| Problem::Usage(format!("{} has lost its first record", file.display())))
}

fn label(folder: &Path, run: &str, labels: &[(String, String)]) -> Result<(), Problem> {
    let file = runs::find(run, folder)?;
    labels.iter().try_for_each(|(name, value)| runs::label(&file, name, value))
}

/// Removes the oldest runs beyond the limits; those that bear the label `keep` stay.
fn prune(folder: &Path, args: &PruneArgs) -> Result<(), Problem> {
    let usual = PruneLimits::default();
    let limits = PruneLimits {
        runs: args.keep.unwrap_or(usual.runs),
        bytes: args.size.unwrap_or(usual.bytes),
        age: args.age,
    };
    let pruned = runs::prune(folder, limits, Spare::Kept, args.dry_run)?;
    let would = if args.dry_run { "would be " } else { "" };
    let size = units::show_size(pruned.bytes);
    show::line(&format!("{} runs {would}removed ({size})", pruned.runs));
    if pruned.spared > 0 {
        show::line(&format!(
            "{} more are beyond the limits and stay: they have the label keep, go on, or cannot be read",
            pruned.spared
        ));
    }
    Ok(())
}

/// The command that repeats a run, or its plan.
fn repeat(folder: &Path, run: &str, plan: bool) -> Result<(), Problem> {
    let file = runs::find(run, folder)?;
    let mut state = RunState::default();
    let mut changes = Vec::new();
    runs::events(&runs::bytes(&file)?, &file)?.for_each(|event| {
        state.apply(&event);
        changes.extend(change(&event));
    });
    match (plan, changes.is_empty()) {
        (true, true) => show::write(&state.head().plan),
        (true, false) => show::write(&changed_plan(&state.head().plan, &changes)?),
        (false, is_same) => {
            show::line(&state.head().command);
            if !is_same {
                show::notice(
                    "note: its rate was changed while it went on, which this command does not repeat: see --plan",
                );
            }
        }
    }
    Ok(())
}

/// The change of a rate: the phase, since when in seconds, and requests per second.
fn change(event: &RunEvent) -> Option<(u32, f64, f64)> {
    let RunEvent::Control(control) = event else { return None };
    match control.command.as_ref()? {
        Command::Rate { per_second, phase, since } => Some((*phase, since.as_secs_f64(), *per_second)),
        _ => None,
    }
}

/// The plan with the changes as stages.
fn changed_plan(text: &str, changes: &[(u32, f64, f64)]) -> Result<String, Problem> {
    let mut plan = Plan::from_text(text)
        .map_err(|error| Problem::Usage(format!("the run's plan cannot be read: {error}")))?;
    let phases = plan.load.iter_mut().flat_map(|load| &mut load.phases);
    for (nth, phase) in phases.enumerate() {
        let of = changes.iter().filter(|(phase, ..)| *phase as usize == nth);
        let of: Vec<(f64, f64)> = of.map(|(_, at, rate)| (*at, *rate)).collect();
        if !of.is_empty() {
            phase.pace = phase.pace.with_changes(&of).unwrap_or_else(|| phase.pace.clone());
        }
    }
    Ok(plan.to_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_the_terminal_does() {
        assert_eq!(fitted("label=größe", 11), "label=größe");
        assert_eq!(fitted("label=größer", 11), "label=größ…");
        assert_eq!(fitted("label=größer", 0), "label=größer");
    }
}
