//! The files of ab: percentiles as CSV (`-e`), and a row per request for gnuplot (`-g`).

use jiff::{Timestamp, tz::TimeZone};
use measure::exchanges::ExchangeKept;
use measure::{ExactDistribution, Record};
use std::fmt::Write;

/// Percentiles of the total time, in ms.
pub fn csv(total: &ExactDistribution) -> String {
    let mut text = "Percentage served,Time in ms\n".to_owned();
    let count = total.count();
    for percent in 0..=100 {
        let us = match percent {
            0 => total.min_us(),
            100 => total.max_us(),
            // ab rounds to the next place, and past the last one where there are few.
            _ => total.at_us(((count * percent + 50) / 100).min(count.saturating_sub(1))),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{percent},{:.3}", us as f64 / 1e3);
    }
    text
}

/// Rows of requests, in the order of their total time, as ab has them.
#[derive(Debug, Default)]
pub struct Gnuplot {
    rows: Vec<FileRow>,
}

#[derive(Debug, Clone, Copy)]
struct FileRow {
    began_us: u64,
    connect_us: u64,
    total_us: u64,
    waiting_us: u64,
}

impl Gnuplot {
    /// Takes a request.
    pub fn add(&mut self, record: &Record) {
        let us = |time: std::time::Duration| time.as_micros() as u64;
        let connect_us = record.connect.map_or(0, us);
        self.rows.push(FileRow {
            began_us: us(record.began),
            connect_us,
            total_us: connect_us + us(record.service),
            waiting_us: record.first_byte.map_or(0, us),
        });
    }

    /// Takes a request that was kept; as with ab, one of which nothing came back has no row.
    pub fn add_kept(&mut self, kept: &ExchangeKept<'_>) {
        if kept.status > 0 {
            self.rows.push(FileRow {
                began_us: kept.began_us,
                connect_us: kept.connect_us,
                total_us: kept.connect_us + kept.service_us,
                waiting_us: kept.first_byte_us,
            });
        }
    }

    /// The file. `started`: when the run was, in seconds since 1970. `zone`: where the reader lives.
    pub fn text(mut self, started: f64, zone: &TimeZone) -> String {
        self.rows.sort_by_key(|row| row.total_us);
        let mut text = "starttime\tseconds\tctime\tdtime\tttime\twait\n".to_owned();
        for row in &self.rows {
            let seconds = (started + row.began_us as f64 / 1e6) as i64;
            let [connect, processing, total, waiting] =
                [row.connect_us, row.total_us - row.connect_us, row.total_us, row.waiting_us].map(super::ms);
            let _ = writeln!(
                text,
                "{}\t{seconds}\t{connect}\t{processing}\t{total}\t{waiting}",
                date(seconds, zone)
            );
        }
        text
    }
}

/// A moment, given in seconds since 1970, as C's `ctime` writes it.
fn date(seconds: i64, zone: &TimeZone) -> String {
    let moment = Timestamp::from_second(seconds).unwrap_or_default();
    moment.to_zoned(zone.clone()).strftime("%a %b %e %H:%M:%S %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_782_399, "Mon Feb 28 23:59:59 2000"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (1_795_219_102, "Fri Nov 20 23:58:22 2026"),
            (4_107_542_399, "Sun Feb 28 23:59:59 2100"),
            (4_107_542_400, "Mon Mar  1 00:00:00 2100"),
        ] {
            assert_eq!(date(seconds, &TimeZone::UTC), text);
        }
    }
}
