//! `wringer runs`: the history of what was kept.

use super::show;
use crate::problem::{Exit, Problem};
use crate::runs::{self, Summary};
use doors::native::{RunsArgs, RunsCommand};
use report::show::{Table, percent, rate, time};
use std::path::Path;

/// Runs the command.
pub fn run(args: &RunsArgs) -> Result<Exit, Problem> {
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    match args.command.as_ref().unwrap_or(&RunsCommand::List { words: Vec::new() }) {
        RunsCommand::List { words } => list(&folder, words),
        RunsCommand::Label { run, labels } => label(&folder, run, labels),
        RunsCommand::Prune { keep } => prune(&folder, *keep),
    }
    .map(|()| Exit::Fine)
}

/// A line for each run that all of the words are found in, the newest first.
fn list(folder: &Path, words: &[String]) -> Result<(), Problem> {
    let mut table = Table::new("lllrrrrrll");
    table.row(["run", "began", "command", "took", "rate", "p50", "p99", "failed", "verdict", "labels"]);
    let found = runs::summaries(folder).filter(|run| words.iter().all(|word| run.bears(word)));
    let mut any = false;
    for run in found {
        any = true;
        table.row(cells(&run));
    }
    if any {
        table.lines().iter().for_each(|line| show::line(line));
    } else {
        show::notice(&format!("no such run is kept in {}", folder.display()));
    }
    Ok(())
}

fn cells(run: &Summary) -> [String; 10] {
    let head = [run.short().to_owned(), run.began(), run.head.door.clone()];
    let labels = run.head.labels.iter().map(|(name, value)| format!("{name}={value}"));
    let labels = labels.collect::<Vec<_>>().join(" ");
    let [short, began, door] = head;
    let Some(end) = &run.end else {
        let dash = || "-".to_owned();
        return [short, began, door, dash(), dash(), dash(), dash(), dash(), "cut off".to_owned(), labels];
    };
    let figures = &end.figures;
    [
        short,
        began,
        door,
        report::show::duration(end.took),
        rate(figures.requests_per_s),
        time(figures.p50_us),
        time(figures.p99_us),
        percent(figures.failed_share),
        end.verdict.replace('_', " "),
        labels,
    ]
}

fn label(folder: &Path, run: &str, labels: &[(String, String)]) -> Result<(), Problem> {
    let file = runs::find(run, folder)?;
    labels.iter().try_for_each(|(name, value)| runs::label(&file, name, value))
}

/// Removes all runs but the newest so many; those that bear the label `keep` stay.
fn prune(folder: &Path, keep: usize) -> Result<(), Problem> {
    let removed = runs::prune(folder, keep)?;
    show::line(&format!("{removed} runs removed, the newest {keep} and those with the label keep stay"));
    Ok(())
}
