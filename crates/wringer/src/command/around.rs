//! Options that each session of this process has: its signals, its command line, the interpreters of program texts.

use crate::problem::Problem;
use crate::programs::{Programs, Setting};
use crate::{arguments, output, signals};
use load::code::Interpreters;
use session::SessionOptions;
use std::sync::Arc;

/// The options of a session in this process.
///
/// # Errors
/// The system refuses to tell of signals.
pub fn options(options: SessionOptions) -> Result<SessionOptions, Problem> {
    output::runs();
    Ok(SessionOptions {
        stop: signals::interrupted()?,
        on_secrets: Some(arguments::hide),
        interpreters: options.interpreters.or_else(|| Some(interpreters(Setting::default()))),
        ..options
    })
}

/// Interpreters of the program texts of a plan with this setting.
pub fn interpreters(setting: Setting) -> Arc<dyn Interpreters> {
    Arc::new(Programs::new(setting))
}
