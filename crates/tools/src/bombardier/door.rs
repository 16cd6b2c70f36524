//! `wringer bombardier`: the old tool's options, report and exit codes over a session.

use super::report;
use super::{self as door, Run, parse};
use crate::ToolShown;
use crate::reads::Disk;
use crate::runner::{Door, Moment, Silent};
use console::output as show;
use console::problem::{Exit, Problem};
use session::Finished;
use std::ffi::OsString;

/// bombardier's command line.
pub struct Bombardier(Run);

impl Door for Bombardier {
    const NAME: &'static str = "bombardier";
    const ABOUT: &'static str = "bombardier: the same options and report";
    type View = door::BombardierView;
    type Lines = Silent;

    fn read(args: &[OsString], moment: &Moment) -> Result<Bombardier, ToolShown> {
        parse(args, moment.seed, &Disk).map(Bombardier)
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

    fn begin(&mut self) -> Result<Silent, Problem> {
        let view = &self.0.view;
        if view.parts.intro {
            show::write(&report::intro(view));
        }
        Ok(Silent)
    }

    fn lay_out(&self, finished: &Finished, _: Silent) -> Result<Exit, Problem> {
        let view = &self.0.view;
        if view.parts.progress {
            show::write("Done!\n");
        }
        if view.parts.result {
            show::write(&match view.json {
                true => report::json(&finished.result, view),
                false => report::text(&finished.result, view.latencies),
            });
        }
        Ok(Exit::Ok)
    }
}
