//! Who had the CPU while a run was measured: the time that workers and the target waited for a core, what other programs
//! used, what the host took, and pressure stall information.

use super::proc;
use fleet::Awake;
use measure::Contention;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Prefix of the names of worker threads; the worker's number follows.
pub const THREAD_NAME: &str = "worker-";

/// Oversleeping that only a process has that is stopped, or whose machine is: a busy machine delays it by less.
const PAUSE: Duration = Duration::from_millis(500);
/// How often somebody looks whether the process runs.
const PULSE: Duration = Duration::from_millis(50);

/// Adds up what happens in the measured parts of a run.
pub struct CpuWatch {
    pulse: Pulse,
    since: Option<Reading>,
    sum: Used,
}

/// Notices when the process does not run. It does nothing else, so that no other work is taken for that, nor hides it.
struct Pulse {
    began: Instant,
    awake: Arc<Mutex<Awake>>,
    /// Ends its thread.
    _ends: Sender<Infallible>,
}

impl Pulse {
    fn start() -> Pulse {
        let began = Instant::now();
        let awake = Arc::new(Mutex::new(Awake::where_still_for(PULSE + PAUSE)));
        look(&awake, began);
        let own = awake.clone();
        let (ends, ended) = mpsc::channel();
        std::thread::spawn(move || {
            while ended.recv_timeout(PULSE) == Err(RecvTimeoutError::Timeout) {
                look(&own, began);
            }
        });
        Pulse { began, awake, _ends: ends }
    }

    /// How long the process has not run since this was started, until now.
    fn stood_still(&self) -> Duration {
        look(&self.awake, self.began)
    }
}

fn look(awake: &Mutex<Awake>, began: Instant) -> Duration {
    let mut awake = awake.lock().unwrap_or_else(PoisonError::into_inner);
    awake.look(began.elapsed());
    awake.stood_still()
}

/// Counters at one moment; those that the system does not tell are `None`.
struct Reading {
    at: Instant,
    stood_still: Duration,
    /// Run and wait of each worker in ns, by its number.
    workers: BTreeMap<u32, (u64, u64)>,
    /// Run of all threads of this process in ns.
    own_ns: u64,
    /// Run and wait of each watched process in ns.
    target: BTreeMap<u32, (u64, u64)>,
    machine: Option<proc::CpuTime>,
    /// Pressure of CPU, memory and I/O in µs.
    pressure: [Option<u64>; 3],
}

/// Differences of readings, summed.
#[derive(Debug, Clone, Default)]
struct Used {
    seconds: f64,
    workers: BTreeMap<u32, u64>,
    own_ns: u64,
    target: (u64, u64),
    machine: Option<proc::CpuTime>,
    pressure: [Option<u64>; 3],
    paused: Duration,
}

impl CpuWatch {
    /// Nothing is measured yet.
    pub fn start() -> CpuWatch {
        CpuWatch { pulse: Pulse::start(), since: None, sum: Used::default() }
    }

    /// A phase goes on, measured or not. `target`: the processes that are watched.
    pub fn phase(&mut self, measured: bool, target: &[u32]) {
        if measured == self.since.is_some() {
            return;
        }
        let now = Reading::now(self.pulse.stood_still(), target);
        match self.since.take() {
            Some(since) => self.sum.add(&since, &now),
            None => self.since = Some(now),
        }
    }

    /// Returns the contention seen.
    pub fn found(&self) -> Contention {
        self.sum.found(rustix::param::clock_ticks_per_second() as f64)
    }
}

impl Reading {
    fn now(stood_still: Duration, target: &[u32]) -> Reading {
        let mut reading = Reading {
            at: Instant::now(),
            stood_still,
            workers: BTreeMap::new(),
            own_ns: 0,
            target: target.iter().filter_map(|pid| Some((*pid, of_process(*pid)?))).collect(),
            machine: proc::cpu_time(&text("/proc/stat")),
            pressure: [("cpu", "some"), ("memory", "full"), ("io", "full")]
                .map(|(of, kind)| proc::pressure(&text(format!("/proc/pressure/{of}")), kind)),
        };
        for (name, run, wait) in threads("/proc/self/task") {
            reading.own_ns += run;
            let worker = name.strip_prefix(THREAD_NAME).and_then(|number| number.parse().ok());
            reading.workers.extend(worker.map(|number| (number, (run, wait))));
        }
        reading
    }
}

/// Name, run and wait in ns of each thread in a folder of /proc.
fn threads(folder: impl AsRef<Path>) -> impl Iterator<Item = (String, u64, u64)> {
    let threads = fs::read_dir(folder).into_iter().flatten().flatten();
    threads.filter_map(|thread| {
        let (run, wait) = proc::pair(&text(thread.path().join("schedstat")))?;
        Some((text(thread.path().join("comm")).trim_end().to_owned(), run, wait))
    })
}

/// Run and wait of all threads of a process that are alive.
fn of_process(pid: u32) -> Option<(u64, u64)> {
    threads(format!("/proc/{pid}/task"))
        .map(|(_, run, wait)| (run, wait))
        .reduce(|a, b| (a.0 + b.0, a.1 + b.1))
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

impl Used {
    fn add(&mut self, since: &Reading, now: &Reading) {
        self.seconds += now.at.saturating_duration_since(since.at).as_secs_f64();
        self.own_ns += now.own_ns.saturating_sub(since.own_ns);
        self.paused += now.stood_still.saturating_sub(since.stood_still);
        for (worker, (_, wait)) in &now.workers {
            let before = since.workers.get(worker).map_or(0, |(_, wait)| *wait);
            *self.workers.entry(*worker).or_default() += wait.saturating_sub(before);
        }
        for (pid, (run, wait)) in &now.target {
            // One that came meanwhile counts from its beginning.
            let before = since.target.get(pid).copied().unwrap_or_default();
            self.target.0 += run.saturating_sub(before.0);
            self.target.1 += wait.saturating_sub(before.1);
        }
        let machine = now.machine.zip(since.machine).map(|(now, since)| now.since(since));
        self.machine = machine.map(|part| part.plus(self.machine.unwrap_or_default()));
        for (sum, (now, since)) in self.pressure.iter_mut().zip(now.pressure.into_iter().zip(since.pressure))
        {
            let part = now.zip(since).map(|(now, since)| now.saturating_sub(since));
            *sum = part.map(|part| part + sum.unwrap_or(0));
        }
    }

    fn found(&self, ticks_per_s: f64) -> Contention {
        if self.seconds <= 0.0 {
            return Contention::default();
        }
        let share = |ns: u64| ns as f64 / 1e9 / self.seconds;
        let (run, wait) = self.target;
        let others = |machine: proc::CpuTime| {
            let busy = machine.programs as f64 / ticks_per_s / self.seconds;
            (busy - share(self.own_ns) - share(run)).max(0.0)
        };
        let [cpu, memory, io] =
            self.pressure.map(|us| us.map(|us| (us as f64 / 1e6 / self.seconds).min(1.0)));
        Contention {
            worker_waits: self.workers.values().map(|wait| share(*wait)).collect(),
            target_waits: (run + wait > 0).then(|| wait as f64 / (run + wait) as f64),
            others_cores: self.machine.map(others),
            stolen: self.machine.filter(|all| all.all > 0).map(|all| all.stolen as f64 / all.all as f64),
            cpu_pressure: cpu,
            memory_pressure: memory,
            io_pressure: io,
            paused_s: self.paused.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_neither_wringer_nor_the_target_used_is_others() {
        let used = Used {
            seconds: 10.0,
            workers: [(0, 4_000_000_000), (1, 0)].into(),
            own_ns: 3_000_000_000,
            target: (2_000_000_000, 6_000_000_000),
            machine: Some(proc::CpuTime { programs: 2_000, stolen: 50, all: 2_500 }),
            pressure: [Some(9_000_000), None, Some(0)],
            paused: Duration::ZERO,
        };
        let found = used.found(100.0);
        assert_eq!(found.worker_waits, [0.4, 0.0]);
        assert_eq!((found.target_waits, found.stolen), (Some(0.75), Some(0.02)));
        assert!((found.others_cores.unwrap() - 1.5).abs() < 1e-9, "20 s of CPU, 3 ours and 2 the target's");
        assert_eq!(
            (found.cpu_pressure, found.memory_pressure, found.io_pressure),
            (Some(0.9), None, Some(0.0))
        );
        assert_eq!(Used::default().found(100.0), Contention::default());
    }

    #[test]
    fn only_measured_parts_are_added_up() {
        let mut watch = CpuWatch::start();
        watch.phase(false, &[]);
        assert_eq!(watch.found(), Contention::default());
        watch.phase(true, &[std::process::id()]);
        let until = Instant::now() + Duration::from_millis(20);
        while Instant::now() < until {}
        watch.phase(false, &[std::process::id()]);
        let first = watch.sum.clone();
        watch.phase(false, &[]);
        assert!(first.seconds >= 0.02 && first.own_ns > 0 && first.target.0 > 0, "{first:?}");
        assert_eq!(watch.sum.seconds, first.seconds, "what comes after is not measured");
    }

    /// Nobody waits for anything meanwhile: a stop may come at any time.
    #[test]
    fn a_stop_counts_wherever_it_comes_in_a_measured_part() {
        let mut watch = CpuWatch::start();
        let stop = |watch: &CpuWatch, lasts| {
            // Who cannot look at the clock is as good as stopped.
            let _kept = watch.pulse.awake.lock();
            std::thread::sleep(Duration::from_millis(lasts));
        };
        stop(&watch, 5_000);
        watch.phase(true, &[]);
        stop(&watch, 900);
        watch.phase(false, &[]);
        let paused = watch.found().paused_s;
        assert!((0.9..5.0).contains(&paused), "{paused} s");
    }
}
