//! This process and its terminal: what it prints and where results go, its signals, its command line, the view of a run that goes
//! on, and how it ends. Commands and old tools speak to people through it, and nobody below them does.

pub mod arguments;
pub mod ending;
pub mod keep;
pub mod limits;
pub mod output;
pub mod problem;
pub mod signals;
pub mod tui;

pub use problem::{Exit, Problem};

use session::SessionOptions;

/// The options of a session in this process: its signals end it, and its command line loses its secrets.
///
/// # Errors
/// The system refuses to tell of signals.
pub fn session_options(options: SessionOptions) -> Result<SessionOptions, Problem> {
    output::runs();
    let limits = limits::held();
    Ok(SessionOptions {
        stop: signals::interrupted()?,
        on_secrets: Some(arguments::hide),
        guard: limits.map(|limits| limits.refuse),
        confined: limits.is_some_and(|limits| (limits.confined)()),
        ..options
    })
}
