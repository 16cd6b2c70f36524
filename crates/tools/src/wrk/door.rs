//! `wringer wrk` and `wringer wrk2`: the old tools' options, streams and exit codes over a session.

use super::{Run, Tool, parse};
use crate::ToolShown;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, Row};
use plan::Step;
use session::{Finished, SessionOptions, View, scripts};
use std::ffi::OsString;
use std::time::Duration;

/// How often the threads' rates are taken, as in wrk.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long finding out whether anybody listens may take, for each address.
const PATIENCE: Duration = Duration::from_secs(5);

/// wrk's command line.
pub struct Wrk(Run);

/// wrk2's.
pub struct Wrk2(Run);

/// Both, which differ in their tables and their report.
macro_rules! door {
    ($door:ident, $tool:expr, $name:literal) => {
        impl Door for $door {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!($name, ": the same options, scripts and report");
            const NAMES_FAILURES: bool = true;
            type View = super::WrkView;
            type Lines = Nothing;

            fn read(args: &[OsString], moment: &Moment) -> Result<Self, ToolShown> {
                parse($tool, args, moment.seed, &Moment::read_file).map($door)
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

            fn before(&mut self) -> Result<(), Problem> {
                before(&self.0)
            }

            fn session_options(&self) -> SessionOptions {
                SessionOptions { interval: INTERVAL, ..SessionOptions::default() }
            }

            fn begin(&mut self) -> Result<Nothing, Problem> {
                let view = &self.0.view;
                let threads = view.threads;
                let connections = view.connections;
                show::write(&super::report::banner(&view.url, threads, connections, view.duration));
                Ok(Nothing)
            }

            fn lay_out(&self, finished: &Finished, _: Nothing) -> Result<Exit, Problem> {
                lay_out($tool, &self.0, finished);
                Ok(Exit::Ok)
            }

            /// As the old tools: without a name.
            fn words(problem: &Problem) -> String {
                problem.to_string()
            }
        }
    };
}

door!(Wrk, Tool::Wrk, "wrk");
door!(Wrk2, Tool::Wrk2, "wrk2");

fn before(run: &Run) -> Result<(), Problem> {
    run.view.version.iter().for_each(|version| show::write(version));
    // A script does it in its own way.
    if has_script(run) { Ok(()) } else { reach(run) }
}

fn lay_out(tool: Tool, run: &Run, finished: &Finished) {
    let options = super::report::WrkOptions {
        wrk2: tool == Tool::Wrk2,
        latency: run.view.latency,
        uncorrected: run.view.uncorrected,
    };
    show::write(&super::report::report(&finished.result, options));
    let name = tool.name();
    super::report::failures(&finished.result)
        .iter()
        .for_each(|line| show::notice(&format!("{name}: {line}")));
}

fn has_script(run: &Run) -> bool {
    let phases = run.plan.load.iter().flat_map(|load| &load.phases);
    phases.flat_map(|phase| phase.sends()).any(|step| matches!(step, Step::Script(_)))
}

/// Looks up the host and finds out whether anybody listens there, in the old tools' words.
fn reach(run: &Run) -> Result<(), Problem> {
    let host = &run.view.host;
    let service = &run.view.service;
    let unresolved = |why| Problem::impossible(format!("unable to resolve {host}:{service} {why}"));
    let mut reason = "no address".to_owned();
    for address in scripts::lookup(host, service).map_err(unresolved)? {
        match scripts::connect(address, PATIENCE) {
            Ok(()) => return Ok(()),
            Err(why) => reason = why,
        }
    }
    Err(Problem::impossible(format!("unable to connect to {host}:{service} {reason}")))
}

/// Nothing is shown while it runs.
pub struct Nothing;

impl View for Nothing {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, _event: Event) {}
}
