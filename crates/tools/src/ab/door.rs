//! `wringer ab`: the old tool's options, streams, files and exit codes over a session.

use super::report::{AbAsked, AbSeen, Gnuplot, Heads, begin};
use super::{self as door, Run, banner, parse};
use crate::ToolShown;
use crate::reads::Disk;
use crate::runner::{Door, Moment};
use console::output as show;
use console::problem::{Exit, Problem};
use measure::{Event, First, FirstTls, Row};
use plan::CipherSuite;
use session::{self, Finished, SessionOptions, View};
use std::ffi::OsString;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How often progress is looked at, where it is shown.
const PROGRESS: Duration = Duration::from_millis(200);
/// Message and exit code of ab where a wait was too long: the code is the error's number, cut to a byte as exit codes are.
const TIMED_OUT: (&str, u8) = ("apr_pollset_poll: The timeout specified has expired (70007)", 119);

/// ab's command line.
pub struct Ab {
    run: Run,
}

impl Door for Ab {
    const NAME: &'static str = "ab";
    const ABOUT: &'static str = "ApacheBench's ab: the same options, the same report";
    const NAMES_FAILURES: bool = true;
    type View = door::AbView;
    type Lines = Progress;

    fn read(args: &[OsString], moment: &Moment) -> Result<Ab, ToolShown> {
        parse(args, &Moment::env, moment.seed, &Disk).map(|run| Ab { run })
    }

    fn help() -> String {
        door::help()
    }

    fn run(&self) -> &Run {
        &self.run
    }

    /// True: it says itself, before anything else, what it takes differently.
    fn is_quiet(&self) -> bool {
        true
    }

    fn target(&self) -> Option<String> {
        Some(self.run.view.connects_to.clone())
    }

    fn before(&mut self) -> Result<(), Problem> {
        let run = &mut self.run;
        run.notices.iter().for_each(|notice| show::notice(notice));
        if run.view.banner {
            show::write(&banner(run.view.html.is_some()));
        }
        if run.view.html.is_none() {
            show::write(&begin(&asked(run), run.view.progress.is_some()));
        }
        look(run)?;
        let most = session::threads(None).min(run.view.concurrency.max(1));
        run.plan.threads.get_or_insert(most as u16);
        Ok(())
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions {
            interval: if self.run.view.progress.is_some() { PROGRESS } else { Duration::ZERO },
            take_silent: true,
            ..SessionOptions::default()
        }
    }

    fn begin(&mut self) -> Result<Progress, Problem> {
        Ok(Progress::new(&self.run))
    }

    fn lay_out(&self, finished: &Finished, told: Progress) -> Result<Exit, Problem> {
        report(&self.run, &asked(&self.run), finished, told)
    }
}

fn code(exit: u8) -> Exit {
    Exit::Code(exit)
}

/// Shows the report and says how the process ends.
fn report(run: &Run, asked: &AbAsked, finished: &Finished, told: Progress) -> Result<Exit, Problem> {
    let result = &finished.result;
    let phase = result.measured();
    let mut seen = AbSeen::new(&phase, asked, result.interrupted);
    seen.first = told.first;
    let suite = |tls: FirstTls| (CipherSuite::openssl_name(tls.suite).to_owned(), tls);
    seen.tls = told.tls.map(suite).map(|(name, tls)| (tls, name));
    if !result.interrupted {
        match run.view.progress {
            Some(_) => show::notice(&format!("Finished {} requests", seen.done())),
            None => show::write("..done\n"),
        }
    }
    // Interrupted, ab prints the text in any case.
    match run.view.html.as_ref().filter(|_| !result.interrupted) {
        Some(attributes) => show::write(&super::report::html(asked, &seen, attributes)),
        None => show::write(&super::report::text(asked, &seen)),
    }
    keep(run, finished, &seen, told.gnuplot)?;
    if result.interrupted {
        return Ok(code(1));
    }
    let handshakes = seen.handshakes();
    handshakes.iter().for_each(|line| show::notice(line));
    if let Some((line, exit)) = seen.fatal(asked) {
        show::notice(&line);
        return Ok(code(exit));
    }
    // ab itself survives in silence.
    let untold = report::text::unanswered(result).filter(|_| handshakes.is_empty());
    untold.iter().for_each(|why| show::notice(&format!("ab: {why}")));
    Ok(Exit::Ok)
}

fn asked(run: &Run) -> AbAsked {
    let view = &run.view;
    let stop = run.plan.load.as_ref().and_then(|load| load.phases.first()).map(|phase| phase.stop);
    AbAsked {
        hostname: view.hostname.clone(),
        port: view.port,
        path: plan::secret::without_secrets(&view.path),
        proxy: view.proxy.clone(),
        secure: view.secure,
        server_name: view.server_name.clone(),
        concurrency: view.concurrency,
        requests: view.requests,
        time_limit: stop.and_then(|stop| stop.after),
        any_length: view.any_length,
        keep_alive: view.keep_alive,
        has_body: view.has_body,
        percentiles: view.percentiles,
        confidence: view.confidence,
        survives: view.survives,
    }
}

fn cannot_open(what: &str, error: &io::Error) -> Problem {
    Problem::Words { text: format!("Cannot open {what} output file: {}", reason(error)), exit: 1 }
}

fn keep(run: &Run, finished: &Finished, seen: &AbSeen, gnuplot: Gnuplot) -> Result<(), Problem> {
    let csv = run.view.csv.as_ref().filter(|_| seen.done() > 0).map_or(Ok(()), |file| {
        std::fs::write(file, super::report::csv(&seen.distributions.total))
            .map_err(|error| cannot_open("CSV", &error))
    });
    let gnuplot = run.view.gnuplot.as_ref().filter(|_| seen.done() > 0).map_or(Ok(()), |file| {
        let text = gnuplot.text(finished.head.started_unix_s, &jiff::tz::TimeZone::system());
        std::fs::write(file, text).map_err(|error| cannot_open("gnuplot", &error))
    });
    csv.and(gnuplot)
}

/// Looks the host up and, unless failed connections are to be survived, whether anybody listens there: ab ends in its own
/// words where not.
fn look(run: &Run) -> Result<(), Problem> {
    let name = &run.view.connects_to;
    let found: Vec<SocketAddr> = name.to_socket_addrs().map_err(|error| unknown(name, &error))?.collect();
    if run.view.survives {
        return Ok(());
    }
    let limits = run.plan.load.as_ref().map(|load| load.limits).unwrap_or_default();
    let mut refused = None;
    for address in found {
        match TcpStream::connect_timeout(&address, limits.connect) {
            Ok(_) => return Ok(()),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.map_or_else(|| unknown(name, &io::ErrorKind::NotFound.into()), |error| silent(&error)))
}

/// A name that leads nowhere. apr's numbers begin with 670000 and end with those of getaddrinfo.
fn unknown(name: &str, error: &io::Error) -> Problem {
    let host = name.rsplit_once(':').map_or(name, |(host, _)| host);
    let (text, number) = match error.to_string().contains("Temporary failure") {
        true => ("Temporary failure in name resolution", 670_003_u32),
        false => ("Name or service not known", 670_002),
    };
    Problem::Words {
        text: format!("apr_sockaddr_info_get() for {host}: {text} ({number})"),
        exit: (number % 256) as u8,
    }
}

/// A host where nobody listens.
fn silent(error: &io::Error) -> Problem {
    match error.raw_os_error() {
        Some(errno) => Problem::Words {
            text: format!("apr_socket_recv: {} ({errno})", reason(error)),
            exit: errno as u8,
        },
        None => Problem::Words { text: TIMED_OUT.0.to_owned(), exit: TIMED_OUT.1 },
    }
}

/// Returns the system's text for an error, without its number.
fn reason(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().expect("a split has a first part").to_owned()
}

/// Output while it runs.
pub struct Progress {
    heads: Heads,
    gnuplot: Gnuplot,
    first: Option<First>,
    tls: Option<FirstTls>,
    progress: Option<u64>,
    done: u64,
}

impl Progress {
    fn new(run: &Run) -> Progress {
        Progress {
            heads: Heads::new(run.view.verbosity),
            gnuplot: Gnuplot::default(),
            first: None,
            tls: None,
            progress: run.view.progress,
            done: 0,
        }
    }
}

impl View for Progress {
    fn row(&mut self, row: &Row, _phase: &str) {
        let before = self.done;
        self.done += row.counts.ok + row.counts.check_failed + row.counts.failed;
        let Some(every) = self.progress else { return };
        for nth in before / every + 1..=self.done / every {
            show::notice(&format!("Completed {} requests", nth * every));
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Head { title, text } => show::write(&self.heads.text(title, &text)),
            Event::Request(record) => self.gnuplot.add(&record),
            // Each worker tells its own; the first of them is the run's.
            Event::First(first) => {
                let is_first = self.first.as_ref().is_none_or(|known| first.at < known.at);
                self.first = if is_first { Some(*first) } else { self.first.take() };
            }
            Event::FirstTls(tls) => {
                let is_first = self.tls.as_ref().is_none_or(|known| tls.at < known.at);
                self.tls = if is_first { Some(*tls) } else { self.tls.take() };
            }
            // The plan asks for none of these.
            Event::Url(_)
            | Event::Body(_)
            | Event::Talk(_)
            | Event::RequestError(_)
            | Event::Kept(_)
            | Event::Evidence(_)
            | Event::Lost(_)
            | Event::Traced(_)
            | Event::Transaction(_)
            | Event::Page(_)
            | Event::Log { .. }
            | Event::Fetched(_)
            | Event::Certificate(_)
            | Event::Connection(_) => {}
        }
    }
}
