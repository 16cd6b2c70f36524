//! Other processes while a run goes on: their CPU time and memory, their children's too, and who listens at a port.

use super::proc::{self, Stat};
use super::sockets::{self, Socket};
use crate::problem::Problem;
use measure::Watched;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// Time that looking for whoever listens may take: descriptors of a whole machine may be millions, and a run is to begin.
const SEARCH: Duration = Duration::from_millis(50);

/// Refuses processes that are not there.
///
/// # Errors
/// The first one that is missing.
pub fn check_pids(pids: &[u32]) -> Result<(), Problem> {
    let missing = pids.iter().find(|pid| stat(**pid).is_none());
    missing.map_or(Ok(()), |pid| {
        Err(Problem::Impossible(format!("there is no process {pid} to watch: see --watch-pid, and ps -e")))
    })
}

/// Usage of each group of processes while measuring. A group is what belongs together: a server and its children.
pub struct Watch {
    groups: Vec<Group>,
    /// The target whose processes were not found in time.
    missed: Option<SocketAddr>,
}

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
    pub fn new(ours: &[u32], asked: &[u32], target: Option<&SocketAddr>) -> Watch {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for pid in asked {
            if !groups.iter().any(|group| group.contains(pid)) {
                groups.push(vec![*pid]);
            }
        }
        if !ours.is_empty() {
            groups.insert(0, ours.to_vec());
        }
        let mut missed = None;
        if let Some(target) = target.filter(|_| groups.is_empty()) {
            match listeners(*target, Instant::now() + SEARCH) {
                Some(found) => groups.extend(Some(found).filter(|found| !found.is_empty())),
                None => missed = Some(*target),
            }
        }
        let mut watch = Watch { groups: groups.into_iter().map(Group::new).collect(), missed };
        watch.look();
        watch
    }

    /// Returns a sentence where nobody is watched since the search for them took too long.
    pub fn note(&self) -> Option<String> {
        let target = self.missed?;
        Some(format!(
            "who listens at {target} was not found in {} ms among this machine's processes, so CPU time and memory of the target are \
             not told: name it with --watch-pid",
            SEARCH.as_millis()
        ))
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

    /// An interval is over: notes what is in use now.
    pub fn sample(&mut self) {
        self.groups.iter_mut().for_each(Group::sample);
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

fn stat(pid: u32) -> Option<Stat> {
    // A name need not be UTF-8.
    proc::stat(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
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

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
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

/// The processes that listen at an address of this machine, where they may be seen: their owner and root may. Those of whoever opened
/// the socket come first, the youngest before all. None where it is ourselves; `None` where none was found until then.
fn listeners(target: SocketAddr, until: Instant) -> Option<Vec<u32>> {
    let sockets = listening(target);
    if sockets.is_empty() {
        return Some(Vec::new());
    }
    let names: BTreeSet<String> = sockets.iter().map(|socket| format!("socket:[{}]", socket.inode)).collect();
    let is_of_owner =
        |pid: u32| owner_of(pid).is_some_and(|owner| sockets.iter().any(|socket| socket.user == owner));
    let mut pids: Vec<u32> = pids().collect();
    pids.sort_by_cached_key(|pid| (!is_of_owner(*pid), Reverse(*pid)));
    let mut holders = Vec::new();
    for pid in pids {
        match holds(pid, &names, until) {
            Some(true) => holders.push(pid),
            Some(false) => {}
            None => return Some(holders).filter(|holders| !holders.is_empty()),
        }
    }
    holders.sort_unstable();
    Some(if holders.contains(&std::process::id()) { Vec::new() } else { holders })
}

fn owner_of(pid: u32) -> Option<u32> {
    Some(fs::metadata(format!("/proc/{pid}")).ok()?.uid())
}

/// The sockets that listen at an address.
fn listening(target: SocketAddr) -> Vec<Socket> {
    let fits = |local: SocketAddr| local.port() == target.port() && is_reached(local.ip(), target.ip());
    sockets::listening().into_iter().filter(|socket| fits(socket.local)).collect()
}

/// True if connections to `target` come to a socket that is bound to `bound`.
fn is_reached(bound: IpAddr, target: IpAddr) -> bool {
    bound.to_canonical() == target.to_canonical() || bound.is_unspecified()
}

/// True if a process has one of these sockets, as /proc/PID/fd names them; `None`: there was no time to find out.
fn holds(pid: u32, sockets: &BTreeSet<String>, until: Instant) -> Option<bool> {
    for descriptor in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
        if Instant::now() >= until {
            return None;
        }
        let link = fs::read_link(descriptor.path()).ok();
        if link.is_some_and(|link| link.to_str().is_some_and(|link| sockets.contains(link))) {
            return Some(true);
        }
    }
    Some(false)
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
    use std::net::{TcpListener, TcpStream};
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
        Stat { pid, parent, name: format!("p{pid}"), ticks: u64::from(pid) }
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
        let mut watch = Watch::new(&[], &[shell.id()], None);
        watch.phase(true);
        let until = Instant::now() + Duration::from_secs(60);
        let mut watched = watch.watched();
        while watched[0].cpu_s.is_none_or(|cpu_s| cpu_s < 0.05) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
            watch.sample();
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
        watch.sample();
        watch.phase(false);
        assert!(watch.cpu_s().is_some());
        let refused = check_pids(&[std::process::id(), shell.id()]).unwrap_err().to_string();
        assert!(refused.contains(&shell.id().to_string()), "{refused}");
    }

    #[test]
    fn who_listens_is_found_by_the_port_but_never_ourselves() {
        let ours = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = ours.local_addr().unwrap();
        let found = |at, time| listeners(at, Instant::now() + time);
        assert_eq!((listening(at).len(), found(at, Duration::from_secs(600))), (1, Some(Vec::new())));
        assert_eq!(listening(SocketAddr::new([127, 0, 0, 2].into(), at.port())).len(), 0);
        let anywhere = TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap();
        assert_eq!(
            listening(SocketAddr::new([127, 0, 0, 9].into(), anywhere.port())).len(),
            0,
            "it was closed"
        );
    }

    #[test]
    fn a_search_without_time_finds_nobody_and_says_so() {
        let ours = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = ours.local_addr().unwrap();
        assert_eq!(listeners(at, Instant::now()), None);
        let missed = Watch { groups: Vec::new(), missed: Some(at) };
        assert!(
            missed.note().is_some_and(|note| note.contains(&at.to_string()) && note.contains("--watch-pid"))
        );
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
