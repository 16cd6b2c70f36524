//! A run that was kept, in any layout: for the terminal and for the server.

use crate::problem::Problem;
use crate::runs;
use doors::native::Layout;
use measure::stream::End;
use measure::{Head, RunEvent, RunResult, RunState};
use plan::Plan;
use report::Context;
use report::metrics::Format;
use report::old::Tool;
use report::page::Gathered;
use std::path::Path;

/// The run of a file in this layout, as it would have been shown when it was over, and what is to be said beside it.
///
/// # Errors
/// The file cannot be read, or is no run file.
pub fn laid_out(layout: Layout, file: &Path) -> Result<(String, Vec<String>), Problem> {
    let events = runs::events(&runs::bytes(file)?, file)?;
    if layout == Layout::Events {
        return Ok((events.iter().map(line).collect(), Vec::new()));
    }
    let mut gathered = Gathered::default();
    events.iter().for_each(|event| gathered.apply(event));
    if layout == Layout::Html {
        return Ok((page(&gathered, file)?, Vec::new()));
    }
    with_context(gathered.state(), file, |context, result| match old_tool(layout) {
        Some(tool) => {
            let (text, notes) = report::old::report(tool, result, context);
            (report::harmless(&text).into_owned(), notes)
        }
        None => (native(layout, result, gathered.head(), context), Vec::new()),
    })
}

fn old_tool(layout: Layout) -> Option<Tool> {
    match layout {
        Layout::Ab => Some(Tool::Ab),
        Layout::Siege => Some(Tool::Siege),
        Layout::HttpLoad => Some(Tool::HttpLoad),
        Layout::Wrk => Some(Tool::Wrk),
        Layout::Wrk2 => Some(Tool::Wrk2),
        Layout::Wrktcp => Some(Tool::Wrktcp),
        Layout::Jtest => Some(Tool::Jtest),
        Layout::Text | Layout::Json | Layout::Html | Layout::Csv | Layout::Events | Layout::Openmetrics => {
            None
        }
    }
}

fn native(layout: Layout, result: &RunResult, head: &Head, context: &Context<'_>) -> String {
    match layout {
        Layout::Json => report::json::report(result, context),
        Layout::Csv => report::csv::seconds(result),
        Layout::Openmetrics => report::metrics::text(result, head, Format::OpenMetrics),
        _ => format!("\n{}", report::harmless(&report::text::report(result, context))),
    }
}

fn page(gathered: &Gathered, file: &Path) -> Result<String, Problem> {
    let text = text(gathered, file)?;
    report::page::report(gathered, &text)
        .map_err(|error| Problem::impossible(format!("the page cannot be made: {error}")))
}

/// The report as text of a run that was gathered from a file.
///
/// # Errors
/// Its plan cannot be read.
pub fn text(gathered: &Gathered, file: &Path) -> Result<String, Problem> {
    with_context(gathered.state(), file, |context, result| report::text::report(result, context))
}

/// A record as it was written, with its line end.
fn line(event: &RunEvent) -> String {
    // Records have text and numbers only.
    report::harmless_json(serde_json::to_string(event).unwrap_or_default()) + "\n"
}

/// Has a report made with what it needs beside the result.
fn with_context<T>(
    state: &RunState,
    file: &Path,
    make: impl FnOnce(&Context<'_>, &RunResult) -> T,
) -> Result<T, Problem> {
    let plan = Plan::from_text(&state.head().plan)
        .map_err(|error| Problem::Usage(format!("the plan in {} cannot be read: {error}", file.display())))?;
    let none = End::default();
    let (head, end) = (state.head(), state.end().unwrap_or(&none));
    let context = Context {
        plan: &plan,
        command: &head.command,
        version: &head.version,
        target: head.target.as_deref(),
        target_cpu: end.target_cpu_s,
        evidence_file: end.evidence_file.as_deref(),
        started_unix_s: head.started_unix_s,
        threads: head.threads,
    };
    Ok(make(&context, &state.result()))
}
