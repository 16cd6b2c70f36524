//! `wringer wrktcp`: the old tool's options, ini files, streams and exit codes over a session.

use super::file;
use super::report::{Live, Log, TEST_MARK};
use super::{Now, Run, parse};
use crate::ToolShown;
use crate::keep;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, Row};
use report::live::is_worth_showing;
use session::{Finished, SessionOptions, View};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the threads' rates are taken, as in the old tool; so many make a line.
const INTERVAL: Duration = Duration::from_millis(100);
const INTERVALS_PER_LINE: u32 = 10;

/// wrktcp's command line.
pub struct Wrktcp {
    run: Run,
}

impl Door for Wrktcp {
    const NAME: &'static str = "wrktcp";
    const ABOUT: &'static str = "wrktcp: the same options, ini files and report";
    const NAMES_FAILURES: bool = true;
    type View = super::WrktcpView;
    type Lines = WrktcpLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<Wrktcp, ToolShown> {
        let (local, utc) = Moment::digits();
        let now = Now { local, utc, seed: moment.seed };
        parse(args, &now, &file::read).map(|run| Wrktcp { run })
    }

    fn help() -> String {
        super::help()
    }

    fn run(&self) -> &Run {
        &self.run
    }

    fn target(&self) -> Option<String> {
        Some(self.run.view.address.clone())
    }

    fn files(&self) -> Vec<&Path> {
        self.run.view.html.iter().map(PathBuf::as_path).collect()
    }

    fn has_page(&self) -> bool {
        self.run.view.html.is_some()
    }

    fn before(&mut self) -> Result<(), Problem> {
        self.run.view.version.iter().for_each(|version| show::write(version));
        Ok(())
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions {
            interval: INTERVAL,
            intervals_per_row: INTERVALS_PER_LINE,
            // What nobody answers is counted, as in the old tool.
            take_silent: true,
            ..SessionOptions::default()
        }
    }

    fn begin(&mut self) -> Result<WrktcpLines, Problem> {
        Ok(WrktcpLines::begin(&self.run.view))
    }

    fn lay_out(&self, finished: &Finished, _: WrktcpLines) -> Result<Exit, Problem> {
        let exit = exit(&self.run, finished);
        Ok(match report(&self.run, finished) {
            Ok(()) => exit,
            Err(problem) => {
                say(&problem.to_string());
                exit.or_worse(problem.exit())
            }
        })
    }
}

/// A line on standard error.
fn say(text: &str) {
    show::notice(&format!("wrktcp: {text}"));
}

fn report(run: &Run, finished: &Finished) -> Result<(), Problem> {
    let result = &finished.result;
    let view = &run.view;
    let mut text = super::report::report(result, view.latency);
    if view.trace {
        text += &super::report::trace(&result.timeline.rows, view.duration);
    }
    show::write(&text);
    super::report::failures(result).iter().for_each(|line| say(line));
    let target = Some(view.address.as_str());
    view.html.as_ref().map_or(Ok(()), |file| {
        keep::page(file, finished, &run.plan, target, None)?;
        show::write(&super::report::page_line(&file.display().to_string()));
        Ok(())
    })
}

/// 0 as of the old tool, whatever the answers were; with `--strict` 3 unless there were some and all of them good.
fn exit(run: &Run, finished: &Finished) -> Exit {
    let measured = finished.result.measured();
    let counts = measured.counts();
    let is_silent = finished.verdict.as_ref().is_some_and(|verdict| verdict.target.is_silent());
    let is_good = counts.ok > 0 && counts.check_failed + counts.failed == 0 && !is_silent;
    if run.view.strict && !is_good { Exit::Wrong } else { Exit::Ok }
}

/// The line of each second, and what `--test` tells.
pub struct WrktcpLines {
    live: Live,
    log: Option<Log>,
}

impl WrktcpLines {
    /// Shows what stands before a run.
    fn begin(view: &super::WrktcpView) -> WrktcpLines {
        let banner =
            super::report::banner(&view.address, &view.file, view.threads, view.connections, view.duration);
        show::write(&banner);
        if view.test {
            show::write(TEST_MARK);
        }
        let log = view.test.then(|| Log::new(&view.address, &view.wanted));
        WrktcpLines { live: Live::new(view.duration), log }
    }
}

impl View for WrktcpLines {
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
            Event::RequestError(error) => show::write_bytes(&log.error(&error)),
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
