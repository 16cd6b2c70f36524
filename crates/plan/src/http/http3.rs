//! How HTTP/3 is spoken (RFC 9114), and QUIC below it (RFC 9000).

use crate::units::duration_text_option;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// HTTP/3 instead of HTTP/1, over QUIC, which always has TLS 1.3 (ALPN `h3`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Http3 {
    /// Users that share a connection: requests that may be under way on it at once.
    pub streams: u32,
    /// Requests for another host at the same address and port go over the connection, too, where its certificate is also for that
    /// host (RFC 9114 section 3.3).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub coalesce: bool,
    /// How QUIC sends.
    pub transport: Transport,
    /// Bytes of an answer that may come before they are granted anew; `None`: the transport's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_window: Option<u32>,
    /// Bytes of all answers of a connection that may come before they are granted anew; `None`: the transport's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_window: Option<u32>,
    /// Bytes of a datagram's payload at most; `None`: 1,200 and more where the path is found to carry it, up to 1,452.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<u16>,
    /// Each connection moves to another local port this often (RFC 9000 section 9), a fault that servers are to bear.
    #[serde(with = "duration_text_option", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::units::DurationText>"))]
    pub migrate_every: Option<Duration>,
    /// Event logs of what QUIC does on the first connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qlog: Option<Qlog>,
}

/// Event logs of QUIC (draft-ietf-quic-qlog-main-schema), a file for each of the first connections of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Qlog {
    /// The folder of the files, `connection-1.sqlog` and so on; it is made where there is none.
    pub folder: String,
    /// Connections that are written down, shared out among the workers.
    #[serde(default = "Qlog::connections")]
    pub connections: u32,
}

impl Qlog {
    /// Most connections that may be written down: their files are open at once.
    pub const MOST: u32 = 256;

    /// Connections that are written down where nothing else is said.
    pub fn connections() -> u32 {
        4
    }
}

impl Http3 {
    /// Bytes of the kernel's buffers of a socket, where the plan names none: the usual ones hold some ninety datagrams.
    pub const SOCKET_BUFFER: u32 = 2 << 20;
    /// Least payload that QUIC may be limited to (RFC 9000 section 14).
    pub const LEAST_PAYLOAD: u16 = 1200;
    /// Most that UDP carries over IPv4.
    pub const MOST_PAYLOAD: u16 = 65_507;
}

impl Default for Http3 {
    /// One request at a time, as ordinary clients send.
    fn default() -> Http3 {
        Http3 {
            streams: 1,
            coalesce: false,
            transport: Transport::default(),
            stream_window: None,
            connection_window: None,
            payload: None,
            migrate_every: None,
            qlog: None,
        }
    }
}

/// How QUIC sends: as clients on the Internet do, or as fast as a laboratory allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Congestion control (CUBIC) and pacing, windows of 1.25 MB for each stream.
    #[default]
    Real,
    /// Neither congestion control nor pacing, windows of 16 MB for each stream, fewer acknowledgements.
    Lab,
}

impl Transport {
    /// Reads `real` or `lab`.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Transport, String> {
        match text {
            "real" => Ok(Transport::Real),
            "lab" => Ok(Transport::Lab),
            _ => Err("give real or lab".to_owned()),
        }
    }

    /// Describes it, for reports.
    pub fn text(self) -> &'static str {
        match self {
            Transport::Real => "real: CUBIC, paced, windows of 1.25 MB",
            Transport::Lab => "lab: no congestion control, no pacing, windows of 16 MB",
        }
    }
}
