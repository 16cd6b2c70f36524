//! Facts against needs: pure, one function per topic. Each finding says what there is, why it matters here, and the
//! command that mends it. Only settings that current kernels have are named.

use super::facts::Facts;
use super::need::Need;
use super::proc;
use measure::self_check::CPU_WATER_MARK;
use report::show::{bytes, count, counted, rate, wrap};
use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing to do.
    Ok,
    /// It may show in the figures.
    Warning,
    /// The run cannot work.
    Blocks,
}

impl Level {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Blocks => "blocks",
        }
    }
}

/// Subject of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// File descriptors.
    Descriptors,
    /// Local ports for connections at once.
    Ports,
    /// Local ports that wait after a connection.
    TimeWait,
    /// Queues of new connections.
    Backlog,
    /// The firewall's table of connections.
    Tracking,
    /// Workers and the cores for them.
    Workers,
    /// Cores for the rate of requests.
    Cores,
    /// Memory.
    Memory,
    /// Swap in use.
    Swap,
    /// Frequency scaling.
    Frequency,
    /// The clock's source.
    Clock,
    /// Room for datagrams that have come.
    Datagrams,
    /// Use of io_uring.
    IoUring,
}

impl Topic {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Descriptors => "descriptors",
            Topic::Ports => "ports",
            Topic::TimeWait => "TIME_WAIT",
            Topic::Backlog => "backlog",
            Topic::Tracking => "tracking",
            Topic::Workers => "workers",
            Topic::Cores => "cores",
            Topic::Memory => "memory",
            Topic::Swap => "swap",
            Topic::Frequency => "frequency",
            Topic::Clock => "clock",
            Topic::Datagrams => "datagrams",
            Topic::IoUring => "io_uring",
        }
    }

    /// True if it is compared with what a run needs. The others are the machine's own state, and a number of workers that
    /// somebody chose: runs do not repeat those.
    pub fn is_budget(self) -> bool {
        !matches!(
            self,
            Topic::Workers
                | Topic::Swap
                | Topic::Frequency
                | Topic::Clock
                | Topic::Datagrams
                | Topic::IoUring
        )
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its subject.
    pub topic: Topic,
    /// How much it matters.
    pub level: Level,
    /// The facts, with numbers.
    pub what: String,
    /// Why it matters here; empty where all is well.
    pub why: String,
    /// The commands or options that mend it, each by itself, the best one first.
    pub mend: Vec<String>,
}

impl Finding {
    fn ok(topic: Topic, what: String) -> Option<Finding> {
        Some(Finding { topic, level: Level::Ok, what, why: String::new(), mend: Vec::new() })
    }

    fn warning(topic: Topic, what: String, why: String, mend: Vec<String>) -> Option<Finding> {
        Some(Finding { topic, level: Level::Warning, what, why, mend })
    }

    fn blocks(self) -> Finding {
        Finding { level: Level::Blocks, ..self }
    }

    /// All of it in one line.
    pub fn sentence(&self) -> String {
        let mend =
            if self.mend.is_empty() { String::new() } else { format!("; try {}", self.mend.join(", or ")) };
        format!("{}: {}{mend}", self.what, self.why)
    }

    /// Its parts beneath each other, at most `width` columns wide.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let mut lines = wrap(&self.what, width);
        lines.extend(wrap(&self.why, width));
        // A command stays in one line, so that it can be copied.
        lines.extend(self.mend.iter().map(|mend| format!("-> {mend}")));
        lines
    }
}

/// Descriptors that a run holds beside its connections.
const BESIDE: u64 = 64;
/// How long a port waits in TIME_WAIT, in seconds: fixed in the kernel, no setting changes it.
pub const TIME_WAIT_S: f64 = 60.0;
/// How long the firewall remembers a connection that has ended, in seconds, unless told otherwise.
const TRACKED_S: f64 = 120.0;
/// CPU time for one request and its answer in µs, the origin's part included; rather much.
const REQUEST_US: f64 = 10.0;
/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 6] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "riscv_clocksource"];

/// Judges what a machine has by what a run needs. What could not be read is left out.
pub fn judge(facts: &Facts, need: &Need) -> Vec<Finding> {
    let findings = [
        descriptors(facts, need),
        ports(facts, need),
        time_wait(facts, need),
        backlog(facts, need),
        tracking(facts, need),
        workers(facts, need),
        cores(facts, need),
        memory(facts, need),
        swap(facts),
        frequency(facts),
        clock(facts),
        datagrams(facts, need),
        io_uring(facts),
    ];
    findings.into_iter().flatten().collect()
}

fn descriptors(facts: &Facts, need: &Need) -> Option<Finding> {
    let sure = need.sure_connections + BESIDE;
    let most = need.descriptors() + BESIDE;
    let Some(limit) = facts.descriptors else {
        return Finding::ok(Topic::Descriptors, format!("{} needed, no limit", count(most)));
    };
    if most <= limit {
        return Finding::ok(Topic::Descriptors, format!("{} needed, {} allowed", count(most), count(limit)));
    }
    let wanted = (2 * need.connections + BESIDE).next_power_of_two();
    let ceiling = facts.descriptors_ceiling.filter(|ceiling| *ceiling < wanted);
    let mut mend: Vec<String> =
        ceiling.map(|_| format!("sysctl -w fs.nr_open={wanted}")).into_iter().collect();
    mend.push(format!("ulimit -n {wanted}"));
    // Shells may lower their hard limit, but only root may raise it.
    mend.push(format!("sudo prlimit --pid $$ --nofile={wanted}"));
    mend.push("ask for fewer connections".to_owned());
    // An open pace may do with few.
    if sure <= limit || need.sure_connections == 0 {
        let what =
            format!("up to {} file descriptors may be needed, {} are allowed", count(most), count(limit));
        let why = "connections beyond fail, and are counted as such".to_owned();
        return Finding::warning(Topic::Descriptors, what, why, mend);
    }
    let connections = count(need.sure_connections);
    let what = format!(
        "{connections} connections at once need more file descriptors than the {} allowed",
        count(limit)
    );
    let why = format!("each connection takes one, and wringer itself {BESIDE}");
    Finding::warning(Topic::Descriptors, what, why, mend).map(Finding::blocks)
}

/// Connections that there are ports for: each pair of a source and a target has all of them.
pub fn port_limit(facts: &Facts, need: &Need) -> Option<u64> {
    Some(facts.ports()?.saturating_mul(need.sources).saturating_mul(need.targets.unwrap_or(1)))
}

fn ports(facts: &Facts, need: &Need) -> Option<Finding> {
    let limit = port_limit(facts, need)?;
    if need.connections <= limit {
        let what = format!("{} needed at once, {} there", count(need.connections), count(limit));
        return Finding::ok(Topic::Ports, what);
    }
    let why = "each connection from one address to one target needs a port of its own";
    let mend = more_ports(facts, need, need.connections);
    let surely = need.sure_connections > limit && need.targets.is_some();
    let asked = if surely { need.sure_connections } else { need.connections };
    let what =
        format!("{} connections at once, but only {} local ports for them", count(asked), count(limit));
    let found = Finding::warning(Topic::Ports, what, why.to_owned(), mend);
    if surely { found.map(Finding::blocks) } else { found }
}

/// How to have ports for so many connections.
fn more_ports(facts: &Facts, need: &Need, wanted: u64) -> Vec<String> {
    let mut mend = Vec::new();
    let ports = facts.ports().unwrap_or(0).max(1) * need.targets.unwrap_or(1);
    let sources = wanted.div_ceil(ports).max(2);
    if need.loopback && sources <= 250 {
        mend.push(format!("--source 127.0.0.2-127.0.0.{}", sources + 1));
    } else {
        mend.push(format!("--source A-B with {} addresses of this machine", count(sources)));
    }
    if facts.port_range.is_some_and(|(first, last)| first > 1024 || last < 65_535) {
        mend.push("sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"".to_owned());
    }
    mend
}

/// How long a port waits before it can go to the same target again, in seconds.
pub fn port_waits_s(facts: &Facts, need: &Need) -> f64 {
    let reused = match facts.tw_reuse {
        Some(1) => true,
        Some(2) => need.loopback,
        _ => false,
    };
    if reused { facts.tw_reuse_delay_ms.unwrap_or(1_000) as f64 / 1e3 } else { TIME_WAIT_S }
}

fn time_wait(facts: &Facts, need: &Need) -> Option<Finding> {
    let limit = port_limit(facts, need)?;
    if need.resets {
        return Finding::ok(Topic::TimeWait, "connections end by a reset: no port waits".to_owned());
    }
    let waits = port_waits_s(facts, need);
    let left = limit.saturating_sub(need.connections) as f64;
    let room = format!("room for {} new connections: each keeps its port for {waits} s", rate(left / waits));
    let Some(asked) = need.connections_per_s else {
        return Finding::ok(Topic::TimeWait, room);
    };
    let waiting = (asked * waits).min(facts.tw_buckets.map_or(f64::INFINITY, |most| most as f64));
    if waiting <= left {
        return Finding::ok(Topic::TimeWait, format!("{} asked for, {room}", rate(asked)));
    }
    let what = format!(
        "{} new connections leave {} ports waiting, and {} are free for that",
        rate(asked),
        count(waiting as u64),
        count(left as u64)
    );
    let why = format!("a port waits {waits} s (TIME_WAIT) where the client closes first");
    let mut mend = vec!["--close reset".to_owned()];
    if waits >= TIME_WAIT_S {
        // 2, the default of current kernels, is for loopback alone.
        let reuse = if need.loopback { 2 } else { 1 };
        mend.push(format!("sysctl -w net.ipv4.tcp_tw_reuse={reuse}"));
    }
    mend.extend(more_ports(facts, need, need.connections + waiting as u64));
    mend.push("more requests per connection (--keep-alive)".to_owned());
    Finding::warning(Topic::TimeWait, what, why, mend)
}

fn backlog(facts: &Facts, need: &Need) -> Option<Finding> {
    let queue = facts.somaxconn?;
    if !need.origin && !need.loopback {
        return Finding::ok(Topic::Backlog, "nobody listens here: the target's machine counts".to_owned());
    }
    // Handshakes on loopback are over at once, so only other machines' wait in the queue before.
    let handshakes = facts.syn_backlog.filter(|_| !need.loopback);
    let smaller = handshakes.map_or(queue, |handshakes| handshakes.min(queue));
    if need.burst <= smaller {
        let what =
            format!("bursts of {}, queues of {}", counted(need.burst, "new connection"), count(smaller));
        return Finding::ok(Topic::Backlog, what);
    }
    let what = format!(
        "{} new connections may come at once, and queues end at {}",
        count(need.burst),
        count(smaller)
    );
    let why = "those beyond wait a second for their second try, which shows as slow connecting".to_owned();
    let wanted = need.burst.next_power_of_two();
    let mut mend = Vec::new();
    if queue < need.burst {
        mend.push(format!("sysctl -w net.core.somaxconn={wanted}"));
    }
    if handshakes.is_some_and(|handshakes| handshakes < need.burst) {
        mend.push(format!("sysctl -w net.ipv4.tcp_max_syn_backlog={wanted}"));
    }
    Finding::warning(Topic::Backlog, what, why, mend)
}

fn tracking(facts: &Facts, need: &Need) -> Option<Finding> {
    let tracked = facts.tracked?;
    let most = facts.tracked_max?;
    // Without rules that look at connections nothing is tracked, and the table does not matter.
    if tracked == 0 {
        return None;
    }
    let remembered = need.connections_per_s.unwrap_or(0.0) * TRACKED_S;
    let wanted = need.descriptors() + remembered as u64;
    if tracked + wanted <= most {
        let what = format!(
            "{} more connections, {} tracked of {} by the firewall",
            count(wanted),
            count(tracked),
            count(most)
        );
        return Finding::ok(Topic::Tracking, what);
    }
    let what =
        format!("the firewall would track {} connections, and can {}", count(tracked + wanted), count(most));
    let why =
        format!("each counts until {TRACKED_S} s after its end, and with a full table packets are dropped");
    let mend =
        vec![format!("sysctl -w net.netfilter.nf_conntrack_max={}", (tracked + wanted).next_power_of_two())];
    Finding::warning(Topic::Tracking, what, why, mend)
}

fn workers(facts: &Facts, need: &Need) -> Option<Finding> {
    let cores = facts.cores()?;
    let whole = (cores.floor() as u64).max(1);
    let workers = counted(need.workers, "worker");
    let fewer = format!("--threads {whole}");
    if let Some(quota) = facts.cpu_quota.filter(|quota| *quota < need.workers as f64) {
        let what = format!("{workers}, and the control group allows {quota:.2} cores");
        let why = "it stops all of them in each period in which they have used up their share".to_owned();
        let mend = vec![fewer, "raise cpu.max of the control group".to_owned()];
        return Finding::warning(Topic::Workers, what, why, mend);
    }
    let what = format!("{workers} on {}", counted(whole, "core"));
    if need.workers as f64 > cores {
        let why = "workers that share a core wait for each other".to_owned();
        return Finding::warning(Topic::Workers, what, why, vec![fewer]);
    }
    let shared = if need.loopback { ", shared with the target" } else { "" };
    Finding::ok(Topic::Workers, format!("{what}{shared}"))
}

fn cores(facts: &Facts, need: &Need) -> Option<Finding> {
    let asked = need.requests_per_s?;
    let busy = asked * REQUEST_US / 1e6;
    let workers = counted(need.workers, "worker");
    let what = format!("{} requests take about {busy:.1} cores, and there are {workers}", rate(asked));
    if busy <= need.workers as f64 * CPU_WATER_MARK {
        return Finding::ok(Topic::Cores, what);
    }
    let why = format!("above {:.0} % of its cores a generator measures itself", CPU_WATER_MARK * 100.0);
    let whole = facts.cores()?.floor() as u64;
    let more = if need.workers < whole {
        format!("--threads {whole}")
    } else {
        "a machine with more cores".to_owned()
    };
    Finding::warning(Topic::Cores, what, why, vec![more, "a lower rate".to_owned()])
}

fn memory(facts: &Facts, need: &Need) -> Option<Finding> {
    let left = facts.memory_left()?;
    if need.memory_bytes <= left / 10 * 8 {
        let what = format!("about {} needed, {} there", bytes(need.memory_bytes), bytes(left));
        return Finding::ok(Topic::Memory, what);
    }
    let what = format!("about {} of memory needed, {} there", bytes(need.memory_bytes), bytes(left));
    let why = "the machine would swap, or end a program".to_owned();
    Finding::warning(
        Topic::Memory,
        what,
        why,
        vec!["ask for fewer connections".to_owned(), "free memory".to_owned()],
    )
}

fn swap(facts: &Facts) -> Option<Finding> {
    let used = facts.swap_used_bytes?;
    if used == 0 {
        return Finding::ok(Topic::Swap, "nothing is swapped out".to_owned());
    }
    let why = "what comes back from disk in the middle of a run shows as latency".to_owned();
    let fits = facts.memory_available_bytes.is_some_and(|available| available > 2 * used);
    let mend = if fits { "swapoff -a && swapon -a" } else { "end programs that need the memory" };
    Finding::warning(Topic::Swap, format!("{} swapped out", bytes(used)), why, vec![mend.to_owned()])
}

fn frequency(facts: &Facts) -> Option<Finding> {
    let law = facts.governors.join(", ");
    match facts.governors.as_slice() {
        [] => {
            Finding::ok(Topic::Frequency, "the machine does not say how its frequency is scaled".to_owned())
        }
        [one] if one == "performance" => Finding::ok(Topic::Frequency, law),
        _ => Finding::warning(
            Topic::Frequency,
            format!("scaled by {law}"),
            "cores that slow down when they idle make low rates look slower than high ones".to_owned(),
            vec!["cpupower frequency-set -g performance".to_owned()],
        ),
    }
}

fn clock(facts: &Facts) -> Option<Finding> {
    let source = facts.clock_source.as_deref()?;
    if FAST_CLOCKS.contains(&source) {
        return Finding::ok(Topic::Clock, format!("{source}, read without a system call"));
    }
    let better = FAST_CLOCKS.into_iter().find(|fast| facts.clock_sources.iter().any(|found| found == fast));
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mend = match better {
        Some(fast) => format!("echo {fast} > {file}"),
        None => {
            "another machine: this one has no faster clock (dmesg | grep -i clocksource says why)".to_owned()
        }
    };
    let why = "each request reads the clock several times, and each reading is a system call".to_owned();
    Finding::warning(Topic::Clock, format!("time comes from {source}"), why, vec![mend])
}

/// Multishot receive and rings of provided buffers are there from this kernel on.
const IO_URING_KERNEL: (u32, u32) = (6, 0);

/// Room for datagrams of HTTP/3: what a socket asks for beyond the kernel's limit it does not get, and is not told so.
fn datagrams(facts: &Facts, need: &Need) -> Option<Finding> {
    let wanted = need.datagram_buffer?;
    let most = facts.receive_buffer_max?;
    if wanted <= most {
        let what = format!("{} for what each UDP socket has received", bytes(wanted));
        return Finding::ok(Topic::Datagrams, what);
    }
    let what = format!("UDP sockets ask for {} of room, and get {}", bytes(wanted), bytes(most));
    let why = "datagrams that find no room are lost, and QUIC slows down; the report counts them as ours"
        .to_owned();
    Finding::warning(Topic::Datagrams, what, why, vec![format!("sysctl -w net.core.rmem_max={wanted}")])
}

/// Finding on the use of io_uring, as far as settings and the kernel's release tell; a container may forbid it besides.
fn io_uring(facts: &Facts) -> Option<Finding> {
    let why = "epoll is used instead, at a little more CPU per request".to_owned();
    if proc::kernel(&facts.kernel).is_some_and(|kernel| kernel < IO_URING_KERNEL) {
        let (major, minor) = IO_URING_KERNEL;
        let what = format!("kernel {} is too old for it", facts.kernel);
        return Finding::warning(Topic::IoUring, what, why, vec![format!("Linux {major}.{minor} or later")]);
    }
    match facts.io_uring_disabled {
        None | Some(0) => {
            // What a filter of system calls forbids is in no file: Docker's forbids io_uring, systemd's mostly does not.
            let filter =
                if facts.filtered { "; a filter of system calls (seccomp) may yet forbid it" } else { "" };
            Finding::ok(Topic::IoUring, format!("kernel {} has it and allows it{filter}", facts.kernel))
        }
        Some(setting) => {
            let what = format!("kernel.io_uring_disabled is {setting}");
            Finding::warning(
                Topic::IoUring,
                what,
                why,
                vec!["sysctl -w kernel.io_uring_disabled=0".to_owned()],
            )
        }
    }
}

#[cfg(test)]
mod tests;
