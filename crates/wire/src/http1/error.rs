//! Errors of a peer's message: one flat enum, so that each can be a counter.

/// Why a message was refused or cut short. After an error the connection is of no further use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The first bytes cannot begin an HTTP/1 message.
    #[error("the peer does not speak HTTP/1: its first bytes cannot begin a message")]
    NotHttp,
    /// The head exceeds [`Limits::head_bytes`](super::Limits::head_bytes).
    #[error("the head is longer than {limit} bytes")]
    HeadTooLong {
        /// Bytes allowed.
        limit: usize,
    },
    /// The head or trailer section exceeds [`Limits::fields`](super::Limits::fields).
    #[error("the message has more than {limit} fields")]
    TooManyFields {
        /// Field lines allowed.
        limit: usize,
    },
    /// A field line is malformed: bad name, control character, bare CR, a folded line of a request (RFC 9112 section 5).
    #[error("a field line is malformed")]
    BadField,
    /// The version is neither HTTP/1.0 nor HTTP/1.1, or the line goes on after it.
    #[error("the version is neither HTTP/1.0 nor HTTP/1.1")]
    BadVersion,
    /// The status is not three digits from 100 to 999, or the reason phrase holds control characters.
    #[error("the status line has no status from 100 to 999 or a malformed reason")]
    BadStatus,
    /// Content-Length is not a plain number below 2^64 (RFC 9110 section 8.6).
    #[error("Content-Length is not a number of bytes")]
    BadContentLength,
    /// Content-Length stands there several times, with different values (RFC 9112 section 6.3).
    #[error("Content-Length is given more than once, with different values")]
    DuplicateContentLength,
    /// Content-Length beside Transfer-Encoding (RFC 9112 section 6.1).
    #[error("both Content-Length and Transfer-Encoding are given")]
    ConflictingLength,
    /// Transfer-Encoding is anything but one `chunked`, or stands in an HTTP/1.0 message (RFC 9112 section 6.1).
    #[error("Transfer-Encoding is not exactly one `chunked` in an HTTP/1.1 message")]
    BadTransferEncoding,
    /// A chunk's size line or end is malformed or too long (RFC 9112 section 7.1).
    #[error("the chunked framing is malformed")]
    BadChunk,
    /// The trailer section exceeds [`Limits::head_bytes`](super::Limits::head_bytes).
    #[error("the trailer section is too long")]
    TrailersTooLong,
    /// More than [`INTERIM_LIMIT`](super::INTERIM_LIMIT) responses 1xx before the final one.
    #[error("too many interim (1xx) responses came before the final one")]
    TooManyInterim,
    /// The peer closed before the first byte of the message: a kept connection that ran out, mostly.
    #[error("the peer closed the connection before the first byte of a message")]
    ClosedIdle,
    /// The peer closed within the head.
    #[error("the peer closed the connection within a head")]
    ClosedInHead,
    /// The peer closed within the content.
    #[error("the peer closed the connection within a body{}", Missing(*missing))]
    ClosedInBody {
        /// Bytes that Content-Length promised and that did not come; `None` when chunked.
        missing: Option<u64>,
    },
    /// The request target has none of the four forms, or one that its method may not have (RFC 9112 section 3.2).
    #[error("the request target is malformed or not allowed for its method")]
    BadTarget,
    /// The method is not a token (RFC 9110 section 9.1).
    #[error("the request method is malformed")]
    BadMethod,
}

impl Error {
    /// A short identifier for counters and machine-readable reports; stable, unlike the text.
    pub const fn name(&self) -> &'static str {
        match self {
            Error::NotHttp => "not_http",
            Error::HeadTooLong { .. } => "head_too_long",
            Error::TooManyFields { .. } => "too_many_fields",
            Error::BadField => "bad_field",
            Error::BadVersion => "bad_version",
            Error::BadStatus => "bad_status",
            Error::BadContentLength => "bad_content_length",
            Error::DuplicateContentLength => "duplicate_content_length",
            Error::ConflictingLength => "conflicting_length",
            Error::BadTransferEncoding => "bad_transfer_encoding",
            Error::BadChunk => "bad_chunk",
            Error::TrailersTooLong => "trailers_too_long",
            Error::TooManyInterim => "too_many_interim",
            Error::ClosedIdle => "closed_idle",
            Error::ClosedInHead => "closed_in_head",
            Error::ClosedInBody { .. } => "closed_in_body",
            Error::BadTarget => "bad_target",
            Error::BadMethod => "bad_method",
        }
    }
}

/// The tail of the text of [`Error::ClosedInBody`].
struct Missing(Option<u64>);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, ", {bytes} bytes short of its Content-Length"),
            None => f.write_str(", before its last chunk"),
        }
    }
}
