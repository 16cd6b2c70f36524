//! An answer as both forms compose it: its head is written at once, its body described.

use measure::LiveOriginCounts;
use plan::content::Content;
use plan::draw::Draw;
use plan::site::StampKind;

/// Decisions about an answer besides the bytes of its head.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) kind: StampKind,
    /// Bytes of the head in what was written; the rest is a short body.
    pub(crate) head_bytes: usize,
    /// A shared cache may store it.
    pub(crate) storable: bool,
    /// The connection stays open after it.
    pub(crate) keep_alive: bool,
    /// A body that is not yet written.
    pub(crate) body: Option<AnswerBody>,
}

impl Answer {
    /// An answer of which only the head is written so far, and without a body.
    pub(crate) fn of_head(kind: StampKind, head_bytes: usize, storable: bool, keep_alive: bool) -> Answer {
        Answer { kind, head_bytes, storable, keep_alive, body: None }
    }

    /// Counts it before it is sent, so that whoever has received it finds it counted; `content`: bytes that were written with
    /// the head.
    pub(crate) fn account(&self, counts: &LiveOriginCounts, content: usize) {
        counts.requests.add(1);
        counts.head_bytes.add(self.head_bytes as u64);
        counts.body_bytes.add(content as u64);
        counts.unstorable.add(u64::from(!self.storable));
        let kind = match self.kind {
            StampKind::Full => &counts.full,
            StampKind::Part => &counts.partial,
            StampKind::Unchanged => &counts.unchanged,
            StampKind::Error => &counts.errors,
            StampKind::Cut => &counts.cut,
            StampKind::Refused => &counts.refused,
            StampKind::Gone => &counts.gone,
            StampKind::Accepted => &counts.accepted,
        };
        kind.add(1);
    }
}

/// Bytes `from..to` of an object, with the clear text that is laid over its beginning kept in the connection's scratch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerBody {
    pub(crate) content: Content,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Sent in chunks.
    pub(crate) chunked: bool,
    /// It ends before it is complete.
    pub(crate) cut: bool,
}

impl AnswerBody {
    /// Ends it before its last byte, at random. An empty body cannot be cut.
    pub(crate) fn cut_short(&mut self, draw: &mut Draw) {
        self.to = self.from + draw.below(self.to - self.from);
        self.cut = true;
    }

    /// The part of the clear text that lies within these bytes.
    pub(crate) fn overlay<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let end = self.to.min(text.len() as u64);
        &text[self.from.min(end) as usize..end as usize]
    }
}

/// A body length or another number, in decimal.
#[inline]
pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// `Content-Range: bytes a-b/n` (RFC 9110 section 14.4).
pub(crate) fn content_range(out: &mut Vec<u8>, from: u64, to: u64, size: u64) {
    out.extend_from_slice(b"Content-Range: bytes ");
    number(out, from);
    out.push(b'-');
    number(out, to - 1);
    out.push(b'/');
    number(out, size);
    out.extend_from_slice(b"\r\n");
}

/// `Content-Range: bytes */n`, with a 416.
pub(crate) fn content_range_none(out: &mut Vec<u8>, size: u64) {
    out.extend_from_slice(b"Content-Range: bytes */");
    number(out, size);
    out.extend_from_slice(b"\r\n");
}

/// The usual phrase of a status.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        413 => "Content Too Large",
        416 => "Range Not Satisfiable",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Error",
    }
}
