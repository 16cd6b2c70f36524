//! Figures that only HTTP/3 has: frames and resets, beside those of all connections that users share, and what QUIC did below.

use crate::shared::{SharedCounts, add};
use breach::{Code, Protocol, Side};
use serde::{Deserialize, Serialize};

/// Names of the types of frames (RFC 9114 section 7.2); all others last.
pub const FRAMES: [&str; 8] =
    ["DATA", "HEADERS", "CANCEL_PUSH", "SETTINGS", "PUSH_PROMISE", "GOAWAY", "MAX_PUSH_ID", "others"];

/// Names of the error codes (RFC 9114 section 8.1, from 0x100 on; RFC 9204 section 6, from 0x200 on); all others last.
pub const CODES: [&str; 21] = [
    "H3_NO_ERROR",
    "H3_GENERAL_PROTOCOL_ERROR",
    "H3_INTERNAL_ERROR",
    "H3_STREAM_CREATION_ERROR",
    "H3_CLOSED_CRITICAL_STREAM",
    "H3_FRAME_UNEXPECTED",
    "H3_FRAME_ERROR",
    "H3_EXCESSIVE_LOAD",
    "H3_ID_ERROR",
    "H3_SETTINGS_ERROR",
    "H3_MISSING_SETTINGS",
    "H3_REQUEST_REJECTED",
    "H3_REQUEST_CANCELLED",
    "H3_REQUEST_INCOMPLETE",
    "H3_MESSAGE_ERROR",
    "H3_CONNECT_ERROR",
    "H3_VERSION_FALLBACK",
    "QPACK_DECOMPRESSION_FAILED",
    "QPACK_ENCODER_STREAM_ERROR",
    "QPACK_DECODER_STREAM_ERROR",
    "others",
];

/// Counts of the clients' connections of HTTP/3.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Http3Counts {
    /// Frames that came, in the order of [`FRAMES`].
    pub received: [u64; FRAMES.len()],
    /// Frames that were sent.
    pub sent: [u64; FRAMES.len()],
    /// Streams that the server reset, in the order of [`CODES`].
    pub resets_received: [u64; CODES.len()],
    /// Streams that this side reset.
    pub resets_sent: [u64; CODES.len()],
    /// Counts that HTTP/2 has, too.
    #[serde(flatten)]
    pub shared: SharedCounts,
    /// Counts of QUIC below.
    pub quic: QuicCounts,
    /// Connections that were closed with an error, by who closed them, code and text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closes: Vec<CloseCount>,
}

/// Connections that were closed alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CloseCount {
    /// `peer`, or `here` where this side closed.
    pub by: String,
    /// The protocol that the code belongs to: `http3` or `quic`.
    pub protocol: String,
    /// The error code; [`CloseCount::OTHERS`] of those that found no room.
    pub code: u64,
    /// Its text, up to 256 characters; empty of those that found no room.
    pub text: String,
    /// How many.
    pub count: u64,
}

impl CloseCount {
    /// Stands for all codes and texts that found no room.
    pub const OTHERS: u64 = u64::MAX;

    /// Name of the code, or its number where it has none.
    pub fn code_name(&self) -> String {
        if self.code == CloseCount::OTHERS {
            return "others".to_owned();
        }
        let protocol = Protocol::named(&self.protocol).unwrap_or(Protocol::Quic);
        Code { protocol, number: self.code }.to_string()
    }

    fn is_like(&self, other: &CloseCount) -> bool {
        (&self.by, &self.protocol, self.code, &self.text)
            == (&other.by, &other.protocol, other.code, &other.text)
    }
}

/// Counts of the clients' connections of QUIC (RFC 9000), added up over connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct QuicCounts {
    /// UDP datagrams that came.
    pub datagrams_received: u64,
    /// UDP datagrams that were sent.
    pub datagrams_sent: u64,
    /// Packets that were sent and declared lost.
    pub lost_packets: u64,
    /// Times that the congestion window shrank.
    pub congestion_events: u64,
    /// Datagrams that came marked CE (congestion experienced, RFC 3168).
    pub ecn_marked: u64,
    /// Connections on which ECN was given up, because the path or the peer does not carry it (RFC 9000 section 13.4.2).
    pub ecn_failed: u64,
    /// Datagrams that this machine had no room for when they came: its own loss, not the target's.
    pub overflowed: u64,
    /// Smoothed round-trip times of connections when they ended or the figures were handed over, µs: their sum.
    pub rtt_us: u64,
    /// The number of them.
    pub rtts: u64,
    /// The largest of them, µs.
    pub rtt_max_us: u64,
}

/// The name of an error code.
pub fn code_name(code: u32) -> &'static str {
    CODES[place(code)]
}

/// The place of an error code in [`CODES`].
pub fn place(code: u32) -> usize {
    let found = match code {
        0x100..=0x110 => code - 0x100,
        0x200..=0x202 => code - 0x200 + 17,
        _ => u32::MAX,
    };
    (found as usize).min(CODES.len() - 1)
}

/// Closes that are told apart; those beyond are counted by side and protocol alone.
const CLOSES: usize = 16;
/// Characters of a text that are kept.
const TEXT_KEPT: usize = 256;

impl Http3Counts {
    /// Counts connections that were closed with an error.
    pub fn close(&mut self, by: Side, code: Code, text: &str, count: u64) {
        let text = text.chars().take(TEXT_KEPT).collect();
        let by = by.name().to_owned();
        let protocol = code.protocol.name().to_owned();
        self.add_close(CloseCount { by, protocol, code: code.number, text, count });
    }

    fn add_close(&mut self, mut close: CloseCount) {
        if self.closes.len() >= CLOSES && !self.closes.iter().any(|known| known.is_like(&close)) {
            close.text.clear();
            close.code = CloseCount::OTHERS;
        }
        match self.closes.iter_mut().find(|known| known.is_like(&close)) {
            Some(known) => known.count += close.count,
            None => self.closes.push(close),
        }
    }

    /// Adds another part's figures.
    pub fn merge(&mut self, other: &Http3Counts) {
        let arrays = [(&mut self.received, &other.received), (&mut self.sent, &other.sent)];
        arrays.into_iter().for_each(|(mine, theirs)| add(mine, theirs));
        let resets = [
            (&mut self.resets_received, &other.resets_received),
            (&mut self.resets_sent, &other.resets_sent),
        ];
        resets.into_iter().for_each(|(mine, theirs)| add(mine, theirs));
        self.shared.merge(&other.shared);
        self.quic.merge(&other.quic);
        other.closes.iter().for_each(|close| self.add_close(close.clone()));
    }
}

impl QuicCounts {
    /// Adds another part's figures.
    pub fn merge(&mut self, other: &QuicCounts) {
        for (mine, theirs) in [
            (&mut self.datagrams_received, other.datagrams_received),
            (&mut self.datagrams_sent, other.datagrams_sent),
            (&mut self.lost_packets, other.lost_packets),
            (&mut self.congestion_events, other.congestion_events),
            (&mut self.ecn_marked, other.ecn_marked),
            (&mut self.ecn_failed, other.ecn_failed),
            (&mut self.overflowed, other.overflowed),
            (&mut self.rtt_us, other.rtt_us),
            (&mut self.rtts, other.rtts),
        ] {
            *mine += theirs;
        }
        self.rtt_max_us = self.rtt_max_us.max(other.rtt_max_us);
    }

    /// The mean of the smoothed round-trip times, µs; `None` where none is known.
    pub fn mean_rtt_us(&self) -> Option<u64> {
        self.rtt_us.checked_div(self.rtts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_are_told_apart_as_long_as_there_is_room() {
        let mut counts = Http3Counts::default();
        let code = |number| Code { protocol: Protocol::Http3, number };
        for nth in 0..100 {
            counts.close(Side::Peer, code(0x107), &format!("text {nth}"), 1);
            counts.close(Side::Peer, code(0x107), "text 3", 2);
        }
        assert_eq!(counts.closes.len(), CLOSES + 1);
        assert_eq!(counts.closes.iter().map(|close| close.count).sum::<u64>(), 300);
        assert_eq!(counts.closes[0].code_name(), "H3_EXCESSIVE_LOAD");
        assert_eq!(counts.closes[CLOSES].code_name(), "others");
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert_eq!(
            (twice.closes.len(), twice.closes[CLOSES].count),
            (CLOSES + 1, 2 * counts.closes[CLOSES].count)
        );
    }

    #[test]
    fn codes_have_the_names_of_the_rfcs() {
        let names = [0x100, 0x10B, 0x110, 0x200, 0x202, 0x203, 0x111, 7].map(code_name);
        assert_eq!(
            names,
            [
                "H3_NO_ERROR",
                "H3_REQUEST_REJECTED",
                "H3_VERSION_FALLBACK",
                "QPACK_DECOMPRESSION_FAILED",
                "QPACK_DECODER_STREAM_ERROR",
                "others",
                "others",
                "others"
            ]
        );
    }
}
