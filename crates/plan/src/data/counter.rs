//! Counters: which numbers there are, and which of them comes when.

use super::source::Each;
use serde::{Deserialize, Serialize};

/// Whole numbers from `start`, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// The first value.
    pub start: i64,
    /// Added each time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub step: i64,
    /// No value passes it; `None`: without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<i64>,
    /// Digits at least, with zeros in front; at most 40.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub width: u8,
    /// How it goes on after the last value.
    #[serde(default, skip_serializing_if = "Wrap::is_usual")]
    pub wrap: Wrap,
    /// Where it goes on.
    #[serde(default, skip_serializing_if = "Each::is_request")]
    pub each: Each,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter { start: 0, step: 1, end: None, width: 0, wrap: Wrap::Restart, each: Each::Request }
    }
}

fn is_zero(width: &u8) -> bool {
    *width == 0
}

fn one() -> i64 {
    1
}

fn is_one(step: &i64) -> bool {
    *step == 1
}

/// How a counter goes on after its last value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Wrap {
    /// From `start` again.
    #[default]
    Restart,
    /// As wrktcp counts (spec/wrk-family.md section 1.8): from 0, by `step` before each use; what is greater than `end` loses
    /// the difference of `end` and `start`, and what is less than `start` becomes `start`. So `start` comes once at most.
    Wrktcp,
}

impl Wrap {
    fn is_usual(&self) -> bool {
        *self == Wrap::Restart
    }
}

impl Counter {
    /// Why it cannot be; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        let Counter { start, end, step, .. } = self;
        match (self.wrap, *end) {
            _ if *step == 0 => Some("a counter has step 0: it would not count".to_owned()),
            _ if self.width > 40 => Some("a counter is more than 40 digits wide: give 0 to 40".to_owned()),
            (Wrap::Wrktcp, None) => Some("a counter that wraps as wrktcp's has an end".to_owned()),
            (Wrap::Wrktcp, Some(end)) if *start > end => {
                Some(format!("a counter starts at {start}, which is greater than {end}"))
            }
            (Wrap::Restart, Some(end)) if (end < *start) != (*step < 0) && end != *start => {
                Some(format!("a counter from {start} by {step} never comes to {end}"))
            }
            _ => None,
        }
    }
}

/// A counter, ready to be asked for any of its values.
#[derive(Debug, Clone, Copy)]
pub struct Counting {
    /// The first value, and by what it changes so many times before the rest follows.
    first: i64,
    times: u64,
    by: i128,
    then: Then,
}

/// The values that follow, counted from the last of the first values as 0.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// `base + scale * ((offset + n * by) mod values)`.
    Around { base: i64, scale: i64, offset: u64, by: u64, values: u64 },
    /// Down by `by`, and never below `floor`.
    Down { from: i128, by: i128, floor: i128 },
}

impl Counting {
    /// Gets ready; what [`Counter::violation`] refuses stays at its start.
    pub fn new(counter: &Counter) -> Counting {
        let Counter { start, step, .. } = *counter;
        let end = counter.end.unwrap_or(if step < 0 { i64::MIN } else { i64::MAX });
        let around = |scale, by, values| Counting {
            first: start,
            times: 0,
            by: 0,
            then: Then::Around { base: start, scale, offset: 0, by, values },
        };
        match counter.wrap {
            _ if counter.violation().is_some() => around(0, 0, 1),
            Wrap::Wrktcp => Counting::of_wrktcp(start.into(), end.into(), step.into()),
            // Of all numbers there are, the last would need a 65th bit; nobody counts so far.
            Wrap::Restart => around(step, 1, (end.abs_diff(start) / step.unsigned_abs()).saturating_add(1)),
        }
    }

    /// The old order: what is greater than the end comes down to the range, step by step; within, it is arithmetic modulo
    /// `end - start`, and downwards it stays at the start. A step longer than the range leads out of it for ever.
    fn of_wrktcp(start: i128, end: i128, step: i128) -> Counting {
        let span = end - start;
        let first = if step > end { step - span } else { step }.max(start);
        let by = step - span;
        let above = if step > 0 { first - end } else { first + step - end };
        let times = match above {
            _ if step > span => u64::MAX,
            1.. if by == 0 => u64::MAX,
            1.. => ((above - by - 1) / -by) as u64,
            _ => 0,
        };
        let from = first.saturating_add(i128::from(times).saturating_mul(by));
        let then = if (1..=span).contains(&step) {
            let offset = (from - start - 1).rem_euclid(span) as u64;
            let by = (step % span) as u64;
            let values = span as u64;
            Then::Around { base: (start + 1) as i64, scale: 1, offset, by, values }
        } else {
            Then::Down { from, by: step, floor: start }
        };
        Counting { first: clamp(first), times, by, then }
    }

    /// How many different values there are before the first comes again, where they come around.
    pub fn round(&self) -> Option<u64> {
        if let Then::Around { values, .. } = self.then
            && self.times == 0
        {
            return Some(values);
        }
        None
    }

    /// The value that comes as number `nth`, from 0.
    #[inline]
    pub fn value(&self, nth: u64) -> i64 {
        if nth <= self.times {
            return if nth == 0 { self.first } else { clamp(along(self.first.into(), nth, self.by)) };
        }
        let nth = nth - self.times;
        match self.then {
            Then::Around { base, scale, offset, by, values } => {
                let around = add(product(nth % values, by, values), offset, values);
                // What is right fits, so that what overflows on the way does not matter.
                base.wrapping_add(scale.wrapping_mul(around as i64))
            }
            Then::Down { from, by, floor } => clamp(along(from, nth, by).max(floor)),
        }
    }
}

fn along(from: i128, times: u64, by: i128) -> i128 {
    from.saturating_add(i128::from(times).saturating_mul(by))
}

fn clamp(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// `a * b mod values`, of an `a` that is less than `values`.
fn product(a: u64, b: u64, values: u64) -> u64 {
    match a.checked_mul(b) {
        _ if b == 1 => a,
        Some(product) => product % values,
        None => (u128::from(a) * u128::from(b) % u128::from(values)) as u64,
    }
}

/// `a + b mod values`, of numbers that are less than `values`.
fn add(a: u64, b: u64, values: u64) -> u64 {
    let (sum, beyond) = a.overflowing_add(b);
    if beyond || sum >= values { sum.wrapping_sub(values) } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counter(start: i64, end: i64, step: i64, wrap: Wrap) -> Counter {
        Counter { start, end: Some(end), step, wrap, ..Counter::default() }
    }

    fn values(start: i64, end: i64, step: i64, wrap: Wrap, count: u64) -> Vec<i64> {
        let counting = Counting::new(&counter(start, end, step, wrap));
        (0..count).map(|nth| counting.value(nth)).collect()
    }

    /// The old rule, step by step.
    fn simulated(start: i64, end: i64, step: i64, count: u64) -> Vec<i64> {
        let mut now = 0;
        let next = |_| {
            now += step;
            if now > end {
                now = now - end + start;
            }
            if now < start {
                now = start;
            }
            now
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn counters_begin_again() {
        assert_eq!(values(1, 5, 1, Wrap::Restart, 7), [1, 2, 3, 4, 5, 1, 2]);
        assert_eq!(values(1, 10, 3, Wrap::Restart, 6), [1, 4, 7, 10, 1, 4]);
        assert_eq!(values(-3, -3, 1, Wrap::Restart, 3), [-3, -3, -3]);
        assert_eq!(values(5, 1, -2, Wrap::Restart, 5), [5, 3, 1, 5, 3]);
        let whole = Counting::new(&counter(i64::MIN, i64::MAX, 1, Wrap::Restart));
        assert_eq!(
            [whole.value(0), whole.value(1 << 63), whole.value(u64::MAX - 1)],
            [i64::MIN, 0, i64::MAX - 1]
        );
    }

    #[test]
    fn the_old_order_is_as_it_was_seen() {
        for (start, end, step, seen) in [
            (1, 5, 1, [1, 2, 3, 4, 5, 2, 3, 4, 5, 2]),
            (1, 10, 3, [3, 6, 9, 3, 6, 9, 3, 6, 9, 3]),
            (100, 110, 2, [100, 102, 104, 106, 108, 110, 102, 104, 106, 108]),
            (1, 9, -1, [1; 10]),
            (5, 5, 1, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]),
        ] {
            assert_eq!(values(start, end, step, Wrap::Wrktcp, 10), seen, "{start},{end},{step}");
        }
    }

    #[test]
    fn numbers_at_the_edges_do_not_overflow() {
        for step in [i64::MIN, -1, 1, 2, i64::MAX] {
            for (start, end) in [(i64::MIN, i64::MAX), (i64::MAX, i64::MAX), (i64::MIN, i64::MIN), (0, 1)] {
                for order in [Wrap::Restart, Wrap::Wrktcp] {
                    let counting = Counting::new(&counter(start, end, step, order));
                    let _ = [0, 1, u64::MAX].map(|nth| counting.value(nth));
                }
            }
        }
    }

    #[test]
    fn what_does_not_count_is_refused() {
        for (start, end, step, order) in [
            (1, 5, 0, Wrap::Wrktcp),
            (5, 1, 1, Wrap::Restart),
            (5, 1, -1, Wrap::Wrktcp),
            (1, 5, -1, Wrap::Restart),
        ] {
            assert!(counter(start, end, step, order).violation().is_some(), "{start},{end},{step}");
        }
        assert_eq!(counter(1, 5, -1, Wrap::Wrktcp).violation(), None);
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_old_rule(start in -60i64..60, span in 0i64..60, step in -80i64..80) {
            prop_assume!(step != 0);
            let old = simulated(start, start + span, step, 300);
            let end = start + span;
            prop_assert_eq!(values(start, end, step, Wrap::Wrktcp, 300), old);
        }

        #[test]
        fn a_restart_is_the_range_again_and_again(start in -60i64..60, span in 0i64..60, step in 1i64..80) {
            let range: Vec<i64> = (start..=start + span).step_by(step as usize).collect();
            let wanted: Vec<i64> = range.iter().copied().cycle().take(200).collect();
            prop_assert_eq!(values(start, start + span, step, Wrap::Restart, 200), wanted);
        }
    }
}
