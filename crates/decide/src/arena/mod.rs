//! An arena: several proxies under the same loads, each load on a fresh start, in drawn order. Six events, of which each shows one side: how fast it
//! is, whether its answers are true, what many requests for one object at once cost, how soon a purge is done, whether it keeps what it was given, and
//! how much memory it takes. No points are given and no winner is named: what weighs more is the reader's affair.
//!
//! Start reading at [`Event`] and [`turns`]; [`Figures`] are read from a run, [`Arena`] tells them.

mod page;
mod report;

pub use report::{Arena, Cell, Entrant, Leg};

use crate::statistics::energy::shuffle;
use measure::{PhaseResult, RunResult, TimeMetric};
use plan::draw::{Draw, hash};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A side of a cache that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Hits as fast as they come.
    Speed,
    /// The laws that caches break, at a pace that all carry.
    Truth,
    /// Many requests for few objects that expire at once.
    Stampede,
    /// Objects that are to be forgotten.
    Purge,
    /// A full cache, clients that leave and an origin that cuts.
    Decay,
    /// Memory for what is stored.
    Memory,
}

/// Objects that the event of memory stores, and the bytes of each.
const STORED: (u64, u64) = (5_000, 10_000);
/// Objects of a stampede, each of which expires after so many seconds.
const CROWDED: (u64, f64) = (5, 1.0);

impl Event {
    /// All of them, in the order of the table.
    pub const ALL: [Event; 6] =
        [Event::Speed, Event::Truth, Event::Stampede, Event::Purge, Event::Decay, Event::Memory];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Event::Speed => "speed",
            Event::Truth => "truth",
            Event::Stampede => "stampede",
            Event::Purge => "purge",
            Event::Decay => "decay",
            Event::Memory => "memory",
        }
    }

    /// The event of this name.
    pub fn named(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Sentence on what is done, and what the figures are.
    pub fn about(self) -> &'static str {
        match self {
            Event::Speed => {
                "32 users ask for 1,000 objects of 10 kB that are stored, as fast as they are answered: good answers a second, the proxy's CPU time \
                 for each, the 99th percentile of the response time"
            }
            Event::Truth => {
                "300 requests a second under all laws at once (versions of other lengths, ranges, validators, reloads, HEAD, clients that leave, private \
                 answers, chunks): answers that failed a check, by their names"
            }
            Event::Stampede => {
                "50 users ask for 5 objects that expire every second, from an origin that takes 100 ms: fetches for each object and lifetime, of which 1 \
                 would do"
            }
            Event::Purge => {
                "5 purges a second by PURGE among 300 requests a second: how many were acknowledged, and what was still served after the acknowledgement"
            }
            Event::Decay => {
                "a cache of 64 MiB that is always full, clients that leave and bodies that the origin cuts: hits among the requests that were due to be \
                 hits, and objects that are none any more"
            }
            Event::Memory => {
                "5,000 objects of 10 kB are stored: the most resident memory of its processes, which does not count what the kernel keeps of files"
            }
        }
    }

    /// Options of `wringer cache` that are the event.
    pub fn options(self, quick: bool) -> String {
        let seconds = |long: u32, short: u32| if quick { short } else { long };
        match self {
            Event::Speed => {
                format!("--fill --hot 1000 --size 10KB --hit-ratio 1 -c 32 -d {}s", seconds(10, 3))
            }
            Event::Truth => format!(
                "--hot 200 --hit-ratio 0.9 --size 500B..20KB --lifetime 1s..4s --change-every 3s --version-sizes same,half,one-and-a-half,empty \
                 --range 0.1 --revalidate 0.1 --reload 0.02 --head 0.05 --abort 0.02 --private 0.05 --no-store 0.05 --origin-chunked 0.3 \
                 --rate 300 -d {}s",
                seconds(20, 6)
            ),
            Event::Stampede => format!(
                "--hot 5 --hit-ratio 1 --size 20KB --lifetime 1s --change-every 1s --origin-delay 100ms -c 50 --think 20ms -d {}s",
                seconds(10, 4)
            ),
            Event::Purge => {
                format!(
                    "--fill --hot 50 --hit-ratio 1 --size 10KB --purge 5 --rate 300 -d {}s",
                    seconds(10, 4)
                )
            }
            Event::Decay => format!(
                "--hot 2500 --hit-ratio 0.9 --drift 300 --size 1KB..50KB --cache-memory 64MiB --abort 0.05 --origin-aborts 0.02 --rate 400 -d {}s",
                seconds(20, 6)
            ),
            Event::Memory => {
                format!("--hot {} --hit-ratio 1 --size {}B --fill -c 8 -n 500", STORED.0, STORED.1)
            }
        }
    }

    /// Seconds that it takes, with the start of the proxy.
    pub fn seconds(self, quick: bool) -> f64 {
        const START: f64 = 3.0;
        let measured = match (self, quick) {
            (Event::Speed | Event::Stampede | Event::Purge, false) => 10.0,
            (Event::Truth | Event::Decay, false) => 20.0,
            (Event::Memory, _) => 2.0,
            (Event::Speed, true) => 3.0,
            (Event::Stampede | Event::Purge, true) => 4.0,
            (Event::Truth | Event::Decay, true) => 6.0,
        };
        START + measured
    }
}

/// A turn of an entrant in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Which round, from 1.
    pub round: u32,
    /// Which entrant, by its place.
    pub entrant: usize,
    /// The event.
    pub event: Event,
    /// Seed of its run.
    pub seed: u64,
}

/// The turns in drawn order: each round has each entrant in each event once, one behind the other as the seed says. In a round an event asks all entrants
/// for the same.
pub fn turns(seed: u64, rounds: u32, entrants: usize, events: &[Event]) -> Vec<Turn> {
    let mut all = Vec::new();
    for round in 1..=rounds {
        // Plans in TOML have numbers of 63 bits.
        let seed_of = |event: Event| hash(seed, u64::from(round) << 8 | event as u64) >> 1;
        let mut turns: Vec<Turn> = events
            .iter()
            .flat_map(|event| {
                (0..entrants).map(|entrant| Turn { round, entrant, event: *event, seed: seed_of(*event) })
            })
            .collect();
        shuffle(&mut turns, &mut Draw::new(seed, u64::from(round)));
        all.extend(turns);
    }
    all
}

/// Figures of a turn. Those of other events are none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Figures {
    /// Requests.
    pub requests: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Answers that failed a check, by the fault's name.
    pub faults: BTreeMap<String, u64>,
    /// Good answers per second.
    pub good_per_s: Option<f64>,
    /// CPU time of the proxy for a good answer, in µs.
    pub cpu_us: Option<f64>,
    /// 99th percentile of the response time, in ms.
    pub p99_ms: Option<f64>,
    /// Fetches for each object and lifetime.
    pub fetches: Option<f64>,
    /// Purges that were sent, as far as they were answered.
    pub purges: u64,
    /// Those of them that were acknowledged.
    pub acknowledged: u64,
    /// Hits of what had been purged.
    pub purged_hits: u64,
    /// Mean time from the acknowledgement to such a hit, in ms.
    pub purged_ms: Option<f64>,
    /// Share of hits among requests that were due to be hits.
    pub due_hits: Option<f64>,
    /// Moment in seconds at which the cache stopped storing.
    pub stopped_s: Option<f64>,
    /// Objects that were never a hit again.
    pub dead: u64,
    /// Most resident memory of the processes, in bytes.
    pub memory_bytes: Option<u64>,
}

impl Figures {
    /// Those of a run. `cpu_s`: CPU time of the proxy while it was measured.
    pub fn of(event: Event, result: &RunResult, measured: &PhaseResult, cpu_s: Option<f64>) -> Figures {
        let counts = measured.counts();
        let good = counts.ok.max(1) as f64;
        let seconds = measured.took.as_secs_f64();
        let faults = measured.tally.faults().map(|(fault, count)| (fault.name().to_owned(), count));
        let mut figures = Figures {
            requests: counts.requests,
            failed: counts.failed,
            faults: faults.collect(),
            ..Figures::default()
        };
        match event {
            Event::Speed => {
                let response = measured.tally.metric(TimeMetric::Response);
                figures.good_per_s = (seconds > 0.0).then(|| counts.ok as f64 / seconds);
                figures.cpu_us = cpu_s.map(|cpu_s| cpu_s * 1e6 / good);
                figures.p99_ms =
                    (!response.is_empty()).then(|| response.value_at_quantile(0.99) as f64 / 1e3);
            }
            Event::Truth => {}
            Event::Stampede => {
                let lifetimes = CROWDED.0 as f64 * seconds / CROWDED.1;
                let fetches = counts.misses + counts.revalidated;
                figures.fetches = (seconds > 0.0).then(|| fetches as f64 / lifetimes);
            }
            Event::Purge => {
                figures.purges = counts.purges;
                figures.acknowledged = counts.purges_acknowledged;
                figures.purged_hits = counts.purged_hits;
                let mean = |hits: u64| counts.purged_hits_us as f64 / 1e3 / hits as f64;
                figures.purged_ms = (counts.purged_hits > 0).then(|| mean(counts.purged_hits));
            }
            Event::Decay => {
                figures.due_hits = (counts.due > 0).then(|| counts.due_hits as f64 / counts.due as f64);
                figures.stopped_s = result.decay().map(|decay| decay.since_s);
                figures.dead = result.dead.as_ref().map_or(0, |dead| dead.objects);
            }
            Event::Memory => {
                figures.memory_bytes = result.watched.first().map(|watched| watched.memory_bytes);
            }
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_each_entrant_in_each_event_once_in_an_order_that_the_seed_draws() {
        let drawn = turns(7, 3, 4, &Event::ALL);
        assert_eq!(drawn.len(), 3 * 4 * 6);
        for round in 1..=3 {
            let mut of_round: Vec<(usize, Event)> = drawn
                .iter()
                .filter(|turn| turn.round == round)
                .map(|turn| (turn.entrant, turn.event))
                .collect();
            let in_order = of_round.is_sorted();
            of_round.sort();
            of_round.dedup();
            assert!(of_round.len() == 24 && !in_order, "round {round}");
        }
        assert_eq!(drawn, turns(7, 3, 4, &Event::ALL));
        assert_ne!(drawn, turns(8, 3, 4, &Event::ALL));
    }

    #[test]
    fn an_event_asks_all_entrants_for_the_same() {
        let drawn = turns(7, 2, 3, &Event::ALL);
        for turn in &drawn {
            let same = |other: &&Turn| (other.round, other.event) == (turn.round, turn.event);
            assert!(drawn.iter().filter(same).all(|other| other.seed == turn.seed));
        }
        let mut seeds: Vec<u64> = drawn.iter().map(|turn| turn.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 2 * 6);
    }

    #[test]
    fn events_are_found_by_their_names() {
        for event in Event::ALL {
            assert_eq!(Event::named(event.name()), Some(event));
            assert!(event.seconds(true) <= event.seconds(false));
        }
        assert_eq!(Event::named("spelling"), None);
    }
}
