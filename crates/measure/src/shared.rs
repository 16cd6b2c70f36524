//! Figures of connections that users share, over HTTP/2 and HTTP/3 alike: what compression saved, what kept requests waiting, and
//! GOAWAYs with their text.

use serde::{Deserialize, Serialize};

/// GOAWAYs that are told apart; those beyond are counted alone.
const GOAWAYS: usize = 16;

/// What the clients' shared connections did, whichever protocol they spoke.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedCounts {
    /// Field blocks that came.
    pub blocks: u64,
    /// Of them, those that were equal to the last one byte for byte, and so were not decoded.
    pub known_blocks: u64,
    /// Bytes of the field blocks that came, and of the fields in them.
    pub received_fields: Compressed,
    /// Bytes of the field blocks that were sent, and of the fields in them.
    pub sent_fields: Compressed,
    /// µs that requests waited for a stream to be free, added up over requests.
    pub stream_limit_us: u64,
    /// µs in which windows of streams kept bodies from being sent, added up over connections.
    pub stream_window_us: u64,
    /// µs in which the connection's window did.
    pub connection_window_us: u64,
    /// What servers said in GOAWAY.
    pub goaways: Vec<GoAwayCount>,
}

/// Bytes before and after compression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compressed {
    /// Names and values.
    pub fields: u64,
    /// As sent.
    pub blocks: u64,
}

impl Compressed {
    /// Share of the bytes that was saved; `None` where there were none.
    pub fn saved(&self) -> Option<f64> {
        (self.fields > 0).then(|| 1.0 - self.blocks as f64 / self.fields as f64)
    }
}

/// GOAWAYs that were alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoAwayCount {
    /// The error code.
    pub code: u32,
    /// Its text, up to 256 bytes; empty of those that found no room, and over HTTP/3, which has none.
    pub text: String,
    /// How many.
    pub count: u64,
}

impl SharedCounts {
    /// Counts GOAWAYs.
    pub fn goaway(&mut self, code: u32, text: &str, count: u64) {
        let known = self.goaways.iter().any(|one| one.code == code && one.text == text);
        let full = self.goaways.len() >= GOAWAYS && !known;
        let (code, text) = if full { (u32::MAX, "") } else { (code, text) };
        match self.goaways.iter_mut().find(|one| one.code == code && one.text == text) {
            Some(known) => known.count += count,
            None => self.goaways.push(GoAwayCount { code, text: text.to_owned(), count }),
        }
    }

    /// Adds another part's figures.
    pub fn merge(&mut self, other: &SharedCounts) {
        for (mine, theirs) in [
            (&mut self.blocks, other.blocks),
            (&mut self.known_blocks, other.known_blocks),
            (&mut self.received_fields.fields, other.received_fields.fields),
            (&mut self.received_fields.blocks, other.received_fields.blocks),
            (&mut self.sent_fields.fields, other.sent_fields.fields),
            (&mut self.sent_fields.blocks, other.sent_fields.blocks),
            (&mut self.stream_limit_us, other.stream_limit_us),
            (&mut self.stream_window_us, other.stream_window_us),
            (&mut self.connection_window_us, other.connection_window_us),
        ] {
            *mine += theirs;
        }
        other.goaways.iter().for_each(|one| self.goaway(one.code, &one.text, one.count));
    }
}

/// Adds figures of the same order.
pub(crate) fn add(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goaways_are_told_apart_as_long_as_there_is_room() {
        let mut counts = SharedCounts::default();
        for nth in 0..100 {
            counts.goaway(0, &format!("text {nth}"), 1);
            counts.goaway(11, "too_many_resets", 2);
        }
        assert_eq!(counts.goaways.len(), GOAWAYS + 1);
        assert_eq!(counts.goaways.iter().map(|one| one.count).sum::<u64>(), 300);
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert_eq!((twice.goaways.len(), twice.goaways[1].count), (GOAWAYS + 1, 400));
    }
}
