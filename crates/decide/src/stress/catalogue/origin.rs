//! Scenarios that the origin, or the way to it, makes.

use super::clients::{no_rule, rate};
use crate::stress::causes::Cause;
use crate::stress::judge::Seen;
use crate::stress::scenario::{Between, Ground, Press, Scenario, hot, with_one_timers};
use crate::words;
use plan::site::{Lifetime, Size};
use plan::{Arrivals, Pace};
use std::time::Duration;

/// Requests per second for objects that the cache does not have.
const MISSES: f64 = 50.0;
/// Fetches of one object per second that a stampede may cause.
const FETCHES: f64 = 3.0;
/// Users of a stampede.
const CROWD: u32 = 200;
/// Users of one whose object is for each of them alone.
const PRIVATE_CROWD: u32 = 50;
/// Time that the origin takes for an answer to it.
const STAMPEDE_DELAY: Duration = Duration::from_millis(500);

/// All of them.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "stampede",
        about: "200 users want one object that lives a second, and whose answer takes 500 ms",
        fails_if: "the origin is asked for it more than 3 times per second",
        causes: &[Cause::Collapsing],
        of_caches: false,
        lacks: Ground::suits,
        press: stampede,
        rule: fetches,
    },
    Scenario {
        name: "private-stampede",
        about: "50 users want one object that is for each of them alone, and whose answer takes 500 ms",
        fails_if: "the answers take more than 1 s, so that users wait for each other",
        causes: &[Cause::Collapsing, Cause::Threads],
        of_caches: false,
        lacks: Ground::suits,
        press: private_stampede,
        rule: serialised,
    },
    Scenario {
        name: "single-use-connections",
        about: "the origin closes each connection behind its answer, to a tenth of what the target carries, all of it misses",
        fails_if: "",
        causes: &[Cause::Ports, Cause::Cpu],
        of_caches: true,
        lacks: Ground::suits,
        press: single_use,
        rule: no_rule,
    },
    Scenario {
        name: "slow-origin",
        about: "answers of the origin come 2 s late, to 50 misses per second beside hits",
        fails_if: "",
        causes: &[Cause::Threads, Cause::Origin],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| misses().behind(Between::Delayed(Duration::from_secs(2))),
        rule: no_rule,
    },
    Scenario {
        name: "stalled-origin",
        about: "answers of the origin stop after their first bytes, to 50 misses per second",
        fails_if: "",
        causes: &[Cause::Collapsing, Cause::Origin, Cause::Descriptors],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| misses().behind(Between::Stalled),
        rule: no_rule,
    },
    Scenario {
        name: "refusing-origin",
        about: "the origin resets each connection, to 50 misses per second",
        fails_if: "",
        causes: &[Cause::Origin],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| misses().behind(Between::Refused),
        rule: no_rule,
    },
    Scenario {
        name: "flapping-origin",
        about: "the origin is there for 2 s and refuses for 2 s, in turn, to 50 misses per second",
        fails_if: "",
        causes: &[Cause::Origin],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| misses().behind(Between::Flapping(Duration::from_secs(2))),
        rule: no_rule,
    },
    Scenario {
        name: "cutting-origin",
        about: "the origin closes each connection within its answer, to 50 misses per second",
        fails_if: "",
        causes: &[Cause::Collapsing, Cause::Origin],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| misses().behind(Between::Cut),
        rule: no_rule,
    },
    Scenario {
        name: "failing-origin",
        about: "a fifth of the origin's answers are errors, and a tenth are cut, to 100 requests per second for 200 objects",
        fails_if: "",
        causes: &[Cause::Collapsing, Cause::Origin],
        of_caches: true,
        lacks: Ground::suits,
        press: failing,
        rule: no_rule,
    },
    Scenario {
        name: "dripping-origin",
        about: "answers of the origin come 200 bytes at a time, 4 kB per second, to 50 misses per second",
        fails_if: "",
        causes: &[Cause::Threads, Cause::Origin, Cause::Descriptors],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| misses().behind(Between::Dripping),
        rule: no_rule,
    },
    Scenario {
        name: "lying-origin",
        about: "answers of the origin lie about their end: in turn another answer follows that nobody asked for, the last 1000 bytes do not come, a chunk has no size, or there are two lengths; to 50 requests per second",
        fails_if: "",
        causes: &[Cause::Framing, Cause::Collapsing],
        of_caches: true,
        lacks: Ground::suits,
        press: |_| {
            let pace = rate(MISSES, Arrivals::Poisson);
            Press::objects(with_one_timers(200, 0.5), pace).sized(Size::Fixed(20_000)).behind(Between::Lying)
        },
        rule: no_rule,
    },
];

/// Requests for objects that nobody has asked for before.
pub(super) fn misses() -> Press {
    Press::objects(with_one_timers(1, 1.0), rate(MISSES, Arrivals::Poisson)).sized(Size::Fixed(20_000))
}

/// The delay is there all the time; it is the bystander's, too, once its objects are a second old.
fn stampede(_: &Ground) -> Press {
    let mut press = Press::objects(hot(1), Pace::Users(CROWD)).sized(Size::Fixed(1_000));
    press.site.lifetime = Lifetime::Fixed { max_age: Duration::from_secs(1) };
    press.origin.delay = plan::Delay::Fixed { delay: STAMPEDE_DELAY };
    press
}

fn private_stampede(_: &Ground) -> Press {
    let mut press = Press::objects(hot(1), Pace::Users(PRIVATE_CROWD)).sized(Size::Fixed(1_000));
    press.site.private = 1.0;
    press.origin.delay = plan::Delay::Fixed { delay: STAMPEDE_DELAY };
    press
}

/// Answers that take twice as long as the origin does have waited for other answers.
fn serialised(seen: &Seen) -> Option<String> {
    // This machine may have been late with them.
    let p99_ms = seen.pressed.p99_ms? - seen.during.late_ms.unwrap_or(0.0);
    let allowed = 2.0 * STAMPEDE_DELAY.as_secs_f64() * 1e3;
    (p99_ms > allowed).then(|| {
        let [took, each] = [p99_ms, allowed / 2.0].map(|ms| words::time(ms / 1e3));
        format!("answers took {took} (p99), and the origin {each} for each: they waited for each other")
    })
}

/// The origin has closed the connection before another request could use it.
fn single_use(ground: &Ground) -> Press {
    let pace = rate(ground.rate(0.1), Arrivals::Poisson);
    let mut press = Press::objects(with_one_timers(1, 1.0), pace).sized(Size::Fixed(1_000));
    press.origin.requests_per_connection = Some(1);
    press
}

/// The origin is asked once for the pressure's own, each time that it is not collapsed with another request.
fn fetches(seen: &Seen) -> Option<String> {
    let counts = &seen.pressed.counts;
    let fetched = (counts.misses + counts.revalidated) as f64 / seen.pressed.seconds.max(1.0);
    (fetched > FETCHES).then(|| format!("the origin was asked for one object {fetched:.1} times per second"))
}

fn failing(_: &Ground) -> Press {
    let mut press = Press::objects(hot(200), rate(100.0, Arrivals::Poisson)).sized(Size::Fixed(20_000));
    // Each is asked for again and again.
    press.site.lifetime = Lifetime::Fixed { max_age: Duration::from_secs(3_600) };
    press.origin.errors = 0.2;
    press.origin.aborts = 0.1;
    press
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Pressed;

    #[test]
    fn answers_that_wait_for_each_other_are_serialised() {
        let mut seen =
            Seen { pressed: Pressed { p99_ms: Some(990.0), ..Pressed::default() }, ..Seen::default() };
        assert_eq!(serialised(&seen), None);
        seen.pressed.p99_ms = Some(1_010.0);
        assert!(serialised(&seen).is_some_and(|why| why.contains("waited for each other")));
        seen.during.late_ms = Some(20.0);
        assert_eq!(serialised(&seen), None);
    }

    #[test]
    fn a_stampede_is_counted_in_fetches_per_second() {
        let mut seen = Seen { pressed: Pressed { seconds: 30.0, ..Pressed::default() }, ..Seen::default() };
        seen.pressed.counts.misses = 60;
        seen.pressed.counts.revalidated = 30;
        assert_eq!(fetches(&seen), None);
        seen.pressed.counts.misses = 90;
        assert!(fetches(&seen).is_some_and(|why| why.contains("4.0 times")));
    }
}
