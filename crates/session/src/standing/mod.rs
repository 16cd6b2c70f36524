//! An agent that stays on a bus, where this build has one.

use crate::agent::AgentOptions;
use crate::bus::BusAt;

#[cfg(feature = "nats")]
mod stays;

#[cfg(feature = "nats")]
pub use stays::stand;

/// An agent that stays, and how.
pub struct Standing {
    /// The bus.
    pub at: BusAt,
    /// Its name there.
    pub name: String,
    /// It ends when it has carried one load.
    pub once: bool,
    /// Rules that it is held to.
    pub options: AgentOptions,
    /// Told a line for each thing that its owner may want to know later.
    pub journal: fn(&str),
}

/// Refuses to stay.
///
/// # Errors
/// This build has no bus.
#[cfg(not(feature = "nats"))]
pub fn stand(
    standing: &Standing,
    _stop: &std::sync::atomic::AtomicBool,
) -> Result<(), crate::problem::Problem> {
    Err(crate::bus::missing(&standing.at))
}
