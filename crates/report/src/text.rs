//! The final report for people: what came of it first, then load, latency, cache, origin, outcomes, the generator.
//!
//! Start at [`report`]: it names the sections in their order. A section is a file and is
//! left out where it has nothing to say.
//!
//! A section is kept as blocks: sentences that are not wrapped yet, and tables whose cells are still cells. Only when it is laid out
//! ([`Section::lines`]) is it said in the language of the run, block by block: before that there is one source, in English, and after it
//! sentences are cut into lines and cells padded for words that others would take the place of.

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
pub use typed::plan_file;

use crate::good;
use crate::language::Language;
use crate::show::{self, ShowTable};
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
    /// Of the text for people; what programs read is in English.
    pub language: Language,
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
    joined(sections(result, context), context.language)
}

/// The report for those who read a page without scripts: in English, as the page itself chooses its language only with them.
pub fn of_page(result: &RunResult, context: &Context<'_>) -> String {
    joined(sections(result, context), Language::English)
}

/// One screen of it: the first lines, how response times are spread, the conditions, the next command.
pub fn one_screen(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    joined(Report { result, context, phase: &measured }.short(), context.language)
}

/// The text behind requests that were told one by one, which has no statistics.
pub fn told(result: &RunResult, context: &Context<'_>) -> String {
    let measured = measured(result, context.plan);
    joined(Report { result, context, phase: &measured }.told(), context.language)
}

fn joined(sections: Vec<Section>, language: Language) -> String {
    sections.into_iter().map(|section| section.into_text(language)).collect::<Vec<_>>().join("\n")
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
        report.origins(),
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

/// A title and what stands beneath it.
pub(crate) struct Section {
    pub title: String,
    blocks: Vec<Paragraph>,
}

/// A part of a section, in English and not yet in lines.
enum Paragraph {
    /// A sentence or two, which are wrapped.
    Sentences(String),
    /// Words of ours on a line of their own, however long.
    Line(String),
    /// A line that is not in our words, such as a command.
    Quote(String),
    /// A table, set in by so many columns; those that are left out first where they do not fit.
    Table { table: ShowTable, set_in: usize, spare: &'static [usize] },
}

impl Section {
    fn new(title: &str) -> Section {
        Section { title: title.to_owned(), blocks: Vec::new() }
    }

    /// A section that begins with this table.
    fn of(title: &str, table: ShowTable) -> Section {
        let mut section = Section::new(title);
        section.show(table);
        section
    }

    /// Adds a sentence or two, which are wrapped.
    fn say(&mut self, text: &str) {
        self.blocks.push(Paragraph::Sentences(text.to_owned()));
    }

    /// Adds words of ours on a line of their own.
    fn line(&mut self, text: String) {
        self.blocks.push(Paragraph::Line(text));
    }

    /// Adds a line that is not in our words.
    fn quote(&mut self, text: &str) {
        self.blocks.push(Paragraph::Quote(text.to_owned()));
    }

    fn show(&mut self, table: ShowTable) {
        self.show_within(table, &[]);
    }

    /// Adds a table of which these columns are left out first where it is too wide.
    fn show_within(&mut self, table: ShowTable, spare: &'static [usize]) {
        self.blocks.push(Paragraph::Table { table, set_in: 0, spare });
    }

    fn show_indented(&mut self, table: ShowTable) {
        self.blocks.push(Paragraph::Table { table, set_in: 2, spare: &[] });
    }

    /// Returns what stands beneath the title, line by line.
    pub fn lines(&self, language: Language) -> Vec<String> {
        let say = |text: &str| language.say(text);
        let lines = |block: &Paragraph| match block {
            Paragraph::Sentences(text) => show::wrap(&say(text), show::WIDTH - 2),
            Paragraph::Line(text) => vec![say(text)],
            Paragraph::Quote(text) => vec![text.clone()],
            Paragraph::Table { table, set_in, spare } => {
                let lines = table.clone().said(say).lines_within(spare);
                lines.into_iter().map(|line| " ".repeat(*set_in) + &line).collect()
            }
        };
        self.blocks.iter().flat_map(lines).collect()
    }

    fn into_text(self, language: Language) -> String {
        let lines = self.lines(language);
        let lines =
            lines.iter().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") });
        format!("{}\n{}", language.say(&self.title), lines.collect::<String>())
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
