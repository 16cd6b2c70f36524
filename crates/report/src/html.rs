//! The report as one HTML file that needs nothing else: no network, no script. Charts are SVG, the sections are those of
//! [`crate::text`], so both say the same.

mod chart;

use crate::live::is_worth_showing;
use crate::show;
use crate::text::{self, Context, Section};
use chart::{Chart, Line, Unit};
use jiff::Timestamp;
use measure::{Clock, Histogram, Row, RunResult};
use std::fmt::Write;

/// Points of a chart over time at most; more seconds are joined.
const POINTS: usize = 360;

/// Style of the page; colours follow the reader's preference.
const STYLE: &str = include_str!("html/style.css");

/// The whole page.
pub fn page(result: &RunResult, context: &Context<'_>) -> String {
    let mut sections = text::sections(result, context).into_iter();
    let Some(headline) = sections.next() else { return String::new() };
    let title = escaped(&headline.title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p class=\"when\">{}</p>\n",
        when(context.started_unix_s)
    );
    page += &preformatted(&headline);
    page += &charts(result, context);
    for section in sections {
        let _ = writeln!(
            page,
            "<section>\n<h2>{}</h2>\n{}</section>",
            escaped(&section.title),
            preformatted(&section)
        );
    }
    page += "</main>\n</body>\n</html>\n";
    page
}

fn preformatted(section: &Section) -> String {
    let lines: Vec<&str> =
        section.lines.iter().map(String::as_str).skip_while(|line| line.is_empty()).collect();
    format!("<pre>{}</pre>\n", escaped(&lines.join("\n")))
}

/// Text as it may stand in HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in crate::harmless(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}

/// A moment in UTC, such as `2026-09-21 13:33:20 UTC`.
fn when(unix_s: f64) -> String {
    let moment = Timestamp::from_second(unix_s as i64).unwrap_or_default();
    moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn charts(result: &RunResult, context: &Context<'_>) -> String {
    if context.plan.load.is_none() {
        return String::new();
    }
    let rows: Vec<Row> = result.timeline.condensed(POINTS).into_iter().filter(is_worth_showing).collect();
    let borders = borders(&rows);
    let mut all = Vec::new();
    if rows.len() > 1 {
        all.push(throughput(&rows, &borders));
        all.push(latency(&rows, &borders));
        all.extend(hits(&rows, &borders));
    }
    all.extend(percentiles(result, context));
    all.iter().map(Chart::svg).collect()
}

/// Where the phase changes, in seconds.
fn borders(rows: &[Row]) -> Vec<f64> {
    rows.windows(2).filter(|pair| pair[0].phase != pair[1].phase).map(|pair| pair[0].at_s).collect()
}

/// A line over time; rows without a value leave a gap.
fn over_time(
    name: &'static str,
    class: &'static str,
    rows: &[Row],
    of: impl Fn(&Row) -> Option<f64>,
) -> Line {
    Line { name, class, points: rows.iter().map(|row| (row.at_s, of(row))).collect() }
}

fn throughput(rows: &[Row], borders: &[f64]) -> Chart {
    let mut lines =
        vec![over_time("requests per second", "a", rows, |row| Some(row.per_second(row.counts.requests)))];
    if rows.iter().any(|row| row.counts.failed > 0) {
        lines
            .push(over_time("failed per second", "bad", rows, |row| Some(row.per_second(row.counts.failed))));
    }
    if rows.iter().any(|row| row.counts.faulty > 0) {
        lines.push(over_time("faulty per second", "warn", rows, |row| {
            Some(row.per_second(row.counts.faulty))
        }));
    }
    Chart {
        title: "Throughput over time",
        x: Unit::Seconds,
        y: Unit::Count,
        lines,
        borders: borders.to_vec(),
    }
}

fn latency(rows: &[Row], borders: &[f64]) -> Chart {
    let time = |us: fn(&Row) -> u64| move |row: &Row| (row.counts.fine > 0).then(|| us(row) as f64);
    let lines = vec![
        over_time("p50", "a", rows, time(|row| row.p50_us)),
        over_time("p99", "b", rows, time(|row| row.p99_us)),
        over_time("longest", "c", rows, time(|row| row.max_us)),
    ];
    Chart {
        title: "Service time over time",
        x: Unit::Seconds,
        y: Unit::Microseconds,
        lines,
        borders: borders.to_vec(),
    }
}

fn hits(rows: &[Row], borders: &[f64]) -> Option<Chart> {
    rows.iter().any(|row| row.hit_ratio().is_some()).then(|| Chart {
        title: "Hit ratio over time",
        x: Unit::Seconds,
        y: Unit::Share,
        lines: vec![over_time("hits", "a", rows, Row::hit_ratio)],
        borders: borders.to_vec(),
    })
}

/// Times over percentiles, as far out as there are requests.
fn percentiles(result: &RunResult, context: &Context<'_>) -> Option<Chart> {
    let measured = text::measured(result, context.plan);
    let line = |name, class, clock| {
        let histogram = measured.tally.clock(clock);
        (!histogram.is_empty()).then(|| Line { name, class, points: spectrum(&histogram) })
    };
    let lines: Vec<Line> =
        [line("response time", "a", Clock::Response), line("service time", "b", Clock::Service)]
            .into_iter()
            .flatten()
            .collect();
    (!lines.is_empty()).then(|| Chart {
        title: "Time over percentiles",
        x: Unit::Nines,
        y: Unit::Microseconds,
        lines,
        borders: Vec::new(),
    })
}

/// The time below which all but 10^-x of the requests ended, for x in steps of a tenth.
fn spectrum(histogram: &Histogram) -> Vec<(f64, Option<f64>)> {
    let last = (histogram.len() as f64).log10();
    let steps = (last * 10.0).floor().max(1.0) as u32;
    let nines = (0..=steps).map(|step| f64::from(step) / 10.0);
    let at = |nines: f64| histogram.value_at_quantile(1.0 - 10f64.powf(-nines)) as f64;
    nines.map(|nines| (nines, Some(at(nines)))).collect()
}

/// The text for a summary line of a chart.
pub(crate) fn told(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Seconds => format!("{} s", trimmed(value)),
        Unit::Count => show::scaled(value),
        Unit::Microseconds => show::cost(value),
        Unit::Share => show::percent(value),
        Unit::Nines => percentile(value),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// `p90` for 1, `p99.9` for 3.
fn percentile(nines: f64) -> String {
    let share = 100.0 * (1.0 - 10f64.powf(-nines));
    let places = (nines.ceil() as usize).saturating_sub(2);
    format!("p{share:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_in_utc() {
        for (unix_s, text) in [
            (0.0, "1970-01-01 00:00:00 UTC"),
            (951_782_400.0, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199.9, "2024-02-29 23:59:59 UTC"),
            (1_790_000_000.5, "2026-09-21 14:13:20 UTC"),
        ] {
            assert_eq!(when(unix_s), text);
        }
    }

    #[test]
    fn percentiles_have_as_many_places_as_they_need() {
        assert_eq!([0.0, 1.0, 2.0, 3.0, 5.0].map(percentile), ["p0", "p90", "p99", "p99.9", "p99.999"]);
    }
}
