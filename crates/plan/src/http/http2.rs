//! How HTTP/2 is spoken (RFC 9113).

use serde::{Deserialize, Serialize};

/// HTTP/2 instead of HTTP/1: over TLS where that is spoken (ALPN `h2`), otherwise by prior knowledge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Http2 {
    /// Users that share a connection: requests that may be under way on it at once.
    pub streams: u32,
    /// Requests for another host at the same address and port go over the connection, too: over TLS where its certificate is also
    /// for that host (RFC 9113 section 9.1.1).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub coalesce: bool,
    /// Bytes of an answer that may come before they are granted anew.
    pub stream_window: u32,
    /// Bytes of all answers of a connection that may come before they are granted anew.
    pub connection_window: u32,
    /// Bytes of the table that answers' fields are decoded with.
    pub decoder_table: u32,
    /// Bytes of the table that requests' fields are encoded with, at most; the server may want less.
    pub encoder_table: u32,
}

/// Faults of an origin that only HTTP/2 has: shares of the requests that come over it. Over HTTP/1 there is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StreamFaults {
    /// Refused before anything is done (REFUSED_STREAM): they may be sent again.
    pub refused: f64,
    /// Answered with a part of the content, and then with nothing: the stream stays open.
    pub stalled: f64,
    /// Answered with less content than Content-Length says, though the stream ends in order.
    pub wrong_length: f64,
    /// Answered, and followed by GOAWAY.
    pub goaway: f64,
    /// Answered at once with 103 (RFC 8297), before the answer proper.
    pub early_hints: f64,
    /// Answered 421 (Misdirected Request) where the authority is not that of the connection's first request.
    pub misdirected: f64,
}

impl StreamFaults {
    /// Names of the shares, in order.
    pub const NAMES: [&str; 6] =
        ["refused", "stalled", "wrong-length", "goaway", "early-hints", "misdirected"];

    /// The shares under their names.
    pub fn shares(&self) -> [(&'static str, f64); 6] {
        let [a, b, c, d, e, f] = StreamFaults::NAMES;
        [
            (a, self.refused),
            (b, self.stalled),
            (c, self.wrong_length),
            (d, self.goaway),
            (e, self.early_hints),
            (f, self.misdirected),
        ]
    }

    /// Reads `refused=1%,goaway=0.1%`.
    ///
    /// # Errors
    /// The name or the share that cannot be meant, and what can.
    pub fn parse(text: &str) -> Result<StreamFaults, String> {
        let mut faults = StreamFaults::default();
        for part in text.split(',') {
            let (name, share) = part
                .split_once('=')
                .ok_or_else(|| format!("'{part}' is no NAME=SHARE, such as refused=1%"))?;
            let share = crate::units::share(share).map_err(|error| error.to_string())?;
            match name.trim() {
                "refused" => faults.refused = share,
                "stalled" => faults.stalled = share,
                "wrong-length" => faults.wrong_length = share,
                "goaway" => faults.goaway = share,
                "early-hints" => faults.early_hints = share,
                "misdirected" => faults.misdirected = share,
                other => {
                    return Err(format!(
                        "no fault is called '{other}': give {}",
                        StreamFaults::NAMES.join(", ")
                    ));
                }
            }
        }
        Ok(faults)
    }

    /// None of them.
    pub fn is_none(&self) -> bool {
        *self == StreamFaults::default()
    }
}

impl Default for Http2 {
    /// One request at a time, windows of 2^30-1 and tables of 4,096 bytes, as h2load has them.
    fn default() -> Http2 {
        Http2 {
            streams: 1,
            coalesce: false,
            stream_window: (1 << 30) - 1,
            connection_window: (1 << 30) - 1,
            decoder_table: 4096,
            encoder_table: 4096,
        }
    }
}
