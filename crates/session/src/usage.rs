//! How many workers there are, what CPU they use, and what time it is.

use crate::problem::Problem;
use plan::draw::mix;
use std::path::Path;

/// The number of workers: as asked for, or one for each core.
pub fn threads(asked: Option<u16>) -> u32 {
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    asked.map_or_else(cores, u32::from)
}

/// Workers for each core at most: more would only wait for each other, and take a minute to start.
const MOST_PER_CORE: u32 = 32;

/// Refuses more workers than the cores can make use of.
///
/// # Errors
/// How many are too many, and how many are not.
pub fn check_threads(asked: Option<u16>) -> Result<(), Problem> {
    let count = threads(asked);
    let cores = threads(None);
    let most = cores.saturating_mul(MOST_PER_CORE).max(64);
    if count > most {
        let text = format!(
            "{count} workers on {cores} cores would only wait for each other: ask for at most {most}"
        );
        return Err(Problem::Usage(text));
    }
    Ok(())
}

/// Seconds since 1970.
pub fn unix_seconds() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Name of this machine; empty where the system does not tell it.
pub fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| String::new(), |name| name.trim().to_owned())
}

/// A number that no other run has: time and process.
pub fn run_id() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    mix(time.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32))
}

/// A number that nobody can guess, as text.
///
/// # Errors
/// The system gives none.
pub fn nonce() -> Result<String, Problem> {
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut random| std::io::Read::read_exact(&mut random, &mut bytes))
        .map_err(|error| Problem::impossible(format!("/dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// CPU seconds that each worker thread of this process has used so far, in steps of 10 ms; none where the system does
/// not tell.
pub fn cpu_of_workers() -> Vec<(u32, f64)> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let used = threads.filter_map(|thread| {
        let name = std::fs::read_to_string(thread.path().join("comm")).ok()?;
        let worker = name.trim_end().strip_prefix(crate::doctor::THREAD_NAME)?.parse().ok()?;
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
