//! The first record of a run: what it is, and the machine that makes it.

use crate::doctor::Facts;
use measure::Head;
use measure::stream::{Machine, PhasePlan};
use plan::{Phase, Plan};

/// The head of a run of this plan.
pub fn of(plan: &Plan, started_unix_s: f64, threads: u32) -> Head {
    Head {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_s,
        threads,
        seed: plan.seed,
        phases: plan.load.iter().flat_map(|load| &load.phases).map(phase).collect(),
        plan: plan.to_text(),
        machine: machine(),
        ..Head::default()
    }
}

fn phase(phase: &Phase) -> PhasePlan {
    PhasePlan {
        name: phase.name.clone(),
        measured: phase.measured,
        open: phase.pace.open().is_some(),
        labels: phase.scenario.labels(),
    }
}

fn machine() -> Machine {
    let facts = Facts::read();
    let text = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let after = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = after(&text("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let kilobytes = memory.trim_end_matches(" kB").parse::<u64>().unwrap_or(0);
    Machine {
        host: text("/proc/sys/kernel/hostname").trim().to_owned(),
        cores: facts.cpus.unwrap_or(0) as u32,
        cpu: after(&text("/proc/cpuinfo"), "model name").unwrap_or_default(),
        memory_bytes: kilobytes * 1024,
        kernel: facts.kernel,
    }
}
