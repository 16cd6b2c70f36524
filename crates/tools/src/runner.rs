//! The runner of all doors of old tools: shows the plan, checks, runs, lays out, and says how the process ends. What is a
//! tool's own is its [`Door`], in a file of this folder.

use crate::outcome::{Run, ToolShown};
use crate::reads::{Disk, Reads};
use crate::{agents, clock, keep};
use console::arguments::repeat;
use console::ending::Ending;
use console::output::{self, aside, notice, write};
use console::problem::{Exit, Problem};
use console::{limits, signals};
use measure::{Event, Failure, Row};
use rustix::process::Signal;
use session::export::{self, Destination};
use session::live::Live;
use session::{About, Finished, Fleet, Keep, SessionOptions, Sinks, View};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An old tool's command line that has been understood: a plan, and how it is shown.
pub trait Door: Sized {
    /// Name of the tool.
    const NAME: &'static str;
    /// Its line in the help.
    const ABOUT: &'static str;
    /// The option that fixes the seed, where the tool has one.
    const SEED: Option<&'static str> = None;
    /// The tool does not catch SIGTERM and SIGHUP: after the report the process ends as it would have.
    const DIES: bool = true;
    /// Lines of its own on standard error name the failures.
    const NAMES_FAILURES: bool = false;
    /// Description of what is shown and kept of a test.
    type View;
    /// Output while it runs.
    type Lines: View;

    /// Reads the words after the tool's name.
    ///
    /// # Errors
    /// Text shown instead of a test.
    fn read(args: &[OsString], moment: &Moment) -> Result<Self, ToolShown>;

    /// The usage, as `--help` prints it.
    fn help() -> String;

    /// The test.
    fn run(&self) -> &Run<Self::View>;

    /// Neither notices nor notes are shown.
    fn is_quiet(&self) -> bool {
        false
    }

    /// True if a line of its own on standard error names this failure.
    fn names(&self, _failure: Failure) -> bool {
        Self::NAMES_FAILURES
    }

    /// Returns the target of the load, as the result as JSON names it.
    fn target(&self) -> Option<String> {
        None
    }

    /// Files that will be written, beside the result as JSON.
    fn files(&self) -> Vec<&Path> {
        Vec::new()
    }

    /// Says what comes first, and settles what the plan leaves open.
    ///
    /// # Errors
    /// Why there is no run.
    fn before(&mut self) -> Result<(), Problem> {
        Ok(())
    }

    /// The report is kept as a page, too.
    fn has_page(&self) -> bool {
        false
    }

    /// Returns the options of the session that surrounds the run. Most tools count what nobody answers, and go on.
    fn session_options(&self) -> SessionOptions {
        SessionOptions { take_silent: true, ..SessionOptions::default() }
    }

    /// Returns who is sent figures while the test runs.
    fn sent_to(&self) -> Vec<Destination> {
        Vec::new()
    }

    /// All is ready: what is shown then, and while it runs.
    ///
    /// # Errors
    /// A file that cannot be written.
    fn begin(&mut self) -> Result<Self::Lines, Problem>;

    /// Shows the report and keeps what is kept; says how the process ends.
    ///
    /// # Errors
    /// A file that could not be written.
    fn lay_out(&self, finished: &Finished, lines: Self::Lines) -> Result<Exit, Problem>;

    /// A reason not to start or not to go on, in the tool's manner.
    fn words(problem: &Problem) -> String {
        format!("{}: {problem}", Self::NAME)
    }
}

/// Nothing is shown while a test runs.
pub struct Silent;

impl View for Silent {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, _event: Event) {}
}

/// Values that the moment of a command line decides.
pub struct Moment {
    /// The seed where none is given.
    pub seed: u64,
}

impl Moment {
    fn now() -> Moment {
        Moment { seed: console::arguments::seed_from_clock() }
    }

    /// The environment.
    pub fn env(name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    /// Files.
    pub fn read_file(file: &Path) -> std::io::Result<Vec<u8>> {
        Disk.bytes(file)
    }

    /// The local time and that of UTC, in digits.
    pub fn digits() -> (String, String) {
        clock::digits()
    }
}

/// Runs a door with the words after its name.
pub fn run<D: Door>(args: &[OsString]) -> Result<Exit, Problem> {
    let (fleet, args) = match agents::before(args) {
        Ok(taken) => taken,
        Err(problem) => {
            notice(&format!("{}: {problem}", D::NAME));
            return Ok(Exit::Usage);
        }
    };
    let mut door = match D::read(args, &Moment::now()) {
        Ok(door) => door,
        Err(ToolShown { out, err, exit }) => {
            write(&out);
            aside(&err);
            return Ok(Exit::Code(exit));
        }
    };
    if door.run().show_plan {
        write(&door.run().plan.to_shown_text());
        return Ok(Exit::Ok);
    }
    // The limits are the user's own, and no tool has words for them.
    if let Err(problem) = limits::refuse(&door.run().plan) {
        notice(&format!("{}: {problem}", D::NAME));
        return Ok(Exit::Usage);
    }
    Ok(conduct(&mut door, fleet).unwrap_or_else(|problem| fail::<D>(&problem)))
}

/// Says why there is no run, or no result; how the process ends then.
fn fail<D: Door>(problem: &Problem) -> Exit {
    let (words, exit) = match problem {
        Problem::Words { text, exit } => (text.clone(), *exit),
        Problem::Usage(_) | Problem::Impossible(_) => (D::words(problem), 1),
    };
    notice(&words);
    Exit::Code(exit)
}

fn conduct<D: Door>(door: &mut D, fleet: Option<Fleet>) -> Result<Exit, Problem> {
    can_keep(door)?;
    let notices = door.run().notices.iter().filter(|_| !door.is_quiet());
    notices.for_each(|told| notice(&format!("{}: {told}", D::NAME)));
    door.before()?;
    // Old tools go on in front of a target that has died.
    let around = SessionOptions { ignore_exit: true, fleet, ..door.session_options() };
    let plan = door.run().plan.clone();
    let around = console::session_options(around)?;
    let ready = session::prepare(&plan, &around, around.heads)?;
    let mut lines = door.begin()?;
    let exports = export::start(export::Settings { sent_to: door.sent_to(), ..export::Settings::default() })?;
    let sinks = Sinks { live: door.has_page().then(Live::begin), ..Sinks::default() }.and(exports);
    let command = repeat(&plan, D::SEED);
    let about =
        About { door: D::NAME, command, target: door.target(), keep: keep(), sinks, ..About::default() };
    let finished = ready.about(about).run(None, &mut lines)?;
    Ok(end(door, finished, lines))
}

/// True if lines of the door's own tell why requests failed.
fn is_told<D: Door>(door: &D, finished: &Finished) -> bool {
    let measured = finished.result.measured();
    let mut failures = measured.tally.failures().map(|(failure, _)| door.names(failure)).peekable();
    failures.peek().is_some() && failures.all(|named| named)
}

/// Shows and keeps what is shown and kept of a run; how the process ends. Whatever fails on the way, the run is told its end.
fn end<D: Door>(door: &D, mut finished: Finished, lines: D::Lines) -> Exit {
    let say = |line: &str| notice(&format!("{}: {line}", D::NAME));
    let failure = finished.scripts.failure();
    failure.iter().for_each(|why| say(why));
    let laid_out = door.lay_out(&finished, lines);
    let mut ending = Ending::new(laid_out.unwrap_or_else(|problem| fail::<D>(&problem)));
    let unanswered = report::text::unanswered(&finished.result).filter(|_| !is_told(door, &finished));
    unanswered.iter().for_each(|why| say(why));
    finished.result.notes.iter().filter(|_| !door.is_quiet()).for_each(|note| say(note));
    // Nothing in an old tool's report says why it is as it is.
    finished.result.processes.during.iter().for_each(|happened| say(&happened.sentence()));
    let agents = &finished.result.agents;
    agents.iter().filter_map(|agent| agent.loss()).for_each(|loss| say(&loss));
    if agents.iter().any(|agent| agent.is_missed()) {
        ending.set(Exit::Impossible);
    }
    let done = finished.scripts.done(&finished.result).map_err(Problem::from);
    ending.add(done, &|problem| notice(&D::words(problem)));
    match (terminated::<D>(), failure) {
        (Some(code), _) => ending.set(Exit::Code(code)),
        (None, Some(_)) => ending.set(Exit::Impossible),
        (None, None) => {}
    }
    // Last, since it has the exit code.
    let Run { plan, json, .. } = door.run();
    let told = keep::KeepWords { seed_option: D::SEED, exit: ending.so_far(&finished) };
    let kept = keep::json(json.as_deref(), &finished, plan, door.target().as_deref(), told);
    ending.add(kept, &|problem| say(&problem.to_string()));
    let (exit, kept) = ending.tell(finished);
    kept.iter().for_each(|kept| notice(&session::history::kept(kept)));
    exit
}

/// Old tools keep no runs of themselves, and have no options of ours: who wants theirs kept says so in the environment.
fn keep() -> Option<Keep> {
    let folder = std::env::var_os("WRINGER_KEEP_IN").filter(|folder| !folder.is_empty())?;
    Some(Keep { folder: PathBuf::from(folder), wanted: true })
}

/// The exit code of a process that a signal has ended, where the tool would have been ended by it.
fn terminated<D: Door>() -> Option<u8> {
    let fatal = [Signal::TERM, Signal::HUP].map(Signal::as_raw);
    let signal = signals::first().filter(|signal| D::DIES && fatal.contains(signal))?;
    u8::try_from(128 + signal).ok()
}

/// Finds out before the run whether its results can be kept: afterwards it would be late.
fn can_keep<D: Door>(door: &D) -> Result<(), Problem> {
    for file in
        door.files().into_iter().chain(door.run().json.as_deref()).filter(|file| !output::is_stdout(file))
    {
        session::files::writable(file).map_err(|error| {
            let text = format!("{}: {} cannot be written: {error}", D::NAME, file.display());
            Problem::Words { text, exit: 1 }
        })?;
    }
    Ok(())
}
