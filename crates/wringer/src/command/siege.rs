//! `wringer siege`: siege's options, lines, report and exit codes over a session.

use super::{clock, show};
use crate::problem::{Exit, Problem};
use crate::session::{self, Finished, Surroundings, View};
use doors::siege::{self as door, Command, Log, Run, Shown, parse};
use measure::event::HeadTitle;
use measure::{Event, Row};
use report::siege::{self as layout, Figures, LineOptions, Now};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command; `args` are those after its name.
pub fn run(args: &[OsString]) -> Result<Exit, Problem> {
    let env = |name: &str| std::env::var(name).ok();
    let read = |file: &Path| std::fs::read(file);
    match parse(args, &env, super::seed_from_clock(), &read) {
        Command::Show { out, err, exit } => {
            show::aside(&err);
            show::write(&out);
            Ok(Exit::Code(ExitCode::from(exit)))
        }
        Command::Run(run) if run.show_plan => {
            show::write(&run.plan.to_text());
            Ok(Exit::Fine)
        }
        Command::Run(run) => test(&run).or_else(|problem| {
            show::notice(&format!("siege: {problem}"));
            Ok(Exit::Impossible)
        }),
    }
}

/// Prints the help, as that of a native command: on standard output, and it is no error.
pub fn help() -> Result<Exit, Problem> {
    show::write(&door::help());
    Ok(Exit::Fine)
}

fn test(run: &Run) -> Result<Exit, Problem> {
    let files = [run.result_json.as_deref(), run.log.as_ref().map(|log| log.file.as_path())];
    files.into_iter().try_for_each(show::can_keep_for_door)?;
    if !run.view.quiet {
        run.notices.iter().for_each(|notice| show::notice(&format!("siege: {notice}")));
    }
    show::write(&run.warning);
    if let Some(log) = &run.log {
        mark(log)?;
    }
    let around = Surroundings { take_silent: true, ..Surroundings::default() };
    let ready = session::prepare(&run.plan, &around, false)?;
    let mut lines = Lines::new(run);
    show::aside(&banner(run));
    let finished = ready.run(&[], &mut lines)?;
    let figures = Figures::of(&finished.result, layout_of(run));
    conclude(run, &finished, &figures)?;
    Ok(if run.strict && figures.failed > 0 { Exit::Impossible } else { Exit::Fine })
}

/// What is said before the first request.
fn banner(run: &Run) -> String {
    if run.view.quiet || run.view.shown.is_some() {
        return String::new();
    }
    let end = if run.view.verbose { "\n" } else { "" };
    let version = run.layout.version();
    let mode = if run.view.debug { ": debugging enabled\n" } else { "" };
    format!(
        "** SIEGE {version}{mode}\n** Preparing {} concurrent users for battle.\nThe server is now under siege...{end}",
        run.users
    )
}

/// The report, and what is kept.
fn conclude(run: &Run, finished: &Finished, figures: &Figures) -> Result<(), Problem> {
    let layout = layout_of(run);
    let result = &finished.result;
    if run.json {
        show::aside("\n");
        show::write(&layout::json(figures, layout, run.view.debug));
    } else if !run.view.quiet {
        let timed = run.time.is_some_and(|time| result.took >= time);
        if result.interrupted || timed {
            show::aside("\nLifting the server siege...");
        } else if gave_up(run, figures) {
            show::aside(
                "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n",
            );
        }
        if run.view.shown.is_none() || run.layout == door::Layout::V40 {
            show::aside(&format!("\n{}", layout::report(figures, layout, run.view.debug)));
        }
    }
    if run.statuses {
        show::aside(&layout::statuses(result));
    }
    result.notes.iter().filter(|_| !run.view.quiet).for_each(|note| show::notice(&format!("siege: {note}")));
    let mut logged = Ok(());
    if let Some(log) = run.log.as_ref().filter(|log| log.row) {
        logged = add(&log.file, &layout::log_row(figures, &clock::now().date));
        if logged.is_ok() {
            tell_of(log, run);
        }
    }
    let kept = show::keep_door_json(run.result_json.as_deref(), finished, &run.plan, None, Some("--seed"));
    logged.and(kept)
}

fn gave_up(run: &Run, figures: &Figures) -> bool {
    let phase = run.plan.load.as_ref().and_then(|load| load.phases.first());
    phase.and_then(|phase| phase.stop.failures).is_some_and(|most| figures.failed >= most)
}

fn layout_of(run: &Run) -> layout::Layout {
    match run.layout {
        door::Layout::V40 => layout::Layout::V40,
        door::Layout::V41 => layout::Layout::V41,
    }
}

/// Writes the mark in front of a result.
fn mark(log: &Log) -> Result<(), Problem> {
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

fn tell_of(log: &Log, run: &Run) {
    if !log.notice {
        return;
    }
    let text = format!(
        "LOG FILE: {}\nYou can disable this log file notification by editing\nsiege.conf and changing 'show-logfile' to false.\n",
        log.file.display()
    );
    match run.layout {
        door::Layout::V40 => show::write(&text),
        door::Layout::V41 => show::aside(&text),
    }
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Problem {
    Problem::impossible(format!("{} cannot be written: {error}", file.display()))
}

/// A line for each request, and what went wrong.
struct Lines {
    options: LineOptions,
    shown: Option<Shown>,
    verbose: bool,
    quiet: bool,
    needs_time: bool,
    color_aside: bool,
}

impl Lines {
    fn new(run: &Run) -> Lines {
        let view = &run.view;
        let options = LineOptions {
            color: view.color && std::io::stdout().is_terminal(),
            csv: view.csv,
            timestamp: view.timestamp,
            full_url: view.full_url,
            display_id: view.display_id,
            mark: view.mark.clone(),
        };
        Lines {
            options,
            shown: view.shown,
            verbose: view.verbose,
            quiet: view.quiet,
            needs_time: view.csv || view.timestamp,
            color_aside: view.color && std::io::stderr().is_terminal(),
        }
    }

    fn trouble(&self, outcome: &measure::Outcome) {
        if self.quiet {
            return;
        }
        if let Some(line) = layout::trouble(outcome, self.color_aside) {
            show::notice(&line);
        }
    }

    fn head(&self, title: HeadTitle, text: &[u8]) {
        let hidden = self.shown == Some(Shown::Page) && title == HeadTitle::ResponseFromProxy;
        if !self.quiet && !hidden {
            show::write(&format!("{}\n", String::from_utf8_lossy(text)));
        }
    }
}

impl View for Lines {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, event: Event) {
        match event {
            Event::Request(record) => {
                if !self.verbose {
                    return self.trouble(&record.outcome);
                }
                let now = if self.needs_time { clock::now() } else { Now::default() };
                match layout::line(&record, &self.options, &now) {
                    Some(line) => show::write(&line),
                    None => self.trouble(&record.outcome),
                }
            }
            Event::Body(body) => show::write(&format!("{}\n", String::from_utf8_lossy(&body))),
            Event::Head { title, text } => self.head(title, &text),
            _ => {}
        }
    }
}
