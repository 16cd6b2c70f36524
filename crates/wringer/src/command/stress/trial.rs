//! One scenario: the target is started, the bystander runs, something presses beside it, and the way back is watched.

use super::action;
use super::bystander::{self, Rows};
use super::place::{Addresses, Place, Role};
use super::watch::{Watch, Watched};
use crate::command::around;
use crate::command::leg;
use crate::command::pressed::{self, Pressed as Proxied};
use crate::problem::Problem;
use crate::signals;
use decide::stress::{
    Between, Counters, Ground, Press, Pressed, Scenario, Seen, StressFinding, Verdict, Window, back_after,
    judge, left_behind, moved,
};
use decide::words;
use measure::{Second, TimeMetric};
use plan::{Pace, Phase, Plan, Protocol, Stop};
use proxies::gate::{Disturbance, Gate};
use session::{Finished, SessionOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the conductor looks.
const LOOK: Duration = Duration::from_millis(50);
/// A pressure that is sent later than that (99th percentile) is another one, and so is one of which this share could not be sent.
const LATE: Duration = Duration::from_millis(500);
const STARVED: f64 = 0.01;
/// How long a target may take until it answers.
const READY: Duration = Duration::from_secs(30);

/// A scenario that cannot be run here.
pub fn not_run(scenario: &'static Scenario, why: &str) -> StressFinding {
    StressFinding {
        scenario: scenario.name.to_owned(),
        about: scenario.about.to_owned(),
        verdict: Verdict::not_run(why),
        moved: Vec::new(),
        seen: None,
        counters: None,
        again: None,
        files: Vec::new(),
    }
}

/// Runs a scenario.
///
/// # Errors
/// The target cannot be started, or the bystander cannot begin.
pub fn run(
    place: &Place<'_>,
    scenario: &'static Scenario,
    ground: &Ground,
) -> Result<StressFinding, Problem> {
    let press = (scenario.press)(ground);
    let at = place.addresses(press.between.is_some(), scenario.name)?;
    let plan = bystander::plan(place, &at, &press.site, press.origin.clone());
    let over = Arc::new(AtomicBool::new(false));
    let around = SessionOptions {
        interval: bystander::ROW,
        watch_pids: place.args.pids.clone(),
        ready: place.args.wait.ready.or(Some(READY)),
        ..SessionOptions::default()
    };
    // The bystander ends when the conductor says so.
    let around = SessionOptions { stop: over.clone(), ..around::options(around)? };
    // The origin comes first: some proxies take an origin that does not answer at once for dead.
    let ready = session::prepare(&plan, &around, false)?;
    let gate = gate(&press, &at)?;
    let pressed = place.start(&at, press.action)?;
    place.refuse_other(&pressed)?;
    let status = || pressed.status();
    let started = pressed.started(&status);
    let roots = started.as_ref().map_or_else(|| place.args.pids.clone(), |started| vec![started.pid]);
    let rows = Arc::new(Rows::default());
    let mut about = place.about(&plan, scenario.name, Role::Bystander);
    about.sinks.others.push(rows.clone());
    let has_ended = AtomicBool::new(false);
    let watch = Watch::of(&at.target, roots, at.origin);
    let conductor = Conductor {
        place,
        scenario,
        press: &press,
        at: &at,
        gate: gate.as_ref(),
        pressed: &pressed,
        rows: &rows,
        has_ended: &has_ended,
        watch,
    };
    let (finished, conducted) = std::thread::scope(|scope| {
        let conducted = scope.spawn(|| {
            let conducted = conductor.conduct();
            over.store(true, Ordering::Relaxed);
            conducted
        });
        let finished = ready.about(about).run(started.as_ref(), &mut leg::Quiet);
        has_ended.store(true, Ordering::Relaxed);
        let conducted = conducted.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (finished, conducted)
    });
    Ok(conducted.finding(scenario, finished?, &rows, gate.as_ref()))
}

/// The gate before the origin, where the way there is to be disturbed.
fn gate(press: &Press, at: &Addresses) -> Result<Option<Gate>, Problem> {
    if press.between.is_none() {
        return Ok(None);
    }
    let gate = Gate::open(at.origin, at.behind).map_err(|error| {
        Problem::impossible(format!("nothing can listen before the origin at {}: {error}", at.origin))
    })?;
    Ok(Some(gate))
}

fn disturbance(between: Between) -> Disturbance {
    match between {
        Between::Delayed(time) => Disturbance::Delay(time),
        Between::Stalled => Disturbance::Stall,
        Between::Cut => Disturbance::Cut,
        Between::Refused => Disturbance::Refuse,
        Between::Flapping(each) => Disturbance::Flap(each),
        Between::Dripping => Disturbance::Drip,
        Between::Lying => Disturbance::Lie,
    }
}

/// Leads through a scenario while the bystander runs.
struct Conductor<'a> {
    place: &'a Place<'a>,
    scenario: &'static Scenario,
    press: &'a Press,
    at: &'a Addresses,
    gate: Option<&'a Gate>,
    pressed: &'a Proxied,
    rows: &'a Rows,
    has_ended: &'a AtomicBool,
    watch: Watch,
}

/// Facts that it has gathered.
#[derive(Default)]
struct Conducted {
    seen: Seen,
    counters: Counters,
    /// Rows of the bystander when it began to press, and when it had ended.
    begins: usize,
    ends: usize,
    /// Why nothing has pressed.
    problem: Option<String>,
    weak: Option<String>,
    cache_bytes: Option<u64>,
    file: Option<PathBuf>,
}

impl Conductor<'_> {
    fn is_over(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed) || signals::first().is_some()
    }

    fn conduct(&self) -> Conducted {
        let mut conducted = Conducted { cache_bytes: self.place.cache_bytes(), ..Conducted::default() };
        let needed = rows_of(bystander::before_s(self.place.args));
        while self.rows.count() < needed {
            if self.is_over() {
                return conducted;
            }
            std::thread::sleep(LOOK);
        }
        conducted.seen.held_before = self.watch.held();
        conducted.begins = self.rows.count();
        if let (Some(gate), Some(between)) = (self.gate, self.press.between) {
            gate.disturb(disturbance(between));
        }
        let pressed_over = AtomicBool::new(false);
        let (finished, watched, done) = std::thread::scope(|scope| {
            let watched = scope.spawn(|| self.watch.until(&pressed_over));
            let doing =
                scope.spawn(|| action::run(self.press.action, self.pressed, &self.watch, &pressed_over));
            let finished = self.press();
            pressed_over.store(true, Ordering::Relaxed);
            let watched = watched.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let done = doing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (finished, watched, done)
        });
        if let Some(gate) = self.gate {
            gate.disturb(Disturbance::None);
        }
        conducted.ends = self.rows.count();
        let Watched { most, counters } = watched;
        conducted.seen.held_most = most;
        conducted.counters = counters;
        conducted.take_pressed(finished, self.press);
        if let Err(why) = done {
            conducted.problem.get_or_insert(why);
        }
        self.watch_the_way_back(&mut conducted);
        conducted
    }

    fn press(&self) -> Result<Finished, Problem> {
        let Some(before) = self.press.before else { return self.press_at(&self.at.target) };
        let failed =
            |why: String| Problem::impossible(format!("nothing can listen before the target: {why}"));
        let target =
            self.at.target.parse().map_err(|_| failed(format!("{} is no address", self.at.target)))?;
        let gate = Gate::open(pressed::any_port()?, target).map_err(|error| failed(error.to_string()))?;
        gate.disturb(match before {
            Between::Dripping => Disturbance::DripAsked,
            other => disturbance(other),
        });
        self.press_at(&gate.address().to_string())
    }

    fn press_at(&self, target: &str) -> Result<Finished, Problem> {
        let plan = self.plan(target);
        let about = self.place.about(&plan, self.scenario.name, Role::Press);
        leg::run(&plan, about, None, leg::SECONDS, None)
    }

    /// The plan of the pressure.
    fn plan(&self, target: &str) -> Plan {
        let press = self.press;
        let stop = Stop { after: Some(self.place.args.scenarios.press), ..Stop::default() };
        let phase = Phase { stop, ..press.phase.clone() };
        let mut plan =
            self.place.plan(self.at, press.site.clone(), press.protocol.clone(), vec![phase], None);
        let load = plan.load.as_mut().expect("it was just made");
        load.limits = press.limits;
        load.target = Some(target.to_owned());
        plan
    }

    /// Until the bystander is well and the target has given back what it held, or the time is up.
    fn watch_the_way_back(&self, conducted: &mut Conducted) {
        let began = Instant::now();
        let before = Window::of(&self.rows.between(0, conducted.begins));
        loop {
            let rows = self.rows.between(conducted.ends, usize::MAX);
            conducted.seen.back_s = back_after(&rows, &before);
            conducted.seen.watched_s = began.elapsed().as_secs_f64();
            conducted.seen.held_after = self.watch.held();
            let is_back = conducted.seen.back_s.is_some()
                && left_behind(&conducted.seen.held_before, &conducted.seen.held_after).is_empty();
            let is_late = began.elapsed() >= self.place.args.scenarios.back;
            if is_back || is_late || self.is_over() {
                return;
            }
            std::thread::sleep(bystander::ROW);
        }
    }
}

/// Rows of so many seconds.
fn rows_of(seconds: f64) -> usize {
    (seconds / bystander::ROW.as_secs_f64()).ceil() as usize
}

impl Conducted {
    /// Takes in what the pressure was.
    fn take_pressed(&mut self, finished: Result<Finished, Problem>, press: &Press) {
        let finished = match finished {
            Ok(finished) => finished,
            Err(problem) => {
                self.problem = Some(problem.to_string());
                return;
            }
        };
        let measured = finished.result.measured();
        let is_open =
            matches!(press.phase.pace, Pace::Rate { .. } | Pace::Stages { .. } | Pace::Connections { .. });
        self.weak = weak(&finished);
        let response = measured.tally.metric(TimeMetric::Response);
        let mut counts = *measured.counts();
        if matches!(press.protocol, Protocol::Messages(_)) {
            // Nobody knows what should be answered to a broken request.
            counts.check_failed = 0;
        }
        self.seen.pressed = Pressed {
            seconds: measured.paced_time().as_secs_f64(),
            counts,
            objects: press.objects,
            p99_ms: (!response.is_empty()).then(|| response.value_at_quantile(0.99) as f64 / 1e3),
            connections: if is_open { measured.peak() } else { u64::from(press.phase.pace.at_once()) },
            origin_bytes: None,
        };
        self.file = leg::end(finished);
    }

    fn finding(
        mut self,
        scenario: &'static Scenario,
        finished: Finished,
        rows: &Rows,
        gate: Option<&Gate>,
    ) -> StressFinding {
        let [before, during, after] = [(0, self.begins), (self.begins, self.ends), (self.ends, usize::MAX)]
            .map(|(from, to)| rows.between(from, to));
        let seen = &mut self.seen;
        seen.before = Window::of(&before);
        seen.during = Window::pressed(&during, &after);
        seen.after = Window::of(&after);
        seen.died = finished.result.processes.died().map(|died| died.sentence());
        seen.of_caches = scenario.of_caches;
        seen.cache_bytes = self.cache_bytes;
        seen.pressed.origin_bytes = origin_bytes(&during);
        let disturbed = gate.map(Gate::disturbed);
        self.counters.origin_disturbed = disturbed.unwrap_or(0);
        let untouched =
            || "nothing went between the target and its origin while that was disturbed".to_owned();
        seen.weak = self.weak.or_else(|| (disturbed == Some(0)).then(untouched));
        let left = left_behind(&seen.held_before, &seen.held_after);
        let verdict = match (&self.problem, &seen.died) {
            (Some(why), None) => Verdict::not_run(why.clone()),
            _ => judge(seen, (scenario.rule)(seen), &left),
        };
        let files = [leg::end(finished), self.file].into_iter().flatten();
        StressFinding {
            scenario: scenario.name.to_owned(),
            about: scenario.about.to_owned(),
            verdict,
            moved: moved(seen, &self.counters),
            seen: Some(self.seen),
            counters: Some(self.counters),
            again: None,
            files: files.map(|file| file.display().to_string()).collect(),
        }
    }
}

/// Why it did not press as it should: its requests came so late that they were others, or this machine had no port or descriptor for them.
fn weak(finished: &Finished) -> Option<String> {
    let check = &finished.result.self_check;
    let late = Duration::from_micros(check.lateness_p99_us.unwrap_or(0));
    if late > LATE {
        let late = words::time(late.as_secs_f64());
        return Some(format!(
            "its requests were sent {late} late (p99): press from another machine, or less (--capacity)"
        ));
    }
    let is_starved = check.starved as f64 > STARVED * check.requests as f64;
    is_starved.then(|| {
        let starved = words::count(check.starved as usize, "request");
        format!("this machine had no port or descriptor left for {starved}: see wringer doctor")
    })
}

/// Bytes of bodies that the origin sent, where it runs here.
fn origin_bytes(rows: &[Second]) -> Option<u64> {
    let counts = rows.iter().filter_map(|row| row.origin.as_ref());
    counts.map(|counts| counts.body_bytes).reduce(|a, b| a + b)
}
