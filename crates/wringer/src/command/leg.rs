//! A leg of a decision: a plan that is run without a word, kept as any run, with what came of it.

use super::around;
use super::show;
use crate::problem::Problem;
use measure::Event;
use plan::Plan;
use session::{About, Finished, SessionOptions, View};
use std::path::PathBuf;
use std::time::Duration;

/// Nobody looks on.
struct Quiet;

impl View for Quiet {
    fn row(&mut self, _row: &measure::Row, _phase: &str) {}

    fn event(&mut self, _event: Event) {}
}

/// Runs a plan to its end. `ready`: how long the target is waited for.
///
/// # Errors
/// It cannot begin.
pub fn run(plan: &Plan, about: About, ready: Option<Duration>) -> Result<Finished, Problem> {
    let around = around::options(SessionOptions { ready, ..SessionOptions::default() })?;
    Ok(session::prepare(plan, &around, false)?.about(about).run(None, &mut Quiet)?)
}

/// Tells a run its end, and returns its file, where it is kept whole.
pub fn end(finished: Finished) -> Option<PathBuf> {
    let exit = finished.exit().number();
    finished.end(exit, None, &show::notice).file
}
