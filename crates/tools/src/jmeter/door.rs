//! `wringer jmeter`: JMeter's options, results file, console lines and exit codes over a session.

use super::report::jtl::Layout;
use super::report::samples::{PhaseNames, Samples};
use super::report::statistics::{Apdex, Statistics};
use super::report::summary::{self, Sum, Users};
use super::report::{JmeterKind, Sample};
use super::{file as jmx, last, programs, results};
use crate::outcome::{Run, ToolShown};
use crate::runner::{Door, Moment};
use crate::{clock, keep};
use cli::{JmeterArgs, ReadArgs};
use console::output as show;
use console::problem::{Exit, Problem};
use jmeter::arguments::{self, Arguments, Instead};
use measure::{Event, Row};
use session::export::Destination;
use session::{Finished, SessionOptions, View};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds between the summariser's lines, where no property says others.
const INTERVAL_S: u64 = 30;

/// JMeter's command line.
pub struct Jmeter {
    run: Run<Arguments>,
    programs: programs::Setting,
    sent_to: Vec<Destination>,
    layout: Layout,
    summariser: Summariser,
    apdex: Apdex,
}

/// The lines on the console, as properties have them.
#[derive(Debug, Clone)]
struct Summariser {
    /// None: there are no lines.
    name: Option<String>,
    interval_s: u64,
}

impl Summariser {
    fn of(properties: &BTreeMap<String, String>) -> Summariser {
        let property = |name: &str| properties.get(&format!("summariser.{name}")).map(|text| text.trim());
        let name = property("name").unwrap_or("summary").to_owned();
        let is_shown = !name.is_empty() && property("out") != Some("false");
        let interval = property("interval").and_then(|seconds| seconds.parse().ok());
        Summariser { name: is_shown.then_some(name), interval_s: interval.unwrap_or(INTERVAL_S).max(1) }
    }
}

impl Door for Jmeter {
    const NAME: &'static str = "jmeter";
    const ABOUT: &'static str = "JMeter without a window: the same options, results file and lines";
    const DIES: bool = false;
    const SEED: Option<&'static str> = Some("--seed");
    type View = Arguments;
    type Lines = JmeterLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<Jmeter, ToolShown> {
        let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let wrong = |why: String| ToolShown::refused(format!("jmeter: {why}\n"), 1);
        let typed = arguments::parse(&words).map_err(|told| match told {
            Instead::Help => ToolShown::told(arguments::help()),
            Instead::Version => {
                ToolShown::told(format!("wringer {}, as JMeter 5.6.3\n", env!("CARGO_PKG_VERSION")))
            }
            Instead::Mistake(why) => wrong(why),
        })?;
        let native = JmeterArgs {
            properties: typed.properties.clone(),
            property_files: typed.property_files.clone(),
            skip_unsupported: typed.skip_unsupported,
            seed: Some(typed.seed.unwrap_or(moment.seed)),
        };
        let properties = jmx::properties(&native).map_err(|problem| wrong(problem.to_string()))?;
        if let Some(file) = &typed.report_only {
            return Err(results::report(&typed, file, &properties));
        }
        let apdex = Apdex::of(&properties).map_err(wrong)?;
        let file = last::plan(&typed.plan).map_err(wrong)?;
        let read = ReadArgs { jmeter: native, ..ReadArgs::default() };
        let jmx::Runnable { mut plan, programs, sent_to, sample_variables, .. } =
            jmx::runnable(&file, &read).map_err(|problem| wrong(problem.to_string()))?;
        let saved = |name: &str| properties.get(&format!("jmeter.save.saveservice.{name}")).cloned();
        let layout = Layout::of(&saved, session::host_name()).map_err(wrong)?;
        let layout = layout.with_variables(jmeter::sample_variables(&properties));
        if let Some(load) = &mut plan.load {
            load.trace.requests = true;
            load.trace.values = sample_variables;
            keep_contents(load, layout.contents());
        }
        let notices = notices(&typed);
        let typed = Arguments { plan: file, ..typed };
        Ok(Jmeter {
            layout,
            summariser: Summariser::of(&properties),
            apdex,
            run: Run { plan, notices, json: None, show_plan: typed.show_plan, view: typed },
            programs,
            sent_to,
        })
    }

    fn help() -> String {
        arguments::help()
    }

    fn run(&self) -> &Run<Arguments> {
        &self.run
    }

    fn has_page(&self) -> bool {
        self.run.view.report
    }

    fn before(&mut self) -> Result<(), Problem> {
        self.prepare_folder()?;
        let name = self.run.view.plan.display();
        if let Some(summariser) = &self.summariser.name {
            show::write(&format!("Creating summariser <{summariser}>\n"));
        }
        show::write(&format!("Created the tree successfully using {name}\n"));
        last::keep(&self.run.view.plan);
        Ok(())
    }

    fn session_options(&self) -> SessionOptions {
        let interpreters = Some(programs::interpreters(self.programs.clone()));
        SessionOptions { take_silent: true, interpreters, ..SessionOptions::default() }
    }

    fn sent_to(&self) -> Vec<Destination> {
        self.sent_to.clone()
    }

    fn begin(&mut self) -> Result<JmeterLines, Problem> {
        let results = self.run.view.results.as_deref().map(|file| self.open(file)).transpose()?;
        let log = self.run.view.log.as_deref().map(|file| {
            let wrong =
                |error| Problem::impossible(format!("the log {} cannot be written: {error}", file.display()));
            File::create(file).map_err(wrong)
        });
        let log = log.transpose()?;
        show::write(&format!("Starting standalone test @ {}\n", moment()));
        Ok(JmeterLines { log, ..JmeterLines::new(self, results) })
    }

    fn lay_out(&self, finished: &Finished, mut lines: JmeterLines) -> Result<Exit, Problem> {
        lines.conclude(finished);
        let kept = lines.close(self.layout.end(), self.run.view.results.as_deref());
        if let Some(statistics) = &lines.statistics {
            self.write_report(finished, statistics)?;
        }
        show::write(&format!("Tidying up ...    @ {}\n... end of run\n", moment()));
        kept.map(|()| Exit::Ok)
    }
}

/// Has requests and answers told with their records, which only journeys do.
fn keep_contents(load: &mut plan::Load, contents: plan::load::KeptContents) {
    load.trace.contents = contents;
    if contents == plan::load::KeptContents::Nothing && load.trace.values.is_empty() {
        return;
    }
    for phase in &mut load.phases {
        if phase.groups.is_empty() {
            phase.scenario.make_journey();
        }
    }
}

/// Lists what is taken differently than JMeter would have.
fn notices(typed: &Arguments) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(hosts) = &typed.remote {
        notices
            .push(format!("the plan runs on this machine and not on {hosts}: there are no remote hosts yet"));
    }
    if !typed.ignored.is_empty() {
        notices.push(format!("{} changes nothing here", typed.ignored.join(", ")));
    }
    notices
}

/// Now, as JMeter's console says it.
fn moment() -> String {
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{} ({ms})", clock::as_jmeter())
}

impl Jmeter {
    /// The report's folder must be empty, and with a report the results file too, unless `-f` empties them.
    fn prepare_folder(&self) -> Result<(), Problem> {
        if !self.run.view.report {
            return Ok(());
        }
        let results = self.run.view.results.as_deref();
        let old = results.is_some_and(|file| file.metadata().is_ok_and(|facts| facts.len() > 0));
        if old && !self.run.view.force {
            let file = results.unwrap_or(Path::new(""));
            return Err(Problem::impossible(format!(
                "the results file {} is not empty: remove it, or give -f",
                file.display()
            )));
        }
        results::make_folder(&self.run.view)
    }

    /// The results file, with what it begins with where it is new.
    fn open(&self, file: &Path) -> Result<BufWriter<File>, Problem> {
        let wrong = |error: std::io::Error| {
            Problem::impossible(format!("{} cannot be written: {error}", file.display()))
        };
        let opened = match self.run.view.force {
            true => File::create(file),
            false => OpenOptions::new().create(true).append(true).open(file),
        };
        let opened = opened.map_err(wrong)?;
        let is_new = opened.metadata().is_ok_and(|facts| facts.len() == 0);
        let mut results = BufWriter::with_capacity(1 << 18, opened);
        if is_new {
            results.write_all(self.layout.begin().as_bytes()).map_err(wrong)?;
        }
        Ok(results)
    }

    fn write_report(&self, finished: &Finished, statistics: &Statistics) -> Result<(), Problem> {
        let folder = results::folder(&self.run.view);
        results::keep(&folder.join("statistics.json"), &statistics.text())?;
        keep::page(&folder.join("index.html"), finished, &self.run.plan, None, Self::SEED)
    }
}

/// Output written while it runs.
pub struct JmeterLines {
    results: Option<BufWriter<File>>,
    failed: Option<std::io::Error>,
    layout: Layout,
    samples: Samples,
    /// Users of all phases.
    users: u32,
    /// Receives what the plan says, with `-j`.
    log: Option<File>,
    /// Lines that were told, of those that something is broken.
    broken: BTreeSet<String>,
    summariser: Summariser,
    since_last: Sum,
    total: Sum,
    seconds: f64,
    told: bool,
    /// For the report.
    statistics: Option<Statistics>,
    line: String,
}

/// Different lines that something is broken, at most.
const MOST_BROKEN: usize = 100;

/// Names of a phase's labels, groups and users.
fn names(phase: &plan::Phase) -> PhaseNames {
    let group = |part: &plan::Phase| {
        let name = match part.scenario.user_name.as_str() {
            "" => format!("{} 1-", part.name),
            name => name.to_owned(),
        };
        (name, part.pace.at_once())
    };
    PhaseNames { labels: phase.labels(), groups: phase.parts().iter().map(group).collect() }
}

impl JmeterLines {
    fn new(door: &Jmeter, results: Option<BufWriter<File>>) -> JmeterLines {
        let phases = door.run.plan.load.iter().flat_map(|load| &load.phases);
        let names: Vec<PhaseNames> = phases.map(names).collect();
        let users = names.iter().flat_map(|phase| &phase.groups).map(|(_, users)| users).sum();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began_ms = u64::try_from(since.as_millis()).unwrap_or(0);
        JmeterLines {
            results,
            failed: None,
            layout: door.layout.clone(),
            samples: Samples::new(names, began_ms),
            users,
            log: None,
            broken: BTreeSet::new(),
            summariser: door.summariser.clone(),
            since_last: Sum::default(),
            total: Sum::default(),
            seconds: 0.0,
            told: false,
            statistics: door.run.view.report.then(|| Statistics::new(door.apdex)),
            line: String::new(),
        }
    }

    /// Counts a sample that is whole, and writes it.
    fn tell_sample(&mut self, sample: &Sample) {
        self.count(sample);
        if let Some(statistics) = &mut self.statistics {
            statistics.add(sample);
        }
        let Some(results) = &mut self.results else { return };
        self.line.clear();
        self.layout.write(sample, &mut self.line);
        if let Err(error) = results.write_all(self.line.as_bytes()) {
            self.failed.get_or_insert(error);
        }
    }

    /// Requests count, also those that are told as parts of a transaction; the transaction itself does not.
    fn count(&mut self, sample: &Sample) {
        if let JmeterKind::Transaction { .. } = sample.kind {
            return sample.parts.iter().for_each(|part| self.count(part));
        }
        self.since_last.add(sample.elapsed_ms, sample.success);
        self.total.add(sample.elapsed_ms, sample.success);
    }

    /// A line that the plan says: to the log file or, where something is broken, to whoever watches, once.
    fn log(&mut self, serious: bool, text: &str) {
        let level = if serious { "ERROR" } else { "INFO" };
        if let Some(log) = &mut self.log {
            // A log that cannot be written is no reason to lose the results.
            let _ = writeln!(log, "{} {level} {text}", clock::as_jmeter());
        } else if serious && self.broken.len() < MOST_BROKEN && self.broken.insert(text.to_owned()) {
            show::notice(&format!("jmeter: {text}"));
        }
    }

    fn users(&self, active: bool) -> Users {
        let started = self.users;
        match active {
            true => Users { active: started, started, finished: 0 },
            false => Users { active: 0, started, finished: started },
        }
    }

    /// The lines of an interval.
    fn tell(&mut self, active: bool) {
        self.total.seconds = self.seconds;
        if let Some(name) = &self.summariser.name {
            show::write(&summary::delta(name, &self.since_last, self.users(active)));
            if self.told {
                show::write(&summary::total(name, &self.total));
            }
        }
        self.since_last = Sum::default();
        self.told = true;
    }

    /// The last lines: of the rest, where there were others before, and of all.
    fn conclude(&mut self, finished: &Finished) {
        let measured: f64 = finished.result.timeline.rows.last().map_or(0.0, |row| row.at_s);
        self.seconds = self.seconds.max(measured);
        if self.told && self.since_last.samples > 0 {
            self.tell(false);
            return;
        }
        self.total.seconds = self.seconds;
        if let Some(name) = &self.summariser.name {
            show::write(&summary::total(name, &self.total));
        }
    }

    fn close(&mut self, end: &str, file: Option<&Path>) -> Result<(), Problem> {
        let written = match self.results.take() {
            Some(mut results) => results.write_all(end.as_bytes()).and_then(|()| results.flush()),
            None => Ok(()),
        };
        match self.failed.take().map_or(written, Err) {
            Ok(()) => Ok(()),
            Err(error) => {
                let name = file.unwrap_or(Path::new("")).display();
                Err(Problem::impossible(format!("the results {name} are incomplete: {error}")))
            }
        }
    }
}

impl View for JmeterLines {
    fn row(&mut self, row: &Row, _phase: &str) {
        self.seconds = row.at_s;
        self.since_last.seconds += row.seconds;
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if now_s.is_multiple_of(self.summariser.interval_s) && self.since_last.samples > 0 {
            self.tell(true);
        }
    }

    fn note(&mut self, text: &str) {
        // Without a log it is told at the end.
        if self.log.is_some() {
            self.log(false, text);
        }
    }

    fn event(&mut self, event: Event) {
        let whole = match event {
            Event::Request(record) => self.samples.record(&record),
            Event::Transaction(mark) => self.samples.mark(&mark),
            Event::Page(mark) => self.samples.end_page(mark),
            Event::Log { serious, text } => return self.log(serious, &text),
            _ => None,
        };
        whole.iter().for_each(|sample| self.tell_sample(sample));
    }
}
