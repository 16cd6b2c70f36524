//! The thread that watches the target's processes while a run goes on.

use super::Started;
use super::place::Place;
use super::scene::{Scene, workers};
use crate::doctor::{Family, Listeners, is_left, left_behind, process};
use measure::processes::{Behind, Change, Ending, Happened, History, Process, Unknown};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Between two looks at children and at who listens.
const LOOK: Duration = Duration::from_millis(200);
/// The same while something is waited for.
const SOON: Duration = Duration::from_millis(20);
/// A look that takes long is taken more seldom: at most one part in so many of a core.
const SHARE: u32 = 100;
/// How long the parent of an ended process may take to take its status, which the kernel tells others only then.
const STATUS: Duration = Duration::from_millis(100);
/// The same where it is seen not to have taken it yet; and how long it may take then to say in its log what has ended.
const PARENT: Duration = Duration::from_secs(1);
/// Time to find who listens when that has changed.
const BUDGET: Duration = Duration::from_millis(50);
/// The same while the run goes on, on a thread that nobody waits for.
const UNHURRIED: Duration = Duration::from_secs(2);
/// How long sockets may listen that no process holds, before somebody is suspected who cannot be seen.
const CLEARING_UP: Duration = Duration::from_secs(1);
/// Processes that are waited for.
const MOST_PROCESSES: usize = 256;
/// Lines of a log that are told, and of those before them that speak of an end; their longest; how much of its end is read
/// for them.
const LOG_LINES: usize = 10;
const TELLING_LINES: usize = 4;
const LONGEST_LINE: usize = 500;
const LOG_END: u64 = 16 << 10;

/// Its state.
pub struct Watcher<'a> {
    places: Vec<Place>,
    history: History,
    family: Family,
    started: Option<&'a Started<'a>>,
    began: Instant,
    to: Sender<Happened>,
    pidfds: BTreeMap<u32, OwnedFd>,
    /// Processes whose end was seen, with its moment, and whose status is not known yet.
    ending: Vec<(u32, OwnedFd, Instant)>,
    /// Processes that have ended; their parents may not have noticed.
    ended: BTreeSet<u32>,
    /// A process that listened has ended, so who listens now has to be asked.
    ask_who_listens: bool,
    /// Since when sockets listen that no process holds.
    nobodys_since: Option<Instant>,
    next_look: Instant,
    /// The files that the target's processes run, by their numbers.
    programs: BTreeMap<u32, ProgramFile>,
}

/// A program's file: its device and its number there. That of one which was replaced on disk stays the same until it is run.
type ProgramFile = (u64, u64);

impl<'a> Watcher<'a> {
    /// Ready to watch those of a scene.
    pub fn new(
        scene: Scene,
        started: Option<&'a Started<'a>>,
        began: Instant,
        to: Sender<Happened>,
    ) -> Watcher<'a> {
        let Scene { places, history, family, .. } = scene;
        let mut watcher = Watcher {
            places,
            history,
            family,
            started,
            began,
            to,
            pidfds: BTreeMap::new(),
            ending: Vec::new(),
            ended: BTreeSet::new(),
            ask_who_listens: false,
            nobodys_since: None,
            next_look: Instant::now(),
            programs: BTreeMap::new(),
        };
        watcher.look_at_programs();
        watcher.hold();
        watcher
    }

    /// Watches until `end` can be read. Returns who answers then.
    pub fn watch(mut self, end: &OwnedFd) -> Vec<Behind> {
        while !self.wait(end) {
            self.find_endings();
            self.look();
            let at = self.began.elapsed();
            let happened = self.history.due(at);
            self.tell(happened);
        }
        self.find_endings();
        // Those that were seen last are asked to the end, as the run is over.
        while !self.ending.is_empty() {
            std::thread::sleep(SOON / 4);
            self.find_endings();
        }
        self.next_look = Instant::now();
        self.look();
        let happened = self.history.close(self.began.elapsed());
        self.tell(happened);
        self.behind()
    }

    /// Waits for an end, or until the next look is due. True: the watch is over.
    fn wait(&mut self, end: &OwnedFd) -> bool {
        let soon = self.history.is_waiting() || self.ask_who_listens || !self.ending.is_empty();
        let next = if soon { Instant::now() + SOON } else { self.next_look };
        let wait = next.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        let mut polled: Vec<PollFd<'_>> =
            self.pidfds.values().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        polled.push(PollFd::new(end, PollFlags::IN));
        // Interrupted: nothing was seen, and the next look comes at once.
        let _ = poll(&mut polled, Some(&limit));
        let over = polled.pop().is_some_and(|end| !end.revents().is_empty());
        let pids: Vec<u32> = self.pidfds.keys().copied().collect();
        let gone: Vec<u32> = pids
            .into_iter()
            .zip(&polled)
            .filter(|(_, fd)| !fd.revents().is_empty())
            .map(|(pid, _)| pid)
            .collect();
        drop(polled);
        for pid in gone {
            self.ended.insert(pid);
            self.ending.extend(self.pidfds.remove(&pid).map(|fd| (pid, fd, Instant::now())));
        }
        over
    }

    /// Asks how those ended whose ends were seen.
    fn find_endings(&mut self) {
        for (pid, fd, seen) in std::mem::take(&mut self.ending) {
            let status = self.status(pid, &fd);
            let limit = if is_left(pid) { PARENT } else { STATUS };
            if status.is_none() && seen.elapsed() < limit {
                self.ending.push((pid, fd, seen));
                continue;
            }
            let how = status.map_or(Ending::Unknown, ending);
            self.ask_who_listens |= self.history.roots().any(|root| root.pid == pid);
            self.history.ended(seen.saturating_duration_since(self.began), pid, how);
        }
    }

    fn status(&self, pid: u32, fd: &OwnedFd) -> Option<ExitStatus> {
        let ours = self.started.filter(|started| started.pid == pid);
        net::exit_status(fd.as_fd()).or_else(|| (ours?.status)()).or_else(|| left_behind(pid))
    }

    /// Looks at children and at who listens, where that is due.
    fn look(&mut self) {
        let begins = Instant::now();
        let waits = self.history.is_waiting() || self.ask_who_listens;
        if begins < self.next_look && !waits {
            return;
        }
        let roots: Vec<u32> = self.history.roots().map(|root| root.pid).collect();
        let listeners: Vec<Listeners> = self.places.iter().filter_map(Place::listeners).cloned().collect();
        // One that is listed no more may be a new process some day.
        self.ended.retain(|pid| Path::new(&format!("/proc/{pid}")).exists());
        let members = self.family.look(&roots, &self.ended, &listeners);
        self.history.look(self.began.elapsed(), &members);
        self.look_at_programs();
        self.look_who_listens();
        self.hold();
        self.next_look = begins + LOOK.max(begins.elapsed() * SHARE);
    }

    /// Sees who runs another file than before: `exec` changes neither the process's number nor its sockets.
    fn look_at_programs(&mut self) {
        let roots = self.history.roots().map(|root| root.pid);
        let workers = self.history.established(self.began.elapsed());
        let pids: Vec<u32> = roots.chain(workers).take(MOST_PROCESSES).collect();
        self.programs.retain(|pid, _| pids.contains(pid));
        for pid in pids {
            let Some(file) = program_file(pid) else { continue };
            let before = self.programs.insert(pid, file);
            if before.is_some_and(|before| before != file)
                && let Some(now) = process(pid)
            {
                self.history.became(self.began.elapsed(), now);
            }
        }
    }

    fn look_who_listens(&mut self) {
        let ask = std::mem::take(&mut self.ask_who_listens);
        for number in 0..self.places.len() {
            if self.places[number].has_changed() || ask {
                let place = self.places[number].clone();
                match self.owners(&place) {
                    Some(processes) => self.history.listen(self.began.elapsed(), &place.name(), &processes),
                    None => self.ask_who_listens = true,
                }
            }
        }
    }

    /// Processes that answer at a place. `None`: that will be known soon.
    fn owners(&mut self, place: &Place) -> Option<Vec<Process>> {
        let likely: Vec<u32> = self.history.pids().collect();
        let pids = match place.owners(&likely, UNHURRIED) {
            Ok(pids) => pids,
            Err(Unknown::NobodyHere) => return Some(Vec::new()),
            // The kernel clears up after a process that has died: its io_uring may listen a little longer than itself.
            Err(Unknown::OutOfSight)
                if self.nobodys_since.get_or_insert_with(Instant::now).elapsed() < CLEARING_UP =>
            {
                return None;
            }
            Err(_) => {
                let name = "a process that cannot be seen".to_owned();
                return Some(vec![Process { name, ..Process::default() }]);
            }
        };
        self.nobodys_since = None;
        let known = |pid: &u32| self.history.roots().find(|root| root.pid == *pid).cloned();
        Some(pids.iter().filter_map(|pid| known(pid).or_else(|| process(*pid))).collect())
    }

    /// Takes hold of processes that came, so that their ends will be seen.
    fn hold(&mut self) {
        let wanted: Vec<u32> = self.history.pids().collect();
        self.pidfds.retain(|pid, _| wanted.contains(pid));
        for pid in wanted {
            if self.pidfds.len() >= MOST_PROCESSES
                || self.pidfds.contains_key(&pid)
                || self.ended.contains(&pid)
            {
                continue;
            }
            let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
            match number.map(|number| pidfd_open(number, PidfdFlags::empty())) {
                Some(Ok(fd)) => drop(self.pidfds.insert(pid, fd)),
                Some(Err(rustix::io::Errno::SRCH)) => {
                    self.ended.insert(pid);
                    self.history.ended(self.began.elapsed(), pid, Ending::Unknown);
                }
                // One that cannot be held is only seen by who listens.
                Some(Err(_)) | None => {}
            }
        }
    }

    fn tell(&self, happened: Vec<Happened>) {
        for mut happened in happened {
            if let Some(started) =
                self.started.filter(|started| happened.fatal && started.pid == happened.process.pid)
            {
                if let Change::WorkerEnded { worker, .. } = happened.change {
                    wait_for_parent(worker);
                }
                happened.log = last_lines(&started.logs);
            }
            // A session that has ended hears no more.
            let _ = self.to.send(happened);
        }
    }

    fn behind(&self) -> Vec<Behind> {
        let of = |place: &Place| {
            let found = place.owners(&self.history.pids().collect::<Vec<u32>>(), BUDGET);
            let known = |pid: &u32| self.history.roots().find(|root| root.pid == *pid).cloned();
            let pids = found.as_ref().cloned().unwrap_or_default();
            let processes = pids.iter().filter_map(|pid| known(pid).or_else(|| process(*pid))).collect();
            let mut behind = Behind { address: place.name(), processes, workers: 0, unknown: found.err() };
            behind.workers = workers(&self.history, &behind);
            behind
        };
        self.places.iter().map(of).collect()
    }
}

/// The file that a process runs; `None`: it is gone, or not ours to look at.
fn program_file(pid: u32) -> Option<ProgramFile> {
    let file = std::fs::metadata(format!("/proc/{pid}/exe")).ok()?;
    Some((file.dev(), file.ino()))
}

fn ending(status: ExitStatus) -> Ending {
    match (status.signal(), status.code()) {
        (Some(signal), _) => Ending::Signal(signal),
        (None, Some(code)) => Ending::Code(code),
        (None, None) => Ending::Unknown,
    }
}

/// Waits until the parent of an ended process has taken its status, and has had a moment to write what it says of it. A busy
/// one takes its time.
fn wait_for_parent(pid: u32) {
    for _ in 0..PARENT.as_millis() / SOON.as_millis() {
        if !is_left(pid) {
            break;
        }
        std::thread::sleep(SOON);
    }
    std::thread::sleep(SOON);
}

/// Words of lines that tell why a process ended.
const TELLING: [&str; 6] = ["signal", "panic", "assert", "fatal", "died", "exited"];

/// The last lines of what files say, and before them the last ones that tell why a process ended.
fn last_lines(files: &[std::path::PathBuf]) -> Vec<String> {
    let text: String = files.iter().filter_map(|file| end_of(file)).collect();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(LOG_LINES));
    let tells = |line: &&&str| TELLING.iter().any(|word| line.to_ascii_lowercase().contains(word));
    let telling: Vec<&&str> = before.iter().filter(tells).collect();
    let telling = telling[telling.len().saturating_sub(TELLING_LINES)..].iter().copied();
    telling.chain(last).map(|line| line.chars().take(LONGEST_LINE).collect()).collect()
}

fn end_of(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END))).ok()?;
    let mut bytes = Vec::new();
    file.take(LOG_END).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
