//! The result of an old tool's command line in our own forms: JSON and the page.

use console::arguments::repeat;
use console::keep::RESULT;
use console::output;
use console::problem::{Exit, Problem};
use plan::Plan;
use report::{Context, Language};
use session::Finished;
use std::path::Path;

/// Facts of a run that its result does not hold.
pub struct KeepWords {
    /// As of [`repeat`].
    pub seed_option: Option<&'static str>,
    /// How its process ends.
    pub exit: Exit,
}

/// The result of an old tool's command line as JSON, where a file was asked for.
///
/// # Errors
/// A file that could not be written.
pub fn json(
    file: Option<&Path>,
    finished: &Finished,
    plan: &Plan,
    target: Option<&str>,
    told: KeepWords,
) -> Result<(), Problem> {
    let Some(file) = file else { return Ok(()) };
    let command = repeat(plan, told.seed_option);
    let context = Context { exit: Some(told.exit.number()), ..context(finished, plan, target, &command) };
    let text = report::json::report(&finished.result, &context);
    output::keep(RESULT, file, text.as_bytes())
}

/// The result of an old tool's command line as a page. `seed_option` is as of [`repeat`].
///
/// # Errors
/// A file that could not be written.
pub fn page(
    file: &Path,
    finished: &Finished,
    plan: &Plan,
    target: Option<&str>,
    seed_option: Option<&'static str>,
) -> Result<(), Problem> {
    let command = repeat(plan, seed_option);
    let text = report::text::report(&finished.result, &context(finished, plan, target, &command));
    console::keep::page(file, finished, &text)
}

fn context<'a>(
    finished: &Finished,
    plan: &'a Plan,
    target: Option<&'a str>,
    command: &'a str,
) -> Context<'a> {
    Context {
        plan,
        command,
        version: env!("CARGO_PKG_VERSION"),
        target,
        target_cpu: None,
        evidence_file: None,
        exit: None,
        started_unix_s: finished.head.started_unix_s,
        threads: finished.head.threads,
        language: Language::English,
    }
}
