//! Starts programs on a core of their own, and ends them: by process id, within bounds, whatever happens.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::measure::{self, Cpu};
use crate::{Result, shell};

/// How long a server may take to come up, and to end once asked.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which core a program is bound to; None where the machine has no second one, or no taskset.
#[derive(Clone, Copy, Debug)]
pub struct Cores {
    pub proxy: Option<usize>,
    pub generator: Option<usize>,
}

impl Cores {
    /// The first two that we may use.
    pub fn choose() -> Self {
        let allowed = allowed_cores();
        let (proxy, generator) = match allowed.as_slice() {
            [proxy, generator, ..] if shell::find("taskset").is_some() => (Some(*proxy), Some(*generator)),
            _ => (None, None),
        };
        if proxy.is_none() {
            println!("not pinned: that takes two cores and taskset; proxy and generator disturb each other");
        }
        Self { proxy, generator }
    }
}

fn allowed_cores() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    parse_cores(list.unwrap_or_default())
}

/// `0-2,5`
fn parse_cores(list: &str) -> Vec<usize> {
    let mut cores = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            cores.extend(first..=last);
        }
    }
    cores
}

/// A command bound to a core.
pub fn pinned(program: &Path, core: Option<usize>) -> Command {
    let Some(core) = core else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.arg("--cpu-list").arg(core.to_string()).arg(program);
    command
}

/// A server that lives until this is dropped; should we be killed, it gets the news from the kernel.
pub struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts it; what it writes goes to `log`.
    pub fn start(program: &Path, core: Option<usize>, arguments: &[String], log: PathBuf) -> Result<Self> {
        let cannot = |error: std::io::Error| format!("{} cannot be started: {error}", program.display());
        let written = File::create(&log).map_err(cannot)?;
        let bound = pinned(program, core);
        let mut command = match shell::find("setpriv") {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "TERM"]).arg(bound.get_program()).args(bound.get_args());
                command
            }
            None => bound,
        };
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(written.try_clone().map_err(cannot)?)
            .stdout(written);
        Ok(Self { child: command.spawn().map_err(cannot)?, log })
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The end of what it has written.
    pub fn last_lines(&self) -> String {
        last_lines(&fs::read_to_string(&self.log).unwrap_or_default())
    }

    /// Waits until `is_ready` says something of what the server has written.
    pub fn await_ready<T>(&mut self, is_ready: impl Fn(&str) -> Option<T>) -> Result<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = fs::read_to_string(&self.log).unwrap_or_default();
            if let Some(answer) = is_ready(&said) {
                return Ok(answer);
            }
            let has_ended = self.child.try_wait().ok().flatten().is_some();
            if has_ended || Instant::now() >= deadline {
                return Err(format!("it did not come up and said: {}", said.trim()));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until somebody listens there.
    pub fn await_port(&mut self, address: SocketAddr) -> Result<()> {
        self.await_ready(|_| TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok().map(drop))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Ok(process) = i32::try_from(self.child.id()) else { return };
        // A child that has ended but was not waited for keeps its number, so the signal cannot meet another.
        if matches!(self.child.try_wait(), Ok(None)) && kill(Pid::from_raw(process), Signal::SIGTERM).is_ok()
        {
            drop(measure::wait_uncounted(&mut self.child, PATIENCE));
        }
    }
}

/// CPU time, duration and output of a program from start to end.
pub struct Ended {
    pub cpu: Cpu,
    pub took: Duration,
    pub said: String,
}

/// Runs a program to its end and takes its CPU time. An exit code other than those of `fine` is an error.
pub fn to_the_end(mut command: Command, limit: Duration, log: &Path, fine: &[i32]) -> Result<Ended> {
    let name = shell::shown(&command);
    let failed = |problem: String| format!("{name}: {problem}");
    let written = File::create(log).map_err(|error| failed(error.to_string()))?;
    let errors = written.try_clone().map_err(|error| failed(error.to_string()))?;
    command.stdin(Stdio::null()).stdout(written).stderr(errors);
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let (status, cpu) = measure::wait(&mut child, limit).map_err(&failed)?;
    let took = began.elapsed();
    let said = String::from_utf8_lossy(&fs::read(log).unwrap_or_default()).into_owned();
    if status.code().is_some_and(|code| fine.contains(&code)) {
        return Ok(Ended { cpu, took, said });
    }
    Err(failed(format!("ended with {status}: {}", last_lines(&said))))
}

/// The last three lines as one.
fn last_lines(text: &str) -> String {
    let mut last: Vec<_> = text.lines().rev().take(3).collect();
    last.reverse();
    last.join(" | ")
}

/// An address on loopback that nobody uses at the moment.
pub fn free_address() -> Result<SocketAddr> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    bound.map_err(|error| format!("no free port on 127.0.0.1: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        assert_eq!(parse_cores("\t0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_cores("3"), [3]);
        assert_eq!(parse_cores(""), [0; 0]);
    }
}
