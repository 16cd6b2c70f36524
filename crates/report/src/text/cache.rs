//! Results of the cache, as the clients saw them.

use super::{Report, Section, hit_ratio, short};
use crate::good;
use crate::show::{self, ShowTable};
use measure::shares::{answered, ratio};
use measure::{Counts, PhaseResult};

/// Share of requests that could not be judged from which a hit ratio does not stand without it.
const UNJUDGED: f64 = 0.005;
/// Hits to be expected from which on it is no chance that there was none.
const SURELY_HITS: f64 = 20.0;

impl Report<'_> {
    pub(super) fn cache(&self) -> Option<Section> {
        let phase = self.phase;
        let counts = self.counts();
        let stamped = answered(counts);
        if stamped + counts.unstamped == 0 {
            return None;
        }
        let mut section = Section::new("Cache, as the clients saw it");
        if stamped > 0 {
            if let Some(share) = self.unjudged() {
                section.say(&format!(
                    "Of {} ({}) it could not be judged what the cache did: they got no good answer. All figures here are \
                     of the others; if none of those had been a hit, the ratio would be {}.",
                    show::counted(phase.unjudged(), "request"),
                    show::percent(share),
                    show::or_dash(phase.least_hit_ratio().map(show::percent))
                ));
            }
            section.show(cache_table(counts, self.nothing_was_stored()));
            section.say(&stamped_ratio(phase));
        } else {
            section.say(&joined_ratio(phase));
        }
        section.say(&self.predicted_by_phase());
        section.say(&due_hits(counts));
        if stamped > 0 && counts.unstamped > 0 {
            section.say(&format!(
                "{} carried no stamp and are left out: of them it is not known what the cache did.",
                show::counted(counts.unstamped, "answer")
            ));
        }
        if let Some(factor) = phase.collapse_factor().filter(|_| counts.collapsed > 0) {
            section.say(&format!(
                "Collapsing: {} needed the origin and {} went to it, {factor:.2} for each fetch.",
                show::counted(counts.misses + counts.collapsed, "request"),
                show::count(counts.misses)
            ));
        }
        Some(section)
    }

    /// Share of the requests that could not be judged, where it is no rounding error.
    pub(super) fn unjudged(&self) -> Option<f64> {
        let counts = self.counts();
        let share = ratio(self.phase.unjudged(), answered(counts) + counts.unstamped + self.phase.unjudged());
        share.filter(|share| *share >= UNJUDGED)
    }

    /// True if every answer was made by the origin for its request, where a cache had something to give out.
    pub(super) fn nothing_was_stored(&self) -> bool {
        let counts = self.counts();
        let phases = self.result.phases.iter().filter(|phase| phase.measured);
        let expected = phases.filter_map(|phase| phase.predicted_hit_ratio).fold(0.0, f64::max);
        let made = counts.misses + counts.revalidated;
        made > 0 && counts.hits + counts.collapsed == 0 && expected * made as f64 >= SURELY_HITS
    }

    /// Measured beside predicted for each phase, where the phases together have no prediction.
    fn predicted_by_phase(&self) -> String {
        let phases = self.result.phases.iter().filter(|phase| phase.measured);
        let pairs: Vec<_> = phases
            .filter_map(|phase| {
                let measured = hit_ratio(phase)?;
                let predicted = phase.predicted_hit_ratio?;
                let [measured, predicted] = [measured, predicted].map(show::percent);
                Some(format!("{} {measured} (predicted {predicted})", short(&phase.name)))
            })
            .collect();
        if pairs.is_empty() || self.phase.predicted_hit_ratio.is_some() {
            return String::new();
        }
        format!("By phase: {}.", pairs.join(", "))
    }
}

fn cache_table(counts: &Counts, nothing_stored: bool) -> ShowTable {
    // A proxy that stores nothing passes the client's own validator on.
    let revalidated = if nothing_stored { "304 of the origin, passed on" } else { "confirmed by the origin" };
    let kinds = [
        ("hit", counts.hits, counts.hit_bytes, "from the cache"),
        ("revalidated", counts.revalidated, counts.revalidated_bytes, revalidated),
        ("collapsed", counts.collapsed, counts.collapsed_bytes, "shared a fetch under way"),
        ("miss", counts.misses, counts.miss_bytes, "made for this request"),
    ];
    let all = answered(counts);
    let all_bytes = kinds.iter().map(|(_, _, bytes, _)| bytes).sum();
    let mut table = ShowTable::new("lrrrrl");
    table.words(["", "answers", "share", "bytes", "share", ""]);
    for (name, count, bytes, meaning) in kinds {
        table.row([
            name.to_owned(),
            show::count(count),
            show::or_dash(ratio(count, all).map(show::percent)),
            show::bytes(bytes),
            show::or_dash(ratio(bytes, all_bytes).map(show::percent)),
            meaning.to_owned(),
        ]);
    }
    table
}

/// Hits among the requests that were due to be hits.
fn due_hits(counts: &Counts) -> String {
    let Some(share) = ratio(counts.due_hits, counts.due) else { return String::new() };
    format!(
        "{} for what had been delivered before, within its lifetime and the cache's memory: {} came from the cache.",
        show::counted(counts.due, "request"),
        show::percent(share)
    )
}

fn stamped_ratio(phase: &PhaseResult) -> String {
    let requests = show::or_dash(phase.hit_ratio().map(show::percent));
    let bytes = phase.byte_hit_ratio().map(|ratio| format!(", {} by bytes", show::percent(ratio)));
    let foretold =
        phase.predicted_hit_ratio.map(|ratio| format!("; predicted {} by requests", show::percent(ratio)));
    format!("Hit ratio {requests} by requests{}{}.", bytes.unwrap_or_default(), foretold.unwrap_or_default())
}

fn joined_ratio(phase: &PhaseResult) -> String {
    let Some(ratio) = good::offload(phase) else {
        return "Answers carry no stamp of our origin and its accounts are not at hand: hits cannot be told from misses."
            .to_owned();
    };
    let foretold = phase.predicted_hit_ratio.map(|ratio| format!(" (predicted {})", show::percent(ratio)));
    format!(
        "Hit ratio {}{}: answers carry no stamp, so this is 1 - origin bodies / client answers.",
        show::percent(ratio),
        foretold.unwrap_or_default()
    )
}
