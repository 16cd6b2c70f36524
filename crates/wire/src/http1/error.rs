//! Why a message of a peer's is refused: the name of the breach, and what can be seen of it.

use breach::{Breach, Http1};
use std::fmt;

/// Why a message was refused or cut short. After an error the connection is of no further use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// Name of it; the [catalogue](breach::Breach) says more.
    pub breach: Http1,
    /// The limit that was exceeded; of [`Http1::ClosedInBody`], bytes that Content-Length promised and that did not come.
    pub number: Option<u64>,
}

impl Error {
    /// That of a limit.
    pub(super) const fn limit(breach: Http1, limit: usize) -> Error {
        Error { breach, number: Some(limit as u64) }
    }

    /// True if the peer closed before the message was complete.
    pub fn is_end(&self) -> bool {
        Breach::from(self.breach).is_end()
    }
}

impl From<Http1> for Error {
    fn from(breach: Http1) -> Error {
        Error { breach, number: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.breach.entry().text)?;
        match (self.number, self.breach) {
            (None, _) => Ok(()),
            (Some(bytes), Http1::ClosedInBody) => write!(f, " ({bytes} bytes are missing)"),
            (Some(limit), _) => write!(f, " (limit {limit})"),
        }
    }
}

/// Sight of a breach: bytes as they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorContext {
    /// The head that is malformed, as far as it came, up to [`ErrorContext::HEAD`] bytes; empty where the head was good.
    pub head: Vec<u8>,
    /// The bytes at fault: a line of the head, or the first bytes of what is wrong in the content; up to [`ErrorContext::AT`].
    pub at: Vec<u8>,
}

impl ErrorContext {
    /// Bytes of a head that are kept.
    pub const HEAD: usize = 4096;
    /// Bytes at fault that are kept.
    pub const AT: usize = 96;

    /// In a head.
    #[cold]
    pub(super) fn in_head(breach: Http1, came: &[u8]) -> ErrorContext {
        let head = whole_or_first(came);
        let at = super::diagnosis::line_at_fault(breach, head);
        ErrorContext { head: first(head, ErrorContext::HEAD), at: first(at, ErrorContext::AT) }
    }

    /// In content, where these bytes begin with what is wrong.
    #[cold]
    pub(super) fn in_body(from: &[u8]) -> ErrorContext {
        ErrorContext { head: Vec::new(), at: first(from, ErrorContext::AT) }
    }
}

fn first(bytes: &[u8], most: usize) -> Vec<u8> {
    bytes[..bytes.len().min(most)].to_vec()
}

/// The head, without what came behind it.
fn whole_or_first(came: &[u8]) -> &[u8] {
    let mut blank = super::head::BlankLine::default();
    blank.find(came).map_or(came, |end| &came[..end])
}
