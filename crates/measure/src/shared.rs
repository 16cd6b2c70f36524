//! Figures of connections that users share, over HTTP/2 and HTTP/3 alike: what compression saved, what kept requests waiting, and
//! GOAWAYs with their text.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// GOAWAYs that are told apart; those beyond are counted alone.
const GOAWAYS: usize = 16;

/// Counts of the clients' shared connections, whichever protocol they spoke.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Connections opened under an open pace while others to the same place were open, because none of those had a stream to spare.
    pub opened_for_want: u64,
    /// µs that requests waited for a stream to be free, added up over requests.
    pub stream_limit_us: u64,
    /// µs in which windows of streams kept bodies from being sent, added up over connections.
    pub stream_window_us: u64,
    /// µs in which the connection's window did.
    pub connection_window_us: u64,
    /// Requests that went over a connection that was opened for another host.
    pub coalesced: u64,
    /// Those of them that were answered 421 (Misdirected Request), and sent again over a connection of their own.
    pub misdirected: u64,
    /// How evenly the answers of a connection shared it.
    #[serde(skip_serializing_if = "Fairness::is_none")]
    pub fairness: Fairness,
    /// Codes and texts of the servers' GOAWAYs, each with its count.
    pub goaways: Vec<GoAwayCount>,
}

/// How evenly the answers of a connection shared it, in windows of 100 ms: of those answers that were waiting for content in all of a
/// window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Fairness {
    /// Windows of connections in which at least two answers were waiting, and content came.
    pub windows: u64,
    /// Their indices after Jain, in millionths, added up: 1 where all got the same, 1/n where one of n got all.
    pub indices: u64,
    /// The lowest of them, in millionths.
    pub worst: Option<u64>,
    /// The longest that an answer got nothing while others of its connection did, in ms: whole windows in a row.
    pub starved_ms: u64,
}

impl Fairness {
    /// Nothing was found.
    pub fn is_none(&self) -> bool {
        *self == Fairness::default()
    }

    /// Counts the index of a window, 0 to 1.
    pub fn index(&mut self, index: f64) {
        let millionths = (index * 1e6).round() as u64;
        self.merge(&Fairness { windows: 1, indices: millionths, worst: Some(millionths), starved_ms: 0 });
    }

    /// An answer got nothing for so long while others did.
    pub fn starve(&mut self, time: Duration) {
        self.starved_ms = self.starved_ms.max(time.as_millis() as u64);
    }

    /// The mean index; `None` where no window was judged.
    pub fn mean(&self) -> Option<f64> {
        (self.windows > 0).then(|| self.indices as f64 / self.windows as f64 / 1e6)
    }

    /// Adds another part's figures.
    pub fn merge(&mut self, other: &Fairness) {
        self.windows += other.windows;
        self.indices += other.indices;
        self.worst = [self.worst, other.worst].into_iter().flatten().min();
        self.starved_ms = self.starved_ms.max(other.starved_ms);
    }
}

/// Bytes before and after compression.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
            (&mut self.opened_for_want, other.opened_for_want),
            (&mut self.stream_limit_us, other.stream_limit_us),
            (&mut self.stream_window_us, other.stream_window_us),
            (&mut self.connection_window_us, other.connection_window_us),
            (&mut self.coalesced, other.coalesced),
            (&mut self.misdirected, other.misdirected),
        ] {
            *mine += theirs;
        }
        self.fairness.merge(&other.fairness);
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
    fn the_worst_of_all_parts_and_the_mean_of_all_windows() {
        let mut one = Fairness::default();
        let mut other = Fairness::default();
        assert_eq!((one.mean(), one.is_none()), (None, true));
        one.index(1.0);
        other.index(0.5);
        other.index(0.75);
        other.starve(Duration::from_millis(300));
        one.merge(&other);
        one.merge(&Fairness::default());
        assert_eq!((one.windows, one.mean(), one.worst, one.starved_ms), (3, Some(0.75), Some(500_000), 300));
    }

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
