//! What the doors of wrk's family show instead of a test.

/// What is shown instead of a test.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    /// For standard error: why there is no test, a line for each reason; empty where there is nothing to say.
    pub complaint: String,
    /// For standard output: version and usage.
    pub text: String,
}
