//! The scripts of a plan: their stage here, a seat for each worker, and the network that they see.

use super::network::{connect, lookup};
use super::step::script_of;
use crate::problem::Problem;
use measure::Tally;
use plan::Plan;
pub use script::Seat;
use script::{Failure, Network, Patience, Stage};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A call into a script before or after the run may read large files.
const LONGEST_CALL: Duration = Duration::from_secs(60);

/// Scripts of a run; none where the plan has none.
#[derive(Default)]
pub struct Scripts {
    stage: Option<Stage>,
    seats: Vec<Option<Seat>>,
}

impl Scripts {
    /// Runs the script of a plan for the first time, where it has one. `stop`: set when somebody wants the end.
    ///
    /// # Errors
    /// A fault of the script, or nobody answers where it leads.
    pub fn of_plan(plan: &Plan, workers: u32, stop: &Arc<AtomicBool>) -> Result<Scripts, Problem> {
        let Some((load, script)) = script_of(plan) else { return Ok(Scripts::default()) };
        let network = Arc::new(System { limit: load.limits.connect.max(Duration::from_secs(1)) });
        let stop = stop.clone();
        let patience =
            Patience { longest: LONGEST_CALL, interrupted: Box::new(move || stop.load(Ordering::Relaxed)) };
        let made = Stage::new(script, workers, network, patience, Instant::now());
        let (stage, seats) = made.map_err(problem)?;
        Ok(Scripts { stage: Some(stage), seats: seats.into_iter().map(Some).collect() })
    }

    /// The seat of a worker, to be taken to its thread.
    pub fn seat(&mut self, worker: u32) -> Option<Seat> {
        self.seats.get_mut(worker as usize)?.take()
    }

    /// Calls `setup` and `init` for each worker; all workers have taken their seats.
    ///
    /// # Errors
    /// A fault of the script.
    pub fn set_up(&mut self) -> Result<(), Problem> {
        self.stage.as_mut().map_or(Ok(()), Stage::set_up).map_err(problem)
    }

    /// A worker whose script does not come back, told once for each; since when, and what it has done since its last
    /// snapshot.
    pub fn stuck(&mut self) -> Option<(u32, Instant, Box<Tally>)> {
        self.stage.as_mut()?.stuck(Instant::now())
    }

    /// Why the run ended before its time, where the script has failed in it.
    pub fn failure(&mut self) -> Option<String> {
        self.stage.as_mut()?.failure().map(|failure| failure.to_string())
    }

    /// Tells the script how it was.
    ///
    /// # Errors
    /// A fault of the script.
    pub fn done(&mut self, result: &measure::RunResult) -> Result<(), Problem> {
        self.stage.as_mut().map_or(Ok(()), |stage| stage.done(result)).map_err(problem)
    }
}

fn problem(failure: Failure) -> Problem {
    Problem::impossible(failure.to_string())
}

/// The system's network.
struct System {
    limit: Duration,
}

impl Network for System {
    fn lookup(&self, host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
        lookup(host, service)
    }

    fn connect(&self, to: SocketAddr) -> Result<(), String> {
        connect(to, self.limit)
    }
}
