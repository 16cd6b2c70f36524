//! Watches over a live copy: how much of the processor it uses, and for how long its log has been silent. Both are told the time, and have
//! no clock of their own.

use std::time::{Duration, Instant};

/// The processor is used too much for so long before the copy ends.
const TOO_MUCH: u32 = 5;
/// Time over which use is measured, at least.
const STEP: Duration = Duration::from_secs(1);
/// A log is called silent after so long.
pub const SILENT: Duration = Duration::from_secs(10);

/// Processor time of the copy.
#[derive(Debug, Clone)]
pub struct Processor {
    began: WatchPoint,
    last: WatchPoint,
    /// Where the first of the seconds began that were too much and followed one another.
    above: Option<WatchPoint>,
    seconds_above: u32,
    busiest: f64,
}

/// Processor time that had been used at a moment.
#[derive(Debug, Clone, Copy)]
struct WatchPoint {
    at: Instant,
    used: Duration,
}

impl WatchPoint {
    /// The share of a core that was used since an earlier one.
    fn share_since(self, before: WatchPoint) -> f64 {
        let used = self.used.saturating_sub(before.used);
        used.as_secs_f64() / self.at.saturating_duration_since(before.at).as_secs_f64().max(1e-9)
    }
}

/// Shares of a core that a copy used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Use {
    /// From its beginning on.
    pub mean: f64,
    /// In its busiest second.
    pub busiest: f64,
}

impl Processor {
    /// Begins to watch; `used`: processor time that was used before.
    pub fn new(now: Instant, used: Duration) -> Processor {
        let began = WatchPoint { at: now, used };
        Processor { began, last: began, above: None, seconds_above: 0, busiest: 0.0 }
    }

    /// True if a second is over since it was last told, so that it should be told again.
    pub fn is_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last.at) >= STEP
    }

    /// Takes what had been used by now. The share of a core that was used over the last seconds, once it has been more than `most` in each
    /// of five.
    pub fn too_much(&mut self, now: Instant, used: Duration, most: f64) -> Option<f64> {
        let point = WatchPoint { at: now, used };
        let share = point.share_since(self.last);
        self.busiest = self.busiest.max(share);
        if share > most {
            self.above.get_or_insert(self.last);
            self.seconds_above += 1;
        } else {
            (self.above, self.seconds_above) = (None, 0);
        }
        self.last = point;
        self.above.filter(|_| self.seconds_above >= TOO_MUCH).map(|above| point.share_since(above))
    }

    /// Shares so far; none before the first second is over.
    pub fn seen(&self) -> Option<Use> {
        let is_told = self.last.at > self.began.at;
        is_told.then(|| Use { mean: self.last.share_since(self.began), busiest: self.busiest })
    }
}

/// Time since a log told something.
#[derive(Debug, Clone, Copy)]
pub struct Silence {
    heard: Instant,
    is_told: bool,
}

impl Silence {
    /// A log that was heard now.
    pub fn new(now: Instant) -> Silence {
        Silence { heard: now, is_told: false }
    }

    /// Takes whether something came; true once in each silence, when it has become long.
    pub fn is_to_be_told(&mut self, now: Instant, came: bool) -> bool {
        if came {
            *self = Silence::new(now);
            return false;
        }
        let is_long = now.saturating_duration_since(self.heard) > SILENT;
        is_long && !std::mem::replace(&mut self.is_told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells a copy that is allowed a quarter of a core what it used in each second, in percent; the second in which it ended, and the share
    /// that is told.
    fn ended(percent: &[u64]) -> (Option<(usize, f64)>, Option<Use>) {
        let begin = Instant::now();
        let before = Duration::from_secs(7);
        let mut processor = Processor::new(begin, before);
        let mut used = before;
        for (second, percent) in percent.iter().enumerate() {
            let now = begin + STEP * (second as u32 + 1);
            assert!(!processor.is_due(now - Duration::from_millis(1)) && processor.is_due(now));
            used += Duration::from_millis(percent * 10);
            if let Some(share) = processor.too_much(now, used, 0.25) {
                return (Some((second + 1, share)), processor.seen());
            }
        }
        (None, processor.seen())
    }

    #[test]
    fn five_seconds_of_too_much_end_it_and_their_mean_is_told() {
        let (end, seen) = ended(&[10, 30, 40, 50, 60, 70, 80]);
        assert_eq!(end.map(|(second, share)| (second, (share * 100.0).round())), Some((6, 50.0)));
        let seen = seen.expect("seconds are over");
        assert_eq!(((seen.mean * 600.0).round(), (seen.busiest * 100.0).round()), (260.0, 70.0));
        assert_eq!(ended(&[90; 5]).0.map(|(second, _)| second), Some(5));
    }

    /// Use before it began is not its own, one quiet second begins a new count, and just as much as is allowed is not too much.
    #[test]
    fn four_seconds_of_too_much_are_allowed_again_and_again() {
        assert_eq!(ended(&[99, 99, 99, 99, 10, 99, 99, 99, 99, 25, 99, 99]).0, None);
        assert_eq!(ended(&[25; 60]).0, None);
        let (end, seen) = ended(&[]);
        assert_eq!((end, seen), (None, None));
    }

    /// A step that took longer, as when the machine slept, counts as one, by its share.
    #[test]
    fn long_steps_count_by_their_share() {
        let begin = Instant::now();
        let mut processor = Processor::new(begin, Duration::ZERO);
        for step in 1..=20 {
            let now = begin + Duration::from_secs(10) * step;
            let used = Duration::from_secs(2) * step;
            assert_eq!(processor.too_much(now, used, 0.25), None);
        }
        assert!(processor.seen().is_some_and(|seen| (seen.mean - 0.2).abs() < 1e-9));
    }

    #[test]
    fn a_silence_is_told_once() {
        let begin = Instant::now();
        let at = |second: u64| begin + Duration::from_secs(second);
        let mut silence = Silence::new(begin);
        let told: Vec<u64> =
            (1..60).filter(|second| silence.is_to_be_told(at(*second), *second == 30)).collect();
        assert_eq!(told, [11, 41], "10 s of it, and again after something came at 30 s");
        let mut silence = Silence::new(begin);
        assert!((1..60).all(|second| !silence.is_to_be_told(at(second), second % 10 == 0)));
    }
}
