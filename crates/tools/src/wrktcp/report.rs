//! The layouts of wrktcp (spec/wrk-family.md section 1): a banner before the run, a line that is written over each
//! second, what `--test` tells, the report, and the table of `--trace`.
//!
//! Differences from the old tool's figures, and their reasons, are in `docs/src/wrktcp.md`.

mod live;
mod log;
mod trace;

pub use live::Live;
pub use log::Log;
pub use trace::trace;

use crate::wrk::report as wrk;
use crate::wrk::report::rows::{self, row};
use crate::wrk::report::units::{count, microseconds, seconds};
use measure::{CodeKind, Dispersion, PhaseResult, RunResult};
use report::text::code_name;
use std::time::Duration;

/// Mark before and behind what is told of a test with one exchange.
pub const TEST_MARK: &str = "\n----TEST MODE, connect once and more log----\n";

/// Lines about codes on standard error at most.
const CODES: usize = 10;

/// Returns the text before a run.
pub fn banner(address: &str, file: &str, threads: u64, connections: u64, lasts: Duration) -> String {
    let lasts = seconds(lasts.as_secs_f64());
    format!(
        "Running {lasts} loadtest @ {address} using {file}\n  {threads} threads and {connections} connections\n"
    )
}

/// The report. `distribution`: with percentiles of the latency.
pub fn report(result: &RunResult, distribution: bool) -> String {
    let measured = result.measured();
    let latency = rows::latency(&measured);
    let mut text = rows::TITLES.to_owned();
    text += &row("Latency", &Dispersion::of(&latency), microseconds);
    text += &row("Req/Sec", &Dispersion::of(measured.rates.tenths()), |tenths| count(tenths / 10.0));
    if distribution {
        text += &rows::distribution(&latency);
    }
    text += &totals(&measured);
    text
}

fn totals(measured: &PhaseResult) -> String {
    let counts = measured.counts();
    let mut text = rows::answers(measured);
    let all = rows::answered(measured);
    let bad = all.saturating_sub(counts.ok);
    if bad > 0 {
        text += &format!("  Failure responses: {bad}\n");
    }
    let [all, good, bad] = [all, counts.ok, bad].map(|count| measured.per_second(count));
    text += &format!("Requests/sec: {all:9.2}    (Success:{good:.2}/Failure:{bad:.2})\n");
    text += &rows::transfer(measured);
    text
}

/// Where the page was written to.
pub fn page_line(file: &str) -> String {
    format!("Result html :   {file}\n")
}

/// Lists what the old tool only counts: how requests failed and where, and codes that mean failure; a line each, of either the
/// most frequent first.
pub fn failures(result: &RunResult) -> Vec<String> {
    let measured = result.measured();
    let codes = measured.tally.codes.list();
    let mut bad: Vec<_> = codes.iter().filter(|code| !code.good).collect();
    bad.sort_by_key(|code| std::cmp::Reverse(code.count));
    let line = |code: &&measure::CountedCode<'_>| match code.kind {
        CodeKind::Missing => format!("{} x an answer without a code", code.count),
        CodeKind::Seen | CodeKind::Other => format!("{} x code {}", code.count, code_name(code)),
    };
    let mut lines = wrk::failures(result);
    lines.extend(bad.iter().take(CODES).map(line));
    if let Some(rest) = bad.get(CODES..).filter(|rest| !rest.is_empty()) {
        let answers: u64 = rest.iter().map(|code| code.count).sum();
        lines.push(format!("{answers} x one of {} codes more", rest.len()));
    }
    lines
}

#[cfg(test)]
mod tests;
