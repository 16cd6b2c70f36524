//! Words of a session that are no part of its plan: how it behaves, what the run is called, where it is kept.

use crate::carrier::{Fleet, OriginAgents};
use crate::mask::Mask;
use crate::steer::Steering;
use crate::{Problem, Reach, Sinks};
use measure::recorded::RecordedFigures;
use plan::Plan;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Refuses a plan, or lets it pass.
pub type Guard = fn(&Plan) -> Result<(), Problem>;

/// Options of a session that are no part of its plan.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// Length of an interval; zero: one second.
    pub interval: Duration,
    /// Intervals that make a row; zero: one.
    pub intervals_per_row: u32,
    /// Bytes that the cache may hold, where that is known.
    pub cache_bytes: Option<u64>,
    /// True if the accounts of an origin that runs elsewhere are to be asked for and joined.
    pub join_remote: bool,
    /// Origins that are asked themselves, `host:port`; none: the one behind each target, through it.
    pub origins: Vec<String>,
    /// Agents that serve the plan's origin in its place; `None`: nobody does.
    pub origin_agents: Option<OriginAgents>,
    /// When an origin without clients ends by itself.
    pub ends_after: Option<Duration>,
    /// A target where nobody listens is no reason not to begin: its requests fail.
    pub take_silent: bool,
    /// How long is waited for a target that does not answer yet; `None`: not at all.
    pub ready: Option<Duration>,
    /// Heads of single requests are wanted from the origin, too.
    pub heads: bool,
    /// Processes to be watched, beside those that wringer starts.
    pub watch_pids: Vec<u32>,
    /// The run goes on where the target has died.
    pub ignore_exit: bool,
    /// Interprets the program texts of the plan, where it has any.
    pub interpreters: Option<Arc<dyn load::code::Interpreters>>,
    /// Set by whoever wants the run to end: it still gives its whole report.
    pub stop: Arc<AtomicBool>,
    /// Told the secrets of the plan as soon as they are known, so that the caller can hide them where they were typed.
    pub on_secrets: Option<fn(&Mask)>,
    /// The machines that carry the load; `None`: this one.
    pub fleet: Option<Fleet>,
    /// Where connections may go; `None`: anywhere.
    pub reach: Option<Reach>,
    /// Refuses plans beyond limits of the user's own, before anything is looked up.
    pub guard: Option<Guard>,
    /// Connections go nowhere but to the hosts that the plan names, and to this machine.
    pub confined: bool,
    /// Sentences that the caller lays down while the run goes on, which come to the result's notes at its end.
    pub later: Arc<Mutex<Vec<String>>>,
}

impl SessionOptions {
    /// The length of an interval.
    pub fn interval_length(&self) -> Duration {
        if self.interval.is_zero() { Duration::from_secs(1) } else { self.interval }
    }
}

/// Description of a run, and where it is kept.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The command, or the old tool.
    pub door: &'static str,
    /// The command line that repeats it.
    pub command: String,
    /// Target of the load, in words.
    pub target: Option<String>,
    /// Words of the user's own: name and value.
    pub labels: BTreeMap<String, String>,
    /// Its file, and whether the run is not to begin without it; `None`: it is not kept.
    pub keep: Option<Keep>,
    /// Who gets its records.
    pub sinks: Sinks,
    /// Asks things of it while it goes on, where somebody may.
    pub steering: Option<Steering>,
    /// The log's account of its requests, where they are a recording's.
    pub recorded: Option<Box<RecordedFigures>>,
}

/// How a run is kept.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    /// The folder of its file.
    pub folder: PathBuf,
    /// Somebody asked for it: where it cannot be had, the run does not begin.
    pub wanted: bool,
}
