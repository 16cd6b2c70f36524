//! Scenarios that are done to the target itself.

use super::clients::{herd, no_rule, rate};
use super::origin::misses;
use crate::stress::causes::Cause;
use crate::stress::judge::Seen;
use crate::stress::scenario::{Press, Scenario, TargetAction};
use plan::{Arrivals, Pace};
use std::time::Duration;

/// Descriptors that it may have beyond those that it holds, and clients that want one each.
const SPARE_DESCRIPTORS: u64 = 100;
const CLIENTS: u32 = 1_000;
/// A disk for some thousand objects.
const DISK_BYTES: u64 = 64 << 20;
/// One miss in so many may fail.
const MAY_FAIL: u64 = 20;
/// Time between two reloads.
const RELOAD_EVERY: Duration = Duration::from_secs(2);

/// All of them.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "few-descriptors",
        about: "its processes may have 100 descriptors more than they hold, and a thousand clients come",
        fails_if: "",
        causes: &[Cause::Descriptors, Cause::Threads],
        of_caches: false,
        lacks: |ground| {
            (!ground.knows_processes).then_some("its processes are not known: give --pid, or a --rig")
        },
        press: |ground| {
            let users = Pace::Users(herd(ground, CLIENTS));
            Press::hits(users).doing(TargetAction::FewDescriptors(SPARE_DESCRIPTORS))
        },
        rule: no_rule,
    },
    Scenario {
        name: "reload",
        about: "it reads its configuration again every 2 s, at half of what it carries",
        fails_if: "a request of the bystander fails",
        causes: &[Cause::AcceptQueue, Cause::Cpu],
        of_caches: false,
        lacks: |ground| {
            (!ground.reloads).then_some("no signal is known that makes it read its configuration again: the rigs nginx, squid and httpd have one")
        },
        press: |ground| {
            Press::hits(rate(ground.rate(0.5), Arrivals::Poisson)).doing(TargetAction::Reload(RELOAD_EVERY))
        },
        rule: failed_meanwhile,
    },
    Scenario {
        name: "disk-full",
        about: "the disk of the cache is full, to 50 misses per second",
        fails_if: "more than 5 % of the misses fail, which could pass through without being stored",
        causes: &[Cause::Disk],
        of_caches: true,
        lacks: |ground| {
            (!ground.has_disk).then_some(
                "its cache is on no disk of its own, which could be filled without harm to others: the rigs nginx and httpd get one as root",
            )
        },
        press: |_| misses().doing(TargetAction::FillDisk(DISK_BYTES)),
        rule: misses_failed,
    },
];

fn misses_failed(seen: &Seen) -> Option<String> {
    let counts = &seen.pressed.counts;
    let failed = counts.failed + counts.check_failed;
    (failed * MAY_FAIL > counts.requests)
        .then(|| format!("{failed} of {} misses failed while the disk was full", counts.requests))
}

fn failed_meanwhile(seen: &Seen) -> Option<String> {
    let failed = seen.during.not_good;
    (failed > 0)
        .then(|| format!("{failed} of the bystander's requests failed while it read its configuration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_may_not_fail_because_they_cannot_be_stored() {
        let mut seen = Seen::default();
        assert_eq!(misses_failed(&seen), None);
        (seen.pressed.counts.requests, seen.pressed.counts.failed) = (100, 5);
        assert_eq!(misses_failed(&seen), None);
        seen.pressed.counts.check_failed = 1;
        assert_eq!(misses_failed(&seen).as_deref(), Some("6 of 100 misses failed while the disk was full"));
    }

    #[test]
    fn one_failed_request_is_too_many_for_a_reload() {
        let mut seen = Seen::default();
        assert_eq!(failed_meanwhile(&seen), None);
        seen.during.not_good = 1;
        assert!(failed_meanwhile(&seen).is_some());
    }
}
