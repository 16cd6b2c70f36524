//! Disturbances that a machine always has: CPU time that its host gives to other machines, and sends that are late by it.
//!
//! They come to both sides alike, since their order was drawn, so that they widen intervals and move none. On a shared host they never end, and limits that
//! are the same everywhere would leave no verdict there at all: the uncounted block tells how much is usual, and a leg with far more is void.

use super::leg::LegResult;
use crate::void::Void;
use crate::words;

/// A leg is void beyond so many times the most that the uncounted block had.
const TIMES_USUAL: f64 = 3.0;

/// How much of them a leg may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Disturbance {
    /// Share of the machine's CPU time that its host gave to others (steal).
    stolen: f64,
    /// Milliseconds by which sends were late, one in a hundred by more.
    late_ms: f64,
}

/// Worth a word.
const TOLD: Disturbance = Disturbance { stolen: 0.02, late_ms: 5.0 };
/// The uncounted block lasts for some seconds, and a host has moods of minutes: no leg is void by less than this.
const LEAST: Disturbance = Disturbance { stolen: 0.05, late_ms: 10.0 };
/// However usual it is, so much is too much.
const MOST: Disturbance = Disturbance { stolen: 0.2, late_ms: 50.0 };

impl Disturbance {
    /// The limits before it is known what is usual.
    pub const UNKNOWN: Disturbance = MOST;

    /// The limits by what the legs of the uncounted block had.
    pub fn usual<'a>(legs: impl IntoIterator<Item = &'a LegResult>) -> Disturbance {
        let most = Disturbance::most_of(legs);
        Disturbance {
            stolen: (TIMES_USUAL * most.stolen).clamp(LEAST.stolen, MOST.stolen),
            late_ms: (TIMES_USUAL * most.late_ms).clamp(LEAST.late_ms, MOST.late_ms),
        }
    }

    fn most_of<'a>(legs: impl IntoIterator<Item = &'a LegResult>) -> Disturbance {
        let none = Disturbance { stolen: 0.0, late_ms: 0.0 };
        legs.into_iter().fold(none, |most, leg| Disturbance {
            stolen: most.stolen.max(leg.stolen.unwrap_or(0.0)),
            late_ms: most.late_ms.max(leg.late_ms.unwrap_or(0.0)),
        })
    }

    /// The reason why a leg with this result is void.
    pub fn void(self, leg: &LegResult) -> Option<Void> {
        let stolen = leg.stolen.filter(|stolen| *stolen >= self.stolen).map(|stolen| {
            format!(
                "the host gave {} of this machine's CPU time to others (steal), and a leg may have {} here: use a host that is not shared",
                words::percent(stolen),
                words::percent(self.stolen)
            )
        });
        let late = || {
            leg.late_ms.filter(|late| *late > self.late_ms).map(|late| {
                format!(
                    "sends were late by {late:.1} ms (p99) though the generator had CPU to spare, and a leg may have {:.1} ms here: see whether the \
                     machine pauses (power saving, a virtual machine)",
                    self.late_ms
                )
            })
        };
        stolen.or_else(late).map(|why| Void::Disturbed { why })
    }
}

/// Sentences on what legs that count had of it, where it is more than disturbs nobody.
pub(super) fn notes<'a>(legs: impl IntoIterator<Item = &'a LegResult>) -> Vec<String> {
    let most = Disturbance::most_of(legs);
    let stolen = (most.stolen >= TOLD.stolen).then(|| {
        format!(
            "the host gave up to {} of this machine's CPU time to others in legs that count (steal): that comes to both sides alike, as their \
             order was drawn, and hides small differences: a host that is not shared shows them",
            words::percent(most.stolen)
        )
    });
    let late = (most.late_ms > TOLD.late_ms).then(|| {
        format!(
            "sends were late by up to {:.1} ms (p99) in legs that count, as the machine paused: response times of both sides hold that, and \
             smaller differences of p99 are hidden",
            most.late_ms
        )
    });
    stolen.into_iter().chain(late).collect()
}
