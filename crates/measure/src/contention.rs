//! How much of the CPU others had while a run was measured: other programs, and other machines of the same host.

use serde::{Deserialize, Serialize};

/// Share of the time that a worker may wait for a core before it shows in what it measures.
const WORKER_WAITS: f64 = 0.05;
/// Share of the time in which the target wanted to run that it may wait for a core.
const TARGET_WAITS: f64 = 0.2;
/// Cores that other programs may keep busy.
const OTHERS_CORES: f64 = 0.1;
/// Share of the CPU time that the host may give to others.
const STOLEN: f64 = 0.02;
/// Share of the time in which all programs may wait for memory.
const MEMORY_STALLS: f64 = 0.01;

/// Contention as observed; `None` where the system does not tell. Shares lie between 0 and 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Contention {
    /// Share of the measured time that each worker waited for a core although it had work to do (the run queue's delay).
    pub worker_waits: Vec<f64>,
    /// Share of the time in which the target's threads wanted to run that they waited for a core.
    pub target_waits: Option<f64>,
    /// Cores kept busy by programs that are neither wringer nor watched.
    pub others_cores: Option<f64>,
    /// Share of this machine's CPU time that its host gave to others (steal).
    pub stolen: Option<f64>,
    /// Share of the time in which some thread waited for a core (pressure stall information).
    pub cpu_pressure: Option<f64>,
    /// Share of the time in which all waited for memory.
    pub memory_pressure: Option<f64>,
    /// Share of the time in which all waited for disks.
    pub io_pressure: Option<f64>,
    /// Seconds in which wringer itself did not run, as when it is stopped by a signal or the virtual machine pauses.
    pub paused_s: f64,
}

impl Contention {
    /// Why figures do not speak of the target alone, one sentence each, with what to try.
    pub fn reasons(&self) -> Vec<String> {
        [self.pause_reason(), self.others_reason(), self.steal_reason(), self.memory_reason()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The share of the time that the worker waited that waited most.
    pub fn longest_wait(&self) -> f64 {
        self.worker_waits.iter().copied().fold(0.0, f64::max)
    }

    fn pause_reason(&self) -> Option<String> {
        (self.paused_s > 0.0).then(|| {
            format!(
                "wringer itself did not run for {:.1} s (stopped by a signal or a debugger, or the machine paused): \
                 answers of that time look slow, and rates low; measure again",
                self.paused_s
            )
        })
    }

    fn others_reason(&self) -> Option<String> {
        let cores = self.others_cores.filter(|cores| *cores >= OTHERS_CORES)?;
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let worker = Some(self.longest_wait()).filter(|share| *share >= WORKER_WAITS);
        let target = self.target_waits.filter(|share| *share >= TARGET_WAITS);
        let waited = [
            worker.map(|share| format!("a worker waited {} of the time for a core", percent(share))),
            target.map(|share| {
                format!("the target waited {} of the time in which it had work", percent(share))
            }),
        ];
        let waited: Vec<String> = waited.into_iter().flatten().collect();
        let told_apart = match self.target_waits {
            Some(_) => "",
            None => "; a target on this machine is told apart with --watch-pid",
        };
        (!waited.is_empty()).then(|| {
            format!(
                "other programs kept {cores:.1} cores busy, and {}: end them or use a machine without them{told_apart}",
                waited.join(", and ")
            )
        })
    }

    fn steal_reason(&self) -> Option<String> {
        let stolen = self.stolen.filter(|stolen| *stolen >= STOLEN)?;
        Some(format!(
            "the host gave {:.0} % of this machine's CPU time to others (steal): use a host that is not shared",
            stolen * 100.0
        ))
    }

    fn memory_reason(&self) -> Option<String> {
        let stalled = self.memory_pressure.filter(|stalled| *stalled >= MEMORY_STALLS)?;
        Some(format!("all programs waited for memory {:.0} % of the time: free some", stalled * 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_take_the_cpu_are_named_and_a_busy_target_is_not() {
        let alone = Contention {
            worker_waits: vec![0.3, 0.4],
            target_waits: Some(0.5),
            others_cores: Some(0.05),
            stolen: Some(0.01),
            cpu_pressure: Some(0.9),
            ..Contention::default()
        };
        assert_eq!(alone.reasons(), Vec::<String>::new(), "wringer and the target wait for each other only");
        let idle = Contention {
            worker_waits: vec![0.01],
            target_waits: Some(0.1),
            others_cores: Some(6.0),
            ..Contention::default()
        };
        assert_eq!(idle.reasons(), Vec::<String>::new(), "there is room for all");
        let crowded =
            Contention { others_cores: Some(1.52), stolen: Some(0.3), memory_pressure: Some(0.2), ..alone };
        let reasons = crowded.reasons();
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        let paused = Contention { paused_s: 2.04, ..Contention::default() }.reasons();
        assert!(paused.len() == 1 && paused[0].contains("did not run for 2.0 s"), "{paused:?}");
        for said in ["1.5 cores", "a worker waited 40 % of the time", "the target waited 50 %"] {
            assert!(reasons[0].contains(said), "{said} in {reasons:?}");
        }
        assert!(!reasons[0].contains("--watch-pid"), "it is watched already: {reasons:?}");
        let unseen = Contention { target_waits: None, ..crowded.clone() }.reasons();
        assert!(unseen[0].contains("--watch-pid"), "{unseen:?}");
        assert!(reasons[1].contains("30 %") && reasons[2].contains("20 %"), "{reasons:?}");
        assert_eq!(Contention::default().reasons(), Vec::<String>::new(), "what is not known accuses nobody");
    }
}
