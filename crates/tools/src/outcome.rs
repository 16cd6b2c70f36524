//! Outcome of reading an old tool's command line: a test, or a text instead of one.

use plan::Plan;
use std::path::PathBuf;

/// A test, and how the tool would have shown it.
#[derive(Debug)]
pub struct Run<V> {
    /// The test. Of all tools but siege and http_load it has passed [`Plan::check`].
    pub plan: Plan,
    /// Values and settings for its output, shown and kept.
    pub view: V,
    /// Notices about what is taken differently than by the tool; a line each, only where this command line is concerned.
    pub notices: Vec<String>,
    /// Receives the result as JSON.
    pub json: Option<PathBuf>,
    /// The plan is to be printed instead of run.
    pub show_plan: bool,
}

/// Text shown instead of a test: usage, version, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolShown {
    /// On standard output, with its line ends.
    pub out: String,
    /// On standard error, likewise.
    pub err: String,
    /// Exit code of the process.
    pub exit: u8,
}

impl ToolShown {
    /// Returns the text that was asked for, to be shown on standard output.
    pub fn told(out: String) -> ToolShown {
        ToolShown { out, ..ToolShown::default() }
    }

    /// Why there is no test, on standard error.
    pub fn refused(err: String, exit: u8) -> ToolShown {
        ToolShown { err, exit, ..ToolShown::default() }
    }

    /// As the tools of wrk's family: a complaint, where there is one, on standard error, and the usage.
    pub(crate) fn complaint(complaint: &str, usage: String) -> ToolShown {
        let err = if complaint.is_empty() { String::new() } else { format!("{complaint}\n") };
        ToolShown { out: usage, err, exit: 1 }
    }
}
