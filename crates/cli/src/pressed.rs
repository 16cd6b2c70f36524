//! The proxy that is pressed: one that runs, or one that wringer starts.

/// Target of the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A proxy that runs already.
    Proxy(String),
    /// A rig to be started.
    Rig {
        /// Its name.
        name: String,
        /// Its worker threads.
        workers: u16,
    },
    /// A command that starts a proxy.
    Command(String),
    /// The demonstration cache.
    Demonstration,
}

impl Target {
    /// True if wringer starts it.
    pub fn is_ours(&self) -> bool {
        !matches!(self, Target::Proxy(_))
    }
}
