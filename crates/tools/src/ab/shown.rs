//! Texts shown instead of a test, in ab's manner.

use super::args;
use crate::ToolShown;

/// The old tool's code for usage of any kind: EINVAL.
pub(super) const USAGE: u8 = 22;
/// Its code for a name that nobody knows, 670002, cut to a byte.
pub(super) const UNKNOWN_HOST: u8 = 50;

/// Why, and the usage.
pub(super) fn usage(why: &str) -> ToolShown {
    let why = if why.is_empty() { String::new() } else { format!("ab: {why}\n") };
    ToolShown::refused(format!("{why}{}", args::usage()), USAGE)
}

/// A line, and the blank one that the old tool has after it.
pub(super) fn refused(why: &str) -> ToolShown {
    ToolShown::refused(format!("{why}\n\n"), 1)
}

/// A line.
pub(super) fn failed(why: &str) -> ToolShown {
    ToolShown::refused(format!("{why}\n"), 1)
}
