//! Findings of stress, size, probe and arena have one form: the same lines at the end, the same form as JSON, the same exit codes.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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

/// Findings as they are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Written<F> {
    /// The name of this form.
    pub schema: Cow<'static, str>,
    /// Raised when a field changes its meaning, unit or place, or goes away.
    pub schema_version: u32,
    /// The version of wringer.
    pub version: Cow<'static, str>,
    /// Exit code of the command; `null`: it is not over.
    pub exit: Option<u8>,
    /// The first lines of what was printed.
    pub text: String,
    /// The findings.
    #[serde(flatten)]
    pub report: F,
}

impl<'a, F: Findings> Written<&'a F> {
    /// The version of the form.
    pub const VERSION: u32 = 1;

    /// Findings in their form.
    pub fn of(report: &'a F, version: &'static str, exit: Option<u8>) -> Written<&'a F> {
        Written {
            schema: Cow::Borrowed(F::SCHEMA),
            schema_version: Self::VERSION,
            version: Cow::Borrowed(version),
            exit,
            text: report.headline(),
            report,
        }
    }
}
