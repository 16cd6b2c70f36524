//! `wringer report`: a run that was kept, in any layout.

use super::show;
use crate::problem::{Exit, Problem};
use crate::runs;
use doors::native::{Layout, ReportArgs};
use measure::stream::End;
use measure::{Head, RunResult, RunState};
use plan::Plan;
use report::Context;
use report::metrics::Format;
use report::old::Tool;
use std::path::Path;

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Exit, Problem> {
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    let file = runs::find(&args.run, &folder)?;
    if args.layout == Layout::Events {
        return events(&file);
    }
    let state = runs::load(&file)?;
    let (plan, result) = (plan_of(&state, &file)?, state.result());
    let none = End::default();
    let context = context(&state, &plan, &none);
    let text = match old_tool(args.layout) {
        Some(tool) => {
            let (text, notes) = report::old::report(tool, &result, &context);
            notes.iter().for_each(|note| show::notice(&format!("note: {note}")));
            report::harmless(&text).into_owned()
        }
        None => laid_out(args.layout, &result, state.head(), &context),
    };
    show::write_bytes(text.as_bytes());
    Ok(Exit::Fine)
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

/// The run in this layout, as it would have been shown when it was over.
fn laid_out(layout: Layout, result: &RunResult, head: &Head, context: &Context<'_>) -> String {
    match layout {
        Layout::Json => report::json::report(result, context),
        Layout::Html => report::html::page(result, context),
        Layout::Csv => report::csv::seconds(result),
        Layout::Openmetrics => report::metrics::text(result, head, Format::OpenMetrics),
        _ => format!("\n{}", report::harmless(&report::text::report(result, context))),
    }
}

fn plan_of(state: &RunState, file: &Path) -> Result<Plan, Problem> {
    Plan::from_text(&state.head().plan)
        .map_err(|error| Problem::Usage(format!("the plan in {} cannot be read: {error}", file.display())))
}

/// What reports need beside the result. `none`: the end of a run that has none.
fn context<'a>(state: &'a RunState, plan: &'a Plan, none: &'a End) -> Context<'a> {
    let (head, end) = (state.head(), state.end().unwrap_or(none));
    Context {
        plan,
        command: &head.command,
        version: &head.version,
        target: head.target.as_deref(),
        target_cpu: end.target_cpu_s,
        evidence_file: end.evidence_file.as_deref(),
        started_unix_s: head.started_unix_s,
        threads: head.threads,
    }
}

/// The records as they were written, a line each.
fn events(file: &Path) -> Result<Exit, Problem> {
    let bytes = runs::bytes(file)?;
    for event in runs::events(&bytes, file)? {
        // Records have text and numbers only.
        let line = serde_json::to_string(&event).unwrap_or_default();
        show::write_bytes(format!("{}\n", report::harmless_json(line)).as_bytes());
    }
    Ok(Exit::Fine)
}
