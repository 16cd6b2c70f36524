//! `wringer siege`: siege's options, lines, report and exit codes over a session.

use super::report::{self as layout, Figures, LineOptions, Now};
use super::{self as door, Run, SiegeLog, Single, parse};
use crate::ToolShown;
use crate::reads::Disk;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use jiff::Zoned;
use measure::event::HeadTitle;
use measure::{Event, Failure, Row};
use session::{Finished, View};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// siege's command line.
pub struct Siege {
    run: Run,
}

impl Door for Siege {
    const NAME: &'static str = "siege";
    const ABOUT: &'static str = "siege: the same options, configuration and reports";
    const SEED: Option<&'static str> = Some("--seed");
    const NAMES_FAILURES: bool = true;
    // siege ends a test by these signals as it does at its time.
    const DIES: bool = false;
    type View = door::SiegeView;
    type Lines = SiegeLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<Siege, ToolShown> {
        parse(args, &Moment::env, moment.seed, &Disk).map(|run| Siege { run })
    }

    fn help() -> String {
        door::help()
    }

    fn run(&self) -> &Run {
        &self.run
    }

    fn is_quiet(&self) -> bool {
        self.run.view.quiet
    }

    fn names(&self, failure: Failure) -> bool {
        // A line with status 418 stands for what is no answer, and says nothing of it.
        !failure.kind.is_no_message()
    }

    fn files(&self) -> Vec<&Path> {
        self.run.view.log.iter().map(|log| log.file.as_path()).collect()
    }

    fn before(&mut self) -> Result<(), Problem> {
        show::write(&self.run.view.warning);
        self.run.view.log.as_ref().map_or(Ok(()), mark)
    }

    fn begin(&mut self) -> Result<SiegeLines, Problem> {
        show::aside(&banner(&self.run));
        Ok(SiegeLines::new(&self.run))
    }

    fn lay_out(&self, finished: &Finished, _: SiegeLines) -> Result<Exit, Problem> {
        let figures = Figures::of(&finished.result, layout_of(&self.run));
        conclude(&self.run, finished, &figures)?;
        let is_silent = finished.verdict.as_ref().is_some_and(|verdict| verdict.target.is_silent());
        let is_good = figures.transactions > 0 && figures.failed == 0 && !is_silent;
        Ok(if self.run.view.strict && !is_good { Exit::Impossible } else { Exit::Ok })
    }
}

/// Returns the text that is shown before the first request.
fn banner(run: &Run) -> String {
    if run.view.quiet || run.view.shown.is_some() {
        return String::new();
    }
    let end = if run.view.verbose { "\n" } else { "" };
    let version = run.view.layout.version();
    let mode = if run.view.debug { ": debugging enabled\n" } else { "" };
    format!(
        "** SIEGE {version}{mode}\n** Preparing {} concurrent users for battle.\nThe server is now under siege...{end}",
        run.view.users
    )
}

/// The report, and what is kept.
fn conclude(run: &Run, finished: &Finished, figures: &Figures) -> Result<(), Problem> {
    let layout = layout_of(run);
    let result = &finished.result;
    if run.view.json {
        show::aside("\n");
        show::write(&layout::json(figures, layout, run.view.debug));
    } else if !run.view.quiet {
        let timed = run.view.time.is_some_and(|time| result.took >= time);
        if result.interrupted || timed {
            show::aside("\nLifting the server siege...");
        } else if gave_up(run, figures) {
            show::aside(
                "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n",
            );
        }
        if run.view.shown.is_none() || run.view.layout == door::SiegeLayout::V40 {
            show::aside(&format!("\n{}", layout::report(figures, layout, run.view.debug)));
        }
    }
    if run.view.statuses {
        show::aside(&layout::statuses(result));
    }
    let mut logged = Ok(());
    if let Some(log) = run.view.log.as_ref().filter(|log| log.row) {
        logged = add(&log.file, &layout::log_row(figures, &now().date));
        if logged.is_ok() {
            tell_of(log, run);
        }
    }
    logged
}

fn gave_up(run: &Run, figures: &Figures) -> bool {
    let phase = run.plan.load.as_ref().and_then(|load| load.phases.first());
    phase.and_then(|phase| phase.stop.failures).is_some_and(|most| figures.failed >= most)
}

fn layout_of(run: &Run) -> layout::SiegeReportLayout {
    match run.view.layout {
        door::SiegeLayout::V40 => layout::SiegeReportLayout::V40,
        door::SiegeLayout::V41 => layout::SiegeReportLayout::V41,
    }
}

/// Writes the mark in front of a result.
fn mark(log: &SiegeLog) -> Result<(), Problem> {
    match &log.mark {
        Some(mark) => add(&log.file, &layout::log_mark(mark)),
        None => Ok(()),
    }
}

/// Adds to the log, which begins with a header.
fn add(file: &Path, text: &str) -> Result<(), Problem> {
    let mut options = std::fs::OpenOptions::new();
    let mut open =
        options.append(true).create(true).open(file).map_err(|error| cannot_write(file, &error))?;
    let header = if open.metadata().is_ok_and(|about| about.len() == 0) { layout::LOG_HEADER } else { "" };
    open.write_all(format!("{header}{text}").as_bytes()).map_err(|error| cannot_write(file, &error))
}

fn tell_of(log: &SiegeLog, run: &Run) {
    if !log.notice {
        return;
    }
    let text = format!(
        "LOG FILE: {}\nYou can disable this log file notification by editing\nsiege.conf and changing 'show-logfile' to false.\n",
        log.file.display()
    );
    match run.view.layout {
        door::SiegeLayout::V40 => show::write(&text),
        door::SiegeLayout::V41 => show::aside(&text),
    }
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Problem {
    Problem::impossible(format!("{} cannot be written: {error}", file.display()))
}

/// A line for each request, and what went wrong.
pub struct SiegeLines {
    options: LineOptions,
    shown: Option<Single>,
    verbose: bool,
    quiet: bool,
    needs_time: bool,
    color_aside: bool,
}

impl SiegeLines {
    fn new(run: &Run) -> SiegeLines {
        let view = &run.view;
        let options = LineOptions {
            color: view.color && std::io::stdout().is_terminal(),
            csv: view.csv,
            timestamp: view.timestamp,
            full_url: view.full_url,
            display_id: view.display_id,
            mark: view.mark.clone(),
        };
        SiegeLines {
            options,
            shown: view.shown,
            verbose: view.verbose,
            quiet: view.quiet,
            needs_time: view.csv || view.timestamp,
            color_aside: view.color && std::io::stderr().is_terminal(),
        }
    }

    fn tell_error(&self, outcome: &measure::Outcome) {
        if self.quiet {
            return;
        }
        if let Some(line) = layout::error_line(outcome, self.color_aside) {
            show::notice(&line);
        }
    }

    fn head(&self, title: HeadTitle, text: &[u8]) {
        let hidden = self.shown == Some(Single::Page) && title == HeadTitle::ResponseFromProxy;
        if !self.quiet && !hidden {
            show::write(&format!("{}\n", String::from_utf8_lossy(text)));
        }
    }
}

impl View for SiegeLines {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, event: Event) {
        match event {
            Event::Request(record) => {
                if !self.verbose {
                    return self.tell_error(&record.outcome);
                }
                let now = if self.needs_time { now() } else { Now::default() };
                match layout::line(&record, &self.options, &now) {
                    Some(line) => show::write(&line),
                    None => self.tell_error(&record.outcome),
                }
            }
            Event::Body(body) => show::write(&format!("{}\n", String::from_utf8_lossy(&body))),
            Event::Head { title, text } => self.head(title, &text),
            _ => {}
        }
    }
}

/// The local date and time.
fn now() -> Now {
    let now = Zoned::now();
    Now { weekday: now.strftime("%a").to_string(), date: now.strftime("%Y-%m-%d %H:%M:%S").to_string() }
}
