//! What native commands print: a line per second, and the report at the end.

use crate::problem::{Exit, Problem};
use crate::session::{self, Finished, View};
use doors::native::OutputArgs;
use measure::{Event, Row};
use plan::Plan;
use report::Context;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Writes a line; a reader that went away does not matter.
pub fn line(text: &str) {
    write(&format!("{text}\n"));
}

/// Writes text as it is.
pub fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// A line on standard error: what people should know and programs need not read.
pub fn notice(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// What may fall short, before a run: a line each on standard error.
pub fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| notice(&format!("warning: {warning}")));
}

/// Rows shorter than this are not shown, in seconds.
const SHORTEST_ROW_S: f64 = 0.1;

/// A line per second.
pub struct Lines {
    lines: Option<report::live::Lines>,
    /// Whether lines go to standard error, because standard output is for JSON.
    aside: bool,
}

impl Lines {
    /// As the options say.
    pub fn new(output: &OutputArgs, has_origin: bool) -> Lines {
        let aside = output.json.as_deref() == Some(Path::new("-"));
        let lines = (!output.quiet).then(|| report::live::Lines::new(has_origin, width(aside)));
        Lines { lines, aside }
    }
}

/// Columns of the terminal; 0 where there is none.
fn width(aside: bool) -> usize {
    let terminal = if aside { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let size = || rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if terminal { size() } else { 0 }
}

impl View for Lines {
    fn row(&mut self, row: &Row, phase: &str) {
        let Some(lines) = &mut self.lines else { return };
        // The moment between the last full interval and the end of the run says nothing to a reader.
        if row.seconds < SHORTEST_ROW_S && row.at_s > 1.0 {
            return;
        }
        let text = lines.row(row, phase);
        if self.aside { notice(text.trim_end()) } else { write(&text) }
    }

    fn event(&mut self, _event: Event) {}
}

/// What a report needs to know beside the result.
pub struct Ran<'a> {
    /// What was run.
    pub plan: &'a Plan,
    /// What was pressed.
    pub target: Option<String>,
    /// How it is shown.
    pub output: &'a OutputArgs,
    /// The option of the door that fixes the seed, and whether it was given.
    pub seed_option: Option<&'static str>,
}

/// Prints the report, keeps evidence and JSON, and says how the process ends.
pub fn report(finished: &Finished, ran: &Ran<'_>) -> Result<Exit, Problem> {
    let evidence_file = keep_evidence(finished, &ran.output.evidence_file)?;
    let command = repeat(ran.plan.seed, ran.seed_option);
    let context = Context {
        plan: ran.plan,
        command: &command,
        version: env!("CARGO_PKG_VERSION"),
        target: ran.target.as_deref(),
        target_cpu: finished.target_cpu,
        evidence_file: evidence_file.as_deref(),
        started_unix_s: finished.started_unix_s,
        threads: finished.threads,
    };
    let to_stdout = ran.output.json.as_deref() == Some(Path::new("-"));
    if !to_stdout {
        write(&format!("\n{}", report::text::report(&finished.result, &context)));
    }
    if let Some(file) = &ran.output.json {
        keep_json(file, &report::json::report(&finished.result, &context))?;
    }
    Ok(exit(finished))
}

/// Writes a result as JSON to a file, or to standard output for `-`.
pub fn keep_json(file: &Path, json: &str) -> Result<(), Problem> {
    if file == Path::new("-") {
        line(json);
        return Ok(());
    }
    std::fs::write(file, json).map_err(|error| {
        Problem::impossible(format!("the result cannot be written to {}: {error}", file.display()))
    })
}

fn keep_evidence(finished: &Finished, file: &Path) -> Result<Option<String>, Problem> {
    if finished.result.evidence.is_empty() {
        return Ok(None);
    }
    session::write_evidence(&finished.result.evidence, file).map_err(|error| {
        Problem::impossible(format!("evidence cannot be written to {}: {error}", file.display()))
    })?;
    Ok(Some(file.display().to_string()))
}

/// 3 where answers were wrong, 1 where there were none at all.
fn exit(finished: &Finished) -> Exit {
    let counts: Vec<_> = finished.result.phases.iter().map(|phase| *phase.counts()).collect();
    let sum = |of: fn(&measure::Counts) -> u64| counts.iter().map(of).sum::<u64>();
    if sum(|counts| counts.faulty) > 0 {
        Exit::Wrong
    } else if sum(|counts| counts.requests) > 0 && sum(|counts| counts.ended) == 0 {
        Exit::Impossible
    } else {
        Exit::Fine
    }
}

/// The command line that repeats this run: what was typed, with the seed.
pub fn repeat(seed: u64, seed_option: Option<&'static str>) -> String {
    let mut words: Vec<String> = std::env::args().collect();
    if let Some(program) = words.first_mut() {
        *program = Path::new(program.as_str())
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    }
    if let Some(option) = seed_option {
        words.push(option.to_owned());
        words.push(seed.to_string());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
