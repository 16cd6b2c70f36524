//! Moments that users wait for, so that what follows comes no faster.

use super::Around;
use crate::pace::Schedule;
use plan::{Arrivals, Curve, Open, Part, Rhythm, RhythmHow, Scope};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A rhythm, for one worker.
pub(crate) struct RhythmWork {
    gap: Duration,
    how: How,
    of: Scope,
    /// Workers, among whom the moments that users share are divided.
    part: Part,
    /// Where a user's own last moment is kept, in microseconds since the beginning, plus one.
    counter: usize,
    /// The last moment of all users of the worker.
    last: Cell<Option<Instant>>,
}

enum How {
    Gap,
    Divided,
    Scheduled(Box<RefCell<Schedule>>),
}

impl RhythmWork {
    pub fn new(rhythm: &Rhythm, counter: usize, part: Part, seed: u64) -> RhythmWork {
        let per_second = rhythm.per_second.unwrap_or(0.0);
        let arrivals = if rhythm.how == RhythmHow::Poisson { Arrivals::Poisson } else { Arrivals::Even };
        let curve = match rhythm.stages.as_slice() {
            [] => Curve::of(&[], per_second),
            stages => Curve::of(stages, 0.0),
        };
        let scheduled = !rhythm.stages.is_empty() || rhythm.how == RhythmHow::Poisson;
        let open = Open { curve, arrivals, in_flight: u32::MAX, connections: false, moments: None };
        let how = match rhythm.how {
            _ if scheduled => How::Scheduled(Box::new(RefCell::new(Schedule::new(open, part, seed)))),
            RhythmHow::Divided => How::Divided,
            RhythmHow::Gap | RhythmHow::Poisson => How::Gap,
        };
        let gap = Duration::from_secs_f64((1.0 / per_second.max(1e-9)).min(1e9));
        RhythmWork { gap, how, of: rhythm.of, part, counter, last: Cell::new(None) }
    }

    /// The next moment; `None` once the rhythm is over.
    pub fn due(&self, around: &Around, counters: &mut [u64]) -> Option<Instant> {
        match &self.how {
            How::Scheduled(schedule) => schedule.borrow_mut().next().map(|due| around.opens + due),
            How::Divided => {
                let users = if self.of == Scope::User { 1 } else { around.users.max(1) };
                Some(self.own(
                    self.gap.saturating_mul(users.min(u64::from(u32::MAX)) as u32),
                    around,
                    counters,
                ))
            }
            How::Gap if self.of == Scope::User => Some(self.own(self.gap, around, counters)),
            How::Gap => {
                // Workers take turns: each has every so-many-th moment, the first of them one after the other.
                let gap = self.gap.saturating_mul(self.part.of.max(1));
                let first = around.opens + self.gap.saturating_mul(self.part.index);
                let due = self.last.get().map_or(first, |last| last + gap).max(around.now);
                self.last.set(Some(due));
                Some(due)
            }
        }
    }

    /// A moment so long after the user's last one, and not in the past. The first is now.
    fn own(&self, gap: Duration, around: &Around, counters: &mut [u64]) -> Instant {
        let last = counters[self.counter].checked_sub(1);
        let due = last.map_or(around.now, |last| around.opens + Duration::from_micros(last) + gap);
        let due = due.max(around.now);
        counters[self.counter] = due.saturating_duration_since(around.opens).as_micros() as u64 + 1;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::data::Moment;
    use proptest::prelude::*;

    fn around(opens: Instant, now: Duration, users: u64) -> Around {
        Around { user: 0, worker: 0, users, opens, now: opens + now, moment: Moment::default() }
    }

    fn rhythm(per_second: f64, of: Scope, how: RhythmHow) -> Rhythm {
        Rhythm { per_second: Some(per_second), stages: Vec::new(), of, how }
    }

    /// The moments of somebody who comes so long after each of them.
    fn moments(work: &RhythmWork, users: u64, waits: &[u64]) -> Vec<Duration> {
        let opens = Instant::now();
        let mut now = Duration::ZERO;
        let mut counters = [0];
        let next = |wait: &u64| {
            now += Duration::from_millis(*wait);
            now = work.due(&around(opens, now, users), &mut counters).unwrap() - opens;
            now
        };
        waits.iter().map(next).collect()
    }

    /// Returns the targets of JMeter's Constant Throughput Timer: the target before plus the gap, or now where that has passed.
    fn targets(gap_ms: u64, waits: &[u64]) -> Vec<u64> {
        let mut now = 0;
        let mut target = None;
        let next = |wait: &u64| {
            now += wait;
            now = target.map_or(now, |before: u64| now.max(before + gap_ms));
            target = Some(now);
            now
        };
        waits.iter().map(next).collect()
    }

    proptest! {
        /// 60,000 by the throughput per minute is the gap, times the users where each of them has a share of it.
        #[test]
        fn constant_throughput_is_jmeters(
            gap_ms in 1u64..5_000,
            users in 1u64..200,
            waits in prop::collection::vec(0u64..20_000, 1..40),
        ) {
            for (of, how, shared_by) in [
                (Scope::User, RhythmHow::Gap, 1),
                (Scope::All, RhythmHow::Divided, users),
                (Scope::Group, RhythmHow::Divided, users),
                (Scope::All, RhythmHow::Gap, 1),
                (Scope::Group, RhythmHow::Gap, 1),
            ] {
                let work = RhythmWork::new(&rhythm(1_000.0 / gap_ms as f64, of, how), 0, Part::WHOLE, 7);
                let wanted = targets(gap_ms * shared_by, &waits);
                for (due, wanted) in moments(&work, users, &waits).into_iter().zip(wanted) {
                    // Each moment is kept to the microsecond.
                    let off = due.abs_diff(Duration::from_millis(wanted));
                    prop_assert!(off <= Duration::from_micros(waits.len() as u64), "{of:?} {how:?}: {off:?}");
                }
            }
        }

        /// However many workers share a rhythm and however late their users come, there are no more than it says.
        #[test]
        fn shared_throughput_is_never_exceeded(
            gap_ms in 1u64..500,
            waits in prop::collection::vec(prop::collection::vec(0u64..2_000, 1..40), 1..5),
        ) {
            let parts = waits.len() as u32;
            let of_part = |part: Part| {
                let said = rhythm(1_000.0 / gap_ms as f64, Scope::All, RhythmHow::Gap);
                moments(&RhythmWork::new(&said, 0, part, 7), 1, &waits[part.index as usize])
            };
            let mut due: Vec<f64> = Part::all(parts).flat_map(of_part).map(|at| at.as_secs_f64() * 1e3).collect();
            due.sort_by(f64::total_cmp);
            for (first, from) in due.iter().enumerate() {
                let most = |to: &f64| (to - from) / gap_ms as f64 + f64::from(parts) + 0.01;
                let over = due.iter().enumerate().skip(first).find(|(nth, to)| (nth - first) as f64 > most(to));
                prop_assert_eq!(over, None, "from {} ms on", from);
            }
        }

        /// The moments of a Precise Throughput Timer do not know of users: whoever is late goes at once. There are as many as
        /// throughput and time make, within six deviations.
        #[test]
        fn precise_throughput_is_kept_by_late_users(
            per_second in 1u32..200,
            parts in 1u32..5,
            late_ms in 0u64..60_000,
            seed in any::<u64>(),
        ) {
            let lasts = Duration::from_secs(20);
            let said = rhythm(f64::from(per_second), Scope::Group, RhythmHow::Poisson);
            let of_part = |part: Part, now: Duration| {
                let work = RhythmWork::new(&said, 0, part, seed ^ u64::from(part.index));
                let opens = Instant::now();
                let due = std::iter::from_fn(|| Some(work.due(&around(opens, now, 1), &mut [0])? - opens));
                due.take_while(|due| *due < lasts).collect::<Vec<_>>()
            };
            let mut count = 0;
            for part in Part::all(parts) {
                let due = of_part(part, Duration::ZERO);
                prop_assert!(due.is_sorted());
                prop_assert_eq!(&due, &of_part(part, Duration::from_millis(late_ms)));
                count += due.len();
            }
            let wanted = f64::from(per_second) * lasts.as_secs_f64();
            prop_assert!((count as f64 - wanted).abs() <= 6.0 * wanted.sqrt() + 6.0, "{count}, not {wanted}");
        }
    }
}
