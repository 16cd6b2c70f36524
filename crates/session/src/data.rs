//! Checks of what a plan's data files hold against what the plan takes of them.

use crate::problem::Problem;
use plan::data::{Meaning, Names, PlanValue, Table, Tables};
use plan::template::TemplatePiece;
use plan::{Load, MessageStep, RequestStep, Step};
use std::collections::HashSet;

/// Each column that a plan names exists, and so do its time zones.
///
/// # Errors
/// The column or time zone that is missing, with what there is.
pub fn check(load: &Load, tables: &Tables) -> Result<(), Problem> {
    let mut steps = load.phases.iter().flat_map(|phase| phase.sends());
    steps.try_for_each(|step| {
        if let Step::Requests(step) = step {
            check_requests(step, load, tables)
        } else if let Step::Messages(step) = step {
            check_messages(step, tables)
        } else {
            Ok(())
        }
    })
}

fn check_messages(step: &MessageStep, tables: &Tables) -> Result<(), Problem> {
    let meanings = step.messages.iter().flat_map(|message| step.placeholders(message).unwrap_or_default());
    meanings.into_iter().try_for_each(|meaning| match meaning {
        Meaning::Value(value) => check_value(&value, tables),
        Meaning::Extracted(_) => Ok(()),
    })
}

/// The column of a value exists, and so do its zone and form of a time.
fn check_value(value: &PlanValue, tables: &Tables) -> Result<(), Problem> {
    let PlanValue { name, source, column, .. } = value;
    if let Some(why) = load::messages::violation(source) {
        return Err(Problem::Usage(format!("data {name}: {why}")));
    }
    match source.file().and_then(|file| Some((file, tables.get(file)?))) {
        Some((file, table)) if table.column(column.as_deref()).is_none() => {
            Err(no_column(&format!("{name}.{}", column.as_deref().unwrap_or_default()), file, table))
        }
        _ => Ok(()),
    }
}

fn no_column(name: &str, file: &str, table: &Table) -> Problem {
    let columns = table.columns().join(", ");
    Problem::Usage(format!("{{{{{name}}}}}: {file} has no such column; its first row has {columns}"))
}

fn check_requests(step: &RequestStep, load: &Load, tables: &Tables) -> Result<(), Problem> {
    if !step.templates {
        return Ok(());
    }
    let fields = load.protocol.http().map_or(&[][..], |http| &http.fields);
    let mut seen = HashSet::new();
    let extracted = step.extracted();
    let names = Names { data: &step.data, extracted: &extracted };
    for request in step.requests.iter() {
        let pieces = RequestStep::placeholders(request, fields.iter()).unwrap_or_default();
        for piece in pieces {
            let TemplatePiece::Value { name, .. } = piece else { continue };
            if seen.insert(name.clone())
                && let Ok(Meaning::Value(value)) = names.meaning(&name)
            {
                check_value(&value, tables)?;
            }
        }
    }
    Ok(())
}
