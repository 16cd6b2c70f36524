//! Results of a run that are files, as they are named in messages, and its page.

use crate::output;
use crate::problem::Problem;
use session::Finished;
use std::path::Path;

/// The result as JSON.
pub const RESULT: &str = "the result";
/// The result as a page.
pub const PAGE: &str = "the page";

/// Writes the page with the run in it.
///
/// # Errors
/// A file that could not be written.
pub fn page(file: &Path, finished: &Finished, text: &str) -> Result<(), Problem> {
    let gathered = finished.gathered().expect("records are gathered wherever a page was asked for");
    let page = report::page::report(&gathered, text)
        .map_err(|error| Problem::impossible(format!("the page cannot be made: {error}")))?;
    output::keep(PAGE, file, page.as_bytes())
}
