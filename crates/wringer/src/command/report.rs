//! `wringer report`: a run that was kept, in any layout, or a decision from its file.

use super::{decided, show};
use crate::layout::{laid_out, named, refuse_unkept};
use crate::problem::{Exit, Problem};
use crate::runs;
use cli::ReportArgs;
use std::path::Path;

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Exit, Problem> {
    if let Some(kept) = decided::read(Path::new(&args.run))? {
        return decided::report(&kept, &args.layout);
    }
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    let file = runs::find(&args.run, &folder)?;
    let layout = named(&args.layout)?;
    refuse_unkept(layout, &file, args.sampled)?;
    let laid_out = laid_out(layout, &file)?;
    laid_out.notes.iter().for_each(|note| show::notice(&format!("note: {note}")));
    show::write_bytes(laid_out.text.as_bytes());
    Ok(Exit::Ok)
}
