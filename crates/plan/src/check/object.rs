//! Rules for a step that fetches objects.

use super::{Found, share};
use crate::scenario::ObjectStep;
use crate::site::popularity::Law;

pub(super) fn check_object(phase: &str, step: &ObjectStep, has_target: bool, found: &mut Found) {
    let popularity = &step.popularity;
    let shares = [
        ("one_timers", popularity.one_timers),
        ("reload", step.reload),
        ("revalidate", step.revalidate),
        ("range", step.range),
        ("abort", step.abort),
        ("slow", step.reading.slow),
    ];
    for (name, value) in shares {
        share(found, &format!("phase '{phase}': {name}"), value);
    }
    if popularity.hot == 0 || popularity.hot > 1 << 32 {
        found.at(
            "popularity",
            format!("phase '{phase}': hot is {}: a hot set has 1 to 2^32 objects", popularity.hot),
        );
    }
    if let Law::Zipf { alpha } = popularity.law
        && !(0.0..=10.0).contains(&alpha)
    {
        found.at(
            "popularity",
            format!("phase '{phase}': alpha is {alpha}: give 0 to 10, commonly 0.6 to 1.2"),
        );
    }
    if !(0.0..=1e6).contains(&popularity.drift_per_hour) {
        let drift = popularity.drift_per_hour;
        found.at("popularity", format!("phase '{phase}': drift_per_hour is {drift}: give 0 to 1e6"));
    }
    if !has_target {
        found.push(format!("phase '{phase}' fetches objects but the load has no target to connect to"));
    }
}
