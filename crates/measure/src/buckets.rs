//! Histograms as they are kept and sent: the buckets that hold something, as runs of neighbours.
//!
//! One geometry for all, that of HdrHistogram from 1 µs on. In three digits a time below 2048 µs has a bucket of its own, and
//! each doubling after that has 1024 buckets; in two digits the borders are 256 and 128. A bucket of two digits is eight
//! neighbours of three digits (three bits dropped), so coarsening commutes with adding.

use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Empty buckets that a run may hold before a new one begins: a zero is shorter than a new run.
const BRIDGED: u32 = 2;
/// Buckets beyond this are of no histogram of ours: it is that of more than a day in three digits.
pub(crate) const MOST: u32 = 1 << 16;

/// How fine the buckets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// At most 0.8 % wide.
    Two,
    /// At most 0.1 % wide.
    Three,
}

impl Digits {
    /// Buckets of each doubling, as a power of two.
    const fn bits(self) -> u32 {
        match self {
            Digits::Two => 7,
            Digits::Three => 10,
        }
    }

    /// The bucket that a value falls into.
    pub fn bucket(self, value: u64) -> u32 {
        let shift = (63 - (value | 1).leading_zeros()).saturating_sub(self.bits());
        (shift << self.bits()) + (value >> shift) as u32
    }

    /// The lowest value of a bucket; of one that lies beyond all, as damaged files have them, the highest there is.
    pub fn lowest(self, bucket: u32) -> u64 {
        let shift = (bucket >> self.bits()).saturating_sub(1);
        let digits = u64::from(bucket - (shift << self.bits()));
        if shift > digits.leading_zeros() { u64::MAX } else { digits << shift }
    }

    /// The value in the middle of a bucket.
    pub fn middle(self, bucket: u32) -> u64 {
        self.lowest(bucket).midpoint(self.lowest(bucket + 1))
    }
}

/// Buckets that hold something: number and count, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Buckets(#[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<u64>>"))] Vec<(u32, u64)>);

impl Buckets {
    /// Nothing.
    pub const EMPTY: Buckets = Buckets(Vec::new());

    /// Those of a histogram of at least so many digits.
    pub fn of(histogram: &Histogram<u64>, digits: Digits) -> Buckets {
        let mut buckets: Vec<(u32, u64)> = Vec::new();
        for step in histogram.iter_recorded() {
            let bucket = digits.bucket(histogram.lowest_equivalent(step.value_iterated_to()));
            match buckets.last_mut() {
                Some((last, count)) if *last == bucket => *count += step.count_at_value(),
                _ => buckets.push((bucket, step.count_at_value())),
            }
        }
        Buckets(buckets)
    }

    /// Those of a distribution.
    pub fn of_counts(counts: impl Iterator<Item = (u32, u64)>, digits: Digits) -> Buckets {
        let fine = Buckets(counts.collect());
        if digits == Digits::Two { fine.coarsened() } else { fine }
    }

    /// Nothing is in them.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How much they hold.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Number and count of each that is not empty, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds those of another part, which must be as fine.
    pub fn merge(&mut self, other: &Buckets) {
        let (mut mine, mut theirs) =
            (std::mem::take(&mut self.0).into_iter().peekable(), other.iter().peekable());
        while let (Some(&(left, _)), Some(&(right, _))) = (mine.peek(), theirs.peek()) {
            let next = match left.cmp(&right) {
                std::cmp::Ordering::Less => mine.next(),
                std::cmp::Ordering::Greater => theirs.next(),
                std::cmp::Ordering::Equal => {
                    let added = theirs.next().map_or(0, |(_, count)| count);
                    mine.next().map(|(bucket, count)| (bucket, count.saturating_add(added)))
                }
            };
            self.0.extend(next);
        }
        self.0.extend(mine.chain(theirs));
    }

    /// Returns the counts left without those of a part; `None`: it is no part of these.
    pub fn without(&self, part: &Buckets) -> Option<Buckets> {
        let mut rest = Vec::with_capacity(self.0.len());
        let mut part = part.iter().peekable();
        for (bucket, count) in self.iter() {
            let taken = part.next_if(|(of, _)| *of == bucket).map_or(0, |(_, count)| count);
            let left = count.checked_sub(taken)?;
            if left > 0 {
                rest.push((bucket, left));
            }
        }
        part.peek().is_none().then_some(Buckets(rest))
    }

    /// The same in two digits, of three.
    #[must_use]
    pub fn coarsened(&self) -> Buckets {
        let mut coarse = Buckets::default();
        for (bucket, count) in self.iter() {
            let bucket = Digits::Two.bucket(Digits::Three.lowest(bucket));
            match coarse.0.last_mut() {
                Some((last, sum)) if *last == bucket => *sum = sum.saturating_add(count),
                _ => coarse.0.push((bucket, count)),
            }
        }
        coarse
    }

    /// Records all of it in a histogram, each bucket by a value of its own: of two digits, the middle one.
    pub fn record(&self, digits: Digits, histogram: &mut Histogram<u64>) {
        for (bucket, count) in self.iter() {
            let value = match digits {
                Digits::Two => digits.middle(bucket),
                Digits::Three => digits.lowest(bucket),
            };
            histogram.saturating_record_n(value, count);
        }
    }
}

/// `[[gap, n, n, …], …]`: a run begins so many buckets behind the end of the one before, the first behind nothing.
impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut runs: Vec<Vec<u64>> = Vec::new();
        let mut next = 0;
        for (bucket, count) in self.iter() {
            let gap = bucket - next;
            match runs.last_mut() {
                Some(run) if gap <= BRIDGED => {
                    run.extend((0..gap).map(|_| 0));
                    run.push(count);
                }
                _ => runs.push(vec![u64::from(gap), count]),
            }
            next = bucket + 1;
        }
        runs.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Buckets, D::Error> {
        let runs = Vec::<Vec<u64>>::deserialize(from)?;
        let mut buckets = Vec::new();
        let mut next = 0u32;
        for run in &runs {
            let Some((gap, counts)) = run.split_first() else { continue };
            next = u32::try_from(*gap).ok().and_then(|gap| next.checked_add(gap)).unwrap_or(MOST);
            for count in counts {
                if next >= MOST {
                    return Err(D::Error::custom("a bucket lies beyond the last one"));
                }
                if *count > 0 {
                    buckets.push((next, *count));
                }
                next += 1;
            }
        }
        Ok(Buckets(buckets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(digits: u8, values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000, digits).unwrap();
        values.into_iter().for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    fn some(seed: u64) -> Vec<u64> {
        (0..2_000u64).map(|n| (n * 7919 + seed).pow(2) % 3_000_000_000 + 1).collect()
    }

    #[test]
    fn buckets_are_those_of_hdrhistogram() {
        for (digits, own) in [(2, Digits::Two), (3, Digits::Three)] {
            let histogram = histogram(digits, [1]);
            for value in some(1).into_iter().chain([1, 255, 256, 257, 2047, 2048, 2049, 3_599_999_999]) {
                let bucket = own.bucket(value);
                assert_eq!(own.lowest(bucket), histogram.lowest_equivalent(value), "{value}");
                assert_eq!(own.lowest(bucket + 1), histogram.next_non_equivalent(value), "{value}");
            }
        }
    }

    #[test]
    fn a_histogram_written_and_recorded_again_is_the_same() {
        let before = histogram(3, some(7));
        let mut after = histogram(3, []);
        Buckets::of(&before, Digits::Three).record(Digits::Three, &mut after);
        assert_eq!(before, after);
        assert_eq!((before.max(), before.min(), before.mean()), (after.max(), after.min(), after.mean()));
    }

    #[test]
    fn coarsening_commutes_with_adding() {
        let [a, b] = [some(3), some(11)].map(|list| Buckets::of(&histogram(3, list), Digits::Three));
        let mut fine = a.clone();
        fine.merge(&b);
        let mut coarse = a.coarsened();
        coarse.merge(&b.coarsened());
        assert_eq!(fine.coarsened(), coarse);
        assert_eq!(coarse.count(), 4_000);
        let all = histogram(3, some(3).into_iter().chain(some(11)));
        assert_eq!(coarse, Buckets::of(&all, Digits::Two));
        assert_eq!(coarse, Buckets::of(&histogram(2, some(3).into_iter().chain(some(11))), Digits::Two));
    }

    #[test]
    fn buckets_beyond_all_and_counts_without_end_are_borne() {
        for digits in [Digits::Two, Digits::Three] {
            assert_eq!((digits.lowest(MOST), digits.middle(MOST - 1)), (u64::MAX, u64::MAX));
        }
        let mut most = Buckets(vec![(1, u64::MAX), (MOST - 1, 1)]);
        most.merge(&most.clone());
        assert_eq!((most.count(), most.coarsened().count()), (u64::MAX, u64::MAX));
        most.record(Digits::Three, &mut histogram(3, []));
    }

    #[test]
    fn runs_are_read_as_they_are_written() {
        let buckets = Buckets(vec![(3, 1), (4, 2), (7, 9), (900, 4)]);
        let text = serde_json::to_string(&buckets).unwrap();
        assert_eq!(text, "[[3,1,2,0,0,9],[892,4]]");
        assert_eq!(serde_json::from_str::<Buckets>(&text).unwrap(), buckets);
        for hostile in ["[[4294967295,1]]", "[[18446744073709551615,1],[18446744073709551615,1]]", "[[-1,1]]"]
        {
            assert!(serde_json::from_str::<Buckets>(hostile).is_err(), "{hostile}");
        }
    }
}
