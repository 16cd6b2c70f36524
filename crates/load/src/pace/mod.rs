//! When requests are due: a schedule is a pure function of the plan and the seed.

mod phase;
mod think;

pub(crate) use phase::Phase;
pub(crate) use think::Think;

use plan::draw::{fraction, hash};
use plan::{Arrivals, Open, Part, Walks};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The moments at which arrivals of one worker are due, since the start of the phase. Parts take turns under the curve of
/// the whole load.
#[derive(Debug, Clone)]
pub struct Schedule {
    open: Open,
    part: Part,
    seed: u64,
    next: u64,
    /// Sum of the gaps drawn so far, as if this part had one arrival per second (Poisson).
    drawn: f64,
    /// `drawn` before the last arrival.
    drawn_before: f64,
}

impl Schedule {
    /// The schedule of one part of an open pace.
    pub fn new(open: Open, part: Part, seed: u64) -> Schedule {
        Schedule { open, part, seed, next: 0, drawn: 0.0, drawn_before: 0.0 }
    }

    /// Changes the rate from a moment of the phase on. What was due before stays so.
    pub fn change(&mut self, at: Duration, per_second: f64) {
        self.open.curve = self.open.curve.changed(at.as_secs_f64(), per_second);
    }

    /// The arrival that was told last, once, is told again by the next call.
    pub fn take_back(&mut self) {
        self.next = self.next.saturating_sub(1);
        self.drawn = self.drawn_before;
    }

    /// Passes over what is due before a moment since the start of the phase. Returns how many of this part have passed then.
    pub fn pass_until(&mut self, moment: Duration) -> u64 {
        let passed = self.due_before(moment);
        if self.open.arrivals == Arrivals::Poisson {
            // Each gap is drawn behind the one before.
            self.by_ref().take(passed as usize).for_each(|_| {});
        } else {
            self.next += passed;
        }
        self.next
    }

    /// True if each number has a moment of its own, which passes with it.
    pub fn is_recorded(&self) -> bool {
        self.open.moments.is_some()
    }

    /// True if the arrival that was told last is not to be sent any more: of a live copy, it was due too long ago. It is counted then.
    pub fn passes_by(&self, now: Instant) -> bool {
        let moments = self.open.moments.as_ref();
        moments.is_some_and(|moments| moments.passes_by(self.part.number(self.next.saturating_sub(1)), now))
    }

    /// The phase begins.
    pub fn open(&self, at: Instant) {
        self.open.moments.iter().for_each(|moments| moments.open(at));
    }

    /// True if arrivals become known one after the other, as those of a live copy.
    pub fn is_live(&self) -> bool {
        self.open.moments.as_ref().is_some_and(plan::Moments::is_live)
    }

    /// True if more of them may come.
    pub fn may_come(&self) -> bool {
        self.open.moments.as_ref().is_some_and(plan::Moments::may_come)
    }

    /// When a number of arrivals, of all parts, is reached.
    fn moment_of(&self, number: u64) -> Option<f64> {
        self.open.curve.moment_of(number as f64)
    }

    /// Number of of those that are left are due before a moment since the start of the phase.
    pub fn due_before(&self, end: Duration) -> u64 {
        let mut rest = self.clone();
        if self.open.arrivals == Arrivals::Poisson {
            return rest.by_ref().take_while(|at| *at < end).count() as u64;
        }
        // Moments never go back, so the first that is not due is found by halving.
        let mut is_due = |nth: u64| {
            rest.next = nth;
            rest.next().is_some_and(|at| at < end)
        };
        let mut due = self.next;
        let mut step = 1u64;
        while is_due(due + step - 1) {
            due += step;
            step *= 2;
        }
        while step > 0 {
            if is_due(due + step - 1) {
                due += step;
            }
            step /= 2;
        }
        due - self.next
    }

    /// An exponential gap with a mean of 1.
    fn gap(&self, nth: u64) -> f64 {
        // 1 - u lies in (0, 1], so the logarithm is finite.
        -(1.0 - fraction(hash(self.seed, nth))).ln()
    }
}

/// When requests of a closed pace with a timetable are due.
#[derive(Debug, Clone)]
pub(crate) enum Timetable {
    /// Evenly, users in turn.
    Even {
        /// When the first is due.
        began: Instant,
        /// Users of all workers.
        users: u64,
        /// Requests per second, over all users.
        per_second: f64,
    },
    /// At moments of a list.
    Listed {
        /// When the phase began.
        began: Instant,
        /// Users that take the turns of one list one after the other.
        share: u64,
        /// Parts among which users take turns.
        parts: u64,
        /// The moments.
        at: Arc<[Duration]>,
    },
    /// By users of a recording, which pause between an answer and the next request.
    Walked {
        /// When the phase began.
        began: Instant,
        /// Their pauses.
        walks: Walks,
    },
}

impl Timetable {
    /// When a user's turn is due, both counted from 0; of one that there is not, when the last was. `None`: that depends on the answer
    /// before it ([`Timetable::pause`]).
    pub fn due(&self, user: u64, turn: u64) -> Option<Instant> {
        match self {
            Timetable::Even { began, users, per_second } => {
                let number = turn.saturating_mul(*users).saturating_add(user);
                Some(*began + Duration::from_secs_f64((number as f64 / per_second).min(1e9)))
            }
            Timetable::Listed { began, at, .. } => {
                let line = self.line(user, turn).unwrap_or_default() as usize;
                Some(*began + at.get(line).or(at.last()).copied().unwrap_or_default())
            }
            Timetable::Walked { began, walks } => {
                walks.pause(user, turn).filter(|_| turn == 0).map(|begins| *began + begins)
            }
        }
    }

    /// The pause between an answer and a user's turn, where that is what the timetable tells.
    pub fn pause(&self, user: u64, turn: u64) -> Option<Duration> {
        match self {
            Timetable::Even { .. } | Timetable::Listed { .. } => None,
            Timetable::Walked { walks, .. } => walks.pause(user, turn).filter(|_| turn > 0),
        }
    }

    /// The place of a user's turn in a list of moments, which may be behind its end; `None`: there is no list.
    pub fn line(&self, user: u64, turn: u64) -> Option<u64> {
        match self {
            Timetable::Even { .. } => None,
            Timetable::Listed { share, parts, .. } => {
                Some(turn.saturating_mul(*share) + user / parts % share)
            }
            Timetable::Walked { walks, .. } => walks.place(user, turn),
        }
    }

    /// True if a user has no such turn.
    pub fn is_over(&self, user: u64, turn: u64) -> bool {
        match self {
            Timetable::Even { .. } => false,
            Timetable::Listed { at, .. } => self.line(user, turn).is_some_and(|line| line >= at.len() as u64),
            Timetable::Walked { walks, .. } => walks.place(user, turn).is_none(),
        }
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    /// The moment of the next arrival; ends only where the rate comes to nothing.
    fn next(&mut self) -> Option<Duration> {
        let nth = self.next;
        self.next += 1;
        let number = self.part.number(nth);
        if let Some(moments) = &self.open.moments {
            return moments.get(number);
        }
        let seconds = match self.open.arrivals {
            Arrivals::Even => self.moment_of(number)?,
            // Parts that are each a Poisson process are one together, and a process at a rate of 1, drawn out along the
            // curve, is one at the curve's rate.
            Arrivals::Poisson => {
                self.drawn_before = self.drawn;
                self.drawn += self.gap(nth);
                self.open.curve.moment_of(self.drawn * f64::from(self.part.of))?
            }
            // All of a second's at once, in the middle: at its end they would fall into either interval. The little bit
            // keeps a whole number of seconds whole.
            Arrivals::EachSecond => (self.moment_of(number)? + 1e-9).floor() + 0.5,
            // Arrivals stay at their places and are moved by up to half of what a gap may differ, so nothing adds up.
            Arrivals::Jitter(percent) => {
                let moved = (fraction(hash(self.seed, nth)) - 0.5) * f64::from(percent) / 100.0;
                self.open.curve.moment_of((number as f64 + moved).max(0.0))?
            }
            Arrivals::Bursts(size) => {
                let size = u64::from(size.max(1));
                self.moment_of(number / size * size)?
            }
        };
        Some(Duration::from_secs_f64(seconds.min(1e9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Curve, Stage};
    use proptest::prelude::*;

    const ALL: [Arrivals; 5] =
        [Arrivals::Even, Arrivals::Poisson, Arrivals::EachSecond, Arrivals::Bursts(20), Arrivals::Jitter(10)];

    fn schedule(stages: &str, arrivals: Arrivals, part: Part, seed: u64) -> Schedule {
        let stages = Stage::parse_list(stages).unwrap();
        let curve = Curve::of(&stages, stages.last().unwrap().to);
        Schedule::new(Open { curve, arrivals, in_flight: 1, connections: false, moments: None }, part, seed)
    }

    fn due_by(schedule: Schedule, seconds: f64) -> usize {
        schedule.take_while(|at| at.as_secs_f64() < seconds).count()
    }

    /// Arrivals of all parts, in order, in seconds.
    fn of_all(parts: u32, seconds: f64, of_part: impl Fn(Part) -> Schedule) -> Vec<f64> {
        let one = |part| of_part(part).map(|at| at.as_secs_f64()).take_while(|at| *at < seconds);
        let mut at: Vec<f64> = Part::all(parts).flat_map(one).collect();
        at.sort_by(f64::total_cmp);
        at
    }

    #[test]
    fn what_is_due_is_the_integral_of_the_rate() {
        let constant = |rate: &str, arrivals| schedule(&format!("1s:{rate}"), arrivals, Part::WHOLE, 5);
        assert_eq!(due_by(constant("1000", Arrivals::Even), 10.0), 10_000);
        assert_eq!(due_by(constant("50", Arrivals::EachSecond), 10.5), 500);
        assert_eq!(due_by(constant("100", Arrivals::Bursts(50)), 1.0), 100);
        let poisson = due_by(constant("1000", Arrivals::Poisson), 10.0);
        assert!((9_700..10_300).contains(&poisson), "{poisson}");
        let stages = |arrivals| schedule("2s:0..1000,1s:0,2s:500", arrivals, Part::WHOLE, 5);
        for (seconds, due) in [(1.0, 250), (2.0, 1000), (2.999, 1000), (4.0, 1500), (5.0, 2000), (6.0, 2500)]
        {
            assert_eq!(due_by(stages(Arrivals::Even), seconds), due, "by {seconds} s");
        }
        let poisson = due_by(stages(Arrivals::Poisson), 5.0);
        assert!((1_850..2_150).contains(&poisson), "{poisson}");
    }

    #[test]
    fn what_is_left_is_counted_as_it_would_be_handed_out() {
        for arrivals in ALL {
            for taken in [0, 1, 7, 100, 499] {
                for end_ms in [0, 1, 500, 999, 1_000, 3_000] {
                    let mut schedule =
                        schedule("1s:100,1s:0,1s:0..900", arrivals, Part { index: 1, of: 3 }, 5);
                    schedule.by_ref().take(taken).for_each(drop);
                    let end = Duration::from_millis(end_ms);
                    let one_by_one = schedule.clone().take_while(|at| *at < end).count() as u64;
                    assert_eq!(schedule.due_before(end), one_by_one, "{arrivals:?}, {taken}, {end_ms} ms");
                }
            }
        }
    }

    #[test]
    fn jitter_moves_gaps_and_not_the_rate() {
        let at =
            of_all(2, 10.0, |part| schedule("1s:100", Arrivals::Jitter(10), part, u64::from(part.index)));
        assert!((999..=1001).contains(&at.len()), "{}", at.len());
        let gaps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (0.009..=0.011).contains(gap)));
        assert!(gaps.iter().any(|gap| *gap < 0.0095) && gaps.iter().any(|gap| *gap > 0.0105));
    }

    #[test]
    fn what_was_due_before_a_moment_is_passed_over_and_the_rest_is_as_it_was() {
        for arrivals in [Arrivals::Even, Arrivals::Poisson, Arrivals::Jitter(10), Arrivals::Bursts(4)] {
            for part in Part::all(3) {
                let whole: Vec<Duration> = schedule("2s:100", arrivals, part, 5).take(60).collect();
                let mut late = schedule("2s:100", arrivals, part, 5);
                let moment = Duration::from_millis(700);
                let passed = late.pass_until(moment) as usize;
                assert!(passed > 0 && whole[..passed].iter().all(|at| *at < moment), "{arrivals:?} {part:?}");
                assert_eq!(
                    late.take(60 - passed).collect::<Vec<_>>(),
                    whole[passed..],
                    "{arrivals:?} {part:?}"
                );
            }
        }
    }

    #[test]
    fn a_rate_that_changes_is_that_of_stages_for_every_law_and_part() {
        let change = Duration::from_millis(1_500);
        for arrivals in ALL {
            for part in Part::all(3) {
                let mut changed = schedule("1s:100", arrivals, part, 5);
                let mut at: Vec<Duration> = changed.by_ref().take_while(|at| *at < change).collect();
                changed.take_back();
                changed.change(change, 400.0);
                at.extend(changed.take(300));
                let whole = schedule("1500ms:100,1s:400", arrivals, part, 5);
                let whole: Vec<Duration> = whole.take(at.len()).collect();
                let off = at.iter().zip(&whole).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
                assert!(off < Duration::from_micros(1), "{arrivals:?} {part:?}: {off:?}");
            }
        }
    }

    #[test]
    fn users_take_turns_under_a_timetable() {
        let began = Instant::now();
        let table = Timetable::Even { began, users: 4, per_second: 8.0 };
        let due = |user, turn| (table.due(user, turn).unwrap() - began).as_millis();
        assert_eq!([due(0, 0), due(1, 0), due(3, 0), due(0, 1), due(2, 5)], [0, 125, 375, 500, 2_750]);
        assert_eq!((table.line(1, 2), table.is_over(0, u64::MAX)), (None, false));
        let last = table.due(u64::MAX, u64::MAX).unwrap();
        assert!(last > began, "no turn is beyond reckoning");
    }

    /// Of four users on two workers, two share a list: those of a worker that follow one another.
    #[test]
    fn users_that_share_a_list_of_moments_take_it_in_turns() {
        let began = Instant::now();
        let at: Vec<Duration> = [0, 10, 20].map(Duration::from_millis).into();
        let table = Timetable::Listed { began, share: 2, parts: 2, at: at.into() };
        let lines = |turn| [0, 1, 2, 3].map(|user| table.line(user, turn));
        assert_eq!(lines(0), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(lines(1), [Some(2), Some(2), Some(3), Some(3)]);
        assert_eq!([0, 2].map(|user| table.is_over(user, 1)), [false, true]);
        assert_eq!(
            [(0, 1), (2, 1)].map(|(user, turn)| (table.due(user, turn).unwrap() - began).as_millis()),
            [20, 20]
        );
    }

    #[test]
    fn users_of_a_recording_begin_at_their_moments_and_pause_after_answers() {
        let began = Instant::now();
        let table = Timetable::Walked { began, walks: Walks::new([vec![0, 500], vec![2_000, 0, 7_000]]) };
        let begins = table.due(1, 0).map(|due| due - began);
        assert_eq!((begins, table.due(1, 1)), (Some(Duration::from_millis(2)), None));
        assert_eq!([0, 1, 2].map(|turn| table.line(1, turn)), [Some(2), Some(3), Some(4)]);
        assert_eq!(
            [0, 1, 2].map(|turn| table.pause(1, turn).map(|pause| pause.as_millis())),
            [None, Some(0), Some(7)]
        );
        assert_eq!(
            [(0, 1), (0, 2), (1, 3), (2, 0)].map(|(user, turn)| table.is_over(user, turn)),
            [false, true, true, true]
        );
    }

    #[test]
    fn a_rate_that_comes_to_nothing_ends_the_schedule() {
        for arrivals in ALL {
            let count = schedule("1s:100,1s:100..0", arrivals, Part::WHOLE, 5).count();
            let close = match arrivals {
                Arrivals::Poisson => 110..190,
                // A burst that has begun is whole.
                Arrivals::Bursts(20) => 160..161,
                _ => 150..151,
            };
            assert!(close.contains(&count), "{arrivals:?}: {count}");
        }
    }

    #[test]
    fn the_parts_of_a_steady_load_make_the_stream_of_the_whole() {
        for (arrivals, expected) in [
            (Arrivals::Even, vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8]),
            (Arrivals::EachSecond, vec![0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 1.5, 1.5, 1.5, 1.5]),
            (Arrivals::Bursts(4), vec![0.0, 0.0, 0.0, 0.0, 0.8, 0.8, 0.8, 0.8, 1.6, 1.6]),
        ] {
            let at = of_all(3, 1.9, |part| schedule("1s:5", arrivals, part, 1));
            let off = at.iter().zip(&expected).find(|(at, due)| (*at - *due).abs() > 1e-6);
            assert_eq!(off, None, "{arrivals:?}: {at:?}");
        }
    }

    #[test]
    fn recorded_moments_are_those_of_their_numbers_on_any_number_of_parts() {
        let at: Vec<u64> = (0..1_000).map(|number| number * number / 7).collect();
        let moments = plan::Moments::new(at.clone());
        for parts in [1, 3] {
            for part in Part::all(parts) {
                let open = plan::Pace::Recorded { at_us: moments.clone(), in_flight: 5 }.open().unwrap();
                let mut schedule = Schedule::new(open, part, 1);
                let whole: Vec<u64> = schedule.clone().map(|at| at.as_micros() as u64).collect();
                let mine: Vec<u64> =
                    at.iter().copied().skip(part.index as usize).step_by(parts as usize).collect();
                assert_eq!(whole, mine, "{part:?}");
                schedule.by_ref().take(10).for_each(drop);
                let end = Duration::from_micros(70_000);
                assert_eq!(
                    schedule.due_before(end),
                    schedule.clone().take_while(|at| *at < end).count() as u64
                );
            }
        }
    }

    #[test]
    fn poisson_gaps_are_exponential_however_many_parts_there_are() {
        for parts in [1, 3] {
            let of_part = |part: Part| schedule("1s:100", Arrivals::Poisson, part, u64::from(part.index));
            let at = of_all(parts, 200.0, of_part);
            let gaps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let long = gaps.iter().filter(|gap| **gap > 0.01).count() as f64 / gaps.len() as f64;
            assert!((long - (-1.0f64).exp()).abs() < 0.015, "{long} of the gaps are longer than their mean");
        }
    }

    proptest! {
        /// Whatever the stages and however many parts: by any moment as many are due as the integral says, and a schedule
        /// drawn twice is the same.
        #[test]
        fn the_sum_over_parts_is_the_integral(
            rates in prop::collection::vec((0u32..500, 0u32..500, 1u64..3_000), 1..5),
            parts in 1u32..5,
            at in 0.0..1.0f64,
            seed in any::<u64>(),
        ) {
            let stage = |(from, to, ms): &(u32, u32, u64)| {
                let lasts = Duration::from_millis(*ms);
                Stage { lasts, from: f64::from(*from), to: f64::from(*to) }
            };
            let stages: Vec<Stage> = rates.iter().map(stage).collect();
            let curve = Curve::of(&stages, 0.0);
            let until = at * Stage::sum(&stages).as_secs_f64();
            let integral = curve.arrivals_by(until);
            for arrivals in ALL {
                let open = Open { curve: curve.clone(), arrivals, in_flight: 1, connections: false, moments: None };
                let of_part = |part: Part| Schedule::new(open.clone(), part, hash(seed, u64::from(part.index)));
                let due = of_all(parts, until, of_part);
                let off = (due.len() as f64 - integral).abs();
                let allowed = match arrivals {
                    Arrivals::Even => 1.0,
                    // Gaps vary around their places, which do not move.
                    Arrivals::Jitter(_) => 2.0,
                    Arrivals::Bursts(size) => f64::from(size),
                    // Six standard deviations.
                    Arrivals::Poisson => 6.0 * integral.sqrt() + 6.0,
                    Arrivals::EachSecond => 500.0,
                };
                prop_assert!(off <= allowed + 1e-6, "{arrivals:?}: {} due, not {integral}", due.len());
                prop_assert_eq!(due, of_all(parts, until, of_part));
            }
        }

        #[test]
        fn a_schedule_never_goes_back(from in 0u32..1000, to in 1u32..1000, seed in any::<u64>()) {
            for arrivals in ALL {
                let schedule = schedule(&format!("2s:{from}..{to}"), arrivals, Part::WHOLE, seed);
                let at: Vec<Duration> = schedule.take(2_000).collect();
                prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1]), "{arrivals:?}");
            }
        }
    }
}
