//! Whatever must be known beside a finding, one sentence each.

use super::log::Log;
use super::outcome::FindFinding;
use super::settings::{Arrivals, FindSettings};
use crate::words;

/// The notes on a finding. `near_s`: seconds of each trial near the knee.
pub fn notes(settings: &FindSettings, log: &Log, near_s: f64, finding: &FindFinding) -> Vec<String> {
    let mut notes = Vec::new();
    if settings.arrivals == Arrivals::Even {
        notes.push("requests came at one distance: users who do not know of each other break the limits at a lower rate".to_owned());
    }
    if let FindFinding::Knee(knee) = finding {
        let wanted_s = log.wanted_s(knee.rate);
        if wanted_s > 2.0 * near_s {
            notes.push(format!(
                "near its knee the target wants trials of {}, and they took {}: give it a longer budget",
                words::time(wanted_s),
                words::time(near_s)
            ));
        }
        if knee.interval.relative_width() > settings.within {
            notes.push(format!(
                "the interval is {} wide, and {} were wanted: half the width takes about four times the budget of {}",
                words::percent(knee.interval.relative_width()),
                words::percent(settings.within),
                words::time(settings.budget_s)
            ));
        }
    }
    let disturbed = log.disturbed();
    if disturbed > 0 {
        notes.push(format!(
            "{} said nothing of the target and {} repeated",
            words::count(disturbed, "trial"),
            if disturbed == 1 { "was" } else { "were" }
        ));
    }
    notes
}
