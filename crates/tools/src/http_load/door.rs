//! `wringer http_load`: http_load's options, lines and report over a session.

use super::report::{self as layout, Slots};
use super::{self as door, Run, parse};
use crate::ToolShown;
use crate::clock;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, Row};
use session::{Finished, View};
use std::ffi::OsString;

/// http_load's command line.
pub struct HttpLoad {
    run: Run,
}

impl Door for HttpLoad {
    const NAME: &'static str = "http_load";
    const ABOUT: &'static str = "http_load: the same options and report";
    const NAMES_FAILURES: bool = true;
    const SEED: Option<&'static str> = Some("--seed");
    type View = door::HttpLoadView;
    type Lines = HttpLoadLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<HttpLoad, ToolShown> {
        parse(args, moment.seed, &Moment::read_file).map(|run| HttpLoad { run })
    }

    fn help() -> String {
        door::help()
    }

    fn run(&self) -> &Run {
        &self.run
    }

    fn begin(&mut self) -> Result<HttpLoadLines, Problem> {
        Ok(HttpLoadLines::new(&self.run.view))
    }

    fn lay_out(&self, finished: &Finished, lines: HttpLoadLines) -> Result<Exit, Problem> {
        let view = &self.run.view;
        let slots = view.slots.then_some(&lines.slots);
        show::write(&layout::report(&finished.result, format_of(view), view.checksum, slots));
        Ok(Exit::Ok)
    }
}

fn format_of(view: &door::HttpLoadView) -> layout::HttpLoadReportFormat {
    match view.format {
        door::HttpLoadFormat::Acme => layout::HttpLoadReportFormat::Acme,
        door::HttpLoadFormat::Ats => layout::HttpLoadReportFormat::Ats,
    }
}

/// Seconds between two lines of progress.
const PROGRESS_S: f64 = 60.0;

/// Output while a run goes on.
pub struct HttpLoadLines {
    format: layout::HttpLoadReportFormat,
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

impl HttpLoadLines {
    fn new(view: &door::HttpLoadView) -> HttpLoadLines {
        HttpLoadLines {
            format: format_of(view),
            verbose: view.verbose,
            counts_slots: view.slots,
            checksum: view.checksum,
            ignore_bytes: view.ignore_bytes,
            timeout_s: view.timeout_s,
            slots: Slots::default(),
            started: 0,
            completed: 0,
            next_s: PROGRESS_S,
        }
    }
}

impl View for HttpLoadLines {
    fn row(&mut self, row: &Row, _phase: &str) {
        let counts = &row.counts;
        self.started += counts.requests;
        self.completed += counts.ok + counts.check_failed + counts.failed;
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
        let is_length = matches!(record.outcome, measure::Outcome::CheckFailed(_)) && !self.checksum;
        if is_length && self.ignore_bytes {
            return;
        }
        let format = self.format;
        let time =
            if format == layout::HttpLoadReportFormat::Ats { clock::time_of_day() } else { String::new() };
        if let Some(line) = layout::error_line(&record, format, self.timeout_s, &time) {
            show::notice(&line);
        }
    }
}
