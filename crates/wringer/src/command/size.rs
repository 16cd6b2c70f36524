//! `wringer size`: which share of its memory a cache uses, by the size of objects. What follows from hits is `decide`'s; here working sets are filled and asked for.

use super::decided::DecisionFiles;
use super::leg;
use super::pressed::{self, Pressed};
use super::rig::refuse_unknown;
use super::{around, cache, findings, show};
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::{SizeArgs, Target, reachable};
use decide::size::{Point, Share, Shift, SizeOptions, Sizes, Window, WorkingSet, model_requests};
use decide::words;
use measure::shares::answered;
use plan::site::Size;
use plan::{
    Http, Law, Load, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Scenario, Site, Step, Stop,
};
use proxies::rig;
use session::{About, Finished, SessionOptions};
use std::net::SocketAddr;
use std::time::Duration;

/// Users that fill, and that ask.
const FILLERS: u32 = 8;
const USERS: u32 = 16;
/// Turnovers of the memory by misses before anything counts, and while it does.
const SETTLE: f64 = 2.0;
const COUNT: f64 = 3.0;
/// The same when objects of another size come to a full cache, behind the requests that the model takes for them.
const SHIFTED: f64 = 5.0;
/// Length of what a shift is looked at by.
const WINDOW: Duration = Duration::from_millis(100);
/// Fewer requests tell nothing; more are not needed.
const FEWEST: f64 = 3_000.0;
const MOST: f64 = 2_000_000.0;
/// A share of misses is taken to be no smaller, or a set that nearly fits would never be over.
const LEAST_MISSES: f64 = 0.05;
/// How long a cache may take until it answers.
const READY: Duration = Duration::from_secs(30);

/// Runs the command.
pub fn run(args: &SizeArgs) -> Result<Exit, Problem> {
    args.check().map_err(Problem::Usage)?;
    refuse_unknown(&args.started.rig)?;
    refuse_without_cache(args)?;
    if args.forecast {
        show::page(&forecast(args));
        return Ok(Exit::Ok);
    }
    let kept: Option<Sizes> =
        args.resume.as_deref().map(|file| findings::read("--resume", file)).transpose()?;
    let json = args.json.as_deref().or(args.resume.as_deref());
    let places = DecisionFiles { what: "the sizes", json, html: args.html.as_deref() };
    places.can_keep()?;
    let mut sizing = Sizing { args, sizes: begun(args, kept)? };
    while let Some(next) = sizing.sizes.next() {
        let came = sizing.asked_for(next)?;
        if let Some(signal) = signals::first() {
            show::tell("ended by hand: nothing is concluded");
            return Ok(Exit::of_signal(signal));
        }
        let said = came.shift.as_ref().map(Shift::text);
        let share = sizing.sizes.take(came.point.clone(), came.shift);
        show::tell(&line(&came.point, share));
        said.iter().for_each(|text| show::tell(text));
        findings::keep(&places, &sizing.sizes, None)?;
    }
    findings::conclude(&places, &sizing.sizes)
}

/// Refuses a proxy of which it is known that it keeps nothing.
fn refuse_without_cache(args: &SizeArgs) -> Result<(), Problem> {
    match args.target() {
        Target::Rig { name, .. } if rig::named(&name).is_ok_and(|proxy| !proxy.caches()) => {
            Err(Problem::Usage(format!("{name} keeps no answers: size is for caches")))
        }
        Target::Rig { .. } | Target::Command(_) | Target::Proxy(_) | Target::Demonstration => Ok(()),
    }
}

/// Sizes without a working set, or with those that were there when it was ended.
fn begun(args: &SizeArgs, kept: Option<Sizes>) -> Result<Sizes, Problem> {
    let kept_seed = || kept.as_ref().map(|kept| kept.asked.seed);
    let mut sets = args.sets.clone();
    sets.sort_by(f64::total_cmp);
    let asked = SizeOptions {
        target: pressed::typed(&args.target(), &args.started),
        seed: args.seed.or_else(kept_seed).unwrap_or_else(arguments::seed_from_clock),
        memory_bytes: args.memory(),
        sizes: args.sizes.clone(),
        sets,
        alpha: args.zipf,
        limit_s: args.limit.as_secs_f64(),
        for_hits: args.for_hits,
        shift_to: args.shift,
    };
    let Some((kept, file)) = kept.zip(args.resume.as_deref()) else { return Ok(Sizes::new(asked)) };
    findings::refuse_other(file, &kept.asked, &asked)?;
    let sets = kept.classes.iter().map(|class| class.points.len()).sum();
    show::tell(&format!("going on after {}", words::count(sets, "working set")));
    Ok(kept)
}

/// How long it takes at most, in words: each set is filled, settles and counts.
fn forecast(args: &SizeArgs) -> String {
    let sets = args.working_sets();
    let shifts = args.shifts();
    let followed =
        if shifts == 0 { String::new() } else { format!(", and {}", words::count(shifts, "shift")) };
    let limits = 3 * sets + shifts;
    format!(
        "{} for {}{followed}: {} at most, and as long as the cache takes to start each time\n",
        words::count(sets, "working set"),
        words::count(args.sizes.len(), "size"),
        words::time(args.limit.as_secs_f64() * limits as f64)
    )
}

/// A point in a line.
fn line(point: &Point, share: Share) -> String {
    format!(
        "{} of objects of {}: {} hits of {}, {} by the model; works: {}",
        words::bytes(point.set_bytes()),
        words::bytes(point.object_bytes as f64),
        words::percent(point.hit_ratio()),
        words::count(point.requests as usize, "request"),
        words::percent(point.predicted(point.memory_bytes as f64)),
        share.text()
    )
}

/// Requests by whose misses the memory is turned over so many times.
fn requests_for(set: &Point, turnovers: f64) -> u64 {
    let misses = (1.0 - set.predicted_in_the_end()).max(LEAST_MISSES);
    let turnover = set.memory_bytes as f64 / set.object_bytes as f64 / misses;
    (turnovers * turnover).clamp(FEWEST, MOST) as u64
}

/// Working sets so far.
struct Sizing<'a> {
    args: &'a SizeArgs,
    sizes: Sizes,
}

/// Phases of one run, all of which ask for the same set.
struct Phases {
    /// The set, which nobody has asked for before.
    set: u8,
    phases: Vec<SizeAsked>,
}

/// Requests for a set.
struct SizeAsked {
    name: &'static str,
    measured: bool,
    law: Law,
    users: u32,
    requests: u64,
}

/// Figures of a working set, and of the one that followed it.
struct SizeArrival {
    point: Point,
    shift: Option<Shift>,
}

/// Addresses of one run.
struct Addresses {
    target: String,
    origin: SocketAddr,
}

impl Sizing<'_> {
    fn addresses(&self) -> Result<Addresses, Problem> {
        let origin = cache::listening(self.args.origin_address())?;
        let target = pressed::listen(&self.args.target())?;
        Ok(Addresses { target, origin })
    }

    fn start(&self, at: &Addresses) -> Result<Pressed, Problem> {
        let options = pressed::options(&self.args.started, at.origin, self.args.memory(), &self.args.wait);
        pressed::start(&self.args.target(), &at.target, options)
    }

    /// A set of which nothing came yet.
    fn unasked(&self, set: WorkingSet, is_filled: bool) -> Point {
        let memory_bytes = self.args.memory();
        let objects = (memory_bytes as f64 * set.times / set.object_bytes as f64) as u64;
        Point {
            object_bytes: set.object_bytes,
            objects: objects.max(1),
            alpha: self.args.zipf,
            memory_bytes,
            is_filled,
            warm_requests: 0,
            requests: 0,
            hits: 0,
            seconds: 1.0,
        }
    }

    /// Fills a working set that nobody has asked for before, and asks for it; then, where that is wanted, for objects of another size.
    fn asked_for(&mut self, set: WorkingSet) -> Result<SizeArrival, Problem> {
        let mut point = self.unasked(set, true);
        let [settle, count] = [SETTLE, COUNT].map(|turnovers| requests_for(&point, turnovers));
        let law = Law::Zipf { alpha: self.args.zipf };
        let phase = |name, measured, requests| SizeAsked { name, measured, law, users: USERS, requests };
        let fill = SizeAsked { law: Law::InOrder, users: FILLERS, ..phase("fill", false, point.objects) };
        let phases = vec![fill, phase("settle", false, settle), phase("measure", true, count)];
        let at = self.addresses()?;
        let plan = self.plan(&at, &point, Phases { set: set.number as u8, phases });
        let around = around::options(self.session(leg::SECONDS))?;
        // The origin comes first: some proxies take an origin that does not answer at once for dead.
        let ready = session::prepare(&plan, &around, false)?;
        let pressed = self.start(&at)?;
        self.take_title(&pressed)?;
        let status = || pressed.status();
        let started = pressed.started(&status);
        let finished = ready.about(self.about(&plan, set)).run(started.as_ref(), &mut leg::Quiet)?;
        Self::refuse(&finished)?;
        let phases = &finished.result.phases;
        let measured = finished.result.measured();
        point.warm_requests = phases.get(1).map_or(0, |settle| settle.counts().requests);
        point.requests = answered(measured.counts());
        point.hits = measured.counts().hits;
        point.seconds = measured.paced_time().as_secs_f64();
        self.refuse_untold(point.requests, &at)?;
        self.sizes.files.extend(leg::end(finished).map(|file| file.display().to_string()));
        let after = self.sizes.after(set).filter(|_| signals::first().is_none());
        let shift = after.map(|to| self.shifted(set, to, &at, &pressed)).transpose()?;
        Ok(SizeArrival { point, shift })
    }

    /// Asks a cache that is full of one set for another one, whose objects have another size.
    fn shifted(
        &mut self,
        from: WorkingSet,
        to: WorkingSet,
        at: &Addresses,
        pressed: &Pressed,
    ) -> Result<Shift, Problem> {
        let set = self.unasked(to, false);
        let requests = (model_requests(&set) + requests_for(&set, SHIFTED)).min(MOST as u64);
        let law = Law::Zipf { alpha: self.args.zipf };
        let phases = vec![SizeAsked { name: "shift", measured: true, law, users: USERS, requests }];
        let plan = self.plan(at, &set, Phases { set: to.number as u8, phases });
        let about = self.about(&plan, to);
        let finished = leg::run_pressed(&plan, about, self.session(WINDOW), || Ok(Some(pressed)))?;
        Self::refuse(&finished)?;
        let rows = finished.result.timeline.rows.iter();
        let windows: Vec<Window> = rows
            .map(|row| Window {
                seconds: row.seconds,
                requests: answered(&row.counts),
                hits: row.counts.hits,
            })
            .collect();
        self.refuse_untold(windows.iter().map(|window| window.requests).sum(), at)?;
        self.sizes.files.extend(leg::end(finished).map(|file| file.display().to_string()));
        Ok(Shift::of(from.object_bytes, set, windows))
    }

    fn session(&self, interval: Duration) -> SessionOptions {
        SessionOptions {
            cache_bytes: Some(self.args.memory()),
            ready: self.args.wait.ready.or(Some(READY)),
            interval,
            ..SessionOptions::default()
        }
    }

    /// Refuses to conclude anything from a run that broke off, unless somebody ended it.
    fn refuse(finished: &Finished) -> Result<(), Problem> {
        if signals::first().is_none() {
            leg::refuse_broken(finished)?;
        }
        match finished.result.processes.died() {
            Some(died) => Err(Problem::impossible(format!("{}; nothing is concluded", died.sentence()))),
            None => Ok(()),
        }
    }

    fn refuse_untold(&self, requests: u64, at: &Addresses) -> Result<(), Problem> {
        if requests > 0 || signals::first().is_some() {
            return Ok(());
        }
        Err(Problem::impossible(format!(
            "{} gave no answer that tells whether it is a hit: it must pass requests on to the origin at {}",
            self.sizes.target, at.origin
        )))
    }

    /// Working sets of two programs are none of one cache.
    fn take_title(&mut self, pressed: &Pressed) -> Result<(), Problem> {
        let title = pressed.name();
        let before = std::mem::replace(&mut self.sizes.target, title.clone());
        if self.sizes.classes.is_empty() || before == title {
            return Ok(());
        }
        Err(Problem::impossible(format!(
            "what was started is {title}, and it was {before} before: it was replaced in the middle; start anew"
        )))
    }

    fn plan(&self, at: &Addresses, point: &Point, Phases { set, phases }: Phases) -> Plan {
        let popularity =
            |law| Popularity { hot: point.objects, law, one_timers: 0.0, drift_per_hour: 0.0, set };
        let phase = |asked: SizeAsked| Phase {
            name: asked.name.to_owned(),
            measured: asked.measured,
            scenario: Scenario::of(vec![Step::Object(ObjectStep {
                popularity: popularity(asked.law),
                ..ObjectStep::default()
            })]),
            pace: Pace::Users(asked.users),
            stop: Stop { requests: Some(asked.requests), after: Some(self.args.limit), ..Stop::default() },
            ..Phase::default()
        };
        let phases = phases.into_iter().map(phase).collect();
        let http = Http { authority: reachable(at.origin).to_string(), ..Http::default() };
        let load = Load {
            target: Some(at.target.clone()),
            protocol: Protocol::Http(http),
            phases,
            ..Load::default()
        };
        Plan {
            version: Plan::VERSION,
            seed: crate::arguments::plan_seed(self.sizes.asked.seed),
            threads: self.args.threads,
            io: plan::Io::Auto,
            site: Site { size: Size::Fixed(point.object_bytes), ..Site::default() },
            load: Some(load),
            origin: Some(Origin { listen: at.origin.to_string(), ..Origin::default() }),
        }
    }

    fn about(&self, plan: &Plan, set: WorkingSet) -> About {
        let own = [
            ("size", format!("{:x}", self.sizes.asked.seed)),
            ("object", set.object_bytes.to_string()),
            ("set", set.times.to_string()),
        ];
        About { door: "cache", ..leg::about(plan, &self.sizes.target, &self.args.keep, own) }
    }
}
