//! The end of a run: everything that can still go wrong goes into one exit code, which is told last, to the run file, to whoever looks
//! on and to the process.

use crate::output;
use crate::problem::{Exit, Problem};
use session::Finished;
use std::path::PathBuf;

/// How a process that has run something ends, as far as it is known.
pub struct Ending {
    exit: Exit,
    evidence_file: Option<String>,
}

impl Ending {
    /// So far, it ends so.
    pub fn new(exit: Exit) -> Ending {
        Ending { exit, evidence_file: None }
    }

    /// Something was done that may have failed. `say`: tells why it did.
    pub fn add(&mut self, done: Result<(), Problem>, say: &dyn Fn(&Problem)) {
        if let Err(problem) = done {
            say(&problem);
            self.exit = self.exit.or_worse(problem.exit());
        }
    }

    /// Answers that failed a check are in this file.
    pub fn evidence_in(&mut self, file: Option<String>) {
        self.evidence_file = file;
    }

    /// It ends so, whatever was before.
    pub fn set(&mut self, exit: Exit) {
        self.exit = exit;
    }

    /// How the process ends if nothing else goes wrong.
    pub fn so_far(&self, finished: &Finished) -> Exit {
        output::settled(unless_lost(self.exit, finished.has_lost()))
    }

    /// The run is told its end. Nothing may be written to standard output after it. Returns how the process ends, and the run file
    /// where it holds all of the run.
    pub fn tell(self, finished: Finished) -> (Exit, Option<PathBuf>) {
        let exit = self.so_far(&finished);
        let ended = finished.end(exit.number(), self.evidence_file, &output::notice);
        // What is lost with the last record cannot stand in it.
        (unless_lost(exit, ended.lost), ended.file)
    }
}

/// Something that was asked for by name may be lost.
fn unless_lost(exit: Exit, lost: bool) -> Exit {
    if lost { exit.or_worse(Exit::Impossible) } else { exit }
}
