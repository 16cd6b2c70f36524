//! HTTP/1 as one framing among others: answers as whole messages, and requests that lack only their length.
//!
//! [`crate::http1`] reads; here is what puts its pieces together again. A body is without its transfer coding then.

use super::{Found, Message, WireError};
use crate::http1::{self, Expect, Http1Limits, Http1Stage, ResponseHead, ResponseReader, ResponseSink};
use memchr::memmem;

/// Reads answers.
#[derive(Debug)]
pub(super) struct Answers {
    reader: ResponseReader,
    expect: Expect,
    whole: Whole,
    delivered: bool,
}

/// The part of an answer that has come.
#[derive(Debug)]
struct Whole {
    bytes: Vec<u8>,
    head: usize,
    keeps: bool,
    limit: u64,
    /// Bytes that it has or announces, where they are too many; the rest is not kept.
    too_long: Option<u64>,
}

impl ResponseSink for Whole {
    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.keeps = head.keep_alive;
        let announced = match head.framing {
            http1::Http1Framing::Length(length) => length,
            _ => 0,
        };
        if self.fits((raw.len() as u64).saturating_add(announced)) {
            self.bytes.extend_from_slice(raw);
            self.head = raw.len();
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.fits((self.bytes.len() + bytes.len()) as u64) {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl Whole {
    fn fits(&mut self, length: u64) -> bool {
        if length > self.limit {
            self.too_long.get_or_insert(length);
        }
        self.too_long.is_none()
    }

    fn message(&self) -> Message<'_> {
        Message { bytes: &self.bytes, body: self.head..self.bytes.len() }
    }
}

impl Answers {
    /// `limit`: bytes of the longest answer, its head included.
    pub fn new(limit: u64) -> Answers {
        let head_bytes = usize::try_from(limit).unwrap_or(usize::MAX).min(Http1Limits::default().head_bytes);
        let whole = Whole { bytes: Vec::new(), head: 0, keeps: true, limit, too_long: None };
        Answers {
            reader: ResponseReader::new(Http1Limits { head_bytes, ..Http1Limits::default() }),
            expect: Expect::Body,
            whole,
            delivered: false,
        }
    }

    pub fn is_idle(&self) -> bool {
        self.delivered || self.reader.stage() == Http1Stage::Idle
    }

    pub fn keeps_connection(&self) -> bool {
        self.whole.keeps
    }

    /// Sets the request that the next answer belongs to.
    pub fn begin(&mut self, expect: Expect) {
        if self.is_idle() && (self.expect != expect || self.delivered) {
            self.expect = expect;
            self.reset();
        }
    }

    pub fn reset(&mut self) {
        self.reader.begin(self.expect);
        self.whole.bytes.clear();
        self.whole.head = 0;
        self.whole.keeps = true;
        self.whole.too_long = None;
        self.delivered = false;
    }

    pub fn read(&mut self, input: &[u8]) -> Result<Found<'_>, WireError> {
        if self.delivered {
            self.reset();
        }
        let progress = self.reader.read(input, &mut self.whole);
        // Before what may be wrong behind it: how much arrives at once is no matter.
        if let Some(length) = self.whole.too_long {
            return Err(WireError::TooLong { length, limit: self.whole.limit });
        }
        let progress = progress.map_err(|error| self.error(error))?;
        self.delivered = progress.done;
        let message = progress.done.then(|| self.whole.message());
        Ok(Found { consumed: progress.consumed, message })
    }

    pub fn end_of_stream(&mut self) -> Result<Message<'_>, WireError> {
        if self.is_idle() {
            return Err(WireError::ClosedIdle);
        }
        self.reader.end_of_stream(&mut self.whole).map_err(|error| self.error(error))?;
        self.delivered = true;
        Ok(self.whole.message())
    }

    fn error(&self, error: http1::Error) -> WireError {
        let limit = self.whole.limit;
        match (error.breach, error.number) {
            (http1::Breach::HeadLimit, Some(head)) => {
                WireError::TooLong { length: head + 1, limit: limit.min(head) }
            }
            _ if error.is_end() => WireError::ClosedInside(self.whole.bytes.len()),
            _ => WireError::Http(error),
        }
    }
}

/// Appends a message: its first line and its fields, in `head` or before the body's first empty line, then what follows
/// it. Content-Length is added where the fields say nothing of a length and there is a body, or a place for one.
pub(super) fn write(head: &[u8], body: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
    let (lines, content) = if head.is_empty() { split(body) } else { (head, body) };
    let lines = lines.trim_ascii_end();
    if lines.is_empty() {
        return Err(WireError::Framing("a message of HTTP begins with a line"));
    }
    out.extend_from_slice(lines);
    out.extend_from_slice(b"\r\n");
    if (!content.is_empty() || may_have_content(lines)) && !says_length(lines) {
        out.extend_from_slice(b"Content-Length: ");
        out.extend_from_slice(itoa::Buffer::new().format(content.len()).as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(content);
    Ok(())
}

/// Where the content begins of a message that was written.
pub(super) fn content_at(message: &[u8]) -> usize {
    message.len() - split(message).1.len()
}

/// Splits a text into the parts before the first empty line and behind it. A line may end with LF alone (RFC 9112 section 2.2).
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let ends = memchr::memchr_iter(b'\n', text);
    let found = ends.into_iter().find_map(|at| {
        let rest = &text[at + 1..];
        let after = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n"))?;
        Some((&text[..at + 1], after))
    });
    found.unwrap_or((text, b""))
}

/// Messages whose length is said even where it is 0 (RFC 9110 section 8.6): requests that mostly have content, answers.
fn may_have_content(lines: &[u8]) -> bool {
    [&b"POST "[..], b"PUT ", b"PATCH ", b"HTTP/"].iter().any(|begin| lines.starts_with(begin))
}

fn says_length(lines: &[u8]) -> bool {
    lines.split(|byte| *byte == b'\n').skip(1).any(|line| {
        let name = line.split(|byte| *byte == b':').next().expect("a split has a first part");
        name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"transfer-encoding")
    })
}

/// The status of an answer, three digits.
pub(super) fn status(head: &[u8]) -> Option<&[u8]> {
    let at = memmem::find(head, b"HTTP/1.")?;
    head.get(at + 9..at + 12).filter(|status| status.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::super::{Framing, Reader};
    use super::*;
    use crate::http1::{Expect, RequestReader, RequestSink};
    use proptest::prelude::*;

    /// Head and body of an answer, and whether its connection may be used again.
    type Found = (Vec<u8>, Vec<u8>, bool);

    /// The answers in pieces of a stream.
    fn answers(pieces: &[&[u8]], expect: Expect, limit: u64) -> Result<Vec<Found>, WireError> {
        let mut reader = Reader::new(Framing::Http, limit)?;
        let mut found = Vec::new();
        for piece in pieces {
            let mut rest = *piece;
            while !rest.is_empty() {
                reader.begin(expect);
                let read = reader.read(rest)?;
                let message = read.message.map(|message| (message.head().to_vec(), message.body().to_vec()));
                rest = &rest[read.consumed..];
                found.extend(message.map(|(head, body)| (head, body, reader.keeps_connection())));
            }
        }
        if !reader.is_idle() {
            let message = reader.end_of_stream()?;
            let head = message.head().to_vec();
            let body = message.body().to_vec();
            found.push((head, body, reader.keeps_connection()));
        }
        Ok(found)
    }

    fn one(stream: &[u8], expect: Expect) -> Result<(Vec<u8>, bool), WireError> {
        answers(&[stream], expect, 1_000).map(|mut found| {
            let (_, body, keeps) = found.remove(0);
            (body, keeps)
        })
    }

    #[test]
    fn answers_end_as_http_has_it() {
        for (stream, body, keeps) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n4\r\n you\r\n0\r\n\r\n",
                "hi you",
                true,
            ),
            ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "hi", false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", false),
            ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
            ("HTTP/1.1 200 OK\r\n\r\nuntil close", "until close", false),
            ("HTTP/1.1 204 No Content\r\n\r\n", "", true),
            ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", true),
        ] {
            assert_eq!(one(stream.as_bytes(), Expect::Body), Ok((body.into(), keeps)), "{stream}");
        }
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
        assert_eq!(one(head, Expect::NoBody), Ok((Vec::new(), true)));
        assert_eq!(one(head, Expect::Body), Err(WireError::ClosedInside(head.len())));
        assert!(matches!(one(b"SSH-2.0-x\r\n\r\n", Expect::Body), Err(WireError::Http(_))));
    }

    #[test]
    fn no_answer_is_longer_than_the_limit() {
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let endless = [&b"HTTP/1.1 200 OK\r\n\r\n"[..], &[b'x'; 100]].concat();
        let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n";
        let head = [&b"HTTP/1.1 200 OK\r\nA: "[..], &[b'x'; 100]].concat();
        for stream in [&chunked[..], &endless, announced, &head] {
            let all = answers(&[stream], Expect::Body, 50);
            assert!(matches!(all, Err(WireError::TooLong { .. })), "{all:?}");
            let pieces: Vec<_> = stream.chunks(1).collect();
            let all = answers(&pieces, Expect::Body, 50);
            assert!(matches!(all, Err(WireError::TooLong { .. })), "{all:?}");
        }
    }

    #[test]
    fn a_length_is_written_where_none_is_given() {
        for (head, body, written) in [
            ("", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("", "GET / HTTP/1.1\r\nHost: x", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("", "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\nHost: x\r\n\r\n"),
            ("", "PUT / HTTP/1.1\r\n\r\nab", "PUT / HTTP/1.1\r\nContent-Length: 2\r\n\r\nab"),
            ("POST / HTTP/1.1\r\nA: b\r\n", "{}", "POST / HTTP/1.1\r\nA: b\r\nContent-Length: 2\r\n\r\n{}"),
            ("POST / HTTP/1.1", "", "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
            (
                "POST / HTTP/1.1\r\ncontent-length: 7\r\n\r\n",
                "{}",
                "POST / HTTP/1.1\r\ncontent-length: 7\r\n\r\n{}",
            ),
        ] {
            let mut out = b"before".to_vec();
            Framing::Http.write(head.as_bytes(), body.as_bytes(), &mut out).unwrap();
            assert_eq!(String::from_utf8_lossy(&out[6..]), written, "{head} {body}");
            assert_eq!(
                Framing::Http.body_of(&out[6..]).start,
                written.find("\r\n\r\n").unwrap() + 4,
                "{head} {body}"
            );
        }
        assert!(Framing::Http.write(b"", b"\r\n", &mut Vec::new()).is_err());
    }

    #[derive(Default)]
    struct Read(Vec<u8>, Vec<u8>);

    impl RequestSink for Read {
        fn head(&mut self, _: &crate::http1::RequestHead<'_>, raw: &[u8]) {
            self.0.extend_from_slice(raw);
        }

        fn body(&mut self, bytes: &[u8]) {
            self.1.extend_from_slice(bytes);
        }
    }

    proptest! {
        #[test]
        fn any_split_of_answers_yields_the_same(
            given in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..60), 1usize..9, any::<bool>()), 1..5),
            cuts in prop::collection::vec(1usize..30, 1..60),
            closes in any::<bool>(),
        ) {
            let mut stream = Vec::new();
            for (body, piece, interim) in &given {
                if *interim {
                    stream.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
                }
                if *piece < 5 {
                    stream.extend_from_slice(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                    for chunk in body.chunks(*piece) {
                        stream.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                        stream.extend_from_slice(chunk);
                        stream.extend_from_slice(b"\r\n");
                    }
                    stream.extend_from_slice(b"0\r\nA: trailer\r\n\r\n");
                } else {
                    Framing::Http.write(b"HTTP/1.1 404 No\r\nX: y\r\n", body, &mut stream).unwrap();
                }
            }
            let mut wanted: Vec<_> = given.iter().map(|(body, ..)| body.clone()).collect();
            if closes {
                stream.extend_from_slice(b"HTTP/1.0 200 OK\r\n\r\nlast");
                wanted.push(b"last".to_vec());
            }
            let whole = answers(&[&stream], Expect::Body, 1 << 16).unwrap();
            let bodies: Vec<_> = whole.iter().map(|(_, body, _)| body.clone()).collect();
            prop_assert_eq!(bodies, wanted);
            let bytes: Vec<_> = stream.chunks(1).collect();
            prop_assert_eq!(&answers(&bytes, Expect::Body, 1 << 16).unwrap(), &whole);
            let mut rest = &stream[..];
            let pieces = cuts.iter().cycle().map_while(|cut| {
                let (piece, after) = rest.split_at_checked(*cut).unwrap_or((rest, &[]));
                rest = after;
                (!piece.is_empty()).then_some(piece)
            });
            prop_assert_eq!(&answers(&pieces.collect::<Vec<_>>(), Expect::Body, 1 << 16).unwrap(), &whole);
        }

        #[test]
        fn what_is_written_is_read(body in prop::collection::vec(any::<u8>(), 0..200), whole in any::<bool>()) {
            let head = b"POST /x HTTP/1.1\r\nHost: a\r\n";
            let mut out = Vec::new();
            if whole {
                let text = [&head[..], b"\r\n", &body].concat();
                Framing::Http.write(b"", &text, &mut out).unwrap();
            } else {
                Framing::Http.write(head, &body, &mut out).unwrap();
            }
            let mut reader = RequestReader::new(Http1Limits::default());
            reader.begin();
            let mut read = Read::default();
            let progress = reader.read(&out, &mut read).unwrap();
            prop_assert!(progress.done);
            prop_assert_eq!(progress.consumed, out.len());
            prop_assert!(read.0.starts_with(head));
            prop_assert_eq!(read.1, body);
        }
    }

    #[test]
    fn a_status_is_that_of_the_first_line() {
        assert_eq!(status(b"HTTP/1.1 503 No\r\n\r\n"), Some(&b"503"[..]));
        assert_eq!(status(b"\r\nHTTP/1.0 200\r\n\r\n"), Some(&b"200"[..]));
        assert_eq!(status(b"0008"), None);
    }
}
