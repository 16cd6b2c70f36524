//! The generator: whether it was the limit, and how the run is repeated.

use super::headline::Behind;
use super::{Report, Section, machine};
use crate::show::{self, ShowTable, Wrapping};
use measure::{PhaseResult, TimeMetric, Worth};
use plan::secret::MASK;

/// The system counts CPU in steps of 10 ms; fewer seconds than these say little.
const SHORTEST_CPU_S: f64 = 0.05;

impl Report<'_> {
    pub(super) fn generator(&self) -> Section {
        let mut facts: Vec<(&str, String)> = Vec::new();
        if self.has_load() {
            facts.extend(self.verdict_facts());
        }
        facts.push(("threads", self.threads()));
        facts.extend(self.cpu_cost().map(|text| ("cost", text)));
        facts.extend(self.target_cost().map(|text| ("target", text)));
        facts.extend(machine::watched(&self.result.watched, self.phase.took));
        facts.extend(lateness(self.phase).map(|text| ("lateness", text)));
        facts.extend(machine::held(&self.result.self_check.machine));
        let dropped = self.result.self_check.dropped_events;
        if dropped > 0 {
            facts.push((
                "dropped",
                format!("{} that nobody read fast enough", show::counted(dropped, "event")),
            ));
        }
        facts.extend(self.result.notes.iter().map(|note| ("note", note.clone())));
        Section::of("Generator", fact_table(facts))
    }

    fn verdict_facts(&self) -> Vec<(&'static str, String)> {
        let verdict = self.result.verdict(self.phase);
        let mut facts = vec![("measurement", self.measurement(&verdict, Behind::Sections))];
        if verdict.measurement.state != Worth::NothingSent {
            facts.extend(verdict.measurement.reasons.into_iter().map(|reason| ("because", reason)));
        }
        facts
    }

    fn threads(&self) -> String {
        let threads = show::counted(u64::from(self.context.threads), "worker");
        let text = format!("{threads} on {}", self.result.backend);
        match machine::cpu_shares(&self.result.self_check.worker_cpu) {
            Some(shares) => format!("{text}; CPU {shares} of a core while measuring"),
            None => text,
        }
    }

    fn cpu_cost(&self) -> Option<String> {
        let cost = self.result.cpu_us_per_request()?;
        let sides = if self.context.plan.origin.is_some() { ", the origin's part included" } else { "" };
        Some(format!("{} of CPU per request{sides}", show::cost(cost)))
    }

    fn target_cost(&self) -> Option<String> {
        let cpu_s = self.context.target_cpu.filter(|cpu_s| *cpu_s >= SHORTEST_CPU_S)?;
        let cost = self.phase.cpu_us_per_answer(cpu_s)?;
        let seconds = self.phase.took.as_secs_f64();
        let cores = if seconds > 0.0 { format!(", {:.2} cores", cpu_s / seconds) } else { String::new() };
        Some(format!("{} of CPU per answer{cores}", show::cost(cost)))
    }

    pub(super) fn repeat(&self) -> Section {
        let seed = self.context.plan.seed;
        let mut section = Section::new("To repeat this run");
        section.line(format!("seed {seed}"));
        if !self.context.command.is_empty() {
            section.quote(self.context.command);
        }
        if self.context.command.contains(MASK) {
            section.say(MASKED);
        }
        section
    }
}

/// Behind a command line with a secret left out.
const MASKED: &str = "*** stands where a secret was typed: type it anew, or give env:VARIABLE or file:PATH.";

fn lateness(phase: &PhaseResult) -> Option<String> {
    let histogram = phase.tally.metric(TimeMetric::Lateness);
    let at = |quantile| show::time(phase.percentile_us(TimeMetric::Lateness, quantile));
    let longest = show::time(histogram.max());
    (!histogram.is_empty()).then(|| {
        format!("of sends: p50 {}, p99 {}, p99.9 {}, longest {longest}", at(0.5), at(0.99), at(0.999))
    })
}

/// Names on the left, wrapped text on the right.
fn fact_table(facts: Vec<(&str, String)>) -> ShowTable {
    let mut table = ShowTable::new("ll").wrapped(Wrapping::Rest);
    facts.into_iter().for_each(|(name, text)| table.row([name.to_owned(), text]));
    table
}
