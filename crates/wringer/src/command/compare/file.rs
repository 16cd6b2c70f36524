//! The file of a comparison: its record and what follows from it. Anybody can conclude from it again, and a comparison goes on from it.

use super::legs::Legs;
use crate::command::decided::DecisionFiles;
use crate::command::show;
use crate::problem::Problem;
use cli::CompareArgs;
use decide::compare::{COMPARISON, Compare, Decision, Outcome, Settings, SideSeen};
use decide::machine::{RecordOf, Recorded};
use decide::words;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The places of the files: JSON where it is wanted or where the comparison goes on from, and the page.
pub fn places(args: &CompareArgs) -> DecisionFiles<'_> {
    let json = args.asked.json.as_deref().or(args.asked.resume.as_deref());
    DecisionFiles { what: "the decision", json, html: args.asked.html.as_deref() }
}

/// Writes what there is where it is wanted, so that no leg is lost whatever happens to this process.
///
/// # Errors
/// A file cannot be written.
pub fn keep(
    args: &CompareArgs,
    legs: &Legs<'_>,
    compare: &Recorded<Compare>,
    outcome: Option<&Outcome>,
) -> Result<(), Problem> {
    let decision = Decision {
        schema: COMPARISON,
        schema_version: 1,
        version: env!("CARGO_PKG_VERSION"),
        a: &legs.names[0],
        b: &legs.names[1],
        sides: &legs.sides.names(),
        facts: &legs.facts(),
        exit: outcome.map(|outcome| outcome.end().code()),
        text: outcome.map(Outcome::headline),
        outcome,
        record: compare.record(),
        seen: &legs.first,
        files: legs.files.iter().map(Option::as_deref).collect(),
    };
    places(args).keep(&decision, outcome.map(|outcome| told(legs, outcome)))
}

/// The conclusion as it is printed, behind the facts that a reader must know first.
pub fn told(legs: &Legs<'_>, outcome: &Outcome) -> String {
    let facts: String = legs.facts().iter().map(|fact| format!("{fact}\n")).collect();
    format!("{facts}{}", outcome.text())
}

/// The parts of it that are needed to go on.
#[derive(Deserialize)]
struct CompareWritten {
    schema: String,
    sides: [String; 2],
    record: RecordOf<Compare>,
    seen: [Option<SideSeen>; 2],
    files: Vec<Option<PathBuf>>,
}

/// A comparison that is to go on.
pub struct Resumed {
    file: PathBuf,
    written: CompareWritten,
}

/// Reads a comparison that is to go on.
///
/// # Errors
/// The file cannot be read, or is none of a comparison.
pub fn read(file: &Path) -> Result<Resumed, Problem> {
    let named = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Problem::Usage(format!("--resume: {named} cannot be read: {error}")))?;
    let none =
        |why: String| Problem::Usage(format!("--resume: {named} is no comparison that can go on: {why}"));
    let written: CompareWritten = serde_json::from_str(&text).map_err(|error| none(error.to_string()))?;
    if written.schema != COMPARISON {
        return Err(none(format!("its schema is {}", written.schema)));
    }
    Ok(Resumed { file: file.to_owned(), written })
}

impl Resumed {
    /// Its seed.
    pub fn seed(&self) -> u64 {
        self.written.record.settings.seed
    }

    /// The comparison where it ended.
    ///
    /// # Errors
    /// It is of other sides, was made with other options, or is not one that this version would have made.
    pub fn go_on(self, legs: &mut Legs<'_>, asked: &Settings) -> Result<Recorded<Compare>, Problem> {
        let named = self.file.display();
        let CompareWritten { sides, record, seen, files, .. } = self.written;
        let typed = legs.sides.names();
        if sides != typed {
            return Err(Problem::Usage(format!(
                "--resume: the comparison in {named} is of A {} and B {}, and not of A {} and B {}: start anew",
                sides[0], sides[1], typed[0], typed[1]
            )));
        }
        if record.settings != *asked {
            return Err(Problem::Usage(format!(
                "--resume: the comparison in {named} was made with other options than these, or another seed: give the same, or start anew"
            )));
        }
        let steps = record.steps.len();
        let compare = Recorded::resume(record)
            .map_err(|error| Problem::Usage(format!("--resume: {named}: {error}")))?;
        legs.go_on(seen, files.into_iter().take(steps).collect());
        show::tell(&format!("going on after {}", words::count(steps, "leg")));
        Ok(compare)
    }
}
