//! `wringer h2load`: the old tool's options, streams and exit codes over a session.

use super::report as h2load;
use super::{H2loadLayout, H2loadView as How, Run, parse};
use crate::ToolShown;
use crate::reads::Disk;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{ConnectionUse, Event, FailureKind, FirstTls, Outcome, Record, Row};
use plan::CipherSuite;
use session::{Agreed, Finished, SessionOptions, View};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often progress is looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// Connections, and times of single requests, that are remembered at most.
const MOST: usize = 1_000_000;

/// h2load's command line.
pub struct H2load(Run);

impl Door for H2load {
    const NAME: &'static str = "h2load";
    const ABOUT: &'static str = "h2load: the same options and report, in both of its layouts";
    const SEED: Option<&'static str> = Some("--seed");
    type View = super::H2loadView;
    type Lines = H2loadLines;

    fn read(args: &[OsString], moment: &Moment) -> Result<H2load, ToolShown> {
        parse(args, moment.seed, &Disk).map(H2load)
    }

    fn help() -> String {
        super::help()
    }

    fn run(&self) -> &Run {
        &self.0
    }

    fn target(&self) -> Option<String> {
        Some(self.0.view.url.clone())
    }

    fn files(&self) -> Vec<&Path> {
        let view = &self.0.view;
        [&view.log, &view.samples].into_iter().flatten().map(PathBuf::as_path).collect()
    }

    /// Asks the server which of the protocols it takes, where there is a choice.
    fn before(&mut self) -> Result<(), Problem> {
        let plan = &mut self.0.plan;
        let view = &mut self.0.view;
        let Some(other) = view.other.take() else { return Ok(()) };
        // One that does not answer is told by the run.
        console::limits::refuse(plan)?;
        let Some(agreed) = session::agreed(plan, &view.alpn) else { return Ok(()) };
        view.fell_back = agreed == Agreed::Nothing && view.alpn.iter().any(|name| name == "http/1.1");
        let spoken = match agreed {
            Agreed::Nothing | Agreed::Http1 => "http/1.1",
            Agreed::Http2 => "h2",
            Agreed::Other => view.protocol,
        };
        if spoken == other.protocol {
            (*plan, view.protocol) = (other.plan, other.protocol);
        }
        Ok(())
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions { interval: INTERVAL, ..SessionOptions::default() }
    }

    fn begin(&mut self) -> Result<H2loadLines, Problem> {
        let view = &self.0.view;
        let thread = |thread: &super::Thread| h2load::Thread {
            clients: thread.clients,
            requests: thread.requests,
            rate: view.period.map(|period| (thread.rate, period)),
        };
        let threads: Vec<_> = view.threads.iter().map(thread).collect();
        show::write(&h2load::begin(&threads, lasts(view)));
        H2loadLines::new(&self.0)
    }

    fn lay_out(&self, finished: &Finished, mut lines: H2loadLines) -> Result<Exit, Problem> {
        let view = &self.0.view;
        lines.end(finished.result.measured().counts().ended);
        let options = h2load::H2loadOptions {
            clients: lines.clients(),
            requests: view.requests,
            lasts: lasts(view),
            newer: view.layout == H2loadLayout::New,
            histogram: view.histogram,
            connections: &lines.connections,
            times: view.samples.as_ref().map(|_| lines.times.as_slice()),
        };
        show::write(&h2load::report(&finished.result, options));
        if let Some(file) = &view.samples {
            let told = h2load::measurements(&finished.result, options);
            session::files::create(file)
                .and_then(|mut to| to.write_all(told.as_bytes()))
                .map_err(|error| unwritten(file, &error))?;
        }
        lines.close()?;
        Ok(Exit::Ok)
    }
}

/// How long is measured and how long it warms up before, where the clock ends it.
fn lasts(view: &How) -> Option<(Duration, Duration)> {
    view.duration.map(|lasts| (lasts, view.warm_up))
}

fn unwritten(file: &Path, error: &std::io::Error) -> Problem {
    Problem::impossible(format!("{} cannot be written: {error}", file.display()))
}

/// Output while it runs: what was agreed on, and progress; and the log.
pub struct H2loadLines {
    view: How,
    /// The phase that is measured.
    measured: usize,
    began: Instant,
    /// The protocol was told.
    told: bool,
    /// It was told that it measures.
    measuring: bool,
    /// Requests that were done, and how many of them were told; clients of the first thread that were told.
    done: u64,
    told_done: u64,
    told_clients: u64,
    /// Uses of connections while it measured.
    connections: Vec<ConnectionUse>,
    /// Times of requests that ended well then, where they are to be written.
    times: Vec<Duration>,
    log: Option<(PathBuf, BufWriter<File>)>,
    /// The first thing that went wrong with the log.
    failed: Option<std::io::Error>,
    began_us: u64,
}

impl H2loadLines {
    fn new(run: &Run) -> Result<H2loadLines, Problem> {
        let open = |file: &PathBuf| {
            let opened = File::options().append(true).create(true).open(file);
            Ok::<_, Problem>((file.clone(), BufWriter::new(opened.map_err(|error| unwritten(file, &error))?)))
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let phases = run.plan.load.as_ref().map_or(0, |load| load.phases.len());
        let mut lines = H2loadLines {
            view: run.view.clone(),
            measured: phases.saturating_sub(1),
            began: Instant::now(),
            told: false,
            measuring: false,
            done: 0,
            told_done: 0,
            told_clients: 0,
            connections: Vec::new(),
            times: Vec::new(),
            log: run.view.log.as_ref().map(open).transpose()?,
            failed: None,
            began_us: now.as_micros() as u64,
        };
        lines.start();
        Ok(lines)
    }

    fn clients(&self) -> u64 {
        self.view.threads.iter().map(|thread| thread.clients).sum()
    }

    /// Tells of what begins at once.
    fn start(&mut self) {
        if self.view.duration.is_some() {
            show::write(&h2load::warming_up(self.view.threads.len()));
        }
        self.tell_clients();
        if self.measured == 0 {
            self.tell_measuring();
        }
    }

    fn tell_measuring(&mut self) {
        if self.view.duration.is_some() && !std::mem::replace(&mut self.measuring, true) {
            show::write(&h2load::measuring(self.view.threads.len()));
        }
    }

    /// Says how many clients of the first thread have begun, where that is told.
    fn tell_clients(&mut self) {
        let period = self.view.period;
        let timed = self.view.duration.is_some();
        let Some(thread) = self.view.threads.first().filter(|_| period.is_some() || timed) else { return };
        let since = self.began.elapsed();
        let step = h2load::progress_step(thread.clients);
        let has_begun = |nth: &u64| thread.begins(*nth, period.unwrap_or_default()) <= since;
        let new = (self.told_clients..thread.clients).take_while(has_begun).count() as u64;
        let begun = self.told_clients + new;
        (self.told_clients + 1..=begun)
            .filter(|nth| nth.is_multiple_of(step))
            .for_each(|nth| show::write(&h2load::progress(nth, thread.clients, true)));
        self.told_clients = begun;
    }

    /// Says which protocol is spoken, once.
    fn tell_protocol(&mut self) {
        if !std::mem::replace(&mut self.told, true) {
            if self.view.fell_back {
                show::write(h2load::FALLBACK);
            }
            show::write(&format!("Application protocol: {}\n", self.view.protocol));
        }
    }

    fn tell_tls(&mut self, tls: &FirstTls) {
        if !self.told {
            show::write(&h2load::tls(tls, CipherSuite::openssl_name(tls.suite)));
            self.tell_protocol();
        }
    }

    /// So many requests have been answered.
    fn advance(&mut self, done: u64) {
        self.done = self.done.max(done);
        // Clients that begin one after the other are told instead.
        let Some(requests) = self.view.requests.filter(|_| self.view.period.is_none()) else { return };
        let step = h2load::progress_step(requests);
        let done = self.done.min(requests);
        (self.told_done + 1..=done)
            .filter(|nth| nth.is_multiple_of(step))
            .for_each(|nth| show::write(&h2load::progress(nth, requests, false)));
        self.told_done = done;
    }

    /// The run is over, and so many requests were answered.
    fn end(&mut self, done: u64) {
        if done > 0 {
            self.tell_protocol();
        }
        self.tell_clients();
        self.advance(done);
        if self.view.duration.is_some() {
            self.tell_measuring();
            show::write(&h2load::over(self.view.threads.len()));
        }
    }

    /// A request has ended: its time is kept, and a line tells when it was sent in µs since 1970, its status, -1 where it
    /// failed, and how long it took in µs.
    fn record(&mut self, record: &Record) {
        let failed = |failure: FailureKind| failure != FailureKind::BadStatus;
        let lost = matches!(record.outcome, Outcome::Failed(failure) if failed(failure.kind));
        if self.view.samples.is_some() && record.phase == self.measured && !lost && self.times.len() < MOST {
            self.times.push(record.service);
        }
        let Some((_, log)) = &mut self.log else { return };
        let status = if record.status == 0 || lost { -1 } else { i32::from(record.status) };
        let sent = self.began_us + (record.began + record.connect.unwrap_or_default()).as_micros() as u64;
        let line = writeln!(log, "{sent}\t{status}\t{}", record.service.as_micros());
        if let (Err(error), None) = (line, &self.failed) {
            self.failed = Some(error);
        }
    }

    fn close(self) -> Result<(), Problem> {
        let Some((file, mut log)) = self.log else { return Ok(()) };
        let written = self.failed.map_or_else(|| log.flush(), Err);
        written.map_err(|error| unwritten(&file, &error))
    }
}

impl View for H2loadLines {
    fn row(&mut self, row: &Row, _phase: &str) {
        self.tell_clients();
        if !self.view.tls && row.counts.ended > 0 {
            self.tell_protocol();
        }
        if row.phase as usize >= self.measured {
            self.tell_measuring();
            self.advance(self.done + row.counts.ended);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::FirstTls(tls) => self.tell_tls(&tls),
            Event::Request(record) => self.record(&record),
            Event::Connection(told) if told.phase == self.measured && self.connections.len() < MOST => {
                self.connections.push(*told);
            }
            _ => {}
        }
    }
}
