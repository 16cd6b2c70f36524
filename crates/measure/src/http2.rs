//! Figures that only HTTP/2 has: frames, resets, what kept requests waiting, what compression saved, and GOAWAYs with their text.

use serde::{Deserialize, Serialize};

/// Names of the types of frames (RFC 9113 section 6), in the order of their numbers; all others last.
pub const FRAMES: [&str; 11] = [
    "DATA",
    "HEADERS",
    "PRIORITY",
    "RST_STREAM",
    "SETTINGS",
    "PUSH_PROMISE",
    "PING",
    "GOAWAY",
    "WINDOW_UPDATE",
    "CONTINUATION",
    "others",
];

/// Names of the error codes (RFC 9113 section 7), in the order of their numbers; all others last.
pub const CODES: [&str; 15] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
    "others",
];

/// GOAWAYs that are told apart; those beyond are counted alone.
const GOAWAYS: usize = 16;

/// What the clients' connections of HTTP/2 did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Http2Counts {
    /// Frames that came, in the order of [`FRAMES`].
    pub received: [u64; FRAMES.len()],
    /// Frames that were sent.
    pub sent: [u64; FRAMES.len()],
    /// Streams that the server reset, in the order of [`CODES`].
    pub resets_received: [u64; CODES.len()],
    /// Streams that this side reset.
    pub resets_sent: [u64; CODES.len()],
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
    /// Its text, up to 256 bytes; empty of those that found no room.
    pub text: String,
    /// How many.
    pub count: u64,
}

/// The name of an error code.
pub fn code_name(code: u32) -> &'static str {
    CODES[place(code)]
}

fn place(code: u32) -> usize {
    (code as usize).min(CODES.len() - 1)
}

impl Http2Counts {
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
    pub fn merge(&mut self, other: &Http2Counts) {
        let arrays = [(&mut self.received, &other.received), (&mut self.sent, &other.sent)];
        arrays.into_iter().for_each(|(mine, theirs)| add(mine, theirs));
        let resets = [
            (&mut self.resets_received, &other.resets_received),
            (&mut self.resets_sent, &other.resets_sent),
        ];
        resets.into_iter().for_each(|(mine, theirs)| add(mine, theirs));
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

fn add(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goaways_are_told_apart_as_long_as_there_is_room() {
        let mut counts = Http2Counts::default();
        for nth in 0..100 {
            counts.goaway(0, &format!("text {nth}"), 1);
            counts.goaway(11, "too_many_resets", 2);
        }
        assert_eq!(counts.goaways.len(), GOAWAYS + 1);
        assert_eq!(counts.goaways.iter().map(|one| one.count).sum::<u64>(), 300);
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert_eq!((twice.goaways.len(), twice.goaways[1].count), (GOAWAYS + 1, 400));
        assert_eq!((code_name(11), code_name(99)), ("ENHANCE_YOUR_CALM", "others"));
    }
}
