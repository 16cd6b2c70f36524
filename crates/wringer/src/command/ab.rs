//! `wringer ab`: the old tool's options, streams, files and exit codes over a session.

use super::show;
use crate::output;
use crate::problem::{Exit, Problem};
use crate::session::{self, Finished, Surroundings, View};
use doors::ab::{Command, Run, Shown, banner, parse};
use measure::{Event, First, FirstTls, Row};
use plan::CipherSuite;
use report::ab::{Asked, Gnuplot, Heads, Seen, begin};
use std::ffi::OsString;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How often progress is looked at, where it is shown.
const PROGRESS: Duration = Duration::from_millis(200);
/// What ab ends with where a wait was too long: its number, cut to a byte as exit codes are.
const TIMED_OUT: (&str, u8) = ("apr_pollset_poll: The timeout specified has expired (70007)", 119);

/// Runs the command; `args` are those after its name.
pub fn run(args: &[OsString]) -> Result<Exit, Problem> {
    let env = |name: &str| std::env::var(name).ok();
    let read = |file: &Path| std::fs::read(file);
    match parse(args, &env, super::seed_from_clock(), &read) {
        Command::Show(shown) => Ok(say(&shown)),
        Command::Run(run) if run.show_plan => {
            show::write(&run.plan.to_text());
            Ok(Exit::Fine)
        }
        Command::Run(run) => Ok(match test(*run) {
            Ok(exit) => exit,
            Err(Ended { line, exit }) => {
                show::notice(&line);
                code(exit)
            }
        }),
    }
}

/// Prints what `ab --help` prints, as the help of a native command: on standard output, and it is no error.
pub fn help() -> Result<Exit, Problem> {
    show::write(&doors::ab::help());
    Ok(Exit::Fine)
}

fn say(shown: &Shown) -> Exit {
    match shown.to_stderr {
        true => show::notice(shown.text.strip_suffix('\n').unwrap_or(&shown.text)),
        false => show::write(&shown.text),
    }
    code(shown.exit)
}

fn code(exit: u8) -> Exit {
    Exit::Code(ExitCode::from(exit))
}

/// A run that ended without a report: a line, and the exit code of ab.
struct Ended {
    line: String,
    exit: u8,
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Ended {
        Ended { line: format!("ab: {problem}"), exit: 1 }
    }
}

fn test(mut run: Run) -> Result<Exit, Ended> {
    run.notices.iter().for_each(|notice| show::notice(notice));
    can_keep(&run)?;
    let asked = asked(&run);
    if run.view.banner {
        show::write(&banner(run.view.html.is_some()));
    }
    if run.view.html.is_none() {
        show::write(&begin(&asked, run.view.progress.is_some()));
    }
    look(&run)?;
    let most = session::threads(None).min(run.view.concurrency.max(1));
    run.plan.threads.get_or_insert(most as u16);
    let around = Surroundings {
        interval: if run.view.progress.is_some() { PROGRESS } else { Duration::ZERO },
        take_silent: true,
        ..Surroundings::default()
    };
    let ready = session::prepare(&run.plan, &around, false)?;
    let mut told = Told::new(&run);
    let finished = ready.run(&[], &mut told)?;
    report(&run, &asked, &finished, told)
}

/// Shows the report and says how the process ends.
fn report(run: &Run, asked: &Asked, finished: &Finished, told: Told) -> Result<Exit, Ended> {
    let result = &finished.result;
    let phase = result.measured();
    let mut seen = Seen::new(&phase, asked, result.interrupted);
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
        Some(attributes) => show::write(&report::ab::html(asked, &seen, attributes)),
        None => show::write(&report::ab::text(asked, &seen)),
    }
    keep(run, finished, &seen, told.gnuplot)?;
    if result.interrupted {
        return Ok(code(1));
    }
    seen.handshakes().iter().for_each(|line| show::notice(line));
    Ok(match seen.fatal(asked) {
        Some((line, exit)) => {
            show::notice(&line);
            code(exit)
        }
        None => Exit::Fine,
    })
}

fn asked(run: &Run) -> Asked {
    let view = &run.view;
    let stop = run.plan.load.as_ref().and_then(|load| load.phases.first()).map(|phase| phase.stop);
    Asked {
        hostname: view.hostname.clone(),
        port: view.port,
        path: view.path.clone(),
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

/// Finds out before the run whether its files can be written: afterwards it would be late.
fn can_keep(run: &Run) -> Result<(), Ended> {
    let files = [("CSV", &run.csv), ("gnuplot", &run.gnuplot), ("JSON", &run.json)];
    for (what, file) in files {
        let Some(file) = file.as_deref().filter(|file| !output::is_stdout(file)) else { continue };
        output::writable(file).map_err(|error| cannot_open(what, &error))?;
    }
    Ok(())
}

fn cannot_open(what: &str, error: &io::Error) -> Ended {
    Ended { line: format!("Cannot open {what} output file: {}", reason(error)), exit: 1 }
}

fn keep(run: &Run, finished: &Finished, seen: &Seen, gnuplot: Gnuplot) -> Result<(), Ended> {
    let csv = run.csv.as_ref().filter(|_| seen.done() > 0).map_or(Ok(()), |file| {
        output::keep("the CSV output", file, report::ab::csv(&seen.spreads.total).as_bytes())
    });
    let gnuplot = run.gnuplot.as_ref().filter(|_| seen.done() > 0).map_or(Ok(()), |file| {
        let text = gnuplot.text(finished.started_unix_s, &jiff::tz::TimeZone::system());
        output::keep("the gnuplot output", file, text.as_bytes())
    });
    let target = Some(run.view.connects_to.as_str());
    let json = show::keep_door_json(run.json.as_deref(), finished, &run.plan, target, None);
    Ok(csv.and(gnuplot).and(json)?)
}

/// Looks the host up and, unless failed connections are to be survived, whether anybody listens there: ab ends in its own
/// words where not.
fn look(run: &Run) -> Result<(), Ended> {
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
fn unknown(name: &str, error: &io::Error) -> Ended {
    let host = name.rsplit_once(':').map_or(name, |(host, _)| host);
    let (text, number) = match error.to_string().contains("Temporary failure") {
        true => ("Temporary failure in name resolution", 670_003_u32),
        false => ("Name or service not known", 670_002),
    };
    Ended {
        line: format!("apr_sockaddr_info_get() for {host}: {text} ({number})"),
        exit: (number % 256) as u8,
    }
}

/// A host where nobody listens.
fn silent(error: &io::Error) -> Ended {
    match error.raw_os_error() {
        Some(errno) => {
            Ended { line: format!("apr_socket_recv: {} ({errno})", reason(error)), exit: errno as u8 }
        }
        None => Ended { line: TIMED_OUT.0.to_owned(), exit: TIMED_OUT.1 },
    }
}

/// What the system says of an error, without its number.
fn reason(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

/// What is told while it runs.
struct Told {
    heads: Heads,
    gnuplot: Gnuplot,
    first: Option<First>,
    tls: Option<FirstTls>,
    progress: Option<u64>,
    done: u64,
}

impl Told {
    fn new(run: &Run) -> Told {
        Told {
            heads: Heads::new(run.view.verbosity),
            gnuplot: Gnuplot::default(),
            first: None,
            tls: None,
            progress: run.view.progress,
            done: 0,
        }
    }
}

impl View for Told {
    fn row(&mut self, row: &Row, _phase: &str) {
        let before = self.done;
        self.done += row.counts.fine + row.counts.faulty + row.counts.failed;
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
            | Event::Trouble(_)
            | Event::Evidence(_)
            | Event::Fetched(_) => {}
        }
    }
}
