//! A request of a recording, as whoever replays it or learns from it is given it.

use crate::words::Kind;

/// Marks a number that no input has told.
pub const UNTOLD: u32 = u32::MAX;
/// Marks bytes that no input has told.
pub const UNTOLD_BYTES: u64 = u64::MAX;

/// A request of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// When it began, in microseconds since the first of the recording.
    pub begin_us: u64,
    /// Who asked: a number of the users' table; where no user is known, each request has one of its own.
    pub user: u64,
    /// Size of the whole object in bytes, as it is at this moment.
    pub size: u64,
    /// Bytes of the body that were sent; [`UNTOLD_BYTES`]: not told.
    pub sent: u64,
    /// Number of the object.
    pub object: u32,
    /// From the request to the answer's end in microseconds; [`UNTOLD`]: not told.
    pub duration_us: u32,
    /// From the request to the answer's first byte in microseconds; [`UNTOLD`]: not told.
    pub first_byte_us: u32,
    /// Method, version, conditions, the cache's account and the like.
    pub kind: Kind,
    /// Status of the answer; 0: there was none.
    pub status: u16,
    /// How often the object had changed before.
    pub version: u16,
    /// Which of two forms of it was sent, that differ in size: 0 or 1.
    pub variant: u8,
    /// Number of the object's class ([`crate::file::Class`]).
    pub class: u8,
    /// Nobody asks for the object a second time in this recording.
    pub once: bool,
}

impl Request {
    /// The end of its answer in microseconds since the first request, where it is told.
    pub fn end_us(&self) -> Option<u64> {
        (self.duration_us != UNTOLD).then(|| self.begin_us + u64::from(self.duration_us))
    }

    /// Bytes of the body that were sent, where they are told.
    pub fn sent(&self) -> Option<u64> {
        (self.sent != UNTOLD_BYTES).then_some(self.sent)
    }
}
