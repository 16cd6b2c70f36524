//! CPU time of processes, and what follows from it by arithmetic.

use std::fs;
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::Result;

/// The system counts the CPU time of ended children in one sum, so only one may end at a time while we look.
static ENDING: Mutex<()> = Mutex::new(());

/// CPU time that a process used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    pub total: Duration,
    /// The part of it in user space, where that is known.
    pub user: Option<Duration>,
}

/// How a child ended and the CPU time that it used in its life: what `wait4` would say of it, to the microsecond. The child is
/// killed where it takes longer than `limit`.
pub fn wait(child: &mut Child, limit: Duration) -> Result<(ExitStatus, Cpu)> {
    let _alone = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = ended_children()?;
    let status = wait_until(child, Instant::now() + limit)?;
    let after = ended_children()?;
    let [user, system] = [0, 1].map(|part| after[part].saturating_sub(before[part]));
    let cpu = Cpu { total: user + system, user: Some(user) };
    let status =
        status.ok_or_else(|| format!("it had not ended after {} s and was killed", limit.as_secs()))?;
    Ok((status, cpu))
}

/// Waits for the end of a child whose CPU time is of no interest; kills it at the deadline.
pub fn wait_uncounted(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let _alone = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
    wait_until(child, Instant::now() + limit)
}

fn wait_until(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    let cannot = |error: std::io::Error| format!("a child cannot be waited for: {error}");
    loop {
        if let Some(status) = child.try_wait().map_err(cannot)? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill().map_err(cannot)?;
            child.wait().map_err(cannot)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// In user space, and in the kernel.
fn ended_children() -> Result<[Duration; 2]> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| format!("getrusage failed: {error}"))?;
    let of = |time: TimeVal| {
        Duration::from_micros((time.tv_sec() * 1_000_000 + time.tv_usec()).try_into().unwrap_or(0))
    };
    Ok([of(usage.user_time()), of(usage.system_time())])
}

/// CPU time so far of a process that is still running: of all its threads, to the nanosecond.
pub fn running(process: u32) -> Result<Duration> {
    let cannot = |error: std::io::Error| format!("process {process} cannot be looked at: {error}");
    let mut total = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{process}/task")).map_err(cannot)? {
        let text = fs::read_to_string(thread.map_err(cannot)?.path().join("schedstat")).map_err(cannot)?;
        total += parse_schedstat(&text).ok_or_else(|| format!("'{text}' is no schedstat"))?;
    }
    Ok(total)
}

/// The first number is the time on a core, in nanoseconds.
fn parse_schedstat(text: &str) -> Option<Duration> {
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// One figure over the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// None of no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let min = *values.first()?;
        let max = *values.last()?;
        let upper = values[values.len() / 2];
        let lower = values[(values.len() - 1) / 2];
        Some(Self { min, median: f64::midpoint(lower, upper), max })
    }
}

/// "met", or by how much the median missed a bound from above.
pub fn verdict(spread: Spread, bound: f64) -> String {
    if spread.median <= bound {
        return "met".to_owned();
    }
    let over = spread.median - bound;
    format!("missed by {over:.2} ({:.0} %)", over / bound * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn spreads() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0]), Some(Spread { min: 1.0, median: 2.5, max: 4.0 }));
    }

    #[test]
    fn verdicts() {
        let spread = Spread { min: 4.0, median: 5.5, max: 9.0 };
        assert_eq!(verdict(spread, 5.5), "met");
        assert_eq!(verdict(spread, 5.0), "missed by 0.50 (10 %)");
    }

    #[test]
    fn schedstat() {
        assert_eq!(parse_schedstat("1500 1882 1\n"), Some(Duration::from_nanos(1500)));
        assert_eq!(parse_schedstat(""), None);
    }

    /// Bash says itself, to the millisecond, what it used; our figure must be that, however busy the machine is.
    #[test]
    fn cpu_time_of_a_child_is_exact() {
        let script = "i=0; while ((i < 150000)); do ((i++)); done; times";
        let command = &mut Command::new("bash");
        let spawned = command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.expect("bash, which .ci/run needs too");
        let (status, cpu) = wait(&mut child, Duration::from_secs(60)).expect("its end");
        assert!(status.success());
        let said = std::io::read_to_string(child.stdout.take().expect("piped")).expect("text");
        let own: f64 = said.lines().next().expect("a line").split_whitespace().map(parse_minutes).sum();
        let ours = cpu.total.as_secs_f64();
        assert!(own > 0.02, "too short to judge: {own}");
        // What comes after `times` is the end of the process.
        assert!(ours >= own - 0.002 && ours <= own + 0.02, "bash says {own} s, we {ours} s");
    }

    /// `0m1.234s`
    fn parse_minutes(text: &str) -> f64 {
        let (minutes, seconds) = text.trim_end_matches('s').split_once('m').expect("minutes");
        minutes.parse::<f64>().expect("a number") * 60.0 + seconds.parse::<f64>().expect("a number")
    }
}
