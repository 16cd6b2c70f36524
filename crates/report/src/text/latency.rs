//! How long it took: from the whole request to its parts, with those on new and on reused connections apart.

use super::{Report, Section};
use crate::show::{self, ShowTable};
use measure::{Censored, PhaseResult, TimeMetric};
use plan::Pace;

/// The columns of the shortest time and of p99.9, which are left out first where the table is too wide.
const SHORTEST: usize = 2;
const P999: usize = 6;

/// Metrics that tell more only where both have run.
const APART: [TimeMetric; 4] = [
    TimeMetric::ServiceNew,
    TimeMetric::ServiceReused,
    TimeMetric::FirstByteNew,
    TimeMetric::FirstByteReused,
];

impl Report<'_> {
    pub(super) fn latency(&self) -> Option<Section> {
        let table = table(self.phase)?;
        let mut section = Section::new("Latency");
        section.show_within(table, &[SHORTEST, P999]);
        if self.counts().ok > 0 {
            section.say(&self.latency_legend());
        }
        Some(section)
    }

    fn latency_legend(&self) -> String {
        let differ = self.why_they_differ();
        let shared = self.counts().revalidated + self.counts().collapsed;
        let misses = if shared > 0 { " Misses: here with revalidated and collapsed ones." } else { "" };
        let apart = if apart(self.phase) { " New, reused: by connection." } else { "" };
        let unfinished = match self.counts().unfinished {
            0 => "",
            _ => " Unfinished requests count as response times of at least what they had waited (≥).",
        };
        format!(
            "Good answers only. Service time: from the actual send; response time: from the intended one; \
             {differ}{misses}{apart}{unfinished}"
        )
    }

    fn why_they_differ(&self) -> &'static str {
        if self.has_open_pace() {
            "between the two, requests waited to be sent."
        } else if recorded(self.phase, TimeMetric::Connect) {
            "in a closed pace, what lies between them is opening connections."
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

/// The table; `None` where no time was recorded.
fn table(phase: &PhaseResult) -> Option<ShowTable> {
    let rows = [
        (TimeMetric::Service, "service time"),
        (TimeMetric::Hit, "of hits"),
        (TimeMetric::Miss, "of misses"),
        (TimeMetric::ServiceNew, "on new"),
        (TimeMetric::ServiceReused, "on reused"),
        (TimeMetric::Response, "response time"),
        (TimeMetric::FirstByte, "first byte"),
        (TimeMetric::FirstByteNew, "on new"),
        (TimeMetric::FirstByteReused, "on reused"),
        (TimeMetric::Page, "whole page"),
        (TimeMetric::Lookup, "name lookup"),
        (TimeMetric::Connect, "connect"),
        (TimeMetric::Tls, "TLS handshake"),
        (TimeMetric::Failure, "until failure"),
        (TimeMetric::Unfinished, "unfinished"),
    ];
    let apart = apart(phase);
    let told = |metric: TimeMetric| recorded(phase, metric) && (apart || !APART.contains(&metric));
    let found: Vec<_> = rows
        .into_iter()
        .filter(|(metric, _)| told(*metric))
        .map(|(metric, name)| row(phase, metric, name))
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut table = ShowTable::new("lrrrrrrr");
    table.words(["", "count", "min", "p50", "p90", "p99", "p99.9", "max"]);
    found.into_iter().for_each(|row| table.row(row));
    Some(table)
}

/// True if there are times on new and on reused connections.
fn apart(phase: &PhaseResult) -> bool {
    recorded(phase, TimeMetric::ServiceNew) && recorded(phase, TimeMetric::ServiceReused)
}

fn recorded(phase: &PhaseResult, metric: TimeMetric) -> bool {
    !phase.tally.metric(metric).is_empty()
        || metric == TimeMetric::Response && recorded(phase, TimeMetric::Unfinished)
}

fn row(phase: &PhaseResult, metric: TimeMetric, name: &str) -> [String; 8] {
    let times = match metric {
        TimeMetric::Response => phase.response(),
        _ => Censored::exact(&phase.tally.metric(metric)),
    };
    let at = |quantile| show::bound(times.quantile(quantile));
    [
        name.to_owned(),
        show::count(times.times().len()),
        show::time(times.times().min()),
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        show::bound(times.longest()),
    ]
}
