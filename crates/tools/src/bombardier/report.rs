//! bombardier's report, as text and as JSON.
//!
//! Differences from the old tool's figures, and their reasons, are in `docs/src/bombardier.md`.

use super::BombardierView;
use crate::goflag::written;
use crate::wrk::report::rows;
use measure::shares::received_bytes;
use measure::{Dispersion, Histogram, PhaseResult, RunResult};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Shares in percent whose times are told.
const PERCENTS: [u32; 5] = [50, 75, 90, 95, 99];

/// The line before the run.
pub fn intro(view: &BombardierView) -> String {
    let url = &view.url;
    let connections = view.connections;
    match view.requests {
        Some(requests) => {
            format!("Bombarding {url} with {requests} request(s) using {connections} connection(s)\n")
        }
        None => {
            format!("Bombarding {url} for {} using {connections} connection(s)\n", written(view.duration))
        }
    }
}

/// The result as text.
pub fn text(result: &RunResult, latencies: bool) -> String {
    let measured = result.measured();
    let times = rows::latency(&measured);
    let mut text = "Statistics        Avg      Stdev        Max\n".to_owned();
    let rates = BombardierRates::of(result, &measured);
    text += &row("Reqs/sec", [rates.mean, rates.deviation, rates.max()], |rate| format!("{rate:.2}"));
    let spread = Dispersion::of(&times);
    text += &row("Latency", [spread.mean, spread.stdev, spread.max as f64], time);
    if latencies {
        text += "  Latency Distribution\n";
        let line = |percent: u32| format!("     {percent}% {:>10}\n", time(at(&times, percent) as f64));
        text += &PERCENTS.map(line).concat();
    }
    text += &codes(&measured);
    let failures = failures(&measured);
    if !failures.is_empty() {
        text += "  Errors:\n";
        failures.iter().for_each(|(what, count)| text += &format!("    {what} - {count}\n"));
    }
    text + &format!("  {:<10} {:>10}/s\n", "Throughput:", binary(throughput(&measured)))
}

fn row(name: &str, of: [f64; 3], unit: fn(f64) -> String) -> String {
    let [mean, stdev, max] = of.map(unit);
    format!("  {name:<10} {mean:>10} {stdev:>10} {max:>10}\n")
}

/// Answers per second of all connections: in all, and in each line of the run.
struct BombardierRates {
    mean: f64,
    deviation: f64,
    /// Those of the lines, ascending.
    seen: Vec<f64>,
}

impl BombardierRates {
    fn of(result: &RunResult, measured: &PhaseResult) -> BombardierRates {
        let mean = measured.per_second(rows::answered(measured));
        let lines = result.timeline.rows.iter().filter(|line| line.seconds > 0.0);
        let mut seen: Vec<f64> = lines.map(|line| line.counts.ended as f64 / line.seconds).collect();
        if seen.is_empty() {
            seen.push(mean);
        }
        seen.sort_by(f64::total_cmp);
        let squares: f64 = seen.iter().map(|rate| (rate - mean).powi(2)).sum();
        let deviation = if seen.len() < 2 { 0.0 } else { (squares / (seen.len() - 1) as f64).sqrt() };
        BombardierRates { mean, deviation, seen }
    }

    fn max(&self) -> f64 {
        self.seen.last().copied().unwrap_or(0.0)
    }

    fn at(&self, percent: u32) -> f64 {
        let rank = (f64::from(percent) / 100.0 * self.seen.len() as f64).ceil() as usize;
        self.seen.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }
}

/// Answers by the first digit of their status, and requests that got none.
struct Classes {
    by_class: [u64; 5],
    others: u64,
}

impl Classes {
    fn of(measured: &PhaseResult) -> Classes {
        let mut classes = Classes { by_class: [0; 5], others: 0 };
        for (status, count) in rows::statuses(measured) {
            match classes.by_class.get_mut(usize::from(status / 100).wrapping_sub(1)) {
                Some(class) => *class += count,
                None => classes.others += count,
            }
        }
        classes.others += measured.tally.failures().map(|(_, count)| count).sum::<u64>();
        classes
    }
}

fn codes(measured: &PhaseResult) -> String {
    let Classes { by_class: [one, two, three, four, five], others } = Classes::of(measured);
    format!(
        "  HTTP codes:\n    1xx - {one}, 2xx - {two}, 3xx - {three}, 4xx - {four}, 5xx - {five}\n    others - {others}\n"
    )
}

/// Failures, the most frequent first.
fn failures(measured: &PhaseResult) -> Vec<(String, u64)> {
    let mut failures: Vec<_> =
        measured.tally.failures().map(|(failure, count)| (rows::failure(&failure), count)).collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    failures
}

/// Bytes per second, to the target and from it.
fn throughput(measured: &PhaseResult) -> f64 {
    measured.per_second(received_bytes(measured.counts()) + measured.counts().sent_bytes)
}

fn at(times: &Histogram, percent: u32) -> u64 {
    if times.is_empty() { 0 } else { times.value_at_quantile(f64::from(percent) / 100.0) }
}

/// A time of µs, in the unit that it reads best in.
fn time(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.2}us"),
        us if us < 1e6 => format!("{:.2}ms", us / 1e3),
        us if us < 60e6 => format!("{:.2}s", us / 1e6),
        us if us < 3600e6 => format!("{:.2}m", us / 60e6),
        us => format!("{:.2}h", us / 3600e6),
    }
}

/// Bytes in units of 1024.
fn binary(bytes: f64) -> String {
    let mut bytes = bytes;
    let mut units = ["", "KB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or("");
    for next in units {
        if bytes < 1024.0 {
            break;
        }
        bytes /= 1024.0;
        unit = next;
    }
    format!("{bytes:.2}{unit}")
}

/// The result as JSON, in a line without its end.
pub fn json(result: &RunResult, view: &BombardierView) -> String {
    let measured = result.measured();
    let mut spec = Map::new();
    let mut say = |name: &str, value: Value| {
        spec.insert(name.to_owned(), value);
    };
    say("numberOfConnections", view.connections.into());
    match view.requests {
        Some(requests) => {
            say("testType", "number-of-requests".into());
            say("numberOfRequests", requests.into());
        }
        None => {
            say("testType", "timed".into());
            say("testDurationSeconds", number(view.duration));
        }
    }
    say("method", view.method.as_str().into());
    say("url", view.url.as_str().into());
    say("body", view.body.as_str().into());
    say("stream", false.into());
    say("timeoutSeconds", number(view.timeout));
    say("client", view.client.name().into());
    json!({ "spec": spec, "result": outcome(result, &measured, view.latencies) }).to_string()
}

/// Seconds, without a point where they are whole.
fn number(time: Duration) -> Value {
    match time.subsec_nanos() {
        0 => time.as_secs().into(),
        _ => time.as_secs_f64().into(),
    }
}

fn outcome(result: &RunResult, measured: &PhaseResult, latencies: bool) -> Value {
    let times = rows::latency(measured);
    let spread = |of: &Histogram| {
        let spread = Dispersion::of(of);
        json!({ "mean": spread.mean, "stddev": spread.stdev, "max": spread.max })
    };
    let percentiles = |of: &Histogram| -> Value {
        PERCENTS
            .map(|percent| (percent.to_string(), Value::from(at(of, percent))))
            .into_iter()
            .collect::<Map<_, _>>()
            .into()
    };
    let mut latency = spread(&times);
    if latencies {
        latency["percentiles"] = percentiles(&times);
    }
    let rates = BombardierRates::of(result, measured);
    let of_rates: Map<String, Value> =
        PERCENTS.map(|percent| (percent.to_string(), rates.at(percent).into())).into_iter().collect();
    let rps =
        json!({ "mean": rates.mean, "stddev": rates.deviation, "max": rates.max(), "percentiles": of_rates });
    let Classes { by_class: [one, two, three, four, five], others } = Classes::of(measured);
    let mut outcome = json!({
        "bytesRead": received_bytes(measured.counts()),
        "bytesWritten": measured.counts().sent_bytes,
        "timeTakenSeconds": measured.took.as_secs_f64(),
        "req1xx": one, "req2xx": two, "req3xx": three, "req4xx": four, "req5xx": five, "others": others,
    });
    let failures = failures(measured);
    if !failures.is_empty() {
        let error = |(what, count): &(String, u64)| json!({ "description": what, "count": count });
        outcome["errors"] = failures.iter().map(error).collect::<Vec<_>>().into();
    }
    outcome["latency"] = latency;
    outcome["rps"] = rps;
    outcome
}
