//! Scenarios about what a cache holds: sets that are larger than it, that move, that are scanned, and that expire at once.

use super::clients::rate;
use crate::stress::causes::Cause;
use crate::stress::judge::Seen;
use crate::stress::scenario::{Ground, Press, Scenario, hot, with_one_timers};
use crate::words;
use plan::site::predict::{Observed, hit_ratio};
use plan::site::{Lifetime, Size};
use plan::{Arrivals, Law, ObjectStep, Pace, Popularity, Site};
use std::time::Duration;

/// Bytes of an object of a set that is larger than the memory, and how many times the memory it is.
const LARGE_SET_BYTES: u64 = 100_000;
const TIMES: u64 = 4;
const ALPHA: f64 = 0.8;
/// Its hit ratio may be so far below that of an LRU cache of this memory.
const BELOW: f64 = 0.1;
/// Users who ask for it, and who scan.
const USERS: u32 = 32;
/// Share of its hits before that the bystander has after a scan.
const KEPT: f64 = 0.9;
/// Objects of a set that moves, at most, and seconds after which each has given way to another one.
const MOVING: u64 = 500;
const MOVED_AFTER_S: f64 = 10.0;
/// Objects that expire at once, at most, and seconds between two such moments.
const EXPIRING: u64 = 200;
const LIFETIME_S: f64 = 2.0;
/// Requests for each time that the origin must be asked: with fewer a cache that keeps nothing would pass.
const REQUESTS_EACH: f64 = 6.0;
/// The origin may be asked so many times what it must be asked.
const SPARE: f64 = 2.0;

/// All of them.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "scan",
        about: "32 users fetch objects of 100 kB that nobody wants again, as fast as they come",
        fails_if: "the bystander has less than 90 % of its hits back when it is over",
        causes: &[Cause::Eviction, Cause::Disk],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| {
            Press::objects(with_one_timers(1, 1.0), Pace::Users(USERS)).sized(Size::Fixed(LARGE_SET_BYTES))
        },
        rule: lost_hits,
    },
    Scenario {
        name: "beyond-memory",
        about: "32 users want a set of objects of 100 kB, by Zipf 0.8, that is four times the memory",
        fails_if: "the hits are more than 10 points below those of an LRU cache of its memory",
        causes: &[Cause::Eviction, Cause::Disk],
        of_caches: true,
        lacks: |ground| {
            ground.cache_bytes.is_none().then_some("how much it may keep is not known: give --cache-memory")
        },
        press: beyond_memory,
        rule: below_prediction,
    },
    Scenario {
        name: "moving-set",
        about: "requests for 500 objects of 10 kB (fewer where it carries little), each of which gives way to a new one every 10 s, at a tenth of what it carries",
        fails_if: "the origin is asked more than twice for each object",
        causes: &[Cause::Eviction, Cause::Collapsing],
        of_caches: true,
        lacks: Ground::suits,
        press: moving,
        rule: |seen| asked_too_often(seen, needed(seen.pressed.objects, seen.pressed.seconds, MOVED_AFTER_S)),
    },
    Scenario {
        name: "expiry-at-once",
        about: "requests for 200 objects (fewer where it carries little) that all expire at once, every 2 s, at half of what it carries",
        fails_if: "the origin is asked more than twice for each object and expiry",
        causes: &[Cause::Collapsing, Cause::Threads],
        // The bystander's objects live as long, so that some of its requests reach the origin.
        of_caches: false,
        lacks: Ground::suits,
        press: expiring,
        rule: |seen| asked_too_often(seen, needed(seen.pressed.objects, seen.pressed.seconds, LIFETIME_S)),
    },
];

fn lost_hits(seen: &Seen) -> Option<String> {
    let [before, after] = [seen.before.hit_ratio?, seen.after.hit_ratio?];
    (after < KEPT * before).then(|| {
        let [before, after] = [before, after].map(words::percent);
        format!("hits of the bystander: {before} before, {after} when the scan was over")
    })
}

/// Objects of a set that is so many times the memory.
fn objects_beyond(cache_bytes: u64) -> u64 {
    (TIMES * cache_bytes / LARGE_SET_BYTES).max(1)
}

fn beyond(objects: u64) -> Popularity {
    Popularity { hot: objects, law: Law::Zipf { alpha: ALPHA }, one_timers: 0.0, ..Popularity::default() }
}

fn beyond_memory(ground: &Ground) -> Press {
    let popularity = beyond(objects_beyond(ground.cache_bytes.unwrap_or(LARGE_SET_BYTES)));
    let step = ObjectStep { popularity, ..ObjectStep::default() };
    Press::objects(step, Pace::Users(USERS)).sized(Size::Fixed(LARGE_SET_BYTES))
}

/// Held against an LRU cache that began empty, too.
fn below_prediction(seen: &Seen) -> Option<String> {
    let cache_bytes = seen.cache_bytes?;
    let counts = &seen.pressed.counts;
    let requests = counts.hits + counts.misses + counts.revalidated + counts.collapsed;
    let observed = Observed {
        warm_requests: 0.0,
        filled: 0.0,
        requests: requests as f64,
        seconds: seen.pressed.seconds,
        cache_bytes: Some(cache_bytes as f64),
    };
    let site = Site { size: Size::Fixed(LARGE_SET_BYTES), ..Site::default() };
    let predicted = hit_ratio(&site, &beyond(objects_beyond(cache_bytes)), &observed);
    let measured = counts.hits as f64 / requests.max(1) as f64;
    (predicted - measured > BELOW).then(|| {
        let [measured, predicted] = [measured, predicted].map(words::percent);
        format!("{measured} hits, where an LRU cache of {} has {predicted}", words::bytes(cache_bytes as f64))
    })
}

/// How often the origin must be asked in so many seconds for objects each of which is another one after `each_s`.
fn needed(objects: u64, seconds: f64, each_s: f64) -> f64 {
    objects as f64 * (1.0 + seconds / each_s)
}

/// As many objects as so many requests per second can tell something of.
fn told_by(per_second: f64, ground: &Ground, each_s: f64, most: u64) -> u64 {
    let objects = per_second * ground.press_s / (REQUESTS_EACH * needed(1, ground.press_s, each_s));
    (objects as u64).clamp(1, most)
}

fn moving(ground: &Ground) -> Press {
    let per_second = ground.rate(0.1);
    let mut step = hot(told_by(per_second, ground, MOVED_AFTER_S, MOVING));
    step.popularity.drift_per_hour = 3_600.0 / MOVED_AFTER_S;
    Press::objects(step, rate(per_second, Arrivals::Poisson)).sized(Size::Fixed(10_000))
}

/// Their lifetime ends at moments of the clock, so that those that were fetched later expire with the others.
fn expiring(ground: &Ground) -> Press {
    let per_second = ground.rate(0.5);
    let step = hot(told_by(per_second, ground, LIFETIME_S, EXPIRING));
    let mut press = Press::objects(step, rate(per_second, Arrivals::Poisson)).sized(Size::Fixed(1_000));
    press.site.lifetime = Lifetime::Together { every: Duration::from_secs_f64(LIFETIME_S) };
    press
}

/// `needed`: how often the origin must be asked.
fn asked_too_often(seen: &Seen, needed: f64) -> Option<String> {
    let asked = seen.pressed.counts.misses + seen.pressed.counts.revalidated;
    (asked as f64 > SPARE * needed)
        .then(|| format!("the origin was asked {asked} times, where {needed:.0} times are enough"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_that_do_not_come_back_fail_a_scan() {
        let mut seen = Seen::default();
        assert_eq!(lost_hits(&seen), None);
        seen.before.hit_ratio = Some(1.0);
        seen.after.hit_ratio = Some(0.91);
        assert_eq!(lost_hits(&seen), None);
        seen.after.hit_ratio = Some(0.89);
        assert!(lost_hits(&seen).is_some_and(|why| why.contains("89 %")), "{:?}", lost_hits(&seen));
    }

    #[test]
    fn a_cache_that_lets_nothing_in_is_below_the_prediction() {
        let mut seen = Seen { cache_bytes: Some(64 << 20), ..Seen::default() };
        seen.pressed.seconds = 30.0;
        seen.pressed.counts.misses = 100_000;
        assert!(below_prediction(&seen).is_some_and(|why| why.contains("LRU cache")));
        // Few requests find nothing in any cache.
        seen.pressed.counts.misses = 50;
        assert_eq!(below_prediction(&seen), None);
        seen.cache_bytes = None;
        assert_eq!(below_prediction(&seen), None);
    }

    /// A cache that keeps nothing asks for each request: it fails at whatever rate, and however long it is pressed.
    #[test]
    fn sets_are_as_large_as_the_requests_can_tell() {
        for (capacity, press_s, expected) in
            [(200.0, 3.0, (7, 20)), (20_000.0, 30.0, (500, 200)), (1.0, 2.0, (1, 1))]
        {
            let ground = Ground {
                capacity,
                connections: 1.0,
                press_s,
                descriptors: 1_000,
                is_secure: false,
                is_owned: true,
                cache_bytes: None,
                knows_processes: true,
                reloads: true,
                has_disk: true,
            };
            assert_eq!((moving(&ground).objects, expiring(&ground).objects), expected, "{capacity}");
        }
    }

    #[test]
    fn the_origin_is_asked_once_for_each_object_and_lifetime() {
        let mut seen = Seen::default();
        seen.pressed.counts.misses = 200;
        seen.pressed.counts.revalidated = 200;
        assert_eq!(asked_too_often(&seen, 200.0), None);
        seen.pressed.counts.misses = 201;
        assert!(asked_too_often(&seen, 200.0).is_some_and(|why| why.contains("401 times")));
    }
}
