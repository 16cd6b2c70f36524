//! Parts of a load that somebody else has begun: from where they go on.

use super::Control;
use std::sync::atomic::Ordering;

/// Parts that go on where somebody else was lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resume {
    /// The phase in which that was, by its number.
    pub phase: usize,
    /// Number of the first part.
    pub first: u32,
    /// Requests that each part is known to have begun in that phase.
    pub done: Vec<u64>,
}

/// The place at which one part goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resumed {
    pub phase: usize,
    pub done: u64,
}

impl Control {
    /// The workers' parts were begun by somebody else.
    #[must_use]
    pub fn resuming(self, resume: Option<Resume>) -> Control {
        Control { resume, ..self }
    }

    /// The place at which a part goes on; nothing where it begins at the beginning.
    pub(crate) fn resumed(&self, part: u32) -> Option<Resumed> {
        let resume = self.resume.as_ref()?;
        let nth = part.checked_sub(resume.first)? as usize;
        Some(Resumed { phase: resume.phase, done: *resume.done.get(nth)? })
    }

    /// Requests that were due before a part went on, and that nobody knows of.
    pub(crate) fn passed_by(&self, requests: u64) {
        self.passed_by.fetch_add(requests, Ordering::Relaxed);
    }

    /// Requests that were due before parts went on, and that nobody knows of.
    pub fn all_passed_by(&self) -> u64 {
        self.passed_by.load(Ordering::Relaxed)
    }
}
