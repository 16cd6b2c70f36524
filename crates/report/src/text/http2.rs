//! What only HTTP/2 has: frames, resets, waits, what compression saved, and GOAWAYs with their text.

use super::{Report, Section};
use crate::show::{self, Table};
use measure::Http2Counts;
use measure::http2::{CODES, FRAMES, code_name};
use std::time::Duration;

/// GOAWAYs that are shown; the others are in the JSON.
const SHOWN: usize = 3;

impl Report<'_> {
    pub(super) fn http2(&self) -> Option<Section> {
        let http2 = self.phase.tally.http2()?;
        let mut table = Table::new("ll");
        for (title, text) in [
            ("received", list(&FRAMES, &http2.received)),
            ("sent", list(&FRAMES, &http2.sent)),
            ("reset by peer", list(&CODES, &http2.resets_received)),
            ("reset by us", list(&CODES, &http2.resets_sent)),
            ("waited", self.waits(http2)),
            ("header fields", savings(http2)),
        ] {
            if !text.is_empty() {
                table.row([title.to_owned(), text]);
            }
        }
        let mut section = Section::new("HTTP/2", table.lines());
        goaways(http2).iter().for_each(|line| section.say(line));
        let interims = self.counts().interims;
        if interims > 0 {
            section.say(&format!("{} (1xx).", show::counted(interims, "interim answer")));
        }
        Some(section)
    }

    fn waits(&self, http2: &Http2Counts) -> String {
        let waits = self.counts().stream_waits;
        let for_stream = format!("for a free stream ({})", show::counted(waits, "time"));
        let parts = [
            (http2.stream_limit_us, for_stream.as_str()),
            (http2.stream_window_us, "for windows of streams"),
            (http2.connection_window_us, "for windows of connections"),
        ];
        let shown = parts.iter().filter(|(us, _)| *us > 0);
        let text =
            |(us, what): &(u64, &str)| format!("{} {what}", show::duration(Duration::from_micros(*us)));
        shown.map(text).collect::<Vec<_>>().join(", ")
    }
}

/// Counts that are not zero, with their names.
fn list(names: &[&str], counts: &[u64]) -> String {
    let seen = names.iter().zip(counts).filter(|(_, count)| **count > 0);
    seen.map(|(name, count)| format!("{} {name}", show::count(*count))).collect::<Vec<_>>().join(", ")
}

fn savings(http2: &Http2Counts) -> String {
    let parts = [("requests", http2.sent_fields), ("answers", http2.received_fields)];
    let text = |(what, bytes): (&str, measure::http2::Compressed)| {
        Some(format!("{} saved of {} in {what}", show::percent(bytes.saved()?), show::bytes(bytes.fields)))
    };
    parts.into_iter().filter_map(text).collect::<Vec<_>>().join(", ")
}

fn goaways(http2: &Http2Counts) -> Vec<String> {
    let mut sorted: Vec<_> = http2.goaways.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(one.count));
    let line = |one: &measure::http2::GoAwayCount| {
        let said = if one.text.is_empty() { String::new() } else { format!(": {}", one.text.escape_debug()) };
        format!("{} × GOAWAY {}{said}.", show::count(one.count), code_name(one.code))
    };
    let mut lines: Vec<String> = sorted.iter().take(SHOWN).map(|one| line(one)).collect();
    let more: u64 = sorted.iter().skip(SHOWN).map(|one| one.count).sum();
    if more > 0 {
        lines.push(format!("{} more GOAWAYs with other codes or texts.", show::count(more)));
    }
    lines
}
