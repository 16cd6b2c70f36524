//! Requests that are followed beyond their clients: of one that its client broke off, when the answer ended here, and whether whole.
//!
//! Whoever runs clients and origin together tells both ends of it, by the request's nonce. Workers of the origin and of the
//! clients are not the same threads, so each place has a lock, which is as good as never contended. Start at [`Followed`].

use measure::AfterReset;
use plan::draw::hash;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Requests remembered; each has one place.
const PLACES: usize = 1 << 16;

/// The requests of the last moments, and what became of those that clients broke off. Its memory, some four megabytes, is taken
/// with the first.
#[derive(Debug, Default)]
pub struct Followed {
    places: OnceLock<Box<[Mutex<FollowedPlace>]>>,
    /// By phase.
    figures: Mutex<Vec<AfterReset>>,
}

/// A request, by both ends.
#[derive(Debug, Clone, Copy, Default)]
struct FollowedPlace {
    /// 0: none.
    nonce: u64,
    /// In which phase its client broke it off, and when.
    broken_off: Option<(usize, Instant)>,
    answer: Answer,
}

/// State of an answer, as far as the origin knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    NotSeen,
    UnderWay,
    Whole {
        at: Instant,
        bytes: u64,
    },
    Early {
        at: Instant,
    },
}

impl Followed {
    /// The origin has a request.
    pub(crate) fn begin(&self, nonce: u64) {
        let mut place = self.place(nonce);
        if place.nonce != nonce {
            self.replace(&mut place, nonce);
        }
        // Whoever asks again, as proxies do, has the last answer followed.
        place.answer = Answer::UnderWay;
    }

    /// The answer was sent whole, so many bytes of content.
    pub(crate) fn whole(&self, nonce: u64, bytes: u64, at: Instant) {
        self.end(nonce, Answer::Whole { at, bytes });
    }

    /// The other side has given the answer up.
    pub(crate) fn early(&self, nonce: u64, at: Instant) {
        self.end(nonce, Answer::Early { at });
    }

    /// A client broke its request off, in a phase.
    pub fn break_off(&self, nonce: u64, phase: usize, at: Instant) {
        let mut place = self.place(nonce);
        if place.nonce != nonce {
            self.replace(&mut place, nonce);
        }
        place.broken_off = Some((phase, at));
        if matches!(place.answer, Answer::Whole { .. } | Answer::Early { .. }) {
            self.settle(&mut place);
        }
    }

    /// True if answers to requests that clients broke off are still under way.
    pub fn is_waiting(&self) -> bool {
        let waits = |place: FollowedPlace| place.broken_off.is_some() && place.answer == Answer::UnderWay;
        self.places.get().is_some_and(|places| places.iter().any(|place| waits(*locked(place))))
    }

    /// The figures of each phase, now that all is over; phases at the end in which nothing was broken off are left out.
    pub fn finish(&self) -> Vec<AfterReset> {
        for place in self.places.get().into_iter().flatten() {
            self.settle(&mut locked(place));
        }
        locked(&self.figures).clone()
    }

    fn end(&self, nonce: u64, answer: Answer) {
        let mut place = self.place(nonce);
        if place.nonce == nonce && place.answer == Answer::UnderWay {
            place.answer = answer;
            self.settle(&mut place);
        }
    }

    fn place(&self, nonce: u64) -> MutexGuard<'_, FollowedPlace> {
        let places = self.places.get_or_init(|| (0..PLACES).map(|_| Mutex::default()).collect());
        locked(&places[hash(0, nonce) as usize % PLACES])
    }

    /// Another request takes the place.
    fn replace(&self, place: &mut FollowedPlace, nonce: u64) {
        self.settle(place);
        *place = FollowedPlace { nonce, ..FollowedPlace::default() };
    }

    /// Counts what became of a request, where its client broke it off.
    fn settle(&self, place: &mut FollowedPlace) {
        let Some((phase, broken_off)) = place.broken_off.take() else { return };
        let mut figures = locked(&self.figures);
        if figures.len() <= phase {
            figures.resize(phase + 1, AfterReset::default());
        }
        let figures = &mut figures[phase];
        figures.broken_off += 1;
        match place.answer {
            Answer::NotSeen => figures.not_seen += 1,
            Answer::UnderWay => figures.under_way += 1,
            Answer::Early { at } => figures.end_early(at.saturating_duration_since(broken_off)),
            Answer::Whole { at, .. } if at <= broken_off => figures.whole_before += 1,
            Answer::Whole { bytes, .. } => {
                figures.whole_after += 1;
                figures.whole_after_bytes += bytes;
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked while it held the lock left at worst one request out of the figures.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_request_that_was_broken_off_is_in_one_count() {
        let followed = Followed::default();
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        (1..=6).for_each(|nonce| followed.begin(nonce));
        followed.whole(1, 100, at(1));
        (1..=5).chain([7]).for_each(|nonce| followed.break_off(nonce, 0, at(5)));
        assert!(followed.is_waiting());
        followed.whole(2, 300, at(9));
        followed.early(3, at(7));
        followed.early(4, at(8));
        // Whoever was not broken off is nobody's figure.
        followed.early(6, at(8));
        let figures = followed.finish();
        assert!(!followed.is_waiting());
        let [figures] = &figures[..] else { panic!("{figures:?}") };
        let expected = AfterReset {
            broken_off: 6,
            ended_early: 2,
            whole_after: 1,
            whole_after_bytes: 300,
            whole_before: 1,
            under_way: 1,
            not_seen: 1,
            delays: figures.delays.clone(),
        };
        assert_eq!(*figures, expected);
        let (median, longest) = figures.delay_us().unwrap();
        assert!((2_000..2_010).contains(&median) && (3_000..3_010).contains(&longest), "{median} {longest}");
    }

    #[test]
    fn the_last_of_several_answers_counts_and_phases_are_kept_apart() {
        let followed = Followed::default();
        let now = Instant::now();
        followed.begin(1);
        followed.early(1, now);
        followed.begin(1);
        followed.break_off(1, 2, now);
        followed.whole(1, 10, now + Duration::from_millis(1));
        let figures = followed.finish();
        assert_eq!(figures.iter().map(|phase| phase.broken_off).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!((figures[2].whole_after, figures[2].ended_early), (1, 0));
    }

    #[test]
    fn a_request_whose_place_is_taken_is_counted_before() {
        let followed = Followed::default();
        let now = Instant::now();
        let place = |nonce| hash(0, nonce) as usize % PLACES;
        let other = (2..).find(|nonce| place(*nonce) == place(1)).unwrap();
        followed.break_off(1, 0, now);
        followed.begin(other);
        followed.break_off(other, 0, now);
        let figures = followed.finish();
        assert_eq!((figures[0].broken_off, figures[0].not_seen, figures[0].under_way), (2, 1, 1));
    }
}
