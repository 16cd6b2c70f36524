//! How HTTP/2 is spoken (RFC 9113).

use serde::{Deserialize, Serialize};

/// HTTP/2 instead of HTTP/1: over TLS where that is spoken (ALPN `h2`), otherwise by prior knowledge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http2 {
    /// Users that share a connection: requests that may be under way on it at once.
    pub streams: u32,
    /// Bytes of an answer that may come before they are granted anew.
    pub stream_window: u32,
    /// Bytes of all answers of a connection that may come before they are granted anew.
    pub connection_window: u32,
    /// Bytes of the table that answers' fields are decoded with.
    pub decoder_table: u32,
    /// Bytes of the table that requests' fields are encoded with, at most; the server may want less.
    pub encoder_table: u32,
}

impl Default for Http2 {
    /// One request at a time, windows of 2^30-1 and tables of 4,096 bytes, as h2load has them.
    fn default() -> Http2 {
        Http2 {
            streams: 1,
            stream_window: (1 << 30) - 1,
            connection_window: (1 << 30) - 1,
            decoder_table: 4096,
            encoder_table: 4096,
        }
    }
}
