//! A run that was kept, in any layout: for the terminal and for the server.

use crate::problem::Problem;
use crate::runs;
use cli::Layout;
use measure::stream::End;
use measure::{Head, KeptExchanges, RunEvent, RunResult, RunState};
use plan::Plan;
use report::metrics::Format;
use report::page::Gathered;
use report::{Context, record_line};
use std::path::Path;
use tools::ab::report::Gnuplot;
use tools::jmeter::report::{jtl, kept};
use tools::kept::Tool;

/// The run of a file in this layout, as it would have been shown when it was over, and what is to be said beside it.
///
/// # Errors
/// The file cannot be read, or is no run file.
pub fn laid_out(layout: Layout, file: &Path) -> Result<(String, Vec<String>), Problem> {
    let bytes = runs::bytes(file)?;
    match layout {
        Layout::Events => {
            Ok((runs::events(&bytes, file)?.map(|event| record_line(&event)).collect(), Vec::new()))
        }
        Layout::Html => {
            let mut gathered = Gathered::default();
            runs::events(&bytes, file)?.for_each(|event| gathered.apply(&event));
            Ok((page(&gathered, file)?, Vec::new()))
        }
        _ if layout == Layout::Hlog || is_of_requests(layout) => {
            of_records(layout, &runs::events(&bytes, file)?.collect::<Vec<_>>(), file)
        }
        _ => of_state(layout, &runs::state(&bytes, file)?, file),
    }
}

/// Layouts made of what is known of a run in the end.
fn of_state(layout: Layout, state: &RunState, file: &Path) -> Result<(String, Vec<String>), Problem> {
    if layout == Layout::AbE {
        return Ok(tools::kept::ab_csv(&state.result()));
    }
    with_context(state, file, |context, result| match old_tool(layout) {
        Some(tool) => {
            let (text, notes) = tools::kept::report(tool, result, context);
            (report::harmless(&text).into_owned(), notes)
        }
        None => (native(layout, result, state.head(), context), Vec::new()),
    })
}

/// It is made of single requests.
fn is_of_requests(layout: Layout) -> bool {
    matches!(layout, Layout::Requests | Layout::Jtl | Layout::JtlXml | Layout::Statistics | Layout::AbG)
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
        _ => None,
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

/// Layouts made of the records themselves.
fn of_records(layout: Layout, events: &[RunEvent], file: &Path) -> Result<(String, Vec<String>), Problem> {
    let mut state = RunState::default();
    events.iter().for_each(|event| state.apply(event));
    let kept: Vec<&KeptExchanges> = exchanges(events).collect();
    let (head, notes) = (state.head(), kept_notes(layout, &kept));
    let jtl = |xml: bool, plan: &Plan| {
        let property = |name: &str| (xml && name == "output_format").then(|| "xml".to_owned());
        kept::results(&jtl::Layout::of(&property), head, plan, exchanges(events))
    };
    let text = match layout {
        Layout::Hlog => report::hlog::text(head, events)
            .map_err(|error| Problem::impossible(format!("the log cannot be made: {error}")))?,
        Layout::Requests => report::csv::requests(head, exchanges(events)),
        Layout::AbG => gnuplot(head, events),
        _ => with_context(&state, file, |context, _| match layout {
            Layout::Statistics => kept::statistics(head, context.plan, exchanges(events)),
            _ => jtl(layout == Layout::JtlXml, context.plan),
        })?,
    };
    Ok((text, notes))
}

/// ab's rows of the requests of measured phases.
fn gnuplot(head: &Head, events: &[RunEvent]) -> String {
    let is_measured =
        |kept: &&KeptExchanges| head.phases.get(kept.phase as usize).is_none_or(|phase| phase.measured);
    let mut rows = Gnuplot::default();
    for kept in exchanges(events).filter(is_measured) {
        kept.iter().for_each(|request| rows.add_kept(&request));
    }
    rows.text(head.started_unix_s, &jiff::tz::TimeZone::system())
}

fn exchanges(events: &[RunEvent]) -> impl Iterator<Item = &KeptExchanges> {
    events.iter().filter_map(|event| match event {
        RunEvent::Exchanges(exchanges) => Some(&**exchanges),
        _ => None,
    })
}

/// Returns the notes on single requests that are not all.
fn kept_notes(layout: Layout, kept: &[&KeptExchanges]) -> Vec<String> {
    let of = kept.first().map(|kept| kept.keep.as_str());
    match (layout, of) {
        (Layout::Hlog, _) => vec!["times of seconds are kept in two digits, 0.8 % wide".to_owned()],
        (_, Some("failures")) => vec!["only requests that were not good were kept".to_owned()],
        (_, Some(share)) if share != "exchanges" => vec![format!("a sample: {share} of all requests")],
        _ => Vec::new(),
    }
}

/// Refuses a layout of single requests where they were not kept. `sampled`: some of them will do.
///
/// # Errors
/// They were not, or only some.
pub fn refuse_unkept(layout: Layout, file: &Path, sampled: bool) -> Result<(), Problem> {
    if !is_of_requests(layout) {
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
        exit: state.end().map(|end| end.exit),
        started_unix_s: head.started_unix_s,
        threads: head.threads,
    };
    let mut result = state.result();
    result.self_check.untold = state.end().is_none();
    Ok(make(&context, &result))
}
