//! Table of an arena, what it rests on, and how it is repeated.

use super::{Event, Figures, STORED};
use crate::Findings;
use crate::statistics::spread::median;
use crate::{Void, words};
use serde::Serialize;
use std::collections::BTreeMap;

/// A proxy that takes part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entrant {
    /// As it was asked for: the rig, and the folder of its build where one was named.
    pub name: String,
    /// The version that its program tells; `None`: it never ran.
    pub version: Option<String>,
    /// Number that the linker gave the program.
    pub build_id: Option<String>,
}

/// A turn, with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Leg {
    /// The round.
    pub round: u32,
    /// Place of the entrant.
    pub entrant: usize,
    /// The event.
    pub event: Event,
    /// Figures; `None`: it could not be run.
    pub figures: Option<Figures>,
    /// Why its speed says nothing of the proxy.
    pub void: Option<Void>,
    /// Reason why it could not be run, or that the proxy died.
    pub failure: Option<String>,
    /// The command that does the same.
    pub command: String,
    /// Its run file, where it is kept.
    pub file: Option<String>,
}

/// All that came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Arena {
    /// The seed, of which the order and all requests follow.
    pub seed: u64,
    /// Rounds that were asked for.
    pub rounds: u32,
    /// Turns that are to be.
    pub planned: usize,
    /// Short runs.
    pub quick: bool,
    /// The command that does all of it again.
    pub command: String,
    /// When it began.
    pub began: String,
    /// It was ended by hand.
    pub ended_early: bool,
    /// Proxies, in the order in which they were named.
    pub entrants: Vec<Entrant>,
    /// Events, in the order of the table.
    pub events: Vec<Event>,
    /// Turns, in the order in which they were run.
    pub legs: Vec<Leg>,
}

/// A place of the table: a line for each figure, and whether it is bad beyond doubt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Figures in words.
    pub lines: Vec<String>,
    /// Answers were wrong, or the proxy died.
    pub is_wrong: bool,
}

/// Stands in a place of which no turn says anything.
const VOID: &str = "void";

impl Arena {
    fn legs_of(&self, entrant: usize, event: Event) -> impl Iterator<Item = &Leg> {
        self.legs.iter().filter(move |leg| (leg.entrant, leg.event) == (entrant, event))
    }

    /// True if an answer was wrong or a proxy died.
    fn is_wrong(&self) -> bool {
        (0..self.entrants.len())
            .any(|entrant| self.events.iter().any(|event| self.cell(entrant, *event).is_wrong))
    }

    /// A place of the table.
    pub fn cell(&self, entrant: usize, event: Event) -> Cell {
        let legs: Vec<&Leg> = self.legs_of(entrant, event).collect();
        let figures: Vec<&Figures> = legs.iter().filter_map(|leg| leg.figures.as_ref()).collect();
        let mut cell = match figures.is_empty() {
            true => Cell { lines: vec!["not run".to_owned()], is_wrong: false },
            false => Cell { lines: of_event(event, &legs, &figures), is_wrong: false },
        };
        let mut faults: BTreeMap<&str, u64> = BTreeMap::new();
        for (fault, count) in figures.iter().flat_map(|figures| &figures.faults) {
            *faults.entry(fault.as_str()).or_insert(0) += count;
        }
        let requests: u64 = figures.iter().map(|figures| figures.requests).sum();
        cell.lines.extend(faults.iter().map(|(fault, count)| format!("{fault}: {count} of {requests}")));
        let failed: u64 = figures.iter().map(|figures| figures.failed).sum();
        // Purges that are not acknowledged are told as such.
        if failed > 0 && event != Event::Purge {
            cell.lines.push(format!("{failed} of {requests} failed"));
        }
        let failures = legs.iter().filter_map(|leg| leg.failure.clone());
        let died = failures.clone().next().is_some() && !figures.is_empty();
        cell.lines.extend(failures);
        cell.is_wrong = !faults.is_empty() || died;
        cell
    }
}

impl Findings for Arena {
    const SCHEMA: &'static str = "wringer.arena";

    // 3 where an answer was wrong or a proxy died, 1 where a turn could not be run, or none was.
    fn code(&self) -> u8 {
        let lacking = self.legs.is_empty() || self.legs.iter().any(|leg| leg.figures.is_none());
        match (self.is_wrong(), lacking) {
            (true, _) => 3,
            (false, true) => 1,
            (false, false) => 0,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.headline());
        for event in &self.events {
            text += &format!("\n{}: {}\n", event.name(), event.about());
            for (place, entrant) in self.entrants.iter().enumerate() {
                let lines = self.cell(place, *event).lines.join("; ");
                text += &format!("  {:<24}  {lines}\n", entrant.title());
            }
        }
        text += "\nPrograms\n";
        for entrant in &self.entrants {
            let build = entrant.build_id.as_deref().unwrap_or("unknown");
            text += &format!("  {:<24}  build {build}\n", entrant.title());
        }
        let voids: Vec<String> = self.legs.iter().filter_map(|leg| leg.void_line(&self.entrants)).collect();
        if !voids.is_empty() {
            text += &format!("\nVoid\n  {}\n", voids.join("\n  "));
        }
        text += &format!("\nTo repeat all of it\n  {}\n", self.command);
        text
    }

    fn headline(&self) -> String {
        let quick = if self.quick { ", QUICK (short runs)" } else { "" };
        let early = if self.ended_early {
            format!(", ENDED BY HAND after {} of {} turns", self.legs.len(), self.planned)
        } else {
            String::new()
        };
        let void = self.legs.iter().filter(|leg| leg.void.is_some() && leg.event == Event::Speed).count();
        let void =
            if void > 0 { format!(", speed VOID in {}", words::count(void, "turn")) } else { String::new() };
        format!(
            "{} in {}, {}, seed {}{quick}{early}{void}",
            proxies(self.entrants.len()),
            words::count(self.events.len(), "event"),
            words::count(self.rounds as usize, "round"),
            self.seed,
        )
    }
}

impl Leg {
    /// Why its speed says nothing.
    fn void_line(&self, entrants: &[Entrant]) -> Option<String> {
        let void = self.void.as_ref().filter(|_| self.event == Event::Speed)?;
        let (Void::Generator { why } | Void::Disturbed { why }) = void;
        let name = entrants.get(self.entrant).map_or_else(String::new, Entrant::title);
        Some(format!("{name}, {}, round {}: {why}", self.event.name(), self.round))
    }
}

impl Entrant {
    /// One that has not run yet.
    pub fn named(name: &str) -> Entrant {
        Entrant { name: name.to_owned(), version: None, build_id: None }
    }

    /// Its name and version.
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }
}

fn proxies(count: usize) -> String {
    if count == 1 { "1 proxy".to_owned() } else { format!("{count} proxies") }
}

/// The median of a figure over turns, where any has it.
fn middle(figures: &[&Figures], of: impl Fn(&Figures) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = figures.iter().filter_map(|figures| of(figures)).collect();
    (!values.is_empty()).then(|| median(&values))
}

/// The figures of an event in words, over all rounds.
fn of_event(event: Event, legs: &[&Leg], figures: &[&Figures]) -> Vec<String> {
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(|figures| of(figures)).sum::<u64>();
    match event {
        Event::Speed => {
            // What the machine had a hand in is no speed of the proxy.
            let sound: Vec<&Figures> =
                legs.iter().filter(|leg| leg.void.is_none()).filter_map(|leg| leg.figures.as_ref()).collect();
            let told = |value: Option<f64>, text: fn(f64) -> String| value.map(text);
            let lines = [
                told(middle(&sound, |one| one.good_per_s), words::rate),
                told(middle(&sound, |one| one.cpu_us), |us| format!("{us:.0} µs of CPU each")),
                told(middle(&sound, |one| one.p99_ms), |ms| format!("p99 {}", words::time(ms / 1e3))),
            ];
            let lines: Vec<String> = lines.into_iter().flatten().collect();
            if lines.is_empty() { vec![VOID.to_owned()] } else { lines }
        }
        Event::Truth => {
            let wrong = sum(|one| one.faults.values().sum());
            if wrong > 0 { Vec::new() } else { vec![format!("nothing wrong in {}", sum(|one| one.requests))] }
        }
        Event::Stampede => middle(figures, |one| one.fetches)
            .map(|fetches| format!("{fetches:.1} fetches"))
            .into_iter()
            .collect(),
        Event::Purge => purges(figures),
        Event::Decay => {
            let share = middle(figures, |one| one.due_hits);
            let share = share.map_or_else(
                || "nothing was due to be a hit".to_owned(),
                |share| format!("{} of due hits", words::percent(share)),
            );
            let stopped = figures.iter().filter_map(|one| one.stopped_s);
            let stopped = stopped.map(|at| format!("STOPPED storing {at:.0} s into the run"));
            let dead = sum(|one| one.dead);
            let dead = (dead > 0).then(|| words::count(dead as usize, "dead object"));
            [share].into_iter().chain(stopped).chain(dead).collect()
        }
        Event::Memory => {
            let stored = (STORED.0 * STORED.1) as f64;
            let memory = middle(figures, |one| one.memory_bytes.map(|bytes| bytes as f64));
            let told = |bytes: f64| format!("{} for {} of bodies", words::bytes(bytes), words::bytes(stored));
            vec![memory.map_or_else(|| "not known".to_owned(), told)]
        }
    }
}

fn purges(figures: &[&Figures]) -> Vec<String> {
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(|figures| of(figures)).sum::<u64>();
    let all = sum(|one| one.purges);
    let acknowledged = sum(|one| one.acknowledged);
    if acknowledged == 0 {
        return vec![format!("none of {all} acknowledged")];
    }
    let hits = sum(|one| one.purged_hits);
    let late = middle(figures, |one| one.purged_ms);
    let late = late.map_or_else(
        || "nothing served after it".to_owned(),
        |ms| {
            format!(
                "{} after it, {} later in the mean",
                words::count(hits as usize, "hit"),
                words::time(ms / 1e3)
            )
        },
    );
    vec![format!("{acknowledged} of {all} acknowledged"), late]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn leg(entrant: usize, event: Event, figures: Figures) -> Leg {
        Leg {
            round: 1,
            entrant,
            event,
            figures: Some(figures),
            void: None,
            failure: None,
            command: format!("wringer cache --rig nginx --{}", event.name()),
            file: Some("0123abcd.wrun".to_owned()),
        }
    }

    pub fn report(legs: Vec<Leg>) -> Arena {
        let entrant = |name: &str| Entrant {
            name: name.to_owned(),
            version: Some("1.2".to_owned()),
            build_id: Some("505d".to_owned()),
        };
        Arena {
            seed: 7,
            rounds: 1,
            planned: 12,
            quick: false,
            command: "wringer arena --seed 7".to_owned(),
            began: "2026-11-27T10:00:00Z".to_owned(),
            ended_early: false,
            entrants: vec![entrant("nginx"), entrant("a<b>")],
            events: Event::ALL.to_vec(),
            legs,
        }
    }

    fn speed(per_s: f64) -> Figures {
        Figures { requests: 100, good_per_s: Some(per_s), p99_ms: Some(2.0), ..Figures::default() }
    }

    #[test]
    fn a_cell_has_the_median_of_sound_turns() {
        let void = Void::Disturbed { why: "a busy machine".to_owned() };
        let disturbed = Leg { void: Some(void.clone()), ..leg(0, Event::Speed, speed(9.0)) };
        let legs = [100.0, 300.0, 200.0].map(|rate| leg(0, Event::Speed, speed(rate)));
        let told = report(legs.into_iter().chain([disturbed.clone()]).collect());
        assert_eq!(told.cell(0, Event::Speed).lines, ["200/s", "p99 2 ms"]);
        assert!(told.headline().contains("speed VOID in 1 turn") && told.text().contains("a busy machine"));
        assert_eq!(report(vec![disturbed]).cell(0, Event::Speed).lines, ["void"]);
        assert_eq!((told.code(), told.cell(1, Event::Truth).lines), (0, vec!["not run".to_owned()]));
    }

    #[test]
    fn wrong_answers_and_turns_that_could_not_be_run_decide_the_exit_code() {
        let faults = BTreeMap::from([("stale".to_owned(), 3)]);
        let wrong = leg(1, Event::Truth, Figures { requests: 100, faults, ..Figures::default() });
        let told = report(vec![wrong.clone(), wrong]);
        let cell = told.cell(1, Event::Truth);
        assert_eq!((cell.lines, cell.is_wrong, told.code()), (vec!["stale: 6 of 200".to_owned()], true, 3));
        let not_run = Leg {
            figures: None,
            failure: Some("it is not installed".to_owned()),
            ..leg(0, Event::Truth, Figures::default())
        };
        let told = report(vec![not_run]);
        let cell = told.cell(0, Event::Truth);
        assert_eq!(
            (cell.lines.join(", "), cell.is_wrong, told.code()),
            ("not run, it is not installed".to_owned(), false, 1)
        );
        assert_eq!(report(Vec::new()).code(), 1);
    }

    #[test]
    fn what_was_not_done_is_told_first() {
        let early = Arena { ended_early: true, quick: true, ..report(Vec::new()) };
        assert_eq!(
            early.headline(),
            "2 proxies in 6 events, 1 round, seed 7, QUICK (short runs), ENDED BY HAND after 0 of 12 turns"
        );
    }

    #[test]
    fn purges_decay_and_memory_in_words() {
        let purge = |acknowledged, purged_hits| Figures {
            purges: 20,
            acknowledged,
            purged_hits,
            purged_ms: (purged_hits > 0).then_some(40.0),
            ..Figures::default()
        };
        let lines = |event, figures| report(vec![leg(0, event, figures)]).cell(0, event).lines.join("; ");
        assert_eq!(lines(Event::Purge, purge(0, 0)), "none of 20 acknowledged");
        assert_eq!(lines(Event::Purge, purge(20, 0)), "20 of 20 acknowledged; nothing served after it");
        assert_eq!(
            lines(Event::Purge, purge(20, 3)),
            "20 of 20 acknowledged; 3 hits after it, 40 ms later in the mean"
        );
        let decay = Figures { due_hits: Some(0.5), stopped_s: Some(7.0), dead: 2, ..Figures::default() };
        assert_eq!(
            lines(Event::Decay, decay),
            "50 % of due hits; STOPPED storing 7 s into the run; 2 dead objects"
        );
        let memory = Figures { memory_bytes: Some(60 << 20), ..Figures::default() };
        assert_eq!(lines(Event::Memory, memory), "60.0 MiB for 47.7 MiB of bodies");
        let stampede = Figures { fetches: Some(1.04), ..Figures::default() };
        assert_eq!(lines(Event::Stampede, stampede), "1.0 fetches");
    }
}
