//! Why there is no run.

/// A reason not to start or not to go on; its text names the thing, the reason and what to try.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A usage error: what was asked for cannot be meant.
    #[error("{0}")]
    Usage(String),
    /// A task that cannot be done here and now.
    #[error("{0}")]
    Impossible(String),
}

impl Problem {
    /// A reason in words.
    pub fn impossible(text: impl Into<String>) -> Problem {
        Problem::Impossible(text.into())
    }
}
