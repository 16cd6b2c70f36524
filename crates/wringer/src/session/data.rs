//! The files that a plan takes values from, read before the run.

use crate::problem::Problem;
use plan::data::{Meaning, Source, Table, Tables, meaning};
use plan::template::Piece;
use plan::{Load, Protocol, RequestStep, Step};
use std::collections::HashSet;
use std::sync::Arc;

/// Reads them; a file whose name ends in `.csv` has columns, any other has lines.
pub fn tables(load: &Load) -> Result<Tables, Problem> {
    let mut tables = Tables::new();
    let steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
    for step in steps {
        let Step::Requests(step) = step else { continue };
        for data in &step.data {
            if let Source::File { file, .. } = &data.source
                && !tables.contains_key(file)
            {
                tables.insert(file.clone(), Arc::new(read(file)?));
            }
        }
        check_columns(step, load, &tables)?;
    }
    Ok(tables)
}

fn read(file: &str) -> Result<Table, Problem> {
    let bytes = std::fs::read(file).map_err(|error| {
        Problem::impossible(format!("the data file {file} cannot be read: {error}; check --data-file"))
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Problem::impossible(format!("the data file {file} is not UTF-8 text; convert it first"))
    })?;
    let is_csv = file.to_ascii_lowercase().ends_with(".csv");
    let table = if is_csv { Table::from_csv(&text) } else { Table::from_lines(&text) };
    table.map_err(|why| Problem::impossible(format!("the data file {file}: {why}")))
}

/// Each column that a placeholder names exists.
fn check_columns(step: &RequestStep, load: &Load, tables: &Tables) -> Result<(), Problem> {
    if !step.templates || step.data.is_empty() {
        return Ok(());
    }
    let Protocol::Http1(http) = &load.protocol;
    let mut seen = HashSet::new();
    for request in &step.requests {
        let pieces = RequestStep::placeholders(request, http.fields.iter()).unwrap_or_default();
        for piece in pieces {
            let Piece::Value { name, .. } = piece else { continue };
            if seen.insert(name.clone())
                && let Ok(Meaning { source: Source::File { file, .. }, column, .. }) =
                    meaning(&name, &step.data)
                && let Some(table) = tables.get(&file)
                && table.column(column.as_deref()).is_none()
            {
                let columns = table.columns().join(", ");
                return Err(Problem::Usage(format!(
                    "{{{{{name}}}}}: {file} has no such column; its first row has {columns}"
                )));
            }
        }
    }
    Ok(())
}
