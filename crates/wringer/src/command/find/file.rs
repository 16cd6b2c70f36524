//! The file of a search: its record and what follows from it. Anybody can conclude from it again, and a search goes on from it.

use super::trials::Trials;
use crate::command::decided::DecisionFiles;
use crate::command::leg::Processes;
use crate::problem::Problem;
use cli::FindArgs;
use decide::find::{Bought, Conclusion, Find, FindSettings, Rounds, SEARCH, Search, searched};
use decide::machine::{Next, RecordOf, Recorded};
use decide::words;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The places of the files: JSON where it is wanted or where the search goes on from, and the page.
pub fn places(args: &FindArgs) -> DecisionFiles<'_> {
    let json = args.sought.json.as_deref().or(args.sought.resume.as_deref());
    DecisionFiles { what: "the conclusion", json, html: args.sought.html.as_deref() }
}

/// Findings that are written.
#[derive(Default)]
pub struct Parts<'a> {
    /// The exit code; `None`: it is not over.
    pub exit: Option<u8>,
    /// The conclusion of the search as it was printed.
    pub text: Option<&'a str>,
    /// The conclusion of the search, or what is known so far.
    pub conclusion: Option<&'a Conclusion>,
    /// The search.
    pub record: Option<&'a RecordOf<Find>>,
    /// Machines to buy, where that was asked.
    pub purchase: Option<&'a Bought>,
    /// The highest throughput, where that was asked.
    pub throughput: Option<&'a Rounds>,
}

impl Parts<'_> {
    /// Writes them where they are wanted.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&self, trials: &Trials<'_>) -> Result<(), Problem> {
        let search = Search {
            schema: SEARCH,
            schema_version: 1,
            version: env!("CARGO_PKG_VERSION"),
            target: &trials.name,
            exit: self.exit,
            text: self.text,
            conclusion: self.conclusion,
            record: self.record,
            purchase: self.purchase,
            throughput: self.throughput,
            answered_by: trials.answered_by(),
            files: trials.files.iter().map(Option::as_deref).collect(),
        };
        let over = self.exit.map(|_| {
            let highest = self.throughput.and_then(|rounds| rounds.highest.as_ref());
            searched(self.text, highest)
        });
        places(trials.args).keep(&search, over)
    }
}

/// The parts of it that are needed to go on.
#[derive(Deserialize)]
struct FindWritten {
    schema: String,
    target: String,
    record: Option<RecordOf<Find>>,
    #[serde(default)]
    answered_by: Processes,
    files: Vec<Option<PathBuf>>,
}

/// A search that is to go on.
pub struct Kept {
    file: PathBuf,
    target: String,
    record: RecordOf<Find>,
    answered_by: Processes,
    files: Vec<Option<PathBuf>>,
}

/// Reads a search that is to go on.
///
/// # Errors
/// The file cannot be read, or is none of a search.
pub fn read(file: &Path) -> Result<Kept, Problem> {
    let named = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| Problem::Usage(format!("--resume: {named} cannot be read: {error}")))?;
    let none = |why: String| Problem::Usage(format!("--resume: {named} is no search that can go on: {why}"));
    let written: FindWritten = serde_json::from_str(&text).map_err(|error| none(error.to_string()))?;
    if written.schema != SEARCH {
        return Err(none(format!("its schema is {}", written.schema)));
    }
    let FindWritten { target, record, answered_by, files, .. } = written;
    let record = record.ok_or_else(|| none("it looked for no limit".to_owned()))?;
    Ok(Kept { file: file.to_owned(), target, record, answered_by, files })
}

impl Kept {
    /// Settings to go on with: its own, which must be those that are asked for.
    ///
    /// # Errors
    /// They are not.
    pub fn settings_for(&self, args: &FindArgs, asked: &FindSettings) -> Result<FindSettings, Problem> {
        let own = &self.record.settings;
        let is_same = *own == FindSettings { seed: own.seed, ..asked.clone() };
        if is_same && args.clients.load.seed.is_none_or(|seed| seed == own.seed) {
            return Ok(own.clone());
        }
        let limits: Vec<String> = own.limits.iter().map(|limit| limit.text()).collect();
        Err(Problem::Usage(format!(
            "--resume: the search in {} was made for {}, within {}, a budget of {} and {} with other options than these, or another seed: give the same, or start anew",
            self.file.display(),
            words::list(&limits),
            words::percent(own.within),
            words::time(own.budget_s),
            words::count(own.users as usize, "user"),
        )))
    }

    /// The search where it ended.
    ///
    /// # Errors
    /// It is of another target, or not one that this version would have made.
    pub fn go_on(self, trials: &mut Trials<'_>) -> Result<Recorded<Find>, Problem> {
        let named = self.file.display();
        if self.target != trials.name {
            return Err(Problem::Usage(format!(
                "--resume: the search in {named} is of {}, and not of {}: start anew",
                self.target, trials.name
            )));
        }
        let steps = self.record.steps.len();
        let find = Recorded::resume(self.record)
            .map_err(|error| Problem::Usage(format!("--resume: {named}: {error}")))?;
        trials.expect(&self.answered_by);
        trials.files = self.files.into_iter().take(steps).collect();
        let after = words::count(steps, "trial");
        crate::command::show::tell(&match find.next() {
            Next::Run(_) => format!("going on after {after}"),
            Next::Done(_) => {
                format!(
                    "the search in {named} is over, after {after}: nothing is sent, its conclusion is told again; without --resume it begins anew"
                )
            }
        });
        Ok(find)
    }
}
