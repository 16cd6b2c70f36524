//! `wringer runs trend`: the history of kept runs, plan by plan. Where a step is, `decide` says.

use super::show;
use crate::output;
use crate::problem::Problem;
use crate::runs::{self, Neutral, Query, Summary};
use decide::trend::{FEWEST, MOST, Point, Trend, trends};
use decide::words;
use serde::Serialize;
use std::path::Path;

/// Labels of legs and trials, which are no history.
const OF_DECISIONS: [&str; 4] = ["compare", "find", "size", "stress"];
/// Word of a verdict whose figures speak of the target.
const VALID: &str = "valid";

/// Runs the command.
pub fn run(folder: &Path, words: &[String], json: Option<&Path>) -> Result<(), Problem> {
    let query = Query::parse(words.iter().map(String::as_str))?;
    if let Some(file) = json {
        output::can_keep("the trends", file)?;
    }
    let mut all = runs::summaries(folder);
    let is_own = |run: &Summary| OF_DECISIONS.iter().all(|label| !run.labels.contains_key(*label));
    all.retain(|run| query.finds(run) && run.end.is_some() && is_own(run));
    let found = all.len();
    all.retain(|run| run.verdict().measurement == VALID);
    let void = found - all.len();
    // The newest come first.
    all.reverse();
    let histories = histories(all);
    let (long, short): (Vec<History>, Vec<History>) =
        histories.into_iter().partition(|history| history.runs.len() >= FEWEST);
    let told: Vec<TrendWords> = long.iter().map(TrendWords::of).collect();
    if told.is_empty() && short.is_empty() && void == 0 {
        show::tell(&format!("no such run is kept in {}", folder.display()));
    }
    if !json.is_some_and(output::is_stdout) {
        told.iter().for_each(|told| show::page(&told.text()));
        show::page(&left_out(&short, void, folder));
    }
    if let Some(file) = json {
        let all = Trends {
            schema: "wringer.trends",
            schema_version: 1,
            version: env!("CARGO_PKG_VERSION"),
            histories: &told,
        };
        let text = serde_json::to_string_pretty(&all).expect("figures and texts are JSON") + "\n";
        output::keep("the trends", file, text.as_bytes())?;
    }
    Ok(())
}

/// Runs of one plan, target and machine, the oldest first.
struct History {
    plan: Neutral,
    runs: Vec<Summary>,
}

fn histories(runs: Vec<Summary>) -> Vec<History> {
    let mut all: Vec<History> = Vec::new();
    for run in runs {
        let Some(plan) = Neutral::of_run(&run) else { continue };
        let known = all.iter_mut().find(|history| {
            let first = &history.runs[0];
            (&first.door, &first.target, &first.host) == (&run.door, &run.target, &run.host)
                && history.plan == plan
        });
        match known {
            Some(history) => history.runs.push(run),
            None => all.push(History { plan, runs: vec![run] }),
        }
    }
    all
}

/// The history of one plan, as it is told.
#[derive(Serialize)]
struct TrendWords {
    target: String,
    host: String,
    command: String,
    runs: usize,
    first: String,
    last: String,
    trends: Vec<Trend>,
}

impl TrendWords {
    fn of(history: &History) -> TrendWords {
        let newest = &history.runs[history.runs.len().saturating_sub(MOST)..];
        let point = |run: &Summary| {
            run.end.as_ref().map(|end| Point {
                run: run.short().to_owned(),
                commit: run.commit.clone(),
                figures: end.figures.clone(),
            })
        };
        let points: Vec<Point> = newest.iter().filter_map(point).collect();
        let last = newest.last().expect("a history has runs");
        TrendWords {
            target: last.target.clone().unwrap_or_else(|| "no target".to_owned()),
            host: last.host.clone(),
            command: last.command.clone(),
            runs: newest.len(),
            first: newest[0].began(),
            last: last.began(),
            trends: trends(&points),
        }
    }

    fn text(&self) -> String {
        let steps: usize = self.trends.iter().map(|trend| trend.steps.len()).sum();
        let steps = if steps == 0 { "no step".to_owned() } else { words::count(steps, "step") };
        let head = format!(
            "{}: {steps} in {} on {}, {} to {}\n{}\n",
            self.target,
            words::count(self.runs, "run"),
            self.host,
            self.first,
            self.last,
            self.command
        );
        let figures: String = self.trends.iter().map(Trend::text).collect();
        format!("{head}{figures}\n")
    }
}

/// Runs that tell no trend, and why.
fn left_out(short: &[History], void: usize, folder: &Path) -> String {
    let mut lines = Vec::new();
    let runs: usize = short.iter().map(|history| history.runs.len()).sum();
    if runs > 0 {
        lines.push(format!(
            "{} of {} with fewer than {FEWEST} each tell no step, whatever they show, in {}",
            words::count(runs, "run"),
            words::count(short.len(), "plan"),
            folder.display()
        ));
    }
    if void > 0 {
        lines.push(format!(
            "{} left out: their figures are not valid ones of their targets",
            words::count(void, "run")
        ));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

#[derive(Serialize)]
struct Trends<'a> {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    histories: &'a [TrendWords],
}
