//! How it changed, where there were several phases.

use super::{Report, Section, short, time_or_dash};
use crate::good;
use crate::show::{self, ShowTable};
use measure::Row;

/// Rows of the table through time, about.
const TIMELINE_ROWS: usize = 30;
/// Characters of a bar that stands for all.
const BAR: usize = 16;
/// The columns of bars and of the origin's rate, which are left out first where the table is too wide.
const BARS: usize = 2;
const ORIGIN: usize = 5;

impl Report<'_> {
    pub(super) fn timeline(&self) -> Option<Section> {
        let all = &self.result.timeline.rows;
        if !all.windows(2).any(|pair| pair[0].phase != pair[1].phase) {
            return None;
        }
        let rows = self.result.timeline.condensed(TIMELINE_ROWS);
        let mut table = ShowTable::new("rLlrrrrrr");
        table.words(["until", "phase", "", "hits", "rate", "origin", "p99", "failed", "agents"]);
        rows.iter().for_each(|row| table.row(self.timeline_row(row)));
        let mut section = Section::new("Through time");
        section.show_within(table.without_unknown(), &[ORIGIN, BARS]);
        let joined =
            if rows.len() < all.len() { "; seconds are joined, with the p99 of the worst one" } else { "" };
        section.say(&format!("p99 of the service time{joined}."));
        if rows.iter().any(|row| row.agents.is_some()) {
            section.say("Where a number of agents stands, the others were lost before the end of the row.");
        }
        Some(section)
    }

    fn timeline_row(&self, row: &Row) -> [String; 9] {
        let hits = good::row_hits(row);
        let phase = self.result.phases.get(row.phase as usize).map(|phase| short(&phase.name));
        [
            format!("{} s", show::moment(row.at_s)),
            show::or_dash(phase),
            hits.map(bar).unwrap_or_default(),
            show::or_dash(hits.map(show::percent)),
            show::or_dash(row.begun_per_second().map(show::rate)),
            show::or_dash(row.origin.as_ref().map(|origin| show::rate(row.per_second(origin.requests)))),
            time_or_dash(row.p99_us),
            show::count(row.counts.failed),
            show::or_dash(row.agents.map(|told| told.to_string())),
        ]
    }
}

fn bar(share: f64) -> String {
    let filled = ((share.clamp(0.0, 1.0) * BAR as f64).round()) as usize;
    "#".repeat(filled) + &".".repeat(BAR - filled)
}
