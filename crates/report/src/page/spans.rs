//! Histograms over time: the heat map, and what figures of a part of a run are read from. Buckets are those of
//! [`measure::Buckets`], coarsened by halving their number per octave, which commutes with adding.

use measure::{Buckets, Digits};
use serde::{Serialize, Serializer};

/// Halvings of an octave in two digits.
const FINEST: u32 = 7;
/// Empty buckets that a run may hold before a new one begins.
const BRIDGED: u32 = 2;

/// Buckets that hold something, by number, in two digits or coarser.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cells(Vec<(u32, u64)>);

impl Cells {
    /// Those of a record, which are in two digits.
    pub fn of(buckets: &Buckets) -> Cells {
        Cells(buckets.iter().collect())
    }

    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    pub fn merge(&mut self, other: &Cells) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let mut sum = Vec::with_capacity(self.0.len() + other.0.len());
        let mut mine = self.0.iter().copied().peekable();
        let mut theirs = other.0.iter().copied().peekable();
        loop {
            let next = match (mine.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a.0 == b.0 => theirs
                    .next()
                    .and_then(|(_, more)| mine.next().map(|(bucket, count)| (bucket, count + more))),
                (Some(a), Some(b)) if b.0 < a.0 => theirs.next(),
                (Some(_), _) => mine.next(),
                (None, _) => theirs.next(),
            };
            match next {
                Some(cell) => sum.push(cell),
                None => break,
            }
        }
        self.0 = sum;
    }

    /// The value, in µs, below or at which this share of all lies: the middle of its bucket.
    pub fn percentile(&self, quantile: f64) -> Option<f64> {
        let wanted = ((quantile * self.total() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += count;
            seen >= wanted
        });
        found.map(|(bucket, _)| Digits::Two.middle(*bucket) as f64)
    }

    /// The same with fewer buckets per octave.
    fn coarsened(&self, bits: u32) -> Cells {
        let mut coarse: Vec<(u32, u64)> = Vec::new();
        for (bucket, count) in &self.0 {
            let bucket = bucket_of(Digits::Two.lowest(*bucket), bits);
            match coarse.last_mut() {
                Some((last, sum)) if *last == bucket => *sum += count,
                _ => coarse.push((bucket, *count)),
            }
        }
        Cells(coarse)
    }
}

/// The bucket of a value where each octave has 2^bits.
fn bucket_of(value: u64, bits: u32) -> u32 {
    let shift = (63 - (value | 1).leading_zeros()).saturating_sub(bits);
    (shift << bits) + (value >> shift) as u32
}

/// `[[gap, n, n, …], …]`, as records have them.
impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut runs: Vec<Vec<u64>> = Vec::new();
        let mut next = 0;
        for (bucket, count) in &self.0 {
            let gap = bucket - next;
            match runs.last_mut() {
                Some(run) if gap <= BRIDGED => {
                    run.extend((0..gap).map(|_| 0));
                    run.push(*count);
                }
                _ => runs.push(vec![u64::from(gap), *count]),
            }
            next = bucket + 1;
        }
        runs.serialize(to)
    }
}

/// The histograms of one metric over time, as they are sent: how many rows each stands for, and its buckets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Spans {
    bits: u32,
    #[cfg_attr(test, schemars(with = "Vec<(usize, Vec<Vec<u64>>)>"))]
    spans: Vec<(usize, Cells)>,
}

impl Spans {
    /// Of so many spans at most, as fine as `room` allows: it counts buckets with something in them. The last row stands alone,
    /// because it may be told again.
    pub fn of<'a>(rows: impl ExactSizeIterator<Item = Option<&'a Cells>>, most: usize, room: usize) -> Spans {
        let joined = rows.len().div_ceil(most.max(1)).max(1);
        let last = rows.len().saturating_sub(1);
        let mut fine: Vec<(usize, Cells)> = Vec::new();
        for (row, cells) in rows.enumerate() {
            if row % joined == 0 || row == last {
                fine.push((0, Cells::default()));
            }
            if let Some((length, span)) = fine.last_mut() {
                *length += 1;
                cells.into_iter().for_each(|cells| span.merge(cells));
            }
        }
        let mut bits = FINEST;
        let mut spans = fine.clone();
        while bits > COARSEST && spans.iter().map(|(_, cells)| cells.0.len()).sum::<usize>() > room {
            bits -= 1;
            spans = fine.iter().map(|(length, cells)| (*length, cells.coarsened(bits))).collect();
        }
        Spans { bits, spans }
    }

    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|(_, cells)| cells.0.is_empty())
    }
}

/// Eight rows per octave: those of the heat map.
const COARSEST: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[u64]) -> Cells {
        let mut histogram = measure::Histogram::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        Cells::of(&Buckets::of(&histogram, Digits::Two))
    }

    #[test]
    fn sums_in_any_order_and_coarseness_are_the_same() {
        let a = cells(&[1, 300, 301, 40_000]);
        let b = cells(&[300, 5_000, 3_000_000]);
        let mut ab = a.clone();
        let mut ba = b.clone();
        ab.merge(&b);
        ba.merge(&a);
        assert_eq!(ab, ba);
        let mut coarse = a.coarsened(3);
        coarse.merge(&b.coarsened(3));
        assert_eq!(coarse, ab.coarsened(3));
        assert_eq!(coarse.total(), 7);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values_to_two_digits() {
        let values: Vec<u64> = (1..=1000).map(|n| n * n).collect();
        let cells = cells(&values);
        for quantile in [0.0, 0.5, 0.99, 1.0] {
            let exact = values[((quantile * 1000.0) as usize).clamp(1, 1000) - 1] as f64;
            let told = cells.percentile(quantile).unwrap();
            assert!((told - exact).abs() <= 0.008 * exact + 1.0, "p{quantile}: {told} for {exact}");
        }
        assert_eq!(Cells::default().percentile(0.5), None);
    }

    #[test]
    fn many_rows_become_few_spans_that_hold_all() {
        let rows: Vec<Cells> = (1..=1000).map(|n| cells(&[n, 10 * n])).collect();
        let spans = Spans::of(rows.iter().map(Some), 300, 2_000);
        // Of four rows each, but for the last row.
        assert_eq!((spans.bits, spans.spans.len()), (7, 251));
        assert_eq!(spans.spans.last().map(|(length, _)| *length), Some(1));
        assert_eq!(spans.spans.iter().map(|(length, _)| length).sum::<usize>(), 1000);
        assert_eq!(spans.spans.iter().map(|(_, cells)| cells.total()).sum::<u64>(), 2000);
        assert_eq!(Spans::of(rows.iter().map(Some), 300, 10).bits, COARSEST);
        assert!(Spans::of([None].into_iter(), 300, 10).is_empty());
        assert_eq!(serde_json::to_string(&cells(&[3, 4, 4, 7, 200])).unwrap(), "[[3,1,2,0,0,1],[192,1]]");
    }
}
