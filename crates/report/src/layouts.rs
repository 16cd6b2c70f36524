//! Layouts in which a run can be shown, a line each: [`LAYOUTS`]. What makes one is its own file. Those of old tools are in `tools`.

use crate::language::Language;
use crate::metrics::Format;
use crate::page::{self, Gathered};
use crate::text::Context;
use crate::{csv, harmless, hlog, json, junit, metrics, record_line, sarif, slowest, summary, text};
use measure::{Head, KeptExchanges, RunEvent, RunResult};

/// A run that is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Facts from its beginning.
    pub head: &'a Head,
    /// Outcome of it.
    pub result: &'a RunResult,
    /// Facts that reports need beside that.
    pub context: &'a Context<'a>,
    /// Its records; none for layouts that are made of the result alone.
    pub records: &'a [RunEvent],
}

/// A run in a layout.
#[derive(Debug, Default)]
pub struct LaidOut {
    /// It.
    pub text: String,
    /// Sentences on what is not as one would think.
    pub notes: Vec<String>,
}

/// Origin of a layout's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Outcome of the run.
    Result,
    /// Its records.
    Records,
    /// Single requests, which are only kept where that was asked for.
    Requests,
}

/// A layout.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Its name behind `--as`.
    pub name: &'static str,
    /// A sentence for help.
    pub about: &'static str,
    /// Origin of its figures.
    pub source: Source,
    make: fn(&Shown<'_>) -> Result<LaidOut, String>,
}

impl Layout {
    /// The run in this layout.
    ///
    /// # Errors
    /// A sentence that says why it cannot be made.
    pub fn make(&self, run: &Shown<'_>) -> Result<LaidOut, String> {
        let mut made = (self.make)(run)?;
        if self.source == Source::Requests {
            made.notes.extend(kept_note(run));
        }
        Ok(made)
    }
}

/// A layout.
pub const fn layout(
    name: &'static str,
    source: Source,
    make: fn(&Shown<'_>) -> Result<LaidOut, String>,
    about: &'static str,
) -> Layout {
    Layout { name, about, source, make }
}

use Source::{Records, Requests, Result as Of};

/// Our own, in the order of help.
pub const LAYOUTS: &[Layout] = &[
    layout("text", Of, of_text, "As it was printed when it was over, the whole of it"),
    layout("short", Of, of_short, "The same on one screen, as --short prints it"),
    layout("json", Of, |run| plain(json::report(run.result, run.context)), "As --json writes it"),
    layout("html", Records, of_page, "As --html writes it"),
    layout(
        "summary",
        Of,
        |run| plain(summary::report(run.result, run.context)),
        "As --summary writes it: Markdown",
    ),
    layout(
        "junit",
        Of,
        |run| plain(junit::report(run.result, run.context)),
        "As --junit writes it: each condition is a test",
    ),
    layout(
        "sarif",
        Of,
        |run| plain(sarif::report(run.result, run.context)),
        "As --sarif writes it: faults, for code scanning",
    ),
    layout("csv", Of, |run| plain(csv::seconds(run.result)), "Second by second, for tables"),
    layout(
        "events",
        Records,
        |run| plain(run.records.iter().map(record_line).collect()),
        "Its records, a line each",
    ),
    layout(
        "openmetrics",
        Of,
        |run| plain(metrics::text(run.result, run.head, Format::OpenMetrics)),
        "As metrics, in the text of OpenMetrics 1.0",
    ),
    layout("hlog", Records, of_hlog, "HdrHistogram's log: a histogram for each second and kind of time"),
    layout(
        "requests.csv",
        Requests,
        |run| plain(csv::requests(run.head, kept(run))),
        "Single requests that were kept, for tables",
    ),
    layout(
        "slowest",
        Requests,
        |run| plain(slowest::table(run.head, kept(run))),
        "The ten slowest of the single requests that were kept",
    ),
];

/// A text of which nothing is to be said.
///
/// # Errors
/// None.
pub fn plain(text: String) -> Result<LaidOut, String> {
    Ok(LaidOut { text, notes: Vec::new() })
}

fn of_text(run: &Shown<'_>) -> Result<LaidOut, String> {
    plain(format!("\n{}", harmless(&text::report(run.result, run.context))))
}

fn of_short(run: &Shown<'_>) -> Result<LaidOut, String> {
    plain(format!("\n{}", harmless(&text::one_screen(run.result, run.context))))
}

fn of_page(run: &Shown<'_>) -> Result<LaidOut, String> {
    let mut gathered = Gathered::default();
    run.records.iter().for_each(|record| gathered.apply(record));
    // The page has its own languages; this is what those without scripts read.
    let context = Context { language: Language::English, ..run.context.clone() };
    let page = page::report(&gathered, &text::report(run.result, &context));
    plain(page.map_err(|error| format!("the page cannot be made: {error}"))?)
}

fn of_hlog(run: &Shown<'_>) -> Result<LaidOut, String> {
    let log = hlog::text(run.head, run.records);
    let text = log.map_err(|error| format!("the log cannot be made: {error}"))?;
    Ok(LaidOut { text, notes: vec!["times of seconds are kept in two digits, 0.8 % wide".to_owned()] })
}

/// Single requests of a run.
pub fn kept<'a>(run: &Shown<'a>) -> impl Iterator<Item = &'a KeptExchanges> + use<'a> {
    run.records.iter().filter_map(|event| match event {
        RunEvent::Exchanges(exchanges) => Some(&**exchanges),
        _ => None,
    })
}

/// Returns the note on single requests that are not all.
fn kept_note(run: &Shown<'_>) -> Option<String> {
    match kept(run).next()?.keep.as_str() {
        "failures" => Some("only requests that were not good were kept".to_owned()),
        share if share != "exchanges" => Some(format!("a sample: {share} of all requests")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_different() {
        let names: BTreeSet<&str> = LAYOUTS.iter().map(|layout| layout.name).collect();
        assert_eq!(names.len(), LAYOUTS.len());
    }
}
