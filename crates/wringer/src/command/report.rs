//! `wringer report`: a run that was kept, in any layout.

use super::show;
use crate::layout::{laid_out, refuse_unkept};
use crate::problem::{Exit, Problem};
use crate::runs;
use cli::ReportArgs;

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Exit, Problem> {
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    let file = runs::find(&args.run, &folder)?;
    refuse_unkept(args.layout, &file, args.sampled)?;
    let (text, notes) = laid_out(args.layout, &file)?;
    notes.iter().for_each(|note| show::notice(&format!("note: {note}")));
    show::write_bytes(text.as_bytes());
    Ok(Exit::Ok)
}
