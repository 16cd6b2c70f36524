//! A line for each second while a run goes on, in columns, with a header every so often.
//!
//! The caller prints what [`Lines::row`] returns, or [`OriginLines::row`] where only the origin runs; start reading
//! there, then at [`COLUMNS`] and [`ORIGIN_COLUMNS`].

use crate::good;
use crate::language::Language;
use crate::response_times::ResponseTimes;
use crate::show;
use measure::shares::received_bytes;
use measure::{OriginCounts, Row};

/// True if a row says anything: the moment between the last full interval and the end of the run does not.
pub fn is_worth_showing(row: &Row) -> bool {
    const SHORTEST_S: f64 = 0.1;
    row.seconds >= SHORTEST_S || row.at_s <= 1.0
}

/// Rows after which the header comes again.
const ROWS_PER_HEADER: u32 = 20;

/// One column of the live view.
struct Column<Second> {
    title: &'static str,
    unit: &'static str,
    width: usize,
    /// Dropped where it does not fit, lowest first; 0 never.
    drop: u8,
    cell: fn(&Second) -> String,
}

const COLUMNS: [Column<Row>; 11] = [
    Column { title: "time", unit: "s", width: 6, drop: 0, cell: |row| time(row.at_s, row.seconds) },
    Column { title: "requests", unit: "/s", width: 9, drop: 0, cell: requests },
    Column { title: "in flight", unit: "", width: 11, drop: 3, cell: |row| show::count(row.in_flight) },
    Column { title: "p50", unit: "ms", width: 8, drop: 4, cell: |row| milliseconds(row.p50_us) },
    Column { title: "p99", unit: "ms", width: 8, drop: 0, cell: |row| milliseconds(row.p99_us) },
    Column { title: "max", unit: "ms", width: 8, drop: 1, cell: |row| milliseconds(row.max_us) },
    Column { title: HITS, unit: "%", width: 7, drop: 0, cell: hits },
    Column { title: ORIGIN, unit: "/s", width: 8, drop: 0, cell: origin },
    Column { title: "in", unit: "MB/s", width: 7, drop: 2, cell: megabytes },
    Column { title: "failed", unit: "", width: 8, drop: 0, cell: |row| show::count(row.counts.failed) },
    Column {
        title: "checks",
        unit: "failed",
        width: 8,
        drop: 0,
        cell: |row| show::count(row.counts.check_failed),
    },
];

const HITS: &str = "hits";
const ORIGIN: &str = "origin";

/// A second of an origin by itself.
struct OriginSecond {
    at_s: f64,
    seconds: f64,
    counts: OriginCounts,
    /// Connections that are open at its end.
    open: u64,
    /// Share of a core that the busiest worker used.
    cpu: Option<f64>,
}

const ORIGIN_COLUMNS: [Column<OriginSecond>; 8] = [
    Column { title: "time", unit: "s", width: 6, drop: 0, cell: |second| time(second.at_s, second.seconds) },
    Column {
        title: "requests",
        unit: "/s",
        width: 9,
        drop: 0,
        cell: |second| second.rate(second.counts.requests),
    },
    Column {
        title: "304s",
        unit: "/s",
        width: 8,
        drop: 0,
        cell: |second| second.rate(second.counts.unchanged),
    },
    Column { title: "out", unit: "MB/s", width: 8, drop: 0, cell: OriginSecond::megabytes },
    Column { title: "open", unit: "conns", width: 8, drop: 1, cell: |second| show::count(second.open) },
    Column {
        title: "new",
        unit: "conns",
        width: 8,
        drop: 2,
        cell: |second| show::count(second.counts.connections),
    },
    Column { title: "errors", unit: "", width: 8, drop: 0, cell: |second| show::count(second.errors()) },
    Column { title: "CPU", unit: "%", width: 6, drop: 0, cell: OriginSecond::percent_of_core },
];

impl OriginSecond {
    fn rate(&self, count: u64) -> String {
        show::scaled(self.per_second(count))
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }

    fn megabytes(&self) -> String {
        format!("{:.1}", self.per_second(self.counts.head_bytes + self.counts.body_bytes) / 1e6)
    }

    /// All that was not a good answer, on purpose or not.
    fn errors(&self) -> u64 {
        let OriginCounts { errors, cut, refused, malformed, broken, silent, wrong_lengths, .. } = self.counts;
        errors + cut + refused + malformed + broken + silent + wrong_lengths
    }

    fn percent_of_core(&self) -> String {
        show::or_dash(self.cpu.map(|share| format!("{:.0}", share * 100.0)))
    }
}

/// Columns that fit a screen, and when their header is due.
struct Screen<Second: 'static> {
    columns: Vec<&'static Column<Second>>,
    since_header: u32,
    language: Language,
}

impl<Second> Screen<Second> {
    /// Of these columns those that fit `width` characters (0: unknown).
    fn new(mut columns: Vec<&'static Column<Second>>, width: usize, language: Language) -> Screen<Second> {
        while width > 0 && columns.iter().map(|column| column.width).sum::<usize>() > width {
            let droppable = columns.iter().enumerate().filter(|(_, column)| column.drop > 0);
            let Some((index, _)) = droppable.min_by_key(|(_, column)| column.drop) else { break };
            columns.remove(index);
        }
        Screen { columns, since_header: 0, language }
    }

    fn row(&mut self, second: &Second) -> String {
        let mut text = String::new();
        if self.since_header.is_multiple_of(ROWS_PER_HEADER) {
            text += &self.line(|column| self.language.say(column.title));
            text += &self.line(|column| self.language.say(column.unit));
        }
        self.since_header += 1;
        text + &self.line(|column| (column.cell)(second))
    }

    fn line(&self, cell: impl Fn(&Column<Second>) -> String) -> String {
        let cells = self.columns.iter().map(|column| show::flush_right(&cell(column), column.width));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    }
}

/// Writes the lines of a run of an origin alone.
pub struct OriginLines {
    screen: Screen<OriginSecond>,
    open: u64,
}

impl OriginLines {
    /// Lines on a screen of `width` characters (0: unknown), with titles in this language.
    pub fn new(width: usize, language: Language) -> OriginLines {
        OriginLines { screen: Screen::new(ORIGIN_COLUMNS.iter().collect(), width, language), open: 0 }
    }

    /// The line of a row, line end included, before it the header where due. `cpu`: the share of a core, 0 to 1, that
    /// the busiest worker used.
    pub fn row(&mut self, row: &Row, cpu: Option<f64>) -> String {
        let counts = row.origin.unwrap_or_default();
        self.open = (self.open + counts.connections).saturating_sub(counts.closed);
        self.screen.row(&OriginSecond { at_s: row.at_s, seconds: row.seconds, counts, open: self.open, cpu })
    }
}

/// Figures that will be known of a run, and so have a column.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// True if it will be known what a cache did.
    pub hits: bool,
    /// True if it will be known what an origin of ours did.
    pub origin: bool,
}

/// Writes the lines of one run and remembers when the header is due.
pub struct Lines {
    screen: Screen<Row>,
    phase: Option<u32>,
}

impl Lines {
    /// Lines for a run, on a screen of `width` characters (0: unknown), with titles in this language.
    pub fn new(known: Known, width: usize, language: Language) -> Lines {
        let left_out = |title| title == ORIGIN && !known.origin || title == HITS && !known.hits;
        let columns = COLUMNS.iter().filter(|column| !left_out(column.title));
        Lines { screen: Screen::new(columns.collect(), width, language), phase: None }
    }

    /// The line of a second as [`Lines::row`] has it, with its response times: those of a row are service times.
    pub fn second(&mut self, second: &measure::Second, phase_name: &str) -> String {
        let ResponseTimes { p50_us, p99_us, max_us } = ResponseTimes::of(second);
        self.row(&Row { p50_us, p99_us, max_us, ..second.row() }, phase_name)
    }

    /// The line of a row, line ends included: before it the name of a phase that has begun, and the header where due.
    pub fn row(&mut self, row: &Row, phase_name: &str) -> String {
        let mut text = String::new();
        if self.phase.replace(row.phase) != Some(row.phase) {
            text += &format!("{} {phase_name}\n", self.screen.language.say("phase"));
            self.screen.since_header = 0;
        }
        text += &self.screen.row(row);
        // The last line is that of the row.
        if let Some(agents) = row.agents {
            text = format!("{}  {agents}\n", text.trim_end());
        }
        text
    }
}

/// Whole seconds, but for what is shorter: the end of a run does not read as the second before it.
fn time(at_s: f64, seconds: f64) -> String {
    if seconds < 0.95 { show::moment(at_s) } else { format!("{at_s:.0}") }
}

fn requests(row: &Row) -> String {
    show::or_dash(row.begun_per_second().map(show::scaled))
}

fn milliseconds(us: u64) -> String {
    match us {
        0 => "-".to_owned(),
        1..100_000 => format!("{:.2}", us as f64 / 1e3),
        _ => format!("{:.0}", us as f64 / 1e3),
    }
}

/// By stamps; where answers carry none, by both sides' accounts.
fn hits(row: &Row) -> String {
    let ratio = good::row_hits(row);
    show::or_dash(ratio.map(|ratio| format!("{:.1}", ratio * 100.0)))
}

fn origin(row: &Row) -> String {
    show::or_dash(row.origin.as_ref().map(|origin| show::scaled(row.per_second(origin.requests))))
}

fn megabytes(row: &Row) -> String {
    format!("{:.1}", row.per_second(received_bytes(&row.counts)) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Buckets, Digits, Histogram, Reporting, Second, TimeMetric};
    use std::time::Duration;

    #[test]
    fn a_row_says_how_many_agents_it_is_of_where_one_is_missing() {
        let known = Known { hits: false, origin: false };
        let mut lines = Lines::new(known, 0, Language::English);
        let row = |agents| Row { at_s: 3.0, seconds: 1.0, agents, ..Row::default() };
        let whole = lines.row(&row(None), "measure");
        let part = lines.row(&row(Some(Reporting { told: 7, of: 8 })), "measure");
        assert_eq!(part, format!("{}  7/8\n", whole.lines().last().expect("a line")));
    }

    /// Under an open pace the report is of times since requests were due, and so is the line of a second.
    #[test]
    fn the_times_of_a_second_are_those_of_the_report() {
        let of = |us| {
            let mut times = Histogram::new(3).expect("three digits");
            (0..100).for_each(|_| times.record(us).expect("it fits"));
            Buckets::of(&times, Digits::Two)
        };
        let line = |service_us, response_us| {
            let mut second = Second {
                at: Duration::from_secs(3),
                took: Duration::from_secs(1),
                p50_us: service_us,
                p99_us: service_us,
                max_us: service_us,
                ..Second::default()
            };
            second.metrics.insert(TimeMetric::Service, of(service_us));
            second.metrics.insert(TimeMetric::Response, of(response_us));
            let mut lines = Lines::new(Known { hits: false, origin: false }, 0, Language::English);
            let text = lines.second(&second, "measure");
            let times = text.lines().last().expect("a line").split_whitespace().skip(3).take(3);
            times.map(|time| time.parse::<f64>().expect("a number")).collect::<Vec<_>>()
        };
        let waited = line(1_234, 90_000);
        assert!(waited.len() == 3 && waited.iter().all(|ms| (ms - 90.0).abs() < 1.0), "{waited:?}");
        assert_eq!(line(1_234, 1_234), [1.23; 3]);
    }
}
