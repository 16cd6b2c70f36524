//! Fairness between the answers of a connection: the bytes of content that each gets, in windows of 100 ms.
//!
//! On the way of each DATA frame it costs an addition; all else is done once a window. Start reading at [`Windows::close`].

use measure::Fairness;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(100);

/// The windows of a connection, one after the other.
pub(super) struct Windows {
    number: u64,
    ends: Instant,
    /// Share of each request, by its place.
    shares: Vec<FairnessShare>,
    /// Figures that have not been told yet.
    found: Fairness,
}

/// Share of one request in its connection.
#[derive(Default)]
struct FairnessShare {
    /// Bytes of content in this window; also of an answer that has ended in it.
    bytes: u64,
    /// The window in which the answer began.
    began: u64,
    /// More of it is to come.
    is_open: bool,
    /// Its client reads slowly: how little comes is its own doing.
    is_slow: bool,
    /// Windows in a row in which others got content and this one none.
    starved: u32,
}

impl Windows {
    pub fn new(now: Instant) -> Windows {
        Windows { number: 1, ends: now + WINDOW, shares: Vec::new(), found: Fairness::default() }
    }

    /// There is another place.
    pub fn add_place(&mut self) {
        self.shares.push(FairnessShare::default());
    }

    /// The client of a request reads slowly, or as fast as it can.
    pub fn set_slow(&mut self, place: usize, slow: bool) {
        self.shares[place].is_slow = slow;
    }

    /// The head of an answer has come.
    #[inline]
    pub fn begin(&mut self, place: usize) {
        let share = &mut self.shares[place];
        (share.began, share.is_open, share.starved) = (self.number, true, 0);
    }

    /// Content has come.
    #[inline]
    pub fn got(&mut self, place: usize, bytes: usize) {
        self.shares[place].bytes += bytes as u64;
    }

    /// Nothing more of an answer is to come.
    #[inline]
    pub fn end(&mut self, place: usize) {
        self.shares[place].is_open = false;
    }

    /// Time has come this far; what comes from here on is of the window that this lies in.
    #[inline]
    pub fn reach(&mut self, now: Instant) {
        if now >= self.ends {
            self.close(now);
        }
    }

    /// Takes the figures found since this was asked last; `None`: nothing.
    #[inline]
    pub fn take(&mut self) -> Option<Fairness> {
        (!self.found.is_none()).then(|| std::mem::take(&mut self.found))
    }

    /// A window is over: judges the answers that were waiting for content in all of it. In windows that have passed since,
    /// nothing came for anybody.
    fn close(&mut self, now: Instant) {
        let all: u64 = self.shares.iter().map(|share| share.bytes).sum();
        let mut count = 0_u32;
        let mut sum = 0.0;
        let mut squares = 0.0;
        for share in &mut self.shares {
            let bytes = std::mem::take(&mut share.bytes);
            if all == 0 || !share.is_open || share.is_slow || share.began == self.number {
                continue;
            }
            share.starved = if bytes == 0 { share.starved.saturating_add(1) } else { 0 };
            self.found.starve(WINDOW.saturating_mul(share.starved));
            let bytes = bytes as f64;
            (count, sum, squares) = (count + 1, sum + bytes, squares + bytes * bytes);
        }
        if count > 1 && sum > 0.0 {
            self.found.index(sum * sum / (f64::from(count) * squares));
        }
        let passed = 1 + (now - self.ends).as_millis() / WINDOW.as_millis();
        let passed = u32::try_from(passed).unwrap_or(u32::MAX);
        self.number += u64::from(passed);
        self.ends += WINDOW.saturating_mul(passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of a connection with so many answers, all of which have begun in the window before.
    fn under_way(answers: usize, begun: Instant) -> Windows {
        let mut windows = Windows::new(begun);
        (0..answers).for_each(|place| {
            windows.add_place();
            windows.begin(place);
        });
        windows.reach(begun + WINDOW);
        assert_eq!(windows.take(), None, "what began in a window was not there in all of it");
        windows
    }

    fn found(windows: &mut Windows) -> (u64, Option<u64>, u64) {
        let found = windows.take().unwrap_or_default();
        (found.windows, found.worst, found.starved_ms)
    }

    #[test]
    fn an_index_of_each_window_after_jain() {
        let begun = Instant::now();
        for (shares, worst) in [
            (&[500, 500, 500, 500][..], Some(1_000_000)),
            (&[4000, 0, 0, 0], Some(250_000)),
            (&[3000, 1000], Some(800_000)),
            (&[4000], None),
        ] {
            let mut windows = under_way(shares.len(), begun);
            shares.iter().enumerate().for_each(|(place, bytes)| windows.got(place, *bytes));
            windows.reach(begun + WINDOW * 2);
            let (count, seen, _) = found(&mut windows);
            assert_eq!((count, seen), (u64::from(worst.is_some()), worst), "{shares:?}");
        }
    }

    #[test]
    fn whoever_has_ended_or_reads_slowly_is_left_out() {
        let begun = Instant::now();
        let mut windows = under_way(4, begun);
        (0..3).for_each(|place| windows.got(place, 100));
        windows.end(2);
        windows.set_slow(3, true);
        windows.reach(begun + WINDOW * 2);
        assert_eq!(found(&mut windows), (1, Some(1_000_000), 0));
    }

    #[test]
    fn starving_is_counted_while_others_get_something() {
        let begun = Instant::now();
        let mut windows = under_way(2, begun);
        let mut at = begun + WINDOW;
        let mut pass = |windows: &mut Windows, count: u32| {
            at += WINDOW * count;
            windows.reach(at);
        };
        for _ in 0..3 {
            windows.got(0, 100);
            pass(&mut windows, 1);
        }
        assert_eq!(found(&mut windows), (3, Some(500_000), 300));
        // While nothing comes at all, nobody takes it from another.
        pass(&mut windows, 7);
        assert_eq!(found(&mut windows), (0, None, 0));
        windows.got(0, 100);
        pass(&mut windows, 1);
        assert_eq!(found(&mut windows), (1, Some(500_000), 400));
        windows.got(1, 100);
        windows.got(0, 100);
        pass(&mut windows, 1);
        windows.got(0, 100);
        pass(&mut windows, 1);
        assert_eq!(found(&mut windows), (2, Some(500_000), 100), "it begins anew");
    }
}
