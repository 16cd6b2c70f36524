//! Requests that somebody else wrote, several in one piece perhaps: how many there are, and whether they are whole. For a
//! client that has to know how many answers to wait for.
//!
//! [`check`] reads everything and says where the first mistake is; [`count`] looks for the ends of heads and is meant for
//! each of millions of messages of which one has been checked.

use super::{Error, Expect, Http1Limits, RequestReader, RequestSink};
use memchr::{memchr, memmem};
use std::sync::LazyLock;

/// Requests in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// How many.
    pub count: u32,
    /// Framing of the answers: to HEAD, without content. Of several, the first decides.
    pub expect: Expect,
}

/// Why a text is no batch of requests, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flaw {
    /// Line and column of the mistake, both from 1.
    pub line: usize,
    /// See `line`.
    pub column: usize,
    /// The mistake; `None`: the last request is not whole.
    pub error: Option<Error>,
}

static HEAD_END: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\r\n\r\n"));

struct Nothing;
impl RequestSink for Nothing {}

/// Reads all requests of a text.
///
/// # Errors
/// The first request that is malformed, or the end of a text in the middle of one.
pub fn check(text: &[u8]) -> Result<Batch, Flaw> {
    let mut reader = RequestReader::new(Http1Limits::default());
    let mut at = 0;
    let mut count = 0;
    while at < text.len() {
        reader.begin();
        let progress = reader.read(&text[at..], &mut Nothing).map_err(|error| flaw(text, at, Some(error)))?;
        if !progress.done {
            return Err(flaw(text, text.len(), None));
        }
        at += progress.consumed;
        count += 1;
    }
    if count == 0 { Err(flaw(text, 0, None)) } else { Ok(Batch { count, expect: expect(text) }) }
}

fn flaw(text: &[u8], at: usize, error: Option<Error>) -> Flaw {
    let before = &text[..at];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Flaw { line, column: 1 + at - line_start, error }
}

fn expect(text: &[u8]) -> Expect {
    if text.starts_with(b"HEAD ") { Expect::NoBody } else { Expect::Body }
}

/// Counts the requests of a text by the ends of their heads and their Content-Length; `None` where they do not end with
/// the text. Chunked requests are read whole, and so is what looks unfinished: a line may end with LF alone, too.
pub fn count(text: &[u8]) -> Option<Batch> {
    by_ends(text).or_else(|| check(text).ok())
}

fn by_ends(text: &[u8]) -> Option<Batch> {
    let mut rest = text;
    let mut count = 0;
    while !rest.is_empty() {
        let head = HEAD_END.find(rest)? + 4;
        count += 1;
        if head == rest.len() {
            break;
        }
        match content(&rest[..head]) {
            BatchContent::Length(length) => rest = rest[head..].get(length..)?,
            BatchContent::Chunked => return check(text).ok(),
        }
    }
    (count > 0).then(|| Batch { count, expect: expect(text) })
}

/// The part behind a head.
enum BatchContent {
    Length(usize),
    Chunked,
}

fn content(head: &[u8]) -> BatchContent {
    let mut lines = head;
    while let Some(end) = memchr(b'\n', lines) {
        lines = &lines[end + 1..];
        if let Some(value) = value_of(lines, b"content-length:") {
            let digits =
                value.iter().skip_while(|byte| **byte == b' ').take_while(|byte| byte.is_ascii_digit());
            let length = digits
                .fold(0usize, |sum, digit| sum.saturating_mul(10).saturating_add(usize::from(digit - b'0')));
            return BatchContent::Length(length);
        }
        if value_of(lines, b"transfer-encoding:").is_some() {
            return BatchContent::Chunked;
        }
    }
    BatchContent::Length(0)
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let start = line.get(..name.len())?;
    start.eq_ignore_ascii_case(name).then(|| &line[name.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_count_alike() {
        let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
        let post = "POST / HTTP/1.1\r\nHost: h\r\ncontent-LENGTH:  6\r\n\r\n\r\n\r\nxx";
        let chunked = "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
        for (text, expected) in [
            (get.to_owned(), 1),
            (get.repeat(3), 3),
            (post.to_owned(), 1),
            (format!("{get}{post}{get}"), 3),
            (chunked.to_owned(), 1),
            (format!("{chunked}{get}"), 2),
        ] {
            let batch = Batch { count: expected, expect: Expect::Body };
            assert_eq!(check(text.as_bytes()), Ok(batch), "{text}");
            assert_eq!(count(text.as_bytes()), Some(batch), "{text}");
        }
        let bare = b"GET / HTTP/1.1\nHost: h\n\n";
        assert_eq!(
            (count(bare), check(bare).ok()),
            (Some(Batch { count: 1, expect: Expect::Body }), count(bare))
        );
        let head = b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n";
        assert_eq!(count(head), Some(Batch { count: 1, expect: Expect::NoBody }));
        assert_eq!(count(head).unwrap(), check(head).unwrap());
    }

    #[test]
    fn what_is_not_whole_is_no_batch() {
        for (text, place) in [
            ("GET /", (1, 6)),
            ("", (1, 1)),
            ("GET / HTTP/1.1\r\nHost: h\r\n", (3, 1)),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab", (5, 3)),
        ] {
            let flaw = check(text.as_bytes()).unwrap_err();
            assert_eq!(((flaw.line, flaw.column), flaw.error), (place, None), "{text}");
            assert_eq!(count(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_malformed_request_is_found_where_it_begins() {
        let flaw = check(b"GET / HTTP/1.1\r\nHost: h\r\n\r\njunk\r\n\r\n").unwrap_err();
        assert_eq!((flaw.line, flaw.column), (4, 1));
        assert!(flaw.error.is_some());
    }
}
