//! The short messages of a turn, side by side, until the kernel has taken them.
//!
//! They are copied here so that the buffer in which a message was composed is free at once: the next message is composed,
//! and the next answer received, in the same memory, which is then still warm. (With answers of 64 kB that was 7 % of the
//! CPU time of a request.)

use std::ops::Range;

/// The longest message that is taken.
pub(super) const MESSAGE_MAX: usize = 8 * 1024;

/// Messages lie in chunks of this size, which never move.
const CHUNK: usize = 64 * 1024;

/// Chunks kept for the next turn.
const KEPT: usize = 16;

/// Where a message lies, until [`Outbox::clear`].
#[derive(Clone)]
pub(super) struct OutboxPlace {
    chunk: u32,
    bytes: Range<u32>,
}

#[derive(Default)]
pub(super) struct Outbox {
    chunks: Vec<Vec<u8>>,
    /// The one that is being filled.
    current: usize,
}

impl Outbox {
    /// Puts the pieces of a message of this length together.
    pub(super) fn put<'a>(&mut self, length: usize, pieces: impl Iterator<Item = &'a [u8]>) -> OutboxPlace {
        assert!(length <= MESSAGE_MAX, "a message of {length} bytes is no short one");
        if self.chunks.get(self.current).is_some_and(|chunk| CHUNK - chunk.len() < length) {
            self.current += 1;
        }
        if self.current == self.chunks.len() {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let chunk = &mut self.chunks[self.current];
        let start = chunk.len();
        pieces.for_each(|piece| chunk.extend_from_slice(piece));
        assert_eq!(chunk.len() - start, length, "the length was that of other pieces");
        // Chunks are shorter than that, and fewer.
        OutboxPlace { chunk: self.current as u32, bytes: start as u32..chunk.len() as u32 }
    }

    /// The bytes of a message. Where they are in memory does not change until [`clear`](Self::clear).
    pub(super) fn get(&self, place: &OutboxPlace) -> &[u8] {
        &self.chunks[place.chunk as usize][place.bytes.start as usize..place.bytes.end as usize]
    }

    /// All messages are gone.
    pub(super) fn clear(&mut self) {
        self.chunks.truncate(KEPT);
        self.chunks.iter_mut().for_each(Vec::clear);
        self.current = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_where_they_are_while_others_come() {
        let mut outbox = Outbox::default();
        let text = |number: usize| [number as u8; 3000];
        let places: Vec<_> = (0..100)
            .map(|number| {
                let head = &text(number)[..10];
                let tail = &text(number)[10..];
                let place = outbox.put(3000, [head, tail].into_iter());
                (outbox.get(&place).as_ptr(), place)
            })
            .collect();
        for (number, (address, place)) in places.iter().enumerate() {
            assert_eq!(outbox.get(place), text(number));
            assert_eq!(outbox.get(place).as_ptr(), *address);
        }
        let first = places[0].0;
        outbox.clear();
        let place = outbox.put(1, [&b"x"[..]].into_iter());
        assert_eq!((outbox.get(&place), outbox.get(&place).as_ptr()), (&b"x"[..], first));
    }
}
