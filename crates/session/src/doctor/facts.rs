//! Facts about this machine: plain values, read from /proc and /sys. Reading changes nothing.

use super::proc;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The facts that findings are judged by. What could not be read is `None`, and is not judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Facts {
    /// Release of the kernel.
    pub kernel: String,
    /// Descriptors that this process may have open, after raising its own limit; `None` without limit.
    pub descriptors: Option<u64>,
    /// Most that the limit can be raised to (fs.nr_open).
    pub descriptors_ceiling: Option<u64>,
    /// First and last local port of outgoing connections.
    pub port_range: Option<(u64, u64)>,
    /// Ports within that range that are reserved for others.
    pub reserved_ports: u64,
    /// net.ipv4.tcp_tw_reuse: 0 never, 1 for any target, 2 on loopback only.
    pub tw_reuse: Option<u64>,
    /// After so many milliseconds a port in TIME_WAIT may be used again, where that is allowed.
    pub tw_reuse_delay_ms: Option<u64>,
    /// Most sockets in TIME_WAIT; beyond it they end at once.
    pub tw_buckets: Option<u64>,
    /// net.ipv4.tcp_fin_timeout: how long the other end's FIN is waited for. It is not the length of TIME_WAIT.
    pub fin_timeout_s: Option<u64>,
    /// TCP sockets in use now, on the whole machine.
    pub tcp_sockets: Option<u64>,
    /// TCP sockets in TIME_WAIT now.
    pub time_wait: Option<u64>,
    /// Most connections that wait to be accepted by a listener (net.core.somaxconn).
    pub somaxconn: Option<u64>,
    /// Most connections whose handshake is under way (net.ipv4.tcp_max_syn_backlog).
    pub syn_backlog: Option<u64>,
    /// Most bytes that a socket's receive buffer may be asked for (net.core.rmem_max).
    pub receive_buffer_max: Option<u64>,
    /// Connections that the firewall tracks now.
    pub tracked: Option<u64>,
    /// Most that it can track.
    pub tracked_max: Option<u64>,
    /// Cores that this process may use.
    pub cpus: Option<u64>,
    /// Cores that its control group allows, where that limits it.
    pub cpu_quota: Option<f64>,
    /// Laws of frequency scaling in use; none where the machine does not say.
    pub governors: Vec<String>,
    /// Clock source in use.
    pub clock_source: Option<String>,
    /// Clock sources that could be used.
    pub clock_sources: Vec<String>,
    /// Memory that programs can have without swapping, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// Memory left in the control group, in bytes, where it is limited.
    pub memory_left_in_group_bytes: Option<u64>,
    /// Bytes swapped out now.
    pub swap_used_bytes: Option<u64>,
    /// kernel.io_uring_disabled: 0 for all, 1 for privileged ones, 2 for none.
    pub io_uring_disabled: Option<u64>,
    /// True if system calls of this process are filtered (seccomp), as in most containers.
    pub filtered: bool,
}

impl Facts {
    /// Reads this machine's.
    pub fn read() -> Facts {
        let limit = getrlimit(Resource::Nofile).current;
        let cpus = std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u64);
        Facts { descriptors: limit, cpus, ..Facts::read_from(Path::new("/")) }
    }

    /// Reads the files beneath a root; limits of the process are not in files.
    fn read_from(root: &Path) -> Facts {
        let files = Files(root);
        let net = |name: &str| files.number(format!("proc/sys/net/{name}"));
        let port_range = files.text("proc/sys/net/ipv4/ip_local_port_range").as_deref().and_then(proc::pair);
        let reserved = files.text("proc/sys/net/ipv4/ip_local_reserved_ports").unwrap_or_default();
        let sockstat = files.text("proc/net/sockstat").unwrap_or_default();
        let clock = "sys/devices/system/clocksource/clocksource0";
        Facts {
            kernel: files.word("proc/sys/kernel/osrelease").unwrap_or_default(),
            descriptors: None,
            descriptors_ceiling: files.number("proc/sys/fs/nr_open"),
            port_range,
            reserved_ports: port_range.map_or(0, |(first, last)| proc::reserved(&reserved, first, last)),
            tw_reuse: net("ipv4/tcp_tw_reuse"),
            tw_reuse_delay_ms: net("ipv4/tcp_tw_reuse_delay"),
            tw_buckets: net("ipv4/tcp_max_tw_buckets"),
            fin_timeout_s: net("ipv4/tcp_fin_timeout"),
            tcp_sockets: proc::sockets(&sockstat, "TCP", "inuse"),
            time_wait: proc::sockets(&sockstat, "TCP", "tw"),
            somaxconn: net("core/somaxconn"),
            receive_buffer_max: net("core/rmem_max"),
            syn_backlog: net("ipv4/tcp_max_syn_backlog"),
            tracked: net("netfilter/nf_conntrack_count"),
            tracked_max: net("netfilter/nf_conntrack_max"),
            cpus: None,
            cpu_quota: files.cpu_quota(),
            governors: files.governors(),
            clock_source: files.word(&format!("{clock}/current_clocksource")),
            clock_sources: files.words(&format!("{clock}/available_clocksource")),
            memory_left_in_group_bytes: files.memory_left(),
            io_uring_disabled: files.number("proc/sys/kernel/io_uring_disabled"),
            filtered: proc::filtered(&files.text("proc/self/status").unwrap_or_default()),
            ..files.memory()
        }
    }

    /// Local ports that outgoing connections may have, for each pair of addresses.
    pub fn ports(&self) -> Option<u64> {
        let (first, last) = self.port_range?;
        Some((last + 1).saturating_sub(first).saturating_sub(self.reserved_ports))
    }

    /// Whole cores that this process can keep busy.
    pub fn cores(&self) -> Option<f64> {
        let cpus = self.cpus? as f64;
        Some(self.cpu_quota.map_or(cpus, |quota| quota.min(cpus)))
    }

    /// Memory that this process can still have, in bytes.
    pub fn memory_left(&self) -> Option<u64> {
        self.memory_left_in_group_bytes.into_iter().chain(self.memory_available_bytes).min()
    }
}

/// The files beneath a root.
struct Files<'a>(&'a Path);

impl Files<'_> {
    fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.0.join(path)).ok()
    }

    fn words(&self, path: &str) -> Vec<String> {
        self.text(path).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    fn word(&self, path: &str) -> Option<String> {
        self.words(path).into_iter().next()
    }

    fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.text(path)?.trim().parse().ok()
    }

    fn memory(&self) -> Facts {
        let meminfo = self.text("proc/meminfo").unwrap_or_default();
        let swap = proc::kilobytes(&meminfo, "SwapTotal").zip(proc::kilobytes(&meminfo, "SwapFree"));
        Facts {
            memory_available_bytes: proc::kilobytes(&meminfo, "MemAvailable"),
            swap_used_bytes: swap.map(|(total, free)| total.saturating_sub(free)),
            ..Facts::default()
        }
    }

    fn governors(&self) -> Vec<String> {
        let Ok(cpus) = std::fs::read_dir(self.0.join("sys/devices/system/cpu")) else { return Vec::new() };
        let governor = |cpu: std::fs::DirEntry| {
            let text = std::fs::read_to_string(cpu.path().join("cpufreq/scaling_governor")).ok()?;
            Some(text.trim().to_owned())
        };
        cpus.flatten().filter_map(governor).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The folders of this process's control group and of those above it, of version 2 or of an old controller's own.
    fn groups(&self, controller: &str) -> Vec<PathBuf> {
        let groups = self.text("proc/self/cgroup").unwrap_or_default();
        let beneath = |top: &str, path: &str| {
            let inner = Path::new(path.trim_start_matches('/')).ancestors().map(PathBuf::from);
            inner.map(|inner| Path::new(top).join(inner)).collect::<Vec<_>>()
        };
        let new = proc::cgroup(&groups, "").map(|path| beneath("sys/fs/cgroup", path));
        let old = proc::cgroup(&groups, controller)
            .map(|path| beneath(&format!("sys/fs/cgroup/{controller}"), path));
        new.into_iter().chain(old).flatten().collect()
    }

    fn cpu_quota(&self) -> Option<f64> {
        let quota = |group: PathBuf| {
            let new = self.text(group.join("cpu.max")).and_then(|text| proc::quota(&text));
            new.or_else(|| {
                let quota: f64 = self.number(group.join("cpu.cfs_quota_us"))?;
                let period: f64 = self.number(group.join("cpu.cfs_period_us"))?;
                (quota > 0.0 && period > 0.0).then(|| quota / period)
            })
        };
        self.groups("cpu").into_iter().filter_map(quota).reduce(f64::min)
    }

    fn memory_left(&self) -> Option<u64> {
        let left = |group: PathBuf| {
            let file = |name: &str| self.number::<u64>(group.join(name));
            let limit = file("memory.max").or_else(|| file("memory.limit_in_bytes"))?;
            let used = file("memory.current").or_else(|| file("memory.usage_in_bytes"))?;
            // The old controller says "no limit" with a number that no machine has.
            (limit < 1 << 60).then(|| limit.saturating_sub(used.saturating_sub(self.kept_of_files(&group))))
        };
        self.groups("memory").into_iter().filter_map(left).min()
    }

    /// Bytes of files that a group keeps in memory and gives back at need: whoever has read a large log is full of them.
    fn kept_of_files(&self, group: &Path) -> u64 {
        let Some(text) = self.text(group.join("memory.stat")) else { return 0 };
        let value = |line: &str| match line.split_once(' ')? {
            ("inactive_file" | "active_file", bytes) => bytes.trim().parse::<u64>().ok(),
            _ => None,
        };
        text.lines().filter_map(value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn files_become_facts() {
        let root = tree(&[
            ("proc/sys/kernel/osrelease", "6.1.0-9-amd64\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("proc/sys/net/ipv4/ip_local_reserved_ports", "40000-40031\n"),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
            ("proc/sys/net/core/somaxconn", "128\n"),
            ("proc/sys/net/core/rmem_max", "212992\n"),
            ("proc/net/sockstat", "TCP: inuse 5 orphan 0 tw 311 alloc 9 mem 172\n"),
            ("proc/meminfo", "MemAvailable:  1000 kB\nSwapTotal:  500 kB\nSwapFree:  100 kB\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
            ("proc/self/cgroup", "0::/box/inner\n"),
            ("proc/self/status", "NoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n"),
            ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/box/inner/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/box/memory.max", "600000\n"),
            ("sys/fs/cgroup/box/memory.current", "100000\n"),
        ]);
        let facts = Facts::read_from(root.path());
        assert_eq!((facts.kernel.as_str(), facts.ports()), ("6.1.0-9-amd64", Some(28_200)));
        assert_eq!((facts.tw_reuse, facts.somaxconn, facts.time_wait), (Some(2), Some(128), Some(311)));
        assert_eq!(facts.receive_buffer_max, Some(212_992));
        assert_eq!((facts.memory_available_bytes, facts.swap_used_bytes), (Some(1_024_000), Some(409_600)));
        assert_eq!(
            (facts.governors.join(" "), facts.clock_source.as_deref()),
            ("powersave".into(), Some("hpet"))
        );
        assert_eq!((facts.cpu_quota, facts.memory_left()), (Some(1.5), Some(500_000)));
        assert_eq!((facts.tracked_max, facts.io_uring_disabled, facts.filtered), (None, None, true));
    }

    #[test]
    fn old_control_groups_are_understood_and_nothing_is_made_up() {
        let root = tree(&[
            ("proc/self/cgroup", "4:memory:/box\n2:cpu,cpuacct:/box\n"),
            ("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "100\n"),
        ]);
        let facts = Facts::read_from(root.path());
        assert_eq!((facts.cpu_quota, facts.memory_left_in_group_bytes), (Some(0.5), None));
        assert_eq!(Facts::read_from(&root.path().join("nothing")), Facts::default());
    }

    #[test]
    fn files_that_a_group_keeps_in_memory_take_none_away() {
        let stat = "anon 900\nfile 5200\nfile_mapped 7\ninactive_file 3000\nactive_file 2000\nslab 1\n";
        let root = tree(&[
            ("proc/self/cgroup", "0::/box\n"),
            ("sys/fs/cgroup/box/memory.max", "8000\n"),
            ("sys/fs/cgroup/box/memory.current", "7900\n"),
            ("sys/fs/cgroup/box/memory.stat", stat),
        ]);
        assert_eq!(Facts::read_from(root.path()).memory_left_in_group_bytes, Some(5_100));
        std::fs::remove_file(root.path().join("sys/fs/cgroup/box/memory.stat")).unwrap();
        assert_eq!(Facts::read_from(root.path()).memory_left_in_group_bytes, Some(100));
    }

    #[test]
    fn this_machine_can_be_read() {
        let facts = Facts::read();
        assert!(!facts.kernel.is_empty() && facts.ports().is_some_and(|ports| ports > 0), "{facts:?}");
        assert!(facts.cores().is_some_and(|cores| cores > 0.0) && facts.memory_left().is_some(), "{facts:?}");
    }
}
