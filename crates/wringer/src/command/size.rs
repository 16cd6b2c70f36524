//! `wringer size`: which share of its memory a cache uses, by the size of objects. What follows from hits is `decide`'s; here working sets are filled and asked for.

use super::leg;
use super::pressed::{self, Pressed};
use super::{around, cache, show};
use crate::output;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::{SizeArgs, reachable};
use decide::size::{Class, Point, Share, share};
use decide::words;
use plan::site::Size;
use plan::{
    Http, Law, Load, ObjectStep, Origin, Pace, Phase, Plan, Popularity, Protocol, Scenario, Site, Step, Stop,
};
use serde::Serialize;
use session::{About, SessionOptions};
use std::net::SocketAddr;
use std::time::Duration;

const SCHEMA: &str = "wringer.size";
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
    if let Some(file) = &args.json {
        output::can_keep("the sizes", file)?;
    }
    let seed = args.seed.unwrap_or_else(arguments::seed_from_clock);
    let mut sizing = Sizing { args, seed, title: String::new(), files: Vec::new(), sets: 0 };
    let mut classes: Vec<Class> = Vec::new();
    for size in &args.sizes {
        let mut class = Class { object_bytes: *size, points: Vec::new() };
        let mut sets = args.sets.clone();
        sets.sort_by(f64::total_cmp);
        for times in sets {
            let point = sizing.point(*size, times)?;
            if let Some(signal) = signals::first() {
                show::notice("ended by hand: nothing is concluded");
                return Ok(Exit::of_signal(signal));
            }
            let share = share(&point);
            show::notice(&line(&point, share));
            class.points.push((point, share));
        }
        classes.push(class);
    }
    sizing.conclude(&classes)
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
    seed: u64,
    /// The cache, as people read it.
    title: String,
    files: Vec<String>,
    sets: u8,
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
    fn point(&mut self, object_bytes: u64, times: f64) -> Result<Point, Problem> {
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
        let plan = self.plan(&at, &point, (settle, count));
        self.sets += 1;
        let around = around::options(SessionOptions {
            cache_bytes: Some(memory_bytes),
            ready: self.args.wait.ready.or(Some(READY)),
            ..SessionOptions::default()
        })?;
        // The origin comes first: some proxies take an origin that does not answer at once for dead.
        let ready = session::prepare(&plan, &around, false)?;
        let pressed = self.start(&at)?;
        self.title = pressed.title();
        let status = || pressed.status();
        let started = pressed.started(&status);
        let finished =
            ready.about(self.about(&plan, object_bytes, times)).run(started.as_ref(), &mut leg::Quiet)?;
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
                self.title, at.origin
            )));
        }
        self.files.extend(leg::end(finished).map(|file| file.display().to_string()));
        Ok(point)
    }

    /// `requests`: those that settle it, and those that count.
    fn plan(&self, at: &Addresses, point: &Point, (settle, count): (u64, u64)) -> Plan {
        let popularity = |law| Popularity {
            hot: point.objects,
            law,
            one_timers: 0.0,
            drift_per_hour: 0.0,
            set: self.sets,
        };
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
            seed: self.seed >> 1,
            threads: self.args.threads,
            io: plan::Io::Auto,
            site: Site { size: Size::Fixed(point.object_bytes), ..Site::default() },
            load: Some(load),
            origin: Some(Origin { listen: at.origin.to_string(), ..Origin::default() }),
        }
    }

    fn about(&self, plan: &Plan, object_bytes: u64, times: f64) -> About {
        let own = [
            ("size", format!("{:x}", self.seed)),
            ("object", object_bytes.to_string()),
            ("set", times.to_string()),
        ];
        About { door: "cache", ..leg::about(plan, &self.title, &self.args.keep, own) }
    }

    fn conclude(&self, classes: &[Class]) -> Result<Exit, Problem> {
        let text = self.text(classes);
        if !self.args.json.as_deref().is_some_and(output::is_stdout) {
            show::write(&text);
        }
        if let Some(file) = &self.args.json {
            let sizes = Sizes {
                schema: SCHEMA,
                schema_version: 1,
                version: env!("CARGO_PKG_VERSION"),
                target: &self.title,
                text: &text,
                classes,
                files: &self.files,
            };
            let text = serde_json::to_string_pretty(&sizes).expect("figures and texts are JSON") + "\n";
            output::keep("the sizes", file, text.as_bytes())?;
        }
        Ok(Exit::Ok)
    }

    fn text(&self, classes: &[Class]) -> String {
        let memory = words::bytes(self.args.memory() as f64);
        let mut text = format!("{}: of {memory}, so much works:\n\n", self.title);
        for class in classes {
            let share = class.share().map_or_else(|| "not known".to_owned(), Share::text);
            text += &format!("objects of {:>9}: {share}\n", words::bytes(class.object_bytes as f64));
        }
        text += "\nset, hits, hits by the model at that memory:\n";
        for (point, _) in classes.iter().flat_map(|class| &class.points) {
            text += &format!(
                "{:>9} of {:>9}: {:>6} {:>6}\n",
                words::bytes(point.set_bytes()),
                words::bytes(point.object_bytes as f64),
                words::percent(point.hit_ratio()),
                words::percent(point.predicted(point.memory_bytes as f64)),
            );
        }
        let wanted = self.args.for_hits.into_iter();
        let memory: Vec<String> = wanted
            .flat_map(|ratio| classes.iter().filter_map(move |class| class.memory_for(ratio)))
            .collect();
        if !memory.is_empty() {
            text += &format!("\n{}\n", memory.join("\n"));
        }
        text
    }
}

/// Sizes as they are written.
#[derive(Serialize)]
struct Sizes<'a> {
    schema: &'static str,
    schema_version: u32,
    version: &'static str,
    target: &'a str,
    text: &'a str,
    classes: &'a [Class],
    /// Run files, where they are kept.
    files: &'a [String],
}
