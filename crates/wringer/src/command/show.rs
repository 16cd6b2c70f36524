//! Output of native commands: a line per second, and the report at the end.

use crate::arguments::repeat;
use crate::layout::language;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::runs;
use crate::serve::{self, PageServer, Running};
use crate::signals;
use crate::tui;
use cli::{ExportArgs, KeepArgs, MetricNames, OutputArgs};
use console::ending::Ending;
use console::keep::{PAGE, RESULT};
use measure::event::HeadTitle;
use measure::{Event, Row, RunResult, Second, TalkEvent};
use plan::{Load, Plan};
use report::Context;
use report::exchange_lines::{ErrorLines, error_line, head_view};
use report::layouts::Shown;
use report::metrics::Names;
use session::export::{self, Exports};
use session::files;
use session::live::Live;
use session::steer::Steering;
use session::{self, About, Finished, Keep, Sinks, View};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::Path;

pub use crate::output::{aside, line, notice, write, write_bytes};

/// Writes a finished page of ours in the language of reports.
pub fn page(text: &str) {
    write(&language().say_page(text));
}

/// The same of a line.
pub fn say_line(text: &str) {
    line(&language().say_page(text));
}

/// Tells on standard error how far a decision has come, in the language of reports.
pub fn tell(text: &str) {
    notice(&language().say_page(text));
}

/// Warns of what may fall short, before a run, and of conditions that seem to stand in the wrong place: a line each on standard error.
pub fn warn(warnings: &[String], plan: &Plan) {
    let doubtful = plan.load.iter().flat_map(Load::doubtful_conditions);
    warnings.iter().cloned().chain(doubtful).for_each(|warning| tell(&format!("warning: {warning}")));
}

/// A line per second, and what the plan has told about single requests.
pub struct Lines {
    clients: report::live::Lines,
    origin: report::live::OriginLines,
    error_lines: ErrorLines,
    quiet: bool,
    /// True if lines go to standard error, because standard output is for JSON.
    aside: bool,
}

impl Lines {
    /// As the options and the plan say. `has_origin`: the origin's figures will be known.
    pub fn new(output: &OutputArgs, plan: &Plan, has_origin: bool) -> Lines {
        let known = report::live::Known { hits: plan.asks_for_objects(), origin: has_origin };
        let aside = is_stdout(output);
        let width = width(aside);
        Lines {
            clients: report::live::Lines::new(known, width, language()),
            origin: report::live::OriginLines::new(width, language()),
            error_lines: ErrorLines::of(plan),
            quiet: output.quiet,
            aside,
        }
    }

    fn shows(&self, row: &Row) -> bool {
        tui::active().is_none() && !self.quiet && report::live::is_worth_showing(row)
    }

    fn say(&self, text: &str) {
        if self.aside { notice(text.trim_end()) } else { write(text) }
    }

    fn head(&self, title: HeadTitle, text: &[u8]) {
        self.say(&String::from_utf8_lossy(&head_view(title, text)));
    }

    fn tell_held_back(&mut self) {
        if tui::active().is_some_and(|tui| tui.is_shown()) {
            return;
        }
        self.error_lines.held_back().iter().for_each(|line| notice(line));
    }
}

/// True if standard output is for a result or for records, instead of the text.
pub fn is_stdout(output: &OutputArgs) -> bool {
    on_stdout(output).next().is_some()
}

/// Options whose file is standard output.
fn on_stdout(output: &OutputArgs) -> impl Iterator<Item = &'static str> {
    let events = output.export.events.as_deref().map(|file| ("events", file));
    let page = output.html.as_deref().map(|file| ("html", file));
    output
        .results()
        .chain(events)
        .chain(page)
        .filter(|(_, file)| output::is_stdout(file))
        .map(|(option, _)| option)
}

/// Columns of the terminal; 0 where there is none.
fn width(aside: bool) -> usize {
    let terminal = if aside { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let size = || rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if terminal { size() } else { 0 }
}

impl View for Lines {
    fn row(&mut self, row: &Row, phase: &str) {
        self.tell_held_back();
        if self.shows(row) {
            let text = self.clients.row(row, phase);
            self.say(&text);
        }
    }

    fn second(&mut self, second: &Second, phase: &str) {
        self.tell_held_back();
        if self.shows(&second.row()) {
            let text = self.clients.second(second, phase);
            self.say(&text);
        }
    }

    fn origin_row(&mut self, row: &Row, cpu: Option<f64>) {
        if self.shows(row) {
            let text = self.origin.row(row, cpu);
            self.say(&text);
        }
    }

    fn note(&mut self, text: &str) {
        notice(&format!("note: {text}"));
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Url(url) => self.say(&format!("{url}\n")),
            Event::Head { title, text } => self.head(title, &text),
            Event::Talk(talk) => match talk.said {
                TalkEvent::Sent(bytes) => self.head(HeadTitle::RequestToProxy, &bytes),
                TalkEvent::Received { bytes, .. } => self.head(HeadTitle::ResponseFromProxy, &bytes),
                TalkEvent::Connecting | TalkEvent::Connected | TalkEvent::Judged { .. } => {}
            },
            Event::RequestError(error) => {
                let line = error_line(&error);
                if self.error_lines.is_new(line.trim_end()) {
                    notice(line.trim_end());
                }
            }
            // What is broken comes again with each user.
            Event::Log { serious, text } => {
                if !serious || self.error_lines.is_new(&text) {
                    notice(&format!("log: {text}"));
                }
            }
            // The session keeps evidence itself; lists of known URLs are jtest's.
            Event::Evidence(_)
            | Event::Lost(_)
            | Event::Traced(_)
            | Event::Body(_)
            | Event::Fetched(_)
            | Event::Request(_)
            | Event::Transaction(_)
            | Event::Page(_)
            | Event::Kept(_)
            | Event::First(_)
            | Event::FirstTls(_)
            | Event::Certificate(_)
            | Event::Connection(_) => {}
        }
    }

    fn end(&mut self) {
        tui::active().iter().for_each(tui::Handle::leave);
        self.tell_held_back();
    }
}

/// Context that a report needs beside the result.
pub struct Ran<'a> {
    /// The plan that was run.
    pub plan: &'a Plan,
    /// How it is shown.
    pub output: &'a OutputArgs,
    /// Who shows it while it goes on.
    pub server: Option<PageServer>,
}

/// Options of a native command that its run is described by.
pub struct ShowAsked<'a> {
    pub output: &'a OutputArgs,
    pub keep: &'a KeepArgs,
    /// The option that fixes the seed, where it was not given.
    pub seed_option: Option<&'static str>,
}

/// Describes a run of a native command: what it is called, and where it is kept.
///
/// # Errors
/// A folder for runs that nobody can have.
pub fn about(
    door: &'static str,
    plan: &Plan,
    target: Option<String>,
    asked: &ShowAsked<'_>,
) -> Result<About, Problem> {
    let ShowAsked { output, keep, seed_option } = *asked;
    let labels = keep.labels.iter().cloned().collect();
    let keep = place(keep);
    let tui = output.tui && shows_tui();
    let steering = (output.live || tui).then(Steering::default);
    let tui = steering.clone().filter(|_| tui).map(|steering| tui::begin(steering, plan));
    let sinks = Sinks { live: live(output), ..Sinks::default() }.and(exports(&output.export)?).and(tui);
    Ok(About {
        door,
        command: repeat(plan, seed_option),
        target,
        labels,
        keep,
        sinks,
        steering,
        recorded: None,
    })
}

/// Where a run is kept. One that nobody has asked for is only missed in a line, where there is no folder for it.
pub fn place(keep: &KeepArgs) -> Option<Keep> {
    if let Some(folder) = &keep.keep_in {
        return Some(Keep { folder: folder.clone(), wanted: true });
    }
    if keep.no_keep {
        return None;
    }
    match runs::folder() {
        Ok(folder) => Some(Keep { folder, wanted: false }),
        Err(problem) => {
            notice(&format!("note: the run is not kept: {problem}"));
            None
        }
    }
}

/// Begins what is to be exported, and says where metrics can be fetched.
///
/// # Errors
/// See [`export::start`]; a file for records that cannot be written.
pub fn exports(args: &ExportArgs) -> Result<Option<Exports>, Problem> {
    let exports = export::start(export::Settings {
        prometheus: args.prometheus,
        prometheus_token: args.prometheus_token.clone(),
        linger: args.linger.unwrap_or_default(),
        names: match args.metric_names {
            MetricNames::Wringer => Names::Wringer,
            MetricNames::K6 => Names::K6,
        },
        sent_to: args.sent_to().map(destination).collect(),
        events: args.events.as_deref().map(records_to).transpose()?,
    })?;
    let at = exports.as_ref().and_then(Exports::metrics_at);
    at.iter().for_each(|at| notice(&format!("metrics: http://{at}/metrics")));
    Ok(exports)
}

fn destination(asked: cli::SentTo<'_>) -> export::Destination {
    export::Destination {
        option: asked.option,
        to: asked.to.to_owned(),
        name: None,
        token: asked.token.cloned(),
        only: None,
    }
}

/// Where records are written as lines.
fn records_to(file: &Path) -> Result<Box<dyn std::io::Write + Send>, Problem> {
    if output::is_stdout(file) {
        return Ok(Box::new(std::io::stdout()));
    }
    let opened = files::create(file).map_err(|error| files::cannot_keep("records", file, &error))?;
    Ok(Box::new(opened))
}

/// True where the terminal can show the view; otherwise a line says why not.
fn shows_tui() -> bool {
    let missing = tui::missing();
    if let Some(why) = &missing {
        notice(&format!("note: plain lines instead of --tui: {why}"));
    }
    missing.is_none()
}

/// Gathers the run's records for the page, where somebody wants to see it.
pub fn live(output: &OutputArgs) -> Option<Live> {
    (output.html.is_some() || output.live).then(Live::begin)
}

/// Begins to serve the page of a run that is about to begin, where that was asked for, and says where.
///
/// # Errors
/// An address that cannot be had.
pub fn serve(output: &OutputArgs, about: &About) -> Result<Option<PageServer>, Problem> {
    if !output.live {
        return Ok(None);
    }
    let server = serve::start(serve::Options {
        listen: output.live_address(),
        host_names: output.live_host_name.clone(),
        folder: about.keep.as_ref().map(|keep| keep.folder.clone()),
        running: about
            .sinks
            .live
            .clone()
            .zip(about.steering.clone())
            .map(|(live, steering)| Running { live, steering }),
        starts: None,
    })?;
    notice(&format!("page: {}", server.url()));
    Ok(Some(server))
}

/// Finds out before the run whether its results can be kept: afterwards it would be late.
///
/// # Errors
/// A file that was asked for cannot be written. That of answers that failed a check, where nobody chose it, is only noted.
pub fn can_keep(output: &OutputArgs) -> Result<(), Problem> {
    if let [one, other, ..] = on_stdout(output).collect::<Vec<_>>()[..] {
        return Err(Problem::Usage(format!(
            "--{one} - and --{other} - both want standard output: give one of them a file"
        )));
    }
    if let Some(option) = on_stdout(output).next().filter(|_| output.short) {
        return Err(Problem::Usage(format!(
            "--short shapes the text report, and --{option} - leaves none: give --{option} a file, or leave --short out"
        )));
    }
    output.results().try_for_each(|(layout, file)| output::can_keep(&called(layout), file))?;
    if let Some(file) = &output.html {
        output::can_keep(PAGE, file)?;
    }
    match (&output.evidence_file, output::can_keep(EVIDENCE, &output.evidence_file("RUN"))) {
        (None, Err(problem)) => {
            notice(&format!("note: {problem}; choose another place with --evidence-file"));
            Ok(())
        }
        (_, tried) => tried,
    }
}

/// Names of results in messages.
const EVIDENCE: &str = "evidence of failed checks";

/// A result in a layout, as messages name it.
fn called(layout: &str) -> Cow<'static, str> {
    match layout {
        "json" => RESULT.into(),
        _ => format!("the result as {layout}").into(),
    }
}

/// Prints the report, keeps evidence, JSON and page, and says how the process ends. What cannot be written is told in a line and
/// keeps nothing else from being written.
pub fn report(mut finished: Finished, ran: &Ran<'_>) -> Exit {
    let mut ending = Ending::new(exit_of(&finished));
    let say = |problem: &Problem| notice(&format!("wringer: {problem}"));
    if let Some(why) = finished.scripts.failure() {
        ending.add(Err(Problem::Impossible(why)), &say);
    }
    let evidence_file = ran.output.evidence_file(runs::short(&finished.head.id));
    let (evidence_file, kept) = match keep_evidence(&finished, ran.plan, &evidence_file) {
        Ok(file) => (file, Ok(())),
        Err(problem) => (None, Err(problem)),
    };
    let mut context = Context {
        plan: ran.plan,
        command: &finished.head.command,
        version: &finished.head.version,
        target: finished.head.target.as_deref(),
        target_cpu: finished.target_cpu(),
        evidence_file: evidence_file.as_deref(),
        exit: None,
        started_unix_s: finished.head.started_unix_s,
        threads: finished.head.threads,
        language: language(),
    };
    if !is_stdout(ran.output) {
        let text = text_of(&finished, ran)(&finished.result, &context);
        if !text.is_empty() {
            write(&format!("\n{text}"));
        }
    }
    ending.add(kept, &say);
    if let Some(file) = &ran.output.html {
        let text = report::text::of_page(&finished.result, &context);
        ending.add(console::keep::page(file, &finished, &text), &say);
    }
    ending.add(finished.scripts.done(&finished.result).map_err(Problem::from), &say);
    // Last, since they have the exit code.
    context.exit = Some(ending.so_far(&finished).number());
    let run = Shown { head: &finished.head, result: &finished.result, context: &context, records: &[] };
    for (layout, file) in ran.output.results() {
        ending.add(keep_result(layout, file, &run), &say);
    }
    step_summary(|| report::summary::report(&finished.result, &context));
    ending.evidence_in(evidence_file);
    let exit = conclude(ending, finished);
    if let Some(server) = &ran.server {
        server.farewell();
    }
    exit
}

/// Requests that are told one by one, up to so many, leave nothing for statistics to say.
const TOLD: u64 = 10;

/// The text that a run ends with.
fn text_of(finished: &Finished, ran: &Ran<'_>) -> fn(&RunResult, &Context<'_>) -> String {
    let trace = ran.plan.load.as_ref().map(|load| &load.trace);
    let is_told = trace.is_some_and(|trace| trace.first && trace.requests);
    match ran.output.short {
        true => report::text::one_screen,
        false if is_told && finished.result.measured().counts().requests <= TOLD => report::text::told,
        false => report::text::report,
    }
}

/// Writes the result in a layout.
fn keep_result(layout: &'static str, file: &Path, run: &Shown<'_>) -> Result<(), Problem> {
    let laid_out = crate::layout::named(layout)?.make(run).map_err(Problem::impossible)?;
    output::keep(&called(layout), file, laid_out.text.as_bytes())
}

/// The variable by which GitHub's runners name the file that is shown beside a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Adds Markdown to the summary of the step of a build, where it has one. What cannot be written is only missed in a line: nobody has
/// asked for it by an option.
pub fn step_summary(markdown: impl FnOnce() -> String) {
    let Some(file) = std::env::var_os(STEP_SUMMARY).filter(|file| !file.is_empty()) else { return };
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(&file);
    let written = opened.and_then(|mut file| file.write_all(format!("{}\n", markdown()).as_bytes()));
    if let Err(error) = written {
        notice(&format!("note: no summary in {STEP_SUMMARY} ({}): {error}", Path::new(&file).display()));
    }
}

/// How the process ends, as far as the run decides it.
fn exit_of(finished: &Finished) -> Exit {
    Exit::of_run(finished.exit(), signals::first())
}

/// Ends a run that the page shows, and that says nothing here but where it was kept.
pub fn end(finished: Finished) {
    conclude(Ending::new(exit_of(&finished)), finished);
}

/// Tells the run its end, says where it is kept, and keeps the history short.
fn conclude(ending: Ending, finished: Finished) -> Exit {
    let (exit, kept) = ending.tell(finished);
    let Some(kept) = kept else { return exit };
    notice(&runs::kept(&kept));
    // A folder that somebody chose is theirs to keep short.
    let ours = runs::folder().ok().filter(|folder| kept.parent() == Some(folder));
    ours.and_then(|folder| runs::prune_after_run(&folder)).iter().for_each(|told| notice(told));
    exit
}

fn keep_evidence(finished: &Finished, plan: &Plan, file: &Path) -> Result<Option<String>, Problem> {
    if finished.result.evidence.is_empty() {
        return Ok(None);
    }
    let text = session::evidence_text(&finished.result.evidence, plan);
    output::keep_private(EVIDENCE, file, text.as_bytes())?;
    Ok(Some(file.display().to_string()))
}
