//! jtest's layout (spec/jtest.md section 7): a line per interval, totals, and what it told about single requests.
//!
//! [`Layout`] takes the rows of a run and gives lines; the rest are functions of their arguments. What differs from the
//! old tool's figures, and why, is in `docs/src/jtest.md`.

use crate::show;
use measure::event::{HeadTitle, Wrong};
use measure::run::received_bytes;
use measure::{Clock, Counts, Failure, FailureKind, Fault, OriginCounts, Row, RunResult, Stage, Trouble};

/// What the lines of a run show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewOptions {
    /// Seconds between lines; 0: only the last line.
    pub interval_s: u64,
    /// Lines that the old averages reach over, at least 1.
    pub average_over: u32,
    /// Figures are the old tool's averages, which start at zero, rather than those of the interval.
    pub old_averages: bool,
}

/// The lines of a run. Give it every row, print what it returns, and ask for the [`Layout::rest`] when the run is over.
#[derive(Debug)]
pub struct Layout {
    options: ViewOptions,
    pending: Interval,
    averages: Averages,
    /// Lines so far.
    lines: u64,
    /// Failed and faulty requests since the start.
    errors: u64,
    /// The origin's connections that are open.
    open: u64,
}

/// The heads of the columns come before the 1st, the 21st, the 41st line.
const LINES_PER_HEAD: u64 = 20;
/// A rest shorter than this is the moment that ending a run takes, in seconds.
const SHORTEST_REST_S: f64 = 0.1;
const HEAD: &str = " con  new     ops   1B  lat      bytes/per     svrs  new  ops      total   time  err\n";

impl Layout {
    /// Nothing yet.
    pub fn new(options: ViewOptions) -> Layout {
        Layout {
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
        let tells = self.pending.seconds >= SHORTEST_REST_S || self.pending.is_busy();
        if tells || self.lines == 0 { self.line() } else { String::new() }
    }

    fn line(&mut self) -> String {
        let interval = std::mem::take(&mut self.pending);
        self.errors += interval.counts.failed + interval.counts.faulty;
        self.open = (self.open + interval.origin.connections).saturating_sub(interval.origin.closed);
        let true_figures = Figures::of(&interval, self.errors, self.open);
        let figures = match self.options.old_averages {
            true => self.averages.over(true_figures),
            false => true_figures,
        };
        let head = if self.lines.is_multiple_of(LINES_PER_HEAD) { HEAD } else { "" };
        self.lines += 1;
        format!("{head}{}\n", figures.text())
    }
}

/// What happened since the last line.
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
struct Figures {
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

impl Figures {
    fn of(interval: &Interval, errors: u64, origin_open: u64) -> Figures {
        let Interval { counts, origin, .. } = interval;
        let bytes = received_bytes(counts);
        let origin_bytes = origin.received_bytes + origin.head_bytes + origin.body_bytes;
        Figures {
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
    (counts.fine + counts.aborted + counts.injected).saturating_sub(counts.redirects)
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
    fn over(&mut self, figures: Figures) -> Figures {
        let window = u64::from(self.window);
        Figures {
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
    let bound = result.self_check.verdict().reasons;
    let bound = bound.iter().map(|reason| format!("Bound by the generator: {reason}\n"));
    let mut text = hit_ratio(result) + &times(result);
    text.extend(bound);
    text
}

fn hit_ratio(result: &RunResult) -> String {
    let measured = result.measured();
    let (Some(ratio), Some(origin)) = (measured.origin_offload(), &measured.origin) else {
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
    let line = |name: &str, clock: Clock| {
        let at = |quantile| show::time(measured.percentile_us(clock, quantile));
        let (p50, p90, p99, p999, max) = (at(0.5), at(0.9), at(0.99), at(0.999), at(1.0));
        format!("{name} p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}, max {max}")
    };
    let answers = measured.tally.clock(Clock::Service).len();
    if answers == 0 {
        return String::new();
    }
    let mut text = line("Service time", Clock::Service);
    text += &format!(" ({})\n", show::counted(answers, "good answer"));
    if !measured.tally.clock(Clock::Lateness).is_empty() {
        // Under an open pace a request may have waited before it was sent.
        text += &line("Response time", Clock::Response);
        text += " (from when it was due)\n";
    }
    text
}

/// Header fields under the old tool's title, in braces.
pub fn head_view(title: HeadTitle, head: &[u8]) -> Vec<u8> {
    let title = match title {
        HeadTitle::RequestToProxy => "Request to Proxy: {\n",
        HeadTitle::RequestFromProxy => "Request from Proxy: {\n",
        HeadTitle::ResponseToProxy => "Response to Proxy: {\n",
        HeadTitle::ResponseFromProxy => "Response From Proxy: {\n",
    };
    [title.as_bytes(), head, b"}\n"].concat()
}

/// A line about a request that went wrong: in the old tool's words where it had some.
pub fn trouble(trouble: &Trouble) -> String {
    let request = printable(&trouble.request);
    let after_ms = trouble.after.as_millis();
    match &trouble.what {
        Wrong::Length { expected, announced, whole } => {
            format!("bad Content-Length expected {expected} got {announced} orig {whole}\n")
        }
        Wrong::Short { got, wanted } => {
            format!("bad length {got} wanted {wanted} after {after_ms} ms: '{request}'\n")
        }
        Wrong::Faulty(Fault::WrongBytes) => format!("content verification error '{request}'\n"),
        Wrong::Faulty(fault) => format!("content verification error '{request}' ({})\n", fault.text()),
        Wrong::Redirect => format!("bad redirect '{}': '{request}'\n", printable(&trouble.status_line)),
        Wrong::Url => format!("bad URL '{request}'\n"),
        Wrong::Failed(failure) => failed(trouble, *failure),
    }
}

fn failed(trouble: &Trouble, failure: Failure) -> String {
    let request = printable(&trouble.request);
    let Trouble { connection, after, range, .. } = trouble;
    let after_ms = after.as_millis();
    match (failure.kind, failure.stage) {
        (FailureKind::BadStatus, _) => {
            let status_line = printable(&trouble.status_line);
            let (first, last) = range;
            format!(
                "error response {connection} after {after_ms}ms: '{request}':'{status_line}' {first}-{last}\n"
            )
        }
        (FailureKind::ClosedEarly, Stage::Head) => {
            let idle = if trouble.reused { " -- keepalive timeout" } else { "" };
            format!(
                "read_response {connection} closed during header for '{request}' after {after_ms}{idle}\n"
            )
        }
        (FailureKind::HeadTooLong, _) => format!("header too long '{request}'\n"),
        (FailureKind::Timeout, stage) => {
            format!("timeout {connection} after {after_ms}ms {}: '{request}'\n", stage.text())
        }
        (FailureKind::NoDescriptor, _) => "socket: Too many open files\n".to_owned(),
        // Connecting was not waited for, so a refusal showed as an error of the first write.
        (kind, Stage::Connect | Stage::Send) => format!("write: {}\n", system_text(kind, failure.errno)),
        (kind, stage) => {
            format!("error {connection} after {after_ms}ms {}: {}: '{request}'\n", stage.text(), kind.text())
        }
    }
}

/// What the C library says of an error number, for those that a write can meet; else our own words.
fn system_text(kind: FailureKind, errno: Option<i32>) -> &'static str {
    match (kind, errno) {
        (FailureKind::Refused, _) => "Connection refused",
        (FailureKind::Reset | FailureKind::ClosedEarly, Some(32)) => "Broken pipe",
        (FailureKind::Reset, _) => "Connection reset by peer",
        (FailureKind::Unreachable, Some(101)) => "Network is unreachable",
        (FailureKind::Unreachable, _) => "No route to host",
        (FailureKind::NoPort, _) => "Cannot assign requested address",
        (kind, _) => kind.text(),
    }
}

/// Text of a stranger without the characters that could steer a terminal.
fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::run::Timeline;
    use measure::verdict::SelfCheck;
    use measure::{PhaseResult, Tally};
    use std::time::Duration;

    const TRUE: ViewOptions = ViewOptions { interval_s: 1, average_over: 5, old_averages: false };
    const OLD: ViewOptions = ViewOptions { old_averages: true, ..TRUE };

    fn second(at_s: f64, counts: Counts, origin: OriginCounts, in_flight: u64) -> Row {
        Row { at_s, seconds: 1.0, counts, origin: Some(origin), in_flight, ..Row::default() }
    }

    /// A second in which the line of the recorded run would have been true.
    fn recorded() -> Row {
        let counts = Counts {
            connections: 2233,
            fine: 11_172,
            ended: 11_172,
            ended_us: 11_172 * 499,
            first_byte_us: 11_172 * 100,
            head_bytes: 3_000_000,
            body_bytes: 165_057_616,
            sent_bytes: 1_000_000,
            ..Counts::default()
        };
        let origin = OriginCounts {
            connections: 1799,
            requests: 7_205,
            unchanged: 6,
            received_bytes: 830_036,
            head_bytes: 1_000_000,
            body_bytes: 107_000_000,
            ..OriginCounts::default()
        };
        second(10.2, counts, origin, 10)
    }

    #[test]
    fn a_line_has_the_recorded_format() {
        let expected = " con  new     ops   1B  lat      bytes/per     svrs  new  ops      total   time  err\n  \
                        10 2233 11172.0    0    0  168057616/16805761  1799 1799 7199  277887652   10.2    0\n";
        assert_eq!(Layout::new(TRUE).row(&recorded()), expected);
    }

    #[test]
    fn heads_come_before_every_twentieth_line() {
        let mut layout = Layout::new(TRUE);
        let lines: String = (0..41).map(|_| layout.row(&recorded())).collect();
        let heads: Vec<usize> =
            lines.lines().enumerate().filter(|(_, line)| line.starts_with(" con")).map(|(n, _)| n).collect();
        assert_eq!(heads, [0, 21, 42]);
        assert_eq!(lines.lines().count(), 44);
    }

    #[test]
    fn true_lines_round_times_count_errors_and_know_open_connections() {
        let mut layout = Layout::new(TRUE);
        let counts = Counts {
            fine: 2,
            aborted: 1,
            injected: 1,
            redirects: 1,
            failed: 2,
            faulty: 1,
            ended: 2,
            first_byte_us: 3_400,
            ended_us: 5_200,
            body_bytes: 900,
            ..Counts::default()
        };
        let origin = |connections, closed| OriginCounts { connections, closed, ..OriginCounts::default() };
        layout.row(&second(1.0, counts, origin(5, 2), 0));
        let line = layout.row(&second(2.0, counts, origin(3, 4), 4));
        assert_eq!(
            line,
            "   4    0     3.0    2    3        900/225        2    3    0        900    2.0    6\n"
        );
    }

    #[test]
    fn the_old_averages_start_at_zero() {
        let mut layout = Layout::new(OLD);
        let counts = Counts { fine: 1000, ..Counts::default() };
        let shown: Vec<String> = (1..=10)
            .map(|at| layout.row(&second(f64::from(at), counts, OriginCounts::default(), 0)))
            .map(|line| line.lines().last().unwrap()[10..17].trim().to_owned())
            .collect();
        let expected =
            ["200.0", "360.0", "488.0", "590.4", "672.3", "737.9", "790.3", "832.2", "865.8", "892.6"];
        assert_eq!(shown, expected);
    }

    /// 50 requests at the beginning of each second, all over the connections of the first one, as recorded from the
    /// original with `-e 50`.
    #[test]
    fn the_old_averages_give_the_recorded_table() {
        let counts = Counts {
            fine: 50,
            ended: 50,
            ended_us: 10_000,
            head_bytes: 8_450,
            body_bytes: 30_000,
            sent_bytes: 4_250,
            ..Counts::default()
        };
        let origin = OriginCounts {
            requests: 50,
            received_bytes: 4_250,
            body_bytes: 38_450,
            ..OriginCounts::default()
        };
        let mut layout = Layout::new(OLD);
        let mut text = layout.row(&second(0.8, Counts::default(), OriginCounts::default(), 0));
        let first = Counts { connections: 50, ..counts };
        let first_origin = OriginCounts { connections: 50, closed: 50, ..origin };
        text += &layout.row(&second(1.8, first, first_origin, 0));
        text += &layout.row(&second(2.8, counts, origin, 0));
        text += &layout.row(&second(3.8, counts, origin, 0));
        // As recorded, but for the seventh column: there it repeated the eighth.
        let expected = "   0    0     0.0    0    0          0/0          0    0    0          0    0.8    0\n   \
                        0   10    10.0    0    0       7690/0          0   10   10      17080    1.8    0\n   \
                        0    8    18.0    0    0      13842/0          0    8   18      30744    2.8    0\n   \
                        0    6    24.4    0    0      18763/0          0    6   24      41675    3.8    0\n";
        assert_eq!(text.split_once('\n').unwrap().1, expected);
    }

    #[test]
    fn old_times_are_whole_and_rest_where_nothing_came() {
        let mut time = 0;
        let shown = [Some(200.9), Some(200.9), None, Some(202.0)].map(|ms| time_average(&mut time, ms, 5));
        assert_eq!(shown, [Some(40.0), Some(72.0), Some(72.0), Some(98.0)]);
    }

    #[test]
    fn intervals_gather_seconds_and_the_rest_is_told() {
        let mut layout = Layout::new(ViewOptions { interval_s: 3, ..TRUE });
        let counts = Counts { fine: 10, ..Counts::default() };
        let rows: Vec<String> = (1..=5)
            .map(|at| layout.row(&second(f64::from(at), counts, OriginCounts::default(), 1)))
            .collect();
        assert_eq!(rows.iter().map(|text| text.lines().count()).collect::<Vec<_>>(), [0, 0, 2, 0, 0]);
        assert!(rows[2].contains("    30.0 ") && rows[2].contains(" 3.0 "), "{}", rows[2]);
        let rest = layout.rest();
        assert!(rest.contains("    20.0 ") && rest.contains(" 5.0 "), "{rest}");
        assert_eq!(layout.rest(), "");
    }

    #[test]
    fn a_run_without_intervals_has_one_line() {
        let mut layout = Layout::new(ViewOptions { interval_s: 0, ..TRUE });
        assert_eq!(layout.row(&recorded()), "");
        assert_eq!(layout.rest().lines().count(), 2);
        assert_eq!(Layout::new(TRUE).rest().lines().count(), 2, "even where nothing happened");
    }

    fn result(origin: Option<OriginCounts>) -> RunResult {
        let mut phase = PhaseResult::new("jtest", true);
        phase.origin = origin;
        phase.took = Duration::from_secs(1);
        RunResult {
            phases: vec![phase],
            timeline: Timeline::default(),
            took: Duration::from_secs(1),
            workers: Vec::new(),
            origin,
            evidence: Vec::new(),
            watched: Vec::new(),
            self_check: SelfCheck { requests: 1000, ..SelfCheck::default() },
            interrupted: false,
            backend: "sim",
            notes: Vec::new(),
        }
    }

    #[test]
    fn totals_are_those_recorded() {
        let origin = OriginCounts {
            head_bytes: 1690,
            body_bytes: 6000,
            received_bytes: 850,
            ..OriginCounts::default()
        };
        let mut result = result(Some(origin));
        let counts = Counts { sent_bytes: 850, head_bytes: 1691, body_bytes: 6001, ..Counts::default() };
        result.phases[0].tally.counts = counts;
        let expected = "Total Client Request Bytes:\t\t850\n\
                        Total Server Response Header Bytes:\t1690\n\
                        Total Server Response Body Bytes:\t6000\n\
                        Total Proxy Request Bytes:\t\t850\n\
                        Total Proxy Response Header Bytes:\t1691\n\
                        Total Proxy Response Body Bytes:\t6001\n";
        assert_eq!(totals(&result), expected);
        result.origin = None;
        assert!(totals(&result).contains("Total Proxy Request Bytes:\t\t0\n"));
    }

    #[test]
    fn the_summary_joins_both_sides_and_says_how_long_answers_took() {
        let mut result = result(Some(OriginCounts { full: 500, partial: 100, ..OriginCounts::default() }));
        let mut tally = Tally::new();
        (1..=1000).for_each(|n| tally.time(Clock::Service, Duration::from_micros(n * 10)));
        tally.counts = Counts { requests: 1000, ended: 1000, fine: 1000, ..Counts::default() };
        result.phases[0].tally = tally;
        result.phases[0].predicted_hit_ratio = Some(0.38);
        let text = summary(&result);
        assert_eq!(
            text,
            "Hit ratio 40.0 % (1,000 answers, 600 documents from the origin; 38.0 % expected)\n\
             Service time p50 5.00 ms, p90 9.01 ms, p99 9.90 ms, p99.9 9.99 ms, max 10.0 ms (1,000 good answers)\n"
        );
        result.phases[0].tally.time(Clock::Lateness, Duration::from_micros(7));
        result.phases[0].tally.time(Clock::Response, Duration::from_millis(20));
        result.self_check.overflow = 3;
        let text = summary(&result);
        assert!(text.contains("\nResponse time p50 20.0 ms,"), "{text}");
        assert!(text.contains("\nBound by the generator: 3 requests were due but not sent"), "{text}");
        result.phases[0].origin = None;
        assert!(summary(&result).starts_with("Service time"), "no origin here, no ratio");
        result.phases.clear();
        assert_eq!(summary(&result), "");
    }

    #[test]
    fn head_views_have_their_titles_and_braces() {
        let table = [
            (HeadTitle::RequestToProxy, "Request to Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
            (HeadTitle::RequestFromProxy, "Request from Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
            (HeadTitle::ResponseToProxy, "Response to Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
            (HeadTitle::ResponseFromProxy, "Response From Proxy: {\nGET / HTTP/1.0\r\n\r\n}\n"),
        ];
        for (title, expected) in table {
            assert_eq!(head_view(title, b"GET / HTTP/1.0\r\n\r\n"), expected.as_bytes());
        }
    }

    fn told(what: Wrong, reused: bool) -> String {
        trouble(&Trouble {
            what,
            request: "GET http://vm:9080/1.1330000000/600 HTTP/1.0".to_owned(),
            status_line: "HTTP/1.0 404 Not Found".to_owned(),
            range: (0, 0),
            after: Duration::from_micros(1_900),
            connection: 4,
            reused,
        })
    }

    fn failure(kind: FailureKind, stage: Stage, errno: Option<i32>) -> Wrong {
        Wrong::Failed(Failure { kind, stage, errno })
    }

    #[test]
    fn trouble_is_told_in_the_old_words() {
        use FailureKind::{
            BadStatus, ClosedEarly, HeadTooLong, Lookup, NoDescriptor, Refused, Reset, Timeout,
        };
        const GET: &str = "'GET http://vm:9080/1.1330000000/600 HTTP/1.0'";
        let table = [
            (
                failure(BadStatus, Stage::Head, None),
                format!("error response 4 after 1ms: {GET}:'HTTP/1.0 404 Not Found' 0-0"),
            ),
            (
                Wrong::Length { expected: 600, announced: 297, whole: 601 },
                "bad Content-Length expected 600 got 297 orig 601".to_owned(),
            ),
            (Wrong::Short { got: 5, wanted: 600 }, format!("bad length 5 wanted 600 after 1 ms: {GET}")),
            (Wrong::Faulty(Fault::WrongBytes), format!("content verification error {GET}")),
            (
                Wrong::Faulty(Fault::WrongRange),
                format!("content verification error {GET} ({})", Fault::WrongRange.text()),
            ),
            (Wrong::Redirect, format!("bad redirect 'HTTP/1.0 404 Not Found': {GET}")),
            (Wrong::Url, format!("bad URL {GET}")),
            (
                failure(ClosedEarly, Stage::Head, None),
                format!("read_response 4 closed during header for {GET} after 1"),
            ),
            (failure(HeadTooLong, Stage::Head, None), format!("header too long {GET}")),
            (failure(Refused, Stage::Connect, Some(111)), "write: Connection refused".to_owned()),
            (failure(Reset, Stage::Send, Some(32)), "write: Broken pipe".to_owned()),
            (failure(Reset, Stage::Send, Some(104)), "write: Connection reset by peer".to_owned()),
            (failure(NoDescriptor, Stage::Connect, Some(24)), "socket: Too many open files".to_owned()),
            (failure(Timeout, Stage::Body, None), format!("timeout 4 after 1ms reading the body: {GET}")),
            (
                failure(Lookup, Stage::Lookup, None),
                format!("error 4 after 1ms looking up the name: name did not resolve: {GET}"),
            ),
            (
                failure(Reset, Stage::Body, Some(104)),
                format!("error 4 after 1ms reading the body: connection reset by peer: {GET}"),
            ),
        ];
        for (what, expected) in table {
            assert_eq!(told(what.clone(), false), expected + "\n", "{what:?}");
        }
        let idle = told(failure(ClosedEarly, Stage::Head, None), true);
        assert!(idle.ends_with(" after 1 -- keepalive timeout\n"), "{idle}");
    }

    #[test]
    fn strangers_cannot_steer_the_terminal() {
        assert_eq!(printable("HTTP/1.0 200 \x1b[2Jä"), "HTTP/1.0 200 \\u{1b}[2Jä");
    }
}
