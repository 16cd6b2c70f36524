//! `wringer wrktcp`: the old tool's options, ini files, streams and exit codes over a session.

use super::{clock, show};
use crate::problem::{Exit, Problem};
use crate::session::{self, Finished, Surroundings, View, files};
use doors::wrktcp::{Command, Now, Run, Shown, help as usage, parse};
use measure::{Event, Row};
use report::live::is_worth_showing;
use report::wrktcp::{Live, Log, TEST_MARK};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How often the threads' rates are taken, as in the old tool; so many make a line.
const INTERVAL: Duration = Duration::from_millis(100);
const INTERVALS_PER_LINE: u32 = 10;

/// Prints what `wrktcp --help` prints, as the help of a native command: it is no error.
pub fn help() -> Result<Exit, Problem> {
    show::write(&usage());
    Ok(Exit::Fine)
}

/// Runs the door; `args` are those after its name.
pub fn run(args: &[OsString]) -> Result<Exit, Problem> {
    let (local, utc) = clock::digits();
    let now = Now { local, utc, seed: super::seed_from_clock() };
    // The limit of ini files; of files with rows it is only asked whether they have any.
    let read_file = |file: &Path| files::read_begin(file, (16 << 20) + 1);
    let run = match parse(args, &now, &read_file) {
        Command::Show(Shown { complaint, text }) => {
            show::write(&text);
            if !complaint.is_empty() {
                show::notice(&complaint);
            }
            return Ok(Exit::Code(ExitCode::from(1)));
        }
        Command::Run(run) => run,
    };
    if run.show_plan {
        show::write(&run.plan.to_text());
        return Ok(Exit::Fine);
    }
    Ok(test(&run).unwrap_or_else(|problem| {
        say(&problem.to_string());
        Exit::Code(ExitCode::from(1))
    }))
}

/// A line on standard error.
fn say(text: &str) {
    show::notice(&format!("wrktcp: {text}"));
}

fn test(run: &Run) -> Result<Exit, Problem> {
    can_keep(run)?;
    run.view.version.iter().for_each(|version| show::write(version));
    run.notices.iter().for_each(|notice| say(notice));
    let around = Surroundings {
        interval: INTERVAL,
        intervals_per_row: INTERVALS_PER_LINE,
        // What nobody answers is counted, as in the old tool.
        take_silent: true,
        ..Surroundings::default()
    };
    let ready = session::prepare(&run.plan, &around, false)?;
    let mut lines = Lines::begin(&run.view);
    let finished = ready.run(&[], &mut lines)?;
    let kept = report(run, &finished);
    let exit = exit(run, &finished);
    Ok(match kept {
        Ok(()) => exit,
        Err(problem) => {
            say(&problem.to_string());
            exit.or_worse(problem.exit())
        }
    })
}

/// Finds out before the run whether its results can be kept: afterwards it would be late.
fn can_keep(run: &Run) -> Result<(), Problem> {
    [run.html.as_deref(), run.json.as_deref()].into_iter().try_for_each(show::can_keep_for_door)
}

fn report(run: &Run, finished: &Finished) -> Result<(), Problem> {
    let (result, view) = (&finished.result, &run.view);
    let mut text = report::wrktcp::report(result, view.latency);
    if view.trace {
        text += &report::wrktcp::trace(&result.timeline.rows, view.duration);
    }
    show::write(&text);
    report::wrktcp::failures(result).iter().for_each(|line| say(line));
    result.notes.iter().for_each(|note| say(note));
    let target = Some(view.address.as_str());
    let page = run.html.as_ref().map_or(Ok(()), |file| {
        show::keep_door_page(file, finished, &run.plan, target)?;
        show::write(&report::wrktcp::page_line(&file.display().to_string()));
        Ok(())
    });
    page.and(show::keep_door_json(run.json.as_deref(), finished, &run.plan, target, None))
}

/// 0 as of the old tool, whatever the answers were; with `--strict` 3 unless there were some and all of them good.
fn exit(run: &Run, finished: &Finished) -> Exit {
    let measured = finished.result.measured();
    let counts = measured.counts();
    let is_good = counts.fine > 0 && counts.faulty + counts.failed == 0;
    if run.strict && !is_good { Exit::Wrong } else { Exit::Fine }
}

/// The line of each second, and what `--test` tells.
struct Lines {
    live: Live,
    log: Option<Log>,
}

impl Lines {
    /// Shows what stands before a run.
    fn begin(view: &doors::wrktcp::View) -> Lines {
        let banner =
            report::wrktcp::banner(&view.address, &view.file, view.threads, view.connections, view.duration);
        show::write(&banner);
        if view.test {
            show::write(TEST_MARK);
        }
        let log = view.test.then(|| Log::new(&view.address, &view.wanted));
        Lines { live: Live::new(view.duration), log }
    }
}

impl View for Lines {
    fn row(&mut self, row: &Row, _phase: &str) {
        let line = self.live.row(row);
        if is_worth_showing(row) {
            show::write(&line);
        }
    }

    fn event(&mut self, event: Event) {
        let Some(log) = &mut self.log else { return };
        match event {
            Event::Talk(talk) => show::write_bytes(&log.talk(&talk)),
            Event::Trouble(trouble) => show::write_bytes(&log.trouble(&trouble)),
            _ => {}
        }
    }

    fn end(&mut self) {
        match &self.log {
            Some(log) => {
                show::write_bytes(&log.end());
                show::write(&format!("{TEST_MARK}\n"));
            }
            None => show::write("\n"),
        }
    }
}
