//! Findings of stress, probe and arena have one form: the same lines at the end, the same form as JSON, the same exit codes.

use serde::Serialize;

/// Findings of many runs.
pub trait Findings: Serialize {
    /// The name of their form as JSON.
    const SCHEMA: &'static str;

    /// The exit code, where nobody ended the command: 3 where something was wrong, 1 where nothing could be told.
    fn code(&self) -> u8;

    /// All of them, as printed.
    fn text(&self) -> String;

    /// Their first lines.
    fn headline(&self) -> String;
}
