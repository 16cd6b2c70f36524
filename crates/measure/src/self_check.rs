//! Observations that the generator made of itself, and whether it was the limit.

use crate::contention::Contention;
use crate::machine::{DESCRIPTOR_ADVICE, MachineUse, PORT_ADVICE};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// CPU share above which a generator's own work starts to show in what it measures; the customary water mark.
pub const CPU_WATER_MARK: f64 = 0.75;
/// Lateness of sends (99th percentile) above which an open pace was not kept.
pub const LATENESS_LIMIT: Duration = Duration::from_millis(5);
/// CPU share of the busiest worker below which the generator had time to spare: sends that were late nevertheless are the
/// machine's doing.
const SPARE_CPU: f64 = 0.25;

/// Observations that the generator made of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SelfCheck {
    /// CPU share of each worker's thread while measuring, 0 to 1.
    pub worker_cpu: Vec<f64>,
    /// It was over before shares of CPU say anything.
    pub too_short: bool,
    /// 99th percentile of the lateness of sends, under an open pace, in µs.
    pub lateness_p99_us: Option<u64>,
    /// Requests that were due and not sent.
    pub overflow: u64,
    /// Requests that failed because this machine had no port or descriptor left.
    pub starved: u64,
    /// Of those, the ones that found no local port.
    pub no_port: u64,
    /// Requests begun.
    pub requests: u64,
    /// Events or evidence that were dropped because nobody read them fast enough.
    pub dropped_events: u64,
    /// Panics in the generator's own code; the run ended with the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub panics: Vec<String>,
    /// Resources that the run took of this machine.
    pub machine: MachineUse,
    /// How much of the CPU others had.
    pub contention: Contention,
    /// The run's last record is missing, which would have told of the generator.
    #[serde(skip)]
    pub untold: bool,
}

impl SelfCheck {
    /// Why the generator was the limit, one sentence each, with what to try. `silent`: the target stopped answering, so
    /// what could not be sent is not the generator's fault.
    pub fn limits(&self, silent: bool) -> Vec<String> {
        let mut reasons: Vec<String> = self.panic_reason().into_iter().collect();
        let busiest = self.busiest();
        if busiest > CPU_WATER_MARK && !self.too_short {
            reasons.push(format!(
                "a worker used {:.0} % of its core (water mark {:.0} %): add threads or machines, or ask for less",
                busiest * 100.0,
                CPU_WATER_MARK * 100.0
            ));
        }
        if let Some(late) = self.late().filter(|_| busiest >= SPARE_CPU) {
            reasons.push(self.late_reason(late, busiest));
        }
        if self.overflow > 0 && !silent {
            reasons.push(format!(
                "{} requests were due but not sent: raise the limit of requests in flight, or ask for less",
                self.overflow
            ));
        }
        if self.no_port > 0 {
            reasons.push(format!("{} requests found no free local port: {PORT_ADVICE}", self.no_port));
        } else {
            reasons.extend(self.machine.ports_reason());
        }
        if self.starved > self.no_port {
            let failed = self.starved - self.no_port;
            reasons.push(format!("{failed} requests failed for want of descriptors: {DESCRIPTOR_ADVICE}"));
        } else {
            reasons.extend(self.machine.descriptors_reason());
        }
        reasons.extend(self.machine.swap_reason());
        reasons
    }

    /// That others had the CPU, or that something kept the generator from running, one sentence each.
    pub fn disturbances(&self) -> Vec<String> {
        self.contention.reasons().into_iter().chain(self.held_up()).collect()
    }

    /// That sends were late although the generator had CPU to spare.
    fn held_up(&self) -> Option<String> {
        let busiest = self.busiest();
        self.late().filter(|_| busiest < SPARE_CPU).map(|late| self.late_reason(late, busiest))
    }

    /// The lateness of sends, one in a hundred above it, where no worker was near the limit of its core.
    pub fn late_with_cpu_to_spare(&self) -> Option<Duration> {
        self.lateness_p99_us.map(Duration::from_micros).filter(|_| self.busiest() <= CPU_WATER_MARK)
    }

    /// The same but for what a shared machine always does: time that its host takes, and sends that are late with CPU to spare.
    #[must_use]
    pub fn but_for_the_machine(&self) -> SelfCheck {
        SelfCheck {
            lateness_p99_us: self.lateness_p99_us.filter(|_| self.late_with_cpu_to_spare().is_none()),
            contention: Contention { stolen: None, ..self.contention.clone() },
            ..self.clone()
        }
    }

    fn busiest(&self) -> f64 {
        self.worker_cpu.iter().copied().fold(0.0, f64::max)
    }

    /// The lateness of sends, where that is more than a pace may have.
    fn late(&self) -> Option<Duration> {
        self.lateness_p99_us.map(Duration::from_micros).filter(|late| *late > LATENESS_LIMIT)
    }

    fn panic_reason(&self) -> Option<String> {
        let [first, more @ ..] = self.panics.as_slice() else { return None };
        let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
        Some(format!(
            "wringer's own code failed{more}: {first}. The run ended there; what was under way counts as unfinished. \
             Please report it with the lines on stderr"
        ))
    }

    /// The pace was not kept: by a generator that is too slow, or by a machine that let it wait.
    fn late_reason(&self, late: Duration, busiest: f64) -> String {
        let late =
            format!("sends were late by {:.1} ms (p99): the pace was not kept", late.as_secs_f64() * 1e3);
        let waits = self.contention.longest_wait();
        if busiest > CPU_WATER_MARK {
            format!("{late}; add threads or machines, or ask for less")
        } else if waits > busiest / 2.0 && waits > 0.01 {
            format!(
                "{late}, as a worker waited {:.0} % of the time for a core: leave it one of its own",
                waits * 100.0
            )
        } else {
            format!(
                "{late}, though workers used {:.0} % of a core at most: see whether the machine pauses (power saving, a \
                 virtual machine), or ask for a steadier pace",
                busiest * 100.0
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_generator_is_valid_and_a_busy_one_says_why() {
        let quiet = SelfCheck { worker_cpu: vec![0.3, 0.5], requests: 10, ..SelfCheck::default() };
        assert_eq!(quiet.limits(false), Vec::<String>::new());
        let busy = SelfCheck { worker_cpu: vec![0.3, 0.96], overflow: 3, ..quiet };
        let reasons = busy.limits(false);
        assert!(reasons.len() == 2 && reasons[0].contains("96 %"), "{reasons:?}");
        assert_eq!(
            busy.limits(true).len(),
            1,
            "what a silent target did not take is not the generator's fault"
        );
        let short = SelfCheck { too_short: true, overflow: 0, ..busy.clone() };
        assert!(short.limits(false).is_empty(), "the beginning of a run is all work");
        let starved = SelfCheck { worker_cpu: vec![0.1], overflow: 0, starved: 5, no_port: 3, ..busy };
        let reasons = starved.limits(false);
        assert!(
            reasons[0].contains("3 requests found no free local port") && reasons[0].contains("--source")
        );
        assert!(
            reasons.len() == 2 && reasons[1].contains("2 requests failed for want of descriptors"),
            "{reasons:?}"
        );
        let machine = MachineUse {
            swapped_bytes: 1 << 30,
            ports: Some(10),
            port_limit: Some(10),
            descriptors: 20,
            descriptor_limit: Some(20),
            ..MachineUse::default()
        };
        let told_once = SelfCheck { machine: machine.clone(), ..starved.clone() };
        assert_eq!(told_once.limits(false).len(), 3, "{:?}", told_once.limits(false));
        let tight = SelfCheck { starved: 0, no_port: 0, machine, ..starved };
        let reasons = tight.limits(false).join("\n");
        for said in ["10 of 10 local ports", "all of 20 descriptors", "swapped"] {
            assert!(reasons.contains(said), "{said} in {reasons}");
        }
    }

    #[test]
    fn what_a_shared_machine_always_does_can_be_left_out_and_nothing_else() {
        let taken = Contention { stolen: Some(0.3), ..Contention::default() };
        let late = SelfCheck {
            worker_cpu: vec![0.1],
            lateness_p99_us: Some(900_000),
            contention: taken,
            ..SelfCheck::default()
        };
        assert_eq!(late.disturbances().len(), 2, "{:?}", late.disturbances());
        let left = late.but_for_the_machine();
        assert!(left.disturbances().is_empty() && left.limits(false).is_empty(), "{:?}", left.disturbances());
        // A worker without CPU to spare is late by itself.
        let busy = SelfCheck { worker_cpu: vec![0.99], ..late };
        assert!(!busy.but_for_the_machine().limits(false).is_empty());
    }

    #[test]
    fn a_run_that_broke_off_is_not_valid() {
        let panics = vec!["index out of bounds".to_owned(), "again".to_owned()];
        let reasons = SelfCheck { panics, requests: 10, ..SelfCheck::default() }.limits(false);
        assert!(reasons[0].starts_with("wringer's own code failed (and 1 more): index out of bounds."));
    }

    #[test]
    fn threads_are_no_advice_where_the_cpu_is_idle() {
        let late = |worker_cpu, worker_waits| {
            let contention = Contention { worker_waits, ..Contention::default() };
            let check =
                SelfCheck { worker_cpu, lateness_p99_us: Some(29_439), contention, ..SelfCheck::default() };
            assert_eq!(check.limits(false).is_empty(), check.held_up().is_some());
            check.limits(false).into_iter().chain(check.held_up()).collect::<Vec<_>>().join("\n")
        };
        let [busy, waiting, idle] =
            [late(vec![0.9], vec![]), late(vec![0.08], vec![0.6]), late(vec![0.08], vec![])];
        assert!(busy.contains("late by 29.4 ms") && busy.contains("add threads"), "{busy}");
        assert!(
            waiting.contains("waited 60 % of the time for a core") && !waiting.contains("threads"),
            "{waiting}"
        );
        assert!(idle.contains("used 8 % of a core at most") && !idle.contains("add threads"), "{idle}");
    }
}
