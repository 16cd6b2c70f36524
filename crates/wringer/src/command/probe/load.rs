//! The load beside which cases are run: hits and some misses, at a fixed rate, with every byte judged.

use super::Probe;
use crate::command::{around, leg, pressed};
use crate::problem::Problem;
use decide::probe::BesideAbout;
use plan::site::Size;
use plan::{
    Arrivals, Http, Law, Load, LoadLimits, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol,
    Scenario, Site, Step, Stop,
};
use session::{About, Finished, SessionOptions, Sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Its objects, their size, and the share of requests for objects that nobody asks for again.
const OBJECTS: u64 = 200;
const BYTES: u64 = 1_000;
const ONE_TIMERS: f64 = 0.1;
/// Requests that fill the cache, by so many users.
const FILL: u64 = 400;
const FILLERS: u32 = 4;
/// Place of the phase that is the load.
const LOADED: u32 = 1;
/// The most of its requests under way.
const IN_FLIGHT: u32 = 10_000;
/// It ends when the sweeps have; this is only so that it ends at all.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);
/// How often it is looked for its beginning.
const LOOK: Duration = Duration::from_millis(50);
/// Less than this share of the rate is another load.
const ENOUGH: f64 = 0.9;

/// Sees the load begin.
#[derive(Debug, Default)]
struct Begun(AtomicBool);

impl Sink for Begun {
    fn put(&self, event: &Arc<measure::RunEvent>) {
        if matches!(&**event, measure::RunEvent::Second(second) if second.phase == LOADED) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Does something beside a load, and tells what the load was.
///
/// # Errors
/// The load cannot begin, or has ended before it should.
pub fn beside<T>(
    probe: &Probe<'_>,
    rate: f64,
    what: impl FnOnce() -> T + Send,
) -> Result<WithLoad<T>, Problem>
where
    T: Send,
{
    let behind = pressed::any_port()?;
    let plan = plan(probe, rate, &behind.to_string());
    let over = Arc::new(AtomicBool::new(false));
    let options = around::options(SessionOptions::default())?;
    // It ends when what stands beside it has.
    let options = SessionOptions { stop: over.clone(), ..options };
    let ready = session::prepare(&plan, &options, false)?;
    probe.origin.pass_on(Some(behind));
    let begun = Arc::new(Begun::default());
    let has_ended = AtomicBool::new(false);
    let mut about: About =
        leg::about(&plan, &probe.title, &probe.args.keep, [("probe", format!("{:x}", probe.seed))]);
    about.sinks.others.push(begun.clone());
    let status = || probe.pressed.status();
    let started = probe.pressed.started(&status);
    let (finished, done) = std::thread::scope(|scope| {
        let done = scope.spawn(|| {
            while !begun.0.load(Ordering::Relaxed) && !has_ended.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK);
            }
            let done = (!has_ended.load(Ordering::Relaxed)).then(what);
            over.store(true, Ordering::Relaxed);
            done
        });
        let finished = ready.about(about).run(started.as_ref(), &mut leg::Quiet);
        has_ended.store(true, Ordering::Relaxed);
        (finished, done.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    probe.origin.pass_on(None);
    let finished = finished?;
    leg::refuse_broken(&finished)?;
    let about = about_of(&finished, rate);
    leg::end(finished);
    let done = done.ok_or_else(|| {
        Problem::impossible(format!(
            "{}: the load ended before the cases began; nothing is concluded",
            probe.title
        ))
    })?;
    Ok(WithLoad { done, about })
}

/// Work that was done beside a load, and the load.
pub struct WithLoad<T> {
    /// Its outcome.
    pub done: T,
    /// The load.
    pub about: BesideAbout,
}

fn about_of(finished: &Finished, rate: f64) -> BesideAbout {
    let measured = finished.result.measured();
    let counts = measured.counts();
    let good_per_second = measured.per_second(counts.ok);
    let all = counts.ok + counts.failed;
    let failed_share = counts.failed as f64 / all.max(1) as f64;
    let void = leg::void(finished, leg::Overflow::OfGenerator).map(|void| match void {
        decide::Void::Generator { why } | decide::Void::Disturbed { why } => why,
    });
    let is_less = (good_per_second < ENOUGH * rate)
        .then(|| format!("{} were good", decide::words::rate(good_per_second)));
    BesideAbout { rate, good_per_second, failed_share, weak: is_less.or(void) }
}

/// The plan of the load; also what the user's own limits are asked about.
pub fn plan(probe: &Probe<'_>, rate: f64, behind: &str) -> Plan {
    let site = Site { size: Size::Fixed(BYTES), ..Site::default() };
    let popularity =
        |one_timers| Popularity { hot: OBJECTS, law: Law::Uniform, one_timers, ..Popularity::default() };
    let objects = |one_timers| {
        Scenario::of(vec![Step::Object(ObjectStep {
            popularity: popularity(one_timers),
            ..ObjectStep::default()
        })])
    };
    let fill = Phase {
        name: "fill".to_owned(),
        measured: false,
        scenario: objects(0.0),
        pace: Pace::Users(FILLERS),
        stop: Stop { requests: Some(FILL), ..Stop::default() },
        ..Phase::default()
    };
    let loaded = Phase {
        name: "load".to_owned(),
        scenario: objects(ONE_TIMERS),
        pace: Pace::Rate { per_second: rate, arrivals: Arrivals::Poisson, in_flight: IN_FLIGHT },
        stop: Stop { after: Some(LONGEST), ..Stop::default() },
        ..Phase::default()
    };
    let http = Http { authority: probe.authority.clone(), ..Http::default() };
    let load = Load {
        target: Some(probe.target.to_string()),
        protocol: Protocol::Http(http),
        limits: LoadLimits::default(),
        phases: vec![fill, loaded],
        ..Load::default()
    };
    Plan {
        version: Plan::VERSION,
        seed: crate::arguments::plan_seed(probe.seed),
        threads: probe.args.threads,
        io: plan::Io::Auto,
        site,
        load: Some(load),
        origin: Some(Origin { listen: behind.to_owned(), ..Origin::default() }),
    }
}
