//! The layout of h1load and haload: a line per second, and percentiles at the end. [`H1loadLines`] takes the seconds of a run and gives lines.
//!
//! Differences from the old tools' figures, and their reasons, are in `docs/src/h1load.md`.

use crate::http_load::report::g;
use measure::shares::{finished, received_bytes};
use measure::{Buckets, Digits, Histogram, RunResult, Second, TimeMetric};
use std::time::Duration;

/// Length of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum H1loadForm {
    /// The short form.
    Short,
    /// `-l`: with the date, bytes per second and the time to the last byte.
    Long,
    /// `-ll`: with numbers as they are.
    Raw,
}

/// Bytes on the wire that no byte of an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// So many for each packet.
    pub extra: u64,
    /// Bytes of answers that a packet carries at most.
    pub payload: u64,
}

/// Settings of the lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineOptions {
    /// Their length.
    pub form: H1loadForm,
    /// Statuses are counted by class.
    pub statuses: bool,
    /// Times are those of requests over connections that had carried one before.
    pub reused_only: bool,
    /// Counted into the rates of bytes.
    pub overhead: Option<Overhead>,
    /// In which the connections come.
    pub ramp: Duration,
}

/// The lines of a run.
#[derive(Debug)]
pub struct H1loadLines {
    options: LineOptions,
    /// Start of the run, in seconds since 1970.
    started_unix_s: f64,
    connections: u64,
    requests: u64,
    bytes: u64,
    errors: u64,
    lines: u64,
}

/// A rest of a second in which nothing happened has no line.
const REST: Duration = Duration::from_millis(100);

impl H1loadLines {
    /// Nothing yet, of a run that begins now.
    pub fn new(options: LineOptions, started_unix_s: f64) -> H1loadLines {
        H1loadLines { options, started_unix_s, connections: 0, requests: 0, bytes: 0, errors: 0, lines: 0 }
    }

    /// The names of the columns.
    pub fn head(&self) -> String {
        let names = match self.options.form {
            H1loadForm::Short => {
                "#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb"
            }
            H1loadForm::Long => {
                "#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  Bps  bps   ttfb   ttlb"
            }
            H1loadForm::Raw => {
                "#_____time conns tot_conn  tot_req      tot_bytes    err thr cps rps Bps bps ttfb(us) ttlb(us)"
            }
        };
        let statuses = if self.options.statuses { " 1xx 2xx 3xx 4xx 5xx" } else { "" };
        format!("{names}{statuses}\n")
    }

    /// The line of a second.
    pub fn line(&mut self, second: &Second) -> String {
        let counts = &second.clients.counts;
        let now = LineCounts {
            seconds: second.took.as_secs_f64().max(0.001),
            connections: counts.connections,
            requests: finished(counts),
            bytes: received_bytes(counts),
        };
        let is_idle = [now.connections, now.requests, now.bytes] == [0; 3];
        if is_idle && second.took < REST && self.lines > 0 {
            return String::new();
        }
        self.lines += 1;
        self.connections += now.connections;
        self.requests += now.requests;
        self.bytes += now.bytes;
        self.errors += counts.failed;
        let at = second.at.as_secs_f64();
        let time = match self.options.form {
            H1loadForm::Short => at,
            H1loadForm::Long | H1loadForm::Raw => self.started_unix_s + at,
        };
        let H1loadLines { connections, requests, bytes, errors, .. } = self;
        let mut line = format!(
            "{:>10} {:>5} {connections:>8} {requests:>8} {bytes:>14} {errors:>6} ",
            time.floor(),
            second.in_flight,
        );
        line += &self.rates(&now, second.at);
        line += &self.times(second);
        if self.options.statuses {
            line += &classes(&second.clients.statuses);
        }
        line + "\n"
    }

    /// The rates.
    fn rates(&self, now: &LineCounts, at: Duration) -> String {
        let bytes = now.wire_bytes(self.options.overhead) as f64 / now.seconds;
        let connections = now.connections as f64 / now.seconds;
        let requests = now.requests as f64 / now.seconds;
        let bits = bytes * 8.0;
        let [shown_connections, shown_requests, shown_bytes, shown_bits] =
            [connections, requests, bytes, bits].map(human);
        match self.options.form {
            H1loadForm::Short => format!("{shown_connections} {shown_requests} {shown_bits} "),
            H1loadForm::Long => format!("{shown_connections} {shown_requests} {shown_bytes} {shown_bits} "),
            H1loadForm::Raw => {
                let reached = self.reached(at);
                format!("{reached:>3} {connections:.1} {requests:.1} {bytes:.1} {bits:.1} ")
            }
        }
    }

    /// Percent of the connections that have come by then.
    fn reached(&self, at: Duration) -> u64 {
        let ramp = self.options.ramp;
        if at >= ramp { 100 } else { (at.as_secs_f64() * 100.0 / ramp.as_secs_f64()) as u64 }
    }

    /// The mean times.
    fn times(&self, second: &Second) -> String {
        let metrics = Metrics::of(self.options.reused_only);
        let mean = |metric| second.metrics.get(&metric).and_then(mean_us);
        let first = mean(metrics.first_byte);
        let last = mean(metrics.last_byte);
        let shown = |mean: Option<f64>| mean.map_or_else(|| "   -  ".to_owned(), delay);
        let raw = |mean: Option<f64>| mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.1}"));
        match self.options.form {
            H1loadForm::Short => format!("{} ", shown(first)),
            H1loadForm::Long => format!("{} {} ", shown(first), shown(last)),
            H1loadForm::Raw => format!("{} {} ", raw(first), raw(last)),
        }
    }
}

/// Figures of one line.
struct LineCounts {
    seconds: f64,
    connections: u64,
    requests: u64,
    bytes: u64,
}

impl LineCounts {
    /// Bytes with those of packets: as many as the bytes need, and one for each answer at least.
    fn wire_bytes(&self, overhead: Option<Overhead>) -> u64 {
        let packets = |overhead: Overhead| self.bytes.div_ceil(overhead.payload).max(self.requests);
        self.bytes + overhead.map_or(0, |overhead| packets(overhead) * overhead.extra)
    }
}

/// The times that are told.
struct Metrics {
    first_byte: TimeMetric,
    last_byte: TimeMetric,
}

impl Metrics {
    fn of(reused_only: bool) -> Metrics {
        match reused_only {
            true => Metrics { first_byte: TimeMetric::FirstByteReused, last_byte: TimeMetric::ServiceReused },
            false => Metrics { first_byte: TimeMetric::FirstByte, last_byte: TimeMetric::Service },
        }
    }
}

fn mean_us(times: &Buckets) -> Option<f64> {
    let sum: f64 = times.iter().map(|(bucket, count)| Digits::Two.middle(bucket) as f64 * count as f64).sum();
    (!times.is_empty()).then(|| sum / times.count() as f64)
}

/// Answers by the first digit of their status.
fn classes(statuses: &[(u16, u64)]) -> String {
    let of = |class: u16| {
        statuses.iter().filter(|(status, _)| status / 100 == class).map(|(_, count)| count).sum::<u64>()
    };
    [1, 2, 3, 4, 5].map(|class| format!("{:>3} ", of(class))).concat()
}

/// A number in three digits with its unit for a point, such as `1k23`; the unit of ones is the point itself.
fn human(number: f64) -> String {
    const ABOVE: [char; 7] = ['.', 'k', 'M', 'G', 'T', 'P', 'E'];
    const BELOW: [char; 6] = ['.', 'm', 'u', 'n', 'p', 'f'];
    let mut number = number;
    let mut power = 0;
    while number > 0.0 && number < 1.0 && power < BELOW.len() - 1 {
        number *= 1000.0;
        power += 1;
    }
    let mut unit = BELOW[power];
    if power == 0 {
        while number >= 1000.0 && power < ABOVE.len() - 1 {
            number /= 1000.0;
            power += 1;
        }
        unit = ABOVE[power];
    }
    let whole = number.floor();
    if number < 10.0 {
        format!("{whole}{unit}{:02}", ((number - whole) * 100.0) as u64)
    } else if number < 100.0 {
        format!("{whole}{unit}{}", ((number - whole) * 10.0) as u64)
    } else {
        format!("{whole}{unit}")
    }
}

/// A time of µs in five characters and its unit.
fn delay(us: f64) -> String {
    let (time, unit) = match us {
        us if us < 1.0 => (us * 1e3, 'n'),
        us if us < 1e3 => (us, 'u'),
        us if us < 1e6 => (us / 1e3, 'm'),
        us => (us / 1e6, 's'),
    };
    match time {
        time if time < 10.0 => format!("{time:.3}{unit}"),
        time if time < 100.0 => format!("{time:.2}{unit}"),
        time if time < 1000.0 => format!("{time:.1}{unit}"),
        time => format!("{time:.6}{unit}"),
    }
}

/// Steps of the percentiles in millionths: from where on, and how far apart.
const STEPS: [[u32; 2]; 14] = [
    [100_000, 100_000],
    [500_000, 50_000],
    [800_000, 20_000],
    [900_000, 10_000],
    [950_000, 5_000],
    [990_000, 1_000],
    [995_000, 500],
    [999_000, 100],
    [999_500, 50],
    [999_900, 10],
    [999_950, 5],
    [999_990, 5],
    [999_995, 4],
    [999_999, 1],
];
const ALL: u32 = 1_000_000;

/// The percentiles in millionths, ascending, 100 % the last.
fn points() -> Vec<u32> {
    let ends = STEPS.iter().skip(1).map(|[from, _]| *from).chain([ALL]);
    let steps = STEPS.iter().zip(ends).flat_map(|([from, step], end)| (*from..end).step_by(*step as usize));
    steps.chain([ALL]).collect()
}

/// Inverse of the tail of 100 %, which has none.
const INVERSE_OF_NOTHING: f64 = 250_000.0;

/// The table of percentiles.
pub fn percentiles(result: &RunResult, reused_only: bool) -> String {
    let measured = result.measured();
    let metrics = Metrics::of(reused_only);
    let first = measured.tally.metric(metrics.first_byte);
    let last = measured.tally.metric(metrics.last_byte);
    let mut text = "#======= Percentiles for time-to-first-byte and time-to-last-byte =======\n\
                    # use $3:$5 $3:$7 with logscale X\n\
                    # $1     $2      $3         $4       $5         $6       $7\n\
                    #pctl   tail   invtail   ttfbcnt ttfb(ms)   ttlbcnt ttlb(ms)\n"
        .to_owned();
    for point in points() {
        let tail = ALL - point;
        let inverse = if tail == 0 { INVERSE_OF_NOTHING } else { f64::from(ALL) / f64::from(tail) };
        text += &format!(
            "{:<7} {:<6} {inverse:<7.0} {} {}\n",
            g(f64::from(point) / 1e4),
            g(f64::from(tail) / 1e4),
            time_at(&first, point),
            time_at(&last, point),
        );
    }
    text
}

/// Number of times shorter than that at a percentile, and that time in ms; `-` where there are none.
fn time_at(times: &Histogram, point: u32) -> String {
    if times.is_empty() {
        return format!("{:>9} {:>8}", 0, "-");
    }
    let us = times.value_at_quantile(f64::from(point) / f64::from(ALL));
    let lowest = times.lowest_equivalent(us);
    let shorter = if lowest == 0 { 0 } else { times.count_between(0, lowest - 1) };
    format!("{shorter:>9} {:>8}", g(us as f64 / 1e3))
}

#[cfg(test)]
mod tests {
    use super::human;

    /// Three digits at most, cut off and not rounded; the unit stands where the point would.
    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        for (number, expected) in [
            (0.0, "0.00"),
            (4.0, "4.00"),
            (9.999, "9.99"),
            (12.59, "12.5"),
            (123.4, "123."),
            (999.9, "999."),
            (1_235.0, "1k23"),
            (12_399.0, "12k3"),
            (123_456.0, "123k"),
            (16_987_200.0, "16M9"),
            (0.25, "250m"),
        ] {
            assert_eq!(human(number), expected, "{number}");
        }
    }
}
