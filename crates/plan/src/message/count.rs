//! Counters that go on at each place where they stand, not with each request: a message that holds one twice takes two of
//! its values.

use serde::{Deserialize, Serialize};

/// Numbers from `start` to `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The first value.
    pub start: i64,
    /// No value passes it.
    pub end: i64,
    /// What is added each time.
    pub step: i64,
    /// How it goes on after the last value.
    #[serde(default, skip_serializing_if = "CountOrder::is_usual")]
    pub order: CountOrder,
}

/// How a counter goes on after its last value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum CountOrder {
    /// From `start` again.
    #[default]
    Restart,
    /// As wrktcp counts (spec/wrk-family.md section 1.8): from 0, by `step` before each use; what is greater than `end` loses
    /// the difference of `end` and `start`, and what is less than `start` becomes `start`. So `start` comes once at most.
    Wrktcp,
}

impl CountOrder {
    fn is_usual(&self) -> bool {
        *self == CountOrder::Restart
    }
}

impl Count {
    /// What no counter can be, in words; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        let Count { start, end, step, order } = self;
        match order {
            _ if *step == 0 => Some("a counter has step 0: it would not count".to_owned()),
            _ if start > end => Some(format!("a counter starts at {start}, which is greater than {end}")),
            CountOrder::Restart if *step < 0 => {
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

/// What follows, counted from the last of the first values as 0.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// `base + scale * ((offset + n * by) mod values)`.
    Around { base: i64, scale: i64, offset: u64, by: u64, values: u64 },
    /// Down by `by`, and never below `floor`.
    Down { from: i128, by: i128, floor: i128 },
}

impl Counting {
    /// Gets ready; what [`Count::violation`] refuses stays at its start.
    pub fn new(count: &Count) -> Counting {
        let Count { start, end, step, order } = *count;
        let around = |scale, by, values| Counting {
            first: start,
            times: 0,
            by: 0,
            then: Then::Around { base: start, scale, offset: 0, by, values },
        };
        match order {
            _ if count.violation().is_some() => around(0, 0, 1),
            CountOrder::Wrktcp => Counting::of_wrktcp(start.into(), end.into(), step.into()),
            CountOrder::Restart => {
                let span = end.wrapping_sub(start) as u64;
                // Of all numbers there are, the last would need a 65th bit; nobody counts so far.
                around(step, 1, (span / step as u64).saturating_add(1))
            }
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
            let (by, values) = ((step % span) as u64, span as u64);
            Then::Around { base: (start + 1) as i64, scale: 1, offset, by, values }
        } else {
            Then::Down { from, by: step, floor: start }
        };
        Counting { first: clamp(first), times, by, then }
    }

    /// Its value at a place, counted from 0.
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

    fn values(start: i64, end: i64, step: i64, order: CountOrder, count: u64) -> Vec<i64> {
        let counting = Counting::new(&Count { start, end, step, order });
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
        assert_eq!(values(1, 5, 1, CountOrder::Restart, 7), [1, 2, 3, 4, 5, 1, 2]);
        assert_eq!(values(1, 10, 3, CountOrder::Restart, 6), [1, 4, 7, 10, 1, 4]);
        assert_eq!(values(-3, -3, 1, CountOrder::Restart, 3), [-3, -3, -3]);
        let whole = Counting::new(&Count { start: i64::MIN, end: i64::MAX, step: 1, ..one() });
        assert_eq!(
            [whole.value(0), whole.value(1 << 63), whole.value(u64::MAX - 1)],
            [i64::MIN, 0, i64::MAX - 1]
        );
    }

    fn one() -> Count {
        Count { start: 1, end: 1, step: 1, order: CountOrder::Restart }
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
            assert_eq!(values(start, end, step, CountOrder::Wrktcp, 10), seen, "{start},{end},{step}");
        }
    }

    #[test]
    fn numbers_at_the_edges_do_not_overflow() {
        for step in [i64::MIN, -1, 1, 2, i64::MAX] {
            for (start, end) in [(i64::MIN, i64::MAX), (i64::MAX, i64::MAX), (i64::MIN, i64::MIN), (0, 1)] {
                for order in [CountOrder::Restart, CountOrder::Wrktcp] {
                    let counting = Counting::new(&Count { start, end, step, order });
                    let _ = [0, 1, u64::MAX].map(|nth| counting.value(nth));
                }
            }
        }
    }

    #[test]
    fn what_does_not_count_is_refused() {
        for (start, end, step, order) in [
            (1, 5, 0, CountOrder::Wrktcp),
            (5, 1, 1, CountOrder::Restart),
            (5, 1, -1, CountOrder::Wrktcp),
            (1, 5, -1, CountOrder::Restart),
        ] {
            assert!(Count { start, end, step, order }.violation().is_some(), "{start},{end},{step}");
        }
        assert_eq!(Count { start: 1, end: 5, step: -1, order: CountOrder::Wrktcp }.violation(), None);
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_old_rule(start in -60i64..60, span in 0i64..60, step in -80i64..80) {
            prop_assume!(step != 0);
            let (old, end) = (simulated(start, start + span, step, 300), start + span);
            prop_assert_eq!(values(start, end, step, CountOrder::Wrktcp, 300), old);
        }

        #[test]
        fn a_restart_is_the_range_again_and_again(start in -60i64..60, span in 0i64..60, step in 1i64..80) {
            let range: Vec<i64> = (start..=start + span).step_by(step as usize).collect();
            let wanted: Vec<i64> = range.iter().copied().cycle().take(200).collect();
            prop_assert_eq!(values(start, start + span, step, CountOrder::Restart, 200), wanted);
        }
    }
}
