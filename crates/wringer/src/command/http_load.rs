//! `wringer http_load`: http_load's options, lines and report over a session.

use super::{clock, show};
use crate::problem::{Exit, Problem};
use crate::session::{self, Surroundings, View};
use doors::http_load::{self as door, Command, Run, parse};
use measure::{Event, Row};
use report::http_load::{self as layout, Slots};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Runs the command; `args` are those after its name.
pub fn run(args: &[OsString]) -> Result<Exit, Problem> {
    let read = |file: &Path| std::fs::read(file);
    match parse(args, super::seed_from_clock(), &read) {
        Command::Show { text, to_stderr, exit } => {
            if to_stderr {
                show::aside(&text);
            } else {
                show::write(&text);
            }
            Ok(Exit::Code(ExitCode::from(exit)))
        }
        Command::Run(run) if run.show_plan => {
            show::write(&run.plan.to_text());
            Ok(Exit::Fine)
        }
        Command::Run(run) => test(&run).map(|()| Exit::Fine).or_else(|problem| {
            show::notice(&format!("http_load: {problem}"));
            Ok(Exit::Impossible)
        }),
    }
}

/// Prints the usage, as the help of a native command: on standard output, and it is no error.
pub fn help() -> Result<Exit, Problem> {
    show::write(&door::help());
    Ok(Exit::Fine)
}

fn test(run: &Run) -> Result<(), Problem> {
    show::can_keep_for_door(run.json.as_deref())?;
    run.notices.iter().for_each(|notice| show::notice(&format!("http_load: {notice}")));
    let around = Surroundings { take_silent: true, ..Surroundings::default() };
    let ready = session::prepare(&run.plan, &around, false)?;
    let mut lines = Lines::new(run);
    let finished = ready.run(&[], &mut lines)?;
    let slots = run.slots.then_some(&lines.slots);
    show::write(&layout::report(&finished.result, format_of(run), run.checksum, slots));
    finished.result.notes.iter().for_each(|note| show::notice(&format!("http_load: {note}")));
    show::keep_door_json(run.json.as_deref(), &finished, &run.plan, None, Some("--seed"))
}

fn format_of(run: &Run) -> layout::Format {
    match run.format {
        door::Format::Acme => layout::Format::Acme,
        door::Format::Ats => layout::Format::Ats,
    }
}

/// Seconds between two lines of progress.
const PROGRESS_S: f64 = 60.0;

/// What is told while a run goes on.
struct Lines<'a> {
    run: &'a Run,
    slots: Slots,
    started: u64,
    completed: u64,
    /// When progress is told next.
    next_s: f64,
}

impl Lines<'_> {
    fn new(run: &Run) -> Lines<'_> {
        Lines { run, slots: Slots::default(), started: 0, completed: 0, next_s: PROGRESS_S }
    }
}

impl View for Lines<'_> {
    fn row(&mut self, row: &Row, _phase: &str) {
        let counts = &row.counts;
        self.started += counts.requests;
        self.completed += counts.fine + counts.faulty + counts.failed;
        if self.run.verbose && row.at_s >= self.next_s {
            self.next_s += PROGRESS_S;
            show::notice(&layout::progress(row.at_s, self.started, self.completed, row.in_flight));
        }
    }

    fn event(&mut self, event: Event) {
        let Event::Request(record) = event else { return };
        if self.run.slots {
            self.slots.add(&record);
        }
        let is_length = matches!(record.outcome, measure::Outcome::Faulty(_)) && !self.run.checksum;
        if is_length && self.run.ignore_bytes {
            return;
        }
        let format = format_of(self.run);
        let time = if format == layout::Format::Ats { clock::time_of_day() } else { String::new() };
        if let Some(line) = layout::trouble(&record, format, self.run.timeout_s, &time) {
            show::notice(&line);
        }
    }
}
