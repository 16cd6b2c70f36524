//! Text of a replay: what is sent and what is not, and what the log had beside what was measured.

use cli::{RenewArg, ReplayArgs};
use measure::{RunResult, TimeMetric};
use recording::file::Recording;
use recording::replay::{Changed, Chosen, Thinking};
use recording::words::Cache;
use report::show::{bytes, count, counted, duration, percent, time};
use std::collections::BTreeMap;
use std::time::Duration;

/// The target in words, with what is sent to it.
pub fn title(args: &ReplayArgs, pressed: &str, chosen: &Chosen, recorded: u64) -> String {
    let warm = chosen.warm.count;
    let sent = chosen.seen.requests + warm;
    let file = args.recording.display();
    let all = if sent == recorded { String::new() } else { format!(" of its {}", count(recorded)) };
    let copies = if args.chosen.multiply > 1.0 { ", copies among them" } else { "" };
    let passes = match args.chosen.passes {
        1 => String::new(),
        passes => format!(", {passes} passes"),
    };
    let warm = if warm == 0 { String::new() } else { format!(", the first {} to warm up", count(warm)) };
    let origin = if args.as_origin.as_origin { ", in front of its origin" } else { "" };
    format!("{pressed}{origin} as in {file} ({}{all}{copies}{passes}{warm})", counted(sent, "request"))
}

/// Facts that whoever reads the result must know of the requests, a sentence each.
pub fn notes<R>(args: &ReplayArgs, chosen: &Chosen, recording: &Recording<R>) -> Vec<String>
where
    R: std::io::Read + std::io::Seek,
{
    let mut notes = Vec::new();
    let left: u64 = chosen.left_out.values().sum();
    if left > 0 {
        let each = chosen.left_out.iter().map(|(why, n)| format!("{} {}", count(*n), why.name()));
        let each: Vec<String> = each.collect();
        notes.push(format!(
            "{} of {} not sent: {}",
            counted(left, "request"),
            args.recording.display(),
            each.join("; ")
        ));
    }
    // One that is whole has nothing to be told of.
    if let Some(salvage) = recording.salvaged().filter(|salvage| !salvage.is_whole()) {
        let cut = if salvage.cut { ", and its end, of unknown length" } else { "" };
        notes.push(format!(
            "{} is damaged: {} missing in {}{cut}",
            args.recording.display(),
            counted(salvage.missing, "request"),
            counted(salvage.gaps.len() as u64, "gap")
        ));
    }
    let imported = recording.header().left_out.total();
    if imported > 0 {
        notes.push(format!(
            "{} of its logs had been left out when it was captured",
            counted(imported, "line")
        ));
    }
    notes.extend(changed(&chosen.changed));
    notes.extend(scaled(args));
    notes.extend(chosen.thinking.as_ref().map(thinking));
    notes.extend(args.chosen.warm.map(|span| warmed(span, chosen.warm.count)));
    let facts = recording.header().notes.iter().chain(&recording.summary().notes);
    notes.extend(facts.map(super::super::capture::note));
    notes.extend(recorded(chosen));
    notes
}

fn changed(changed: &Changed) -> Vec<String> {
    let told = [
        (
            changed.conditions,
            "sent without their condition (If-None-Match, If-Modified-Since): no log tells validators that hold here",
        ),
        (changed.versions, "by HTTP/2 or 3 in the log, and sent as --http says"),
        (changed.encoded, "sent with bytes of their URL percent-encoded that are no text"),
        (changed.hosts, "sent with the target's host, since the log tells none"),
    ];
    let some = told.into_iter().filter(|(requests, _)| *requests > 0);
    some.map(|(requests, what)| format!("{} {what}", counted(requests, "request"))).collect()
}

/// Notes on a traffic that was scaled: what stays true of it, and what does not.
fn scaled(args: &ReplayArgs) -> Vec<String> {
    let chosen = &args.chosen;
    let mut notes = Vec::new();
    if chosen.speed != 1.0 {
        notes.push(format!(
            "--speed {}: gaps of users and of objects shrink and lifetimes do not, so the hit ratio is not the log's",
            chosen.speed
        ));
    }
    if chosen.multiply < 1.0 {
        notes.push(format!(
            "--multiply {}: this share of the users is sent and the others are left out: objects are asked for less often, so the hit \
             ratio is too low",
            chosen.multiply
        ));
    }
    if chosen.multiply > 1.0 {
        notes.push(format!(
            "--multiply {}: gaps of users are kept, objects are asked for more often, as with so many times the people; in the first \
             and last {} fewer copies overlap",
            chosen.multiply,
            duration(chosen.shift)
        ));
    }
    if chosen.passes > 1 {
        notes.push(format!("--loop {}: {}", chosen.passes, renewed(args)));
    }
    if chosen.sample_users < 1.0 {
        notes
            .push("--sample-users: objects are asked for less often, so the hit ratio is too low".to_owned());
    }
    if chosen.sample_objects < 1.0 {
        notes.push(format!(
            "--sample-objects: the hit ratio holds for a cache of {} of the size",
            percent(chosen.sample_objects)
        ));
    }
    notes
}

/// Objects of a further pass.
fn renewed(args: &ReplayArgs) -> &'static str {
    let same = "each pass asks for the same objects, so what the log has once is a hit from the second pass on and the hit ratio is too high";
    match (args.as_origin.as_origin, args.as_origin.renew) {
        (false, _) | (true, RenewArg::None) => same,
        (true, RenewArg::OneTimers) => {
            "objects that the log has once are new in each pass; the others are the same, so their first requests of a further pass may be hits"
        }
        (true, RenewArg::All) => "all objects are new in each pass, so a cache begins each as the first one",
    }
}

/// Differences from the log where users wait for answers.
fn thinking(found: &Thinking) -> String {
    let users = counted(found.pauses_us.len() as u64, "user");
    let mut text = format!(
        "--gaps think, {users}: each sends a recorded pause after its last answer, so a slow target is asked less often"
    );
    if found.overlapping > 0 {
        text.push_str(&format!(
            "; {} that the log has before the answer to the one before wait for it",
            counted(found.overlapping, "request")
        ));
    }
    if found.untimed > 0 {
        text.push_str(&format!(
            "; of {} the log does not tell how long they took, and the pause behind is all of the gap",
            counted(found.untimed, "request")
        ));
    }
    text
}

/// Requests of a warm-up, and where it parts from the log.
fn warmed(span: Duration, requests: u64) -> String {
    let span = duration(span);
    match requests {
        0 => format!("--warm {span}: nothing was due by then, so that nothing was warmed up"),
        requests => format!(
            "--warm {span}: {} due by then, sent and not measured; the rest begins when the last answer to them has come, and keeps its \
             gaps from there on",
            counted(requests, "request")
        ),
    }
}

/// The recording's own account of what is sent.
fn recorded(chosen: &Chosen) -> Vec<String> {
    let seen = &chosen.seen;
    let mut notes = Vec::new();
    if let Some([p50, _, p99, longest]) = seen.durations_us {
        let [p50, p99, longest] = [p50, p99, longest].map(|us| time(us.into()));
        notes.push(format!(
            "recorded: {p99} p99; p50 {p50}, longest {longest}, of {}",
            counted(seen.timed, "request")
        ));
    }
    let told: Vec<String> =
        caches(chosen).into_iter().map(|(name, share)| format!("{name} {share}")).collect();
    if !told.is_empty() {
        notes.push(format!("recorded by the cache: {}", told.join(", ")));
    }
    let yardsticks =
        seen.lru.iter().map(|lru| format!("{} of {}", share(lru.hits, seen.requests), bytes(lru.memory)));
    let yardsticks: Vec<String> = yardsticks.collect();
    notes.push(format!(
        "an exact LRU cache without lifetimes would answer {} of these requests",
        yardsticks.join(", ")
    ));
    notes
}

/// The cache's accounts in the log, with their shares; none where it tells none.
fn caches(chosen: &Chosen) -> Vec<(&'static str, String)> {
    let seen = &chosen.seen;
    let told = seen.caches.keys().any(|cache| *cache != Cache::Untold);
    let each = seen.caches.iter().filter(|_| told);
    each.map(|(cache, found)| (cache.name(), share(found.requests, seen.requests))).collect()
}

fn share(part: u64, all: u64) -> String {
    percent(part as f64 / all.max(1) as f64)
}

/// Figures of a run that stand beside those of its recording.
pub struct Measured {
    sent: u64,
    /// Shares of requests and of bytes that were hits, where they are told from others.
    hits: [Option<f64>; 2],
    overflow: u64,
    times_us: [u64; 4],
    statuses: BTreeMap<u16, u64>,
    took: Duration,
}

impl Measured {
    /// Of a result.
    pub fn of(result: &RunResult) -> Measured {
        let phases = || result.phases.iter().filter(|phase| phase.measured);
        let mut statuses = BTreeMap::new();
        for (status, count) in phases().flat_map(|phase| phase.tally.statuses()) {
            *statuses.entry(status).or_default() += count;
        }
        let times = phases().next().map_or([0; 4], |phase| {
            [0.5, 0.9, 0.99, 1.0].map(|part| phase.percentile_us(TimeMetric::Service, part))
        });
        Measured {
            sent: phases().map(|phase| phase.counts().requests).sum(),
            hits: phases().next().map_or([None; 2], |phase| [phase.hit_ratio(), phase.byte_hit_ratio()]),
            overflow: phases().map(|phase| phase.counts().overflow).sum(),
            times_us: times,
            statuses,
            took: result.took,
        }
    }
}

/// A table of what the log had and what was measured.
pub fn beside(chosen: &Chosen, measured: &Measured) -> String {
    let seen = &chosen.seen;
    let mut rows: Vec<[String; 3]> =
        vec![["requests".to_owned(), count(seen.requests), count(measured.sent)]];
    let overflow = if measured.overflow > 0 { count(measured.overflow) } else { "0".to_owned() };
    rows.push(["not sent, as too many were under way".to_owned(), String::new(), overflow]);
    for (place, name) in ["p50", "p90", "p99", "longest"].iter().enumerate() {
        let recorded = seen.durations_us.map_or_else(|| "-".to_owned(), |times| time(times[place].into()));
        rows.push([format!("time to the last byte, {name}"), recorded, time(measured.times_us[place])]);
    }
    let statuses: std::collections::BTreeSet<u16> =
        seen.statuses.keys().chain(measured.statuses.keys()).copied().collect();
    rows.extend(statuses.into_iter().map(|status| {
        let of = |all: &BTreeMap<u16, u64>| count(all.get(&status).copied().unwrap_or(0));
        [format!("status {status}"), of(&seen.statuses), of(&measured.statuses)]
    }));
    let told = |share: Option<f64>| share.map_or_else(String::new, percent);
    if measured.hits[0].is_some() || seen.hit_ratios().is_some() {
        let recorded = seen.hit_ratios().map_or([None; 2], |ratios| ratios.map(Some));
        let names = ["hits, by requests", "hits, by bytes"];
        rows.extend((0..2).map(|at| [names[at].to_owned(), told(recorded[at]), told(measured.hits[at])]));
    }
    rows.extend(
        caches(chosen).into_iter().map(|(name, share)| [format!("cache: {name}"), share, String::new()]),
    );
    rows.extend(seen.lru.iter().map(|lru| {
        [format!("exact LRU of {}", bytes(lru.memory)), share(lru.hits, seen.requests), String::new()]
    }));
    let mut text = format!("Recorded, and measured in {}\n", duration(measured.took));
    text.push_str(&format!("  {:38}{:>14}{:>14}\n", "", "recorded", "measured"));
    for [name, recorded, measured] in rows {
        text.push_str(format!("  {name:38}{recorded:>14}{measured:>14}").trim_end());
        text.push('\n');
    }
    text
}
