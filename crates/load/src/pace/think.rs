//! [`Think`]: the time that users of a closed pace think between two requests.

use plan::Delay;
use plan::draw::{Draw, hash};
use std::time::Duration;

/// The time that users think, drawn for each request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Think {
    pub law: Delay,
    pub seed: u64,
}

impl Think {
    /// The time after request `number`.
    pub fn after(&self, number: u64) -> Duration {
        if self.law == Delay::None {
            return Duration::ZERO;
        }
        self.law.draw(&mut Draw::new(self.seed, number))
    }

    /// The time before a user's first request: the rest of a thought, so that users who come together do not stay together,
    /// and come at the rate at which they go on.
    pub fn before(&self, user: u64) -> Duration {
        self.law.draw_rest(&mut Draw::new(hash(self.seed, 0xF1), user))
    }
}
