//! Lines of the generator's section about the machine: watched processes, and what the run held of it.

use crate::show;
use measure::{MachineUse, Watched};
use std::time::Duration;

/// A line for each watched process; `took`: how long was measured.
pub(super) fn watched(watched: &[Watched], took: Duration) -> Vec<(&'static str, String)> {
    watched.iter().map(|watched| ("watched", of_one(watched, took.as_secs_f64()))).collect()
}

fn of_one(watched: &Watched, seconds: f64) -> String {
    let more = match watched.processes {
        0 | 1 => String::new(),
        2 => " and 1 more process".to_owned(),
        processes => format!(" and {} more processes", processes - 1),
    };
    let measured = watched.cpu_s.filter(|_| seconds > 0.0);
    let cpu = measured.map(|cpu_s| format!("{:.2} cores, ", cpu_s / seconds)).unwrap_or_default();
    let memory = show::bytes(watched.memory_bytes);
    format!("{} (pid {}{more}): {cpu}{memory} of memory at most", watched.name, watched.pid)
}

/// Returns the resources that the run held of the machine at most, and what went wrong on it; nothing where nobody looked.
pub(super) fn held(machine: &MachineUse) -> Vec<(&'static str, String)> {
    if machine.descriptors == 0 {
        return Vec::new();
    }
    let of =
        |limit: Option<u64>| limit.map(|limit| format!(" of {}", show::count(limit))).unwrap_or_default();
    let descriptors =
        format!("{}{} descriptors", show::count(machine.descriptors), of(machine.descriptor_limit));
    let ports = machine.ports.map(|ports| {
        format!(", {}{} local ports towards the target", show::count(ports), of(machine.port_limit))
    });
    let memory = show::bytes(machine.memory_bytes);
    let mut facts =
        vec![("held", format!("at most {descriptors}, {memory} of memory{}", ports.unwrap_or_default()))];
    let pressures = pressures(machine);
    if !pressures.is_empty() {
        facts.push(("machine", format!("{}; by all programs together", pressures.join(", "))));
    }
    facts
}

fn pressures(machine: &MachineUse) -> Vec<String> {
    let again = show::count(machine.retransmits);
    let segments = show::count(machine.segments);
    let turned_away = show::counted(machine.listen_overflows, "new connection");
    let all = [
        (machine.retransmits, format!("{again} of {segments} TCP segments sent again")),
        (machine.listen_overflows, format!("{turned_away} found a listener's queue full")),
        (machine.swapped_bytes, format!("{} swapped", show::bytes(machine.swapped_bytes))),
    ];
    all.into_iter().filter(|(happened, _)| *happened > 0).map(|(_, text)| text).collect()
}

/// Up to eight workers one by one, more as a range.
pub(super) fn cpu_shares(shares: &[f64]) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match shares {
        [] => None,
        [one] => Some(percent(*one)),
        few if few.len() <= 8 => Some(few.iter().map(|share| percent(*share)).collect::<Vec<_>>().join(", ")),
        many => {
            let least = many.iter().copied().fold(f64::INFINITY, f64::min);
            let most = many.iter().copied().fold(0.0, f64::max);
            Some(format!("{} to {}", percent(least), percent(most)))
        }
    }
}
