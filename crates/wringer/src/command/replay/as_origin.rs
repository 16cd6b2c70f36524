//! `--as-origin`: the origin is built from the recording, and a proxy stands before it.

use crate::command::pressed::{self, Pressed};
use crate::command::{around, cache};
use crate::problem::Problem;
use cli::{OriginDelay, RenewArg, ReplayArgs, Sides, Target};
use measure::RunResult;
use plan::{AskedKind, Delay, ENDINGS, HttpProtocol, Plan};
use proxies::rig::{self as rigs, RigOptions};
use recording::file::{Known, Summary};
use recording::fit::delays;
use recording::replay::{Chosen, Made, Renew, label};
use recording::words::Cache;
use report::show::{count, counted, duration};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Objects in place of URLs, where they are asked for.
pub fn made(args: &ReplayArgs) -> Option<Made> {
    let as_origin = &args.as_origin;
    as_origin.as_origin.then_some(Made {
        renew: match as_origin.renew {
            RenewArg::OneTimers => Renew::OneTimers,
            RenewArg::All => Renew::All,
            RenewArg::None => Renew::None,
        },
        scale_lifetimes: as_origin.scale_lifetimes,
    })
}

/// Both sides of the proxy; `None`: requests go to what was there before.
///
/// # Errors
/// The origin's address is taken.
pub fn sides(args: &ReplayArgs, chosen: &Chosen, summary: &Summary) -> Result<Option<Sides>, Problem> {
    let Some(of_origin) = &chosen.origin else { return Ok(None) };
    // What is only looked at has the addresses that people know.
    let shown = args.output.show_plan || args.output.dry_run;
    let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let origin = match args.origin_address() {
        wanted if shown && wanted.port() == 0 => loopback(9080),
        wanted if shown => wanted,
        wanted => cache::listening(wanted)?,
    };
    let url = args.address().map_err(Problem::Usage)?;
    let target = args.target(url.as_ref());
    let proxy = match shown && target.is_ours() {
        true => loopback(8080).to_string(),
        false => pressed::listen(&target)?,
    };
    let recorded = || delays(&summary.origin_delay_us).map_or(Delay::None, |found| found.law());
    let delay = match args.as_origin.origin_delay {
        OriginDelay::Recorded => recorded(),
        OriginDelay::Law(law) => law,
    };
    Ok(Some(Sides { proxy, origin, classes: of_origin.classes.clone(), delay }))
}

/// Bytes that what is pressed may keep, where that is known.
pub fn cache_bytes(args: &ReplayArgs) -> Option<u64> {
    let url = args.address().ok().flatten();
    cache::cache_bytes(&args.target(url.as_ref()), args.memory(), args.as_origin.started.place.cache_memory)
}

/// Starts what is pressed, where it is to be started.
///
/// # Errors
/// It is not installed, cannot be meant, or does not start.
pub fn press(args: &ReplayArgs, sides: &Sides) -> Result<Pressed, Problem> {
    let url = args.address().map_err(Problem::Usage)?;
    let target = args.target(url.as_ref());
    let spoken = args.clients.version.spoken();
    if let Target::Rig { name, .. } = &target {
        let proxy = rigs::named(name).map_err(|error| Problem::Usage(error.to_string()))?;
        rigs::check_beside(proxy, &spoken).map_err(around::rig)?;
    }
    let options = RigOptions {
        honour_reload: true,
        http: spoken.into_iter().max().unwrap_or(HttpProtocol::One),
        ..pressed::options(&args.as_origin.started, sides.origin, args.memory(), &args.clients.load.wait)
    };
    pressed::start(&target, &sides.proxy, options)
}

/// Facts that whoever reads the result must know of the origin, a sentence each.
pub fn notes(args: &ReplayArgs, chosen: &Chosen, summary: &Summary) -> Vec<String> {
    let Some(of_origin) = &chosen.origin else { return Vec::new() };
    let mut notes = vec![lifetimes(args, &of_origin.lifetimes)];
    let told = [
        (
            of_origin.statuses,
            "with a status in the log that the origin does not give: it answers 200, and 404 for what was missing",
        ),
        (
            of_origin.sizes,
            "for objects whose size has changed in the log: each has its last size, and changes as often as it did",
        ),
        (of_origin.parts, "for a part of an object that the log does not tell (206): they ask for all of it"),
        (
            of_origin.rounded,
            "for objects whose lifetime or changes were rounded, since there are more kinds of them than 128",
        ),
    ];
    let some = told.into_iter().filter(|(requests, _)| *requests > 0);
    notes.extend(some.map(|(requests, what)| format!("{} {what}", counted(requests, "request"))));
    notes.extend(match args.as_origin.origin_delay {
        OriginDelay::Law(_) => None,
        OriginDelay::Recorded => Some(match delays(&summary.origin_delay_us) {
            None => "the origin answers at once: the recording tells no time of the server behind (--origin-delay)".to_owned(),
            Some(found) => format!(
                "the origin takes as long as the server behind did, by a law with a median of {}; quantiles are off by a factor of up to {:.2}",
                duration(found.median),
                found.factor
            ),
        }),
    });
    notes
}

fn lifetimes(args: &ReplayArgs, known: &BTreeMap<Known, u64>) -> String {
    let of = |how: Known| known.get(&how).copied().unwrap_or(0);
    let told = [
        (of(Known::Logged), "logged"),
        (of(Known::Trace), "of the trace"),
        (of(Known::Inferred), "inferred from hits and expiries"),
        (of(Known::NeverHit), "none, for nobody ever had the object from the cache"),
    ];
    let told = told.into_iter().filter(|(requests, _)| *requests > 0);
    let mut told: Vec<String> = told.map(|(requests, how)| format!("{} {how}", count(requests))).collect();
    let law = args.as_origin.lifetime.map_or_else(|| "1 day".to_owned(), |_| "that of --lifetime".to_owned());
    if of(Known::Unknown) > 0 {
        told.push(format!("{} unknown, and assumed to be {law}", count(of(Known::Unknown))));
    }
    format!("lifetimes of the objects that are asked for, by request: {}", told.join("; "))
}

/// A table of what the recording's cache made of the requests, against what this one did; empty where the log has no account of it.
pub fn joined(plan: &Plan, result: &RunResult) -> String {
    let phases = plan.load.iter().flat_map(|load| &load.phases).zip(&result.phases);
    let mut cells: BTreeMap<String, u64> = BTreeMap::new();
    for (phase, result) in phases.filter(|(_, result)| result.measured) {
        let names = phase.scenario.labels();
        for (label, figures) in result.tally.labels.iter() {
            if let Some(name) = names.get(usize::from(label.0)) {
                *cells.entry(name.clone()).or_default() += figures.ended;
            }
        }
    }
    let of = |cache: Cache, ending: &str| {
        cells.get(&AskedKind::label(&label(cache), ending)).copied().unwrap_or(0)
    };
    let all = |cache: Cache| ENDINGS.iter().map(|ending| of(cache, ending)).sum::<u64>();
    let rows: Vec<Cache> = Cache::ALL.iter().copied().filter(|cache| all(*cache) > 0).collect();
    let used = |ending: &&&str| rows.iter().any(|cache| of(*cache, ending) > 0);
    let columns: Vec<&str> = ENDINGS.iter().filter(used).copied().collect();
    if rows.is_empty() {
        return String::new();
    }
    let line = |name: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>17}")).collect();
        format!("  {name:24}{cells}\n")
    };
    let mut text = "\nRequests, by what the log's cache made of them and what this one did\n".to_owned();
    let heads = columns.iter().map(|column| format!("now {column}"));
    text += &line("", std::iter::once("requests".to_owned()).chain(heads).collect());
    for cache in rows {
        let cells = columns.iter().map(|column| count(of(cache, column)));
        text += &line(&label(cache), std::iter::once(count(all(cache))).chain(cells).collect());
    }
    text
}
