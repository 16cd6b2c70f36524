//! Times of whole seconds, spread at random within their second such that the order of the lines is kept.
//!
//! The places of n requests in a second are those of n independent moments, sorted. Lines of one second need not follow each other:
//! those of the last seconds stay open, so a slow request between two others does not part them.

use super::row::Row;
use crate::moment::SECOND;
use plan::draw::{Draw, hash};
use std::collections::VecDeque;

/// Seconds that stay open behind the latest.
const OPEN: i64 = 60;
/// Requests that wait at most; then the oldest second is closed.
const WAITING: usize = 200_000;

/// Holds requests back until their second is over.
#[derive(Debug)]
pub struct Spread {
    seed: u64,
    /// Open seconds, those that were opened first in front.
    seconds: VecDeque<Second>,
    waiting: usize,
    newest: i64,
    spare: Vec<Vec<Row>>,
}

#[derive(Debug)]
struct Second {
    at: i64,
    rows: Vec<Row>,
}

impl Spread {
    /// Spreads by this seed, which differs from input to input.
    pub fn new(seed: u64) -> Spread {
        Spread { seed, seconds: VecDeque::new(), waiting: 0, newest: i64::MIN, spare: Vec::new() }
    }

    /// Takes a request whose second is this one, in microseconds; hands over those whose second is over.
    pub fn put(&mut self, second_us: i64, row: Row, mut out: impl FnMut(Row)) {
        let at = second_us.div_euclid(SECOND);
        let known = self.seconds.iter().rposition(|second| second.at == at);
        let place = known.unwrap_or_else(|| {
            let rows = self.spare.pop().unwrap_or_default();
            self.seconds.push_back(Second { at, rows });
            self.seconds.len() - 1
        });
        self.seconds[place].rows.push(row);
        self.waiting += 1;
        if at > self.newest {
            self.newest = at;
            while self.seconds.front().is_some_and(|second| second.at < self.newest - OPEN) {
                self.close(&mut out);
            }
        }
        while self.waiting > WAITING || self.seconds.len() > OPEN as usize * 2 {
            self.close(&mut out);
        }
    }

    /// Hands over all that wait.
    pub fn finish(&mut self, mut out: impl FnMut(Row)) {
        while !self.seconds.is_empty() {
            self.close(&mut out);
        }
    }

    fn close(&mut self, out: &mut impl FnMut(Row)) {
        let Some(mut second) = self.seconds.pop_front() else { return };
        self.waiting -= second.rows.len();
        let count = second.rows.len();
        let draw = Draw::new(hash(self.seed, second.at as u64), count as u64);
        for (mut row, offset) in second.rows.drain(..).zip(sorted_moments(draw, count)) {
            row.begin_us += offset;
            out(row);
        }
        if self.spare.len() < OPEN as usize {
            self.spare.push(second.rows);
        }
    }
}

/// So many independent moments of a second in order, in microseconds. Sums of exponential gaps, divided by their whole, are
/// distributed like sorted uniform numbers.
fn sorted_moments(draw: Draw, count: usize) -> impl Iterator<Item = i64> {
    let gap = |draw: &mut Draw| -(1.0 - draw.unit()).ln();
    // The stream is walked twice, for the sum and for the parts, which needs no memory.
    let mut ahead = draw.clone();
    let whole: f64 = (0..=count).map(|_| gap(&mut ahead)).sum();
    let mut draw = draw;
    let mut sum = 0.0;
    (0..count).map(move |_| {
        sum += gap(&mut draw);
        ((sum / whole * SECOND as f64) as i64).min(SECOND - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(seconds: &[i64]) -> Vec<Row> {
        let mut spread = Spread::new(5);
        let mut out = Vec::new();
        for (number, second) in seconds.iter().enumerate() {
            let row = Row { begin_us: second * SECOND, object: number as u32, ..Row::default() };
            spread.put(second * SECOND, row, |row| out.push(row));
        }
        spread.finish(|row| out.push(row));
        out
    }

    #[test]
    fn the_order_within_a_second_is_kept_also_across_others() {
        let mut rows = spread(&[100, 100, 97, 100, 101, 100]);
        rows.sort_by_key(|row| row.begin_us);
        let order: Vec<u32> = rows.iter().map(|row| row.object).collect();
        assert_eq!(order, [2, 0, 1, 3, 5, 4]);
        assert!(rows.iter().all(|row| matches!(row.begin_us / SECOND, 97 | 100 | 101)));
    }

    #[test]
    fn moments_are_uniform() {
        let rows = spread(&vec![100; 10_000]);
        let mean = rows.iter().map(|row| (row.begin_us % SECOND) as f64).sum::<f64>() / 1e4;
        assert!((mean - 500_000.0).abs() < 15_000.0, "{mean}");
        assert!(rows.windows(2).all(|pair| pair[0].begin_us <= pair[1].begin_us));
        // The gaps of a Poisson process: half of them are shorter than ln 2 of their mean.
        let mut gaps: Vec<i64> = rows.windows(2).map(|pair| pair[1].begin_us - pair[0].begin_us).collect();
        gaps.sort_unstable();
        assert!((65..=74).contains(&gaps[5_000]), "{}", gaps[5_000]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut spread = Spread::new(1);
        let mut out = 0;
        for _ in 0..WAITING * 3 {
            spread.put(0, Row::default(), |_| out += 1);
            assert!(spread.waiting <= WAITING);
        }
        spread.finish(|_| out += 1);
        assert_eq!(out, WAITING * 3);
    }
}
