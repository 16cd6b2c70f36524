//! `wringer hey`: the old tool's options, report and exit codes over a session.

use super::report::{self, CsvRows, HeyAsked};
use super::{self as door, Run, parse};
use crate::ToolShown;
use crate::reads::Disk;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, Row};
use session::{Finished, View};
use std::ffi::OsString;

/// hey's command line.
pub struct Hey(Run);

impl Door for Hey {
    const NAME: &'static str = "hey";
    const ABOUT: &'static str = "hey: the same options and report";
    type View = door::View;
    type Lines = HeyLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<Hey, ToolShown> {
        parse(args, moment.seed, &Disk).map(Hey)
    }

    fn help() -> String {
        door::help()
    }

    fn run(&self) -> &Run {
        &self.0
    }

    fn target(&self) -> Option<String> {
        Some(self.0.view.url.clone())
    }

    fn begin(&mut self) -> Result<HeyLines, Problem> {
        Ok(HeyLines { rows: self.0.view.csv.then(CsvRows::default) })
    }

    fn lay_out(&self, finished: &Finished, lines: HeyLines) -> Result<Exit, Problem> {
        let view = &self.0.view;
        let left_out = lines.rows.as_ref().map_or(0, |rows| rows.left_out);
        match lines.rows {
            Some(rows) => show::write(&rows.text()),
            None => show::write(&report::summary(&finished.result, &HeyAsked { paced: view.paced })),
        }
        if left_out > 0 {
            show::notice(&format!("hey: {left_out} answers have no row: only so many are kept"));
        }
        let redirected = report::redirected(&finished.result).filter(|_| view.follows);
        redirected.iter().for_each(|line| show::notice(&format!("hey: {line}")));
        Ok(Exit::Ok)
    }
}

/// Rows of answers, where they are asked for.
pub struct HeyLines {
    rows: Option<CsvRows>,
}

impl View for HeyLines {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, event: Event) {
        let Event::Request(record) = event else { return };
        self.rows.iter_mut().for_each(|rows| rows.add(&record));
    }
}
