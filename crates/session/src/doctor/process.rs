//! Other processes while a run goes on: their CPU time and memory, and their children's too.

use super::owners::{pids, stat};
use super::proc::{self, Stat};
use super::sockets;
use crate::problem::Problem;
use measure::Watched;
use measure::dearer::Used;
use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// Refuses processes that are not there.
///
/// # Errors
/// The first one that is missing.
pub fn check_pids(pids: &[u32]) -> Result<(), Problem> {
    let missing = pids.iter().find(|pid| stat(**pid).is_none());
    missing.map_or(Ok(()), |pid| {
        Err(Problem::Impossible(format!("there is no process {pid} to watch: ps -e lists those that run")))
    })
}

/// Usage of each group of processes while measuring. A group is what belongs together: a server and its children.
pub struct Watch {
    groups: Vec<Group>,
    /// Usage of the first group, the target, at each look; fewer of them the longer it is watched.
    course: Vec<Used>,
    /// Looks that are left out between two of these, and since the last one.
    left_out: (u32, u32),
}

/// Looks whose findings are kept at most.
const MOST_LOOKS: usize = 4_096;

/// Processes that are told of as one.
struct Group {
    roots: Vec<u32>,
    /// The processes as last seen.
    seen: Vec<Stat>,
    since: Option<u64>,
    used: Option<u64>,
    memory_bytes: u64,
}

impl Watch {
    /// Of what wringer started itself (`ours`) and what was asked for; where there is neither, of whoever listens at the
    /// target on this machine.
    pub fn new(ours: &[u32], asked: &[u32], listeners: Vec<u32>) -> Watch {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for pid in asked {
            if !groups.iter().any(|group| group.contains(pid)) {
                groups.push(vec![*pid]);
            }
        }
        if !ours.is_empty() {
            groups.insert(0, ours.to_vec());
        }
        if groups.is_empty() && !listeners.is_empty() {
            groups.push(listeners);
        }
        let groups = groups.into_iter().map(Group::new).collect();
        let mut watch = Watch { groups, course: Vec::new(), left_out: (0, 0) };
        watch.look();
        watch
    }

    /// The processes as last seen.
    pub fn pids(&self) -> Vec<u32> {
        self.groups.iter().flat_map(|group| group.seen.iter().map(|process| process.pid)).collect()
    }

    /// A phase goes on, measured or not.
    pub fn phase(&mut self, measured: bool) {
        if self.groups.iter().all(|group| group.since.is_some() == measured) {
            return;
        }
        self.look();
        self.groups.iter_mut().for_each(|group| group.phase(measured));
    }

    /// Finds out anew who belongs to whom. A group's process that descends from another one's counts for its own only.
    fn look(&mut self) {
        let all = everybody();
        let roots: BTreeSet<u32> = self.groups.iter().flat_map(|group| group.roots.iter().copied()).collect();
        self.groups.iter_mut().for_each(|group| group.look(&all, &roots));
    }

    /// An interval is over so long after the start of the run: notes what is in use now.
    pub fn sample(&mut self, since_start: Duration) {
        self.groups.iter_mut().for_each(Group::sample);
        let (between, passed) = self.left_out;
        self.left_out.1 = if passed >= between { 0 } else { passed + 1 };
        if let Some(target) =
            self.groups.first().filter(|target| passed >= between && !target.seen.is_empty())
        {
            self.course.push(target.used_at(since_start));
        }
        if self.course.len() >= MOST_LOOKS {
            let mut even = false;
            self.course.retain(|_| {
                even = !even;
                even
            });
            self.left_out.0 = 2 * between + 1;
        }
    }

    /// Usage of the target, as time went on.
    pub fn course(&self) -> &[Used] {
        &self.course
    }

    /// Returns the usage, group by group.
    pub fn watched(&self) -> Vec<Watched> {
        self.groups.iter().filter(|group| !group.seen.is_empty()).map(Group::watched).collect()
    }

    /// CPU seconds of all of them while measuring, where they could be read.
    pub fn cpu_s(&self) -> Option<f64> {
        self.watched().iter().filter_map(|watched| watched.cpu_s).reduce(|a, b| a + b)
    }
}

impl Group {
    fn new(roots: Vec<u32>) -> Group {
        Group { roots, seen: Vec::new(), since: None, used: None, memory_bytes: 0 }
    }

    /// Finds out anew who belongs to it; when nobody is left, what was last seen stays.
    fn look(&mut self, all: &[Stat], roots: &BTreeSet<u32>) {
        let found = tree(&self.roots, all, roots);
        if !found.is_empty() {
            self.seen = found;
        }
        self.note_memory();
    }

    /// Reads again those who belonged to it.
    fn sample(&mut self) {
        let found: Vec<Stat> = self.seen.iter().filter_map(|seen| stat(seen.pid)).collect();
        // Who ends leaves its time to its parent; only where all end at once nothing is left to read.
        if !found.is_empty() {
            self.seen = found;
        }
        self.note_memory();
    }

    fn note_memory(&mut self) {
        let memory = self.seen.iter().filter_map(|process| memory_of(process.pid)).sum();
        self.memory_bytes = self.memory_bytes.max(memory);
    }

    fn used_at(&self, since_start: Duration) -> Used {
        Used {
            at_s: since_start.as_secs_f64(),
            cpu_s: self.ticks() as f64 / rustix::param::clock_ticks_per_second() as f64,
            memory_bytes: self.seen.iter().filter_map(|process| memory_of(process.pid)).sum(),
            processes: self.seen.len() as u32,
        }
    }

    fn ticks(&self) -> u64 {
        self.seen.iter().map(|process| process.ticks).sum()
    }

    fn phase(&mut self, measured: bool) {
        match (measured, self.since) {
            (true, None) => self.since = Some(self.ticks()),
            (false, Some(since)) => {
                self.used = Some(self.used.unwrap_or(0) + self.ticks().saturating_sub(since));
                self.since = None;
            }
            _ => {}
        }
    }

    fn watched(&self) -> Watched {
        let first = self.seen.iter().find(|process| self.roots.contains(&process.pid)).or(self.seen.first());
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        Watched {
            name: first.map_or_else(String::new, |process| {
                program(process.pid).unwrap_or_else(|| process.name.clone())
            }),
            pid: first.map_or(0, |process| process.pid),
            processes: self.seen.len() as u32,
            cpu_s: self.used.map(|ticks| ticks as f64 / per_second),
            memory_bytes: self.memory_bytes,
        }
    }
}

/// Resident memory in bytes.
pub fn memory_of(pid: u32) -> Option<u64> {
    let (_, resident) = proc::pair(&fs::read_to_string(format!("/proc/{pid}/statm")).ok()?)?;
    Some(resident * rustix::param::page_size() as u64)
}

/// The name of its program's file. What /proc/PID/stat says instead is the name of its first thread, which may be any:
/// `cache-main` of varnishd, `[TS_MAIN]` of Traffic Server.
fn program(pid: u32) -> Option<String> {
    let file = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = file.file_name()?.to_string_lossy().into_owned();
    Some(name.strip_suffix(" (deleted)").map_or(name.clone(), str::to_owned))
}

/// All processes that can be read.
fn everybody() -> Vec<Stat> {
    pids().filter_map(stat).collect()
}

/// The roots and all that descend from them, without ourselves and without `others`, which have a tree of their own.
fn tree(roots: &[u32], all: &[Stat], others: &BTreeSet<u32>) -> Vec<Stat> {
    let own = std::process::id();
    let mut members: BTreeSet<u32> = roots.iter().copied().collect();
    loop {
        let before = members.len();
        let free = |process: &&Stat| process.pid != own && !others.contains(&process.pid);
        let children = all.iter().filter(free).filter(|process| members.contains(&process.parent));
        members.extend(children.map(|process| process.pid).collect::<Vec<_>>());
        if members.len() == before {
            break;
        }
    }
    all.iter().filter(|process| members.contains(&process.pid)).cloned().collect()
}

/// The status that an ended process has left for its parent, which has not taken it yet; `None` also where it may not be seen.
pub fn left_behind(pid: u32) -> Option<ExitStatus> {
    let left = stat(pid)?.left.map(ExitStatus::from_raw)?;
    // Others are shown 0, whatever it is.
    let own = rustix::process::geteuid();
    let owner = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    (own.is_root() || own.as_raw() == owner).then_some(left)
}

/// True if an ended process has left a status that its parent has not taken.
pub fn is_left(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.left.is_some())
}

/// Local ports in use towards targets, those in TIME_WAIT only where `waiting` ones count.
pub fn ports_towards(targets: &[SocketAddr], waiting: bool) -> u64 {
    let found = targets.iter().flat_map(|target| sockets::towards(*target));
    found.filter(|socket| waiting || !socket.waits).count() as u64
}

/// A listener whose address no other test has had: on 127.0.0.1 a port may still be met in the TIME_WAIT of somebody's
/// client that had it before.
#[cfg(test)]
pub(super) fn listener_of_our_own() -> std::net::TcpListener {
    let [.., a, b, c] = (std::process::id() | 0x40_0001).to_be_bytes();
    std::net::TcpListener::bind((std::net::Ipv4Addr::new(127, a, b, c), 0)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpStream;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn a_program_is_called_by_its_file_whatever_its_threads_are_called() {
        let sleeper = Command::new("bash").args(["-c", "exec -a [TS_MAIN] sleep 60"]).spawn();
        let mut sleeper = sleeper.unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let is_there = |name: &Option<String>| name.as_deref().is_some_and(|name| name != "bash");
        let mut name = program(sleeper.id());
        while !is_there(&name) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            name = program(sleeper.id());
        }
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        // Where one program is many, it is that one's name.
        assert!(name.as_deref().is_some_and(|name| !name.contains("TS_MAIN") && name != "bash"), "{name:?}");
        assert_eq!(program(0), None);
    }

    fn process(pid: u32, parent: u32) -> Stat {
        Stat { pid, parent, name: format!("p{pid}"), ticks: u64::from(pid), started: 0, left: None }
    }

    #[test]
    fn a_tree_holds_children_s_children_and_not_ourselves() {
        let own = std::process::id();
        let all = [process(30, 20), process(10, 1), process(20, 10), process(40, 2), process(own, 10)];
        let found = |roots: &[u32], others: &[u32]| -> Vec<u32> {
            tree(roots, &all, &others.iter().copied().collect()).iter().map(|process| process.pid).collect()
        };
        assert_eq!(found(&[10], &[]), [30, 10, 20]);
        assert_eq!((found(&[10], &[10, 20]), found(&[20], &[10, 20])), (vec![10], vec![30, 20]));
        assert_eq!(found(&[11], &[]), Vec::<u32>::new());
    }

    /// A shell that keeps a child of its own busy; ends with its standard input.
    #[test]
    fn a_busy_child_s_time_and_memory_count() {
        let mut shell = Command::new("bash")
            .args(["-c", "(while :; do :; done) & busy=$!; read -r; kill $busy; wait"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut watch = Watch::new(&[], &[shell.id()], Vec::new());
        watch.phase(true);
        let until = Instant::now() + Duration::from_secs(60);
        let mut watched = watch.watched();
        while watched[0].cpu_s.is_none_or(|cpu_s| cpu_s < 0.05) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
            watch.sample(Duration::from_secs(1));
            watch.phase(false);
            watched = watch.watched();
            watch.phase(true);
        }
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!((watched[0].name.as_str(), watched[0].pid, watched[0].processes), ("bash", shell.id(), 2));
        assert!(watched[0].memory_bytes > 100_000 && watch.cpu_s().is_some(), "{watched:?}");
        assert!(watched[0].cpu_s.is_some_and(|cpu_s| cpu_s >= 0.05), "{watched:?}");
        // It has ended: what was seen of it stays, and it can no longer be asked for.
        watch.sample(Duration::from_secs(1));
        watch.phase(false);
        assert!(watch.cpu_s().is_some());
        let refused = check_pids(&[std::process::id(), shell.id()]).unwrap_err().to_string();
        assert!(refused.contains(&shell.id().to_string()), "{refused}");
    }

    #[test]
    fn ports_towards_a_target_are_counted() {
        let listener = listener_of_our_own();
        let at = listener.local_addr().unwrap();
        let connect = || (TcpStream::connect(at).unwrap(), listener.accept().unwrap().0);
        let mut open: Vec<(TcpStream, TcpStream)> = (0..3).map(|_| connect()).collect();
        assert_eq!((ports_towards(&[at], true), ports_towards(&[at], false)), (3, 3));
        // Whoever closes first waits.
        let (client, mut server) = open.pop().unwrap();
        drop(client);
        assert_eq!(server.read(&mut [0]).unwrap(), 0);
        drop(server);
        assert_eq!((ports_towards(&[at], true), ports_towards(&[at], false)), (3, 2));
    }
}
