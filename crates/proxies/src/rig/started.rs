//! A server that a command of somebody's own starts: it belongs to a guard, as a rig does, so it ends with whoever started it.

use super::guard::{Guarded, OUTPUT, Order};
use super::last_lines;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// The shell that reads the command.
const SHELL: &str = "/bin/sh";
/// Program text of the shell: the folder of whoever asked, and the command in it.
const IN_FOLDER: &str = "cd \"$0\" && eval \"$1\"";

/// A command that was not started, or a server that has ended.
#[derive(Debug, Error)]
#[error("`{command}` {what}")]
pub struct StartError {
    command: String,
    what: String,
}

/// A server while it runs. When this drops, it and all that it has started are asked to end, and made to.
pub struct Started {
    command: String,
    /// With the file that takes its output; the guard removes it.
    folder: PathBuf,
    guarded: Guarded,
}

impl Started {
    /// Has a shell run a command in the folder that this process is in.
    ///
    /// # Errors
    /// It has several lines, or there is no folder for it, no guard or no shell.
    pub fn start(command: &str) -> Result<Started, StartError> {
        let failed = |what: String| StartError { command: command.to_owned(), what };
        if command.trim().is_empty() || command.contains('\n') {
            return Err(failed("is no line of the shell: put several lines into a script".to_owned()));
        }
        let not_started = |error: std::io::Error| failed(format!("cannot be started: {error}"));
        let here = std::env::current_dir().map_err(not_started)?;
        let folder = tempfile::Builder::new().prefix("wringer-start-").tempdir().map_err(not_started)?;
        let mut guarded = Guarded::new(folder.path()).map_err(not_started)?;
        let folder = folder.keep();
        let words = ["-c", IN_FOLDER, &here.display().to_string(), command].map(str::to_owned);
        let order = Order { user: None, program: PathBuf::from(SHELL), arguments: words.to_vec() };
        let pid = guarded.start(&order).map_err(|why| failed(format!("cannot be started: {why}")))?;
        tracing::debug!(command, pid, "a server was started by a command");
        Ok(Started { command: command.to_owned(), folder, guarded })
    }

    /// # Errors
    /// It has ended; with its last words.
    pub fn check(&self) -> Result<(), StartError> {
        let Some(how) = self.guarded.ended(Duration::ZERO) else { return Ok(()) };
        let said = fs::read_to_string(self.folder.join(OUTPUT)).unwrap_or_else(|error| format!("({error})"));
        let words = last_lines(&said);
        Err(StartError {
            command: self.command.clone(),
            what: format!("ended {how}; its last words:\n{words}"),
        })
    }
}
