//! A leg: a stretch of one side at one pace, and what comes of it.

use crate::void::Void;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The side that is known.
    A,
    /// The side that is asked about.
    B,
}

impl Side {
    /// As people name it.
    pub fn name(self) -> &'static str {
        match self {
            Side::A => "A",
            Side::B => "B",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pace {
    /// So many users, each with one request at a time and no pause.
    Closed {
        /// Users.
        users: u32,
    },
    /// So many requests a second by Poisson's law, the same for both sides. In a closed pace latency would only repeat throughput, and a slower side would
    /// get fewer requests.
    Open {
        /// A second.
        rate: f64,
    },
}

/// Something to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Leg {
    /// Counted from 1, void ones among them.
    pub number: u32,
    /// Pair that it belongs to, counted from 1; 0: the uncounted block.
    pub pair: u32,
    /// It is a pair of A against itself, which is counted from 1 on its own; B is then another A.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// The side.
    pub side: Side,
    /// How requests come.
    pub pace: Pace,
    /// Seconds at this pace that are not counted.
    pub warm_s: f64,
    /// Seconds that are.
    pub measure_s: f64,
    /// Of the requests: the same for both sides of a pair, another one for each pair, or one-timers of the leg before would be hits.
    pub seed: u64,
}

impl Leg {
    /// The side that is really asked.
    pub fn asked(&self) -> Side {
        if self.control { Side::A } else { self.side }
    }

    /// As people name the side.
    pub fn side_name(&self) -> &'static str {
        match (self.control, self.side) {
            (true, Side::B) => "A again",
            (_, side) => side.name(),
        }
    }
}

/// Outcome of a leg.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LegResult {
    /// Seconds that it took in all, with whatever was needed before and after.
    pub took_s: f64,
    /// Why it says nothing of the side; `None`: it does. Only causes that were fixed beforehand, never because of its figures.
    pub void: Option<Void>,
    /// Seconds that were measured.
    pub measured_s: f64,
    /// Requests that were due in them.
    pub due: u64,
    /// Good answers.
    pub good: u64,
    /// Requests that failed or were not answered, and their kinds.
    pub failures: BTreeMap<String, u64>,
    /// Answers whose content was wrong.
    pub faulty: u64,
    /// CPU seconds of the target, where they are known.
    pub cpu_s: Option<f64>,
    /// Median of the response times in milliseconds.
    pub p50_ms: Option<f64>,
    /// Their 99th percentile.
    pub p99_ms: Option<f64>,
    /// Hits of a cache, where they are known.
    #[serde(default)]
    pub hits: Option<Hits>,
    /// Both halves of the measured time.
    #[serde(default)]
    pub halves: Option<[Half; 2]>,
    /// Cores that the processes of the other side used meanwhile, which had nothing to do; `None`: they are not known.
    #[serde(default)]
    pub resting_cores: Option<f64>,
    /// Share of this machine's CPU time that its host gave to others meanwhile (steal); `None`: it does not tell.
    #[serde(default)]
    pub stolen: Option<f64>,
    /// Milliseconds by which sends were late though the generator had CPU to spare, one in a hundred by more; `None`: nothing was due at a moment.
    #[serde(default)]
    pub late_ms: Option<f64>,
}

/// Hits of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hits {
    /// Answers that came from the cache.
    pub hits: u64,
    /// Answers of which it is known where they came from.
    pub of: u64,
}

/// Figures of one half of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Half {
    /// Good answers a second.
    pub good_per_s: f64,
    /// Median of the service times in milliseconds: the mean of its seconds' medians.
    pub p50_ms: Option<f64>,
    /// Share of hits.
    pub hit_ratio: Option<f64>,
}

impl LegResult {
    /// Requests that failed or were not answered.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Good answers a second.
    pub fn good_per_s(&self) -> f64 {
        self.good as f64 / self.measured_s
    }
}
