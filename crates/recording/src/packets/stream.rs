//! One direction of a connection, put together again: what comes twice counts once, what comes too early waits, and what never comes is
//! told as a hole.

use std::collections::VecDeque;

/// Bytes that wait for what is before them, at most; then that is called a hole.
const WAITING: usize = 1 << 20;
/// Segments that wait, at most.
const SEGMENTS: usize = 256;

/// A piece of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPiece<'a> {
    /// Bytes, and when they came.
    Bytes(&'a [u8], i64),
    /// So many bytes were never seen.
    Hole(u64),
}

/// A segment that came too early.
#[derive(Debug)]
struct Early {
    sequence: u32,
    bytes: Vec<u8>,
    missing: u32,
    at_ns: i64,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub struct Stream {
    /// Number of the next byte; `None`: nothing has been seen.
    next: Option<u32>,
    early: VecDeque<Early>,
    waiting: usize,
}

/// Bytes from one number to another, which may have passed 2³².
fn ahead(of: u32, number: u32) -> i64 {
    i64::from(number.wrapping_sub(of).cast_signed())
}

impl Stream {
    /// The connection begins: the first byte has this number.
    pub fn begin(&mut self, first: u32) {
        if self.next.is_none() {
            self.next = Some(first);
        }
    }

    /// Takes a segment: `missing` bytes behind it were not captured.
    pub fn take(
        &mut self,
        sequence: u32,
        bytes: &[u8],
        missing: u32,
        at_ns: i64,
        each: &mut impl FnMut(StreamPiece<'_>),
    ) {
        let is_empty = bytes.is_empty() && missing == 0;
        // A capture may begin in the middle of a connection. An empty segment beyond the next byte tells of a hole before it.
        let next = match self.next {
            None if is_empty => return,
            Some(next) if is_empty && ahead(next, sequence) <= 0 => return,
            known => *self.next.insert(known.unwrap_or(sequence)),
        };
        if ahead(next, sequence) > 0 {
            self.wait(Early { sequence, bytes: bytes.to_vec(), missing, at_ns });
            while self.waiting > WAITING || self.early.len() > SEGMENTS {
                self.give_up(each);
            }
            return;
        }
        self.deliver(sequence, bytes, missing, at_ns, each);
        self.follow(each);
    }

    /// Nothing more comes: what still waits is handed over, with holes before it.
    pub fn end(&mut self, each: &mut impl FnMut(StreamPiece<'_>)) {
        while !self.early.is_empty() {
            self.give_up(each);
        }
    }

    /// Hands over what is new of a segment that begins at the next byte or before.
    fn deliver(
        &mut self,
        sequence: u32,
        bytes: &[u8],
        missing: u32,
        at_ns: i64,
        each: &mut impl FnMut(StreamPiece<'_>),
    ) {
        let Some(next) = self.next else { return };
        let known = ahead(sequence, next).unsigned_abs();
        let fresh = bytes.get(usize::try_from(known).unwrap_or(usize::MAX)..).unwrap_or(&[]);
        if !fresh.is_empty() {
            each(StreamPiece::Bytes(fresh, at_ns));
        }
        let end = sequence.wrapping_add(bytes.len() as u32);
        let beyond = end.wrapping_add(missing);
        if ahead(next, end) > 0 {
            self.next = Some(end);
        }
        let hole = ahead(self.next.unwrap_or(end), beyond);
        if missing > 0 && hole > 0 {
            each(StreamPiece::Hole(hole.unsigned_abs()));
            self.next = Some(beyond);
        }
    }

    fn wait(&mut self, early: Early) {
        let behind = |one: &Early| ahead(one.sequence, early.sequence) < 0;
        let place = self.early.iter().position(behind).unwrap_or(self.early.len());
        self.waiting += early.bytes.len();
        self.early.insert(place, early);
    }

    /// Hands over what no longer comes too early.
    fn follow(&mut self, each: &mut impl FnMut(StreamPiece<'_>)) {
        let Some(mut next) = self.next else { return };
        while self.early.front().is_some_and(|first| ahead(next, first.sequence) <= 0) {
            let Some(first) = self.early.pop_front() else { return };
            self.waiting -= first.bytes.len();
            self.deliver(first.sequence, &first.bytes, first.missing, first.at_ns, each);
            next = self.next.unwrap_or(next);
        }
    }

    /// Calls a hole what is before the first segment that waits.
    fn give_up(&mut self, each: &mut impl FnMut(StreamPiece<'_>)) {
        let Some(next) = self.next else { return };
        let Some(first) = self.early.front() else { return };
        let hole = ahead(next, first.sequence);
        if hole > 0 {
            each(StreamPiece::Hole(hole.unsigned_abs()));
            self.next = Some(first.sequence);
        }
        self.follow(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of what comes out of segments, each with its number; `~N` is a hole.
    fn read(first: u32, segments: &[(u32, &str)]) -> String {
        let mut stream = Stream::default();
        stream.begin(first);
        let mut text = String::new();
        let mut each = |piece: StreamPiece<'_>| match piece {
            StreamPiece::Bytes(bytes, _) => text.push_str(&String::from_utf8_lossy(bytes)),
            StreamPiece::Hole(bytes) => text.push_str(&format!("~{bytes}")),
        };
        for (offset, bytes) in segments {
            stream.take(first.wrapping_add(*offset), bytes.as_bytes(), 0, 0, &mut each);
        }
        stream.end(&mut each);
        text
    }

    #[test]
    fn whatever_the_order_bytes_come_once() {
        for first in [0, 7, u32::MAX - 2] {
            assert_eq!(read(first, &[(0, "abc"), (3, "def")]), "abcdef");
            assert_eq!(read(first, &[(3, "def"), (0, "abc"), (3, "def")]), "abcdef");
            assert_eq!(read(first, &[(0, "abc"), (2, "cde"), (1, "bcd"), (5, "f")]), "abcdef");
            assert_eq!(read(first, &[(0, "abcdef"), (2, "XY")]), "abcdef", "the first one wins");
            assert_eq!(read(first, &[(0, "ab"), (4, "ef"), (6, "g")]), "ab~2efg");
            assert_eq!(read(first, &[(4, "ef"), (2, "cd")]), "~2cdef");
        }
    }

    #[test]
    fn a_packet_that_was_cut_leaves_a_hole() {
        let mut stream = Stream::default();
        let mut holes = 0;
        let mut each = |piece: StreamPiece<'_>| {
            if let StreamPiece::Hole(bytes) = piece {
                holes += bytes;
            }
        };
        stream.take(10, b"abc", 100, 0, &mut each);
        stream.take(113, b"x", 0, 0, &mut each);
        stream.take(10, b"abc", 100, 0, &mut each);
        stream.end(&mut each);
        assert_eq!(holes, 100);
    }
}
