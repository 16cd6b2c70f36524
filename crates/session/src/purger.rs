//! Purges by commands of the shell: workers order them, threads of their own run them, and the workers hear when each is done.

use crate::problem::Problem;
use load::PurgeOrder;
use measure::notes;
use plan::Plan;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Commands at once.
const AT_ONCE: usize = 4;
/// A command that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(10);
/// How often a command is looked at, and how often it is looked whether the run is over.
const LOOK: Duration = Duration::from_millis(1);
const LOOK_UP: Duration = Duration::from_millis(20);
/// Bytes of what a command says that are read.
const SAID: u64 = 4_096;

/// Runs the commands of a plan until it drops.
pub struct Purger {
    orders: SyncSender<PurgeOrder>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// State shared with the threads.
struct Shared {
    orders: Mutex<Receiver<PurgeOrder>>,
    /// Beginning of `{url}`.
    base: String,
    host: String,
    over: AtomicBool,
    done: AtomicU64,
    failed: AtomicU64,
    /// How the first one failed.
    first: Mutex<Option<String>>,
}

impl Purger {
    /// Of a plan that purges by commands.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn of_plan(plan: &Plan) -> Result<Option<Purger>, Problem> {
        if plan.purge_commands().next().is_none() {
            return Ok(None);
        }
        let (base, host) = places(plan);
        let (orders, ordered) = sync_channel(AT_ONCE);
        let shared = Arc::new(Shared {
            orders: Mutex::new(ordered),
            base,
            host,
            over: AtomicBool::new(false),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            first: Mutex::default(),
        });
        let mut purger = Purger { orders, shared, threads: Vec::new() };
        for _ in 0..AT_ONCE {
            let shared = purger.shared.clone();
            let thread = std::thread::Builder::new().name("purges".to_owned()).spawn(move || shared.work());
            let no_thread = |error| Problem::impossible(format!("no thread for --purge-command: {error}"));
            purger.threads.push(thread.map_err(no_thread)?);
        }
        Ok(Some(purger))
    }

    /// Where purges are ordered.
    pub fn orders(&self) -> SyncSender<PurgeOrder> {
        self.orders.clone()
    }

    /// Sentences on what has become of the commands, and of those that were left out.
    pub fn notes(&self, left_out: u64) -> Vec<String> {
        let [done, failed] =
            [&self.shared.done, &self.shared.failed].map(|count| count.load(Ordering::Relaxed));
        let first = self.shared.first.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let failed = first.map(|first| notes::PURGES_FAILED.with(&[&failed, &(done + failed), &first]));
        let left_out = (left_out > 0).then(|| notes::PURGES_LEFT_OUT.with(&[&left_out]));
        failed.into_iter().chain(left_out).collect()
    }
}

impl Drop for Purger {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that has panicked purges no more, and the run is over.
            let _ = thread.join();
        }
    }
}

/// The beginning of the address of each object as the proxy takes it, and the host by which it is asked for.
fn places(plan: &Plan) -> (String, String) {
    let load = plan.load.as_ref();
    let target = load.and_then(|load| load.target.as_deref()).unwrap_or("").to_owned();
    let http = load.and_then(|load| load.protocol.http());
    let scheme = if http.is_some_and(|http| http.tls.is_some()) { "https" } else { "http" };
    let host = http.map_or_else(|| target.clone(), |http| http.authority.clone());
    (format!("{scheme}://{target}"), host)
}

impl Shared {
    fn work(&self) {
        while !self.over.load(Ordering::Relaxed) {
            let next = self.orders.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK_UP);
            match next {
                Ok(order) => self.carry_out(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn carry_out(&self, order: PurgeOrder) {
        let url = format!("{}{}", self.base, order.path);
        let places = [("{url}", &url), ("{path}", &order.path), ("{host}", &self.host)];
        let command =
            places.into_iter().fold(order.command.clone(), |text, (place, value)| text.replace(place, value));
        let began_us = unix_us();
        let ended = self.run(&command);
        let ended_us = unix_us();
        // What the end of the run has ended is neither done nor failed.
        if self.over.load(Ordering::Relaxed) {
            return;
        }
        match &ended {
            Ok(()) => self.done.fetch_add(1, Ordering::Relaxed),
            Err(why) => {
                let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| format!("`{command}`: {why}"));
                self.failed.fetch_add(1, Ordering::Relaxed)
            }
        };
        order.carried_out(began_us, ended_us, ended.is_ok());
    }

    /// Runs a command to its end.
    fn run(&self, command: &str) -> Result<(), String> {
        let not_run = |error: std::io::Error| format!("it cannot be run: {error}");
        let mut said = tempfile::tempfile().map_err(not_run)?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.try_clone().map_err(not_run)?)
            .process_group(0)
            .spawn()
            .map_err(not_run)?;
        match self.wait(&mut child).map_err(not_run)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(match last_line(&mut said) {
                Some(line) => format!("{status}: {line}"),
                None => status.to_string(),
            }),
            None => Err(format!("it was not over after {} s", LIMIT.as_secs())),
        }
    }

    /// Waits for its end, and makes it end where it takes too long or the run is over.
    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.over.load(Ordering::Relaxed) || Instant::now() >= until {
                let group = Pid::from_child(child);
                // It may have ended meanwhile.
                let _ = kill_process_group(group, Signal::KILL);
                return child.wait().map(|_| None);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The last line of what a command has said.
fn last_line(said: &mut File) -> Option<String> {
    let mut bytes = Vec::new();
    said.seek(SeekFrom::Start(0)).and_then(|_| said.take(SAID).read_to_end(&mut bytes)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().rfind(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
}

/// Microseconds since 1970.
fn unix_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
