//! `wringer h2load`: the old tool's options, streams and exit codes over a session.

use super::door::{Door, Moment};
use super::show;
use crate::problem::{Exit, Problem};
use doors::Shown;
use doors::h2load::{Run, parse};
use measure::{Event, FirstTls, Record, Row};
use plan::CipherSuite;
use session::{Finished, SessionOptions, View};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often progress is looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// h2load's command line.
pub struct H2load(Run);

impl Door for H2load {
    const NAME: &'static str = "h2load";
    const SEED: Option<&'static str> = Some("--seed");
    type View = doors::h2load::View;
    type Lines = Lines;

    fn read(args: &[OsString], moment: &Moment) -> Result<H2load, Shown> {
        parse(args, moment.seed, &Moment::read_file).map(H2load)
    }

    fn help() -> String {
        doors::h2load::help()
    }

    fn run(&self) -> &Run {
        &self.0
    }

    fn target(&self) -> Option<String> {
        Some(self.0.view.url.clone())
    }

    fn files(&self) -> Vec<&Path> {
        self.0.view.log.iter().map(PathBuf::as_path).collect()
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions { interval: INTERVAL, ..SessionOptions::default() }
    }

    fn begin(&mut self) -> Result<Lines, Problem> {
        let view = &self.0.view;
        let begin =
            report::h2load::begin(view.clients, view.threads, view.requests, view.duration, view.warm_up);
        show::write(&begin);
        Lines::new(&self.0)
    }

    fn lay_out(&self, finished: &Finished, mut lines: Lines) -> Result<Exit, Problem> {
        lines.tell_protocol();
        lines.advance(finished.result.measured().counts().ended);
        let view = &self.0.view;
        let options =
            report::h2load::Options { clients: view.clients, requests: view.requests, newer: view.newer };
        show::write(&report::h2load::report(&finished.result, options));
        lines.close()?;
        Ok(Exit::Ok)
    }
}

/// Output while it runs: what was agreed on, and progress; and the log.
pub struct Lines {
    protocol: &'static str,
    secure: bool,
    told: bool,
    requests: Option<u64>,
    done: u64,
    log: Option<(PathBuf, BufWriter<File>)>,
    /// The first thing that went wrong with the log.
    failed: Option<std::io::Error>,
    began_us: u64,
}

impl Lines {
    fn new(run: &Run) -> Result<Lines, Problem> {
        let open = |file: &PathBuf| {
            let opened = File::options().append(true).create(true).open(file);
            let opened = opened.map_err(|error| {
                Problem::impossible(format!("{} cannot be written: {error}", file.display()))
            });
            Ok::<_, Problem>((file.clone(), BufWriter::new(opened?)))
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Lines {
            protocol: run.view.protocol,
            secure: run.view.tls,
            told: false,
            requests: run.view.requests,
            done: 0,
            log: run.view.log.as_ref().map(open).transpose()?,
            failed: None,
            began_us: now.as_micros() as u64,
        })
    }

    /// Says which protocol is spoken, once.
    fn tell_protocol(&mut self) {
        if !std::mem::replace(&mut self.told, true) {
            show::write(&format!("Application protocol: {}\n", self.protocol));
        }
    }

    fn tell_tls(&mut self, tls: &FirstTls) {
        if !self.told {
            show::write(&report::h2load::tls(tls, CipherSuite::openssl_name(tls.suite)));
            self.tell_protocol();
        }
    }

    /// So many requests have been answered.
    fn advance(&mut self, done: u64) {
        let Some(requests) = self.requests else { return };
        let tenths = |done: u64| done * 10 / requests.max(1);
        let before = tenths(self.done);
        self.done = self.done.max(done);
        (before + 1..=tenths(self.done).min(10))
            .for_each(|tenth| show::write(&report::h2load::progress(tenth)));
    }

    /// A line for a request: when it was sent in µs since 1970, its status, -1 where there is none, and how long it took in µs.
    fn record(&mut self, record: &Record) {
        let Some((_, log)) = &mut self.log else { return };
        let status = if record.status == 0 { -1 } else { i32::from(record.status) };
        let sent = self.began_us + (record.began + record.connect.unwrap_or_default()).as_micros() as u64;
        let line = writeln!(log, "{sent}\t{status}\t{}", record.service.as_micros());
        if let (Err(error), None) = (line, &self.failed) {
            self.failed = Some(error);
        }
    }

    fn close(self) -> Result<(), Problem> {
        let Some((file, mut log)) = self.log else { return Ok(()) };
        let written = self.failed.map_or_else(|| log.flush(), Err);
        written.map_err(|error| Problem::impossible(format!("{} cannot be written: {error}", file.display())))
    }
}

impl View for Lines {
    fn row(&mut self, row: &Row, _phase: &str) {
        if !self.secure && row.counts.ended > 0 {
            self.tell_protocol();
        }
        self.advance(self.done + row.counts.ended);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::FirstTls(tls) => self.tell_tls(&tls),
            Event::Request(record) => self.record(&record),
            _ => {}
        }
    }
}
