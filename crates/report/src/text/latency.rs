//! How long it took.

use super::{Report, Section};
use crate::show::{self, Table};
use measure::{Clock, PhaseResult};
use plan::Pace;

impl Report<'_> {
    pub(super) fn latency(&self) -> Option<Section> {
        let rows = [
            (Clock::Service, "service time"),
            (Clock::Response, "response time"),
            (Clock::Hit, "of hits"),
            (Clock::Miss, "of misses"),
            (Clock::FirstByte, "first byte"),
            (Clock::Connect, "connect"),
            (Clock::Failure, "until failure"),
        ];
        let mut table = Table::new("lrrrrrrr");
        table.row(["", "count", "min", "p50", "p90", "p99", "p99.9", "max"]);
        let recorded = rows.into_iter().filter(|(clock, _)| !self.phase.tally.clock(*clock).is_empty());
        let found: Vec<_> = recorded.map(|(clock, name)| latency_row(self.phase, clock, name)).collect();
        if found.is_empty() {
            return None;
        }
        found.into_iter().for_each(|row| table.row(row));
        let mut section = Section::new("Latency", table.lines());
        if self.counts().fine > 0 {
            section.say(&self.latency_legend());
        }
        Some(section)
    }

    fn latency_legend(&self) -> String {
        let differ = self.why_they_differ();
        let shared = self.counts().revalidated + self.counts().collapsed;
        let misses = if shared > 0 { " Misses: here with revalidated and collapsed ones." } else { "" };
        format!(
            "Good answers only. Service time: from the actual send; response time: from the intended one; {differ}{misses}"
        )
    }

    fn why_they_differ(&self) -> &'static str {
        if self.has_open_pace() {
            "between the two, requests waited to be sent."
        } else {
            "both are the same in a closed pace, where users send when they intend to."
        }
    }

    fn has_open_pace(&self) -> bool {
        let load = self.context.plan.load.as_ref();
        let mut phases = load.into_iter().flat_map(|load| &load.phases).filter(|phase| phase.measured);
        phases.any(|phase| !matches!(phase.pace, Pace::Users(_)))
    }
}

fn latency_row(phase: &PhaseResult, clock: Clock, name: &str) -> [String; 8] {
    let histogram = phase.tally.clock(clock);
    let at = |quantile| show::time(phase.percentile_us(clock, quantile));
    [
        name.to_owned(),
        show::count(histogram.len()),
        show::time(histogram.min()),
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        show::time(histogram.max()),
    ]
}
