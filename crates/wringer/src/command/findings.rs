//! Findings of stress, size, probe and arena: the same lines at the end, the same form as JSON, the same exit codes. What was ended goes on from its file.

use super::decided::DecisionFiles;
use super::show;
use crate::problem::{Exit, Problem};
use crate::signals;
use decide::{Findings, Written};
use serde::de::DeserializeOwned;
use std::path::Path;

/// Writes them where they are wanted.
///
/// # Errors
/// A file that cannot be written.
pub fn keep(places: &DecisionFiles<'_>, report: &impl Findings, exit: Option<Exit>) -> Result<(), Problem> {
    let written = Written::of(report, env!("CARGO_PKG_VERSION"), exit.map(Exit::number));
    places.keep(&written, exit.map(|_| report.text()))
}

/// Reads them from the file that an option names.
///
/// # Errors
/// It cannot be read, or is another form.
pub fn read<F: Findings + DeserializeOwned>(option: &str, file: &Path) -> Result<F, Problem> {
    let failed = |why: String| Problem::Usage(format!("{option} {}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let written: Written<F> = serde_json::from_str(&text)
        .map_err(|error| failed(format!("it is not what --json of this command writes: {error}")))?;
    if written.schema != F::SCHEMA {
        return Err(failed(format!("it is {}, not {}", written.schema, F::SCHEMA)));
    }
    Ok(written.report)
}

/// Refuses to go on with other options than those that a file was made with.
///
/// # Errors
/// They differ.
pub fn refuse_other<S: PartialEq>(file: &Path, kept: &S, asked: &S) -> Result<(), Problem> {
    if kept == asked {
        return Ok(());
    }
    Err(Problem::Usage(format!(
        "--resume {}: it was made of another target or with other options than these, or another seed: give the same, or start anew",
        file.display()
    )))
}

/// Prints them, writes them, and says how the process ends.
///
/// # Errors
/// A file that cannot be written.
pub fn conclude(places: &DecisionFiles<'_>, report: &impl Findings) -> Result<Exit, Problem> {
    let exit = match (signals::first(), report.code()) {
        (Some(signal), _) => Exit::of_signal(signal),
        (None, 0) => Exit::Ok,
        (None, 3) => Exit::Wrong,
        (None, _) => Exit::Impossible,
    };
    if !places.is_stdout() {
        show::page(&report.text());
    }
    keep(places, report, Some(exit))?;
    Ok(exit)
}
