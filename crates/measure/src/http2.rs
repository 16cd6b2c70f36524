//! Figures that only HTTP/2 has: frames and resets, beside those of all connections that users share.

use crate::shared::{SharedCounts, add};
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

/// Counts of the clients' connections of HTTP/2.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Counts that HTTP/3 has, too.
    #[serde(flatten)]
    pub shared: SharedCounts,
}

/// The name of an error code.
pub fn code_name(code: u32) -> &'static str {
    CODES[(code as usize).min(CODES.len() - 1)]
}

impl Http2Counts {
    /// Adds another part's figures.
    pub fn merge(&mut self, other: &Http2Counts) {
        let arrays = [(&mut self.received, &other.received), (&mut self.sent, &other.sent)];
        arrays.into_iter().for_each(|(mine, theirs)| add(mine, theirs));
        let resets = [
            (&mut self.resets_received, &other.resets_received),
            (&mut self.resets_sent, &other.resets_sent),
        ];
        resets.into_iter().for_each(|(mine, theirs)| add(mine, theirs));
        self.shared.merge(&other.shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_the_rfc() {
        assert_eq!((code_name(11), code_name(99)), ("ENHANCE_YOUR_CALM", "others"));
    }
}
