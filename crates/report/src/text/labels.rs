//! Figures per label.

use super::{Report, Section, short};
use crate::labels;
use crate::show::{self, ShowTable};

impl Report<'_> {
    pub(super) fn labels(&self) -> Option<Section> {
        let lines = labels::lines(self.result, self.context.plan);
        if lines.is_empty() {
            return None;
        }
        let mut table = ShowTable::new("LLrrrrr");
        table.words(["phase", "label", "ended", "not good", "p50", "p99", "longest"]);
        for line in lines {
            table.row([
                short(&line.phase),
                line.label,
                show::count(line.ended),
                show::count(line.ended - line.ok),
                show::time(line.p50_us),
                show::time(line.p99_us),
                show::time(line.max_us),
            ]);
        }
        Some(Section::of("Labels", table))
    }
}
