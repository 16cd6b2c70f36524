//! Laws over generated streams: how a stream is cut must not show, what was written is what is read, and nothing that
//! a peer may send makes a reader panic or take more than it was given.

use crate::recorder::{Reader, Recorder, record, request_line, response_line, responses};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::http1::{
    Expect, Http1Framing, Http1Limits, RequestHead, RequestReader, ResponseHead, Target, Version, write,
};

type Fields = Vec<(String, String)>;

/// Content as it is to be sent: in one piece with its length, or in chunks with trailers.
#[derive(Debug, Clone)]
enum Content {
    None,
    Length(Vec<u8>),
    Chunked(Vec<Vec<u8>>, Fields),
}

impl Content {
    fn framing(&self) -> Http1Framing {
        match self {
            Content::None => Http1Framing::None,
            Content::Length(bytes) => Http1Framing::Length(bytes.len() as u64),
            Content::Chunked(..) => Http1Framing::Chunked,
        }
    }

    /// Writes the framing field, the end of the head and the content; tells what a reader has to tell.
    fn write(&self, out: &mut Vec<u8>, told: &mut Recorder, head: String) {
        match self {
            Content::None => {}
            Content::Length(bytes) => {
                write::field_number(out, "Content-Length", bytes.len() as u64);
                told.line(format!("field Content-Length={}", bytes.len()));
            }
            Content::Chunked(..) => {
                write::field(out, "Transfer-Encoding", "chunked");
                told.line("field Transfer-Encoding=chunked".into());
            }
        }
        write::end_of_head(out);
        told.line(head);
        match self {
            Content::None => {}
            Content::Length(bytes) => {
                out.extend_from_slice(bytes);
                tell_body(told, bytes);
            }
            Content::Chunked(chunks, trailers) => {
                chunks.iter().for_each(|chunk| write::chunk(out, chunk));
                let pairs: Vec<_> = trailers.iter().map(|(n, v)| (n.as_bytes(), v.as_bytes())).collect();
                write::last_chunk(out, &pairs);
                tell_body(told, &chunks.concat());
                trailers.iter().for_each(|(name, value)| told.line(format!("trailer {name}={value}")));
            }
        }
        told.line("done".into());
    }
}

fn tell_body(told: &mut Recorder, bytes: &[u8]) {
    if !bytes.is_empty() {
        told.line(format!("body {}", bytes.escape_ascii()));
    }
}

fn write_fields(out: &mut Vec<u8>, told: &mut Recorder, fields: &Fields) {
    for (name, value) in fields {
        write::field(out, name, value);
        told.line(format!("field {name}={value}"));
    }
}

#[derive(Debug, Clone)]
struct Response {
    interims: Vec<u16>,
    version: Version,
    status: u16,
    fields: Fields,
    content: Content,
}

impl Response {
    fn write(&self, out: &mut Vec<u8>, told: &mut Recorder) {
        for &status in &self.interims {
            write::status_line(out, Version::Http11, status, "Wait");
            write::field(out, "X-Unseen", "1");
            write::end_of_head(out);
            told.line(format!("interim {status}"));
        }
        write::status_line(out, self.version, self.status, "Reason Given");
        write_fields(out, told, &self.fields);
        let framing = self.content.framing();
        let content_length = match framing {
            Http1Framing::Length(length) => Some(length),
            _ => None,
        };
        let keep_alive = self.version == Version::Http11;
        let head =
            ResponseHead { version: self.version, status: self.status, framing, content_length, keep_alive };
        self.content.write(out, told, response_line(&head));
    }
}

#[derive(Debug, Clone)]
struct Request {
    method: String,
    path: String,
    authority: Option<String>,
    version: Version,
    fields: Fields,
    content: Content,
}

impl Request {
    fn write(&self, out: &mut Vec<u8>, told: &mut Recorder) {
        let path = self.path.as_bytes();
        let target = match &self.authority {
            Some(authority) => Target::Absolute { scheme: b"http", authority: authority.as_bytes(), path },
            None => Target::Origin(path),
        };
        write::request_line(out, &self.method, target, self.version);
        write_fields(out, told, &self.fields);
        let head = RequestHead {
            method: self.method.as_bytes(),
            target,
            version: self.version,
            framing: self.content.framing(),
            keep_alive: self.version == Version::Http11,
            expect_continue: false,
        };
        self.content.write(out, told, request_line(&head));
    }
}

prop_compose! {
    fn fields()(fields in vec(("x-[a-zA-Z0-9!#$_-]{0,12}", "|[!-~&&[^'\"\\\\]]([ -~&&[^'\"\\\\]]{0,20}[!-~&&[^'\"\\\\]])?"), 0..6)) -> Fields {
        fields
    }
}

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::Http10), Just(Version::Http11)]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        vec(any::<u8>(), 0..200).prop_map(Content::Length),
        (vec(vec(any::<u8>(), 0..60), 0..5), fields()).prop_map(|(c, t)| Content::Chunked(c, t)),
    ]
}

/// HTTP/1.0 has no chunks: such a pair becomes HTTP/1.1.
fn able(version: Version, content: &Content) -> Version {
    if matches!(content, Content::Chunked(..)) { Version::Http11 } else { version }
}

fn response() -> impl Strategy<Value = Response> {
    let status = prop_oneof![200u16..=203, 205u16..=303, 305u16..=999];
    let interims = vec(prop_oneof![Just(100u16), 102u16..=199], 0..3);
    (interims, version(), status, fields(), content()).prop_map(
        |(interims, version, status, fields, content)| Response {
            interims,
            version: able(version, &content),
            status,
            fields,
            content,
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let content = prop_oneof![Just(Content::None), content()];
    let authority = proptest::option::of("[a-z0-9.]{1,10}(:[0-9]{1,4})?");
    ("[A-BD-Z][A-Z-]{0,8}", "/[a-z0-9/?=&%.]{0,30}", authority, version(), fields(), content).prop_map(
        |(method, path, authority, version, fields, content)| {
            let version = able(version, &content);
            Request { method, path, authority, version, fields, content }
        },
    )
}

/// Cuts `bytes` into pieces of the given sizes, over and over.
fn cut<'b>(bytes: &'b [u8], sizes: &'b [usize]) -> impl Iterator<Item = &'b [u8]> {
    let mut rest = bytes;
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        let size = *sizes.next()?;
        let piece;
        (piece, rest) = rest.split_at(size.min(rest.len()));
        (!piece.is_empty()).then_some(piece)
    })
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![1usize..4, 1usize..40, 1usize..400], 1..8)
}

/// Text that goes wrong in interesting places: pieces of messages in any order, and bytes astray.
fn nearly_http() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(
        &[
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404 No\n",
            "HTTP/1.1 100 C\r\n\r\n",
            "HTTP/1.1 204\r\n",
            "HTTP/1.",
            "GET / HTTP/1.1\r\n",
            "POST http://h/p HTTP/1.0\r\n",
            "CONNECT h:1 HTTP/1.1\r\n",
            "OPTIONS * ",
            "GET ",
            "Content-Length: 5\r\n",
            "Content-Length: 18446744073709551615\r\n",
            "content-length: 1, 1\r\n",
            "Transfer-Encoding: chunked\r\n",
            "transfer-encoding: gzip\r\n",
            "Connection: close\r\n",
            "a: b\n",
            "a : b\r\n",
            " folded\r\n",
            "Expect: 100-continue\r\n",
            "\r\n",
            "\r\n\r\n",
            "\n",
            "\r",
            "5\r\nhello\r\n",
            "5;x=y\r\nhello\r\n",
            "0\r\n\r\n",
            "0\r\nT: 1\r\n\r\n",
            "fffffffffffffffff\r\n",
            "hello",
            ":",
            "\0",
        ][..],
    )
    .prop_map(|text| text.as_bytes().to_vec());
    vec(prop_oneof![12 => known, 1 => vec(any::<u8>(), 1..8)], 0..16).prop_map(|pieces| pieces.concat())
}

/// A stream of well-formed responses with, perhaps, one byte replaced.
fn damaged_responses() -> impl Strategy<Value = Vec<u8>> {
    (vec(response(), 1..3), any::<prop::sample::Index>(), proptest::option::of(any::<u8>())).prop_map(
        |(responses, at, byte)| {
            let mut stream = Vec::new();
            responses.iter().for_each(|response| response.write(&mut stream, &mut Recorder::default()));
            if let Some(byte) = byte {
                let at = at.index(stream.len());
                stream[at] = byte;
            }
            stream
        },
    )
}

fn limits() -> impl Strategy<Value = Http1Limits> {
    let tight = (0usize..120, 0usize..4).prop_map(|(head_bytes, fields)| Http1Limits { head_bytes, fields });
    prop_oneof![Just(Http1Limits::default()), tight]
}

fn expect() -> impl Strategy<Value = Expect> {
    prop_oneof![Just(Expect::Body), Just(Expect::NoBody), Just(Expect::Tunnel)]
}

/// Reads on whatever happens, errors included, and watches the accounts.
fn never_takes_more(mut reader: impl Reader, pieces: &[Vec<u8>]) {
    let mut recorder = Recorder::default();
    reader.begin();
    for piece in pieces {
        let Ok(progress) = reader.read(piece, &mut recorder) else { continue };
        assert!(progress.consumed <= piece.len());
        assert!(progress.done || progress.consumed == piece.len());
        if progress.done {
            reader.begin();
        }
    }
    let _ = reader.end_of_stream(&mut recorder);
    let _ = reader.read(b"HTTP/1.1 200", &mut recorder);
}

proptest! {
    #[test]
    fn written_responses_are_read_as_meant(list in vec(response(), 0..4), sizes in sizes()) {
        let mut stream = Vec::new();
        let mut told = Recorder::default();
        list.iter().for_each(|response| response.write(&mut stream, &mut told));
        let read = record(responses(Http1Limits::default(), Expect::Body), cut(&stream, &sizes));
        prop_assert_eq!(read, told.into_text());
    }

    #[test]
    fn written_requests_are_read_as_meant(list in vec(request(), 0..4), sizes in sizes()) {
        let mut stream = Vec::new();
        let mut told = Recorder::default();
        list.iter().for_each(|request| request.write(&mut stream, &mut told));
        let read = record(RequestReader::new(Http1Limits::default()), cut(&stream, &sizes));
        prop_assert_eq!(read, told.into_text());
    }

    #[test]
    fn cutting_responses_does_not_show(
        stream in prop_oneof![nearly_http(), damaged_responses()],
        sizes in sizes(), limits in limits(), expect in expect(),
    ) {
        let whole = record(responses(limits, expect), [&stream[..]]);
        prop_assert_eq!(record(responses(limits, expect), cut(&stream, &sizes)), whole);
    }

    #[test]
    fn cutting_requests_does_not_show(stream in nearly_http(), sizes in sizes(), limits in limits()) {
        let whole = record(RequestReader::new(limits), [&stream[..]]);
        prop_assert_eq!(record(RequestReader::new(limits), cut(&stream, &sizes)), whole);
    }

    #[test]
    fn any_bytes_are_survived(
        pieces in vec(prop_oneof![nearly_http(), vec(any::<u8>(), 0..40)], 0..8),
        limits in limits(), expect in expect(),
    ) {
        never_takes_more(responses(limits, expect), &pieces);
        never_takes_more(RequestReader::new(limits), &pieces);
    }

    /// Closing within a message is an error, closing between messages is none; what was told before still holds.
    #[test]
    fn closing_anywhere_is_told(list in vec(response(), 1..3)) {
        let mut stream = Vec::new();
        let mut ends = vec![0];
        for response in &list {
            response.write(&mut stream, &mut Recorder::default());
            ends.push(stream.len());
        }
        for end in 0..=stream.len() {
            let text = record(responses(Http1Limits::default(), Expect::Body), [&stream[..end]]);
            let failed = text.lines().last().is_some_and(|line| line.starts_with("error h1_closed_in_"));
            prop_assert_eq!(failed, !ends.contains(&end), "closed after {} bytes:\n{}", end, text);
        }
    }
}
