//! The versions of HTTP.

use serde::{Deserialize, Serialize};

/// A version of HTTP that a user speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Http {
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

impl Http {
    /// Its name, which is the label of its figures too.
    pub fn name(self) -> &'static str {
        match self {
            Http::One => "HTTP/1.1",
            Http::Two => "HTTP/2",
            Http::Three => "HTTP/3",
        }
    }

    /// The name that TLS has for it (ALPN).
    pub fn alpn(self) -> &'static str {
        match self {
            Http::One => "http/1.1",
            Http::Two => "h2",
            Http::Three => "h3",
        }
    }
}
