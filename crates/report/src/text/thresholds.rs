//! Which conditions were kept.

use super::{Report, Section};
use crate::show::{self, Table};
use measure::FailureKind;

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
        let of_times =
            |condition: &str| ["p", "mean", "min", "max"].iter().any(|name| condition.starts_with(name));
        if judged.iter().any(|one| !one.violated && of_times(&one.condition)) && self.counts().failed > 0 {
            section.say(&self.not_in_times());
        }
        Some(section)
    }

    /// Requests that no time tells of.
    fn not_in_times(&self) -> String {
        let failures =
            self.phase.tally.failures().filter(|(failure, _)| failure.kind == FailureKind::Timeout);
        let timeouts: u64 = failures.map(|(_, count)| count).sum();
        let of_them = match timeouts {
            0 => String::new(),
            count => format!(", {} of them as their time ran out", show::count(count)),
        };
        let failed = show::counted(self.counts().failed, "request");
        format!(
            "Times are those of good answers: {failed} failed{of_them}, and no time above tells of those. A condition on errors does."
        )
    }
}
