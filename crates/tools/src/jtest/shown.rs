//! Texts shown instead of a test, in jtest's manner.

use crate::ToolShown;

/// `EX_USAGE` of sysexits, which the old tool ends with for usage of any kind.
const USAGE: u8 = 64;

pub(super) fn usage(text: String) -> ToolShown {
    ToolShown::refused(text, USAGE)
}

pub(super) fn version() -> ToolShown {
    ToolShown::told(format!("wringer - jtest - {}\n", env!("CARGO_PKG_VERSION")))
}

/// A value that cannot be meant, or a thing that is not done here.
pub(super) fn refused(why: String) -> ToolShown {
    usage(format!("jtest: {why}\n"))
}

/// The command line is understood, but the test cannot begin.
pub(super) fn failed(why: String) -> ToolShown {
    ToolShown::refused(format!("jtest: {why}\n"), 1)
}
