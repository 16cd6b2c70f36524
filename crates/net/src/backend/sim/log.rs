//! The log of a simulation: each thing that happened, as a running hash, and as lines where somebody wants to read them.

use std::time::Duration;

/// The log of a simulation, in order: connects, segments, ends, failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// A hash of all entries, with their times and the bytes that were sent. Equal: the same happened.
    pub hash: u64,
    /// Number of entries there were.
    pub entries: u64,
    /// The entries, a line each: seconds, the end of a connection, what happened to it, and a number that depends on that.
    /// Empty unless asked for.
    pub lines: Vec<String>,
}

impl Log {
    pub(super) fn add(&mut self, keeps: bool, at: Duration, end: usize, what: &str, number: u64) {
        self.entries += 1;
        self.mix(at.as_nanos() as u64);
        self.mix(end as u64);
        self.mix_bytes(what.as_bytes());
        self.mix(number);
        if keeps {
            self.lines.push(format!("{:12.6} #{end} {what} {number}", at.as_secs_f64()));
        }
    }

    pub(super) fn mix_bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.mix(u64::from(*byte)));
        self.mix(bytes.len() as u64);
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
