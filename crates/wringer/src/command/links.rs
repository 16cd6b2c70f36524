//! `wringer links DIR`: links named after the tools that wringer stands in for.

use crate::problem::{Exit, Problem};
use std::os::unix::fs::symlink;
use std::path::Path;

/// Makes a link for each door; what is there already stays.
pub fn make(dir: &Path) -> Result<Exit, Problem> {
    let program = std::env::current_exe().map_err(|error| Problem::impossible(error.to_string()))?;
    for door in super::DOORS {
        let link = dir.join(door.name);
        symlink(&program, &link)
            .map_err(|error| Problem::impossible(format!("{} cannot be made: {error}", link.display())))?;
        super::show::line(&format!("{} -> {}", link.display(), program.display()));
    }
    Ok(Exit::Ok)
}
