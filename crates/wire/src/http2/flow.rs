//! Windows (RFC 9113 section 6.9).

use super::settings::MOST_WINDOW;

/// Flow-control window for receiving: granted anew when half of it is used, as nghttp2 does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Receiving {
    /// Bytes that are granted whenever nothing is under way.
    size: u32,
    /// Bytes that came since the last grant.
    used: u32,
    /// It is granted anew only when the caller says so.
    held: bool,
}

impl Receiving {
    pub(super) fn new(size: u32) -> Receiving {
        Receiving { size, used: 0, held: false }
    }

    /// Bytes came. `None`: more than was granted.
    #[inline]
    pub(super) fn take(&mut self, bytes: u32) -> Option<()> {
        self.used = self.used.checked_add(bytes)?;
        (self.used <= self.size).then_some(())
    }

    /// The increment that is due.
    #[inline]
    pub(super) fn due(&mut self) -> Option<u32> {
        let due = self.used > 0 && self.used >= self.size.div_ceil(2) && !self.held;
        due.then(|| std::mem::take(&mut self.used))
    }

    /// From now on it is granted anew by [`Self::grant`] alone.
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    /// Grants what came; the increment.
    pub(super) fn grant(&mut self) -> Option<u32> {
        (self.used > 0).then(|| std::mem::take(&mut self.used))
    }

    /// Makes it larger; the increment.
    pub(super) fn widen(&mut self, to: u32) -> Option<u32> {
        let more = to.checked_sub(self.size).filter(|more| *more > 0)?;
        self.size = to;
        Some(more)
    }
}

/// Flow-control window for sending. Below zero after the peer lowered what a stream begins with (section 6.9.2).
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending(i64);

impl Sending {
    pub(super) fn new(size: u32) -> Sending {
        Sending(i64::from(size))
    }

    /// Bytes that may be sent now.
    #[inline]
    pub(super) fn room(self) -> usize {
        self.0.max(0) as usize
    }

    #[inline]
    pub(super) fn take(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// More is granted, or less. `None`: beyond the largest window.
    pub(super) fn shift(&mut self, by: i64) -> Option<()> {
        self.0 += by;
        (self.0 <= i64::from(MOST_WINDOW)).then_some(())
    }
}
