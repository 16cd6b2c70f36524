//! `wringer serve`: the page, with all runs that were kept, and those that its form starts.

use super::{around, show};
use crate::problem::{Exit, Problem};
use crate::runs;
use crate::serve::{self, Start, Starts};
use crate::signals;
use cli::ServeArgs;
use measure::{Event, Row};
use session::{About, Keep, Reach, SessionOptions, Sinks, View};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often signals are looked for.
const POLL: Duration = Duration::from_millis(100);

/// Runs the command, until a signal ends it.
pub fn run(args: &ServeArgs) -> Result<Exit, Problem> {
    let folder = args.keep_in.clone().map_or_else(runs::folder, Ok)?;
    let reach = Reach::to(&args.allowed_targets)?;
    let stop = signals::interrupted()?;
    let (starts, asked) = Starts::new();
    let server = serve::start(serve::Options {
        listen: args.listen.address(),
        host_names: args.listen.host_names.clone(),
        folder: Some(folder.clone()),
        running: None,
        starts: (!args.no_start).then(|| (starts.clone(), reach.clone())),
    })?;
    show::line(server.url());
    while !stop.load(Ordering::Relaxed) {
        // A signal that comes while a run goes on ends that first.
        if let Ok(start) = asked.recv_timeout(POLL) {
            begin(start, &folder, &reach);
        }
    }
    Ok(Exit::Ok)
}

/// Runs what the page asked for, to its end.
fn begin(start: Start, folder: &Path, reach: &Reach) {
    if let Err(problem) = through(&start, folder, reach) {
        show::notice(&format!("wringer: {problem}"));
        start.fail(problem.to_string());
    }
}

fn through(start: &Start, folder: &Path, reach: &Reach) -> Result<(), Problem> {
    let mut plan = start.plan.clone();
    session::settle(&mut plan)?;
    let around = SessionOptions { reach: Some(reach.clone()), ..SessionOptions::default() };
    let around = around::options(around)?;
    let ready = session::prepare(&plan, &around, false)?;
    show::warn(ready.warnings(), &plan);
    show::notice(&format!("started by the page: {}", start.command));
    let about = About {
        door: start.door,
        command: start.command.clone(),
        target: start.target.clone(),
        keep: Some(Keep { folder: folder.to_owned(), wanted: true }),
        sinks: Sinks { live: Some(start.running.live.clone()), ..Sinks::default() },
        steering: Some(start.running.steering.clone()),
        ..About::default()
    };
    let finished = ready.about(about).run(None, &mut Elsewhere)?;
    show::end(finished);
    Ok(())
}

/// The page shows it.
struct Elsewhere;

impl View for Elsewhere {
    fn row(&mut self, _: &Row, _: &str) {}

    fn note(&mut self, text: &str) {
        show::notice(&format!("note: {text}"));
    }

    fn event(&mut self, _: Event) {}
}
