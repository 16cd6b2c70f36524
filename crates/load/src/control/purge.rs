//! Purges that are no requests: a worker orders them, somebody outside carries them out, and the worker hears when that is done.

use std::sync::mpsc::Sender;

/// A purge to be carried out.
#[derive(Debug)]
pub struct PurgeOrder {
    /// The command of the plan.
    pub command: String,
    /// The path of the object.
    pub path: String,
    /// Names the object and variant for the worker.
    pub(crate) key: u64,
    /// Number of the object.
    pub(crate) object: u64,
    /// Its size.
    pub(crate) size: u64,
    /// Tells the worker.
    pub(crate) to: Sender<PurgeDone>,
}

/// A purge that was carried out, or failed.
#[derive(Debug, Clone, Copy)]
pub struct PurgeDone {
    pub(crate) key: u64,
    pub(crate) object: u64,
    pub(crate) size: u64,
    pub(crate) began_us: u64,
    pub(crate) ended_us: u64,
    pub(crate) good: bool,
}

impl PurgeOrder {
    /// Tells the worker that it was carried out between these moments, in microseconds since 1970, or failed.
    pub fn carried_out(self, began_us: u64, ended_us: u64, good: bool) {
        let PurgeOrder { command: _, path: _, key, object, size, to } = self;
        // A worker that has ended need not know.
        let _ = to.send(PurgeDone { key, object, size, began_us, ended_us, good });
    }
}
