//! `wringer links DIR`: links named after the tools that wringer stands in for.

use crate::problem::{Exit, Problem};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Makes a link for each old tool. One that is there already and leads to this program stays; anything else of that name is told, and keeps no other
/// link from being made.
///
/// # Errors
/// A link that could not be made, each told in a line.
pub fn make(dir: &Path) -> Result<Exit, Problem> {
    let program = std::env::current_exe().map_err(|error| Problem::impossible(error.to_string()))?;
    let mut exit = Exit::Ok;
    for tool in tools::ALL {
        let link = dir.join(tool.name);
        match make_one(&link, &program) {
            Ok(()) => super::show::line(&format!("{} -> {}", link.display(), program.display())),
            Err(why) => {
                super::show::notice(&format!("wringer: {} cannot be made: {why}", link.display()));
                exit = Exit::Impossible;
            }
        }
    }
    Ok(exit)
}

fn make_one(link: &Path, program: &Path) -> Result<(), String> {
    match symlink(program, link) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match std::fs::read_link(link) {
            Ok(to) if to == program => Ok(()),
            Ok(to) => Err(format!("it is a link to {}; remove it first", to.display())),
            Err(_) => {
                Err("there is a file of that name; remove it first, or choose another folder".to_owned())
            }
        },
        made => made.map_err(|error| error.to_string()),
    }
}
