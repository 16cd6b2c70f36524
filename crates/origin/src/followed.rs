//! Requests that are followed beyond their clients: of one that its client broke off, when the answer ended here, and whether whole.
//!
//! Whoever runs clients and origin together tells both ends of it, by the request's nonce. Workers of the origin and of the
//! clients are not the same threads, so each place has a lock, which is as good as never contended. Start at [`Followed`].

use measure::AfterReset;
use plan::draw::hash;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Requests that are remembered at once for one part of the nonces: enough that those under way at a time do not meet, whatever
/// their nonces. With a place for each nonce, two of eight would have met in one run of two thousand.
const WAYS: usize = 4;
/// Parts of the nonces.
const SETS: usize = 1 << 14;

/// The requests of the last moments, and what became of those that clients broke off. Its memory, some four megabytes, is taken
/// with the first.
#[derive(Debug, Default)]
pub struct Followed {
    sets: OnceLock<Box<[Mutex<FollowedSet>]>>,
    /// By phase.
    figures: Mutex<Vec<AfterReset>>,
}

/// The last requests whose nonces share a set.
#[derive(Debug, Default)]
struct FollowedSet {
    /// 0: none.
    nonces: [u64; WAYS],
    requests: [FollowedRequest; WAYS],
    /// The place that the next one takes: that of the oldest.
    next: usize,
}

/// A request, by both ends.
#[derive(Debug, Clone, Copy, Default)]
struct FollowedRequest {
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
        // Whoever asks again, as proxies do, has the last answer followed.
        self.request(&mut self.set(nonce), nonce).answer = Answer::UnderWay;
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
        let mut set = self.set(nonce);
        let request = self.request(&mut set, nonce);
        request.broken_off = Some((phase, at));
        if matches!(request.answer, Answer::Whole { .. } | Answer::Early { .. }) {
            self.settle(request);
        }
    }

    /// True if answers to requests that clients broke off are still under way.
    pub fn is_waiting(&self) -> bool {
        let waits =
            |request: &FollowedRequest| request.broken_off.is_some() && request.answer == Answer::UnderWay;
        self.sets.get().is_some_and(|sets| sets.iter().any(|set| locked(set).requests.iter().any(waits)))
    }

    /// The figures of each phase, now that all is over; phases at the end in which nothing was broken off are left out.
    pub fn finish(&self) -> Vec<AfterReset> {
        for set in self.sets.get().into_iter().flatten() {
            locked(set).requests.iter_mut().for_each(|request| self.settle(request));
        }
        locked(&self.figures).clone()
    }

    fn end(&self, nonce: u64, answer: Answer) {
        let mut set = self.set(nonce);
        let Some(place) = set.place_of(nonce) else { return };
        let request = &mut set.requests[place];
        if request.answer == Answer::UnderWay {
            request.answer = answer;
            self.settle(request);
        }
    }

    fn set(&self, nonce: u64) -> MutexGuard<'_, FollowedSet> {
        let sets = self.sets.get_or_init(|| (0..SETS).map(|_| Mutex::default()).collect());
        locked(&sets[hash(0, nonce) as usize % SETS])
    }

    /// The request with this nonce. A new one takes the place of the oldest.
    fn request<'a>(&self, set: &'a mut FollowedSet, nonce: u64) -> &'a mut FollowedRequest {
        let place = set.place_of(nonce).unwrap_or_else(|| {
            let oldest = set.next;
            self.settle(&mut set.requests[oldest]);
            (set.nonces[oldest], set.requests[oldest]) = (nonce, FollowedRequest::default());
            set.next = (oldest + 1) % WAYS;
            oldest
        });
        &mut set.requests[place]
    }

    /// Counts what became of a request, where its client broke it off.
    fn settle(&self, request: &mut FollowedRequest) {
        let Some((phase, broken_off)) = request.broken_off.take() else { return };
        let mut figures = locked(&self.figures);
        if figures.len() <= phase {
            figures.resize(phase + 1, AfterReset::default());
        }
        let figures = &mut figures[phase];
        figures.broken_off += 1;
        match request.answer {
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

impl FollowedSet {
    fn place_of(&self, nonce: u64) -> Option<usize> {
        self.nonces.iter().position(|known| *known == nonce)
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
    fn requests_under_way_are_kept_apart_and_the_oldest_gives_way() {
        let followed = Followed::default();
        let now = Instant::now();
        let set = |nonce| hash(0, nonce) as usize % SETS;
        let same: Vec<u64> = (1..).filter(|nonce| set(*nonce) == set(1)).take(5).collect();
        let (last, first) = same.split_last().unwrap();
        first.iter().for_each(|nonce| followed.begin(*nonce));
        first.iter().for_each(|nonce| followed.break_off(*nonce, 0, now));
        first[1..].iter().for_each(|nonce| followed.early(*nonce, now));
        // One more than there is room for: the oldest is counted as it stands.
        followed.break_off(*last, 0, now);
        followed.early(first[0], now);
        let figures = &followed.finish()[0];
        let counts = [figures.broken_off, figures.ended_early, figures.under_way, figures.not_seen];
        assert_eq!(counts, [5, 3, 1, 1]);
    }
}
