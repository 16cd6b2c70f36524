//! How times of one kind are spread, while they are counted: the buckets of three digits, in pieces that take memory only where
//! something was counted.

use crate::buckets::{Buckets, Digits};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use std::mem::size_of_val;

/// Longer times count as this, in µs: an hour.
pub const MAX_US: u64 = 3_600_000_000;

/// Buckets of a piece: eight pieces to each doubling.
const PIECE: usize = 128;
/// Pieces that there may be: enough for [`MAX_US`].
const PIECES: usize = 182;

/// The bucket of a time.
#[derive(Debug, Clone, Copy)]
pub struct Bucket(u32);

impl Bucket {
    /// Of a time in µs; 0 counts as 1, more than an hour as an hour.
    #[inline]
    pub fn of(us: u64) -> Bucket {
        Bucket(Digits::Three.bucket(us.clamp(1, MAX_US)))
    }
}

/// Counts of times from 1 µs to an hour, to a thousandth. A short run's take some 15 kB, where all buckets of 64 bits take 188.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// Where the pieces are, from 1; 0: not there.
    places: [u8; PIECES],
    pieces: Vec<[u16; PIECE]>,
    /// How often a bucket has had 2¹⁶ more than its piece holds.
    carried: BTreeMap<u32, u64>,
    count: u64,
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution { places: [0; PIECES], pieces: Vec::new(), carried: BTreeMap::new(), count: 0 }
    }
}

impl Distribution {
    /// Counts a time so many times; 0 counts as 1 µs, more than an hour as an hour.
    pub fn record(&mut self, us: u64, times: u64) {
        self.add(Bucket::of(us).0, times);
    }

    /// Counts a time so many times, whose bucket is known.
    #[inline]
    pub fn count_in(&mut self, bucket: Bucket, times: u64) {
        let piece = bucket.0 as usize / PIECE;
        let place = bucket.0 as usize % PIECE;
        let there = usize::from(self.places[piece]).wrapping_sub(1);
        match self.pieces.get_mut(there).map(|piece| &mut piece[place]) {
            Some(cell) if times == 1 && *cell < u16::MAX => {
                *cell += 1;
                self.count += 1;
            }
            _ => self.add(bucket.0, times),
        }
    }

    fn add(&mut self, bucket: u32, times: u64) {
        self.count += times;
        let piece = bucket as usize / PIECE;
        let place = bucket as usize % PIECE;
        if self.places[piece] == 0 {
            self.pieces.push([0; PIECE]);
            // There are fewer than 256.
            self.places[piece] = self.pieces.len() as u8;
        }
        let cell = &mut self.pieces[usize::from(self.places[piece]) - 1][place];
        let sum = u64::from(*cell) + (times & u64::from(u16::MAX));
        *cell = sum as u16;
        let carried = (sum >> 16) + (times >> 16);
        if carried > 0 {
            *self.carried.entry(bucket).or_default() += carried;
        }
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// None was counted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number and count of each bucket of three digits that is not empty, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let there = self.places.iter().enumerate().filter(|(_, place)| **place > 0);
        let cells = there.flat_map(|(piece, place)| {
            let cells = self.pieces[usize::from(*place) - 1].iter().enumerate();
            cells.map(move |(nth, count)| ((piece * PIECE + nth) as u32, *count))
        });
        let whole = cells.map(|(bucket, count)| {
            let carried = if self.carried.is_empty() { None } else { self.carried.get(&bucket) };
            (bucket, u64::from(count) + (carried.copied().unwrap_or(0) << 16))
        });
        whole.filter(|(_, count)| *count > 0)
    }

    /// The longest time, in microseconds and as exact as its bucket; 0 where none was counted.
    pub fn longest_us(&self) -> u64 {
        self.iter().last().map_or(0, |(bucket, _)| Digits::Three.lowest(bucket))
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &Distribution) {
        other.iter().for_each(|(bucket, count)| self.add(bucket, count));
    }

    /// Adds what was kept, as fine as it was kept.
    pub fn add_kept(&mut self, kept: &Buckets, digits: Digits) {
        for (bucket, count) in kept.iter() {
            match digits {
                Digits::Two => self.record(digits.middle(bucket), count),
                Digits::Three => self.record(digits.lowest(bucket), count),
            }
        }
    }

    /// The same as HdrHistogram has it.
    pub fn histogram(&self) -> Histogram<u64> {
        // Constant bounds that the constructor accepts.
        let mut histogram =
            Histogram::new_with_bounds(1, MAX_US, 3).unwrap_or_else(|_| Histogram::new(3).unwrap());
        for (bucket, count) in self.iter() {
            histogram.saturating_record_n(Digits::Three.lowest(bucket), count);
        }
        histogram
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            self.pieces.iter_mut().for_each(|piece| piece.fill(0));
            self.carried.clear();
            self.count = 0;
        }
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(self) + self.pieces.capacity() * size_of_val(&[0u16; PIECE])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_as_hdrhistogram_does() {
        let (mut own, mut theirs) =
            (Distribution::default(), Histogram::new_with_bounds(1, MAX_US, 3).unwrap());
        for us in (0..5_000u64).map(|n| (n * 7919).pow(2) % (MAX_US + 1)).chain([0, 1, 2047, 2048, MAX_US]) {
            own.record(us, 2);
            own.count_in(Bucket::of(us), 1);
            theirs.saturating_record_n(us.max(1), 3);
        }
        assert_eq!(Buckets::of(&own.histogram(), Digits::Three), Buckets::of(&theirs, Digits::Three));
        assert_eq!((own.histogram().max(), own.histogram().min()), (theirs.max(), theirs.min()));
        assert_eq!(own.count(), theirs.len());
        let mut twice = own.clone();
        twice.merge(&own);
        assert_eq!(twice.count(), 2 * own.count());
        assert_eq!(Buckets::of(&twice.histogram(), Digits::Three), {
            let mut buckets = Buckets::of(&theirs, Digits::Three);
            buckets.merge(&buckets.clone());
            buckets
        });
        twice.clear();
        assert!(twice.is_empty() && twice.iter().next().is_none());
    }

    #[test]
    fn more_than_a_piece_holds_is_not_lost() {
        let mut own = Distribution::default();
        own.record(7, u64::from(u32::MAX));
        own.count_in(Bucket::of(7), 1);
        own.count_in(Bucket::of(7), 1);
        own.record(7, 5 << 32);
        assert_eq!(own.iter().collect::<Vec<_>>(), [(7, (6 << 32) + 1)]);
    }
}
