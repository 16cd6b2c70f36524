//! `wringer probe`: what a cache does with answers, case by case, and what it makes of requests whose end is not clear. Cases, checks and conclusions are
//! `decide`'s; here a client asks, an origin answers, and a load may stand beside them.

mod answer_wait;
mod client;
mod framing;
mod load;
mod origin;
mod sweeps;

use super::decided::DecisionFiles;
use super::findings;
use super::pressed::{self, Pressed};
use super::rig::refuse_unknown;
use super::show;
use crate::problem::{Exit, Problem};
use crate::{arguments, limits, signals};
use cli::{ProbeArgs, reachable};
use decide::probe::cases::{self, CaseFamily};
use decide::probe::sweep::{Sweep, add_baseline};
use decide::probe::{BaselineAbout, ProbeOptions, ProbeReport, cases_text};
use decide::words;
use origin::ProbeOrigin;
use plan::draw::hash;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::{Duration, Instant};
use sweeps::{AT_ONCE, Stage};

/// Sweeps beside a load: two of three decide.
const BESIDE: usize = 3;
/// How long a proxy may take until it takes connections.
const READY: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

/// The target and its origin.
struct Probe<'a> {
    args: &'a ProbeArgs,
    /// The cache, as people read it.
    title: String,
    target: SocketAddr,
    /// The Host of all requests: that of the origin.
    authority: String,
    seed: u64,
    origin: ProbeOrigin,
    pressed: Pressed,
}

/// Runs the command.
pub fn run(args: &ProbeArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    refuse_unknown(&args.started.rig)?;
    let families = cases::only(&args.cases.only).map_err(|unknown| {
        Problem::Usage(format!(
            "--only: there is no family or case {unknown:?}: wringer probe --list names them all"
        ))
    })?;
    if args.cases.list {
        show::write(&cases_text(&families));
        return Ok(Exit::Ok);
    }
    if args.cases.forecast {
        show::page(&forecast(args, &families));
        return Ok(Exit::Ok);
    }
    let against = args.cases.against.as_deref();
    let baseline: Option<ProbeReport> = against.map(|file| findings::read("--against", file)).transpose()?;
    if let Some((baseline, file)) = baseline.as_ref().zip(against) {
        refuse_strange(baseline, file, &families)?;
    }
    let report = begun(args)?;
    places(args).can_keep()?;
    // From now on a signal is noticed between cases.
    signals::interrupted()?;
    let probe = Probe::open(args)?;
    show::tell(&format!("probing {}: {}", probe.title, forecast(args, &families).trim_end()));
    let mut report = probe.found(&families, report)?;
    if let Some((baseline, file)) = baseline.zip(against) {
        add_baseline(&mut report.cases, &baseline.cases);
        report.baseline = Some(BaselineAbout { file: file.display().to_string(), target: baseline.target });
    }
    findings::conclude(&places(args), &report)
}

/// Refuses a baseline of other cases: nothing would be compared, and all would be well.
fn refuse_strange(baseline: &ProbeReport, file: &Path, families: &[CaseFamily]) -> Result<(), Problem> {
    let asked: Vec<&str> =
        families.iter().flat_map(|family| &family.cases).map(|case| case.id.as_str()).collect();
    if baseline.cases.iter().any(|known| known.state.is_some() && asked.contains(&known.id.as_str())) {
        return Ok(());
    }
    Err(Problem::Usage(format!(
        "--against {}: it holds none of the cases that are asked for: take those of the baseline with --only, or make one of these",
        file.display()
    )))
}

/// The place of the findings: where JSON is wanted, or where they go on from.
fn places(args: &ProbeArgs) -> DecisionFiles<'_> {
    DecisionFiles { what: "the findings", json: args.json.as_deref().or(args.resume.as_deref()), html: None }
}

/// A report without a sweep, or with those that were there when it was ended.
fn begun(args: &ProbeArgs) -> Result<ProbeReport, Problem> {
    let asked = ProbeOptions {
        target: pressed::typed(&args.target(), &args.started),
        memory_bytes: args.memory(),
        only: args.cases.only.clone(),
        sweeps: args.cases.sweeps,
        beside: args.cases.beside,
        framing: args.cases.framing,
    };
    let Some(file) = args.resume.as_deref() else {
        return Ok(ProbeReport { asked, ..ProbeReport::default() });
    };
    let kept: ProbeReport = findings::read("--resume", file)?;
    findings::refuse_other(file, &kept.asked, &asked)?;
    show::tell(&format!("going on after {}", words::count(kept.done.idle.len(), "idle sweep")));
    Ok(kept)
}

/// How long it takes, in words.
fn forecast(args: &ProbeArgs, families: &[CaseFamily]) -> String {
    let all: Vec<u64> = families.iter().flat_map(|family| &family.cases).map(cases::waits_s).collect();
    let longest = all.iter().copied().max().unwrap_or(0);
    let sweep = (all.iter().sum::<u64>() as f64 / AT_ONCE as f64).max(longest as f64);
    // The cases are run beside the load, and once more behind it.
    let beside = if args.cases.beside.is_some() { BESIDE + 1 } else { 0 };
    let sweeps = usize::from(args.cases.sweeps) + beside;
    let framing = if args.cases.framing {
        let again = if args.cases.beside.is_some() { ", and two a second beside the load" } else { "" };
        format!("; framing probes {} at most{again}", framing::longest())
    } else {
        String::new()
    };
    format!(
        "{} of {}, some {}{framing}\n",
        words::count(sweeps, "sweep"),
        words::count(all.len(), "case"),
        words::time(sweep * sweeps as f64)
    )
}

impl<'a> Probe<'a> {
    /// Starts the origin, and then the target, where wringer does: some proxies take an origin that does not answer at once for dead.
    fn open(args: &'a ProbeArgs) -> Result<Probe<'a>, Problem> {
        let origin = ProbeOrigin::open(args.origin_address())?;
        let listen = pressed::listen(&args.target())?;
        let options = pressed::options(&args.started, origin.address(), args.memory(), &args.wait);
        let pressed = pressed::start(&args.target(), &listen, options)?;
        let target = resolved(&listen)?;
        let title = pressed.name();
        let authority = reachable(origin.address()).to_string();
        let probe =
            Probe { args, title, target, authority, seed: arguments::seed_from_clock(), origin, pressed };
        limits::refuse(&load::plan(&probe, args.cases.beside.unwrap_or(1.0), "127.0.0.1:0"))?;
        probe.wait()?;
        Ok(probe)
    }

    /// Until the target takes connections.
    fn wait(&self) -> Result<(), Problem> {
        let patience = self.args.wait.ready.unwrap_or(READY);
        let until = Instant::now() + patience;
        loop {
            match TcpStream::connect_timeout(&self.target, patience) {
                Ok(_) => return Ok(()),
                Err(error)
                    if Instant::now() >= until
                        || !(self.args.target().is_ours() || self.args.wait.ready.is_some()) =>
                {
                    return Err(Problem::impossible(format!("{} takes no connection: {error}", self.title)));
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    fn stage(&self, number: usize) -> Stage<'_> {
        Stage {
            target: self.target,
            origin: &self.origin,
            authority: &self.authority,
            seed: hash(self.seed, number as u64),
        }
    }

    /// Runs all that was asked for and is not there yet.
    fn found(&self, families: &[CaseFamily], mut report: ProbeReport) -> Result<ProbeReport, Problem> {
        self.take_title(&mut report)?;
        let wanted = usize::from(self.args.cases.sweeps);
        while report.done.idle.len() < wanted {
            let number = report.done.idle.len();
            let Some(sweep) = self.stage(number).sweep(families) else { break };
            show::tell(&format!("sweep {} of {wanted}, idle", number + 1));
            report.done.idle.push(sweep);
            self.keep(families, &mut report)?;
        }
        if self.args.cases.framing && report.framing.is_empty() && signals::first().is_none() {
            show::tell("framing probes");
            let framing = framing::idle(&self.stage(wanted));
            if signals::first().is_none() {
                report.framing = framing;
                self.keep(families, &mut report)?;
            }
        }
        if let Some(rate) = self.args.cases.beside.filter(|_| signals::first().is_none()) {
            self.beside(rate, families, &mut report)?;
        }
        report.settle(families);
        report.ended_early = signals::first().is_some();
        if let Some(status) = self.pressed.status() {
            return Err(Problem::impossible(format!(
                "{} died meanwhile ({status}); nothing is concluded",
                self.title
            )));
        }
        Ok(report)
    }

    /// Sweeps beside a load are one run, and begin anew where that was broken off. So do framing probes.
    fn beside(&self, rate: f64, families: &[CaseFamily], report: &mut ProbeReport) -> Result<(), Problem> {
        let wanted = usize::from(self.args.cases.sweeps);
        if report.beside.is_none() {
            let mut again = report.framing.clone();
            let with = load::beside(self, rate, || {
                let sweeps = self.sweeps(families, wanted + 1, BESIDE, "beside the load");
                framing::beside(&self.stage(wanted + 1 + BESIDE), &mut again);
                sweeps
            })?;
            if signals::first().is_some() {
                return Ok(());
            }
            report.framing = again;
            report.done.beside = with.done;
            report.beside = Some(with.about);
            self.keep(families, report)?;
        }
        if report.done.after.is_none() {
            report.done.after = self.sweeps(families, wanted + 2 + BESIDE, 1, "idle again").pop();
        }
        Ok(())
    }

    /// Writes what there is, so that no sweep is lost whatever happens to this process.
    fn keep(&self, families: &[CaseFamily], report: &mut ProbeReport) -> Result<(), Problem> {
        report.settle(families);
        findings::keep(&places(self.args), report, None)
    }

    /// Sweeps of two programs are none of one cache.
    fn take_title(&self, report: &mut ProbeReport) -> Result<(), Problem> {
        if report.done.idle.is_empty() {
            report.target.clone_from(&self.title);
        }
        if report.target == self.title {
            return Ok(());
        }
        Err(Problem::impossible(format!(
            "what was started is {}, and it was {} before: it was replaced in the middle; start anew",
            self.title, report.target
        )))
    }

    /// Sweeps one after the other, until it is ended by hand.
    fn sweeps(&self, families: &[CaseFamily], first: usize, count: usize, how: &str) -> Vec<Sweep> {
        let mut sweeps = Vec::new();
        for number in 0..count {
            let Some(sweep) = self.stage(first + number).sweep(families) else { break };
            show::tell(&format!("sweep {} of {count}, {how}", number + 1));
            sweeps.push(sweep);
        }
        sweeps
    }
}

fn resolved(address: &str) -> Result<SocketAddr, Problem> {
    let failed = |why: String| Problem::impossible(format!("{address}: {why}"));
    let mut found = address.to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    found.next().ok_or_else(|| failed("it has no address".to_owned()))
}
