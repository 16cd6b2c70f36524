//! `wringer h1load` and `wringer haload`: the old tools' options, lines and exit codes over a session.

use super::report::{H1loadLines, percentiles};
use super::{Generator, Run, parse};
use crate::ToolShown;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, Row, Second};
use session::{Finished, View};
use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

macro_rules! door {
    ($door:ident, $tool:expr, $name:literal, $about:literal) => {
        #[doc = concat!("The command line of ", $name, ".")]
        pub struct $door(Run);

        impl Door for $door {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!($name, $about);
            type View = super::H1loadView;
            type Lines = Shower;

            fn read(args: &[OsString], moment: &Moment) -> Result<Self, ToolShown> {
                parse($tool, args, moment.seed).map($door)
            }

            fn help() -> String {
                super::help($tool)
            }

            fn run(&self) -> &Run {
                &self.0
            }

            fn target(&self) -> Option<String> {
                Some(self.0.view.url.clone())
            }

            fn begin(&mut self) -> Result<Shower, Problem> {
                Ok(Shower::begin(&self.0))
            }

            fn lay_out(&self, finished: &Finished, _: Shower) -> Result<Exit, Problem> {
                let view = &self.0.view;
                if view.percentiles {
                    show::write(&percentiles(&finished.result, view.lines.reused_only));
                }
                Ok(Exit::Ok)
            }
        }
    };
}

door!(H1load, Generator::H1load, "h1load", ": the same options, lines and percentiles");
door!(Haload, Generator::Haload, "haload", " of HAProxy: the same options and lines");

/// A line per second.
pub struct Shower(H1loadLines);

impl Shower {
    fn begin(run: &Run) -> Shower {
        // A clock before 1970 shows seconds of the run.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let lines = H1loadLines::new(run.view.lines, now);
        show::write(&lines.head());
        Shower(lines)
    }
}

impl View for Shower {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn second(&mut self, second: &Second, _phase: &str) {
        show::write(&self.0.line(second));
    }

    fn event(&mut self, _event: Event) {}
}
