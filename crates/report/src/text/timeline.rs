//! How it changed, where there were several phases.

use super::{Report, Section, short, time_or_dash};
use crate::good;
use crate::show::{self, Table};
use measure::Row;

/// Rows of the table through time, about.
const TIMELINE_ROWS: usize = 30;
/// Characters of a bar that stands for all.
const BAR: usize = 20;

impl Report<'_> {
    pub(super) fn timeline(&self) -> Option<Section> {
        let all = &self.result.timeline.rows;
        if !all.windows(2).any(|pair| pair[0].phase != pair[1].phase) {
            return None;
        }
        let rows = self.result.timeline.condensed(TIMELINE_ROWS);
        // Messages are no cache's business.
        let of_cache = !self.is_messages();
        let mut table = Table::new(if of_cache { "rllrrrrr" } else { "rlrrr" });
        let title = ["until", "phase", "", "hits", "rate", "origin", "p99", "failed"];
        let mut add = |row: [String; 8]| {
            let cells = row.into_iter().enumerate().filter(|(nth, _)| of_cache || ![2, 3, 5].contains(nth));
            table.row(cells.map(|(_, cell)| cell));
        };
        add(title.map(str::to_owned));
        rows.iter().for_each(|row| add(self.timeline_row(row)));
        let mut section = Section::new("Through time", table.lines());
        let joined =
            if rows.len() < all.len() { "; seconds are joined, with the p99 of the worst one" } else { "" };
        section.say(&format!("p99 of the service time{joined}."));
        Some(section)
    }

    fn timeline_row(&self, row: &Row) -> [String; 8] {
        let hits = row.hit_ratio().or_else(|| good::row_offload(row));
        let phase = self.result.phases.get(row.phase as usize).map(|phase| short(&phase.name));
        [
            format!("{:.0} s", row.at_s),
            show::or_dash(phase),
            hits.map(bar).unwrap_or_default(),
            show::or_dash(hits.map(show::percent)),
            show::rate(row.per_second(row.counts.requests)),
            row.origin.as_ref().map(|origin| show::rate(row.per_second(origin.requests))).unwrap_or_default(),
            time_or_dash(row.p99_us),
            show::count(row.counts.failed),
        ]
    }
}

fn bar(share: f64) -> String {
    let filled = ((share.clamp(0.0, 1.0) * BAR as f64).round()) as usize;
    "#".repeat(filled) + &".".repeat(BAR - filled)
}
