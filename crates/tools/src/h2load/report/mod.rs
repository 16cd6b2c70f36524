//! The layout of h2load, as nghttp2 1.52 has it (the same until 1.68) and as 1.69 has it.
//!
//! Differences from the old tool's figures, and their reasons, are in `docs/src/h2load.md`.

mod json;
mod spread;

use measure::{ConnectionUse, Failure, FailureKind, FirstTls, PhaseResult, RunResult, TimeMetric};
use spread::Values;
use std::time::Duration;

/// Options that the report needs beside the result.
#[derive(Debug, Clone, Copy, Default)]
pub struct H2loadOptions<'a> {
    /// Clients in all.
    pub clients: u64,
    /// Requests in all; `None`: as many as fit into the time.
    pub requests: Option<u64>,
    /// How long is measured, where that was said, and how long it warmed up before.
    pub lasts: Option<(Duration, Duration)>,
    /// The rows of 1.69.
    pub newer: bool,
    /// Each row is drawn, too.
    pub histogram: bool,
    /// Uses of connections while it measured.
    pub connections: &'a [ConnectionUse],
    /// Times of single requests, where they were kept.
    pub times: Option<&'a [Duration]>,
}

/// Clients of a thread, as the text before a run tells them.
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    /// How many.
    pub clients: u64,
    /// Requests of all of them.
    pub requests: u64,
    /// So many of them begin in a period; `None`: all at once.
    pub rate: Option<(u64, Duration)>,
}

/// Returns the text before a run. `lasts`: how long is measured, where the clock ends it, and how long it warms up before.
pub fn begin(threads: &[Thread], lasts: Option<(Duration, Duration)>) -> String {
    let mut text = "starting benchmark...\n".to_owned();
    for (nth, thread) in threads.iter().enumerate() {
        let rate = thread.rate.filter(|(rate, _)| thread.clients > *rate);
        let rate = rate
            .map(|(rate, period)| format!(" Up to {rate} client(s) will be created every {}", whole(period)));
        let amount = match lasts {
            None => format!(" {} total requests", thread.requests),
            Some((lasts, warm_up)) => format!(
                " Timing-based test with {}s of warm-up time and {}s of main duration for measurements.",
                warm_up.as_secs_f64(),
                lasts.as_secs_f64(),
            ),
        };
        text += &format!(
            "spawning thread #{nth}: {} total client(s).{}{amount}\n",
            thread.clients,
            rate.unwrap_or_default(),
        );
    }
    text
}

/// A time in the largest unit that it is a whole number of.
fn whole(time: Duration) -> String {
    match time.as_millis() {
        ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    }
}

/// The lines of threads that a run by the clock begins with.
pub fn warming_up(threads: usize) -> String {
    (0..threads).map(|nth| format!("Warm-up started for thread #{nth}.\n")).collect()
}

/// The lines of threads that begin to measure.
pub fn measuring(threads: usize) -> String {
    let line = |nth| {
        format!(
            "Warm-up phase is over for thread #{nth}.\nMain benchmark duration is started for thread #{nth}.\n"
        )
    };
    (0..threads).map(line).collect()
}

/// The lines of threads whose time is up.
pub fn over(threads: usize) -> String {
    let line = |nth| {
        format!(
            "Main benchmark duration is over for thread #{nth}. Stopping all clients.\nStopped all clients for thread \
             #{nth}\n"
        )
    };
    (0..threads).map(line).collect()
}

/// The lines where the server takes none of the names that were offered for ALPN.
pub const FALLBACK: &str = "No protocol negotiated. Fallback behaviour may be activated\n\
                            Server does not support NPN/ALPN. Falling back to HTTP/1.1.\n";

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

/// Progress is told so often: each time that a tenth is done, or one where there are fewer than ten.
pub fn progress_step(whole: u64) -> u64 {
    (whole / 10).max(1)
}

/// The line for requests that are done, or clients that have begun.
pub fn progress(part: u64, whole: u64, clients: bool) -> String {
    let percent = part * 100 / whole.max(1);
    format!("progress: {percent}% {}\n", if clients { "of clients started" } else { "done" })
}

/// A row of the report.
struct H2loadPart {
    /// Its title from 1.69 on.
    title: &'static str,
    /// Its title before.
    old_title: &'static str,
    values: Values,
    /// They are rates, not times.
    rates: bool,
}

/// Figures of a run as the old tool counts them.
struct H2loadFigures {
    /// Seconds.
    took: f64,
    requests_per_second: f64,
    bytes_per_second: f64,
    total: u64,
    started: u64,
    done: u64,
    succeeded: u64,
    failed: u64,
    errored: u64,
    timeout: u64,
    /// By their first digit, from 2.
    statuses: [u64; 4],
    head_bytes: u64,
    body_bytes: u64,
    /// Bytes of header fields before they were compressed.
    field_bytes: u64,
    /// Datagrams sent and received, over QUIC.
    datagrams: Option<(u64, u64)>,
    parts: [H2loadPart; 4],
}

/// Failures of a request alone: its stream ended, and the connection went on.
fn ends_a_stream(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::StreamReset
            | FailureKind::StreamRefused
            | FailureKind::StreamError
            | FailureKind::OwnLimit
            | FailureKind::BadLength
    )
}

impl H2loadFigures {
    fn of(result: &RunResult, options: &H2loadOptions<'_>) -> H2loadFigures {
        let measured = result.measured();
        let counts = measured.counts();
        let count = |wanted: &dyn Fn(Failure) -> bool| -> u64 {
            measured.tally.failures().filter(|(failure, _)| wanted(*failure)).map(|(_, count)| count).sum()
        };
        let of_class = |statuses: &mut dyn Iterator<Item = (u16, u64)>, class: u16| -> u64 {
            statuses.filter(|(status, _)| status / 100 == class).map(|(_, count)| count).sum()
        };
        let statuses = [2, 3, 4, 5].map(|class| of_class(&mut measured.tally.statuses(), class));
        let cut = [2, 3].map(|class| of_class(&mut measured.tally.cut_statuses(), class));
        let succeeded = (statuses[0] + statuses[1]).saturating_sub(cut.iter().sum());
        // Whatever the status: it was not lost.
        let well = counts.ok + counts.check_failed + count(&|failure| failure.kind == FailureKind::BadStatus);
        let done = well + count(&|failure| ends_a_stream(failure.kind));
        let failures = count(&|failure| failure.kind != FailureKind::BadStatus);
        let (total, errored) = match options.requests {
            Some(asked) => (asked, asked.saturating_sub(well)),
            None => (done, failures),
        };
        let took = measured.took.as_secs_f64();
        let paced = options.lasts.map_or(took, |(lasts, _)| lasts.as_secs_f64());
        let per_second = |count: u64| if paced > 0.0 { count as f64 / paced } else { 0.0 };
        let quic = measured.tally.http3().map(|http3| http3.quic);
        H2loadFigures {
            took: took + options.lasts.map_or(0.0, |(_, warm_up)| warm_up.as_secs_f64()),
            requests_per_second: per_second(well),
            bytes_per_second: per_second(counts.head_bytes + counts.body_bytes),
            total,
            started: counts.requests,
            done,
            succeeded,
            failed: errored + well.saturating_sub(succeeded),
            errored,
            timeout: count(&|failure| failure.kind == FailureKind::Timeout),
            statuses,
            head_bytes: counts.head_bytes,
            body_bytes: counts.body_bytes,
            field_bytes: counts.field_bytes,
            datagrams: quic.map(|quic| (quic.datagrams_sent, quic.datagrams_received)),
            parts: parts(&measured, options),
        }
    }
}

/// The rows, values in µs or per second.
fn parts(measured: &PhaseResult, options: &H2loadOptions<'_>) -> [H2loadPart; 4] {
    let uses = options.connections;
    let us = |time: Duration| time.as_nanos() as f64 / 1000.0;
    let times =
        |of: fn(&ConnectionUse) -> Option<Duration>| Values::single(uses.iter().filter_map(of).map(us));
    let rate = |connection: &ConnectionUse| match connection.ended.saturating_sub(connection.began) {
        Duration::ZERO if connection.answered > 0 => None,
        Duration::ZERO => Some(0.0),
        lived => Some(connection.answered as f64 / lived.as_secs_f64()),
    };
    // Clients that never had a connection have answered nothing.
    let without = options.clients.saturating_sub(uses.len() as u64) as usize;
    let rates = uses.iter().filter_map(rate).chain(std::iter::repeat_n(0.0, without));
    let requests = match options.times {
        Some(times) => Values::single(times.iter().copied().map(us)),
        None => Values::of_histogram(&measured.tally.metric(TimeMetric::Service)),
    };
    let part = |title, old_title, values, rates| H2loadPart { title, old_title, values, rates };
    [
        part("request", "time for request: ", requests, false),
        part("connect", "time for connect: ", times(|connection| connection.opened), false),
        part(
            "TTFB",
            "time to 1st byte: ",
            times(|connection| Some(connection.first_byte?.saturating_sub(connection.began))),
            false,
        ),
        part("req/s", "req/s           : ", Values::single(rates), true),
    ]
}

/// The report.
pub fn report(result: &RunResult, options: H2loadOptions<'_>) -> String {
    let figures = H2loadFigures::of(result, &options);
    let H2loadFigures { total, started, done, succeeded, failed, errored, timeout, .. } = figures;
    let mut text = format!(
        "\nfinished in {}, {:.2} req/s, {}B/s\n",
        time(figures.took * 1_000_000.0),
        figures.requests_per_second,
        unit(figures.bytes_per_second),
    );
    text += &format!(
        "requests: {total} total, {started} started, {done} done, {succeeded} succeeded, {failed} failed, {errored} errored, \
         {timeout} timeout\n",
    );
    let [two, three, four, five] = figures.statuses;
    text += &format!("status codes: {two} 2xx, {three} 3xx, {four} 4xx, {five} 5xx\n");
    let saved = 1.0 - measure::shares::ratio(figures.head_bytes, figures.field_bytes).unwrap_or(1.0);
    text += &format!(
        "traffic: {} total, {} headers (space savings {:.2}%), {} data\n",
        sized(figures.head_bytes + figures.body_bytes),
        sized(figures.head_bytes),
        saved * 100.0,
        sized(figures.body_bytes),
    );
    if let Some((sent, received)) = figures.datagrams {
        text += &format!("UDP datagram: {sent} sent, {received} received\n");
    }
    text + &rows(&figures.parts, &options)
}

/// Measurements as JSON, as `--output-file` has them.
pub fn measurements(result: &RunResult, options: H2loadOptions<'_>) -> String {
    json::text(&H2loadFigures::of(result, &options))
}

/// Column titles above the rows.
const TITLES: &str = "                     min         max         mean         sd        +/- sd\n";

fn rows(parts: &[H2loadPart], options: &H2loadOptions<'_>) -> String {
    let mut text = match options.newer {
        true => {
            let titles = ["min", "max", "median", "p95", "p99", "mean", "sd"];
            format!("{:17}{}+/- sd\n", "", titles.map(|title| format!("{title:<12}")).concat())
        }
        false => TITLES.to_owned(),
    };
    for part in parts {
        let show = if part.rates { |value: f64| format!("{value:.2}") } else { time };
        let spread = part.values.spread(!options.newer);
        let (title, columns) = match options.newer {
            true => (
                format!("{:12}: ", part.title),
                vec![spread.min, spread.max, spread.median, spread.p95, spread.p99, spread.mean, spread.sd],
            ),
            false => (part.old_title.to_owned(), vec![spread.min, spread.max, spread.mean, spread.sd]),
        };
        let cells: Vec<String> = columns.into_iter().map(|value| format!("{:>10}", show(value))).collect();
        text += &format!("{title}{}{:>9.2}%\n", cells.join("  "), spread.within);
        if options.histogram && options.newer {
            text += &part.values.drawing(&show);
        }
    }
    text
}

/// A time in µs: whole below a millisecond, then two decimals.
fn time(us: f64) -> String {
    match us {
        us if us < 1000.0 => format!("{}us", us as u64),
        us if us < 1_000_000.0 => format!("{:.2}ms", us / 1000.0),
        us => format!("{:.2}s", us / 1_000_000.0),
    }
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
    use crate::wrk::report::tests::{exchange, result};
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

    /// Two connections that lived for a second; one of three clients had none.
    fn uses() -> [ConnectionUse; 2] {
        let ms = Duration::from_millis;
        let of = |answered, opened| ConnectionUse {
            phase: 0,
            began: ms(500),
            opened: Some(ms(opened)),
            first_byte: Some(ms(530)),
            ended: ms(1500),
            answered,
        };
        [of(4, 1), of(2, 3)]
    }

    #[test]
    fn the_report_of_1_52() {
        let uses = uses();
        let options =
            H2loadOptions { clients: 3, requests: Some(6), connections: &uses, ..H2loadOptions::default() };
        let text = report(&some(), options);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "finished in 2.00s, 2.50 req/s, 385B/s");
        assert_eq!(
            lines[2],
            "requests: 6 total, 0 started, 5 done, 4 succeeded, 2 failed, 1 errored, 0 timeout"
        );
        assert_eq!(lines[3], "status codes: 4 2xx, 0 3xx, 1 4xx, 0 5xx");
        assert_eq!(
            lines[4],
            "traffic: 770B (770) total, 500B (500) headers (space savings 50.00%), 270B (270) data"
        );
        assert_eq!(lines[5], "                     min         max         mean         sd        +/- sd");
        assert_eq!(&lines[6][..42], "time for request:      100us      1.30ms  ");
        assert_eq!(lines[7], "time for connect:     1.00ms      3.00ms      2.00ms      1.41ms   100.00%");
        assert_eq!(lines[8], "time to 1st byte:    30.00ms     30.00ms     30.00ms         0us   100.00%");
        assert_eq!(lines[9], "req/s           :       0.00        4.00        2.00        2.00   100.00%");
    }

    #[test]
    fn what_did_not_end_well_has_not_succeeded() {
        let failed = |kind| Outcome::Failed(Failure::new(kind, measure::Stage::Body));
        let lost = result(|phase| {
            phase.tally.exchange(&exchange(Outcome::Ok, 200, 100));
            phase.tally.exchange(&exchange(failed(FailureKind::StreamReset), 200, 100));
            phase.tally.exchange(&exchange(failed(FailureKind::ClosedEarly), 200, 100));
            phase.tally.exchange(&exchange(failed(FailureKind::StreamReset), 500, 100));
        });
        let requests = |asked, lasts| {
            let text = report(&lost, H2loadOptions { requests: asked, lasts, ..H2loadOptions::default() });
            text.lines().nth(2).unwrap_or_default().to_owned()
        };
        assert_eq!(
            requests(Some(5), None),
            "requests: 5 total, 0 started, 3 done, 1 succeeded, 4 failed, 4 errored, 0 timeout"
        );
        let second = Duration::from_secs(1);
        assert_eq!(
            requests(None, Some((second, Duration::ZERO))),
            "requests: 3 total, 0 started, 3 done, 1 succeeded, 3 failed, 3 errored, 0 timeout"
        );
    }

    #[test]
    fn a_run_by_the_clock_divides_by_the_time_that_was_asked() {
        let lasts = Some((Duration::from_secs(1), Duration::from_secs(3)));
        let text = report(&some(), H2loadOptions { lasts, ..H2loadOptions::default() });
        assert!(text.starts_with("\nfinished in 5.00s, 5.00 req/s"), "{text}");
    }

    #[test]
    fn a_run_without_any_answer_has_rows_of_nothing() {
        let text = report(&result(|_| {}), H2loadOptions { clients: 1, ..H2loadOptions::default() });
        assert!(
            text.contains("time for request:        0us         0us         0us         0us     0.00%\n"),
            "{text}"
        );
        assert!(
            text.contains("req/s           :       0.00        0.00        0.00        0.00   100.00%\n"),
            "{text}"
        );
    }

    #[test]
    fn the_rows_of_1_69() {
        let uses = uses();
        let options = H2loadOptions {
            newer: true,
            histogram: true,
            connections: &uses,
            clients: 2,
            ..H2loadOptions::default()
        };
        let text = report(&some(), options);
        assert!(text.contains("requests: 5 total"), "{text}");
        assert!(text.contains("median      p95         p99"), "{text}");
        let rates = "req/s       :       2.00        4.00        3.00        4.00        4.00        3.00        1.00   100.00%\n";
        assert!(text.contains(rates), "{text}");
        assert_eq!(text.matches("%)\n").count(), 30, "{text}");
    }

    #[test]
    fn measurements_as_json() {
        let uses = uses();
        let times = [1, 3].map(Duration::from_millis);
        let options = H2loadOptions {
            newer: true,
            clients: 2,
            requests: Some(5),
            connections: &uses,
            times: Some(&times),
            ..H2loadOptions::default()
        };
        let told: serde_json::Value = serde_json::from_str(&measurements(&some(), options)).unwrap();
        let measured = &told["measurements"];
        assert_eq!((&told["version"], &measured["requests"]["done"]), (&"v1".into(), &5.into()));
        assert_eq!(measured["performance"]["request"]["samples"], serde_json::json!([0.001, 0.003]));
        assert_eq!(measured["performance"]["request_per_second"]["max"], 4.0);
        assert_eq!(measured["traffic"]["headers_decompressed"], 1000);
    }

    #[test]
    fn what_stands_before() {
        let thread = |clients, requests, rate| Thread { clients, requests, rate };
        assert_eq!(
            begin(&[thread(3, 6, None), thread(2, 5, None)], None),
            "starting benchmark...\nspawning thread #0: 3 total client(s). 6 total requests\n\
             spawning thread #1: 2 total client(s). 5 total requests\n"
        );
        let ms = Duration::from_millis;
        let timed = begin(&[thread(1, 1, None)], Some((ms(10_000), ms(500))));
        assert!(timed.ends_with(
            "Timing-based test with 0.5s of warm-up time and 10s of main duration for measurements.\n"
        ));
        let rated = begin(&[thread(2, 5, Some((1, ms(1000)))), thread(1, 5, Some((1, ms(1000))))], None);
        assert!(
            rated
                .contains("2 total client(s). Up to 1 client(s) will be created every 1s 5 total requests\n")
        );
        assert!(rated.ends_with("#1: 1 total client(s). 5 total requests\n"));
    }

    #[test]
    fn progress_is_told_in_percent() {
        assert_eq!((progress_step(19), progress_step(1000), progress_step(3)), (1, 100, 1));
        assert_eq!(progress(1, 19, false), "progress: 5% done\n");
        assert_eq!(progress(2, 4, true), "progress: 50% of clients started\n");
    }
}
