//! `wringer http_load`: http_load's options, lines and report over a session.

use super::door::{Common, Door, Moment, Shown};
use super::{clock, show};
use crate::problem::{Exit, Problem};
use crate::session::{Finished, SessionOptions, View};
use doors::http_load::{self as door, Command, Run, parse};
use measure::{Event, Row};
use report::http_load::{self as layout, Slots};
use std::ffi::OsString;

/// http_load's command line.
pub struct HttpLoad {
    run: Run,
}

impl Door for HttpLoad {
    const NAME: &'static str = "http_load";
    const SEED: Option<&'static str> = Some("--seed");
    type Lines = Lines;

    fn read(args: &[OsString], moment: &Moment) -> Result<HttpLoad, Shown> {
        match parse(args, moment.seed, &Moment::read_file) {
            Command::Run(run) => Ok(HttpLoad { run: *run }),
            Command::Show { text, to_stderr, exit } => Err(Shown::on(to_stderr, text, exit)),
        }
    }

    fn help() -> String {
        door::help()
    }

    fn common(&self) -> Common<'_> {
        let run = &self.run;
        Common {
            plan: &run.plan,
            notices: &run.notices,
            json: run.json.as_ref(),
            show_plan: run.show_plan,
            quiet: false,
        }
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions { take_silent: true, ..SessionOptions::default() }
    }

    fn begin(&mut self) -> Result<Lines, Problem> {
        Ok(Lines::new(&self.run))
    }

    fn lay_out(&self, finished: &Finished, lines: Lines) -> Result<Exit, Problem> {
        let slots = self.run.slots.then_some(&lines.slots);
        show::write(&layout::report(&finished.result, format_of(&self.run), self.run.checksum, slots));
        Ok(Exit::Fine)
    }
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
pub struct Lines {
    format: layout::Format,
    verbose: bool,
    counts_slots: bool,
    checksum: bool,
    ignore_bytes: bool,
    timeout_s: u64,
    slots: Slots,
    started: u64,
    completed: u64,
    /// When progress is told next.
    next_s: f64,
}

impl Lines {
    fn new(run: &Run) -> Lines {
        Lines {
            format: format_of(run),
            verbose: run.verbose,
            counts_slots: run.slots,
            checksum: run.checksum,
            ignore_bytes: run.ignore_bytes,
            timeout_s: run.timeout_s,
            slots: Slots::default(),
            started: 0,
            completed: 0,
            next_s: PROGRESS_S,
        }
    }
}

impl View for Lines {
    fn row(&mut self, row: &Row, _phase: &str) {
        let counts = &row.counts;
        self.started += counts.requests;
        self.completed += counts.fine + counts.faulty + counts.failed;
        if self.verbose && row.at_s >= self.next_s {
            self.next_s += PROGRESS_S;
            show::notice(&layout::progress(row.at_s, self.started, self.completed, row.in_flight));
        }
    }

    fn event(&mut self, event: Event) {
        let Event::Request(record) = event else { return };
        if self.counts_slots {
            self.slots.add(&record);
        }
        let is_length = matches!(record.outcome, measure::Outcome::Faulty(_)) && !self.checksum;
        if is_length && self.ignore_bytes {
            return;
        }
        let format = self.format;
        let time = if format == layout::Format::Ats { clock::time_of_day() } else { String::new() };
        if let Some(line) = layout::error_line(&record, format, self.timeout_s, &time) {
            show::notice(&line);
        }
    }
}
