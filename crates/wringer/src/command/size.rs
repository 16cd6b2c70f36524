//! `wringer size`: which share of its memory a cache uses, by the size of objects. What follows from hits is `decide`'s; here working sets are filled and asked for.

use super::leg;
use super::pressed::{self, Pressed};
use super::{around, cache, findings, show};
use crate::output;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::{SizeArgs, reachable};
use decide::size::{Point, Share, SizeOptions, Sizes, WorkingSet};
use decide::words;
use plan::site::Size;
use plan::{
    Http, Law, Load, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Scenario, Site, Step, Stop,
};
use session::{About, SessionOptions};
use std::net::SocketAddr;
use std::time::Duration;

/// Users that fill, and that ask.
const FILLERS: u32 = 8;
const USERS: u32 = 16;
/// Turnovers of the memory by misses before anything counts, and while it does.
const SETTLE: f64 = 2.0;
const COUNT: f64 = 3.0;
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
    if args.forecast {
        show::write(&forecast(args));
        return Ok(Exit::Ok);
    }
    let kept: Option<Sizes> =
        args.resume.as_deref().map(|file| findings::read("--resume", file)).transpose()?;
    let file = args.json.as_deref().or(args.resume.as_deref());
    if let Some(file) = file {
        output::can_keep("the sizes", file)?;
    }
    let mut sizing = Sizing { args, sizes: begun(args, kept)? };
    while let Some(next) = sizing.sizes.next() {
        let point = sizing.point(next)?;
        if let Some(signal) = signals::first() {
            show::notice("ended by hand: nothing is concluded");
            return Ok(Exit::of_signal(signal));
        }
        let share = sizing.sizes.take(point.clone());
        show::notice(&line(&point, share));
        findings::keep(file, &sizing.sizes, None)?;
    }
    findings::conclude(file, &sizing.sizes)
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
    };
    let Some((kept, file)) = kept.zip(args.resume.as_deref()) else { return Ok(Sizes::new(asked)) };
    findings::refuse_other(file, &kept.asked, &asked)?;
    let sets = kept.classes.iter().map(|class| class.points.len()).sum();
    show::notice(&format!("going on after {}", words::count(sets, "working set")));
    Ok(kept)
}

/// How long it takes at most, in words: each set is filled, settles and counts.
fn forecast(args: &SizeArgs) -> String {
    let sets = args.sizes.len() * args.sets.len();
    let each = 3.0 * args.limit.as_secs_f64();
    format!(
        "{} for {}: {} at most, and as long as the cache takes to start each time\n",
        words::count(sets, "working set"),
        words::count(args.sizes.len(), "size"),
        words::time(each * sets as f64)
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

/// Working sets so far.
struct Sizing<'a> {
    args: &'a SizeArgs,
    sizes: Sizes,
}

/// Requests for one working set.
struct Requests {
    /// The set, which nobody has asked for before.
    set: u8,
    /// Those that settle it.
    settle: u64,
    /// Those that count.
    count: u64,
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

    /// Fills a working set that nobody has asked for before, and asks for it.
    fn point(&mut self, set: WorkingSet) -> Result<Point, Problem> {
        let WorkingSet { object_bytes, times, .. } = set;
        let memory_bytes = self.args.memory();
        let objects = ((memory_bytes as f64 * times / object_bytes as f64) as u64).max(1);
        let mut point = Point {
            object_bytes,
            objects,
            alpha: self.args.zipf,
            memory_bytes,
            warm_requests: 1_000_000,
            requests: 1_000_000,
            hits: 0,
            seconds: 1.0,
        };
        let misses = (1.0 - point.predicted(memory_bytes as f64)).max(LEAST_MISSES);
        let turnover = memory_bytes as f64 / object_bytes as f64 / misses;
        let [settle, count] =
            [SETTLE, COUNT].map(|turnovers| (turnovers * turnover).clamp(FEWEST, MOST) as u64);
        let at = self.addresses()?;
        let plan = self.plan(&at, &point, Requests { set: set.number as u8, settle, count });
        let around = around::options(SessionOptions {
            cache_bytes: Some(memory_bytes),
            ready: self.args.wait.ready.or(Some(READY)),
            ..SessionOptions::default()
        })?;
        // The origin comes first: some proxies take an origin that does not answer at once for dead.
        let ready = session::prepare(&plan, &around, false)?;
        let pressed = self.start(&at)?;
        self.take_title(&pressed)?;
        let status = || pressed.status();
        let started = pressed.started(&status);
        let finished = ready.about(self.about(&plan, set)).run(started.as_ref(), &mut leg::Quiet)?;
        if signals::first().is_none() {
            leg::refuse_broken(&finished)?;
        }
        if let Some(died) = finished.result.processes.died() {
            return Err(Problem::impossible(format!("{}; nothing is concluded", died.sentence())));
        }
        let phases = &finished.result.phases;
        let measured = finished.result.measured();
        let counts = measured.counts();
        point.warm_requests = phases.get(1).map_or(0, |settle| settle.counts().requests);
        point.requests = counts.hits + counts.misses + counts.revalidated + counts.collapsed;
        point.hits = counts.hits;
        point.seconds = measured.paced_time().as_secs_f64();
        if point.requests == 0 && signals::first().is_none() {
            return Err(Problem::impossible(format!(
                "{} gave no answer that tells whether it is a hit: it must pass requests on to the origin at {}",
                self.sizes.target, at.origin
            )));
        }
        self.sizes.files.extend(leg::end(finished).map(|file| file.display().to_string()));
        Ok(point)
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

    fn plan(&self, at: &Addresses, point: &Point, Requests { set, settle, count }: Requests) -> Plan {
        let popularity =
            |law| Popularity { hot: point.objects, law, one_timers: 0.0, drift_per_hour: 0.0, set };
        let phase = |name: &str, measured, law, users, requests| Phase {
            name: name.to_owned(),
            measured,
            scenario: Scenario::of(vec![Step::Object(ObjectStep {
                popularity: popularity(law),
                ..ObjectStep::default()
            })]),
            pace: Pace::Users(users),
            stop: Stop { requests: Some(requests), after: Some(self.args.limit), ..Stop::default() },
            ..Phase::default()
        };
        let zipf = Law::Zipf { alpha: self.args.zipf };
        let phases = vec![
            phase("fill", false, Law::InOrder, FILLERS, point.objects),
            phase("settle", false, zipf, USERS, settle),
            phase("measure", true, zipf, USERS, count),
        ];
        let http = Http { authority: reachable(at.origin).to_string(), ..Http::default() };
        let load = Load {
            target: Some(at.target.clone()),
            protocol: Protocol::Http(http),
            phases,
            ..Load::default()
        };
        Plan {
            version: Plan::VERSION,
            // Plans in TOML have numbers of 63 bits.
            seed: self.sizes.asked.seed >> 1,
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
