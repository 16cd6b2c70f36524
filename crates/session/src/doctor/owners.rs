//! Who listens at an address of this machine: the kernel names the sockets at once, but not their processes, whose descriptors
//! have to be read. That is done in little time: the newest processes first, the first descriptors of each before the others, and
//! no further than until somebody is found.

use super::proc::{self, Stat};
use super::sockets::{self, Socket};
use measure::processes::Unknown;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Servers listen early, so their sockets are among the first descriptors.
const FIRST: usize = 64;

/// Sockets that connections to an address come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listeners {
    /// By their numbers.
    inodes: BTreeSet<u32>,
    /// User that made them.
    uid: u32,
}

impl Listeners {
    /// Sockets that answer at an address now. `datagrams`: those of QUIC are meant, too.
    pub fn at(target: SocketAddr, datagrams: bool) -> Listeners {
        let mut found = sockets::listening(target.port());
        if datagrams {
            found.extend(sockets::datagrams(target.port()));
        }
        let exact: Vec<Socket> = found
            .iter()
            .filter(|socket| socket.local.ip().to_canonical() == target.ip().to_canonical())
            .copied()
            .collect();
        // Who is bound to the address itself comes before those that are bound to all.
        let reached = if exact.is_empty() {
            found.into_iter().filter(|socket| takes_all(socket.local.ip(), target.ip())).collect()
        } else {
            exact
        };
        let uid = reached.first().map_or(0, |socket| socket.uid);
        Listeners { inodes: reached.iter().map(|socket| socket.inode).collect(), uid }
    }

    /// True if nobody listens.
    pub fn is_empty(&self) -> bool {
        self.inodes.is_empty()
    }

    /// Processes that hold the sockets and were not started by others that do. `likely`: who is looked at first.
    ///
    /// # Errors
    /// Why nobody is known.
    pub fn owners(&self, likely: &[u32], budget: Duration) -> Result<Vec<u32>, Unknown> {
        if self.is_empty() {
            return Err(Unknown::NobodyHere);
        }
        let own = std::process::id();
        if self.held_by(own, usize::MAX).is_some_and(|held| !held.inodes.is_empty()) {
            return Err(Unknown::Ourselves);
        }
        let mut search = Search {
            listeners: self,
            missing: self.inodes.clone(),
            owners: BTreeSet::new(),
            looked_at: 0,
            hidden: 0,
        };
        let until = Instant::now() + budget;
        let mut newest: Vec<u32> = pids().filter(|pid| *pid != own).collect();
        newest.sort_unstable_by(|a, b| b.cmp(a));
        let order = likely.iter().copied().chain(newest.iter().copied());
        let many = search.look(order, FIRST, until);
        search.look(many.into_iter(), usize::MAX, until);
        match () {
            () if !search.owners.is_empty() => Ok(search.owners.into_iter().collect()),
            () if Instant::now() >= until => Err(Unknown::NotFound { looked_at: search.looked_at }),
            () if search.hidden > 0 => Err(Unknown::AnotherUser { uid: self.uid }),
            () => Err(Unknown::OutOfSight),
        }
    }

    /// True if a process listens, as far as its first descriptors show.
    pub fn are_held_by(&self, pid: u32) -> bool {
        self.held_by(pid, FIRST).is_some_and(|held| !held.inodes.is_empty())
    }

    /// True if a process listens, all its descriptors looked at; `None`: it may not be looked at.
    pub fn are_owned_by(&self, pid: u32) -> Option<bool> {
        self.held_by(pid, usize::MAX).map(|held| !held.inodes.is_empty())
    }

    /// Those of the sockets that a process has among so many descriptors; `None`: it may not be looked at.
    fn held_by(&self, pid: u32, descriptors: usize) -> Option<HeldSockets> {
        let mut entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
        let inode = |entry: fs::DirEntry| {
            let link = fs::read_link(entry.path()).ok()?;
            let number = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
            self.inodes.contains(&number).then_some(number)
        };
        let inodes = entries.by_ref().take(descriptors).filter_map(inode).collect();
        Some(HeldSockets { inodes, more: entries.next().is_some() })
    }
}

/// Sockets that a process holds, as far as its descriptors were read.
struct HeldSockets {
    inodes: Vec<u32>,
    /// It has more descriptors.
    more: bool,
}

/// True if a socket that is bound to all addresses gets connections to `target`.
fn takes_all(bound: IpAddr, target: IpAddr) -> bool {
    // Unless it is told otherwise, one of IPv6 takes those of IPv4 as well.
    bound.is_unspecified() && (bound.is_ipv6() || target.to_canonical().is_ipv4())
}

/// A search under way.
struct Search<'a> {
    listeners: &'a Listeners,
    /// Sockets whose process is not known yet.
    missing: BTreeSet<u32>,
    owners: BTreeSet<u32>,
    looked_at: u32,
    /// Processes that may not be looked at.
    hidden: u32,
}

impl Search<'_> {
    /// Looks at so many descriptors of each process until all is found or the time is up. Returns those that have more.
    fn look(&mut self, pids: impl Iterator<Item = u32>, descriptors: usize, until: Instant) -> Vec<u32> {
        let mut many = Vec::new();
        for pid in pids {
            if self.missing.is_empty() || Instant::now() >= until {
                break;
            }
            let Some(held) = self.listeners.held_by(pid, descriptors) else {
                // A process that has ended meanwhile is not hidden.
                self.hidden += u32::from(fs::metadata(format!("/proc/{pid}")).is_ok());
                continue;
            };
            self.looked_at += 1;
            if held.inodes.is_empty() {
                many.extend(held.more.then_some(pid));
                continue;
            }
            self.missing.retain(|inode| !held.inodes.contains(inode));
            self.owners.insert(self.first_holder(pid));
        }
        many
    }

    /// The one of a process's ancestors that began to listen.
    fn first_holder(&self, mut pid: u32) -> u32 {
        while let Some(parent) = parent(pid).filter(|parent| self.listeners.are_held_by(*parent)) {
            // A service manager listens in the place of services that it starts when somebody comes.
            if parent == 1 && !is_same_file(parent, pid) {
                break;
            }
            pid = parent;
        }
        pid
    }
}

/// The process that started another one, or took it over; `None`: there is none, or the process is gone.
pub(super) fn parent(pid: u32) -> Option<u32> {
    let stat = stat(pid)?;
    (stat.parent > 0).then_some(stat.parent)
}

/// True if two processes run the same program, as far as that may be seen.
pub fn is_same_file(one: u32, other: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |pid| fs::metadata(format!("/proc/{pid}/exe")).map(|file| (file.dev(), file.ino())).ok();
    let name = |pid| fs::read(format!("/proc/{pid}/comm")).ok();
    match (file(one), file(other)) {
        (Some(one), Some(other)) => one == other,
        _ => name(one).is_some_and(|one| Some(one) == name(other)),
    }
}

/// Bytes of a process's line of figures, at most: its name has sixteen, and each of some fifty figures up to twenty.
const LONGEST_STAT: usize = 2048;

/// The figures of a process; `None`: it is gone. Read at once, since a search reads that of every process.
pub(super) fn stat(pid: u32) -> Option<Stat> {
    let mut line = [0; LONGEST_STAT];
    let length =
        fs::File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read(&mut line)).ok()?;
    // A name need not be UTF-8.
    proc::stat(&String::from_utf8_lossy(&line[..length]))
}

/// All processes that can be seen.
pub fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::process::listener_of_our_own;
    use std::net::TcpListener;
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn who_is_bound_to_the_address_itself_comes_before_those_bound_to_all() {
        let all = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = all.local_addr().unwrap().port();
        let [.., a, b, c] = (std::process::id() | 0x40_0001).to_be_bytes();
        let at = SocketAddr::from(([127, a, b, c], port));
        let inode = |listener: &TcpListener| {
            use std::os::unix::fs::MetadataExt;
            rustix::fs::fstat(listener.as_fd())
                .map(|file| file.st_ino as u32)
                .unwrap_or_else(|_| fs::metadata("/").unwrap().ino() as u32)
        };
        assert_eq!(Listeners::at(at, false).inodes, [inode(&all)].into());
        let exact = TcpListener::bind(at);
        // Linux refuses it where the first one does not allow it.
        if let Ok(exact) = exact {
            assert_eq!(Listeners::at(at, false).inodes, [inode(&exact)].into());
        }
        for (bound, target, taken) in [
            ("0.0.0.0", "127.0.0.1", true),
            ("::", "127.0.0.1", true),
            ("::", "::1", true),
            ("0.0.0.0", "::1", false),
            ("127.0.0.2", "127.0.0.1", false),
        ] {
            assert_eq!(takes_all(bound.parse().unwrap(), target.parse().unwrap()), taken, "{bound} {target}");
        }
    }

    #[test]
    fn the_listener_s_process_is_found_and_never_ourselves() {
        let listener = listener_of_our_own();
        let at = listener.local_addr().unwrap();
        assert_eq!(Listeners::at(at, false).owners(&[], LONG), Err(Unknown::Ourselves));
        // A child that is all that has it.
        let socket = listener.as_fd().try_clone_to_owned().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", "read line"])
            .stdin(Stdio::piped())
            .stderr(socket)
            .spawn()
            .unwrap();
        drop(listener);
        let listeners = Listeners::at(at, false);
        let found = listeners.owners(&[], LONG);
        let nobody = listeners.owners(&[], Duration::ZERO);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(found, Ok(vec![child.id()]));
        assert_eq!(nobody, Err(Unknown::NotFound { looked_at: 0 }));
        assert_eq!(Listeners::at(at, false).owners(&[], LONG), Err(Unknown::NobodyHere));
    }
}
