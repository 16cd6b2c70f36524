//! [`Awake`]: the time of a program that looks around again and again, which does not go on while the program itself stands still.

use std::time::Duration;

/// Who has not looked around for so long was kept from running: by a signal, a debugger, or a machine that paused.
const STOOD_STILL: Duration = Duration::from_secs(2);

/// The time in which it was awake. Silence is measured by it: who stood still heard nobody, however much was said.
#[derive(Debug, Clone, Copy, Default)]
pub struct Awake {
    looked: Option<Duration>,
    stood_still: Duration,
}

impl Awake {
    /// The program looks around. Returns how long it has stood still before; zero where it has not.
    pub fn look(&mut self, now: Duration) -> Duration {
        let gap = self.looked.map_or(Duration::ZERO, |looked| now.saturating_sub(looked));
        self.looked = Some(now);
        if gap < STOOD_STILL {
            return Duration::ZERO;
        }
        self.stood_still += gap;
        gap
    }

    /// The same, and the time in which it was awake, since when it does not matter.
    pub fn at(&mut self, now: Duration) -> Duration {
        self.look(now);
        self.time(now)
    }

    /// The time in which it was awake, as of its last look.
    pub fn time(&self, now: Duration) -> Duration {
        now.saturating_sub(self.stood_still)
    }
}

/// Why an agent is gone, where the controller had stood still for longer than agents go on without hearing from it.
pub fn behind_standstill(why: &str, stood_still: Duration, lease: Duration) -> String {
    format!(
        "{why}, after this controller itself had not run for {:.1} s; agents end by themselves when they hear nothing for {} s",
        stood_still.as_secs_f64(),
        lease.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_while_somebody_looks() {
        let seconds = Duration::from_secs;
        let mut awake = Awake::default();
        // Before the first look it may have been anything.
        assert_eq!(awake.at(seconds(100)), seconds(100));
        assert_eq!(awake.at(seconds(101)), seconds(101));
        assert_eq!((awake.look(seconds(113)), awake.time(seconds(113))), (seconds(12), seconds(101)));
        assert_eq!((awake.look(seconds(114)), awake.time(seconds(114))), (Duration::ZERO, seconds(102)));
        assert_eq!(awake.at(seconds(116)), seconds(102));
    }
}
