//! The target's processes while something presses: what they hold, and counters of this machine.

use decide::stress::{Counters, Resources};
use session::doctor::{Listeners, Watch as Family};
use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is looked.
const EVERY: Duration = Duration::from_millis(500);
/// Whoever listens is looked for so long.
const LOOK_FOR: Duration = Duration::from_secs(1);
/// States of sockets in /proc/net/tcp.
const ESTABLISHED: &str = "01";
const TIME_WAIT: &str = "06";
const CLOSE_WAIT: &str = "08";

/// The target, as it can be watched from here.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Its first processes; those that descend from them belong to it.
    pub roots: Vec<u32>,
    /// It runs on this machine.
    pub is_here: bool,
    /// Its port.
    pub port: u16,
    /// The origin's, as the target reaches it.
    pub origin: SocketAddr,
}

/// The most of each, and counters, over some time.
#[derive(Debug, Default)]
pub struct Watched {
    /// The most of each resource.
    pub most: Resources,
    /// Counters.
    pub counters: Counters,
}

/// Sockets that matter.
#[derive(Debug, Default, PartialEq)]
struct Sockets {
    clients: u64,
    /// Ends of clients on this machine that are still there.
    alive: u64,
    close_wait: u64,
    origin: u64,
    origin_time_wait: u64,
}

impl Watch {
    /// The target at an address, `HOST:PORT`. `roots`: its first processes, where they are known; otherwise whoever listens there.
    pub fn of(target: &str, roots: Vec<u32>, origin: SocketAddr) -> Watch {
        let address = target.to_socket_addrs().ok().and_then(|mut all| all.next());
        let here = address.filter(|address| session::doctor::is_here(address.ip()));
        let listeners = || Listeners::at(here?, false).owners(&[], LOOK_FOR).ok();
        let roots = if roots.is_empty() { listeners().unwrap_or_else(Vec::new) } else { roots };
        Watch { roots, is_here: here.is_some(), port: address.map_or(0, |address| address.port()), origin }
    }

    /// Resources that it holds now.
    pub fn held(&self) -> Resources {
        let pids = self.pids();
        let sum =
            |of: &dyn Fn(u32) -> Option<u64>| pids.iter().filter_map(|pid| of(*pid)).reduce(|a, b| a + b);
        let descriptors: Vec<u64> = pids.iter().filter_map(|pid| descriptors(*pid)).collect();
        let sockets = self.sockets();
        Resources {
            descriptors: sum(&descriptors_of),
            descriptor_limit: pids.iter().filter_map(|pid| limit(*pid)).min(),
            most_descriptors: descriptors.into_iter().max(),
            memory_bytes: sum(&memory),
            threads: sum(&threads),
            clients: self.is_here.then_some(sockets.clients.saturating_sub(sockets.alive)),
            close_wait: self.is_here.then_some(sockets.close_wait),
            origin: self.is_here.then_some(sockets.origin),
        }
    }

    /// Processes that belong to it now.
    pub fn pids(&self) -> Vec<u32> {
        if self.roots.is_empty() { Vec::new() } else { Family::new(&[], &self.roots, Vec::new()).pids() }
    }

    fn sockets(&self) -> Sockets {
        let mut found = Sockets::default();
        for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let text = fs::read_to_string(file).unwrap_or_else(|_| String::new());
            add_sockets(&mut found, &text, self.port, self.origin.port());
        }
        found
    }

    /// Watches until the flag is set.
    pub fn until(&self, over: &AtomicBool) -> Watched {
        let began = Instant::now();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = self.thread_ticks();
        let overflows = listen_overflows();
        let mut watched = Watched::default();
        while !over.load(Ordering::Relaxed) {
            watched.take(&self.held(), self.sockets().origin_time_wait);
            let next = Instant::now() + EVERY;
            while Instant::now() < next && !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let seconds = began.elapsed().as_secs_f64().max(1e-3);
        let per_second = rustix::param::clock_ticks_per_second() as f64 * seconds;
        let now = self.thread_ticks();
        let used = |(thread, ticks): (&(u32, u32), &u64)| {
            ticks.saturating_sub(threads.get(thread).copied().unwrap_or(0)) as f64 / per_second
        };
        let shares: Vec<f64> = now.iter().map(used).collect();
        watched.counters.cores = cores as f64;
        watched.counters.cores_used = (!shares.is_empty()).then(|| shares.iter().sum());
        watched.counters.busiest_thread = shares.iter().copied().reduce(f64::max);
        watched.counters.listen_overflows =
            listen_overflows().zip(overflows).map(|(after, before)| after.saturating_sub(before));
        watched
    }

    /// Ticks of CPU that each thread has used.
    fn thread_ticks(&self) -> BTreeMap<(u32, u32), u64> {
        let mut ticks = BTreeMap::new();
        for pid in self.pids() {
            for thread in numbers(&format!("/proc/{pid}/task")) {
                let stat = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).ok();
                ticks.extend(stat.as_deref().and_then(cpu_ticks).map(|used| ((pid, thread), used)));
            }
        }
        ticks
    }
}

impl Watched {
    fn take(&mut self, held: &Resources, origin_time_wait: u64) {
        let most = &mut self.most;
        let pairs = [
            (&mut most.descriptors, held.descriptors),
            (&mut most.most_descriptors, held.most_descriptors),
            (&mut most.memory_bytes, held.memory_bytes),
            (&mut most.threads, held.threads),
            (&mut most.clients, held.clients),
            (&mut most.close_wait, held.close_wait),
            (&mut most.origin, held.origin),
        ];
        pairs.into_iter().for_each(|(most, now)| *most = (*most).max(now));
        most.descriptor_limit = held.descriptor_limit.or(most.descriptor_limit);
        let waiting = &mut self.counters.origin_time_wait;
        *waiting = (*waiting).max(Some(origin_time_wait));
    }
}

/// Names in a folder that are numbers.
fn numbers(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn descriptors(pid: u32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64)
}

fn descriptors_of(pid: u32) -> Option<u64> {
    descriptors(pid)
}

fn limit(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn memory(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

fn threads(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}

/// User and system time of a thread's stat. Its name may hold anything, so what is read stands behind it.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Connections of this machine that found an accept queue full, or were dropped there.
fn listen_overflows() -> Option<u64> {
    let text = fs::read_to_string("/proc/net/netstat").ok()?;
    overflows(&text)
}

fn overflows(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let names = lines.next()?;
    let values = lines.next()?;
    let wanted = |name: &str| matches!(name, "ListenOverflows" | "ListenDrops");
    let pairs = names.split_whitespace().zip(values.split_whitespace());
    pairs
        .filter(|(name, _)| wanted(name))
        .filter_map(|(_, value)| value.parse::<u64>().ok())
        .reduce(|a, b| a + b)
}

fn add_sockets(found: &mut Sockets, text: &str, port: u16, origin: u16) {
    for line in text.lines().skip(1) {
        let mut words = line.split_whitespace().skip(1);
        let (Some(local), Some(remote), Some(state)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let is_ours = port_of(local) == Some(port);
        let to_origin = port_of(remote) == Some(origin);
        match state {
            ESTABLISHED if is_ours => found.clients += 1,
            CLOSE_WAIT if is_ours => {
                found.clients += 1;
                found.close_wait += 1;
            }
            ESTABLISHED if port_of(remote) == Some(port) => found.alive += 1,
            ESTABLISHED if to_origin => found.origin += 1,
            TIME_WAIT if to_origin => found.origin_time_wait += 1,
            _ => {}
        }
    }
}

fn port_of(address: &str) -> Option<u16> {
    u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_tells_is_read() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 20 300\nIpExt: X\nIpExt: 5\n";
        assert_eq!(overflows(text), Some(320));
        assert_eq!(cpu_ticks("7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13"), Some(23));
        let mut found = Sockets::default();
        let text = "  sl  local_address rem_address   st\n   0: 0100007F:1F90 0100007F:C001 01 x\n   1: 0100007F:1F90 0100007F:C002 08 x\n   \
                    5: 0100007F:C001 0100007F:1F90 01 x\n   2: 0100007F:C003 0100007F:2378 01 x\n   3: 0100007F:C004 0100007F:2378 06 x\n   4: 0100007F:2378 0100007F:C003 01 x\n";
        add_sockets(&mut found, text, 8080, 9080);
        let expected = Sockets { clients: 2, alive: 1, close_wait: 1, origin: 1, origin_time_wait: 1 };
        assert_eq!(found, expected);
    }
}
