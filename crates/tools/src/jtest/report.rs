//! jtest's layout (spec/jtest.md section 7): a line per interval, totals, and what it told about single requests.
//!
//! [`JtestLayout`] takes the rows of a run and gives lines; the rest are functions of their arguments. What differs from the
//! old tool's figures, and why, is in `docs/src/jtest.md`.

use measure::shares::received_bytes;
use measure::{Counts, OriginCounts, Row, RunResult, TimeMetric};
use report::good;
use report::show;

/// Settings of the lines of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewOptions {
    /// Seconds between lines; 0: only the last line.
    pub interval_s: u64,
    /// Lines that the old averages reach over, at least 1.
    pub average_over: u32,
    /// Figures are the old tool's averages, which start at zero, rather than those of the interval.
    pub old_averages: bool,
}

/// The lines of a run. Give it every row, print what it returns, and ask for the [`JtestLayout::rest`] when the run is over.
#[derive(Debug)]
pub struct JtestLayout {
    options: ViewOptions,
    pending: Interval,
    averages: Averages,
    /// Lines so far.
    lines: u64,
    /// Failed requests and answers that failed a check since the start.
    errors: u64,
    /// The origin's connections that are open.
    open: u64,
}

/// The heads of the columns come before the 1st, the 21st, the 41st line.
const LINES_PER_HEAD: u64 = 20;
/// A rest shorter than this is the moment that ending a run takes, in seconds.
const SHORTEST_REST_S: f64 = 0.1;
const HEAD: &str = " con  new     ops   1B  lat      bytes/per     svrs  new  ops      total   time  err\n";

impl JtestLayout {
    /// Nothing yet.
    pub fn new(options: ViewOptions) -> JtestLayout {
        JtestLayout {
            options,
            pending: Interval::default(),
            averages: Averages::new(options.average_over),
            lines: 0,
            errors: 0,
            open: 0,
        }
    }

    /// Takes a row, of about a second; the line of its interval where that is now complete, else nothing.
    pub fn row(&mut self, row: &Row) -> String {
        self.pending.add(row);
        let interval_s = self.options.interval_s as f64;
        // Rows are a second long but for the last, and not to the microsecond.
        if interval_s > 0.0 && self.pending.seconds + 0.5 >= interval_s { self.line() } else { String::new() }
    }

    /// The line of the interval that the end of the run cut short; nothing where there is none, or a moment in which
    /// nothing happened. At least one line is shown of each run.
    pub fn rest(&mut self) -> String {
        // Its figures are counts, so a short one misleads nobody, and lines add up to the totals.
        let tells = self.pending.seconds >= SHORTEST_REST_S || self.pending.is_busy();
        if tells || self.lines == 0 { self.line() } else { String::new() }
    }

    fn line(&mut self) -> String {
        let interval = std::mem::take(&mut self.pending);
        self.errors += interval.counts.failed + interval.counts.check_failed;
        self.open = (self.open + interval.origin.connections).saturating_sub(interval.origin.closed);
        let true_figures = JtestFigures::of(&interval, self.errors, self.open);
        let figures = match self.options.old_averages {
            true => self.averages.over(true_figures),
            false => true_figures,
        };
        let head = if self.lines.is_multiple_of(LINES_PER_HEAD) { HEAD } else { "" };
        self.lines += 1;
        format!("{head}{}\n", figures.text())
    }
}

/// Figures since the last line.
#[derive(Debug, Default)]
struct Interval {
    seconds: f64,
    at_s: f64,
    in_flight: u64,
    counts: Counts,
    origin: OriginCounts,
}

impl Interval {
    fn is_busy(&self) -> bool {
        self.counts != Counts::default() || self.origin.requests > 0
    }

    fn add(&mut self, row: &Row) {
        self.seconds += row.seconds;
        self.at_s = row.at_s;
        self.in_flight = row.in_flight;
        self.counts.merge(&row.counts);
        if let Some(origin) = &row.origin {
            self.origin.merge(origin);
        }
    }
}

/// The figures of one line, by column.
#[derive(Debug, Clone, Copy, PartialEq)]
struct JtestFigures {
    in_flight: u64,
    connections: u64,
    operations: f64,
    /// Mean time to the first byte; `None` where no answer came.
    first_byte_ms: Option<f64>,
    latency_ms: Option<f64>,
    bytes: f64,
    origin_open: u64,
    origin_connections: u64,
    origin_answers: u64,
    /// Bytes of both sides, in both directions.
    total_bytes: f64,
    at_s: f64,
    errors: u64,
}

impl JtestFigures {
    fn of(interval: &Interval, errors: u64, origin_open: u64) -> JtestFigures {
        let Interval { counts, origin, .. } = interval;
        let bytes = received_bytes(counts);
        let origin_bytes = origin.received_bytes + origin.head_bytes + origin.body_bytes;
        JtestFigures {
            in_flight: interval.in_flight,
            connections: counts.connections,
            operations: operations(counts) as f64,
            first_byte_ms: mean_ms(counts.first_byte_us, counts.ended),
            latency_ms: mean_ms(counts.ended_us, counts.ended),
            bytes: bytes as f64,
            origin_open,
            origin_connections: origin.connections,
            origin_answers: origin.requests.saturating_sub(origin.unchanged + origin.refused),
            total_bytes: (bytes + counts.sent_bytes + origin_bytes) as f64,
            at_s: interval.at_s,
            errors,
        }
    }

    fn text(&self) -> String {
        let bytes = self.bytes as u64;
        format!(
            "{:4} {:4} {:7.1} {:4.0} {:4.0} {:10}/{:<6}  {:4} {:4} {:4}  {:9} {:6.1} {:4}",
            self.in_flight,
            self.connections,
            self.operations,
            self.first_byte_ms.unwrap_or(0.0),
            self.latency_ms.unwrap_or(0.0),
            bytes,
            bytes.checked_div(self.in_flight).unwrap_or(0),
            self.origin_open,
            self.origin_connections,
            self.origin_answers,
            self.total_bytes as u64,
            self.at_s,
            self.errors,
        )
    }
}

/// Requests that came to a good end, or to the bad one that was asked for; redirections are neither good nor bad.
fn operations(counts: &Counts) -> u64 {
    (counts.ok + counts.aborted + counts.injected).saturating_sub(counts.redirects)
}

fn mean_ms(sum_us: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_us as f64 / count as f64 / 1000.0)
}

/// The old tool's averages: each line keeps all but one part in `window` of the sum and adds the interval's figure.
/// They start at zero, so line k shows 1 - (1 - 1/window)^k of the truth. What the old tool kept in whole numbers is
/// kept so here, for its rounding to come out the same.
#[derive(Debug)]
struct Averages {
    window: u32,
    connections: u64,
    operations: f64,
    bytes: f64,
    origin_connections: u64,
    origin_answers: u64,
    total_bytes: f64,
    first_byte_ms: u64,
    latency_ms: u64,
}

impl Averages {
    fn new(window: u32) -> Averages {
        Averages {
            window: window.max(1),
            connections: 0,
            operations: 0.0,
            bytes: 0.0,
            origin_connections: 0,
            origin_answers: 0,
            total_bytes: 0.0,
            first_byte_ms: 0,
            latency_ms: 0,
        }
    }

    /// Takes an interval's true figures and gives those to show.
    fn over(&mut self, figures: JtestFigures) -> JtestFigures {
        let window = u64::from(self.window);
        JtestFigures {
            connections: count_average(&mut self.connections, figures.connections, window),
            operations: average(&mut self.operations, figures.operations, window),
            first_byte_ms: time_average(&mut self.first_byte_ms, figures.first_byte_ms, window),
            latency_ms: time_average(&mut self.latency_ms, figures.latency_ms, window),
            bytes: average(&mut self.bytes, figures.bytes, window),
            origin_connections: count_average(
                &mut self.origin_connections,
                figures.origin_connections,
                window,
            ),
            origin_answers: count_average(&mut self.origin_answers, figures.origin_answers, window),
            total_bytes: average(&mut self.total_bytes, figures.total_bytes, window),
            ..figures
        }
    }
}

fn average(sum: &mut f64, new: f64, window: u64) -> f64 {
    let window = window as f64;
    *sum = *sum * (window - 1.0) / window + new;
    *sum / window
}

fn count_average(sum: &mut u64, new: u64, window: u64) -> u64 {
    *sum = *sum * (window - 1) / window + new;
    *sum / window
}

/// Times are averaged in whole milliseconds, and only over intervals in which an answer came.
fn time_average(time_ms: &mut u64, new_ms: Option<f64>, window: u64) -> Option<f64> {
    if let Some(new_ms) = new_ms {
        *time_ms = (*time_ms * (window - 1) + new_ms as u64) / window;
    }
    Some(*time_ms as f64)
}

/// The totals of a run, tab-aligned as in the old tool; the origin's are 0 where it does not run here.
pub fn totals(result: &RunResult) -> String {
    let measured = result.measured();
    let counts = measured.counts();
    let origin = result.origin.unwrap_or_default();
    let table = [
        ("Total Client Request Bytes:\t\t", counts.sent_bytes),
        ("Total Server Response Header Bytes:\t", origin.head_bytes),
        ("Total Server Response Body Bytes:\t", origin.body_bytes),
        ("Total Proxy Request Bytes:\t\t", origin.received_bytes),
        ("Total Proxy Response Header Bytes:\t", counts.head_bytes),
        ("Total Proxy Response Body Bytes:\t", counts.body_bytes),
    ];
    table.iter().map(|(title, bytes)| format!("{title}{bytes}\n")).collect()
}

/// Our lines after the totals: the hit ratio by both sides' accounts, percentiles, and whether the generator was the
/// limit. Nothing where no request was sent.
pub fn summary(result: &RunResult) -> String {
    if result.measured().counts().requests == 0 {
        return String::new();
    }
    let silence = result.silence();
    let bound = result.self_check.limits(silence.is_some());
    let bound = bound.iter().map(|reason| format!("Bound by the generator: {reason}\n"));
    let disturbed = result.self_check.disturbances().into_iter();
    let bound = bound.chain(disturbed.map(|reason| format!("Disturbed: {reason}\n")));
    let bound = bound.chain(silence.map(|silence| format!("Note: target: {}\n", silence.text())));
    let mut text = hit_ratio(result) + &times(result) + &sent_again(result);
    text.extend(bound);
    text
}

fn sent_again(result: &RunResult) -> String {
    match result.measured().counts().resent {
        0 => String::new(),
        resent => format!(
            "Sent again {}: the connection was lost before any byte of an answer\n",
            show::counted(resent, "request")
        ),
    }
}

fn hit_ratio(result: &RunResult) -> String {
    let measured = result.measured();
    let (Some(ratio), Some(origin)) = (good::offload(&measured), &measured.origin) else {
        return String::new();
    };
    let expected = measured.predicted_hit_ratio.map(|ratio| format!("; {} expected", show::percent(ratio)));
    format!(
        "Hit ratio {} ({}, {} from the origin{})\n",
        show::percent(ratio),
        show::counted(measured.counts().ended, "answer"),
        show::counted(origin.documents(), "document"),
        expected.unwrap_or_default(),
    )
}

fn times(result: &RunResult) -> String {
    let measured = result.measured();
    let line = |name: &str, metric: TimeMetric| {
        let at = |quantile| show::time(measured.percentile_us(metric, quantile));
        let p50 = at(0.5);
        let p90 = at(0.9);
        let p99 = at(0.99);
        let p999 = at(0.999);
        let max = at(1.0);
        format!("{name} p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}, max {max}")
    };
    let answers = measured.tally.metric(TimeMetric::Service).len();
    if answers == 0 {
        return String::new();
    }
    let mut text = line("Service time", TimeMetric::Service);
    text += &format!(" ({})\n", show::counted(answers, "good answer"));
    if !measured.tally.metric(TimeMetric::Lateness).is_empty() {
        // Under an open pace a request may have waited before it was sent.
        text += &line("Response time", TimeMetric::Response);
        text += " (from when it was due)\n";
    }
    text
}

#[cfg(test)]
mod tests;
