//! Files of decisions and findings: their JSON, the page that draws it, and both read again.

use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use decide::KeptDecision;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Files that a decision is written to.
pub struct DecisionFiles<'a> {
    /// Its name in messages.
    pub what: &'static str,
    /// The file of its JSON.
    pub json: Option<&'a Path>,
    /// The page.
    pub html: Option<&'a Path>,
}

impl DecisionFiles<'_> {
    /// Finds out before anything is run whether they can be written.
    ///
    /// # Errors
    /// One cannot, or both are to be standard output.
    pub fn can_keep(&self) -> Result<(), Problem> {
        if [self.json, self.html].into_iter().flatten().filter(|file| output::is_stdout(file)).count() > 1 {
            return Err(Problem::Usage(
                "--json - and --html - both want standard output: give one of them a file".to_owned(),
            ));
        }
        self.json.map_or(Ok(()), |file| output::can_keep(self.what, file))?;
        self.html.map_or(Ok(()), |file| output::can_keep(console::keep::PAGE, file))
    }

    /// True if standard output is for one of them, instead of the text.
    pub fn is_stdout(&self) -> bool {
        [self.json, self.html].into_iter().flatten().any(output::is_stdout)
    }

    /// Writes what there is, so that nothing is lost whatever happens to this process; to standard output, and to the page, only when it is over.
    /// `over`: the text that is then printed.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&self, decision: &impl Serialize, over: Option<String>) -> Result<(), Problem> {
        if let Some(file) = self.json.filter(|file| over.is_some() || !output::is_stdout(file)) {
            let text = serde_json::to_string_pretty(decision).expect("figures and texts are JSON") + "\n";
            output::keep(self.what, file, text.as_bytes())?;
        }
        match (self.html, over) {
            (Some(file), Some(text)) => {
                output::keep(console::keep::PAGE, file, page(decision, &text)?.as_bytes())
            }
            (Some(_), None) | (None, _) => Ok(()),
        }
    }
}

fn page(decision: &impl Serialize, text: &str) -> Result<String, Problem> {
    report::page::decision(decision, text)
        .map_err(|error| Problem::impossible(format!("the page cannot be made: {error}")))
}

/// The decision that a file holds; `None`: it holds something else, or there is no such file.
///
/// # Errors
/// It is one that this version cannot read.
pub fn read(file: &Path) -> Result<Option<KeptDecision>, Problem> {
    let mut first = [0];
    let begins = File::open(file).and_then(|mut open| open.read_exact(&mut first));
    // Files of runs begin otherwise, and may be large.
    if begins.is_err() || first != *b"{" {
        return Ok(None);
    }
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(None) };
    KeptDecision::read(&text).map_err(|why| Problem::Usage(format!("{}: {why}", file.display())))
}

/// Prints a decision in a layout.
///
/// # Errors
/// There is no such layout of it.
pub fn report(kept: &KeptDecision, layout: &str) -> Result<Exit, Problem> {
    match layout {
        "text" => show::page(&kept.text),
        "html" => show::write_bytes(page(&kept.json, &kept.text)?.as_bytes()),
        other => {
            return Err(Problem::Usage(format!(
                "--as {other} lays out runs: what compare, find, size and stress write is laid out as text or html, and the file is its JSON"
            )));
        }
    }
    Ok(Exit::Ok)
}
