//! The versions of HTTP.

use serde::{Deserialize, Serialize};

/// A version of HTTP that a user speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum HttpVersion {
    /// HTTP/1.1, or the version of HTTP/1 that the plan has.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2: over TLS where that is spoken, otherwise by prior knowledge.
    #[serde(rename = "2")]
    Two,
    /// HTTP/3.
    #[serde(rename = "3")]
    Three,
}

impl HttpVersion {
    /// Its name, which is the label of its figures too.
    pub fn name(self) -> &'static str {
        match self {
            HttpVersion::One => "HTTP/1.1",
            HttpVersion::Two => "HTTP/2",
            HttpVersion::Three => "HTTP/3",
        }
    }

    /// The name that TLS has for it (ALPN).
    pub fn alpn(self) -> &'static str {
        match self {
            HttpVersion::One => "http/1.1",
            HttpVersion::Two => "h2",
            HttpVersion::Three => "h3",
        }
    }
}

/// HTTP as it is spoken at a port, in the names that IANA has for it (ALPN protocol IDs), with and without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum HttpProtocol {
    /// HTTP/1.1, with or without TLS.
    #[default]
    One,
    /// `h2c`: HTTP/2 without TLS, by prior knowledge.
    TwoClear,
    /// `h2`: HTTP/2 over TLS.
    Two,
    /// `h3`: HTTP/3.
    Three,
}

impl HttpProtocol {
    /// Its version.
    pub fn version(self) -> HttpVersion {
        match self {
            HttpProtocol::One => HttpVersion::One,
            HttpProtocol::Two | HttpProtocol::TwoClear => HttpVersion::Two,
            HttpProtocol::Three => HttpVersion::Three,
        }
    }

    /// True if it is spoken over TLS, or over QUIC, which has it.
    pub fn is_secure(self) -> bool {
        matches!(self, HttpProtocol::Two | HttpProtocol::Three)
    }

    /// As it is typed.
    pub fn typed(self) -> &'static str {
        match self {
            HttpProtocol::One => "1.1",
            HttpProtocol::Two => "2",
            HttpProtocol::TwoClear => "2c",
            HttpProtocol::Three => "3",
        }
    }
}
