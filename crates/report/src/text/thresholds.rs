//! Which conditions were kept.

use super::{Report, Section};
use crate::show::{self, ShowTable};
use crate::thresholds;
use measure::{FailureKind, JudgedNames};
use plan::Threshold;

impl Report<'_> {
    pub(super) fn thresholds(&self) -> Option<Section> {
        let judged = &self.result.thresholds;
        if judged.is_empty() {
            return None;
        }
        let mut table = ShowTable::new("Lrll");
        for one in judged {
            let found = match (one.value, one.violated) {
                _ if one.unevaluated => "not evaluated",
                (None, _) => "violated: the figure is not known",
                (_, true) if one.at_least => "violated, as far as is known: requests are unfinished",
                (_, true) => "violated",
                (_, false) => "kept",
            };
            let value = show::or_dash(thresholds::shown(one));
            table.row([one.condition.clone(), value, names(one.names).to_owned(), found.to_owned()]);
        }
        let mut section = Section::of("Thresholds", table);
        if judged.iter().any(|one| one.unevaluated) {
            section.say("The run was ended before its time: what its figures would have been is not known.");
        }
        if judged.iter().any(|one| one.violated) {
            section.say("One that is violated makes the exit code 3.");
        }
        let fail_if = judged.iter().filter(|one| one.violated && one.names == JudgedNames::Forbidden);
        let doubtful =
            fail_if.filter_map(|one| Threshold::parse(&one.condition).ok()?.forbids_what_is_wanted());
        doubtful.for_each(|line| section.say(&format!("{line}.")));
        let of_times =
            |condition: &str| ["p", "mean", "min", "max"].iter().any(|name| condition.starts_with(name));
        if judged.iter().any(|one| !one.violated && of_times(&one.condition)) && self.counts().failed > 0 {
            section.say(&self.not_in_times());
        }
        Some(section)
    }

    /// All conditions in a line: which were violated, with their figures.
    pub(super) fn thresholds_in_a_line(&self) -> Option<String> {
        let judged = &self.result.thresholds;
        let violated: Vec<String> = judged
            .iter()
            .filter(|one| one.violated)
            .map(|one| {
                let value = thresholds::shown(one).unwrap_or_else(|| "not known".to_owned());
                format!("{} {} ({value})", one.condition, names(one.names))
            })
            .collect();
        match (judged.len(), violated.is_empty()) {
            (all, true) if judged.iter().any(|one| one.unevaluated) => Some(format!(
                "{} not evaluated: the run was ended before its time",
                show::counted(all as u64, "condition")
            )),
            (0, _) => None,
            (all, true) => Some(format!("{} kept", show::counted(all as u64, "condition"))),
            (all, false) => Some(format!("{} of {all} violated: {}", violated.len(), violated.join("; "))),
        }
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

/// Role of a condition, in words.
fn names(names: JudgedNames) -> &'static str {
    match names {
        JudgedNames::Forbidden => "must not be",
        JudgedNames::Required => "must be",
        JudgedNames::Stop => "ends the run",
    }
}
