//! [`Connections`]: how connections live and end, whatever is spoken on them.

use crate::http::tls::Tls;
use serde::{Deserialize, Serialize};

/// How connections live, whatever is spoken on them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Connections<'a> {
    /// Requests per connection; `None` without end.
    pub requests_per_connection: Option<u32>,
    /// How the client ends a connection.
    pub close: CloseBy,
    /// TLS; `None`: without.
    pub tls: Option<&'a Tls>,
    /// Which requests are sent again.
    pub resend: Resend,
}

/// How the client ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CloseBy {
    /// In the usual order; the client's port then waits a minute (TIME_WAIT) if it closed first.
    Fin,
    /// By a reset, which leaves no port waiting.
    Reset,
    /// After the server, where the answer said that it would close: the port then waits at its end.
    Peer,
}

/// Which requests are sent again, over a new connection, after a kept connection ended before any byte of the answer came
/// (RFC 9110 section 9.2.2). All others have failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Resend {
    /// None.
    Never,
    /// Those behind the last one that a GOAWAY of HTTP/2 or HTTP/3 names, which were not processed.
    Goaway,
    /// Those of idempotent methods, where the peer had closed before it can have read any byte of them. Messages: where
    /// that is so.
    #[default]
    Idle,
    /// Beside these, those of safe methods, though the peer may have read them. Messages: all.
    Safe,
}

impl Resend {
    /// Reads a name.
    ///
    /// # Errors
    /// The names, where it is none of them.
    pub fn parse(text: &str) -> Result<Resend, String> {
        match text {
            "never" => Ok(Resend::Never),
            "goaway" => Ok(Resend::Goaway),
            "idle" => Ok(Resend::Idle),
            "safe" => Ok(Resend::Safe),
            _ => Err("give never, goaway, idle or safe".to_owned()),
        }
    }

    /// True if requests whose connection was lost may be sent again.
    pub fn minds_losses(self) -> bool {
        !matches!(self, Resend::Never | Resend::Goaway)
    }

    pub(crate) fn is_usual(&self) -> bool {
        *self == Resend::default()
    }
}
