//! Which conditions were kept.

use super::{Report, Section};
use crate::show::Table;

impl Report<'_> {
    pub(super) fn thresholds(&self) -> Option<Section> {
        let judged = &self.result.thresholds;
        if judged.is_empty() {
            return None;
        }
        let mut table = Table::new("ll");
        for one in judged {
            let found = match (one.value, one.violated) {
                (None, _) => "violated: the figure is not known",
                (_, true) if one.at_least => "violated, as far as is known: requests are unfinished",
                (_, true) => "violated",
                (_, false) => "kept",
            };
            table.row([one.condition.clone(), found.to_owned()]);
        }
        let mut section = Section::new("Thresholds", table.lines());
        if judged.iter().any(|one| one.violated) {
            section.say("Each condition names what must not be; one that is violated makes the exit code 3.");
        }
        Some(section)
    }
}
