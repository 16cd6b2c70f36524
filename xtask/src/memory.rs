//! `cargo xtask memory`: long runs of `wringer tcp` whose memory must not grow, in front of `wringer origin --tcp`. What it
//! holds after the first tenth of the requests is compared with the most that it holds later, so a byte that is lost at each
//! request is found.
//!
//! Which build runs makes no difference to what is kept, so CI takes the one that it has.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::{Server, free_address};
use crate::{Result, shell};

/// One run.
struct Run {
    name: &'static str,
    requests: u64,
    words: &'static [&'static str],
}

/// With every kind of data that is written anew for each message.
const KEPT: Run = Run {
    name: "kept connections",
    requests: 10_000_000,
    words: &[
        "--message=PAY{{n}}{{t}}{{u}}{{w.name}}{{w.pin}}{{length:4}}{{sum}}",
        "--data=n=counter:1..99999999 as %08d",
        "--data=t=time-local:%Y%m%d%H%M%S%3f",
        "--data=u=uuid",
        "--data=sum=crc32,hex",
        "--pipeline=16",
    ],
};
const EACH: Run = Run {
    name: "a connection each",
    requests: 200_000,
    words: &["--message=PAY{{n}}{{w.name}}", "--data=n=counter:1..99999999 as %08d", "--keep-alive=1"],
};

/// How much more than after the first tenth is too much, in KiB. On a busy machine a tally or two of 2.8 MB come into
/// circulation late, when figures are not taken in as fast as they are handed over; a leak goes on.
const GROWTH_MAX: u64 = 8 * 1024;
/// How often is looked, and how long before the end the looking ends: the report is made then.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const BEFORE_END: Duration = Duration::from_millis(500);
/// Longer than any run takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs both, and fails where one has grown. `arguments`: `--binary FILE` takes that program instead of a debug build.
pub fn run(arguments: &[String]) -> Result<()> {
    let wringer = match arguments {
        [] => build()?,
        [option, file] if option == "--binary" => file.into(),
        _ => return Err("memory takes nothing but --binary FILE".into()),
    };
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let rows = folder.path().join("rows.csv");
    let text: String = (0..1000).map(|row| format!("customer-{row},{:04}\n", row * 7)).collect();
    fs::write(&rows, format!("name,pin\n{text}")).map_err(|error| format!("{}: {error}", rows.display()))?;
    let address = free_address()?;
    let line = format!("origin --tcp --threads 1 --framing ascii:8 --success-code 00 --listen {address}");
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let mut server = Server::start(&wringer, None, &words, folder.path().join("origin.log"))?;
    server.await_port(address)?;
    let press = Press { wringer: &wringer, folder: folder.path(), address };
    let grown: Vec<String> = [KEPT, EACH].iter().filter_map(|run| press.run(run).err()).collect();
    if grown.is_empty() { Ok(()) } else { Err(grown.join("; ")) }
}

fn build() -> Result<PathBuf> {
    shell::build_with_tests()?;
    Ok(crate::bench::target_folder()?.join("debug/wringer"))
}

struct Press<'a> {
    wringer: &'a Path,
    folder: &'a Path,
    address: SocketAddr,
}

impl Press<'_> {
    fn run(&self, run: &Run) -> Result<()> {
        let problem = |what: String| format!("memory: {}: {what}", run.name);
        let json = self.folder.join("run.json");
        let log = self.folder.join("run.log");
        let mut child = self.start(run, &json, &log).map_err(problem)?;
        let began = Instant::now();
        let looks = watch(&mut child).map_err(problem)?;
        let took = began.elapsed();
        let text = fs::read_to_string(&json).unwrap_or_default();
        let ok = ok(&text).unwrap_or(0);
        if ok != run.requests {
            let said = fs::read_to_string(&log).unwrap_or_default();
            return Err(problem(format!("{ok} of {} requests were answered: {said}", run.requests)));
        }
        let (early, late) =
            early_and_late(&looks, took).ok_or_else(|| problem("it ended too soon".into()))?;
        println!(
            "memory: {}: {} requests in {:.0} s; {early} KiB after a tenth, then {late} KiB at most",
            run.name,
            run.requests,
            took.as_secs_f64()
        );
        let growth = late.saturating_sub(early);
        if growth > GROWTH_MAX {
            return Err(problem(format!("it grew by {growth} KiB, where {GROWTH_MAX} are accepted")));
        }
        Ok(())
    }

    fn start(&self, run: &Run, json: &Path, log: &Path) -> Result<Child> {
        let cannot = |error: std::io::Error| format!("{} cannot be started: {error}", self.wringer.display());
        let written = File::create(log).map_err(cannot)?;
        let mut command = Command::new(self.wringer);
        command.args(["tcp", &self.address.to_string(), "--framing=ascii:8", "--threads=1", "--users=64"]);
        command.args(["--quiet", "--code=fixed 1 2", "--success=00"]).args(run.words);
        command.arg(format!("--data-file=w={},random", self.folder.join("rows.csv").display()));
        command.arg(format!("--requests={}", run.requests)).arg("--json").arg(json);
        command.stdin(Stdio::null()).stderr(written.try_clone().map_err(cannot)?).stdout(written);
        command.spawn().map_err(cannot)
    }
}

/// Memory that a process held, in KiB, and when since its start.
type Look = (Duration, u64);

/// Looks at a process until it ends.
fn watch(child: &mut Child) -> Result<Vec<Look>> {
    let began = Instant::now();
    let mut looks = Vec::new();
    let status = format!("/proc/{}/status", child.id());
    loop {
        if child.try_wait().map_err(|error| format!("it cannot be waited for: {error}"))?.is_some() {
            return Ok(looks);
        }
        if began.elapsed() > PATIENCE {
            // It is ours, and has not been waited for: the number is its own.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("it had not ended after {} s and was killed", PATIENCE.as_secs()));
        }
        // Of one that has ended just now there is nothing to be read.
        let text = fs::read_to_string(&status).unwrap_or_default();
        looks.extend(resident(&text).map(|held| (began.elapsed(), held)));
        thread::sleep(LOOK_EVERY);
    }
}

/// `VmRSS:     6712 kB`
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The most that was held in the first tenth of the time, and after it.
fn early_and_late(looks: &[Look], took: Duration) -> Option<(u64, u64)> {
    let most = |looks: &mut dyn Iterator<Item = &Look>| looks.map(|(_, held)| *held).max();
    let end = took.checked_sub(BEFORE_END)?;
    let is_early = |look: &&Look| look.0 <= took / 10;
    let early = most(&mut looks.iter().filter(is_early))?;
    let late = most(&mut looks.iter().filter(|look| !is_early(look) && look.0 <= end))?;
    Some((early, late))
}

/// Requests that were answered well, by the JSON of a run.
fn ok(json: &str) -> Option<u64> {
    let run: serde_json::Value = serde_json::from_str(json).ok()?;
    run["measured"]["counts"]["ok"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_holds() {
        assert_eq!(resident("Name:\twringer\nVmRSS:\t    6712 kB\nThreads:\t3\n"), Some(6712));
        assert_eq!(resident("Name:\tgone\n"), None);
    }

    #[test]
    fn the_first_tenth_and_the_rest() {
        let held = |at_ms: u64, held| (Duration::from_millis(at_ms), held);
        let looks = [held(100, 10), held(900, 30), held(1_000, 20), held(5_000, 25), held(9_800, 99)];
        assert_eq!(early_and_late(&looks, Duration::from_secs(10)), Some((30, 25)));
        assert_eq!(early_and_late(&looks[..1], Duration::from_secs(10)), None);
        assert_eq!(early_and_late(&looks, Duration::from_millis(400)), None);
    }

    #[test]
    fn answers_are_counted() {
        assert_eq!(ok(r#"{"measured": {"counts": {"ok": 7}}}"#), Some(7));
        assert_eq!(ok("{}"), None);
    }
}
