//! Bodies as a pure function: any byte of any object can be made, and checked, without storing anything.
//!
//! A body is an endless periodic pad read from a start that belongs to (object, version, variant), with a prefix laid
//! over its beginning that says in clear text what it is. Reading a pad costs no more than a memory comparison, which
//! is why every byte can be checked at full load. Noise is the pad of native sites, where any shift, mix or tear shows at
//! once; counting bytes are that of jtest's wire format (spec: byte i = (length mod 256 + alternate + i) mod 256); haterm
//! has two of its own.

use crate::draw::mix;
use std::sync::OnceLock;

/// An endless sequence of bytes with a period, kept so that long runs of it are contiguous in memory.
#[derive(Debug)]
pub struct Pad {
    period: u64,
    bytes: Vec<u8>,
}

impl Pad {
    /// Bytes of the noise pad before it repeats. It fits a second-level cache; two starts fall together once in 262,144.
    const NOISE_PERIOD: usize = 256 * 1024;
    /// Contiguous bytes that a pad can give from any start.
    const RUN: usize = 256 * 1024;

    /// The pad of native sites: fixed noise, the same in every process, so that clients and origin agree unseen.
    pub fn noise() -> &'static Pad {
        static NOISE: OnceLock<Pad> = OnceLock::new();
        NOISE.get_or_init(|| {
            let words = (0..Self::NOISE_PERIOD as u64 / 8).map(|n| mix(n ^ 0x77_72_69_6E_67_65_72));
            let period: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            Pad::repeat(&period)
        })
    }

    /// The pad of jtest's wire format: 0, 1, 2 … 255 and again.
    pub fn counting() -> &'static Pad {
        static COUNTING: OnceLock<Pad> = OnceLock::new();
        COUNTING.get_or_init(|| Pad::repeat(&(0..=255).collect::<Vec<u8>>()))
    }

    /// haterm's lines of 50 bytes: the last digits of their places, a point at each tenth.
    pub fn haterm_lines() -> &'static Pad {
        static LINES: OnceLock<Pad> = OnceLock::new();
        LINES.get_or_init(|| Pad::repeat(b".123456789.123456789.123456789.123456789.12345678\n"))
    }

    /// haterm's content in chunks: the digit 1.
    pub fn haterm_chunks() -> &'static Pad {
        static CHUNKS: OnceLock<Pad> = OnceLock::new();
        CHUNKS.get_or_init(|| Pad::repeat(b"1"))
    }

    fn repeat(period: &[u8]) -> Pad {
        let bytes = period.iter().copied().cycle().take(period.len() + Self::RUN).collect();
        Pad { period: period.len() as u64, bytes }
    }

    /// The longest contiguous run of the pad from `position`, at most `length` bytes.
    #[inline]
    fn run(&self, position: u64, length: u64) -> &[u8] {
        let from = (position % self.period) as usize;
        let length = length.min(Self::RUN as u64) as usize;
        &self.bytes[from..from + length]
    }
}

/// The content of one (object, version, variant), without its prefix.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    pad: &'static Pad,
    start: u64,
}

impl Content {
    /// Noise from the start that belongs to this object, version and variant.
    pub fn native(object: u64, version: u64, variant: u32) -> Content {
        let pad = Pad::noise();
        let start = mix(mix(mix(object) ^ version) ^ u64::from(variant)) % pad.period;
        Content { pad, start }
    }

    /// jtest's pattern for a document of `length` bytes in the given alternate.
    pub fn jtest(length: u64, alternate: u32) -> Content {
        Content { pad: Pad::counting(), start: length % 256 + u64::from(alternate) }
    }

    /// Bytes 0, 1, 2 …: what jtest sends as the body of a POST.
    pub fn counting() -> Content {
        Content { pad: Pad::counting(), start: 0 }
    }

    /// The content of haterm's answers.
    pub fn haterm_lines() -> Content {
        Content { pad: Pad::haterm_lines(), start: 0 }
    }

    /// The content of haterm's answers in chunks.
    pub fn haterm_chunks() -> Content {
        Content { pad: Pad::haterm_chunks(), start: 0 }
    }

    /// Contiguous pieces that together are the bytes `from..to`.
    pub fn pieces(&self, from: u64, to: u64) -> Pieces {
        Pieces { content: *self, at: from, end: to.max(from) }
    }

    /// Where in the content these bytes stand for the first time; for naming faults, as it searches the whole pad.
    pub fn locate(&self, bytes: &[u8]) -> Option<u64> {
        let period = self.pad.period;
        let mut windows = self.pad.bytes.windows(bytes.len().max(1)).take(period as usize);
        let at = windows.position(|window| window == bytes)? as u64;
        Some((at + period - self.start % period) % period)
    }

    /// Offset within `bytes` of the first one that differs from the content at `offset`, if any does.
    #[inline]
    pub fn mismatch(&self, offset: u64, bytes: &[u8]) -> Option<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &bytes[done..];
            let expected = self.pad.run(self.start + offset + done as u64, rest.len() as u64);
            let got = &rest[..expected.len()];
            if got != expected {
                let within = got.iter().zip(expected).position(|(a, b)| a != b);
                return within.map(|at| done + at);
            }
            done += expected.len();
        }
        None
    }
}

/// Iterator over contiguous pieces of a [`Content`].
#[derive(Debug, Clone)]
pub struct Pieces {
    content: Content,
    at: u64,
    end: u64,
}

impl Iterator for Pieces {
    type Item = &'static [u8];

    fn next(&mut self) -> Option<&'static [u8]> {
        if self.at == self.end {
            return None;
        }
        let piece = self.content.pad.run(self.content.start + self.at, self.end - self.at);
        self.at += piece.len() as u64;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(content: Content, from: u64, to: u64) -> Vec<u8> {
        content.pieces(from, to).flatten().copied().collect()
    }

    #[test]
    fn any_range_is_the_same_slice_of_the_whole() {
        let content = Content::native(12, 3, 1);
        let whole = bytes(content, 0, 700_000);
        for (from, to) in [(0, 10), (5, 262_150), (262_143, 262_145), (699_999, 700_000), (9, 9)] {
            assert_eq!(bytes(content, from, to), whole[from as usize..to as usize]);
            assert_eq!(content.mismatch(from, &whole[from as usize..to as usize]), None);
        }
    }

    #[test]
    fn jtest_bytes_follow_the_spec() {
        let body = bytes(Content::jtest(50, 3), 0, 300);
        // Length 50 modulo 256, plus the alternate, plus the offset.
        assert!(body.iter().enumerate().all(|(i, b)| usize::from(*b) == (50 + 3 + i) % 256));
    }

    #[test]
    fn bytes_are_located_where_they_stand() {
        let content = Content::native(4, 4, 4);
        let whole = bytes(content, 0, 300_000);
        for at in [0, 1, 5_000, 262_143] {
            assert_eq!(content.locate(&whole[at..at + 32]), Some(at as u64));
        }
        assert_eq!(content.locate(&[b'x'; 32]), None);
    }

    #[test]
    fn a_wrong_byte_is_found_where_it_is() {
        let content = Content::native(1, 0, 0);
        for at in [0, 1, 4_095, 262_144, 599_999] {
            let mut body = bytes(content, 0, 600_000);
            body[at] ^= 1;
            assert_eq!(content.mismatch(0, &body), Some(at));
        }
    }

    #[test]
    fn other_objects_versions_variants_and_shifts_differ_at_once() {
        let body = bytes(Content::native(1, 5, 0), 0, 64);
        for other in [Content::native(2, 5, 0), Content::native(1, 6, 0), Content::native(1, 5, 1)] {
            assert!(other.mismatch(0, &body).is_some_and(|at| at < 8));
        }
        assert!(Content::native(1, 5, 0).mismatch(1, &body).is_some_and(|at| at < 8));
    }
}
