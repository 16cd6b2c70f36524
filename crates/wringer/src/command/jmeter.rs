//! `wringer jmeter`: JMeter's options, results file, console lines and exit codes over a session.

use super::door::{Common, Door, Moment, Shown};
use super::{clock, jmx, show};
use crate::problem::{Exit, Problem};
use crate::session::{Finished, SessionOptions, View};
use doors::native::{JmeterArgs, ReadArgs};
use jmeter::arguments::{self, Arguments, Told};
use measure::{Event, Outcome, Record, Row};
use plan::Plan;
use report::jmeter::jtl::Layout;
use report::jmeter::statistics::Statistics;
use report::jmeter::summary::{self, Sum, Users};
use report::jmeter::{Sample, reason};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds between the summariser's lines, where no property says others.
const INTERVAL_S: u64 = 30;

/// JMeter's command line.
pub struct Jmeter {
    typed: Arguments,
    plan: Plan,
    notices: Vec<String>,
    layout: Layout,
    interval_s: u64,
}

impl Door for Jmeter {
    const NAME: &'static str = "jmeter";
    const DIES: bool = false;
    type Lines = Lines;

    fn read(args: &[OsString], moment: &Moment) -> Result<Jmeter, Shown> {
        let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let wrong = |why: String| Shown::on(true, format!("jmeter: {why}\n"), 1);
        let typed = arguments::parse(&words).map_err(|told| match told {
            Told::Help => Shown::on(false, arguments::help(), 0),
            Told::Version => {
                Shown::on(false, format!("wringer {}, as JMeter 5.6.3\n", env!("CARGO_PKG_VERSION")), 0)
            }
            Told::Mistake(why) => wrong(why),
        })?;
        let native = JmeterArgs {
            properties: typed.properties.clone(),
            property_files: typed.property_files.clone(),
            skip_unsupported: typed.skip_unsupported,
            seed: Some(moment.seed),
        };
        let properties = jmx::properties(&native).map_err(|problem| wrong(problem.to_string()))?;
        let read = ReadArgs { jmeter: native, ..ReadArgs::default() };
        let mut plan = jmx::runnable(&typed.plan, &read).map_err(|problem| wrong(problem.to_string()))?;
        if let Some(load) = &mut plan.load {
            load.trace.requests = true;
        }
        let saved = |name: &str| properties.get(&format!("jmeter.save.saveservice.{name}")).cloned();
        let interval = properties.get("summariser.interval").and_then(|seconds| seconds.trim().parse().ok());
        let notices = notices(&typed);
        Ok(Jmeter {
            layout: Layout::of(&saved),
            interval_s: interval.unwrap_or(INTERVAL_S).max(1),
            typed,
            plan,
            notices,
        })
    }

    fn help() -> String {
        arguments::help()
    }

    fn common(&self) -> Common<'_> {
        Common {
            plan: &self.plan,
            notices: &self.notices,
            json: None,
            show_plan: self.typed.show_plan,
            quiet: false,
        }
    }

    fn before(&mut self) -> Result<(), Problem> {
        self.prepare_folder()?;
        let name = self.typed.plan.display();
        show::write(&format!("Creating summariser <summary>\nCreated the tree successfully using {name}\n"));
        Ok(())
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions { take_silent: true, ..SessionOptions::default() }
    }

    fn begin(&mut self) -> Result<Lines, Problem> {
        let results = self.typed.results.as_deref().map(|file| self.open(file)).transpose()?;
        show::write(&format!("Starting standalone test @ {}\n", moment()));
        Ok(Lines::new(self, results))
    }

    fn lay_out(&self, finished: &Finished, mut lines: Lines) -> Result<Exit, Problem> {
        lines.conclude(finished);
        let kept = lines.close(self.layout.end(), self.typed.results.as_deref());
        if self.typed.report {
            self.write_report(finished, &lines.statistics)?;
        }
        show::write(&format!("Tidying up ...    @ {}\n... end of run\n", moment()));
        kept.map(|()| Exit::Fine)
    }
}

/// What is taken differently than JMeter would have.
fn notices(typed: &Arguments) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(hosts) = &typed.remote {
        notices
            .push(format!("the plan runs on this machine and not on {hosts}: there are no remote hosts yet"));
    }
    if !typed.ignored.is_empty() {
        notices.push(format!("{} changes nothing here", typed.ignored.join(", ")));
    }
    if typed.log.is_some() {
        notices.push("-j: notices stand on standard error and not in a file".to_owned());
    }
    notices
}

/// Now, as JMeter's console says it.
fn moment() -> String {
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{} ({ms})", clock::as_jmeter())
}

impl Jmeter {
    fn folder(&self) -> &Path {
        self.typed.folder.as_deref().unwrap_or(Path::new("report-output"))
    }

    /// The report's folder must be empty, and with a report the results file too, unless `-f` empties them.
    fn prepare_folder(&self) -> Result<(), Problem> {
        if !self.typed.report {
            return Ok(());
        }
        let folder = self.folder();
        let wrong = |error: std::io::Error| Problem::impossible(format!("{}: {error}", folder.display()));
        let filled = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if filled && !self.typed.force {
            return Err(Problem::impossible(format!(
                "the folder {} is not empty: empty it, or give -f",
                folder.display()
            )));
        }
        let results = self.typed.results.as_deref();
        let old = results.is_some_and(|file| file.metadata().is_ok_and(|facts| facts.len() > 0));
        if old && !self.typed.force {
            let file = results.unwrap_or(Path::new(""));
            return Err(Problem::impossible(format!(
                "the results file {} is not empty: remove it, or give -f",
                file.display()
            )));
        }
        std::fs::create_dir_all(folder).map_err(wrong)
    }

    /// The results file, with what it begins with where it is new.
    fn open(&self, file: &Path) -> Result<BufWriter<File>, Problem> {
        let wrong = |error: std::io::Error| {
            Problem::impossible(format!("{} cannot be written: {error}", file.display()))
        };
        let opened = match self.typed.force {
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
        let folder = self.folder();
        let file = folder.join("statistics.json");
        std::fs::write(&file, statistics.text())
            .map_err(|error| Problem::impossible(format!("{} cannot be written: {error}", file.display())))?;
        show::keep_door_page(&folder.join("index.html"), finished, &self.plan, None)
    }
}

/// What is written while it runs.
pub struct Lines {
    results: Option<BufWriter<File>>,
    failed: Option<std::io::Error>,
    layout: Layout,
    /// For each phase: its name, its labels, its users.
    phases: Vec<(String, Vec<String>, u32)>,
    began_ms: u64,
    interval_s: u64,
    since_last: Sum,
    total: Sum,
    seconds: f64,
    told: bool,
    statistics: Statistics,
    line: String,
}

impl Lines {
    fn new(door: &Jmeter, results: Option<BufWriter<File>>) -> Lines {
        let phases = door.plan.load.iter().flat_map(|load| &load.phases);
        let users = |phase: &plan::Phase| {
            let groups = phase.groups.iter().map(|group| group.pace.at_once()).sum::<u32>();
            if phase.groups.is_empty() { phase.pace.at_once() } else { groups }
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Lines {
            results,
            failed: None,
            layout: door.layout.clone(),
            phases: phases.map(|phase| (phase.name.clone(), phase.labels(), users(phase))).collect(),
            began_ms: u64::try_from(since.as_millis()).unwrap_or(0),
            interval_s: door.interval_s,
            since_last: Sum::default(),
            total: Sum::default(),
            seconds: 0.0,
            told: false,
            statistics: Statistics::default(),
            line: String::new(),
        }
    }

    fn sample(&mut self, record: &Record) {
        let (name, labels, users) = match self.phases.get(record.phase) {
            Some((name, labels, users)) => (name.as_str(), labels.as_slice(), *users),
            None => ("", &[][..], 0),
        };
        let label = record.label.and_then(|label| labels.get(usize::from(label.0)));
        let service = record.connect.unwrap_or_default() + record.service;
        let good = record.outcome == Outcome::Fine;
        let code = record.status.to_string();
        let failed = format!("Non HTTP response message: {:?}", record.outcome);
        let thread = format!("{name} 1-{}", record.user + 1);
        let answered = record.status != 0;
        let sample = Sample {
            began_ms: self.began_ms + record.began.as_millis() as u64,
            elapsed_ms: service.as_millis() as u64,
            label: label.map_or(record.url.as_str(), String::as_str),
            code: if answered {
                &code
            } else {
                "Non HTTP response code: org.apache.http.conn.HttpHostConnectException"
            },
            message: if answered { reason(record.status) } else { &failed },
            thread: &thread,
            success: good,
            failure: match record.outcome {
                Outcome::Faulty(_) => "Test failed",
                _ => "",
            },
            bytes: record.head_bytes + record.body_bytes,
            group_threads: users,
            all_threads: users,
            url: Some(&record.url),
            latency_ms: (record.connect.unwrap_or_default() + record.first_byte.unwrap_or_default())
                .as_millis() as u64,
            connect_ms: record.connect.unwrap_or_default().as_millis() as u64,
        };
        self.since_last.add(sample.elapsed_ms, good);
        self.total.add(sample.elapsed_ms, good);
        self.statistics.add(sample.label, sample.began_ms, sample.elapsed_ms, good, sample.bytes);
        let Some(results) = &mut self.results else { return };
        self.line.clear();
        self.layout.write(&sample, &mut self.line);
        if let Err(error) = results.write_all(self.line.as_bytes()) {
            self.failed.get_or_insert(error);
        }
    }

    fn users(&self, active: bool) -> Users {
        let started = self.phases.iter().map(|(_, _, users)| *users).sum();
        match active {
            true => Users { active: started, started, finished: 0 },
            false => Users { active: 0, started, finished: started },
        }
    }

    /// The lines of an interval.
    fn tell(&mut self, active: bool) {
        self.total.seconds = self.seconds;
        show::write(&summary::delta(&self.since_last, self.users(active)));
        if self.told {
            show::write(&summary::total(&self.total));
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
        show::write(&summary::total(&self.total));
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

impl View for Lines {
    fn row(&mut self, row: &Row, _phase: &str) {
        self.seconds = row.at_s;
        self.since_last.seconds += row.seconds;
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if now_s.is_multiple_of(self.interval_s) && self.since_last.samples > 0 {
            self.tell(true);
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::Request(record) = event {
            self.sample(&record);
        }
    }
}
