//! The heat map: a column for each second, a row for each part of a decade of time, how many answers fell there.

use super::Look;
use super::canvas::{Line, Style};
use measure::{Buckets, Digits, TimeMetric};

/// Rows of each decade, at most.
const ROWS: usize = 8;
/// Columns left of the map, for the times.
const LEGEND: usize = 9;

/// The map with its title, in so many columns and lines.
pub fn map(seconds: &[&Buckets], metric: TimeMetric, width: usize, height: usize, look: &Look) -> Vec<Line> {
    let mut title = Line::default();
    let columns = width.saturating_sub(LEGEND + 1).min(seconds.len().max(1));
    let seconds = &seconds[seconds.len() - columns.min(seconds.len())..];
    title.put(Style::Soft, &format!(" {} time, last {} s", metric.name().replace('_', " "), seconds.len()));
    let mut lines = vec![title];
    let Some(scale) = Scale::of(seconds, height.saturating_sub(1)) else { return lines };
    let columns: Vec<Vec<u64>> = seconds.iter().map(|times| scale.column(times)).collect();
    let most = columns.iter().flatten().copied().max().unwrap_or(0);
    for row in (0..scale.rows).rev() {
        let mut line = Line::default();
        let named = (row + scale.lowest).is_multiple_of(scale.per_decade) || row + 1 == scale.rows;
        let name = if named { crate::show::time(scale.begins_us(row)) } else { String::new() };
        line.put(Style::Soft, &format!("{name:>LEGEND$} "));
        for column in &columns {
            let level = level(column[row], most);
            let style = level.map_or(Style::Plain, Style::Heat);
            line.put(style, cell(level, look.ascii));
        }
        lines.push(line);
    }
    lines
}

/// How much of the most there is, in five levels by the logarithm; `None`: nothing.
fn level(count: u64, most: u64) -> Option<u8> {
    let share = (count as f64).ln_1p() / (most as f64).ln_1p();
    (count > 0).then_some(((share * 5.0) as u8).min(4))
}

fn cell(level: Option<u8>, ascii: bool) -> &'static str {
    let cells = if ascii { [".", ":", "+", "#", "@"] } else { ["·", "░", "▒", "▓", "█"] };
    level.map_or(" ", |level| cells[usize::from(level)])
}

/// Rows over time, evenly over the logarithm.
struct Scale {
    /// Number of the lowest row: its time is 10^(lowest/per_decade) µs.
    lowest: usize,
    rows: usize,
    per_decade: usize,
}

impl Scale {
    /// One that holds all of it in so many rows; `None` where there is nothing, or no room.
    fn of(seconds: &[&Buckets], room: usize) -> Option<Scale> {
        let ends = seconds.iter().filter_map(|times| {
            let first = times.iter().next()?.0;
            let last = times.iter().last()?.0;
            Some((Digits::Two.lowest(first), Digits::Two.lowest(last)))
        });
        let (low, high) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        for per_decade in [ROWS, 6, 4, 3, 2, 1] {
            let lowest = row_of(low, per_decade);
            let rows = row_of(high, per_decade) - lowest + 1;
            if rows <= room {
                return Some(Scale { lowest, rows, per_decade });
            }
        }
        None
    }

    /// Counts of a second by row.
    fn column(&self, times: &Buckets) -> Vec<u64> {
        let mut column = vec![0; self.rows];
        for (bucket, count) in times.iter() {
            let row = row_of(Digits::Two.lowest(bucket), self.per_decade) - self.lowest;
            if let Some(cell) = column.get_mut(row) {
                *cell += count;
            }
        }
        column
    }

    fn begins_us(&self, row: usize) -> u64 {
        10f64.powf((row + self.lowest) as f64 / self.per_decade as f64).round() as u64
    }
}

fn row_of(us: u64, per_decade: usize) -> usize {
    // A time is 1 µs at least.
    (us.max(1) as f64).log10().mul_add(per_decade as f64, 1e-9) as usize
}
