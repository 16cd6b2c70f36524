//! Bytes of answers that have come in part: a long answer counts as it comes, and where it never ends, too.

use std::cell::Cell;

/// Of a worker.
#[derive(Default)]
pub(super) struct Partial {
    /// Bytes of the answers that are coming now.
    now: Cell<u64>,
    /// Of these, the ones that were told.
    told: Cell<u64>,
    /// Answers of an earlier one are over.
    generation: Cell<u32>,
}

/// One answer that is coming; when this ends, its bytes are its exchange's.
pub(crate) struct Coming<'a> {
    of: &'a Partial,
    generation: u32,
    bytes: u64,
}

impl Partial {
    /// An answer that begins to come.
    pub fn begin(&self) -> Coming<'_> {
        Coming { of: self, generation: self.generation.get(), bytes: 0 }
    }

    /// Adds to the bytes of exchanges that have ended what came of others since it was told last, and takes away what was
    /// told before of those that have ended meanwhile.
    pub fn tell(&self, body_bytes: &mut u64) {
        let now = self.now.get();
        let told = self.told.get();
        // The exchange of an answer that is over may come to its end later.
        let less = told.saturating_sub(now).min(*body_bytes);
        *body_bytes = *body_bytes - less + now.saturating_sub(told);
        self.told.set(now.max(told - less));
    }

    /// Gives up the answers that are coming: they will not end.
    pub fn give_up(&self, body_bytes: &mut u64) {
        self.tell(body_bytes);
        self.now.set(0);
        self.told.set(0);
        self.generation.set(self.generation.get().wrapping_add(1));
    }
}

impl Coming<'_> {
    /// So many bytes of it have come in all.
    pub fn came(&mut self, bytes: u64) {
        if self.of.generation.get() == self.generation {
            self.of.now.set(self.of.now.get() + bytes - self.bytes);
            self.bytes = bytes;
        }
    }
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        if self.of.generation.get() == self.generation {
            self.of.now.set(self.of.now.get() - self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_once_whenever_their_exchange_ends() {
        let partial = Partial::default();
        let told = |mut ended: u64| {
            partial.tell(&mut ended);
            ended
        };
        let mut first = partial.begin();
        let mut second = partial.begin();
        first.came(100);
        second.came(30);
        assert_eq!(told(5), 135);
        first.came(150);
        assert_eq!(told(0), 50);
        // The answer is over; its exchange ends an interval later.
        drop(first);
        assert_eq!(told(0), 0);
        second.came(40);
        assert_eq!(told(170), 170 - 150 + 10);
        let mut left = 0;
        second.came(45);
        partial.give_up(&mut left);
        assert_eq!(left, 5);
        second.came(60);
        drop(second);
        assert_eq!(told(0), 0);
    }
}
