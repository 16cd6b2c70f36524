//! Texts shown instead of a test, in jtest's manner.

use crate::Shown;

/// `EX_USAGE` of sysexits, which the old tool ends with for usage of any kind.
const USAGE: u8 = 64;

pub(super) fn usage(text: String) -> Shown {
    Shown::refused(text, USAGE)
}

pub(super) fn version() -> Shown {
    Shown::told(format!("wringer - jtest - {}\n", env!("CARGO_PKG_VERSION")))
}

/// A value that cannot be meant, or a thing that is not done here.
pub(super) fn refused(why: String) -> Shown {
    usage(format!("jtest: {why}\n"))
}

/// The command line is understood, but the test cannot begin.
pub(super) fn failed(why: String) -> Shown {
    Shown::refused(format!("jtest: {why}\n"), 1)
}
