//! http_load's layouts: its report, in the original's form and that of Traffic Server's fork, and its lines about single
//! fetches. Pure.

use hdrhistogram::Histogram;
use measure::{FailureKind, Fault, Outcome, Record, RunResult, TimeMetric};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Whose lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpLoadReportFormat {
    /// ACME Laboratories'.
    Acme,
    /// Traffic Server's.
    Ats,
}

/// Connections, requests and responses of a user, a slot of the fork.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    connections: u64,
    requests: u64,
    responses: u64,
}

/// Slots by number.
#[derive(Debug, Clone, Default)]
pub struct Slots(BTreeMap<u64, Slot>);

impl Slots {
    /// Counts a request.
    pub fn add(&mut self, record: &Record) {
        let slot = self.0.entry(record.user).or_default();
        slot.connections += u64::from(record.connect.is_some());
        slot.requests += 1;
        slot.responses += u64::from(record.status != 0);
    }
}

/// The report. `checksum`: bodies were compared, and not only their lengths.
pub fn report(
    result: &RunResult,
    format: HttpLoadReportFormat,
    checksum: bool,
    slots: Option<&Slots>,
) -> String {
    let phase = result.measured();
    let tally = &phase.tally;
    let counts = phase.counts();
    let fetches = counts.ok + counts.check_failed + counts.failed + counts.injected + counts.aborted;
    let bytes = counts.body_bytes as f64;
    let seconds = phase.took.as_secs_f64();
    let connections = match format {
        HttpLoadReportFormat::Acme => String::new(),
        HttpLoadReportFormat::Ats => format!(" on {} conns", counts.connections),
    };
    let mut text = format!(
        "{fetches} fetches{connections}, {} max parallel, {} bytes, in {} seconds\n",
        phase.peak(),
        g(bytes),
        g(seconds)
    );
    if fetches > 0 {
        let of = if format == HttpLoadReportFormat::Acme { "connection" } else { "fetch" };
        text += &format!("{} mean bytes/{of}\n", g(bytes / fetches as f64));
    }
    if seconds > 0.01 {
        text += &format!("{} fetches/sec, {} bytes/sec\n", g(fetches as f64 / seconds), g(bytes / seconds));
    }
    text += &times("connect", of_histogram(&tally.metric(TimeMetric::Connect)));
    // Of all answers, whatever their status: a histogram of the run has those of good ones.
    let first = tally.distributions().and_then(|distributions| distributions.waiting.beyond_zero_us());
    text += &times("first-response", first);
    let timeouts: u64 = tally
        .failures()
        .filter(|(failure, _)| failure.kind == FailureKind::Timeout)
        .map(|(_, count)| count)
        .sum();
    let bad: u64 = tally.faults().map(|(_, count)| count).sum();
    for (count, what) in
        [(timeouts, "timeouts"), (bad, if checksum { "bad checksums" } else { "bad byte counts" })]
    {
        if count > 0 {
            text += &format!("{count} {what}\n");
        }
    }
    text += "HTTP response codes:\n";
    for (status, count) in tally.statuses() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  code {status:03} -- {count}");
    }
    if let Some(slots) = slots {
        text += "Socket slot stats:\n";
        for (number, slot) in &slots.0 {
            let Slot { connections, requests, responses } = slot;
            let _ = writeln!(
                text,
                "  slot {number:04} -- {connections} connections, {requests} requests, {responses} responses"
            );
        }
    }
    text
}

/// Mean, longest and shortest time in milliseconds, from µs; nothing where nothing was timed.
fn times(what: &str, times_us: Option<(f64, u64, u64)>) -> String {
    let ms = |us: f64| g(us / 1e3);
    times_us.map_or(String::new(), |(mean, max, min)| {
        format!("msecs/{what}: {} mean, {} max, {} min\n", ms(mean), ms(max as f64), ms(min as f64))
    })
}

fn of_histogram(times: &Histogram<u64>) -> Option<(f64, u64, u64)> {
    (!times.is_empty()).then(|| (times.mean(), times.max(), times.min()))
}

/// Returns the line of a fetch for standard error, without line end; `None`: nothing. `clock`: the time of day, for the
/// fork's lines.
pub fn error_line(
    record: &Record,
    format: HttpLoadReportFormat,
    timeout_s: u64,
    clock: &str,
) -> Option<String> {
    let url = &record.url;
    let expected = record.expected_bytes.unwrap_or(0);
    match record.outcome {
        Outcome::CheckFailed(Fault::WrongLength)
            if format == HttpLoadReportFormat::Acme || record.body_bytes != expected =>
        {
            Some(format!("{url}: byte count wrong (expected {expected}, got {})", record.body_bytes))
        }
        Outcome::CheckFailed(_) => Some(format!("{url}: checksum wrong")),
        Outcome::Failed(failure) if failure.kind == FailureKind::Timeout => {
            let state = state(record);
            Some(match format {
                HttpLoadReportFormat::Acme => format!("{url}: timed out in state {state}"),
                HttpLoadReportFormat::Ats => {
                    format!("[{clock}] {url}: timed out ({timeout_s} sec) in state {state}, requests 0")
                }
            })
        }
        Outcome::Failed(failure) if failure.kind == FailureKind::BadStatus => None,
        Outcome::Failed(failure) => Some(format!("{url}: {}", said(failure.kind))),
        Outcome::Ok | Outcome::Injected | Outcome::Aborted | Outcome::Unfinished => None,
    }
}

/// The originals' numbers for how far a fetch has come: connecting, headers, and reading a body.
fn state(record: &Record) -> u8 {
    match (record.status, record.outcome) {
        (1.., _) => 3,
        (_, Outcome::Failed(failure)) if failure.stage == measure::Stage::Connect => 1,
        _ => 2,
    }
}

/// As the C library says it.
fn said(kind: FailureKind) -> String {
    match kind {
        FailureKind::Refused => "Connection refused".to_owned(),
        FailureKind::Reset => "Connection reset by peer".to_owned(),
        FailureKind::Unreachable => "No route to host".to_owned(),
        other => other.text().to_owned(),
    }
}

/// The line of progress.
pub fn progress(at_s: f64, started: u64, completed: u64, current: u64) -> String {
    format!(
        "--- {} secs, {started} fetches started, {completed} completed, {current} current",
        g(at_s.round())
    )
}

/// A number as C's `%g` prints it: six significant digits, the shorter of both notations, no zeros at the end.
pub fn g(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return if number.is_nan() { "nan".to_owned() } else { format!("{number}") };
    }
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let places = (5 - exponent).max(0) as usize;
        return trimmed(&format!("{number:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests;
