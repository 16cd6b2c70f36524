//! fortio's lines, and its result as JSON.
//!
//! Differences from the old tool's figures, and their reasons, are in `docs/src/fortio.md`.

use super::FortioView;
use crate::goflag::written;
use crate::wrk::report::rows;
use jiff::Timestamp;
use measure::{FailureKind, Histogram, PhaseResult, RunResult, TimeMetric};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Upper bounds of buckets, in multiples of the resolution.
const BOUNDS: [u32; 55] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120,
    140, 160, 180, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000, 2000, 3000, 4000, 5000, 7500,
    10_000, 20_000, 30_000, 40_000, 50_000, 75_000, 100_000,
];

/// Facts of a run that its result does not hold.
#[derive(Debug, Clone, Copy)]
pub struct FortioWords<'a> {
    /// As asked for.
    pub view: &'a FortioView,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// Workers.
    pub threads: u32,
}

/// The line before the run.
pub fn begin(view: &FortioView) -> String {
    let until = match view.exactly {
        Some(calls) => format!("for {calls} calls"),
        None if view.lasts.is_zero() => "until interrupted".to_owned(),
        None => format!("for {}", written(view.lasts)),
    };
    format!(
        "Fortio, as wringer {} speaks it, running at {} queries per second, {until}: {}\n",
        env!("CARGO_PKG_VERSION"),
        view.qps,
        view.url
    )
}

/// A histogram of times as fortio has it.
struct Spread {
    count: u64,
    min: f64,
    max: f64,
    sum: f64,
    avg: f64,
    deviation: f64,
    buckets: Vec<Bucket>,
    percentiles: Vec<Percentile>,
}

struct Bucket {
    start: f64,
    end: f64,
    count: u64,
    /// Share of all up to here.
    percent: f64,
}

struct Percentile {
    percent: f64,
    value: f64,
}

impl Spread {
    fn of(times: &Histogram, view: &FortioView) -> Spread {
        if times.is_empty() {
            let percentiles = Vec::new();
            return Spread {
                count: 0,
                min: 0.0,
                max: 0.0,
                sum: 0.0,
                avg: 0.0,
                deviation: 0.0,
                buckets: Vec::new(),
                percentiles,
            };
        }
        let count = times.len();
        let value = |percent: f64| times.value_at_quantile(percent / 100.0) as f64 / 1e6;
        Spread {
            count,
            min: times.min() as f64 / 1e6,
            max: times.max() as f64 / 1e6,
            sum: times.mean() * count as f64 / 1e6,
            avg: times.mean() / 1e6,
            deviation: times.stdev() / 1e6,
            buckets: buckets(times, view.resolution),
            percentiles: view
                .percentiles
                .iter()
                .map(|&percent| Percentile { percent, value: value(percent) })
                .collect(),
        }
    }

    /// Count, mean and the rest, in a line.
    fn line(&self) -> String {
        format!(
            "count {} avg {} +/- {} min {} max {} sum {}",
            self.count,
            figure(self.avg, 8),
            figure(self.deviation, 4),
            figure(self.min, 9),
            figure(self.max, 9),
            figure(self.sum, 9)
        )
    }

    fn rows(&self) -> String {
        let mut text = "# range, mid point, percentile, count\n".to_owned();
        for (number, bucket) in self.buckets.iter().enumerate() {
            let sign = if number == 0 { ">=" } else { ">" };
            let start = figure(bucket.start, 6);
            let end = figure(bucket.end, 6);
            let middle = figure((bucket.start + bucket.end) / 2.0, 6);
            text +=
                &format!("{sign} {start} <= {end} , {middle} , {:.2}, {}\n", bucket.percent, bucket.count);
        }
        text
    }

    fn targets(&self) -> String {
        let line = |one: &Percentile| format!("# target {}% {}\n", one.percent, figure(one.value, 6));
        self.percentiles.iter().map(line).collect()
    }

    fn json(&self, with_percentiles: bool) -> Value {
        let bucket = |of: &Bucket| json!({ "Start": of.start, "End": of.end, "Percent": of.percent, "Count": of.count });
        let data: Vec<Value> = self.buckets.iter().map(bucket).collect();
        let mut told = json!({
            "Count": self.count, "Min": self.min, "Max": self.max, "Sum": self.sum, "Avg": self.avg, "StdDev": self.deviation,
            "Data": if data.is_empty() { Value::Null } else { data.into() },
        });
        if with_percentiles && self.count > 0 {
            let one = |one: &Percentile| json!({ "Percentile": one.percent, "Value": one.value });
            told["Percentiles"] = self.percentiles.iter().map(one).collect::<Vec<_>>().into();
        }
        told
    }
}

/// Counts by bucket; those that hold nothing are left out.
fn buckets(times: &Histogram, resolution: f64) -> Vec<Bucket> {
    let ends: Vec<f64> = BOUNDS.iter().map(|bound| f64::from(*bound) * resolution).collect();
    let mut counts = vec![0_u64; ends.len() + 1];
    for step in times.iter_recorded() {
        let value = step.value_iterated_to().min(times.max()) as f64 / 1e6;
        let at = ends.iter().position(|end| value <= *end).unwrap_or(ends.len());
        counts[at] += step.count_since_last_iteration();
    }
    let min = times.min() as f64 / 1e6;
    let max = times.max() as f64 / 1e6;
    let mut seen = 0;
    let mut buckets = Vec::new();
    for (at, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        seen += count;
        let start = at.checked_sub(1).map_or(0.0, |before| ends[before]).max(min);
        let end = ends.get(at).copied().unwrap_or(max).min(max);
        buckets.push(Bucket { start, end, count, percent: seen as f64 / times.len() as f64 * 100.0 });
    }
    buckets
}

/// A number in so many digits that count, as Go's `%g` writes it without an exponent.
fn figure(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let places = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 15) as usize;
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Requests that were answered by 200 or 418 or failed, and those that failed alone.
struct Functions {
    all: Spread,
    errors: Spread,
}

impl Functions {
    fn of(measured: &PhaseResult, view: &FortioView) -> Functions {
        let mut all = rows::latency(measured);
        let errors = measured.tally.metric(TimeMetric::Failure);
        // All histograms have the one geometry, so nothing can be out of range.
        let _ = all.add(&errors);
        Functions { all: Spread::of(&all, view), errors: Spread::of(&errors, view) }
    }
}

/// Statuses, and -1 for what got none.
fn codes(measured: &PhaseResult) -> Vec<(i32, u64)> {
    let mut codes: Vec<(i32, u64)> =
        rows::statuses(measured).into_iter().map(|(status, count)| (i32::from(status), count)).collect();
    let lost = measured.tally.failures().filter(|(failure, _)| failure.kind != FailureKind::BadStatus);
    let lost: u64 = lost.map(|(_, count)| count).sum();
    codes.extend((lost > 0).then_some((-1, lost)));
    codes.sort_unstable();
    codes
}

/// The report.
pub fn text(result: &RunResult, view: &FortioView) -> String {
    let measured = result.measured();
    let counts = measured.counts();
    let Functions { all, errors } = Functions::of(&measured, view);
    let qps = per_second(all.count, measured.took);
    let mut text = String::new();
    if !view.quiet {
        text += &format!(
            "Ended after {} : {} calls. qps={}\n",
            written(measured.took),
            all.count,
            figure(qps, 5)
        );
    }
    text += &format!("Aggregated Function Time : {}\n", all.line());
    if !view.quiet && all.count > 0 {
        text += &all.rows();
    }
    text += &all.targets();
    text += &match errors.count {
        0 if !view.quiet => "Error cases : no data\n".to_owned(),
        _ => format!("Error cases : {}\n", errors.line()),
    };
    let ideal = view.connections.min(all.count);
    text += &format!("Sockets used: {} (for perfect keepalive, would be {ideal})\n", counts.connections);
    text += &format!("Uniform: true, Jitter: {}, Catchup allowed: {}\n", view.jitter, !view.no_catch_up);
    for (code, count) in codes(&measured) {
        let share = count as f64 / all.count.max(1) as f64 * 100.0;
        text += &format!("Code {code:>3} : {count} ({} %)\n", one_place(share));
    }
    let mut failures: Vec<_> = measured.tally.failures().collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    failures
        .iter()
        .for_each(|(failure, count)| text += &format!("Errors : {count} x {}\n", rows::failure(failure)));
    if counts.overflow > 0 {
        text += &format!("Not sent, because all connections were busy : {}\n", counts.overflow);
    }
    text + &format!(
        "All done {} calls (plus 0 warmup) {:.3} ms avg, {qps:.1} qps\n",
        all.count,
        all.avg * 1e3
    )
}

fn one_place(share: f64) -> String {
    format!("{share:.1}")
}

fn per_second(count: u64, took: Duration) -> f64 {
    if took.is_zero() { 0.0 } else { count as f64 / took.as_secs_f64() }
}

/// The result as JSON.
pub fn json(result: &RunResult, told: &FortioWords<'_>) -> String {
    let FortioWords { view, started_unix_s, threads } = told;
    let measured = result.measured();
    let Functions { all, errors } = Functions::of(&measured, view);
    let started = Timestamp::from_nanosecond((started_unix_s * 1e9) as i128)
        .map_or_else(|_| String::new(), |at| at.to_string());
    let codes: Map<String, Value> =
        codes(&measured).into_iter().map(|(code, count)| (code.to_string(), count.into())).collect();
    let connect = Spread::of(&measured.tally.metric(TimeMetric::Connect), view);
    let requested = match view.exactly {
        Some(calls) => format!("exactly {calls} calls"),
        None => written(view.lasts),
    };
    let told = json!({
        "RunType": "HTTP",
        "Labels": view.labels,
        "StartTime": started,
        "RequestedQPS": if view.qps > 0.0 { view.qps.to_string() } else { "max".to_owned() },
        "RequestedDuration": requested,
        "ActualQPS": per_second(all.count, measured.took),
        "ActualDuration": measured.took.as_nanos() as u64,
        "NumThreads": view.connections,
        "Version": format!("wringer {}", env!("CARGO_PKG_VERSION")),
        "DurationHistogram": all.json(true),
        "ErrorsDurationHistogram": errors.json(true),
        "Exactly": view.exactly.unwrap_or(0),
        "Jitter": view.jitter,
        "Uniform": true,
        "NoCatchUp": view.no_catch_up,
        "RunID": 0,
        "RetCodes": codes,
        "URL": view.url,
        "NumConnections": 1,
        "HTTPReqTimeOut": view.timeout.as_nanos() as u64,
        "SocketCount": measured.counts().connections,
        "ConnectionStats": connect.json(true),
        "Workers": threads,
    });
    format!("{told:#}\n")
}
