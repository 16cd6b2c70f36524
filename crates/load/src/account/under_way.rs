//! When the requests under way were due, so that those without an answer when time is up are known by how long they have
//! waited.

use slab::Slab;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::{Duration, Instant};

/// The moments, since the start of the run, with how many requests were due then.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    moments: HashMap<u64, u32, BuildHasherDefault<Nanoseconds>>,
    /// Those of requests that have a place of their own here.
    places: Slab<Instant>,
}

impl UnderWay {
    /// A request has begun that was due then; its place, for [`Self::leave`].
    #[inline]
    pub fn enter(&mut self, due: Instant) -> usize {
        self.places.insert(due)
    }

    /// The request of a place has ended, which is free again: when it was due.
    #[inline]
    pub fn leave(&mut self, place: usize) -> Option<Instant> {
        self.places.try_remove(place)
    }

    /// A request has begun that was due then.
    pub fn add(&mut self, due: Duration) {
        *self.moments.entry(due.as_nanos() as u64).or_default() += 1;
    }

    /// So many of those that were due then have ended.
    pub fn remove(&mut self, due: Duration, times: u32) {
        let key = due.as_nanos() as u64;
        if let Some(count) = self.moments.get_mut(&key) {
            *count = count.saturating_sub(times);
            if *count == 0 {
                self.moments.remove(&key);
            }
        }
    }

    /// Takes out those that have not ended, the oldest first; the memory is kept. `started`: the run did.
    pub fn take_left(&mut self, started: Instant) -> Vec<(Duration, u32)> {
        let placed = self.places.drain().map(|due| (due.saturating_duration_since(started), 1));
        let moments = self.moments.drain().map(|(due, times)| (Duration::from_nanos(due), times));
        let mut left: Vec<(Duration, u32)> = placed.chain(moments).collect();
        left.sort_unstable();
        left
    }
}

/// Spreads nanoseconds over the table: nobody chooses them to collide.
#[derive(Default)]
struct Nanoseconds(u64);

impl Hasher for Nanoseconds {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // The golden ratio's bits, as in Fibonacci hashing; the table looks at both ends.
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_was_added_and_not_removed() {
        let ms = Duration::from_millis;
        let mut under_way = UnderWay::default();
        [5, 3, 5, 9, 3].into_iter().for_each(|due| under_way.add(ms(due)));
        under_way.remove(ms(5), 1);
        under_way.remove(ms(3), 2);
        under_way.remove(ms(4), 1);
        let started = Instant::now();
        let places = [7, 2].map(|due| under_way.enter(started + ms(due)));
        assert_eq!(under_way.leave(places[1]), Some(started + ms(2)));
        assert_eq!(under_way.leave(places[1]), None);
        assert_eq!(under_way.take_left(started), [(ms(5), 1), (ms(7), 1), (ms(9), 1)]);
        assert!(under_way.take_left(started).is_empty() && under_way.leave(places[0]).is_none());
    }
}
