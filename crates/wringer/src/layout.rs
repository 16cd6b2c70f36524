//! A run that was kept, in any layout: for the terminal and for the server. What makes each is `report`'s and `tools`'s.

use crate::problem::Problem;
use crate::runs;
use measure::stream::MeasureEnd;
use measure::{RunEvent, RunResult, RunState};
use plan::Plan;
use report::layouts::{LaidOut, Layout, Shown, Source};
use report::page::Gathered;
use report::{Context, Language};
use std::path::Path;

/// The language of reports, by that of this process.
pub fn language() -> Language {
    language_of(cli::Lang::chosen())
}

/// The language of reports beside that of help.
pub fn language_of(lang: cli::Lang) -> Language {
    match lang {
        cli::Lang::En => Language::English,
        cli::Lang::Zh => Language::Chinese,
    }
}

/// All layouts, in the order of help.
pub fn all() -> impl Iterator<Item = &'static Layout> {
    report::layouts::LAYOUTS.iter().chain(tools::layouts::LAYOUTS)
}

/// The layout of this name.
///
/// # Errors
/// There is none.
pub fn named(name: &str) -> Result<&'static Layout, Problem> {
    all()
        .find(|layout| layout.name == name)
        .ok_or_else(|| Problem::Usage(format!("there is no layout {name}: see wringer report --help")))
}

/// The run of a file in this layout, as it would have been shown when it was over, and what is to be said beside it.
///
/// # Errors
/// The file cannot be read, or is no run file.
pub fn laid_out(layout: &Layout, file: &Path) -> Result<LaidOut, Problem> {
    let bytes = runs::bytes(file)?;
    let (state, records) = match layout.source {
        Source::Result => (runs::state(&bytes, file)?, Vec::new()),
        Source::Records | Source::Requests => {
            let records: Vec<RunEvent> = runs::events(&bytes, file)?.collect();
            let mut state = RunState::default();
            records.iter().for_each(|event| state.apply(event));
            (state, records)
        }
    };
    with_context(&state, file, |context, result| {
        let run = Shown { head: state.head(), result, context, records: &records };
        layout.make(&run).map_err(Problem::impossible)
    })?
}

/// Refuses a layout of single requests where they were not kept. `sampled`: some of them will do.
///
/// # Errors
/// They were not, or only some.
pub fn refuse_unkept(layout: &Layout, file: &Path, sampled: bool) -> Result<(), Problem> {
    if layout.source != Source::Requests {
        return Ok(());
    }
    let bytes = runs::bytes(file)?;
    let kept = runs::events(&bytes, file)?.find_map(|event| match event {
        RunEvent::Exchanges(exchanges) => Some(exchanges.keep),
        _ => None,
    });
    match kept.as_deref() {
        None => Err(Problem::Usage(
            "this run kept no single requests, which this layout is made of: run it with --keep exchanges, or --keep 1/N for a \
             sample"
                .to_owned(),
        )),
        Some(share) if share != "exchanges" && !sampled => Err(Problem::Usage(format!(
            "this run kept {share} of the requests only: --sampled lays out those"
        ))),
        Some(_) => Ok(()),
    }
}

/// The report as text of a run that was gathered from a file.
///
/// # Errors
/// Its plan cannot be read.
pub fn text(gathered: &Gathered, file: &Path) -> Result<String, Problem> {
    with_context(gathered.state(), file, |context, result| report::text::of_page(result, context))
}

/// Has a report made with what it needs beside the result.
fn with_context<T>(
    state: &RunState,
    file: &Path,
    make: impl FnOnce(&Context<'_>, &RunResult) -> T,
) -> Result<T, Problem> {
    let plan = Plan::from_text(&state.head().plan)
        .map_err(|error| Problem::Usage(format!("the plan in {} cannot be read: {error}", file.display())))?;
    let none = MeasureEnd::default();
    let head = state.head();
    let end = state.end().unwrap_or(&none);
    let context = Context {
        plan: &plan,
        command: &head.command,
        version: &head.version,
        target: head.target.as_deref(),
        target_cpu: end.target_cpu_s,
        evidence_file: end.evidence_file.as_deref(),
        exit: state.end().map(|end| end.exit),
        started_unix_s: head.started_unix_s,
        threads: head.threads,
        language: language(),
    };
    let mut result = state.result();
    result.self_check.untold = state.end().is_none();
    Ok(make(&context, &result))
}
