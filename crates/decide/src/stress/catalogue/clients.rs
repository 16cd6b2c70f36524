//! Scenarios that clients make.

use super::{halves, malformed};
use crate::stress::causes::Cause;
use crate::stress::judge::Seen;
use crate::stress::scenario::{Between, Ground, Press, Scenario, hot, with_one_timers};
use crate::words;
use plan::site::{Size, VaryOn};
use plan::{Arrivals, CloseBy, Delay, Field, ObjectStep, Pace, Reading};
use std::time::Duration;

/// Requests of an open pace that may be under way.
const IN_FLIGHT: u32 = 2_000;
/// Bytes of a large object.
const LARGE: u64 = 1_000_000;
/// Bytes of memory that a silent connection may take, and one that reads slowly.
pub(super) const SILENT_BYTES: u64 = 64 << 10;
const SLOW_BYTES: u64 = 256 << 10;
/// Connections that are silent, at most.
const HERD: u32 = 5_000;
/// Readers that are slow at a time.
const SLOW_READERS: u32 = 300;
/// Bytes per second of theirs.
const SLOW_SPEED: u64 = 10_000;
/// Writers that are slow, and a field of their requests.
const SLOW_WRITERS: u32 = 200;
const SLOW_FIELD: usize = 4_000;
/// Size of a field that no limit of a proxy allows, and number of fields.
const HUGE_FIELD: usize = 60_000;
const MANY_FIELDS: usize = 500;
/// Objects that have variants, and how many.
const VARIED: u64 = 4;
const VARIANTS: u32 = 50;

/// All of them.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "surge",
        about: "requests for hot objects at 1.5 times what it carries, by chance",
        fails_if: "",
        causes: &[Cause::Cpu, Cause::Threads, Cause::AcceptQueue],
        of_caches: false,
        lacks: Ground::suits,
        press: |ground| Press::hits(rate(ground.rate(1.5), Arrivals::Poisson)),
        rule: no_rule,
    },
    Scenario {
        name: "bursts",
        about: "half of what it carries in a second, all of it in the second's first moment",
        fails_if: "",
        causes: &[Cause::AcceptQueue, Cause::Threads],
        of_caches: false,
        lacks: Ground::suits,
        press: bursts,
        rule: no_rule,
    },
    Scenario {
        name: "connection-flood",
        about: "twice the connections per second that it carries, one request each, ended by resets",
        fails_if: "",
        causes: &[Cause::AcceptQueue, Cause::Threads, Cause::Cpu],
        of_caches: false,
        lacks: Ground::suits,
        press: |ground| {
            Press::hits(connections(2.0 * ground.connections)).speaking(|http| {
                http.requests_per_connection = Some(1);
                http.close = CloseBy::Reset;
            })
        },
        rule: no_rule,
    },
    Scenario {
        name: "short-connections",
        about: "two requests per connection, at 0.7 times the connections that it carries",
        fails_if: "",
        causes: &[Cause::Cpu, Cause::Ports],
        of_caches: false,
        lacks: Ground::suits,
        press: |ground| {
            let pace = connections(0.7 * ground.connections);
            Press::hits(pace).speaking(|http| http.requests_per_connection = Some(2))
        },
        rule: no_rule,
    },
    Scenario {
        name: "tls-handshakes",
        about: "a full TLS handshake for each request, at 1.5 times the connections that it carries",
        fails_if: "",
        causes: &[Cause::Cpu, Cause::Threads, Cause::AcceptQueue],
        of_caches: false,
        lacks: |ground| {
            (!ground.is_secure).then_some("it speaks no TLS here: give --tls, or https://HOST:PORT")
        },
        press: |ground| {
            Press::hits(connections(1.5 * ground.connections))
                .speaking(|http| http.requests_per_connection = Some(1))
        },
        rule: no_rule,
    },
    Scenario {
        name: "idle-herd",
        about: "thousands of connections that are opened and stay silent",
        fails_if: "each silent connection takes more than 64 KiB of memory",
        causes: &[Cause::Descriptors, Cause::Memory],
        of_caches: false,
        lacks: Ground::suits,
        press: idle_herd,
        rule: |seen| memory_each(seen, SILENT_BYTES),
    },
    Scenario {
        name: "slow-readers",
        about: "300 clients that read objects of 1 MB at 10 kB per second",
        fails_if: "each of them takes more than 256 KiB of memory",
        causes: &[Cause::Memory, Cause::Threads],
        of_caches: false,
        lacks: Ground::suits,
        press: slow_readers,
        rule: |seen| memory_each(seen, SLOW_BYTES),
    },
    Scenario {
        name: "slow-writers",
        about: "200 clients whose requests come 200 bytes at a time, with a field of 4 kB, 4 kB per second",
        fails_if: "each of them takes more than 256 KiB of memory",
        causes: &[Cause::Threads, Cause::Descriptors],
        of_caches: false,
        lacks: Ground::suits,
        press: slow_writers,
        rule: |seen| memory_each(seen, SLOW_BYTES),
    },
    Scenario {
        name: "aborting-clients",
        about: "every second request for an object of 1 MB, half of them new ones, is broken off in its body",
        fails_if: "the origin sends more than twice the bytes that clients get",
        causes: &[Cause::Collapsing, Cause::Descriptors],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| {
            let step = ObjectStep { abort: 0.5, ..with_one_timers(20, 0.5) };
            Press::objects(step, Pace::Users(20)).sized(Size::Fixed(LARGE))
        },
        rule: origin_bytes,
    },
    Scenario {
        name: "range-storm",
        about: "ranges of objects of 8 MB that the cache does not have yet",
        fails_if: "the origin sends more than twice the bytes that clients get",
        causes: &[Cause::Collapsing, Cause::Memory],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| {
            let step = ObjectStep { range: 1.0, ..hot(20) };
            Press::objects(step, Pace::Users(20)).sized(Size::Fixed(8 * LARGE))
        },
        rule: origin_bytes,
    },
    Scenario {
        name: "elephants",
        about: "eight clients fetch objects of 64 MB, one after the other",
        fails_if: "",
        causes: &[Cause::Threads, Cause::Disk],
        of_caches: false,
        lacks: Ground::suits,
        press: |_| Press::objects(hot(4), Pace::Users(8)).sized(Size::Fixed(64 * LARGE)),
        rule: no_rule,
    },
    Scenario {
        name: "unique-keys",
        about: "only objects that nobody has asked for before, at a tenth of what it carries",
        fails_if: "",
        causes: &[Cause::Eviction, Cause::Disk, Cause::Origin],
        of_caches: false,
        lacks: Ground::suits,
        press: |ground| {
            let pace = rate(ground.rate(0.1), Arrivals::Poisson);
            Press::objects(with_one_timers(1, 1.0), pace).sized(Size::Fixed(10_000))
        },
        rule: no_rule,
    },
    Scenario {
        name: "huge-heads",
        about: "requests with a field of 60 kB, a hundred per second",
        fails_if: "",
        causes: &[Cause::Memory, Cause::Framing],
        of_caches: false,
        lacks: Ground::suits,
        press: |_| with_fields([Field::new("X-Filler", "x".repeat(HUGE_FIELD).as_str())].into()),
        rule: no_rule,
    },
    Scenario {
        name: "many-fields",
        about: "requests with 500 fields, a hundred per second",
        fails_if: "",
        causes: &[Cause::Cpu, Cause::Framing],
        of_caches: false,
        lacks: Ground::suits,
        press: |_| {
            let field = |number: usize| Field::new(format!("X-Filler-{number}"), "x");
            with_fields((0..MANY_FIELDS).map(field).collect())
        },
        rule: no_rule,
    },
    Scenario {
        name: "variants",
        about: "requests for 4 objects in 50 variants each, by Accept-Language, two hundred per second",
        fails_if: "the origin is asked more than twice for each variant that was wanted",
        causes: &[Cause::Eviction, Cause::Cpu],
        // The bystander's objects have as many variants, so that few of its answers are hits.
        of_caches: false,
        lacks: Ground::suits,
        press: variants,
        rule: variants_fetched,
    },
    malformed::MALFORMED,
    halves::HEADS,
    halves::UPLOADS,
];

/// Nothing beyond the rules of all scenarios.
pub(super) fn no_rule(_: &Seen) -> Option<String> {
    None
}

/// An open pace.
pub(super) fn rate(per_second: f64, arrivals: Arrivals) -> Pace {
    Pace::Rate { per_second, arrivals, in_flight: IN_FLIGHT }
}

fn connections(per_second: f64) -> Pace {
    Pace::Connections { per_second: per_second.max(1.0), arrivals: Arrivals::Poisson, in_flight: IN_FLIGHT }
}

/// One burst a second.
fn bursts(ground: &Ground) -> Press {
    let each = ground.rate(0.5).clamp(1.0, f64::from(IN_FLIGHT) / 2.0) as u32;
    Press::hits(rate(f64::from(each), Arrivals::Bursts(each)))
}

/// All are opened ahead. Users who think wait before their first request, too, so that few of them ever ask.
fn idle_herd(ground: &Ground) -> Press {
    let users = herd(ground, HERD);
    let silent = Delay::Fixed { delay: Duration::from_secs(3_600) };
    let mut press = Press::hits(Pace::Thinking { users, think: silent });
    press.phase.preconnect = Some(users);
    press
}

/// So many connections, as far as this machine has descriptors for them.
pub(super) fn herd(ground: &Ground, wanted: u32) -> u32 {
    u32::try_from(ground.descriptors / 4).unwrap_or(wanted).clamp(1, wanted)
}

fn slow_readers(ground: &Ground) -> Press {
    let reading = Reading { bytes_per_second: Some(SLOW_SPEED), slow: 1.0, ..Reading::default() };
    let users = Pace::Users(herd(ground, SLOW_READERS));
    let mut press = Press::objects(ObjectStep { reading, ..hot(20) }, users);
    // None of them is done in time, and that is no failure.
    press.limits.request = Duration::from_secs(600);
    press.sized(Size::Fixed(LARGE))
}

fn slow_writers(ground: &Ground) -> Press {
    let field = Field::new("X-Filler", "x".repeat(SLOW_FIELD).as_str());
    let users = Pace::Users(herd(ground, SLOW_WRITERS));
    Press::hits(users).speaking(|http| http.fields = [field].into()).before(Between::Dripping)
}

fn with_fields(fields: Vec<Field>) -> Press {
    Press::hits(rate(100.0, Arrivals::Poisson)).speaking(|http| http.fields = fields)
}

fn variants(_: &Ground) -> Press {
    let mut press = Press::objects(hot(VARIED), rate(200.0, Arrivals::Poisson)).sized(Size::Fixed(1_000));
    press.site.variants = VARIANTS;
    press.site.vary_on = VaryOn::Field("Accept-Language".to_owned());
    press
}

/// Misses beyond one for each variant, and one for each that came while the first was under way.
fn variants_fetched(seen: &Seen) -> Option<String> {
    let allowed = 2 * VARIED * u64::from(VARIANTS);
    let misses = seen.pressed.counts.misses;
    (misses > allowed).then(|| format!("the origin was asked {misses} times for {} variants", allowed / 2))
}

/// Memory that each connection has cost.
pub(super) fn memory_each(seen: &Seen, allowed: u64) -> Option<String> {
    let grown = seen.held_most.memory_bytes?.saturating_sub(seen.held_before.memory_bytes?);
    let each = grown / seen.pressed.connections.max(1);
    (each > allowed).then(|| {
        format!(
            "its memory grew by {} for each of {} connections ({} are allowed)",
            words::bytes(each as f64),
            seen.pressed.connections,
            words::bytes(allowed as f64)
        )
    })
}

/// Bytes that the origin sent, beside those that clients got.
fn origin_bytes(seen: &Seen) -> Option<String> {
    let sent = seen.pressed.origin_bytes?;
    let got = seen.pressed.counts.body_bytes;
    (got > 0 && sent > 2 * got).then(|| {
        let [sent, got] = [sent, got].map(|bytes| words::bytes(bytes as f64));
        format!("the origin sent {sent} for the {got} that clients got")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::{Pressed, Resources};

    #[test]
    fn memory_and_bytes_are_held_against_it() {
        let mut seen = Seen {
            held_before: Resources { memory_bytes: Some(10 << 20), ..Resources::default() },
            held_most: Resources { memory_bytes: Some(110 << 20), ..Resources::default() },
            pressed: Pressed { connections: 1_000, ..Pressed::default() },
            ..Seen::default()
        };
        assert!(memory_each(&seen, SILENT_BYTES).is_some_and(|why| why.contains("1000 connections")));
        assert_eq!(memory_each(&seen, SLOW_BYTES), None);
        seen.held_before.memory_bytes = None;
        assert_eq!(memory_each(&seen, SILENT_BYTES), None);
        seen.pressed.origin_bytes = Some(201);
        seen.pressed.counts.body_bytes = 100;
        assert!(origin_bytes(&seen).is_some());
        seen.pressed.origin_bytes = Some(200);
        assert_eq!(origin_bytes(&seen), None);
    }

    #[test]
    fn variants_that_are_fetched_again_and_again_are_too_many() {
        let mut seen = Seen::default();
        seen.pressed.counts.misses = 400;
        assert_eq!(variants_fetched(&seen), None);
        seen.pressed.counts.misses = 401;
        assert!(variants_fetched(&seen).is_some_and(|why| why.contains("401 times for 200 variants")));
    }

    #[test]
    fn a_herd_is_opened_ahead() {
        let ground = Ground {
            capacity: 100.0,
            connections: 20.0,
            press_s: 30.0,
            descriptors: 1_000,
            is_secure: false,
            is_owned: true,
            cache_bytes: Some(64 << 20),
            knows_processes: true,
            reloads: true,
            has_disk: true,
        };
        assert_eq!(idle_herd(&ground).phase.preconnect, Some(250));
    }
}
