//! A line for each second while a run goes on, in columns, with a header every so often.
//!
//! The caller prints what [`Lines::row`] returns; start reading there, then at [`COLUMNS`].

use crate::show;
use measure::Row;
use measure::run::received_bytes;

/// Rows after which the header comes again.
const ROWS_PER_HEADER: u32 = 20;

/// One column of the live view.
struct Column {
    title: &'static str,
    unit: &'static str,
    width: usize,
    /// Dropped where it does not fit, lowest first; 0 never.
    drop: u8,
    cell: fn(&Row) -> String,
}

const COLUMNS: [Column; 11] = [
    Column { title: "time", unit: "s", width: 6, drop: 0, cell: |row| format!("{:.0}", row.at_s) },
    Column { title: "requests", unit: "/s", width: 9, drop: 0, cell: requests },
    Column { title: "in flight", unit: "", width: 11, drop: 3, cell: |row| show::count(row.in_flight) },
    Column { title: "p50", unit: "ms", width: 8, drop: 4, cell: |row| milliseconds(row.p50_us) },
    Column { title: "p99", unit: "ms", width: 8, drop: 0, cell: |row| milliseconds(row.p99_us) },
    Column { title: "max", unit: "ms", width: 8, drop: 1, cell: |row| milliseconds(row.max_us) },
    Column { title: "hits", unit: "%", width: 7, drop: 0, cell: hits },
    Column { title: ORIGIN, unit: "/s", width: 8, drop: 0, cell: origin },
    Column { title: "in", unit: "MB/s", width: 7, drop: 2, cell: megabytes },
    Column { title: "failed", unit: "", width: 8, drop: 0, cell: |row| show::count(row.counts.failed) },
    Column { title: "faulty", unit: "", width: 8, drop: 0, cell: |row| show::count(row.counts.faulty) },
];

const ORIGIN: &str = "origin";

/// Writes the lines of one run and remembers when the header is due.
pub struct Lines {
    columns: Vec<&'static Column>,
    since_header: u32,
    phase: Option<u32>,
}

impl Lines {
    /// Lines for a run with or without an origin of ours, on a screen of `width` characters (0: unknown).
    pub fn new(has_origin: bool, width: usize) -> Lines {
        let mut columns: Vec<&'static Column> =
            COLUMNS.iter().filter(|column| has_origin || column.title != ORIGIN).collect();
        while width > 0 && columns.iter().map(|column| column.width).sum::<usize>() > width {
            let droppable = columns.iter().enumerate().filter(|(_, column)| column.drop > 0);
            let Some((index, _)) = droppable.min_by_key(|(_, column)| column.drop) else { break };
            columns.remove(index);
        }
        Lines { columns, since_header: 0, phase: None }
    }

    /// The line of a row, line ends included: before it the name of a phase that has begun, and the header where due.
    pub fn row(&mut self, row: &Row, phase_name: &str) -> String {
        let mut text = String::new();
        if self.phase.replace(row.phase) != Some(row.phase) {
            text += &format!("phase {phase_name}\n");
            self.since_header = 0;
        }
        if self.since_header.is_multiple_of(ROWS_PER_HEADER) {
            text += &self.line(|column| column.title.to_owned());
            text += &self.line(|column| column.unit.to_owned());
        }
        self.since_header += 1;
        text + &self.line(|column| (column.cell)(row))
    }

    fn line(&self, cell: impl Fn(&Column) -> String) -> String {
        let cells =
            self.columns.iter().map(|column| format!("{:>width$}", cell(column), width = column.width));
        cells.collect::<String>().trim_end().to_owned() + "\n"
    }
}

fn requests(row: &Row) -> String {
    show::scaled(row.per_second(row.counts.requests))
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
    let ratio = row.hit_ratio().or_else(|| row.origin_offload());
    show::or_dash(ratio.map(|ratio| format!("{:.1}", ratio * 100.0)))
}

fn origin(row: &Row) -> String {
    show::or_dash(row.origin.as_ref().map(|origin| show::scaled(row.per_second(origin.requests))))
}

fn megabytes(row: &Row) -> String {
    format!("{:.1}", row.per_second(received_bytes(&row.counts)) / 1e6)
}
