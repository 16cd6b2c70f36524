//! `wringer fortio load`: the old tool's options, report, JSON and exit codes over a session.

use super::report::{self, FortioWords};
use super::{self as door, Run, parse};
use crate::ToolShown;
use crate::reads::Disk;
use crate::runner::{Door, Moment, Silent};
use console::output as show;
use console::problem::{Exit, Problem};
use session::Finished;
use std::ffi::OsString;
use std::path::Path;

/// fortio's command line.
pub struct Fortio(Run);

impl Fortio {
    /// Standard output is for the result as JSON.
    fn is_aside(&self) -> bool {
        self.0.view.result.as_deref().is_some_and(show::is_stdout)
    }

    fn say(&self, text: &str) {
        if self.is_aside() { show::aside(text) } else { show::write(text) }
    }
}

impl Door for Fortio {
    const NAME: &'static str = "fortio";
    const ABOUT: &'static str = "fortio: load, with its report and JSON";
    type View = door::FortioView;
    type Lines = Silent;

    fn read(args: &[OsString], moment: &Moment) -> Result<Fortio, ToolShown> {
        parse(args, moment.seed, &Disk).map(Fortio)
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

    fn files(&self) -> Vec<&Path> {
        self.0.view.result.as_deref().filter(|file| !show::is_stdout(file)).into_iter().collect()
    }

    fn begin(&mut self) -> Result<Silent, Problem> {
        self.say(&report::begin(&self.0.view));
        Ok(Silent)
    }

    fn lay_out(&self, finished: &Finished, _: Silent) -> Result<Exit, Problem> {
        let view = &self.0.view;
        let told = FortioWords {
            view,
            started_unix_s: finished.head.started_unix_s,
            threads: finished.head.threads,
        };
        self.say(&report::text(&finished.result, view));
        if let Some(file) = &view.result {
            let json = report::json(&finished.result, &told);
            show::keep("fortio's result", file, json.as_bytes())?;
            let place = if self.is_aside() { "stdout".to_owned() } else { file.display().to_string() };
            self.say(&format!("Successfully wrote {} bytes of Json data to {place}\n", json.len()));
        }
        Ok(Exit::Ok)
    }
}
