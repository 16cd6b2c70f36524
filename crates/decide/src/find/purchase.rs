//! How many machines carry a load: the fewest whose water mark, line, memory, connections and origin all suffice.

use super::outcome::Knee;
use super::water_mark::{Burdens, WaterMark};
use crate::machine::Refusal;
use crate::statistics::usl::{self, Measured};
use crate::words;
use serde::{Deserialize, Serialize};

/// A line is full at this share of its bits.
const LINE: f64 = 0.7;
/// Nobody is told to buy more machines.
const MOST: u32 = 10_000;
/// Fewer core counts say nothing of others.
const FEWEST_CORES: usize = 3;

/// Load to be carried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Demand {
    /// Requests a second.
    pub rate: f64,
    /// Bytes of an answer with its head, the mean.
    pub answer_bytes: f64,
    /// New connections for each request: 1 without keep-alive, 0.01 with a hundred requests each.
    pub connections_per_request: f64,
    /// Share of requests answered from the cache; 0 without one.
    pub hit_ratio: f64,
    /// Bytes that all objects take which should be cached.
    pub cached_bytes: f64,
    /// One machine may fail.
    pub one_may_fail: bool,
    /// Times the usual load that may come for a while.
    pub surge: Option<f64>,
    /// How requests are shared out.
    pub split: Split,
}

/// How requests are shared out among machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// By object: memories add up and hits rise with the machines, but a hot object stays on one of them.
    ByObject,
    /// At random: each machine holds the same set.
    AtRandom,
}

/// One machine, as measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OneMachine {
    /// Its knee.
    pub knee: Knee,
    /// How many were measured: one alone says nothing of how they differ.
    pub measured: u32,
    /// Its line in bits a second.
    pub line_bits: f64,
    /// Memory for objects in bytes, that works: configured times effective share.
    pub cache_bytes: f64,
    /// New connections a second that it accepts; `None`: not measured.
    pub connections_per_s: Option<f64>,
    /// Requests a second that the origin carries, for all machines together; `None`: not known.
    pub origin_rate: Option<f64>,
}

/// Machines to buy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Purchase {
    /// The fewest machines.
    pub machines: u32,
    /// Share of the load that each of them gets.
    pub per_machine: f64,
    /// The water mark of one of so many.
    pub water_mark: WaterMark,
    /// Why not one fewer, a sentence part.
    pub because: String,
    /// Bits a second on the line of each.
    pub line_bits: f64,
    /// Requests a second that reach the origin, in all.
    pub origin_rate: f64,
    /// Whatever must be known beside it, one sentence each.
    pub notes: Vec<String>,
}

/// The fewest machines for a demand.
///
/// # Errors
/// No number of machines is enough; says why.
pub fn purchase(demand: &Demand, machine: &OneMachine) -> Result<Purchase, Refusal> {
    let fewest = if demand.one_may_fail { 2 } else { 1 };
    let origin_rate = (1.0 - demand.hit_ratio) * demand.rate;
    if let Some(carries) = machine.origin_rate.filter(|carries| *carries < origin_rate) {
        let origin =
            format!("{} reach the origin, which carries {}", words::rate(origin_rate), words::rate(carries));
        return Err(Refusal(format!(
            "no number of machines is enough: {origin}; more hits or a stronger origin are needed"
        )));
    }
    let mut because = "fewer would be none".to_owned();
    for machines in fewest..=MOST {
        let one_of = demand.one_may_fail.then_some(machines);
        let water_mark = WaterMark::under(&machine.knee, &Burdens { one_of, surge: demand.surge });
        match missing(demand, machine, machines, &water_mark) {
            Some(missing) => because = missing,
            None => {
                let per_machine = demand.rate / f64::from(machines);
                let line_bits = per_machine * demand.answer_bytes * 8.0;
                let notes = notes(demand, machine);
                return Ok(Purchase {
                    machines,
                    per_machine,
                    water_mark,
                    because,
                    line_bits,
                    origin_rate,
                    notes,
                });
            }
        }
    }
    Err(Refusal(format!("not even {MOST} machines are enough: {because}")))
}

impl Purchase {
    /// In words, a line or more.
    pub fn text(&self) -> String {
        let machines = words::count(self.machines as usize, "machine");
        let mut lines = vec![
            format!(
                "{machines} of this kind, each with {} ({}): {}",
                words::rate(self.per_machine),
                self.water_mark.text(),
                self.because
            ),
            format!("each sends {}bit/s", words::number(self.line_bits)),
        ];
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines.join("\n") + "\n"
    }
}

/// Sentence part that names what so many machines lack.
fn missing(demand: &Demand, machine: &OneMachine, machines: u32, water_mark: &WaterMark) -> Option<String> {
    let count = words::count(machines as usize, "machine");
    let share = demand.rate / f64::from(machines);
    if share > water_mark.rate {
        let mark = words::rate(water_mark.rate);
        return Some(format!(
            "of {count} each would get {}, and {mark} is the water mark",
            words::rate(share)
        ));
    }
    let bits = share * demand.answer_bytes * 8.0;
    if bits > LINE * machine.line_bits {
        return Some(format!(
            "the line of each of {count} would be {} full",
            words::percent(bits / machine.line_bits)
        ));
    }
    let memory = match demand.split {
        Split::ByObject => machine.cache_bytes * f64::from(machines),
        Split::AtRandom => machine.cache_bytes,
    };
    if memory < demand.cached_bytes {
        let has = words::bytes(memory);
        return Some(format!(
            "{count} hold {has} of the {} that should be cached",
            words::bytes(demand.cached_bytes)
        ));
    }
    let connections = share * demand.connections_per_request;
    machine.connections_per_s.filter(|carries| connections > *carries).map(|carries| {
        format!(
            "each of {count} would get {} new connections, and accepts {}",
            words::rate(connections),
            words::rate(carries)
        )
    })
}

fn notes(demand: &Demand, machine: &OneMachine) -> Vec<String> {
    let mut notes = Vec::new();
    let split = match demand.split {
        Split::ByObject => "shared out by object: memories add up, and a hot object stays on one machine",
        Split::AtRandom => "shared out at random: every machine holds the same set",
    };
    notes.extend((demand.cached_bytes > 0.0).then(|| split.to_owned()));
    if machine.measured < 2 {
        notes.push("one machine was measured: how much they differ is not known".to_owned());
    }
    if machine.connections_per_s.is_none() {
        notes.push("how many new connections a machine accepts was not measured".to_owned());
    }
    if machine.line_bits.is_infinite() {
        notes.push("the line of a machine was not looked at".to_owned());
    }
    if machine.origin_rate.is_none() && demand.cached_bytes > 0.0 {
        notes.push("what the origin carries is not known".to_owned());
    }
    notes
}

/// A knee that was measured with a number of cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfCores {
    /// Cores, or workers of a proxy.
    pub cores: f64,
    /// Requests a second.
    pub rate: f64,
}

/// The knee with another number of cores.
///
/// # Errors
/// What was measured says nothing of it; why, and what to try.
pub fn with_cores(knees: &[OfCores], cores: f64, seed: u64) -> Result<f64, Refusal> {
    let mut counts: Vec<f64> = knees.iter().map(|knee| knee.cores).collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    if counts.len() < FEWEST_CORES {
        let measured = words::count(counts.len(), "core count");
        return Err(Refusal(format!(
            "{measured} measured: measure at least {FEWEST_CORES} before a knee is scaled by cores"
        )));
    }
    let trials: Vec<Measured> = knees
        .iter()
        .map(|knee| Measured { users: knee.cores, throughput: knee.rate, generator_bound: false })
        .collect();
    let law =
        usl::fit(&trials, seed).map_err(|why| Refusal(format!("knees are not scaled by cores: {why}")))?;
    let slowing = 1.0 + (cores - 1.0) * (law.contention.value + law.coherency.value * cores);
    Ok(law.alone * cores / slowing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::Limit;
    use crate::statistics::Interval;

    fn machine() -> OneMachine {
        let knee = Knee {
            rate: 50_000.0,
            interval: Interval { low: 48_000.0, high: 52_000.0 },
            is_wall: false,
            held: 48_000.0,
            limit: Limit::Quantile { quantile: 0.99, limit_ms: 50.0 },
            trials: 14,
            recovery: None,
        };
        OneMachine {
            knee,
            measured: 1,
            line_bits: 10e9,
            cache_bytes: 64e9,
            connections_per_s: Some(5_000.0),
            origin_rate: Some(30_000.0),
        }
    }

    fn demand() -> Demand {
        Demand {
            rate: 200_000.0,
            answer_bytes: 10_000.0,
            connections_per_request: 0.01,
            hit_ratio: 0.9,
            cached_bytes: 50e9,
            one_may_fail: true,
            surge: None,
            split: Split::AtRandom,
        }
    }

    fn check(demand: &Demand, machine: &OneMachine, machines: u32, because: &str) {
        let found = purchase(demand, machine).unwrap();
        assert_eq!(found.machines, machines, "{found:?}");
        assert!(found.because.contains(because), "{}", found.because);
    }

    #[test]
    fn the_fewest_machines_by_what_is_short() {
        // One of six may fail, yet 75 % of 48,000 is the mark: 200,000 / 36,000.
        check(
            &demand(),
            &machine(),
            6,
            "of 5 machines each would get 40.0k/s, and 36.0k/s is the water mark",
        );
        check(
            &Demand { answer_bytes: 40_000.0, ..demand() },
            &machine(),
            10,
            "line of each of 9 machines would be 71 % full",
        );
        let by_object = Demand { split: Split::ByObject, cached_bytes: 600e9, ..demand() };
        check(&by_object, &machine(), 10, "9 machines hold 536 GiB of the 559 GiB");
        check(
            &Demand { connections_per_request: 0.5, ..demand() },
            &machine(),
            20,
            "new connections, and accepts 5000/s",
        );
        check(&Demand { surge: Some(2.0), ..demand() }, &machine(), 10, "water mark");
        let found = purchase(&demand(), &machine()).unwrap();
        let text = found.text();
        assert!(
            text.starts_with("6 machines of this kind, each with 33.3k/s (give it 36.0k/s, 75 % of"),
            "{text}"
        );
        assert!(found.notes.iter().any(|note| note.contains("one machine was measured")));
    }

    #[test]
    fn where_no_number_is_enough() {
        let refused = |demand: &Demand| purchase(demand, &machine()).unwrap_err().0;
        assert!(
            refused(&Demand { hit_ratio: 0.5, ..demand() })
                .contains("100k/s reach the origin, which carries 30.0k/s")
        );
        assert!(refused(&Demand { cached_bytes: 100e9, ..demand() }).contains("not even"));
    }

    #[test]
    fn knees_are_scaled_by_cores_only_where_that_may_be() {
        let of = |cores: f64| OfCores { cores, rate: 1_000.0 * cores / (1.0 + 0.03 * (cores - 1.0)) };
        let two: Vec<OfCores> = [1.0, 2.0].map(of).to_vec();
        assert!(with_cores(&two, 8.0, 1).unwrap_err().0.contains("at least 3"));
        let three: Vec<OfCores> = [1.0, 2.0, 4.0].map(of).to_vec();
        assert!(with_cores(&three, 8.0, 1).unwrap_err().0.contains("only 3 numbers"));
        let many: Vec<OfCores> = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0].map(of).to_vec();
        assert!((with_cores(&many, 24.0, 1).unwrap() / of(24.0).rate - 1.0).abs() < 1e-3);
    }
}
