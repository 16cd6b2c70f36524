//! The layout of h2load, as nghttp2 1.52 has it (the same until 1.68) and as 1.69 has it.
//!
//! Differences from the old tool's figures, and their reasons, are in `docs/src/h2load.md`.

use measure::{Dispersion, FailureKind, FirstTls, Histogram, PhaseResult, RunResult, TimeMetric};
use std::time::Duration;

/// Options that the report needs beside the result.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Clients in all.
    pub clients: u64,
    /// Requests in all; `None`: as many as fit into the time.
    pub requests: Option<u64>,
    /// The rows of 1.69.
    pub newer: bool,
}

/// Returns the text before a run.
pub fn begin(
    clients: u64,
    threads: u64,
    requests: Option<u64>,
    lasts: Option<Duration>,
    warm_up: Duration,
) -> String {
    let mut text = "starting benchmark...\n".to_owned();
    for thread in 0..threads {
        let share = |all: u64| all / threads + u64::from(thread < all % threads);
        let clients = share(clients);
        text += &match (requests, lasts) {
            (Some(requests), _) => {
                format!(
                    "spawning thread #{thread}: {clients} total client(s). {} total requests\n",
                    share(requests)
                )
            }
            (None, lasts) => format!(
                "spawning thread #{thread}: {clients} total client(s). Timing-based test with {}s of warm-up time and {}s of \
                 main duration for measurements.\n",
                warm_up.as_secs_f64(),
                lasts.unwrap_or_default().as_secs_f64(),
            ),
        };
    }
    text
}

/// Returns the lines on what the first connection agreed on.
pub fn tls(tls: &FirstTls, suite: &str) -> String {
    let version = if tls.tls13 { "TLSv1.3" } else { "TLSv1.2" };
    let mut text = format!("TLS Protocol: {version}\nCipher: {suite}\n");
    let key = match tls.group {
        Some(29) => Some("X25519 253 bits"),
        Some(23) => Some("ECDH P-256 256 bits"),
        Some(24) => Some("ECDH P-384 384 bits"),
        Some(25) => Some("ECDH P-521 521 bits"),
        _ => None,
    };
    key.iter().for_each(|key| text += &format!("Server Temp Key: {key}\n"));
    text
}

/// The line for a share of the requests, in tenths.
pub fn progress(tenths: u64) -> String {
    format!("progress: {}% done\n", tenths * 10)
}

/// The report.
pub fn report(result: &RunResult, options: Options) -> String {
    let measured = result.measured();
    let counts = measured.counts();
    let done = counts.ended;
    let bytes = counts.head_bytes + counts.body_bytes;
    let took = measured.took.as_secs_f64();
    let mut text = format!(
        "\nfinished in {}, {:.2} req/s, {}B/s\n",
        seconds(took),
        measured.per_second(done),
        unit(measured.per_second(bytes)),
    );
    text += &requests(&measured, options);
    text += &statuses(&measured);
    let saved = 1.0 - ratio(counts.head_bytes, counts.field_bytes);
    text += &format!(
        "traffic: {} total, {} headers (space savings {:.2}%), {} data\n",
        sized(bytes),
        sized(counts.head_bytes),
        if counts.field_bytes > 0 { saved * 100.0 } else { 0.0 },
        sized(counts.body_bytes),
    );
    text + &if options.newer { rows_of_169(&measured, options) } else { rows_of_152(&measured, options) }
}

fn ratio(part: u64, whole: u64) -> f64 {
    measure::shares::ratio(part, whole).unwrap_or_default()
}

fn requests(measured: &PhaseResult, options: Options) -> String {
    let counts = measured.counts();
    let done = counts.ended;
    let succeeded: u64 =
        measured.tally.statuses().filter(|(status, _)| matches!(status, 200..400)).map(|(_, n)| n).sum();
    let timeouts =
        |(failure, count): (measure::Failure, u64)| (failure.kind == FailureKind::Timeout).then_some(count);
    let timeout: u64 = measured.tally.failures().filter_map(timeouts).sum();
    let total = options.requests.unwrap_or(done);
    let failed = total.saturating_sub(succeeded);
    let errored = counts.requests.saturating_sub(done) + total.saturating_sub(counts.requests);
    format!(
        "requests: {total} total, {} started, {done} done, {succeeded} succeeded, {failed} failed, {errored} errored, {timeout} \
         timeout\n",
        counts.requests,
    )
}

fn statuses(measured: &PhaseResult) -> String {
    let of = |class: u16| -> u64 {
        measured.tally.statuses().filter(|(status, _)| status / 100 == class).map(|(_, count)| count).sum()
    };
    format!("status codes: {} 2xx, {} 3xx, {} 4xx, {} 5xx\n", of(2), of(3), of(4), of(5))
}

/// The metrics of the rows and their titles.
const METRICS: [(&str, &str, TimeMetric); 3] = [
    ("time for request: ", "request     : ", TimeMetric::Service),
    ("time for connect: ", "connect     : ", TimeMetric::Connect),
    ("time to 1st byte: ", "TTFB        : ", TimeMetric::FirstByte),
];

/// Column titles above the rows.
const TITLES: &str = "                     min         max         mean         sd        +/- sd\n";

fn rows_of_152(measured: &PhaseResult, options: Options) -> String {
    let mut text = TITLES.to_owned();
    for (title, _, metric) in METRICS {
        let times = &measured.tally.metric(metric);
        let spread = Dispersion::of(times);
        let columns = [least(times), spread.max as f64, spread.mean, spread.stdev].map(time);
        text += title;
        text += &row(&columns, spread.within);
    }
    text + "req/s           : " + &per_client(measured, options, 4)
}

fn rows_of_169(measured: &PhaseResult, options: Options) -> String {
    let titles =
        ["min", "max", "median", "p95", "p99", "mean", "sd"].map(|title| format!("{title:<12}")).concat();
    let mut text = format!("{:17}{titles}+/- sd\n", "");
    for (_, title, metric) in METRICS {
        let times = &measured.tally.metric(metric);
        let spread = Dispersion::of(times);
        let at =
            |quantile: f64| if times.is_empty() { 0.0 } else { times.value_at_quantile(quantile) as f64 };
        let columns =
            [least(times), spread.max as f64, at(0.5), at(0.95), at(0.99), spread.mean, spread.stdev]
                .map(time);
        text += title;
        text += &row(&columns, spread.within);
    }
    text + "req/s       : " + &per_client(measured, options, 7)
}

/// The rate of a client: only the mean of all is known, which stands where the mean does.
fn per_client(measured: &PhaseResult, options: Options, columns: usize) -> String {
    let mean = measured.per_second(measured.counts().ended) / options.clients.max(1) as f64;
    let mut cells = vec!["-".to_owned(); columns];
    cells[columns - 2] = format!("{mean:.2}");
    row(&cells, None)
}

fn row(columns: &[String], within: Option<f64>) -> String {
    let cells: Vec<String> = columns.iter().map(|column| format!("{column:>10}")).collect();
    let within = within.map_or("-".to_owned(), |share| format!("{:.2}", share * 100.0));
    format!("{}{within:>9}%\n", cells.join("  "))
}

fn least(times: &Histogram) -> f64 {
    if times.is_empty() { 0.0 } else { times.min() as f64 }
}

/// A time in µs: whole below a millisecond, then two decimals.
fn time(us: f64) -> String {
    match us {
        us if us < 1000.0 => format!("{}us", us as u64),
        us if us < 1_000_000.0 => format!("{:.2}ms", us / 1000.0),
        us => format!("{:.2}s", us / 1_000_000.0),
    }
}

fn seconds(seconds: f64) -> String {
    time(seconds * 1_000_000.0)
}

/// Bytes: bare below 1024, then K, M and G of 1024.
fn unit(bytes: f64) -> String {
    const UNITS: [(&str, f64); 3] = [("G", 1_073_741_824.0), ("M", 1_048_576.0), ("K", 1024.0)];
    let larger = UNITS.iter().find(|(_, size)| bytes >= *size);
    larger.map_or_else(|| format!("{}", bytes as u64), |(unit, size)| format!("{:.2}{unit}", bytes / size))
}

fn sized(bytes: u64) -> String {
    format!("{}B ({bytes})", unit(bytes as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrk::tests::{exchange, result};
    use measure::Outcome;

    fn some() -> RunResult {
        result(|phase| {
            for service_us in [100, 200, 200, 1_300] {
                phase.tally.exchange(&exchange(Outcome::Ok, 200, service_us));
            }
            phase.tally.exchange(&exchange(Outcome::Ok, 404, 300));
            phase.tally.counts.field_bytes = 1000;
        })
    }

    #[test]
    fn the_report_of_1_52() {
        let text = report(&some(), Options { clients: 2, requests: Some(6), newer: false });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "finished in 2.00s, 2.50 req/s, 385B/s");
        assert_eq!(
            lines[2],
            "requests: 6 total, 0 started, 5 done, 4 succeeded, 2 failed, 6 errored, 0 timeout"
        );
        assert_eq!(lines[3], "status codes: 4 2xx, 0 3xx, 1 4xx, 0 5xx");
        assert_eq!(
            lines[4],
            "traffic: 770B (770) total, 500B (500) headers (space savings 50.00%), 270B (270) data"
        );
        assert_eq!(lines[5], "                     min         max         mean         sd        +/- sd");
        assert_eq!(&lines[6][..42], "time for request:      100us      1.30ms  ");
        assert!(
            lines[9]
                .starts_with("req/s           :          -           -        1.25           -        -%")
        );
        assert_eq!(lines[6].len(), lines[9].len());
    }

    #[test]
    fn the_rows_of_1_69() {
        let text = report(&some(), Options { clients: 2, requests: None, newer: true });
        assert!(text.contains("requests: 5 total"), "{text}");
        assert!(text.contains("median      p95         p99"), "{text}");
    }

    #[test]
    fn what_stands_before() {
        assert_eq!(
            begin(5, 2, Some(11), None, Duration::ZERO),
            "starting benchmark...\nspawning thread #0: 3 total client(s). 6 total requests\n\
             spawning thread #1: 2 total client(s). 5 total requests\n"
        );
        let timed = begin(1, 1, None, Some(Duration::from_secs(10)), Duration::ZERO);
        assert!(timed.ends_with(
            "Timing-based test with 0s of warm-up time and 10s of main duration for measurements.\n"
        ));
    }
}
