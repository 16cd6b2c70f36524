//! How fast clients read, and when they lose patience.

use crate::units::duration_text;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How fast clients read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// Bytes per second at which a slow client reads; `None`: as fast as it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
    /// Share of requests read at that speed.
    pub slow: f64,
    /// jtest's `-o`: an answer slower than this for too long is broken off and another is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub give_up: Option<GiveUp>,
}

impl Reading {
    /// True if all is read as fast as it comes.
    pub fn is_default(&self) -> bool {
        *self == Reading::default()
    }

    /// Bytes that a slow client reads at once: fifty reads a second, so that the peer sees a steady trickle.
    pub fn trickle(&self) -> Option<u64> {
        self.bytes_per_second.filter(|_| self.slow > 0.0).map(|speed| (speed / 50).clamp(1, 65_536))
    }
}

/// When a client loses patience with a slow answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GiveUp {
    /// Bytes per second below which the answer is too slow.
    pub below_bytes_per_second: u64,
    /// Not before this long.
    #[serde(with = "duration_text")]
    #[cfg_attr(test, schemars(with = "crate::units::DurationText"))]
    pub after: Duration,
    /// Not before this many bytes.
    pub after_bytes: u64,
}
