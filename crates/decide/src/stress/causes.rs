//! Causes of a symptom. One is named only where its counter moved while it pressed; all others are possible, with where to look.

use super::judge::Seen;
use crate::words;
use serde::{Deserialize, Serialize};

/// A kind of cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The queue of connections that nobody has accepted yet.
    AcceptQueue,
    /// Threads: one is busy all the time, or all wait.
    Threads,
    /// Descriptors.
    Descriptors,
    /// CPU.
    Cpu,
    /// Local ports.
    Ports,
    /// Memory.
    Memory,
    /// The disk, and threads that wait for it.
    Disk,
    /// Eviction and admission.
    Eviction,
    /// Collapsing of requests for one object, and its waits.
    Collapsing,
    /// Connections to the origin.
    Origin,
    /// Framing of messages.
    Framing,
}

impl Cause {
    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            Cause::AcceptQueue => "the accept queue",
            Cause::Threads => "its threads",
            Cause::Descriptors => "descriptors",
            Cause::Cpu => "CPU",
            Cause::Ports => "local ports",
            Cause::Memory => "memory",
            Cause::Disk => "the disk",
            Cause::Eviction => "eviction",
            Cause::Collapsing => "requests for one object that are not collapsed, or wait for each other",
            Cause::Origin => "connections to the origin",
            Cause::Framing => "framing of messages",
        }
    }

    /// Where to look.
    pub fn look(self) -> &'static str {
        match self {
            Cause::AcceptQueue => "ss -ltn; nstat -az TcpExtListenOverflows",
            Cause::Threads => "top -H -p PID",
            Cause::Descriptors => "ls /proc/PID/fd | wc -l; grep files /proc/PID/limits",
            Cause::Cpu => "mpstat -P ALL 1; perf top -p PID",
            Cause::Ports => "ss -tan state time-wait | wc -l",
            Cause::Memory => "grep -E 'Rss|Anon' /proc/PID/smaps_rollup",
            Cause::Disk => "iostat -x 1; cat /proc/PID/io",
            Cause::Eviction => "the proxy's own counters of evicted objects",
            Cause::Collapsing => "concurrent requests at the origin",
            Cause::Origin => "ss -tan dst ORIGIN",
            Cause::Framing => "the evidence of the run: wringer report",
        }
    }
}

/// Counters of this machine and of the target that no window of the bystander tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Counters {
    /// Connections that found the accept queue full while it pressed, on the whole machine.
    pub listen_overflows: Option<u64>,
    /// CPU that the target used while it pressed, in cores.
    pub cores_used: Option<f64>,
    /// Cores of this machine.
    pub cores: f64,
    /// Share of a core that its busiest thread used.
    pub busiest_thread: Option<f64>,
    /// Sockets in TIME_WAIT towards the origin, at most.
    pub origin_time_wait: Option<u64>,
    /// Connections that the way to the origin refused or cut, as the scenario wanted.
    pub origin_disturbed: u64,
}

/// A cause whose counter moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moved {
    /// The cause.
    pub cause: Cause,
    /// The counter, with its value before and meanwhile.
    pub evidence: String,
}

/// A process is short of descriptors with this share of its limit in use.
const NEARLY_ALL: f64 = 0.9;
/// A core, or all of them, are busy above this share.
const BUSY: f64 = 0.9;
/// Memory counts as grown by this factor and more than so many bytes.
const GROWN: f64 = 1.5;
const GROWN_BYTES: u64 = 16 << 20;
/// So many ports in TIME_WAIT are most of those of an address.
const MANY_PORTS: u64 = 20_000;
/// The hit ratio of the bystander has fallen by this.
const EVICTED: f64 = 0.1;

/// Causes whose counters moved. `counters`: those that the windows do not tell.
pub fn moved(seen: &Seen, counters: &Counters) -> Vec<Moved> {
    let before = &seen.held_before;
    let most = &seen.held_most;
    let found = |cause, evidence: String| Moved { cause, evidence };
    let mut all = Vec::new();
    if let Some(overflows) = counters.listen_overflows.filter(|overflows| *overflows > 0) {
        let evidence = format!("TcpExtListenOverflows + ListenDrops of this machine: +{overflows}");
        all.push(found(Cause::AcceptQueue, evidence));
    }
    if let Some((held, limit)) = most.most_descriptors.zip(most.descriptor_limit)
        && held as f64 >= NEARLY_ALL * limit as f64
    {
        all.push(found(Cause::Descriptors, format!("a process held {held} of the {limit} that it may")));
    }
    if let Some((then, now)) = before.memory_bytes.zip(most.memory_bytes)
        && now > then + GROWN_BYTES
        && now as f64 > GROWN * then as f64
    {
        let [then, now] = [then, now].map(|bytes| words::bytes(bytes as f64));
        all.push(found(Cause::Memory, format!("resident: {then} before, {now} at most")));
    }
    if let Some(busiest) = counters.busiest_thread.filter(|busiest| *busiest >= BUSY) {
        let evidence = format!("its busiest thread used {} of a core", words::percent(busiest));
        all.push(found(Cause::Threads, evidence));
    }
    if let Some(used) = counters.cores_used.filter(|used| *used >= BUSY * counters.cores) {
        all.push(found(Cause::Cpu, format!("it used {used:.1} of {:.0} cores", counters.cores)));
    }
    if let Some(waiting) = counters.origin_time_wait.filter(|waiting| *waiting >= MANY_PORTS) {
        all.push(found(Cause::Ports, format!("{waiting} in TIME_WAIT towards the origin")));
    }
    if let Some((then, now)) = seen.before.hit_ratio.zip(seen.during.hit_ratio)
        && then - now > EVICTED
    {
        let [then, now] = [then, now].map(words::percent);
        all.push(found(Cause::Eviction, format!("hits of the bystander: {then} before, {now} meanwhile")));
    }
    if counters.origin_disturbed > 0 {
        let evidence =
            format!("{} of its connections to the origin were disturbed", counters.origin_disturbed);
        all.push(found(Cause::Origin, evidence));
    }
    if seen.during.faulty + seen.pressed.counts.check_failed > 0 {
        let wrong = seen.during.faulty + seen.pressed.counts.check_failed;
        all.push(found(Cause::Framing, format!("answers that the oracle found wrong: {wrong}")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Resources;

    #[test]
    fn a_cause_is_named_only_where_its_counter_moved() {
        let counters = Counters { cores: 2.0, listen_overflows: Some(0), ..Counters::default() };
        assert_eq!(moved(&Seen::default(), &counters), []);
        let seen = Seen {
            held_before: Resources { memory_bytes: Some(30 << 20), ..Resources::default() },
            held_most: Resources {
                memory_bytes: Some(90 << 20),
                most_descriptors: Some(990),
                descriptor_limit: Some(1024),
                ..Resources::default()
            },
            ..Seen::default()
        };
        let counters = Counters {
            listen_overflows: Some(7),
            cores_used: Some(1.9),
            busiest_thread: Some(0.99),
            ..counters
        };
        let causes: Vec<Cause> = moved(&seen, &counters).into_iter().map(|moved| moved.cause).collect();
        let expected = [Cause::AcceptQueue, Cause::Descriptors, Cause::Memory, Cause::Threads, Cause::Cpu];
        assert_eq!(causes, expected);
    }
}
