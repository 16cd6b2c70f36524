//! Rules for a step that fetches objects.

use super::{ViolationFound, share};
use crate::scenario::{ObjectStep, Purge};
use crate::site::popularity::Law;

/// Purges per second at most.
const MOST_PURGES: f64 = 1e6;

pub(super) fn check_object(phase: &str, step: &ObjectStep, has_target: bool, found: &mut ViolationFound) {
    let popularity = &step.popularity;
    let shares = [
        ("one_timers", popularity.one_timers),
        ("reload", step.reload),
        ("revalidate", step.revalidate),
        ("range", step.range),
        ("two_ranges", step.two_ranges),
        ("abort", step.abort),
        ("head", step.head),
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
    if let Some(fault) = step.asked.fault() {
        found.at("asked", format!("phase '{phase}': asked {fault}"));
    }
    if let Some(purge) = &step.purge {
        check_purge(phase, purge, found);
    }
    if !has_target {
        found.push(format!("phase '{phase}' fetches objects but the load has no target to connect to"));
    }
}

/// A purge must have a rate, and a method that no other request has in the same form.
fn check_purge(phase: &str, purge: &Purge, found: &mut ViolationFound) {
    let rate = purge.per_second;
    if !(rate > 0.0 && rate <= MOST_PURGES) {
        found
            .at("purge", format!("phase '{phase}': purge: {rate} per second: give more than 0, at most 1e6"));
    }
    if let Some(command) = &purge.command {
        return check_command(phase, purge, command, found);
    }
    if purge.method.is_empty() || !purge.method.bytes().all(|byte| byte.is_ascii_graphic()) {
        found.at(
            "purge",
            format!("phase '{phase}': purge: '{}' is no method: give one such as PURGE", purge.method),
        );
    }
    if ["GET", "HEAD"].contains(&purge.method.as_str()) && purge.fields.is_empty() {
        found.at(
            "purge",
            format!(
                "phase '{phase}': purge: {} without a field of its own asks for the object: give fields",
                purge.method
            ),
        );
    }
}

/// A command takes the place of a request, and must name the object.
fn check_command(phase: &str, purge: &Purge, command: &str, found: &mut ViolationFound) {
    if purge.method != Purge::METHOD || !purge.fields.is_empty() {
        found.at(
            "purge",
            format!("phase '{phase}': purge: a command purges in place of a request, so leave out method and fields"),
        );
    }
    if command.contains('\n') || !Purge::NAMES.iter().any(|name| command.contains(name)) {
        found.at(
            "purge",
            format!("phase '{phase}': purge: the command is one line that names the object: write {{url}} or {{path}} into it"),
        );
    }
}
