//! `wringer config`: the defaults and guards that hold here, and where each comes from.

use super::show;
use crate::problem::{Exit, Problem};
use crate::settings;

/// Runs the command.
pub fn run(of: Option<&str>) -> Result<Exit, Problem> {
    let held = settings::held()?;
    let file = held.file.as_ref().map(|file| file.display().to_string());
    show::write(&held.settings.text(file.as_deref(), of).map_err(Problem::Usage)?);
    Ok(Exit::Ok)
}
