//! Options that each session of a native command has: those of this process, and the interpreters of program texts; and problems of those
//! who know no console.

use crate::problem::Problem;
use cli::WatchArgs;
use session::SessionOptions;
use std::path::PathBuf;
use tools::jmeter::programs::{Setting, interpreters};

/// The options of a session in this process.
///
/// # Errors
/// The system refuses to tell of signals.
pub fn options(options: SessionOptions) -> Result<SessionOptions, Problem> {
    let interpreters = options.interpreters.or_else(|| Some(interpreters(Setting::default())));
    console::session_options(SessionOptions { interpreters, ..options })
}

/// The options of a session that watches these processes.
pub fn watching(watch: &WatchArgs) -> SessionOptions {
    SessionOptions {
        watch_pids: watch.pids.clone(),
        ignore_exit: watch.ignore_exit,
        ..SessionOptions::default()
    }
}

/// The file of this program; where the system does not tell it, as without `/proc`, the one that it was called by.
///
/// # Errors
/// Nothing tells.
pub fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| {
        let called = std::env::args_os().next().map(PathBuf::from);
        called.filter(|path| path.is_absolute() && path.is_file()).ok_or(error)
    })
}

/// A rig that did not start or went away, or that was asked for what cannot be meant.
pub fn rig(error: proxies::rig::RigError) -> Problem {
    let text = error.to_string();
    if error.is_mistake() { Problem::Usage(text) } else { Problem::Impossible(text) }
}
