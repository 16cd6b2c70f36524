//! The layouts of wrk and wrk2 (spec/wrk-family.md sections 0 and 3): a banner before the run, and the report after it.
//!
//! Differences from the old tools' figures, and their reasons, are in `docs/src/wrk.md` and `docs/src/wrk2.md`.

pub(crate) mod rows;
mod spectrum;
pub(crate) mod units;

pub use rows::SocketErrors;

use measure::{Dispersion, PhaseResult, RunResult, TimeMetric};
use rows::row;
use std::time::Duration;
use units::{count, microseconds, seconds};

/// Which of the two, and what is shown beside the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrkOptions {
    /// The layout is wrk2's: the latency is the response time.
    pub wrk2: bool,
    /// How the latency is distributed.
    pub latency: bool,
    /// How the service time is distributed (wrk2).
    pub uncorrected: bool,
}

/// Returns the text before a run.
pub fn banner(url: &str, threads: u64, connections: u64, lasts: Duration) -> String {
    let lasts = seconds(lasts.as_secs() as f64);
    format!("Running {lasts} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// The report.
pub fn report(result: &RunResult, options: WrkOptions) -> String {
    let measured = result.measured();
    let tally = &measured.tally;
    // wrk2 counts from when a request was due, of which nothing is known where a check failed.
    let latency = &if options.wrk2 { tally.metric(TimeMetric::Response) } else { rows::latency(&measured) };
    let mut text = rows::TITLES.to_owned();
    text += &row("Latency", &Dispersion::of(latency), microseconds);
    text += &row("Req/Sec", &Dispersion::of(&measured.rates.seen()), count);
    if options.latency && options.wrk2 {
        text += &spectrum::block("HdrHistogram - Recorded Latency", latency);
        if options.uncorrected {
            let title =
                "HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account)";
            text += &format!("\n{}", spectrum::block(title, &tally.metric(TimeMetric::Service)));
        }
    } else if options.latency {
        text += &rows::distribution(latency);
    }
    text += &totals(&measured);
    text
}

fn totals(measured: &PhaseResult) -> String {
    let mut text = rows::answers(measured);
    let bad: u64 =
        measured.tally.statuses().filter(|(status, _)| *status > 399).map(|(_, count)| count).sum();
    if bad > 0 {
        text += &format!("  Non-2xx or 3xx responses: {bad}\n");
    }
    text += &format!("Requests/sec: {:9.2}\n", measured.per_second(rows::answered(measured)));
    text += &rows::transfer(measured);
    text
}

/// Lists what the old tools only count: how requests failed and where, a line each, the most frequent first.
pub fn failures(result: &RunResult) -> Vec<String> {
    let measured = result.measured();
    let mut failures: Vec<_> = measured.tally.failures().collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    failures.iter().map(|(failure, count)| format!("{count} x {}", rows::failure(failure))).collect()
}

#[cfg(test)]
pub(crate) mod tests;
