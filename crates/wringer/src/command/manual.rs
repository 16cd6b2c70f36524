//! `wringer completions SHELL`, and the manual pages of packages.

use super::DOORS;
use crate::output;
use crate::problem::{Exit, Problem};
use clap_complete::Shell;
use doors::native;
use std::path::Path;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Exit {
    output::write_bytes(&native::completions(shell));
    Exit::Ok
}

/// Writes a manual page for each command, the old tools' included, into a folder.
///
/// # Errors
/// A file that cannot be written.
pub fn pages(dir: &Path) -> Result<Exit, Problem> {
    let cannot = |error| Problem::impossible(format!("no manual pages in {}: {error}", dir.display()));
    let usages: Vec<_> = DOORS.iter().map(|door| (door.name, (door.usage)())).collect();
    for page in native::pages(&usages, &report::exits::table()).map_err(cannot)? {
        std::fs::write(dir.join(page.file), page.text).map_err(cannot)?;
    }
    Ok(Exit::Ok)
}
