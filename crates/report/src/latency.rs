//! The table of times: from the whole request to its parts, with those on new and on reused connections apart.

use crate::show::{self, Table};
use measure::{Clock, PhaseResult};

/// Clocks that tell more only where both have run.
const APART: [Clock; 4] =
    [Clock::ServiceNew, Clock::ServiceReused, Clock::FirstByteNew, Clock::FirstByteReused];

/// The table; `None` where no time was recorded.
pub(crate) fn table(phase: &PhaseResult) -> Option<Table> {
    let rows = [
        (Clock::Service, "service time"),
        (Clock::Response, "response time"),
        (Clock::Hit, "of hits"),
        (Clock::Miss, "of misses"),
        (Clock::ServiceNew, "on new"),
        (Clock::ServiceReused, "on reused"),
        (Clock::FirstByte, "first byte"),
        (Clock::FirstByteNew, "on new"),
        (Clock::FirstByteReused, "on reused"),
        (Clock::Lookup, "name lookup"),
        (Clock::Connect, "connect"),
        (Clock::Tls, "TLS handshake"),
        (Clock::Failure, "until failure"),
    ];
    let apart = apart(phase);
    let told = |clock: Clock| recorded(phase, clock) && (apart || !APART.contains(&clock));
    let found: Vec<_> = rows
        .into_iter()
        .filter(|(clock, _)| told(*clock))
        .map(|(clock, name)| row(phase, clock, name))
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut table = Table::new("lrrrrrrr");
    table.row(["", "count", "min", "p50", "p90", "p99", "p99.9", "max"]);
    found.into_iter().for_each(|row| table.row(row));
    Some(table)
}

/// Whether there are times on new and on reused connections.
pub(crate) fn apart(phase: &PhaseResult) -> bool {
    recorded(phase, Clock::ServiceNew) && recorded(phase, Clock::ServiceReused)
}

fn recorded(phase: &PhaseResult, clock: Clock) -> bool {
    !phase.tally.clock(clock).is_empty()
}

fn row(phase: &PhaseResult, clock: Clock, name: &str) -> [String; 8] {
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
