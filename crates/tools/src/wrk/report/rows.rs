//! Parts that the reports of wrk's family are put together from.

use super::units::{binary, column, microseconds};
use measure::shares::received_bytes;
use measure::{Dispersion, Failure, FailureKind, Histogram, PhaseResult, Stage, TimeMetric};

/// Column titles above the rows of the thread statistics.
pub const TITLES: &str = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n";

/// One row of the thread statistics.
pub fn row(name: &str, spread: &Dispersion, unit: fn(f64) -> String) -> String {
    let [mean, stdev, max] = [spread.mean, spread.stdev, spread.max as f64].map(unit);
    // What the old tools print where there is no share, which programs that read them know.
    let within = spread.within.map_or("-nan".to_owned(), |within| format!("{:.2}", within * 100.0));
    format!("    {name:<10}{}{}{}{within:>8}%\n", column(&mean, 8), column(&stdev, 10), column(&max, 9))
}

/// Service times of all whole answers that came as expected, and of those that then failed a check: they have taken their time, too.
pub fn latency(measured: &PhaseResult) -> Histogram {
    let mut all = measured.tally.metric(TimeMetric::Service);
    // All histograms have the one geometry, so nothing can be out of range.
    let _ = all.add(measured.tally.metric(TimeMetric::CheckFailed));
    all
}

/// The distribution of times in µs: its title, and a row per percentile.
pub fn distribution(times: &Histogram) -> String {
    let row = |percent: u32| {
        let value = if times.is_empty() { 0 } else { times.value_at_quantile(f64::from(percent) / 100.0) };
        format!("{percent:7}%{}\n", column(&microseconds(value as f64), 10))
    };
    ["  Latency Distribution\n".to_owned()].into_iter().chain([50, 75, 90, 99].map(row)).collect()
}

/// Whole answers, whatever their status: where a plan expects another one they have failed, and are answers all the same.
pub fn answered(phase: &PhaseResult) -> u64 {
    let counts = phase.counts();
    let failures = phase.tally.failures();
    let by_status: u64 =
        failures.filter(|(failure, _)| failure.kind == FailureKind::BadStatus).map(|(_, count)| count).sum();
    counts.ok + counts.check_failed + counts.injected + by_status
}

/// Statuses of whole answers, ascending, with how many there were.
pub fn statuses(phase: &PhaseResult) -> Vec<(u16, u64)> {
    let cut: Vec<(u16, u64)> = phase.tally.cut_statuses().collect();
    let cut = |status: u16| cut.iter().find(|(known, _)| *known == status).map_or(0, |(_, count)| *count);
    let whole = phase.tally.statuses().map(|(status, count)| (status, count.saturating_sub(cut(status))));
    whole.filter(|(_, count)| *count > 0).collect()
}

/// Whole answers, the time, bytes, and failures where there are any.
pub fn answers(phase: &PhaseResult) -> String {
    let took = microseconds(phase.took.as_micros() as f64);
    let read = binary(received_bytes(phase.counts()) as f64);
    let errors = SocketErrors::of(phase).line();
    format!("  {} requests in {took}, {read}B read\n{errors}", answered(phase))
}

/// Bytes per second.
pub fn transfer(phase: &PhaseResult) -> String {
    let rate = phase.per_second(received_bytes(phase.counts()));
    format!("Transfer/sec: {:>10}B\n", binary(rate))
}

/// Failures as the old tools sort them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketErrors {
    /// No connection, TLS included, for whatever reason.
    pub connect: u64,
    /// An answer that did not come whole, or was none that can be read.
    pub read: u64,
    /// A request that could not be sent.
    pub write: u64,
    /// A request that took too long.
    pub timeout: u64,
}

impl SocketErrors {
    /// Those of a phase.
    pub fn of(phase: &PhaseResult) -> SocketErrors {
        let mut errors = SocketErrors::default();
        for (failure, count) in phase.tally.failures() {
            let kind = match (failure.stage, failure.kind) {
                (_, FailureKind::BadStatus) => continue,
                (Stage::Lookup | Stage::Connect | Stage::Tunnel | Stage::Tls, _) => &mut errors.connect,
                (_, FailureKind::Timeout) => &mut errors.timeout,
                (Stage::Stream | Stage::Send, _) => &mut errors.write,
                (Stage::FirstByte | Stage::Head | Stage::Body, _) => &mut errors.read,
            };
            *kind += count;
        }
        errors
    }

    /// Their line; nothing where there are none.
    pub fn line(self) -> String {
        if self == SocketErrors::default() {
            return String::new();
        }
        let SocketErrors { connect, read, write, timeout } = self;
        format!("  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n")
    }
}

/// How a request failed and where, in words.
pub fn failure(failure: &Failure) -> String {
    let reason = match (failure.errno(), failure.reason) {
        (Some(errno), _) => format!(" (errno {errno})"),
        (None, Some(reason)) => format!(" ({})", report::show::reason(reason)),
        (None, None) => String::new(),
    };
    format!("{}{reason}, {}", failure.text(), failure.stage.text())
}
