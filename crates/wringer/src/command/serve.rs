//! `wringer serve`: the page, with all runs that were kept.

use super::show;
use crate::problem::{Exit, Problem};
use crate::session::signals;
use crate::{runs, serve};
use doors::native::ServeArgs;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(100);

/// Runs the command, until a signal ends it.
pub fn run(args: &ServeArgs) -> Result<Exit, Problem> {
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    let stop = signals::interrupted()?;
    let server = serve::start(serve::Options {
        listen: args.listen.address(),
        host_names: args.listen.host_names.clone(),
        folder: Some(folder),
        live: None,
        steering: None,
    })?;
    show::line(server.url());
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(POLL);
    }
    Ok(Exit::Fine)
}
