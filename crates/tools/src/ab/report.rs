//! ab's layout: the text report, the HTML table (`html.rs`), the CSV and gnuplot files (`files.rs`), and what it prints of
//! single requests (`heads.rs`).
//!
//! Everything shown was gathered beforehand; the rules by which ab rounds and picks from a sorted list are here.

mod files;
mod heads;
mod html;

pub use files::{Gnuplot, csv};
pub use heads::Heads;
pub use html::html;

use measure::{
    ExactDistribution, Failure, FailureKind, Fault, First, FirstTls, PhaseResult, RequestDistributions,
    Stage, Tally,
};
use std::fmt::Write;
use std::time::Duration;

/// Settings of the run, as far as the report shows them.
#[derive(Debug, Clone)]
pub struct AbAsked {
    /// Host of the URL.
    pub hostname: String,
    /// Port of the URL.
    pub port: u16,
    /// Path of the URL.
    pub path: String,
    /// `host:port` of the proxy.
    pub proxy: Option<String>,
    /// TLS is spoken.
    pub secure: bool,
    /// The name that TLS asks for.
    pub server_name: Option<String>,
    /// Connections at once.
    pub concurrency: u32,
    /// Requests, where the run came to its end.
    pub requests: u64,
    /// When the clock ends the run.
    pub time_limit: Option<Duration>,
    /// Bodies may differ in length.
    pub any_length: bool,
    /// Connections are kept.
    pub keep_alive: bool,
    /// Requests carry a body.
    pub has_body: bool,
    /// Percentiles are shown.
    pub percentiles: bool,
    /// Deviations, medians and warnings are shown.
    pub confidence: bool,
    /// Failed connections do not change the exit code.
    pub survives: bool,
}

/// Results of the run.
#[derive(Debug, Clone)]
pub struct AbSeen {
    /// It ended before its requests and its time did, because nobody listened any more.
    pub gave_up: bool,
    /// How long it took.
    pub took: Duration,
    /// Requests that have ended, by what became of them.
    pub tally: Tally,
    /// Their times.
    pub distributions: RequestDistributions,
    /// The first answer.
    pub first: Option<First>,
    /// The first TLS handshake.
    pub tls: Option<(FirstTls, String)>,
}

impl AbSeen {
    /// From the figures of a run.
    pub fn new(phase: &PhaseResult, asked: &AbAsked, interrupted: bool) -> AbSeen {
        let distributions = phase.tally.distributions().cloned().unwrap_or_default();
        let short = distributions.total.count() < asked.requests;
        let by_the_clock = asked.time_limit.filter(|limit| short && phase.took >= *limit);
        let took = if interrupted { phase.took } else { by_the_clock.unwrap_or(distributions.until) };
        let gave_up = short && by_the_clock.is_none() && !interrupted;
        AbSeen { gave_up, took, tally: phase.tally.clone(), distributions, first: None, tls: None }
    }

    /// Requests that have ended, well or not.
    pub fn done(&self) -> u64 {
        self.distributions.total.count()
    }

    /// Failed requests by the four kinds of ab. Each counts once.
    pub fn failed(&self) -> Failed {
        let mut failed = Failed::default();
        for (failure, count) in self.tally.failures() {
            match failure.stage {
                Stage::Lookup | Stage::Connect | Stage::Tunnel | Stage::Tls => failed.connect += count,
                Stage::Stream | Stage::Send => failed.exceptions += count,
                Stage::FirstByte | Stage::Head | Stage::Body => match failure.kind {
                    FailureKind::Reset | FailureKind::ClosedEarly | FailureKind::TlsUnclosed => {
                        failed.receive += count;
                    }
                    _ => failed.exceptions += count,
                },
            }
        }
        let of_length = |(fault, _): &(Fault, u64)| *fault == Fault::WrongLength;
        failed.length = self.tally.faults().filter(of_length).map(|(_, count)| count).sum();
        failed
    }

    /// Requests that could not be sent; they are among the failed ones.
    fn write_errors(&self) -> u64 {
        let failures = self.tally.failures().filter(|(failure, _)| failure.stage == Stage::Send);
        failures.map(|(_, count)| count).sum()
    }

    /// Answers with a status other than 2xx.
    fn not_2xx(&self) -> u64 {
        let others = self.tally.statuses().filter(|(status, _)| !(200..300).contains(status));
        others.map(|(_, count)| count).sum()
    }

    /// The first answer's Server field up to a blank.
    fn software(&self) -> &str {
        let head = self.first.as_ref().map_or(&[][..], |first| &first.head);
        let text = std::str::from_utf8(head).unwrap_or_default();
        let server = text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("Server").then_some(value.trim_start())
        });
        server.and_then(|value| value.split_whitespace().next()).unwrap_or_default()
    }

    fn document_length(&self, asked: &AbAsked) -> String {
        if asked.any_length {
            return "Variable".to_owned();
        }
        format!("{} bytes", self.first.as_ref().map_or(0, |first| first.body_bytes))
    }

    fn received_bytes(&self) -> u64 {
        measure::shares::received_bytes(&self.tally.counts)
    }

    /// Per second and in units of 1024; `None` where no time passed or nothing was done.
    fn rates(&self) -> Option<AbRates> {
        let seconds = self.took.as_secs_f64();
        let done = self.done() as f64;
        (seconds > 0.0 && done > 0.0).then(|| AbRates {
            requests: done / seconds,
            each_ms: seconds * 1e3 / done,
            received: self.received_bytes() as f64 / 1024.0 / seconds,
            sent: self.tally.counts.sent_bytes as f64 / 1024.0 / seconds,
        })
    }

    /// Returns the error that ab would have ended with instead of going on: the line that it prints, and its exit code.
    pub fn fatal(&self, asked: &AbAsked) -> Option<(String, u8)> {
        let mut fatal: Option<(String, u8)> = None;
        for (failure, _) in self.tally.failures() {
            match failure.kind {
                // Its own number for a wait that was too long, whatever -r says.
                FailureKind::Timeout => {
                    let line = "apr_pollset_poll: The timeout specified has expired (70007)".to_owned();
                    return Some((line, 119));
                }
                _ if asked.survives => {}
                _ => fatal = fatal.or(of_receiving(&failure)),
            }
        }
        if let Some((line, _)) = fatal.as_mut().filter(|_| self.gave_up) {
            *line = format!("\nTest aborted after {} failures\n\n{line}", self.failed().connect);
        }
        fatal
    }

    /// Returns ab's lines on TLS handshakes that failed; they do not change its exit code.
    pub fn handshakes(&self) -> Vec<String> {
        let failures = self.tally.failures().filter(|(failure, _)| failure.stage == Stage::Tls);
        let line = |(failure, count): (Failure, u64)| {
            format!("SSL handshake failed: {} ({count} times)", failure.kind.text())
        };
        failures.map(line).collect()
    }
}

/// Returns the line and the exit code that ab ends with at an error of a socket.
fn of_receiving(failure: &Failure) -> Option<(String, u8)> {
    let (errno, text) = match failure.kind {
        FailureKind::Refused => (111, "Connection refused"),
        FailureKind::Reset => (104, "Connection reset by peer"),
        FailureKind::Unreachable => (113, "No route to host"),
        FailureKind::NoPort => (99, "Cannot assign requested address"),
        FailureKind::NoDescriptor => (24, "Too many open files"),
        _ => return None,
    };
    let errno = failure.errno().unwrap_or(errno);
    Some((format!("apr_socket_recv: {text} ({errno})"), errno as u8))
}

/// Failed requests, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failed {
    /// No connection, or no TLS over it.
    pub connect: u64,
    /// The answer broke off.
    pub receive: u64,
    /// The body is not as long as the first one.
    pub length: u64,
    /// Anything else: not valid HTTP/1, a timeout, not sent.
    pub exceptions: u64,
}

impl Failed {
    /// All of them.
    pub fn sum(&self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

struct AbRates {
    requests: f64,
    each_ms: f64,
    received: f64,
    sent: f64,
}

/// `Benchmarking HOST …`, which precedes a run; nothing in HTML. `progress`: lines are going to follow on stderr.
pub fn begin(asked: &AbAsked, progress: bool) -> String {
    let through = asked.proxy.as_ref().map_or(String::new(), |proxy| format!("[through {proxy}] "));
    let dots = if progress { "\n" } else { "..." };
    format!("Benchmarking {} {through}(be patient){dots}", asked.hostname)
}

/// The text report.
pub fn text(asked: &AbAsked, seen: &AbSeen) -> String {
    let mut text = String::from("\n\n");
    server(&mut text, asked, seen);
    totals(&mut text, asked, seen);
    if seen.done() > 0 {
        times(&mut text, asked, &seen.distributions);
    }
    if seen.done() > 1 && asked.percentiles {
        percentiles(&mut text, &seen.distributions.total);
    }
    text
}

/// A line whose value begins in column 24.
fn line(text: &mut String, label: &str, value: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{:<24}{value}", format!("{label}:"));
}

fn server(text: &mut String, asked: &AbAsked, seen: &AbSeen) {
    line(text, "Server Software", seen.software());
    line(text, "Server Hostname", &asked.hostname);
    line(text, "Server Port", asked.port);
    if let Some((tls, suite)) = &seen.tls {
        line(text, "SSL/TLS Protocol", protocol(tls, suite));
        if let Some(key) = tls.group.and_then(report::verbose::temporary_key) {
            line(text, "Server Temp Key", key);
        }
    }
    if let Some(name) = &asked.server_name {
        line(text, "TLS Server Name", name);
    }
    text.push('\n');
    line(text, "Document Path", &asked.path);
    line(text, "Document Length", seen.document_length(asked));
    text.push('\n');
}

/// Version, suite, and bits of the server's key and of the cipher.
fn protocol(tls: &FirstTls, suite: &str) -> String {
    let version = if tls.tls13 { "TLSv1.3" } else { "TLSv1.2" };
    let bits = if suite.contains("128") && !suite.contains("CHACHA20") { 128 } else { 256 };
    format!("{version},{suite},{},{bits}", tls.key_bits.unwrap_or(0))
}

fn totals(text: &mut String, asked: &AbAsked, seen: &AbSeen) {
    let counts = &seen.tally.counts;
    let failed = seen.failed();
    line(text, "Concurrency Level", asked.concurrency);
    line(text, "Time taken for tests", format!("{:.3} seconds", seen.took.as_secs_f64()));
    line(text, "Complete requests", seen.done());
    line(text, "Failed requests", failed.sum());
    if failed.sum() > 0 {
        let Failed { connect, receive, length, exceptions } = failed;
        let _ = writeln!(
            text,
            "   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"
        );
    }
    let mut some = |label: &str, count: u64| {
        if count > 0 {
            line(text, label, count);
        }
    };
    some("Write errors", seen.write_errors());
    some("Non-2xx responses", seen.not_2xx());
    if asked.keep_alive {
        line(text, "Keep-Alive requests", seen.distributions.kept);
    }
    line(text, "Total transferred", format!("{} bytes", seen.received_bytes()));
    if asked.has_body {
        line(text, "Total body sent", counts.sent_bytes);
    }
    line(text, "HTML transferred", format!("{} bytes", counts.body_bytes));
    let Some(rates) = seen.rates() else { return };
    let each = rates.each_ms;
    line(text, "Requests per second", format!("{:.2} [#/sec] (mean)", rates.requests));
    line(text, "Time per request", format!("{:.3} [ms] (mean)", each * f64::from(asked.concurrency)));
    line(text, "Time per request", format!("{each:.3} [ms] (mean, across all concurrent requests)"));
    line(text, "Transfer rate", format!("{:.2} [Kbytes/sec] received", rates.received));
    if asked.has_body {
        let _ = writeln!(text, "{:24}{:.2} kb/s sent", "", rates.sent);
        let _ = writeln!(text, "{:24}{:.2} kb/s total", "", rates.received + rates.sent);
    }
}

/// µs as whole ms, rounded as ab does.
fn ms(us: u64) -> u64 {
    (us + 500) / 1000
}

/// The mean in whole µs, as ab divides, and then in ms.
fn mean_ms(distribution: &ExactDistribution) -> u64 {
    ms(distribution.sum_us() / distribution.count().max(1))
}

fn rows(distributions: &RequestDistributions) -> [(&'static str, &'static str, &ExactDistribution); 4] {
    [
        ("Connect:", "the initial connection time", &distributions.connect),
        ("Processing:", "the processing time", &distributions.processing),
        ("Waiting:", "the waiting time", &distributions.waiting),
        ("Total:", "the total time", &distributions.total),
    ]
}

fn times(text: &mut String, asked: &AbAsked, distributions: &RequestDistributions) {
    text.push_str("\nConnection Times (ms)\n");
    if !asked.confidence {
        text.push_str("              min   avg   max\n");
        for (label, _, distribution) in rows(distributions) {
            let (min, mean, max) =
                (ms(distribution.min_us()), mean_ms(distribution), ms(distribution.max_us()));
            let _ = writeln!(text, "{label:<12}{min:>5} {mean:>5}{max:>5}");
        }
        return;
    }
    text.push_str("              min  mean[+/-sd] median   max\n");
    for (label, _, distribution) in rows(distributions) {
        let min = ms(distribution.min_us());
        let mean = mean_ms(distribution);
        let max = ms(distribution.max_us());
        let deviation = distribution.deviation_us() / 1e3;
        let median = ms(distribution.median_us());
        let _ = writeln!(text, "{label:<12}{min:>5} {mean:>4} {deviation:>5.1} {median:>6} {max:>7}");
    }
    for (_, what, distribution) in rows(distributions) {
        let apart = mean_ms(distribution).abs_diff(ms(distribution.median_us())) as f64;
        let deviation = distribution.deviation_us() / 1e3;
        if apart > 2.0 * deviation {
            let _ = writeln!(
                text,
                "ERROR: The median and mean for {what} are more than twice the standard\n       deviation apart. These results are NOT reliable."
            );
        } else if apart > deviation {
            let _ = writeln!(
                text,
                "WARNING: The median and mean for {what} are not within a normal deviation\n        These results are probably not that reliable."
            );
        }
    }
}

fn percentiles(text: &mut String, total: &ExactDistribution) {
    text.push_str("\nPercentage of the requests served within a certain time (ms)\n");
    for percent in [50, 66, 75, 80, 90, 95, 98, 99] {
        let at = ms(total.at_us(total.count() * percent / 100));
        let _ = writeln!(text, "  {percent}%  {at:>5}");
    }
    let _ = writeln!(text, " 100%  {:>5} (longest request)", ms(total.max_us()));
}

#[cfg(test)]
mod tests;
