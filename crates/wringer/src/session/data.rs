//! Checks of what a plan's data files hold against what the plan takes of them.

use crate::problem::Problem;
use plan::data::{Meaning, Names, Rows, Source, Table, Tables, Value};
use plan::template::Piece;
use plan::{Load, MessageStep, RequestStep, Step};
use std::collections::HashSet;

/// Each column that a plan names exists, and so do its time zones.
///
/// # Errors
/// What is missing, with what there is.
pub fn check(load: &Load, tables: &Tables) -> Result<(), Problem> {
    let mut steps = load.phases.iter().flat_map(|phase| phase.scenario.sends());
    steps.try_for_each(|step| match step {
        Step::Requests(step) => check_columns(step, load, tables),
        Step::Messages(step) => check_messages(step, tables),
        _ => Ok(()),
    })
}

/// Each column that a message names exists, and so do its zones and forms of times.
fn check_messages(step: &MessageStep, tables: &Tables) -> Result<(), Problem> {
    let found = load::messages::violations(step);
    if !found.is_empty() {
        return Err(Problem::Usage(found.join("\nwringer: ")));
    }
    for meaning in step.messages.iter().flat_map(|message| step.placeholders(message).unwrap_or_default()) {
        if let Meaning::Value(Value { source: Source::File(Rows { file, .. }), name, column, .. }) = meaning
            && let Some(table) = tables.get(&file)
            && table.column(column.as_deref()).is_none()
        {
            return Err(no_column(&format!("{name}.{}", column.unwrap_or_default()), &file, table));
        }
    }
    Ok(())
}

fn no_column(name: &str, file: &str, table: &Table) -> Problem {
    let columns = table.columns().join(", ");
    Problem::Usage(format!("{{{{{name}}}}}: {file} has no such column; its first row has {columns}"))
}

/// Each column that a placeholder names exists.
fn check_columns(step: &RequestStep, load: &Load, tables: &Tables) -> Result<(), Problem> {
    if !step.templates || step.data.is_empty() {
        return Ok(());
    }
    let fields = load.protocol.http1().map_or(&[][..], |http| &http.fields);
    let mut seen = HashSet::new();
    let extracted = step.extracted();
    let names = Names { data: &step.data, extracted: &extracted };
    for request in &step.requests {
        let pieces = RequestStep::placeholders(request, fields.iter()).unwrap_or_default();
        for piece in pieces {
            let Piece::Value { name, .. } = piece else { continue };
            if seen.insert(name.clone())
                && let Ok(Meaning::Value(Value { source: Source::File(Rows { file, .. }), column, .. })) =
                    names.meaning(&name)
                && let Some(table) = tables.get(&file)
                && table.column(column.as_deref()).is_none()
            {
                return Err(no_column(&name, &file, table));
            }
        }
    }
    Ok(())
}
