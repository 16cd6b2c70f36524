//! The generator's verdict on itself: is the result valid, or was the generator the limit?

use crate::machine::{DESCRIPTOR_ADVICE, MachineUse, PORT_ADVICE};
use serde::Serialize;
use std::time::Duration;

/// CPU share above which a generator's own work starts to show in what it measures; the customary water mark.
pub const CPU_WATER_MARK: f64 = 0.75;
/// Lateness of sends (99th percentile) above which an open pace was not kept.
pub const LATENESS_LIMIT: Duration = Duration::from_millis(5);

/// What the generator observed of itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SelfCheck {
    /// CPU share of each worker's thread while measuring, 0 to 1.
    pub worker_cpu: Vec<f64>,
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
    /// What panicked in the generator's own code; the run ended with the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub panics: Vec<String>,
    /// What the run took of this machine.
    pub machine: MachineUse,
}

/// Whether the figures speak of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// True where nothing says that the generator was the limit.
    pub valid: bool,
    /// Why not, one sentence each, with what to try.
    pub reasons: Vec<String>,
}

impl SelfCheck {
    /// Judges the run.
    pub fn verdict(&self) -> Verdict {
        let mut reasons = Vec::new();
        if let [first, more @ ..] = self.panics.as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
            reasons.push(format!(
                "wringer's own code failed{more}: {first}. The run ended there; what was under way counts as unfinished. \
                 Please report it with the lines on stderr"
            ));
        }
        let busiest = self.worker_cpu.iter().copied().fold(0.0, f64::max);
        if busiest > CPU_WATER_MARK {
            reasons.push(format!(
                "a worker used {:.0} % of its core (water mark {:.0} %): add threads or machines, or ask for less",
                busiest * 100.0,
                CPU_WATER_MARK * 100.0
            ));
        }
        if let Some(late) = self.lateness_p99_us.filter(|late| *late > LATENESS_LIMIT.as_micros() as u64) {
            reasons.push(format!("sends were late by {late} µs (p99): the pace was not kept; add threads"));
        }
        if self.overflow > 0 {
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
        if self.requests == 0 {
            reasons.push("no request was sent".to_owned());
        }
        Verdict { valid: reasons.is_empty(), reasons }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_broke_off_is_not_valid() {
        let broken = SelfCheck {
            panics: vec!["index out of bounds".to_owned(), "again".to_owned()],
            requests: 10,
            ..SelfCheck::default()
        };
        let verdict = broken.verdict();
        assert!(!verdict.valid);
        assert!(
            verdict.reasons[0].starts_with("wringer's own code failed (and 1 more): index out of bounds.")
        );
    }

    #[test]
    fn a_quiet_generator_is_valid_and_a_busy_one_says_why() {
        let quiet = SelfCheck { worker_cpu: vec![0.3, 0.5], requests: 10, ..SelfCheck::default() };
        assert!(quiet.verdict().valid);
        let busy = SelfCheck { worker_cpu: vec![0.3, 0.96], overflow: 3, ..quiet };
        let verdict = busy.verdict();
        assert!(
            !verdict.valid && verdict.reasons.len() == 2 && verdict.reasons[0].contains("96 %"),
            "{verdict:?}"
        );
        let starved = SelfCheck { worker_cpu: vec![0.1], overflow: 0, starved: 5, no_port: 3, ..busy };
        let reasons = starved.verdict().reasons;
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
        assert_eq!(told_once.verdict().reasons.len(), 3, "{:?}", told_once.verdict());
        let tight = SelfCheck { starved: 0, no_port: 0, machine, ..starved };
        let reasons = tight.verdict().reasons.join("\n");
        for said in ["10 of 10 local ports", "all of 20 descriptors", "swapped"] {
            assert!(reasons.contains(said), "{said} in {reasons}");
        }
    }
}
