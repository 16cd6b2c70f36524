//! Findings of stress, probe and arena: the same lines at the end, the same form as JSON, the same exit codes.

use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::signals;
use decide::Findings;
use serde::Serialize;
use std::path::Path;

/// Findings as they are written.
#[derive(Serialize)]
struct Written<'a, F> {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    /// `null`: it is not over.
    exit: Option<u8>,
    text: String,
    #[serde(flatten)]
    report: &'a F,
}

/// Writes them as JSON where that is wanted; to standard output only at the end.
///
/// # Errors
/// A file that cannot be written.
pub fn keep(file: Option<&Path>, report: &impl Findings, exit: Option<Exit>) -> Result<(), Problem> {
    let Some(file) = file.filter(|file| exit.is_some() || !output::is_stdout(file)) else { return Ok(()) };
    let written = Written {
        schema: schema_of(report),
        schema_version: 1,
        version: env!("CARGO_PKG_VERSION"),
        exit: exit.map(Exit::number),
        text: report.headline(),
        report,
    };
    let text = serde_json::to_string_pretty(&written).expect("figures and texts are JSON") + "\n";
    output::keep("the findings", file, text.as_bytes())
}

fn schema_of<F: Findings>(_: &F) -> &'static str {
    F::SCHEMA
}

/// Prints them, writes them, and says how the process ends.
///
/// # Errors
/// A file that cannot be written.
pub fn conclude(file: Option<&Path>, report: &impl Findings) -> Result<Exit, Problem> {
    let exit = match (signals::first(), report.code()) {
        (Some(signal), _) => Exit::of_signal(signal),
        (None, 0) => Exit::Ok,
        (None, 3) => Exit::Wrong,
        (None, _) => Exit::Impossible,
    };
    if !file.is_some_and(output::is_stdout) {
        show::write(&report.text());
    }
    keep(file, report, Some(exit))?;
    Ok(exit)
}
