//! What a plan names and does not hold, got before the run: files that values are taken from, and keys of AWS.

use crate::problem::Problem;
use plan::data::{Meaning, Source, Table, Tables, meaning};
use plan::template::Piece;
use plan::{AwsKeys, Load, MessageStep, Plan, RequestStep, Step, message};
use std::collections::HashSet;
use std::sync::Arc;

/// Reads them; a file whose name ends in `.csv` has columns, any other has lines.
pub fn tables(load: &Load) -> Result<Tables, Problem> {
    let mut tables = Tables::new();
    let steps = load.phases.iter().flat_map(|phase| &phase.scenario.steps);
    for step in steps {
        match step {
            Step::Requests(step) => {
                for data in &step.data {
                    if let Source::File { file, .. } = &data.source {
                        add(file, &mut tables)?;
                    }
                }
                check_columns(step, load, &tables)?;
            }
            Step::Messages(step) => {
                step.files().try_for_each(|file| add(file, &mut tables))?;
                step.line_files().try_for_each(|file| add_lines(file, &mut tables))?;
                check_messages(step, &tables)?;
            }
            Step::Object(_) | Step::Urls(_) | Step::Script(_) => {}
        }
    }
    Ok(tables)
}

fn add(file: &str, tables: &mut Tables) -> Result<(), Problem> {
    if !tables.contains_key(file) {
        tables.insert(file.to_owned(), Arc::new(read(file)?));
    }
    Ok(())
}

fn add_lines(file: &str, tables: &mut Tables) -> Result<(), Problem> {
    if !tables.contains_key(file) {
        let bytes = bytes(file)?;
        let table = Table::from_all_lines(&bytes)
            .map_err(|why| Problem::impossible(format!("the data file {file}: {why}")))?;
        tables.insert(file.to_owned(), Arc::new(table));
    }
    Ok(())
}

fn bytes(file: &str) -> Result<Vec<u8>, Problem> {
    std::fs::read(file)
        .map_err(|error| Problem::impossible(format!("the data file {file} cannot be read: {error}")))
}

/// Each column that a message names exists, and so do its environment, zones and forms of times.
fn check_messages(step: &MessageStep, tables: &Tables) -> Result<(), Problem> {
    let found = load::messages::violations(step);
    if !found.is_empty() {
        return Err(Problem::Usage(found.join("\nwringer: ")));
    }
    for meaning in step.messages.iter().flat_map(|message| step.placeholders(message).unwrap_or_default()) {
        if let message::Meaning::Value(Meaning { source: Source::File { file, .. }, name, column }, _) =
            meaning
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
    let fields = load.protocol.http1().map_or(&[][..], |http| &http.fields);
    let mut seen = HashSet::new();
    for request in &step.requests {
        let pieces = RequestStep::placeholders(request, fields.iter()).unwrap_or_default();
        for piece in pieces {
            let Piece::Value { name, .. } = piece else { continue };
            if seen.insert(name.clone())
                && let Ok(Meaning { source: Source::File { file, .. }, column, .. }) =
                    meaning(&name, &step.data)
                && let Some(table) = tables.get(&file)
                && table.column(column.as_deref()).is_none()
            {
                return Err(no_column(&name, &file, table));
            }
        }
    }
    Ok(())
}

/// Takes keys for AWS's signature from the environment, where the command line has none.
///
/// # Errors
/// There are none.
pub fn take_keys(plan: &mut Plan) -> Result<(), Problem> {
    let steps =
        plan.load.iter_mut().flat_map(|load| &mut load.phases).flat_map(|phase| &mut phase.scenario.steps);
    for step in steps {
        if let Step::Requests(RequestStep { aws: Some(aws), .. }) = step
            && aws.keys.is_none()
        {
            aws.keys = Some(keys_of_environment()?);
        }
    }
    Ok(())
}

fn keys_of_environment() -> Result<AwsKeys, Problem> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let needed = |name: &str| {
        variable(name).ok_or_else(|| {
            Problem::Usage(format!(
                "AWS signatures need a key: set {name}, or give --aws-key and --aws-secret"
            ))
        })
    };
    Ok(AwsKeys {
        id: needed("AWS_ACCESS_KEY_ID")?,
        secret: needed("AWS_SECRET_ACCESS_KEY")?,
        token: variable("AWS_SESSION_TOKEN"),
    })
}
