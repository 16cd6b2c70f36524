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
        let open = Open { curve, arrivals, in_flight: u32::MAX, connections: false };
        let how = match rhythm.how {
            _ if scheduled => How::Scheduled(Box::new(RefCell::new(Schedule::new(open, part, seed)))),
            RhythmHow::Divided => How::Divided,
            _ => How::Gap,
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
