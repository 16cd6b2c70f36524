//! Limits of the user's own for every run of this process, whichever command line asks for it. Who reads them is the binary's affair.

use crate::problem::Problem;
use plan::Plan;
use std::sync::OnceLock;

/// Limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Refuses a plan beyond them.
    pub refuse: session::Guard,
    /// True if connections go nowhere but to the hosts that plans name.
    pub confined: fn() -> bool,
}

static LIMITS: OnceLock<Limits> = OnceLock::new();

/// These limits hold.
pub fn set(limits: Limits) {
    // They are set once, before anything runs.
    let _ = LIMITS.set(limits);
}

/// The limits, where there are any.
pub(crate) fn held() -> Option<Limits> {
    LIMITS.get().copied()
}

/// Refuses a plan beyond the limits.
///
/// # Errors
/// The limit that it breaks.
pub fn refuse(plan: &Plan) -> Result<(), Problem> {
    LIMITS.get().map_or(Ok(()), |limits| (limits.refuse)(plan)).map_err(Problem::from)
}
