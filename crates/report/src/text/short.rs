//! Reports that are not whole: one screen, and what is left to say behind requests that were told one by one.

use super::headline::Behind;
use super::{Report, Section};
use crate::show::{self, ShowTable};
use measure::{ExitCode, Histogram};

/// Steps of the picture up to the 99th percentile; a row behind them has what took longer.
const STEPS: u64 = 8;
/// Characters of the longest bar.
const BAR: u64 = 40;
/// Response times that stand in a line.
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// A row of the picture: how many times were at most so long, and longer than those of the row above.
#[derive(Debug, PartialEq)]
struct ShortRow {
    /// In µs; `None`: however long.
    until: Option<u64>,
    count: u64,
}

impl Report<'_> {
    /// One screen: the first lines, how response times are spread, the conditions, the next command.
    pub(super) fn short(&self) -> Vec<Section> {
        let headline = Some(self.headline(Behind::Nothing));
        let sections = [headline, self.spread(), self.thresholds(), self.evidence(), self.next()];
        sections.into_iter().flatten().collect()
    }

    /// Sections that need no statistics: the first lines where something is wrong, the conditions, the next command.
    pub(super) fn told(&self) -> Vec<Section> {
        let code = ExitCode::of_run(self.result, &self.result.verdict(self.phase));
        let wrong = (code != ExitCode::Fine).then(|| self.headline(Behind::Nothing));
        [wrong, self.thresholds(), self.evidence(), self.next()].into_iter().flatten().collect()
    }

    /// The file in which answers stand that were no good, where there is one.
    fn evidence(&self) -> Option<Section> {
        let kept = self.kept_evidence()?;
        let mut section = Section::new("Evidence");
        section.line(kept);
        Some(section)
    }

    /// How response times are spread.
    fn spread(&self) -> Option<Section> {
        let response = self.phase.response();
        let times = response.times();
        if times.is_empty() {
            return None;
        }
        let at = |(name, quantile)| format!("{name} {}", show::bound(response.quantile(quantile)));
        let mut section = Section::new("Response times of good answers");
        section.quote(&QUANTILES.map(at).join("   "));
        let rows = told_apart(rows(times));
        let most = rows.iter().map(|row| row.count).max().unwrap_or(0).max(1);
        let mut table = ShowTable::new("rrl");
        for row in rows {
            let until = row.until.map_or_else(|| "longer".to_owned(), |us| format!("to {}", show::time(us)));
            table.row([until, show::count(row.count), "■".repeat((row.count * BAR / most) as usize)]);
        }
        section.show(table);
        if response.bound_from_us().is_some() {
            section.say("Unfinished requests count as response times of at least what they had waited (≥).");
        }
        Some(section)
    }
}

/// The picture: even steps from the shortest time to the 99th percentile, and what took longer. Each time is in one row.
fn rows(times: &Histogram) -> Vec<ShortRow> {
    let shortest = times.min();
    let p99 = times.value_at_quantile(0.99);
    let step = p99.saturating_sub(shortest).div_ceil(STEPS).max(1);
    let mut until: Vec<u64> = (1..=STEPS).map(|row| (shortest + step * row).min(p99)).collect();
    until.dedup();
    let rows = until.into_iter().map(Some).chain([None]);
    let mut rows: Vec<ShortRow> = rows.map(|until| ShortRow { until, count: 0 }).collect();
    for bucket in times.iter_recorded() {
        let holds = |row: &&mut ShortRow| row.until.is_none_or(|until| bucket.value_iterated_to() <= until);
        if let Some(row) = rows.iter_mut().find(holds) {
            row.count += bucket.count_since_last_iteration();
        }
    }
    rows.retain(|row| row.until.is_some() || row.count > 0);
    rows
}

/// Rows whose ends people can tell apart.
fn told_apart(rows: Vec<ShortRow>) -> Vec<ShortRow> {
    let mut apart: Vec<ShortRow> = Vec::new();
    for row in rows {
        let end = |row: &ShortRow| row.until.map(show::time);
        match apart.last_mut().filter(|last| end(last) == end(&row)) {
            Some(last) => *last = ShortRow { until: row.until, count: last.count + row.count },
            None => apart.push(row),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_of(all: impl IntoIterator<Item = u64>) -> Vec<ShortRow> {
        let mut times = Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        all.into_iter().for_each(|us| times.record(us).unwrap());
        rows(&times)
    }

    #[test]
    fn each_time_stands_in_one_row() {
        for all in
            [(1..=1000).collect::<Vec<u64>>(), vec![7], vec![7; 50], vec![1, 2, 3_000_000_000], vec![5, 6]]
        {
            let rows = rows_of(all.iter().copied());
            assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), all.len() as u64, "{rows:?}");
            assert!(rows.len() <= STEPS as usize + 1, "{rows:?}");
            assert!(rows.windows(2).all(|two| two[1].until.is_none_or(|until| Some(until) > two[0].until)));
        }
        assert_eq!(rows_of([7; 50]), [ShortRow { until: Some(7), count: 50 }]);
    }

    #[test]
    fn rows_that_read_alike_are_one() {
        let rows = told_apart(rows_of((0..80).map(|nth| 2_000_000 + nth)));
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].count, 80);
        assert_eq!(told_apart(rows_of(1..=1000)), rows_of(1..=1000));
    }

    #[test]
    fn steps_are_even_and_what_took_longer_stands_last() {
        let rows = rows_of((100..=180).chain(100..=180).chain([900]));
        let until: Vec<Option<u64>> = rows.iter().map(|row| row.until).collect();
        assert_eq!(
            until,
            [110, 120, 130, 140, 150, 160, 170, 180].map(Some).into_iter().chain([None]).collect::<Vec<_>>()
        );
        assert_eq!(rows.last(), Some(&ShortRow { until: None, count: 1 }));
    }
}
