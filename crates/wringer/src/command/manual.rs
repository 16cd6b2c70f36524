//! `wringer completions SHELL`, and the manual pages of packages.

use crate::problem::{Exit, Problem};
use clap_complete::Shell;
use doors::native;
use std::io::Write;
use std::path::Path;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result<Exit, Problem> {
    let mut out = std::io::stdout().lock();
    out.write_all(&native::completions(shell))
        .and_then(|()| out.flush())
        .map_err(|error| Problem::impossible(format!("the completions cannot be printed: {error}")))?;
    Ok(Exit::Fine)
}

/// Writes the manual pages into a folder.
pub fn pages(dir: &Path) -> Result<Exit, Problem> {
    let cannot = |error| Problem::impossible(format!("no manual pages in {}: {error}", dir.display()));
    for page in native::pages().map_err(cannot)? {
        std::fs::write(dir.join(page.file), page.text).map_err(cannot)?;
    }
    Ok(Exit::Fine)
}
