//! `wringer vegeta attack`: results over a session; `report` is text at once.

use super::results;
use super::{self as door, Run, parse};
use crate::ToolShown;
use crate::reads::{Disk, Reads};
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, Row};
use plan::{Body, Step};
use session::{Finished, View, files};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// vegeta's command line.
pub struct Vegeta(Run);

impl Door for Vegeta {
    const NAME: &'static str = "vegeta";
    const ABOUT: &'static str = "vegeta: attack, with results as JSON, and report";
    type View = door::View;
    type Lines = VegetaLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<Vegeta, ToolShown> {
        parse(args, moment.seed, &InputOrDisk).map(Vegeta)
    }

    fn help() -> String {
        door::help()
    }

    fn run(&self) -> &Run {
        &self.0
    }

    fn files(&self) -> Vec<&Path> {
        self.0.view.output.as_deref().into_iter().collect()
    }

    fn begin(&mut self) -> Result<VegetaLines, Problem> {
        VegetaLines::new(&self.0)
    }

    fn lay_out(&self, finished: &Finished, mut lines: VegetaLines) -> Result<Exit, Problem> {
        lines.close()?;
        let overflow = finished.result.measured().counts().overflow;
        if overflow > 0 {
            show::notice(&format!(
                "vegeta: {overflow} requests were due and not sent: -max-workers were under way"
            ));
        }
        Ok(Exit::Ok)
    }
}

/// Standard input where a file is called `-`, and the files of this machine.
struct InputOrDisk;

impl Reads for InputOrDisk {
    fn bytes(&self, file: &Path) -> io::Result<Vec<u8>> {
        if is_input(file) {
            files::read_from(io::stdin().lock(), 0, files::LONGEST)
        } else {
            Disk.bytes(file)
        }
    }

    fn body(&self, file: &Path) -> io::Result<Body> {
        if is_input(file) { self.bytes(file).map(Body::from) } else { Disk.body(file) }
    }
}

fn is_input(file: &Path) -> bool {
    file == Path::new("-")
}

/// Results, while it runs.
pub struct VegetaLines {
    name: String,
    follows: bool,
    began_ns: i128,
    /// Bytes of the body of each target, by its place.
    bodies: Vec<u64>,
    /// Results that were not written yet.
    held: String,
    to: Option<(PathBuf, BufWriter<File>)>,
    /// The first thing that went wrong with the file.
    failed: Option<io::Error>,
}

impl VegetaLines {
    fn new(run: &Run) -> Result<VegetaLines, Problem> {
        let open = |file: &PathBuf| {
            let opened = files::create(file).map_err(|error| unwritten(file, &error))?;
            Ok::<_, Problem>((file.clone(), BufWriter::new(opened)))
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Ok(VegetaLines {
            name: run.view.name.clone(),
            follows: run.view.follows,
            began_ns: since as i128,
            bodies: bodies(run),
            held: String::new(),
            to: run.view.output.as_ref().map(open).transpose()?,
            failed: None,
        })
    }

    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        match &mut self.to {
            Some((_, file)) => {
                let written = file.write_all(held.as_bytes());
                if self.failed.is_none() {
                    self.failed = written.err();
                }
            }
            None => show::write(&held),
        }
    }

    fn close(&mut self) -> Result<(), Problem> {
        self.flush();
        let Some((file, to)) = &mut self.to else { return Ok(()) };
        let written = self.failed.take().map_or_else(|| to.flush(), Err);
        written.map_err(|error| unwritten(file, &error))
    }
}

fn bodies(run: &Run) -> Vec<u64> {
    let phases = run.plan.load.iter().flat_map(|load| &load.phases);
    let steps = phases.flat_map(|phase| phase.sends()).filter_map(|step| {
        let Step::Requests(step) = step else { return None };
        Some(step)
    });
    steps
        .flat_map(|step| step.requests.iter().map(|listed| listed.whole().body.length().unwrap_or(0)))
        .collect()
}

fn unwritten(file: &Path, error: &io::Error) -> Problem {
    Problem::impossible(format!("{} cannot be written: {error}", file.display()))
}

impl View for VegetaLines {
    fn row(&mut self, _row: &Row, _phase: &str) {
        self.flush();
    }

    fn event(&mut self, event: Event) {
        let Event::Request(record) = event else { return };
        if self.follows && record.leads_on {
            return;
        }
        let out = self.bodies.get(record.place).copied().unwrap_or(0);
        self.held += &results::line(&record, &self.name, self.began_ns, out);
    }
}
