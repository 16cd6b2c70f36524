//! `wringer completions SHELL`, and the manual pages of packages.

use crate::output;
use crate::problem::{Exit, Problem};
use clap_complete::Shell;
use cli::Around;
use std::path::Path;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Exit {
    output::write_bytes(&cli::completions(shell, &tools::lines()));
    Exit::Ok
}

/// Writes a manual page for each command, the old tools' included, into a folder.
///
/// # Errors
/// A file that cannot be written.
pub fn pages(dir: &Path) -> Result<Exit, Problem> {
    let cannot = |error| Problem::impossible(format!("no manual pages in {}: {error}", dir.display()));
    let lines = tools::lines();
    let exits = report::exits::table();
    let around = Around { tools: &lines, exits: &exits };
    let usages: Vec<_> = tools::ALL.iter().map(|tool| (tool.name, (tool.usage)())).collect();
    for page in cli::pages(&usages, &around).map_err(cannot)? {
        std::fs::write(dir.join(page.file), page.text).map_err(cannot)?;
    }
    Ok(Exit::Ok)
}
