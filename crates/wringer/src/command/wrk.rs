//! `wringer wrk` and `wringer wrk2`: the old tools' options, streams and exit codes over a session.

use super::show;
use crate::problem::{Exit, Problem};
use crate::session::{self, Finished, Surroundings, View};
use doors::wrk::{Command, Run, Shown, Tool, parse};
use measure::{Event, Row};
use report::{Context, json};
use std::ffi::OsString;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How often the threads' rates are taken, as in wrk.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs wrk; `args` are those after its name.
pub fn run_wrk(args: &[OsString]) -> Result<Exit, Problem> {
    Ok(run(Tool::Wrk, args))
}

/// Runs wrk2; `args` are those after its name.
pub fn run_wrk2(args: &[OsString]) -> Result<Exit, Problem> {
    Ok(run(Tool::Wrk2, args))
}

/// Prints what `wrk --help` prints, as the help of a native command: it is no error.
pub fn help_wrk() -> Result<Exit, Problem> {
    show::write(&doors::wrk::help(Tool::Wrk));
    Ok(Exit::Fine)
}

/// Prints what `wrk2 --help` prints, as the help of a native command: it is no error.
pub fn help_wrk2() -> Result<Exit, Problem> {
    show::write(&doors::wrk::help(Tool::Wrk2));
    Ok(Exit::Fine)
}

fn run(tool: Tool, args: &[OsString]) -> Exit {
    let run = match parse(tool, args, super::seed_from_clock(), &|file: &Path| std::fs::read(file)) {
        Command::Show(Shown { complaint, text }) => {
            show::write(&text);
            if !complaint.is_empty() {
                show::notice(&complaint);
            }
            return Exit::Code(ExitCode::from(1));
        }
        Command::Run(run) => run,
    };
    if run.show_plan {
        show::write(&run.plan.to_text());
        return Exit::Fine;
    }
    match test(tool, &run) {
        Ok(exit) => exit,
        Err(problem) => {
            show::notice(&problem.to_string());
            Exit::Code(ExitCode::from(1))
        }
    }
}

fn test(tool: Tool, run: &Run) -> Result<Exit, Problem> {
    let name = tool.name();
    if let Some(file) = run.json.as_deref().filter(|file| *file != Path::new("-")) {
        show::writable(file).map_err(|error| {
            Problem::impossible(format!("{name}: {} cannot be written: {error}", file.display()))
        })?;
    }
    run.view.version.iter().for_each(|version| show::write(version));
    run.notices.iter().for_each(|notice| show::notice(&format!("{name}: {notice}")));
    reach(run)?;
    let around = Surroundings { interval: INTERVAL, ..Surroundings::default() };
    let ready = session::prepare(&run.plan, &around, false)?;
    let view = &run.view;
    show::write(&report::wrk::banner(&view.url, view.threads, view.connections, view.duration));
    let finished = ready.run(&[], &mut Nothing)?;
    let options = report::wrk::Options {
        wrk2: tool == Tool::Wrk2,
        latency: view.latency,
        uncorrected: view.uncorrected,
    };
    show::write(&report::wrk::report(&finished.result, options));
    report::wrk::failures(&finished.result).iter().for_each(|line| show::notice(&format!("{name}: {line}")));
    finished.result.notes.iter().for_each(|note| show::notice(&format!("{name}: {note}")));
    keep_json(run, &finished)?;
    Ok(Exit::Fine)
}

/// Looks up the host and finds out whether anybody listens there, in the old tools' words.
fn reach(run: &Run) -> Result<(), Problem> {
    let (host, service) = (&run.host, &run.service);
    let port = match service.as_str() {
        "http" => 80,
        "https" => 443,
        service => service.parse().unwrap_or(0),
    };
    let found: Vec<SocketAddr> = (host.as_str(), port)
        .to_socket_addrs()
        .map_err(|error| {
            let reason = error.to_string();
            let reason = reason.rsplit(": ").next().unwrap_or(&reason);
            Problem::impossible(format!("unable to resolve {host}:{service} {reason}"))
        })?
        .collect();
    let limit = Duration::from_secs(5);
    let mut reason = "no address".to_owned();
    for address in found {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(_) => return Ok(()),
            Err(error) => reason = without_number(&error.to_string()),
        }
    }
    Err(Problem::impossible(format!("unable to connect to {host}:{service} {reason}")))
}

/// What the system says, without ` (os error 111)`.
fn without_number(reason: &str) -> String {
    reason.split(" (os error").next().unwrap_or(reason).to_owned()
}

fn keep_json(run: &Run, finished: &Finished) -> Result<(), Problem> {
    let Some(file) = &run.json else { return Ok(()) };
    let command = show::repeat(run.plan.seed, None);
    let context = Context {
        plan: &run.plan,
        command: &command,
        version: env!("CARGO_PKG_VERSION"),
        target: Some(&run.view.url),
        target_cpu: None,
        evidence_file: None,
        started_unix_s: finished.started_unix_s,
        threads: finished.threads,
    };
    show::keep_json(file, &json::report(&finished.result, &context))
}

/// Nothing is shown while it runs.
struct Nothing;

impl View for Nothing {
    fn row(&mut self, _row: &Row, _phase: &str) {}

    fn event(&mut self, _event: Event) {}
}
