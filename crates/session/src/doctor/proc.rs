//! Texts of /proc and /sys as values. Pure: text in, values out, `None` for what is not there or not understood.

/// The value of a line such as `VmRSS:   1234 kB`, in bytes.
pub fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// The number that follows a name in a line such as `pswpin 7`.
pub fn named(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// CPU time of a machine since it started, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Of programs: user, nice and system. Interrupts are left out, as they may be counted for a program as well.
    pub programs: u64,
    /// Taken by the host.
    pub stolen: u64,
    /// All of it, idle time included.
    pub all: u64,
}

impl CpuTime {
    /// Returns the CPU time since then.
    pub fn since(self, before: CpuTime) -> CpuTime {
        CpuTime {
            programs: self.programs.saturating_sub(before.programs),
            stolen: self.stolen.saturating_sub(before.stolen),
            all: self.all.saturating_sub(before.all),
        }
    }

    /// The sum.
    pub fn plus(self, other: CpuTime) -> CpuTime {
        CpuTime {
            programs: self.programs + other.programs,
            stolen: self.stolen + other.stolen,
            all: self.all + other.all,
        }
    }
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal; guests are counted as user.
pub fn cpu_time(stat: &str) -> Option<CpuTime> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|ticks| ticks.parse().ok()).collect();
    let [user, nice, system, .., stolen] = ticks[..] else { return None };
    (ticks.len() == 8).then(|| CpuTime { programs: user + nice + system, stolen, all: ticks.iter().sum() })
}

/// The total of a line of /proc/pressure/*, `some` or `full`, in µs.
pub fn pressure(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
}

/// True if /proc/PID/status tells of a filter of system calls.
pub fn filtered(status: &str) -> bool {
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

/// Two numbers with blanks between, such as a range of ports.
pub fn pair(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// How many ports from `first` to `last` a list such as `8080,9000-9100` reserves.
pub fn reserved(list: &str, first: u64, last: u64) -> u64 {
    let within = |entry: &str| {
        let (from, to) = entry.split_once('-').unwrap_or((entry, entry));
        let from: u64 = from.trim().parse().ok()?;
        let to: u64 = to.trim().parse().ok()?;
        Some((to.min(last) + 1).saturating_sub(from.max(first)))
    };
    list.split(',').filter_map(within).sum()
}

/// A column of /proc/net/snmp or /proc/net/netstat, where a line of names stands before a line of numbers.
pub fn column(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let names = lines.next()?;
    let values = lines.next()?;
    let at = names.split_whitespace().position(|found| found == name)?;
    values.split_whitespace().nth(at)?.parse().ok()
}

/// A figure of /proc/net/sockstat: `TCP`, `inuse`.
pub fn sockets(text: &str, group: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(group)?.strip_prefix(':'))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != name);
    words.nth(1)?.parse().ok()
}

/// Cores that a cgroup's `cpu.max` (`QUOTA PERIOD`) allows; `None` for `max`.
pub fn quota(text: &str) -> Option<f64> {
    let (quota, period) = pair(text)?;
    (period > 0).then(|| quota as f64 / period as f64)
}

/// The path of a process within a cgroup hierarchy, from /proc/PID/cgroup; of version 2 for an empty controller.
pub fn cgroup<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|found| found == controller).then_some(path)
    })
}

/// Major and minor number of a kernel's release, such as `6.18.44-custom`.
pub fn kernel(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A process as /proc/PID/stat tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its number.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// Name that the system gives it, at most 15 bytes.
    pub name: String,
    /// CPU time, user and system, of all its threads and of its children that have ended, in clock ticks.
    pub ticks: u64,
    /// When it began, in clock ticks since the machine did.
    pub started: u64,
    /// It has ended, and its parent has not looked how: the status that it left, where we may see it.
    pub left: Option<i32>,
}

/// Reads /proc/PID/stat; the name stands in brackets and may hold anything, brackets and blanks too.
pub fn stat(text: &str) -> Option<Stat> {
    let (head, rest) = text.rsplit_once(')')?;
    let (pid, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // Fields are counted from the state, which is the third of all.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = field(14)? + field(15)? + field(16)? + field(17)?;
    let left = (*fields.first()? == "Z").then(|| field(52).unwrap_or(0) as i32);
    let pid = pid.trim().parse().ok()?;
    let parent = field(4)? as u32;
    let started = field(22)?;
    Some(Stat { pid, parent, name: name.to_owned(), ticks, started, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_and_pressure_are_read() {
        let stat = "cpu  347388 19618 44425 133558 2531 7 457 241 5 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let time = cpu_time(stat).unwrap();
        assert_eq!((time.programs, time.stolen), (347_388 + 19_618 + 44_425, 241));
        assert_eq!(time.all, 347_388 + 19_618 + 44_425 + 133_558 + 2_531 + 7 + 457 + 241);
        assert_eq!(time.since(time).plus(time), time);
        assert_eq!((cpu_time("cpu  1 2 3 4\n"), cpu_time("")), (None, None));
        let text = "some avg10=99.48 avg60=99.37 avg300=97.45 total=1470\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(
            (pressure(text, "some"), pressure(text, "full"), pressure("", "some")),
            (Some(1_470), Some(7), None)
        );
    }

    #[test]
    fn sizes_and_counters_are_found_by_name() {
        let meminfo =
            "MemTotal:       24684084 kB\nMemAvailable:   23828856 kB\nSwapCached:            0 kB\n";
        assert_eq!(kilobytes(meminfo, "MemAvailable"), Some(23_828_856 * 1024));
        assert_eq!(kilobytes(meminfo, "Mem"), None);
        assert_eq!(named("pgpgin 4\npswpin 7\npswpout 9\n", "pswpin"), Some(7));
        assert_eq!(named("pgpgin 4\n", "pgp"), None);
        let snmp = "Ip: Forwarding\nIp: 1\nTcp: ActiveOpens OutSegs RetransSegs\nTcp: 12 116560063 22979\n";
        assert_eq!(column(snmp, "Tcp", "RetransSegs"), Some(22_979));
        assert_eq!((column(snmp, "Tcp", "InErrs"), column(snmp, "Udp", "OutSegs")), (None, None));
        let sockstat = "sockets: used 17\nTCP: inuse 5 orphan 0 tw 311 alloc 9 mem 172\nTCP6: inuse 2\n";
        assert_eq!(
            (sockets(sockstat, "TCP", "tw"), sockets(sockstat, "TCP6", "inuse")),
            (Some(311), Some(2))
        );
        assert_eq!(sockets(sockstat, "TCP6", "tw"), None);
    }

    #[test]
    fn reserved_ports_count_only_within_the_range() {
        let range = pair("32768\t60999\n").unwrap();
        assert_eq!(range, (32_768, 60_999));
        for (list, count) in [
            ("\n", 0),
            ("8080", 0),
            ("40000", 1),
            ("32000-32767", 0),
            ("32000-32768,60999-61100,50000-50009", 12),
        ] {
            assert_eq!(reserved(list, range.0, range.1), count, "{list}");
        }
    }

    #[test]
    fn quotas_paths_and_versions() {
        assert_eq!((quota("150000 100000\n"), quota("max 100000\n"), quota("")), (Some(1.5), None, None));
        let cgroups = "4:memory:/box/a\n2:cpu,cpuacct:/box\n0::/user.slice\n";
        assert_eq!((cgroup(cgroups, "memory"), cgroup(cgroups, "cpu")), (Some("/box/a"), Some("/box")));
        assert_eq!((cgroup(cgroups, ""), cgroup(cgroups, "io")), (Some("/user.slice"), None));
        assert_eq!((kernel("6.18.44-fc"), kernel("5.4"), kernel("odd")), (Some((6, 18)), Some((5, 4)), None));
    }

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let line = "77 (a) b (c) S 12 77 77 0 -1 4194560 500 0 0 0 150 30 7 5 20 0 1 0 999 1000 20\n";
        let found = stat(line).unwrap();
        assert_eq!((found.pid, found.parent, found.name.as_str(), found.ticks), (77, 12, "a) b (c", 192));
        assert_eq!((found.started, found.left), (999, None));
        let ended = format!("77 (x) Z 1 {} 999 {} 11\n", "0 ".repeat(17).trim(), "0 ".repeat(29).trim());
        assert_eq!(stat(&ended).map(|found| (found.started, found.left)), Some((999, Some(11))));
        assert_eq!(stat("77 (short) S 12"), None);
    }
}
