//! The final report for people: what came of it first, then load, latency, cache, origin, outcomes, the generator.
//!
//! Start at [`report`]: it names the sections in their order. A section is a file and is
//! left out where it has nothing to say.

mod after_reset;
mod agents;
mod cache;
mod codes;
mod generator;
mod headline;
mod labels;
mod latency;
mod load;
mod machine;
mod next;
mod nothing_good;
mod origin;
mod outcomes;
mod shared;
mod short;
mod target;
mod thresholds;
mod timeline;
mod traced;
mod typed;

pub use codes::name as code_name;
pub(crate) use outcomes::failure_text;
pub use outcomes::unanswered;
pub(crate) use typed::plan_file;

use crate::good;
use crate::show;
use measure::{Counts, PhaseResult, RunResult};
use plan::Plan;

/// Facts of a run that the reports need beside its result.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The plan that was run.
    pub plan: &'a Plan,
    /// The command that repeats the run, seed included.
    pub command: &'a str,
    /// Version of the program.
    pub version: &'a str,
    /// Target of the run, such as `nginx 1.22.1 on 127.0.0.1:8080`.
    pub target: Option<&'a str>,
    /// CPU seconds that the target's process used while measuring, where known.
    pub target_cpu: Option<f64>,
    /// The file that holds the answers that failed a check.
    pub evidence_file: Option<&'a str>,
    /// The code that the process ends with, as far as is known; `None`: it goes on, or nobody has told its end.
    pub exit: Option<u8>,
    /// When the run began, in seconds since 1970.
    pub started_unix_s: f64,
    /// Workers.
    pub threads: u32,
}

/// The figures that count: the measured phases as one, or the origin's own where only it ran.
pub(crate) fn measured(result: &RunResult, plan: &Plan) -> PhaseResult {
    if plan.load.is_some() {
        return result.measured();
    }
    let mut served = PhaseResult::new("origin", true);
    (served.took, served.origin) = (result.took, result.origin);
    served
}

/// The report, at most [`show::WIDTH`] columns wide but for names and the command.
pub fn report(result: &RunResult, context: &Context<'_>) -> String {
    joined(sections(result, context))
}

/// One screen of it: the first lines, how response times are spread, the conditions, the next command.
pub fn one_screen(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    joined(Report { result, context, phase: &measured }.short())
}

/// The text behind requests that were told one by one, which has no statistics.
pub fn told(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    joined(Report { result, context, phase: &measured }.told())
}

fn joined(sections: Vec<Section>) -> String {
    sections.into_iter().map(Section::into_text).collect::<Vec<_>>().join("\n")
}

/// The sections that have something to say, in their order; the first is the headline.
pub(crate) fn sections(result: &RunResult, context: &Context<'_>) -> Vec<Section> {
    let measured = measured(result, context.plan);
    let report = Report { result, context, phase: &measured };
    let sections = [
        Some(report.headline(headline::Behind::Sections)),
        report.target(),
        report.thresholds(),
        report.load(),
        report.latency(),
        report.traced(),
        report.labels(),
        report.timeline(),
        report.cache(),
        report.origin(),
        report.outcomes(),
        report.codes(),
        report.http2(),
        report.http3(),
        report.oracle(),
        Some(report.generator()),
        report.agents(),
        Some(report.repeat()),
        report.next(),
    ];
    sections.into_iter().flatten().collect()
}

/// Title and lines of the headline, for other layouts; the right of a line is not wrapped.
pub(crate) fn headline_rows(
    result: &RunResult,
    context: &Context<'_>,
    phase: &PhaseResult,
) -> (String, Vec<[String; 2]>) {
    let report = Report { result, context, phase };
    (report.title(), report.headline_rows(headline::Behind::Nothing))
}

/// The next command, for other layouts.
pub(crate) fn next_command(
    result: &RunResult,
    context: &Context<'_>,
    phase: &PhaseResult,
) -> Option<Section> {
    Report { result, context, phase }.next()
}

/// A title and the lines beneath it.
pub(crate) struct Section {
    pub title: String,
    pub lines: Vec<String>,
}

impl Section {
    fn new(title: &str, lines: Vec<String>) -> Section {
        Section { title: title.to_owned(), lines }
    }

    fn into_text(self) -> String {
        let lines = self
            .lines
            .iter()
            .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
        format!("{}\n{}", self.title, lines.collect::<String>())
    }

    /// Adds a sentence or two, wrapped.
    fn say(&mut self, text: &str) {
        self.lines.extend(show::wrap(text, show::WIDTH - 2));
    }
}

struct Report<'a> {
    result: &'a RunResult,
    context: &'a Context<'a>,
    /// The figures that count.
    phase: &'a PhaseResult,
}

impl Report<'_> {
    fn counts(&self) -> &Counts {
        self.phase.counts()
    }

    fn has_load(&self) -> bool {
        self.context.plan.load.is_some()
    }
}

/// Characters of a phase's name that are shown.
const NAME: usize = 12;

/// Hit ratio by stamps; where answers carry none, what both sides' accounts say.
fn hit_ratio(phase: &PhaseResult) -> Option<f64> {
    phase.hit_ratio().or_else(|| good::offload(phase).filter(|_| phase.counts().unstamped > 0))
}

/// A name in at most [`NAME`] characters.
fn short(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

fn time_or_dash(us: u64) -> String {
    show::or_dash((us > 0).then(|| show::time(us)))
}
