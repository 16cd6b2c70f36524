//! The guard: a small process that owns a rig's proxy and its folder, so that neither outlives wringer.
//!
//! wringer starts itself again under the hidden subcommand [`SUBCOMMAND`] and keeps the only write end of the pipe that
//! is the guard's standard input. However wringer ends, kill -9 included, the kernel closes that pipe; the guard then
//! ends everything it started and removes the folder. The guard sits in a process group of its own, out of reach of
//! Ctrl-C, and ignores the polite signals.
//!
//! The conversation is lines of text. In: the order (see [`Order`]), then nothing until the pipe closes. Out: one
//! `started PID` or `failed REASON`, later perhaps `ended STATUS`, the number that wait(2) gives.
//!
//! Start reading at [`run`], the guard's side; [`Guarded`] is wringer's. Knows nothing of any proxy.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, set_child_subreaper};

/// The hidden subcommand under which wringer starts itself as a guard.
pub const SUBCOMMAND: &str = "rig-guard";
/// The file in the rig's folder that takes the proxy's standard output and error.
pub(super) const OUTPUT: &str = "output.log";

/// How long the guard may take to start a proxy: long, as it may have to wait for a processor. One that is gone is
/// noticed at once.
const ANSWER: Duration = Duration::from_secs(60);
/// How long a proxy may take to end politely.
const POLITE: Duration = Duration::from_secs(2);
/// How long to go on killing; nothing survives that, but a process in the kernel's hands may take a moment to vanish.
const FORCED: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(10);

/// Process that the guard is to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// User and group to run as; `None` is whoever runs wringer.
    pub user: Option<(u32, u32)>,
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

impl Order {
    /// One line each: `user UID GID` or `self`, the program, the arguments; an empty line ends it.
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut text = match self.user {
            Some((user, group)) => format!("user {user} {group}\n"),
            None => "self\n".to_string(),
        };
        text.push_str(&format!("{}\n", self.program.display()));
        for argument in &self.arguments {
            text.push_str(argument);
            text.push('\n');
        }
        text.push('\n');
        out.write_all(text.as_bytes())
    }

    /// `None` when the input ended first: wringer is gone.
    fn read(input: &mut impl BufRead) -> Option<Order> {
        let mut lines = input.lines().map_while(Result::ok);
        let first = lines.next()?;
        let numbers: Vec<u32> = first.split(' ').skip(1).filter_map(|word| word.parse().ok()).collect();
        let user = match numbers[..] {
            [user, group] => Some((user, group)),
            _ => None,
        };
        let program = PathBuf::from(lines.next()?);
        let mut arguments = Vec::new();
        loop {
            match lines.next()? {
                end if end.is_empty() => return Some(Order { user, program, arguments }),
                argument => arguments.push(argument),
            }
        }
    }
}

/// The guard's whole life, given the folder that is its to remove.
pub fn run(folder: &Path) {
    ignore_polite_signals();
    // Whatever a proxy forks and leaves behind becomes our child, and so can be found and ended.
    let _ = set_child_subreaper(rustix::process::getpid().into());
    // A statement of its own, so that the lock on standard input is given back before it is taken again.
    let order = Order::read(&mut io::stdin().lock());
    if let Some(order) = order {
        guard(&order, folder);
    }
    super::disk::unmount_below(folder);
    let _ = fs::remove_dir_all(folder);
    remove_shared_memory(&super::shared_name(&folder.display().to_string()));
}

/// Removes what a proxy that was killed has left in shared memory under its name.
fn remove_shared_memory(name: &str) {
    let of_proxy = |entry: &fs::DirEntry| {
        let file = entry.file_name();
        file.to_str().and_then(|file| file.strip_prefix(name)).is_some_and(|rest| rest.starts_with('-'))
    };
    let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries.filter(of_proxy).for_each(|entry| drop(fs::remove_file(entry.path())));
}

fn guard(order: &Order, folder: &Path) {
    let child = match spawn(order, folder) {
        Ok(child) => child,
        Err(error) => {
            say(&format!("failed {error}"));
            return wait_for_owner();
        }
    };
    let group = child.id();
    say(&format!("started {group}"));
    thread::spawn(move || report_end(child));
    wait_for_owner();
    end_all(group);
}

/// A handler that does nothing: unlike an ignored signal, it is not inherited by the proxy.
fn ignore_polite_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
    for signal in [SIGHUP, SIGINT, SIGPIPE, SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

fn spawn(order: &Order, folder: &Path) -> io::Result<Child> {
    let output = fs::File::create(folder.join(OUTPUT))?;
    let mut command = Command::new(&order.program);
    command
        .args(&order.arguments)
        .current_dir(folder)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    if let Some((user, group)) = order.user {
        command.uid(user).gid(group);
    }
    command.spawn()
}

/// Tells wringer, which may be gone: then there is nobody to tell.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn report_end(mut child: Child) {
    let status = child.wait().map_or_else(|error| error.to_string(), |status| status.into_raw().to_string());
    say(&format!("ended {status}"));
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Returns when the write end of our standard input is closed.
fn wait_for_owner() {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
}

/// Asks everything we started to end, then makes it end.
fn end_all(group: u32) {
    signal_group(group, Signal::TERM);
    if !gone_within(POLITE, |_| ()) {
        signal_group(group, Signal::KILL);
        gone_within(FORCED, |left| left.iter().for_each(|&pid| signal(pid, Signal::KILL)));
    }
}

/// Waits until this process has no descendants that live, doing `each_time` to those there are.
fn gone_within(limit: Duration, each_time: impl Fn(&[u32])) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        let left = descendants(std::process::id());
        if left.is_empty() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        each_time(&left);
        thread::sleep(STEP);
    }
}

fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = pid(group) {
        // Fails only when the group is gone.
        let _ = kill_process_group(group, signal);
    }
}

fn signal(process: u32, signal: Signal) {
    if let Some(process) = pid(process) {
        // Fails only when the process is gone.
        let _ = kill_process(process, signal);
    }
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// The processes that `ancestor` started, and those that these started, except the dead that nobody waited for.
pub(super) fn descendants(ancestor: u32) -> Vec<u32> {
    let processes = processes();
    let mut family = HashSet::from([ancestor]);
    loop {
        let before = family.len();
        family.extend(
            processes
                .iter()
                .filter(|(_, parent, _)| family.contains(parent))
                .map(|(pid, ..)| *pid)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            break;
        }
    }
    let lives = |(pid, _, state): &(u32, u32, char)| {
        (*pid != ancestor && family.contains(pid) && *state != 'Z').then_some(*pid)
    };
    let mut living: Vec<u32> = processes.iter().filter_map(lives).collect();
    living.sort_unstable();
    living
}

/// Every process with its parent and state, from `/proc/PID/stat` (proc(5)).
fn processes() -> Vec<(u32, u32, char)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter_map(|pid| parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

/// The name in brackets may hold anything, brackets too: what matters follows the last one.
fn parse_stat(pid: u32, stat: &str) -> Option<(u32, u32, char)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_ascii_whitespace();
    let state = words.next()?.chars().next()?;
    Some((pid, words.next()?.parse().ok()?, state))
}

/// wringer's side: a running guard. Dropping it ends the proxy and removes the folder, and waits for both.
pub(super) struct Guarded {
    process: Child,
    /// The pipe whose closing is the guard's signal.
    lifeline: Option<ChildStdin>,
    says: Mutex<Receiver<String>>,
}

impl Guarded {
    /// Starts a guard that will remove `folder`.
    pub fn new(folder: &Path) -> io::Result<Guarded> {
        let mut process = Command::new(own_program())
            .arg0("wringer")
            .arg(SUBCOMMAND)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()?;
        let (sender, says) = mpsc::channel();
        let lines = process.stdout.take().map(BufReader::new);
        thread::spawn(move || {
            lines.into_iter().flat_map(BufRead::lines).try_for_each(|line| {
                tracing::debug!(?line, "the guard says");
                pass_on(line, &sender)
            })
        });
        Ok(Guarded { lifeline: process.stdin.take(), process, says: Mutex::new(says) })
    }

    /// Has the guard start a proxy; its process id, or why not.
    pub fn start(&mut self, order: &Order) -> Result<u32, String> {
        let lifeline = self.lifeline.as_mut().ok_or("the guard is gone")?;
        order.write(lifeline).map_err(|error| format!("the guard does not listen: {error}"))?;
        let line = self.next_line(ANSWER).ok_or("its guard process has not started it within a minute")?;
        match line.split_once(' ') {
            Some(("started", pid)) => pid.parse().map_err(|_| format!("the guard said {line:?}")),
            Some(("failed", reason)) => Err(reason.to_string()),
            _ => Err(format!("the guard said {line:?}")),
        }
    }

    /// How the proxy ended, if it does within `wait`. A proxy whose guard is gone has ended as far as we know.
    pub fn ended(&self, wait: Duration) -> Option<String> {
        let line = self.next_line(wait)?;
        let status = parse_status(&line).map(describe);
        Some(status.unwrap_or_else(|| line.strip_prefix("ended ").unwrap_or(&line).to_string()))
    }

    /// The status that the proxy left; `None`: it has not ended, or nobody knows how.
    pub fn status(&self) -> Option<ExitStatus> {
        parse_status(&self.next_line(Duration::ZERO)?)
    }

    fn next_line(&self, wait: Duration) -> Option<String> {
        let says = self.says.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match says.recv_timeout(wait) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some("ended with its guard".to_string()),
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let ended = self.process.wait();
        tracing::debug!(?ended, "the guard has ended the proxy and removed its folder");
    }
}

fn parse_status(line: &str) -> Option<ExitStatus> {
    line.strip_prefix("ended ")?.parse().ok().map(ExitStatus::from_raw)
}

fn pass_on(line: io::Result<String>, sender: &Sender<String>) -> Result<(), ()> {
    sender.send(line.map_err(drop)?).map_err(drop)
}

/// Our own program; by its open file where it was replaced or removed since we started, as a rebuild does.
fn own_program() -> PathBuf {
    std::env::current_exe()
        .ok()
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(order: &Order) {
        let mut text = Vec::new();
        order.write(&mut text).expect("memory takes everything");
        assert_eq!(Order::read(&mut &text[..]).as_ref(), Some(order));
        text.pop();
        assert_eq!(Order::read(&mut &text[..]), None, "an unfinished order is none");
    }

    #[test]
    fn an_order_survives_the_pipe() {
        let arguments = ["-f", "a file", "-p", "x=1"].map(str::to_string).to_vec();
        check(&Order { user: Some((65534, 65534)), program: "/usr/sbin/nginx".into(), arguments });
        check(&Order { user: None, program: "/bin/true".into(), arguments: vec![] });
    }

    #[test]
    fn a_stat_line_is_read_behind_the_name() {
        assert_eq!(parse_stat(7, "7 (a (b) c) S 3 7 7 0 -1"), Some((7, 3, 'S')));
        assert_eq!(parse_stat(7, "7 torn"), None);
    }

    #[test]
    fn children_are_found_and_the_dead_are_not() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep exists");
        assert!(descendants(std::process::id()).contains(&child.id()));
        child.kill().expect("it is ours");
        thread::sleep(Duration::from_millis(50));
        assert!(!descendants(std::process::id()).contains(&child.id()));
        child.wait().expect("it is ours");
    }
}
