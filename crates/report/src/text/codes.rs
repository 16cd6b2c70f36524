//! The codes that answers carried, where the plan says where they stand: what the service says, beside what the network
//! says.

use super::{Report, Section};
use crate::show::{self, ShowTable};
use measure::shares::ratio;
use measure::{CodeKind, CountedCode};

/// Codes that are shown; the others are in the JSON.
const SHOWN: usize = 20;

impl Report<'_> {
    pub(super) fn codes(&self) -> Option<Section> {
        let list = self.phase.tally.codes.list();
        let pushed = self.counts().pushed;
        if list.is_empty() && pushed == 0 {
            return None;
        }
        let all: u64 = list.iter().map(|code| code.count).sum();
        let mut table = ShowTable::new("rrLl");
        for code in list.iter().take(SHOWN) {
            let share = ratio(code.count, all).map(show::percent);
            let meaning = if code.good { "success" } else { "failure" };
            let cells = [show::count(code.count), show::or_dash(share), name(code), meaning.to_owned()];
            match code.kind {
                CodeKind::Seen => table.row(cells),
                CodeKind::Other | CodeKind::Missing => table.words(cells),
            }
        }
        let mut section = Section::of("Codes", table);
        if let Some(rest) = list.get(SHOWN..).filter(|rest| !rest.is_empty()) {
            let count: u64 = rest.iter().map(|code| code.count).sum();
            section.say(&format!(
                "{} more codes, in {}.",
                show::count(rest.len() as u64),
                show::counted(count, "answer")
            ));
        }
        if pushed > 0 {
            section.say(&format!("{} that nobody had asked for.", show::counted(pushed, "message")));
        }
        Some(section)
    }
}

/// A code as it is shown; bytes that are no text are escaped.
pub fn name(code: &CountedCode<'_>) -> String {
    match code.kind {
        CodeKind::Seen => code.text.escape_ascii().to_string(),
        CodeKind::Other => "(others)".to_owned(),
        CodeKind::Missing => "(none)".to_owned(),
    }
}
