//! Why there is no recording.

/// A reason; its text names the thing, the reason and what to try.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// A wish that cannot be meant.
    #[error("{0}")]
    Usage(String),
    /// A task that cannot be done here and now.
    #[error("{0}")]
    Impossible(String),
}
