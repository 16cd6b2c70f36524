//! Figures as few bytes: numbers as LEB128, lists with their length before them, histograms as gaps and counts of what is not empty.

use crate::buckets::{Buckets, Digits, MOST};
use crate::counts::Counts;
use crate::figures::LabelCount;
use crate::time_metric::{TimeMetric, TimeMetrics, told, whole};

/// Bits of a number in one byte; the highest one says that another follows.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

/// Appends a number.
pub(crate) fn put(mut number: u64, to: &mut Vec<u8>) {
    while number >= u64::from(MORE) {
        to.push(number as u8 | MORE);
        number >>= BITS;
    }
    to.push(number as u8);
}

/// Appends bytes, with their length before them.
pub(crate) fn put_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    put(bytes.len() as u64, to);
    to.extend_from_slice(bytes);
}

/// Appends the counters that are not zero: how many, and of each how many it lies behind the one before.
pub(crate) fn put_counts(counts: &Counts, to: &mut Vec<u8>) {
    put_sparse(counts.list().into_iter().zip(0..).map(|(count, place)| (place, count)), to);
}

fn put_buckets(buckets: &Buckets, to: &mut Vec<u8>) {
    put_sparse(buckets.iter(), to);
}

/// Appends pairs of a place and a count, in order of the places.
fn put_sparse(pairs: impl Iterator<Item = (u32, u64)>, to: &mut Vec<u8>) {
    let pairs: Vec<(u32, u64)> = pairs.filter(|(_, count)| *count > 0).collect();
    put(pairs.len() as u64, to);
    let mut next = 0;
    for (place, count) in pairs {
        put(u64::from(place - next), to);
        put(count, to);
        next = place + 1;
    }
}

/// Appends histograms, each behind the number of its metric.
pub(crate) fn put_metrics(metrics: &TimeMetrics, to: &mut Vec<u8>) {
    let all: Vec<(TimeMetric, &Buckets)> = told(metrics).collect();
    put(all.len() as u64, to);
    for (metric, buckets) in all {
        put(metric as u64, to);
        put_buckets(buckets, to);
    }
}

/// Appends the figures of labels.
pub(crate) fn put_labels(labels: &[LabelCount], to: &mut Vec<u8>) {
    put(labels.len() as u64, to);
    for one in labels {
        [u64::from(one.label), one.ended, one.ok].into_iter().for_each(|number| put(number, to));
        put_buckets(&one.response, to);
    }
}

/// Bytes of which those before it were taken. Nothing is taken of what is cut or cannot be.
#[derive(Debug)]
pub(crate) struct Packed<'a>(pub &'a [u8]);

impl<'a> Packed<'a> {
    /// Takes a number.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..u64::BITS).step_by(BITS as usize) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & !MORE);
            if bits.leading_zeros() < shift {
                return None;
            }
            number |= bits << shift;
            if byte & MORE == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Takes several numbers.
    pub fn numbers<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number()?;
        }
        Some(numbers)
    }

    /// Takes a number that is no larger than its type.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// Takes bytes with their length before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.small()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Takes counters.
    pub fn counts(&mut self) -> Option<Counts> {
        let mut list = vec![0; Counts::NAMES.len()];
        for (place, count) in self.sparse(list.len() as u32)? {
            list[place as usize] = count;
        }
        Some(Counts::of_list(&list))
    }

    fn buckets(&mut self) -> Option<Buckets> {
        Some(Buckets::of_counts(self.sparse(MOST)?.into_iter(), Digits::Three))
    }

    /// Takes pairs of a place and a count. `most`: no place is as high.
    fn sparse(&mut self, most: u32) -> Option<Vec<(u32, u64)>> {
        let pairs: usize = self.small()?;
        // Each takes two bytes at least.
        let mut list = Vec::with_capacity(pairs.min(self.0.len() / 2));
        let mut next = 0u32;
        for _ in 0..pairs {
            let place = next.checked_add(self.small()?).filter(|place| *place < most)?;
            let count = self.number().filter(|count| *count > 0)?;
            list.push((place, count));
            next = place + 1;
        }
        Some(list)
    }

    /// Takes histograms.
    pub fn metrics(&mut self) -> Option<TimeMetrics> {
        let count = self.number()?;
        let mut metrics = TimeMetrics::new();
        for _ in 0..count {
            let metric = *TimeMetric::ALL.get(self.small::<usize>()?)?;
            if metrics.insert(metric, self.buckets()?).is_some() {
                return None;
            }
        }
        Some(whole(metrics))
    }

    /// Takes figures of labels.
    pub fn labels(&mut self) -> Option<Vec<LabelCount>> {
        let count = self.number()?;
        let mut labels = Vec::new();
        for _ in 0..count {
            let label = self.small()?;
            let [ended, ok] = self.numbers()?;
            labels.push(LabelCount { label, ended, ok, response: self.buckets()? });
        }
        Some(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_longer_ones_are_none() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            let mut packed = Packed(&bytes);
            assert_eq!((packed.number(), packed.0.len()), (Some(number), 0), "{number}");
            assert_eq!(Packed(&bytes[..bytes.len() - 1]).number(), None, "{number}");
        }
        assert_eq!(Packed(&[0xff; 11]).number(), None);
        let most = [&[0xff; 9][..], &[2]].concat();
        assert_eq!(Packed(&most).number(), None, "65 bits");
    }

    #[test]
    fn lists_that_are_longer_than_what_holds_them_and_places_beyond_all_are_none() {
        let mut bytes = Vec::new();
        [u64::MAX, 1, 1].into_iter().for_each(|number| put(number, &mut bytes));
        assert_eq!(Packed(&bytes).buckets(), None);
        assert_eq!(Packed(&bytes).labels(), None);
        assert_eq!(Packed(&bytes).bytes(), None);
        for (gap, count, holds) in
            [(u64::from(MOST) - 1, 1, true), (u64::from(MOST), 1, false), (3, 0, false)]
        {
            let mut bytes = Vec::new();
            [1, gap, count].into_iter().for_each(|number| put(number, &mut bytes));
            assert_eq!(Packed(&bytes).buckets().is_some(), holds, "{gap} {count}");
        }
    }
}
