//! Where results go: standard output, standard error, and files. The one place that writes them.
//!
//! A result that cannot be written is never lost in silence: a file that fails is a [`Problem`], and standard output remembers
//! its first failure, which [`conclude`] tells in a line and in the exit code. Only where nothing ran, and whoever read has seen enough,
//! as in `wringer --help | head`, it ends quietly.

use crate::problem::{Exit, Problem};
use session::files::{OWNER_ALONE, cannot_keep, create, writable};
use std::borrow::Cow;
use std::fs::Permissions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why standard output could not be written, the first time.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);

/// True if this process has figures of its own to tell, which a closed pipe loses.
static HAS_RUN: AtomicBool = AtomicBool::new(false);

/// A run begins: what standard output does not take from now on is lost.
pub fn runs() {
    HAS_RUN.store(true, Ordering::Relaxed);
}

/// Writes a line.
pub fn line(text: &str) {
    write(&format!("{text}\n"));
}

/// Writes text; control characters of others do no harm.
pub fn write(text: &str) {
    raw(report::harmless(text).as_bytes());
}

/// Writes bytes as they are, unless a terminal would read them.
pub fn write_bytes(bytes: &[u8]) {
    let shown: Cow<'_, [u8]> = if io::stdout().is_terminal() { visible(bytes).into() } else { bytes.into() };
    raw(&shown);
}

fn raw(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    remember(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Remembers why standard output could not be written.
pub fn remember(written: io::Result<()>) {
    if let Err(error) = written {
        FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Bytes of any encoding without those that steer a terminal.
fn visible(bytes: &[u8]) -> Vec<u8> {
    let steers = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t');
    bytes.iter().map(|byte| if steers(*byte) { b'.' } else { *byte }).collect()
}

/// A line on standard error: what people should know and programs need not read.
pub fn notice(text: &str) {
    if let Some(tui) = crate::tui::active().filter(crate::tui::Handle::is_shown) {
        return tui.note(text);
    }
    aside(&format!("{text}\n"));
}

/// Text on standard error.
pub fn aside(text: &str) {
    // Where it cannot be written nobody is left to tell.
    let _ = io::stderr().lock().write_all(report::harmless(text).as_bytes());
}

/// How a process ends that has written all that it writes to standard output: where something of it was lost, or wringer's own code
/// failed, a good end is none.
pub fn settled(exit: Exit) -> Exit {
    let lost = FAILED.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(is_lost);
    // Whatever was asked for: figures of a run that broke off are no success.
    if lost || session::has_faulted() { exit.or_worse(Exit::Impossible) } else { exit }
}

/// True if somebody misses what standard output did not take: whoever has closed a pipe has seen enough of what is no result.
fn is_lost(why: &io::Error) -> bool {
    why.kind() != io::ErrorKind::BrokenPipe || HAS_RUN.load(Ordering::Relaxed)
}

/// How the process ends, once all is written; a standard output that failed is told of.
pub fn conclude(exit: Exit) -> Exit {
    let exit = settled(exit);
    let failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(why) = failed.filter(is_lost) {
        notice(&format!(
            "wringer: standard output cannot be written: {why}; what was to stand there is lost"
        ));
    }
    exit
}

/// Finds out before the run whether a file can be written, without changing anything; `-` is standard output. Pipes and
/// devices are not tried: opening one is an event for whoever reads it.
///
/// # Errors
/// The result that cannot be written, where, and why.
pub fn can_keep(what: &str, file: &Path) -> Result<(), Problem> {
    if is_stdout(file) {
        return Ok(());
    }
    writable(file).map_err(|error| cannot_keep(what, file, &error).into())
}

/// True if a file stands for standard output.
pub fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Writes a result to a file, or to standard output for `-`. A file that is new can be read by its owner alone.
///
/// # Errors
/// The result that could not be written, where, and why.
pub fn keep(what: &str, file: &Path, content: &[u8]) -> Result<(), Problem> {
    if is_stdout(file) {
        raw(content);
        return Ok(());
    }
    create(file)
        .and_then(|mut open| open.write_all(content))
        .map_err(|error| cannot_keep(what, file, &error).into())
}

/// As [`keep`], and a file that is there already is closed to others, too: it holds what others sent and were sent.
///
/// # Errors
/// The result that could not be written, where, and why.
pub fn keep_private(what: &str, file: &Path, content: &[u8]) -> Result<(), Problem> {
    if std::fs::metadata(file).is_ok_and(|about| about.is_file()) {
        // Somebody else's file that may be written stays as open as it is.
        let _ = std::fs::set_permissions(file, Permissions::from_mode(OWNER_ALONE));
    }
    keep(what, file, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_for_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("result");
        keep("the result", &file, b"one").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        keep("the result", &file, b"2").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"2");
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        keep_private("evidence", &file, b"3").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for (file, tried) in [("/dev/full", true), ("/proc/nowhere/x", false), (".", false)] {
            let file = folder.path().join(file);
            assert_eq!(can_keep("the result", &file).is_ok(), tried, "{}", file.display());
            let why = keep("the result", &file, b"x").unwrap_err().to_string();
            assert!(
                why.starts_with(&format!("the result cannot be written to {}: ", file.display())),
                "{why}"
            );
        }
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left behind");
    }

    #[test]
    fn bytes_do_not_steer_a_terminal() {
        assert_eq!(visible(b"a\x1b[2J\xb9\xfa\r\n\t\x7f"), b"a.[2J\xb9\xfa\r\n\t.");
    }
}
