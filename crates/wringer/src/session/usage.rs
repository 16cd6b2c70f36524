//! What this machine gives: cores, descriptors, and the CPU time of processes.

use crate::problem::Problem;
use plan::Plan;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::Path;

/// Descriptors that a run needs beside its connections.
const BESIDE: u64 = 64;

/// The number of workers: as asked for, or one for each core.
pub fn threads(asked: Option<u16>) -> u32 {
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    asked.map_or_else(cores, u32::from)
}

/// Seconds since 1970.
pub fn unix_seconds() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Raises the limit of descriptors as far as it goes; refuses a plan that needs more in any case, and returns a note
/// where it may need more.
pub fn raise_descriptors(plan: &Plan) -> Result<Vec<String>, Problem> {
    let limit = getrlimit(Resource::Nofile);
    // Fails only for limits that are not ours to raise; what is left is checked below.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let Some(most) = getrlimit(Resource::Nofile).current else { return Ok(Vec::new()) };
    let (surely, perhaps) = descriptors(plan);
    if surely + BESIDE > most {
        return Err(Problem::impossible(format!(
            "{surely} users need more file descriptors than the {most} that are allowed here: raise the limit with \
             'ulimit -n {}', or ask for fewer users",
            2 * surely + BESIDE
        )));
    }
    let short = perhaps + BESIDE > most;
    let note = || {
        format!("{perhaps} connections or more may be needed, {most} descriptors are allowed: see ulimit -n")
    };
    Ok(short.then(note).into_iter().collect())
}

/// A stall of the target that is nothing unusual: while it lasts, an open pace opens a connection for each request.
const STALL_S: f64 = 0.5;

/// Connections that a plan surely opens, and that it is likely to open at times, both sides counted.
fn descriptors(plan: &Plan) -> (u64, u64) {
    let phases = plan.load.iter().flat_map(|load| &load.phases);
    let users = phases.map(|phase| match (phase.pace.closed(), phase.pace.open()) {
        (Some((users, _)), _) => (u64::from(users), u64::from(users)),
        (None, Some(open)) => (0, u64::from(open.in_flight).min((open.curve.highest() * STALL_S) as u64)),
        (None, None) => (0, 0),
    });
    let (surely, clients) = users.fold((0, 0), |(a, b), (c, d)| (a.max(c), b.max(d)));
    (surely, if plan.origin.is_some() { 2 * clients } else { clients })
}

/// CPU seconds, user and system, that processes have used so far; `None` where none of them can be read.
pub fn cpu_of(pids: &[u32]) -> Option<f64> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let used: Vec<f64> = pids
        .iter()
        .filter_map(|pid| Some(ticks_in(Path::new(&format!("/proc/{pid}/stat")))? as f64 / ticks))
        .collect();
    (!used.is_empty()).then(|| used.iter().sum())
}

/// CPU seconds that each worker thread of this process has used so far, in steps of 10 ms; none where the system does
/// not tell.
pub fn cpu_of_workers() -> Vec<(u32, f64)> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let used = threads.filter_map(|thread| {
        let name = std::fs::read_to_string(thread.path().join("comm")).ok()?;
        let worker = name.trim_end().strip_prefix(super::workers::THREAD_NAME)?.parse().ok()?;
        Some((worker, ticks_in(&thread.path().join("stat"))? as f64 / ticks))
    });
    let mut used: Vec<(u32, f64)> = used.collect();
    used.sort_by_key(|(worker, _)| *worker);
    used
}

/// Fields 14 and 15 of a `stat` file of /proc, counted after the command name, which may hold anything.
fn ticks_in(stat: &Path) -> Option<u64> {
    let stat = std::fs::read_to_string(stat).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// CPU of the watched processes while measuring.
pub struct Watch {
    pids: Vec<u32>,
    since: Option<f64>,
    used: Option<f64>,
}

impl Watch {
    /// Of these processes.
    pub fn new(pids: &[u32]) -> Watch {
        Watch { pids: pids.to_vec(), since: None, used: None }
    }

    /// A phase goes on, measured or not.
    pub fn phase(&mut self, measured: bool) {
        match (measured, self.since) {
            (true, None) => self.since = cpu_of(&self.pids),
            (false, Some(since)) => {
                let now = cpu_of(&self.pids);
                self.used = now.map(|now| self.used.unwrap_or(0.0) + now - since).or(self.used);
                self.since = None;
            }
            _ => {}
        }
    }

    /// Seconds used, where they could be read.
    pub fn seconds(&self) -> Option<f64> {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_rate(per_second: f64, in_flight: u32) -> Plan {
        let pace = plan::Pace::Rate { per_second, arrivals: plan::Arrivals::Even, in_flight };
        let phase = plan::Phase {
            name: "measure".to_owned(),
            measured: true,
            scenario: plan::Scenario { steps: Vec::new() },
            pace,
            stop: plan::Stop::default(),
        };
        let load = plan::Load {
            target: None,
            protocol: plan::Protocol::default(),
            check: plan::Check::default(),
            limits: plan::Limits::default(),
            phases: vec![phase],
            trace: plan::Trace::default(),
        };
        Plan {
            version: 1,
            seed: 1,
            threads: None,
            site: plan::Site::default(),
            load: Some(load),
            origin: Some(plan::Origin::default()),
        }
    }

    #[test]
    fn an_open_pace_needs_what_a_stall_piles_up() {
        assert_eq!(descriptors(&at_rate(1_000.0, 10_000)), (0, 1_000), "half a second, both sides");
        assert_eq!(descriptors(&at_rate(100_000.0, 10_000)), (0, 20_000), "no more than may be under way");
    }
}
