//! A leg of a decision: a plan that is run without a word, kept as any run, with what came of it. What all decisions must know of a run is told here:
//! whether it says anything of the target, and whether the same processes answered as before.

use super::around;
use super::pressed::Pressed;
use super::show;
use crate::arguments;
use crate::problem::Problem;
use cli::KeepArgs;
use decide::{Void, words};
use measure::processes::Happened;
use measure::{Event, RunEvent, Second, SelfCheck, Worth};
use plan::Plan;
use session::{About, Finished, Fleet, SessionOptions, Sink, View};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The usual length of an interval.
pub const SECONDS: Duration = Duration::from_secs(1);

/// Nobody looks on.
pub struct Quiet;

impl View for Quiet {
    fn row(&mut self, _row: &measure::Row, _phase: &str) {}

    fn event(&mut self, _event: Event) {}
}

/// Runs a plan to its end. `ready`: how long the target is waited for. `interval`: the length of what its rows tell of. `fleet`: the
/// machines that carry it, where others do.
///
/// # Errors
/// It cannot begin.
pub fn run(
    plan: &Plan,
    about: About,
    ready: Option<Duration>,
    interval: Duration,
    fleet: Option<Fleet>,
) -> Result<Finished, Problem> {
    let options = SessionOptions { ready, interval, fleet, ..SessionOptions::default() };
    run_pressed(plan, about, options, || Ok(None))
}

/// The same of a target that `press` gives, which may start it when the origin of the plan listens: some proxies take an origin that does not answer at
/// once for dead.
///
/// # Errors
/// It cannot begin.
pub fn run_pressed<'a>(
    plan: &Plan,
    about: About,
    options: SessionOptions,
    press: impl FnOnce() -> Result<Option<&'a Pressed>, Problem>,
) -> Result<Finished, Problem> {
    run_seen(plan, about, options, || Ok((press()?, Quiet))).map(|(finished, _)| finished)
}

/// The same with somebody who looks on, whom `press` gives too.
///
/// # Errors
/// It cannot begin.
pub fn run_seen<'a, V: View>(
    plan: &Plan,
    about: About,
    options: SessionOptions,
    press: impl FnOnce() -> Result<(Option<&'a Pressed>, V), Problem>,
) -> Result<(Finished, V), Problem> {
    let around = around::options(options)?;
    let ready = session::prepare(plan, &around, false)?.about(about);
    let (pressed, mut view) = press()?;
    let status = || pressed.and_then(Pressed::status);
    let started = pressed.and_then(|pressed| pressed.started(&status));
    Ok((ready.run(started.as_ref(), &mut view)?, view))
}

/// Tells a run its end, and returns its file, where it is kept whole.
pub fn end(finished: Finished) -> Option<PathBuf> {
    let exit = finished.exit().number();
    finished.end(exit, None, &show::notice).file
}

/// Description of a leg. `own`: labels of the decision, which come to those of the user.
pub fn about<const N: usize>(plan: &Plan, target: &str, keep: &KeepArgs, own: [(&str, String); N]) -> About {
    let mut labels: BTreeMap<String, String> = keep.labels.iter().cloned().collect();
    labels.extend(own.map(|(name, value)| (name.to_owned(), value)));
    About {
        door: "http",
        command: arguments::repeat(plan, None),
        target: Some(target.to_owned()),
        labels,
        keep: show::place(keep),
        ..About::default()
    }
}

/// The rows of a run, gathered as they come.
#[derive(Debug, Default)]
pub struct Rows(Mutex<Vec<Second>>);

impl Rows {
    /// Those so far.
    pub fn take(&self) -> Vec<Second> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for Rows {
    fn put(&self, event: &Arc<RunEvent>) {
        if let RunEvent::Second(second) = &**event {
            // Each change of them is whole.
            second.as_ref().clone().push_to(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Processes with the moments at which they began.
pub type Processes = Vec<(u32, Option<f64>)>;

/// Those that answered before the first request of a run.
pub fn processes(finished: &Finished) -> Processes {
    let before = finished.result.processes.before.iter().flat_map(|behind| &behind.processes);
    let mut processes: Processes = before.map(|process| (process.pid, process.started_unix_s)).collect();
    processes.sort_by_key(|(pid, _)| *pid);
    processes
}

/// Processes as people read them.
pub fn pids(processes: &[(u32, Option<f64>)]) -> String {
    let all: Vec<String> = processes.iter().map(|(pid, _)| format!("pid {pid}")).collect();
    if all.is_empty() { "nobody who is known".to_owned() } else { all.join(", ") }
}

/// Whoever answers a target, as first seen.
#[derive(Debug, Default)]
pub struct Answerers(Option<Processes>);

impl Answerers {
    /// Those that were seen before.
    pub fn of(processes: &Processes) -> Answerers {
        Answerers(Some(processes.clone()))
    }

    /// Those that were seen first; empty: none so far.
    pub fn known(&self) -> &[(u32, Option<f64>)] {
        self.0.as_deref().unwrap_or(&[])
    }

    /// Whoever answers must stay the same from leg to leg.
    ///
    /// # Errors
    /// A process has died, or another one answers.
    pub fn look(&mut self, name: &str, finished: &Finished) -> Result<(), Problem> {
        if let Some(died) = finished.result.processes.died() {
            return Err(Problem::impossible(format!("{name}: {}; nothing is concluded", died.sentence())));
        }
        let now = processes(finished);
        let before = self.0.get_or_insert_with(|| now.clone());
        // Who answers is not always found.
        if *before == now || before.is_empty() || now.is_empty() {
            return Ok(());
        }
        Err(Problem::impossible(format!(
            "{name} is answered by another process than before ({} instead of {}): they are not one and the same; nothing is concluded",
            pids(&now),
            pids(before)
        )))
    }
}

/// A run that wringer's own fault has ended, or that has lost an agent, is none to conclude from.
///
/// # Errors
/// It is such a run.
pub fn refuse_broken(finished: &Finished) -> Result<(), Problem> {
    let lost = finished.result.agents.iter().find_map(|agent| Some((agent, agent.lost.as_ref()?)));
    if let Some((agent, lost)) = lost {
        let name = format!("agent {} ({})", agent.name, agent.at);
        return Err(Problem::impossible(format!("{name} was lost: {}; nothing is concluded", lost.why)));
    }
    let measurement = finished.verdict.as_ref().map(|verdict| &verdict.measurement);
    match measurement.filter(|measurement| measurement.state == Worth::BrokenOff) {
        Some(broken) => {
            Err(Problem::impossible(format!("{}; nothing is concluded", broken.reasons.join("; "))))
        }
        None => Ok(()),
    }
}

/// Refuses a target that answered, and gave one user at a time not one good answer: how fast its refusals are is no figure of it.
///
/// # Errors
/// It is one of these.
pub fn refuse_without_good(finished: &Finished, name: &str) -> Result<(), Problem> {
    let measured = finished.result.measured();
    let counts = measured.counts();
    if counts.ok > 0 || counts.ended == 0 {
        return Ok(());
    }
    let status = measured.tally.statuses().max_by_key(|(_, count)| *count);
    let what = status.map_or_else(String::new, |(status, count)| {
        format!(", status {status} in {}", words::count(count as usize, "answer"))
    });
    Err(Problem::impossible(format!(
        "{name} gave not one good answer{what}; see that it answers what is asked, by itself (wringer http -v); nothing is concluded"
    )))
}

/// Whose fault it is that requests were due and not sent, because too many were under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The rate was one that the target carries.
    OfGenerator,
    /// The rate is what is asked about.
    OfTarget,
}

/// Why a leg says nothing of its target: causes that were fixed beforehand, never its figures.
pub fn void(finished: &Finished, overflow: Overflow) -> Option<Void> {
    let verdict = finished.verdict.as_ref()?;
    let measurement = &verdict.measurement;
    let why = || measurement.reasons.first().cloned().unwrap_or_else(|| measurement.state.text().to_owned());
    match measurement.state {
        Worth::GeneratorBound if overflow == Overflow::OfTarget => {
            let check = &finished.result.self_check;
            let limits = SelfCheck { overflow: 0, ..check.clone() }.limits(verdict.target.is_silent());
            let disturbed = || check.contention.reasons().into_iter().next();
            let generator = limits.into_iter().next().map(|why| Void::Generator { why });
            generator.or_else(|| disturbed().map(|why| Void::Disturbed { why }))
        }
        Worth::GeneratorBound => Some(Void::Generator { why: why() }),
        Worth::Disturbed => Some(Void::Disturbed { why: why() }),
        Worth::BrokenOff | Worth::NothingSent | Worth::CutOff | Worth::Valid => None,
    }
}

/// The same of a comparison on this machine alone, which sees by itself how much its machine always steals and pauses.
pub fn void_but_for_the_machine(finished: &Finished) -> Option<Void> {
    let void = void(finished, Overflow::OfGenerator)?;
    if !finished.result.agents.is_empty() {
        return Some(void);
    }
    let check = finished.result.self_check.but_for_the_machine();
    let silent = finished.verdict.as_ref().is_some_and(|verdict| verdict.target.is_silent());
    let generator = check.limits(silent).into_iter().next().map(|why| Void::Generator { why });
    let mixed = finished.result.processes.mixed().map(Happened::sentence);
    generator.or_else(|| {
        mixed.or_else(|| check.disturbances().into_iter().next()).map(|why| Void::Disturbed { why })
    })
}

/// Why a leg is void, behind its figures.
pub fn void_text(void: Option<&Void>) -> String {
    match void {
        None => String::new(),
        Some(Void::Generator { why } | Void::Disturbed { why }) => format!(", VOID: {why}"),
    }
}
