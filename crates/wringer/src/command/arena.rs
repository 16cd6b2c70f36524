//! `wringer arena`: proxies that are installed, in the same events, each on a fresh start and in drawn order. What the events are and what is told of
//! them is `decide`'s; here proxies are started and runs are made.
//!
//! Start reading at [`run`].

use super::decided::DecisionFiles;
use super::findings;
use super::pressed::Pressed;
use super::{cache, leg, show};
use crate::output;
use crate::problem::{Exit, Problem};
use crate::{arguments, signals};
use cli::{ArenaArgs, CacheArgs, Cli};
use decide::Findings;
use decide::arena::{Arena, Entrant, Event, Figures, Leg, Turn, turns};
use decide::words;
use net::ports;
use proxies::rig;
use session::{About, Finished, SessionOptions};
use std::net::SocketAddr;

/// Proxies as they were asked for.
struct ArenaAsked {
    name: String,
    /// Options of `wringer cache` that start it.
    words: Vec<String>,
}

/// Runs the command.
pub fn run(args: &ArenaArgs) -> Result<Exit, Problem> {
    let events = events(args)?;
    let asked = asked(args)?;
    let rounds = args.rounds();
    if args.forecast {
        show::page(&forecast(args, &asked, &events));
        return Ok(Exit::Ok);
    }
    // Its page is one of its own.
    let places = DecisionFiles { what: "the figures", json: args.json.as_deref(), html: None };
    places.can_keep()?;
    args.html.iter().try_for_each(|file| output::can_keep("the page", file))?;
    let seed = args.seed.unwrap_or_else(arguments::seed_from_clock);
    let order = turns(seed, rounds, asked.len(), &events);
    let mut report = Arena {
        seed,
        rounds,
        planned: order.len(),
        quick: args.quick,
        command: repeat(args, seed),
        began: began(),
        ended_early: false,
        entrants: asked.iter().map(|asked| Entrant::named(&asked.name)).collect(),
        events,
        legs: Vec::new(),
    };
    show::tell(&format!("{}; order drawn by the seed", report.headline()));
    for (number, turn) in (1..).zip(&order) {
        let leg = leg_of(args, &asked[turn.entrant], turn, &mut report.entrants[turn.entrant])?;
        if signals::first().is_some() {
            report.ended_early = true;
            break;
        }
        report.legs.push(leg);
        let lines = report.cell(turn.entrant, turn.event).lines.join("; ");
        let name = report.entrants[turn.entrant].title();
        show::tell(&format!("turn {number} of {}: {name}, {}: {lines}", order.len(), turn.event.name()));
        keep(args, &report)?;
        findings::keep(&places, &report, None)?;
    }
    keep(args, &report)?;
    findings::conclude(&places, &report)
}

/// The events that are asked for, in the order of the table.
fn events(args: &ArenaArgs) -> Result<Vec<Event>, Problem> {
    if let Some(unknown) = args.only.iter().find(|name| Event::named(name).is_none()) {
        let names = Event::ALL.map(Event::name).join(", ");
        return Err(Problem::Usage(format!(
            "--only: there is no event {unknown:?}: the choices are {names}"
        )));
    }
    let is_wanted = |event: &Event| args.only.is_empty() || args.only.iter().any(|name| name == event.name());
    Ok(Event::ALL.into_iter().filter(is_wanted).collect())
}

/// The proxies that take part.
fn asked(args: &ArenaArgs) -> Result<Vec<ArenaAsked>, Problem> {
    let known = |name: &str| rig::named(name).map_err(|error| Problem::Usage(error.to_string()));
    let workers = args.rig_workers.to_string();
    let start = |name: &str, from: Option<&String>| {
        let mut words = ["--rig", name, "--rig-workers", &workers].map(str::to_owned).to_vec();
        words.extend(from.iter().flat_map(|from| ["--from".to_owned(), (*from).clone()]));
        let name = from.map_or_else(|| name.to_owned(), |from| format!("{name} (from {from})"));
        ArenaAsked { name, words }
    };
    let mut all = Vec::new();
    for name in &args.rig {
        all.push(start(known(name)?.name(), None));
    }
    if args.rig.is_empty() && args.from.is_empty() {
        let installed = rig::ALL.iter().filter(|proxy| proxy.caches() && rig::installed(**proxy).is_some());
        all.extend(installed.map(|proxy| start(proxy.name(), None)));
    }
    for (name, from) in &args.from {
        all.push(start(known(name)?.name(), Some(from)));
    }
    if all.is_empty() {
        return Err(Problem::impossible(format!(
            "no cache is installed that could take part: install one of {}, or give --from NAME=DIR",
            rig::names()
        )));
    }
    if let Some(twice) =
        all.iter().enumerate().find(|(at, one)| all[..*at].iter().any(|other| other.name == one.name))
    {
        return Err(Problem::Usage(format!(
            "{} takes part twice: name it once, and ask for more --rounds",
            twice.1.name
        )));
    }
    Ok(all)
}

/// Sentences on what is run, and how long it takes.
fn forecast(args: &ArenaArgs, asked: &[ArenaAsked], events: &[Event]) -> String {
    let names: Vec<String> = asked.iter().map(|asked| asked.name.clone()).collect();
    let seconds: f64 = events.iter().map(|event| event.seconds(args.quick)).sum();
    let all = seconds * asked.len() as f64 * f64::from(args.rounds());
    let mut text = format!(
        "{} in {}, {} each: about {}\n",
        words::list(&names),
        words::count(events.len(), "event"),
        words::count(args.rounds() as usize, "time"),
        words::time(all)
    );
    for event in events {
        text += &format!(
            "\n{}: {}\n  wringer cache --rig NAME {}\n",
            event.name(),
            event.about(),
            event.options(args.quick)
        );
    }
    text
}

/// The command line that does all of it again.
fn repeat(args: &ArenaArgs, seed: u64) -> String {
    let mut words: Vec<String> = std::env::args().collect();
    if let Some(program) = words.first_mut() {
        *program = "wringer".to_owned();
    }
    if args.seed.is_none() {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    arguments::shown(&words)
}

fn began() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Runs a turn. One that cannot be run is told, and the others go on.
fn leg_of(args: &ArenaArgs, asked: &ArenaAsked, turn: &Turn, entrant: &mut Entrant) -> Result<Leg, Problem> {
    let mut words: Vec<String> = ["wringer", "cache"].map(str::to_owned).to_vec();
    words.extend(asked.words.iter().cloned());
    words.extend(turn.event.options(args.quick).split_whitespace().map(str::to_owned));
    words.extend(["--seed".to_owned(), turn.seed.to_string()]);
    let mut leg = Leg {
        round: turn.round,
        entrant: turn.entrant,
        event: turn.event,
        figures: None,
        void: None,
        failure: None,
        command: arguments::shown(&words),
        file: None,
    };
    let cache = read(words)?;
    let finished = match run_cache(args, &cache, asked, turn, entrant) {
        Ok(finished) => finished,
        Err(problem @ Problem::Usage(_)) => return Err(problem),
        Err(problem) => {
            leg.failure = Some(problem.to_string().lines().next().unwrap_or("it failed").to_owned());
            return Ok(leg);
        }
    };
    leg::refuse_broken(&finished)?;
    let measured = finished.result.measured();
    leg.figures = Some(Figures::of(turn.event, &finished.result, &measured, finished.target_cpu()));
    leg.void = leg::void(&finished, leg::Overflow::OfGenerator);
    leg.failure = finished.result.processes.died().map(|died| died.sentence());
    let behind = finished.result.processes.before.iter().flat_map(|behind| &behind.processes).next();
    entrant.build_id = behind.and_then(|process| process.build_id.clone()).or(entrant.build_id.take());
    leg.file = leg::end(finished).map(|file| file.display().to_string());
    Ok(leg)
}

fn read(words: Vec<String>) -> Result<CacheArgs, Problem> {
    let cli = Cli::read(words).map_err(|said| Problem::Usage(said.to_string()))?;
    let cli::Command::Cache(cache) = cli.command else { unreachable!("the command is cache") };
    cache.check().map_err(Problem::Usage)?;
    Ok(*cache)
}

/// Starts the proxy and presses it.
fn run_cache(
    args: &ArenaArgs,
    cache: &CacheArgs,
    asked: &ArenaAsked,
    turn: &Turn,
    entrant: &mut Entrant,
) -> Result<Finished, Problem> {
    let any = || {
        ports::free_address(SocketAddr::from(([127, 0, 0, 1], 0)))
            .map_err(|error| Problem::impossible(format!("there is no free port: {error}")))
    };
    let listen = any()?.to_string();
    let origin = any()?;
    let plan = args.keep.applied(cache.plan(&listen, origin, turn.seed));
    let options = SessionOptions {
        cache_bytes: cache::cache_bytes(&cache.target(), cache.memory(), cache.started.place.cache_memory),
        interval: leg::SECONDS,
        ..SessionOptions::default()
    };
    let own = [
        ("arena", turn.seed.to_string()),
        ("event", turn.event.name().to_owned()),
        ("round", turn.round.to_string()),
        ("proxy", asked.name.clone()),
    ];
    let about = About { door: "cache", ..leg::about(&plan, &asked.name, &args.keep, own) };
    let mut pressed: Option<Pressed> = None;
    leg::run_pressed(&plan, about, options, || {
        let started = pressed.insert(cache::press(cache, &listen, origin)?);
        let status = || None;
        let version = started.started(&status).and_then(|started| started.version);
        entrant.version = version.or(entrant.version.take());
        Ok(Some(&*started))
    })
}

/// Writes the page where it is wanted.
fn keep(args: &ArenaArgs, report: &Arena) -> Result<(), Problem> {
    let Some(file) = &args.html else { return Ok(()) };
    output::keep("the page", file, report.page(env!("CARGO_PKG_VERSION")).as_bytes())
}
