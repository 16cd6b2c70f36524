//! Use of the machine by a run, looked at once per interval from the session's thread: a few small files.

use super::judge::{TIME_WAIT_S, port_limit, port_waits_s};
use super::process::{memory_of, ports_towards};
use super::{Facts, Need, proc};
use measure::MachineUse;
use measure::machine::SCARCE;
use measure::stream::{BoundBy, MachineNow};
use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The table of all sockets is long where there are many, so it is not read more often than this.
const BETWEEN_TABLES: Duration = Duration::from_secs(5);

/// Looks at the machine while a run goes on.
pub struct Sampler {
    found: MachineUse,
    before: Counters,
    targets: Vec<SocketAddr>,
    /// True if a port in TIME_WAIT is lost for the rest of a minute; else it is as good as free.
    waiting_counts: bool,
    next: Instant,
    interval: Duration,
    table_read: Option<Instant>,
    now: MachineNow,
}

/// Counters that only grow.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    segments: u64,
    retransmits: u64,
    listen_overflows: u64,
    swapped_pages: u64,
}

impl Sampler {
    /// For a run with such needs to these addresses; the first look is due now.
    pub fn new(facts: &Facts, need: &Need, targets: &[SocketAddr], interval: Duration) -> Sampler {
        let found = MachineUse {
            descriptor_limit: facts.descriptors,
            port_limit: port_limit(facts, need).filter(|_| !targets.is_empty()),
            ..MachineUse::default()
        };
        Sampler {
            found,
            before: Counters::read(),
            targets: targets.to_vec(),
            waiting_counts: port_waits_s(facts, need) >= TIME_WAIT_S,
            next: Instant::now(),
            interval,
            table_read: None,
            now: MachineNow::default(),
        }
    }

    /// True if the next look is due; if so, the one after it is an interval later.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = now >= self.next;
        if due {
            self.next = now + self.interval;
        }
        due
    }

    /// Looks at what is in use now.
    pub fn sample(&mut self) {
        let found = &mut self.found;
        let now = &mut self.now;
        now.descriptors = descriptors();
        now.memory_bytes = memory_of(std::process::id()).unwrap_or(0);
        found.descriptors = found.descriptors.max(now.descriptors);
        found.memory_bytes = found.memory_bytes.max(now.memory_bytes);
        let sockstat = text("/proc/net/sockstat") + &text("/proc/net/sockstat6");
        let sockets = |group, name| proc::sockets(&sockstat, group, name).unwrap_or(0);
        let in_use = sockets("TCP", "inuse") + sockets("TCP6", "inuse");
        let time_wait = sockets("TCP", "tw");
        found.tcp_sockets = found.tcp_sockets.max(in_use);
        found.time_wait = found.time_wait.max(time_wait);
        (now.tcp_sockets, now.time_wait) = (in_use, time_wait);
        // Others' sockets and both ends on one machine are among these, so they only say when to look closer.
        let crowded =
            found.port_limit.is_some_and(|limit| (in_use + time_wait) as f64 > limit as f64 * SCARCE);
        if crowded && self.table_read.is_none_or(|read| read.elapsed() >= BETWEEN_TABLES) {
            let ports = ports_towards(&self.targets, self.waiting_counts);
            found.ports = found.ports.max(Some(ports));
            now.ports = Some(ports);
            self.table_read = Some(Instant::now());
        }
    }

    /// Returns the use of the machine when it was last looked at.
    pub fn now(&self) -> MachineNow {
        self.now.clone()
    }

    /// Of what this machine had too little then.
    pub fn bound(&self) -> impl Iterator<Item = BoundBy> {
        let now = &self.now;
        let found = &self.found;
        let scarce = |(ports, limit): (u64, u64)| ports as f64 > limit as f64 * SCARCE;
        let ports = now.ports.zip(found.port_limit).is_some_and(scarce);
        let descriptors = found.descriptor_limit.is_some_and(|limit| now.descriptors >= limit);
        let limits = [(ports, BoundBy::Ports), (descriptors, BoundBy::Descriptors)];
        limits.into_iter().filter(|(is_so, _)| *is_so).map(|(_, limit)| limit)
    }

    /// Returns the use that was found so far, without what the machine counted.
    pub fn used(&self) -> MachineUse {
        let swapped = Counters::read().swapped_pages.saturating_sub(self.before.swapped_pages);
        MachineUse { swapped_bytes: swapped * rustix::param::page_size() as u64, ..self.found.clone() }
    }

    /// Returns the use that was found, with what the machine counted meanwhile.
    pub fn finish(mut self) -> MachineUse {
        self.sample();
        let before = self.before;
        let now = Counters::read();
        MachineUse {
            segments: now.segments.saturating_sub(before.segments),
            retransmits: now.retransmits.saturating_sub(before.retransmits),
            listen_overflows: now.listen_overflows.saturating_sub(before.listen_overflows),
            swapped_bytes: now.swapped_pages.saturating_sub(before.swapped_pages)
                * rustix::param::page_size() as u64,
            ..self.found
        }
    }
}

impl Counters {
    fn read() -> Counters {
        let (snmp, netstat, vmstat) =
            (text("/proc/net/snmp"), text("/proc/net/netstat"), text("/proc/vmstat"));
        let tcp = |name| proc::column(&snmp, "Tcp", name).unwrap_or(0);
        let pages = |name| proc::named(&vmstat, name).unwrap_or(0);
        Counters {
            segments: tcp("OutSegs"),
            retransmits: tcp("RetransSegs"),
            listen_overflows: proc::column(&netstat, "TcpExt", "ListenOverflows").unwrap_or(0),
            swapped_pages: pages("pswpin") + pages("pswpout"),
        }
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Descriptors that this process has open. Since Linux 6.2 the folder's size is their number; before, it is counted.
fn descriptors() -> u64 {
    let folder = "/proc/self/fd";
    match fs::metadata(folder).map_or(0, |folder| folder.len()) {
        0 => fs::read_dir(folder).map_or(0, |open| open.count() as u64),
        open => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::process::listener_of_our_own;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn a_run_is_looked_at_while_it_goes_on() {
        let listener = listener_of_our_own();
        let at = listener.local_addr().unwrap();
        let facts = Facts { port_range: Some((1, 4)), ..Facts::read() };
        let need = Need::of_numbers(4, 1.0, 1.0);
        let mut sampler = Sampler::new(&facts, &need, &[at], Duration::from_secs(3600));
        assert!(sampler.is_due() && !sampler.is_due());
        let mut open: Vec<(TcpStream, TcpStream)> =
            (0..4).map(|_| (TcpStream::connect(at).unwrap(), listener.accept().unwrap().0)).collect();
        for (client, server) in &mut open {
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
        }
        sampler.sample();
        let within = sampler.found.clone();
        drop(open);
        let found = sampler.finish();
        assert!(within.descriptors >= 9 && within.tcp_sockets >= 9, "{within:?}");
        assert!(within.memory_bytes > 1 << 20 && found.segments >= 8, "{found:?}");
        assert_eq!((within.ports, found.ports, found.port_limit), (Some(4), Some(4), Some(4)));
        assert!(found.ports_reason().is_some_and(|reason| reason.contains("4 of 4 local ports")));
    }
}
