//! The layouts of wrk and wrk2 (spec/wrk-family.md sections 0 and 3): a banner before the run, and the report after it.
//!
//! What differs from the old tools' figures, and why, is in `docs/src/wrk.md` and `docs/src/wrk2.md`.

mod spectrum;
mod units;

use measure::run::received_bytes;
use measure::{Clock, Dispersion, FailureKind, PhaseResult, RunResult, Stage};
use std::time::Duration;
use units::{binary, column, count, microseconds, seconds};

/// Which of the two, and what is shown beside the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The layout is wrk2's: the latency is the response time.
    pub wrk2: bool,
    /// How the latency is distributed.
    pub latency: bool,
    /// How the service time is distributed (wrk2).
    pub uncorrected: bool,
}

impl Options {
    /// What the old tool calls latency: from the send, or for wrk2 from when the request was due.
    fn clock(self) -> Clock {
        if self.wrk2 { Clock::Response } else { Clock::Service }
    }
}

/// What stands before a run.
pub fn banner(url: &str, threads: u64, connections: u64, lasts: Duration) -> String {
    let lasts = seconds(lasts.as_secs() as f64);
    format!("Running {lasts} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// The report.
pub fn report(result: &RunResult, options: Options) -> String {
    let measured = result.measured();
    let tally = &measured.tally;
    let latency = tally.clock(options.clock());
    let mut text = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n".to_owned();
    text += &row("Latency", &Dispersion::of(latency), microseconds);
    text += &row("Req/Sec", &Dispersion::of(&measured.rates.seen()), count);
    if options.latency && options.wrk2 {
        text += &spectrum::block("HdrHistogram - Recorded Latency", latency);
        if options.uncorrected {
            let title =
                "HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account)";
            text += &format!("\n{}", spectrum::block(title, tally.clock(Clock::Service)));
        }
    } else if options.latency {
        text += "  Latency Distribution\n";
        for percent in [50, 75, 90, 99] {
            let value = measured.percentile_us(options.clock(), f64::from(percent) / 100.0);
            text += &format!("{percent:7}%{}\n", column(&microseconds(value as f64), 10));
        }
    }
    text += &totals(&measured);
    text
}

/// One row of the thread statistics.
fn row(name: &str, spread: &Dispersion, unit: fn(f64) -> String) -> String {
    let [mean, stdev, max] = [spread.mean, spread.stdev, spread.max as f64].map(unit);
    // What the old tools print where there is no share, which programs that read them know.
    let within = spread.within.map_or("-nan".to_owned(), |within| format!("{:.2}", within * 100.0));
    format!("    {name:<10}{}{}{}{within:>8}%\n", column(&mean, 8), column(&stdev, 10), column(&max, 9))
}

fn totals(measured: &PhaseResult) -> String {
    let counts = measured.counts();
    let (completed, bytes) = (counts.fine + counts.faulty, received_bytes(counts));
    let took = microseconds(measured.took.as_micros() as f64);
    let mut text = format!("  {completed} requests in {took}, {}B read\n", binary(bytes as f64));
    let errors = SocketErrors::of(measured);
    if errors != SocketErrors::default() {
        let SocketErrors { connect, read, write, timeout } = errors;
        text +=
            &format!("  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n");
    }
    let bad: u64 =
        measured.tally.statuses().filter(|(status, _)| *status > 399).map(|(_, count)| count).sum();
    if bad > 0 {
        text += &format!("  Non-2xx or 3xx responses: {bad}\n");
    }
    text += &format!("Requests/sec: {:9.2}\n", measured.per_second(completed));
    text += &format!("Transfer/sec: {:>10}B\n", binary(measured.per_second(bytes)));
    text
}

/// Failures as the old tools sort them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketErrors {
    /// No connection, TLS included, for whatever reason.
    pub connect: u64,
    /// An answer that did not come whole, or was no HTTP.
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
                (Stage::Send, _) => &mut errors.write,
                (Stage::FirstByte | Stage::Head | Stage::Body, _) => &mut errors.read,
            };
            *kind += count;
        }
        errors
    }
}

/// What the old tools only count: how requests failed and where, a line each, the most frequent first.
pub fn failures(result: &RunResult) -> Vec<String> {
    let measured = result.measured();
    let mut failures: Vec<_> = measured.tally.failures().collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let line = |(failure, count): &(measure::Failure, u64)| {
        let errno = failure.errno.map_or(String::new(), |errno| format!(" (errno {errno})"));
        format!("{count} x {}{errno}, {}", failure.kind.text(), failure.stage.text())
    };
    failures.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
