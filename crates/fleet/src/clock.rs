//! The clock of an agent against the controller's: from the shortest of the last ways there and back.

use std::collections::VecDeque;
use std::time::Duration;

/// Ways there and back that are looked at.
const LOOKED_AT: usize = 16;

/// A question and its answer.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    round_trip: Duration,
    /// How much the agent's clock is ahead, in µs.
    ahead_us: i64,
}

/// Knowledge of an agent's clock.
#[derive(Debug, Default)]
pub(crate) struct Clock(VecDeque<Exchange>);

impl Clock {
    /// An answer came. `asked`, `answered`: by the controller's clock; `held`: how long the agent kept it; `there_us`: the agent's
    /// clock when it answered.
    pub fn take(&mut self, asked: Duration, answered: Duration, held: Duration, there_us: u64) {
        let Some(round_trip) = answered.checked_sub(asked).and_then(|all| all.checked_sub(held)) else {
            return;
        };
        let middle = answered.saturating_sub(round_trip / 2);
        // An agent may say anything.
        let ahead_us = (there_us as i64).saturating_sub(middle.as_micros() as i64);
        if self.0.len() == LOOKED_AT {
            self.0.pop_front();
        }
        self.0.push_back(Exchange { round_trip, ahead_us });
    }

    fn best(&self) -> Option<&Exchange> {
        self.0.iter().min_by_key(|exchange| exchange.round_trip)
    }

    /// How many answers there were, up to sixteen.
    pub fn answers(&self) -> usize {
        self.0.len()
    }

    /// The longest of the last ways there and back.
    pub fn longest(&self) -> Duration {
        self.0.iter().map(|exchange| exchange.round_trip).max().unwrap_or_default()
    }

    /// How far the clock may be off from what is thought.
    pub fn error(&self) -> Duration {
        self.best().map_or(Duration::ZERO, |best| best.round_trip / 2)
    }

    /// How much the agent's clock is ahead, in µs.
    pub fn ahead_us(&self) -> i64 {
        self.best().map_or(0, |best| best.ahead_us)
    }

    /// A moment of the controller's by the agent's clock, in µs.
    pub fn there(&self, moment: Duration) -> u64 {
        (moment.as_micros() as i64).saturating_add(self.ahead_us()).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_decides_and_tells_its_error() {
        let ms = Duration::from_millis;
        let mut clock = Clock::default();
        // The agent's clock is 5 s ahead; one way takes 1 ms, back 3 ms, then both 1 ms.
        clock.take(ms(100), ms(104), ms(0), 5_101_000);
        clock.take(ms(200), ms(212), ms(10), 5_211_000);
        assert_eq!((clock.there(ms(1_000)), clock.error(), clock.longest()), (6_000_000, ms(1), ms(4)));
        clock.take(ms(300), ms(299), ms(0), 1);
        assert_eq!(clock.answers(), 2, "a clock that goes backwards says nothing");
        clock.take(ms(300), ms(301), ms(0), 1 << 63);
        assert_eq!(clock.answers(), 3, "a clock of three hundred thousand years is a clock");
    }
}
