//! Turns what a reader tells into lines of text, so that tests compare texts.

use wire::http1::{
    Breach, Error, Expect, Http1Framing, Http1Limits, Http1Progress, RequestHead, RequestReader, RequestSink,
    ResponseHead, ResponseReader, ResponseSink, Target, Version,
};

/// Adjacent pieces of content become one `body` line: how a stream was cut must not show.
#[derive(Default)]
pub struct Recorder {
    lines: Vec<String>,
    body: Vec<u8>,
    pub raw: Vec<u8>,
}

impl Recorder {
    pub fn line(&mut self, line: String) {
        self.flush();
        self.lines.push(line);
    }

    pub fn into_text(mut self) -> String {
        self.flush();
        self.lines.join("\n")
    }

    fn pair(&mut self, what: &str, name: &[u8], value: &[u8]) {
        self.line(format!("{what} {}={}", name.escape_ascii(), value.escape_ascii()));
    }

    fn content(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "empty content is not worth a call");
        self.body.extend_from_slice(bytes);
    }

    fn flush(&mut self) {
        if !self.body.is_empty() {
            self.lines.push(format!("body {}", self.body.escape_ascii()));
            self.body.clear();
        }
    }

    /// How a stream ended: closed between messages is the ordinary case and has no line.
    fn end(&mut self, end: Result<(), Error>) {
        match end {
            Err(error) if error.breach == Breach::ClosedIdle => {}
            Err(error) => self.refused(error),
            Ok(()) => self.line("closed".into()),
        }
    }

    fn refused(&mut self, error: Error) {
        let missing = error.number.filter(|_| error.breach == Breach::ClosedInBody);
        let missing = missing.map_or(String::new(), |missing| format!(" {missing}"));
        self.line(format!("error {}{missing}", error.breach.entry().name));
    }
}

impl ResponseSink for Recorder {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.pair("field", name, value);
    }
    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        self.raw = raw.to_vec();
        self.line(response_line(head));
    }
    fn body(&mut self, bytes: &[u8]) {
        self.content(bytes);
    }
    fn interim(&mut self, status: u16) {
        self.line(format!("interim {status}"));
    }
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.pair("trailer", name, value);
    }
}

impl RequestSink for Recorder {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.pair("field", name, value);
    }
    fn head(&mut self, head: &RequestHead<'_>, raw: &[u8]) {
        self.raw = raw.to_vec();
        self.line(request_line(head));
    }
    fn body(&mut self, bytes: &[u8]) {
        self.content(bytes);
    }
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.pair("trailer", name, value);
    }
}

pub fn response_line(head: &ResponseHead) -> String {
    let length = match (head.framing, head.content_length) {
        (Http1Framing::Length(framed), Some(told)) if framed == told => String::new(),
        (_, Some(told)) => format!(" told {told}"),
        (_, None) => String::new(),
    };
    let version = version(head.version);
    let framing = framing(head.framing);
    format!("head {version} {} {framing}{length} {}", head.status, persistence(head.keep_alive))
}

pub fn request_line(head: &RequestHead<'_>) -> String {
    let target = match head.target {
        Target::Origin(path) => format!("origin {}", path.escape_ascii()),
        Target::Absolute { scheme, authority, path } => {
            let [scheme, authority, path] = [scheme, authority, path].map(<[u8]>::escape_ascii);
            format!("absolute {scheme} {authority} {path}")
        }
        Target::Authority(authority) => format!("authority {}", authority.escape_ascii()),
        Target::Asterisk => "asterisk".into(),
    };
    let version = version(head.version);
    let framing = framing(head.framing);
    let expect = if head.expect_continue { " expect" } else { "" };
    let method = head.method.escape_ascii();
    format!("head {method} {target} {version} {framing} {}{expect}", persistence(head.keep_alive))
}

fn version(version: Version) -> &'static str {
    match version {
        Version::Http10 => "1.0",
        Version::Http11 => "1.1",
        Version::Http2 => "2",
        Version::Http3 => "3",
    }
}

fn framing(framing: Http1Framing) -> String {
    match framing {
        Http1Framing::None => "none".into(),
        Http1Framing::Length(length) => format!("length {length}"),
        Http1Framing::Chunked => "chunked".into(),
        Http1Framing::UntilClose => "until-close".into(),
    }
}

fn persistence(keep_alive: bool) -> &'static str {
    if keep_alive { "keep" } else { "close" }
}

/// The two readers as one, for everything that holds for both.
pub trait Reader {
    fn begin(&mut self);
    fn read(&mut self, input: &[u8], sink: &mut Recorder) -> Result<Http1Progress, Error>;
    fn end_of_stream(&mut self, sink: &mut Recorder) -> Result<(), Error>;
}

/// A response reader whose requests were all alike.
pub struct Responses(pub ResponseReader, pub Expect);

impl Reader for Responses {
    fn begin(&mut self) {
        self.0.begin(self.1);
    }
    fn read(&mut self, input: &[u8], sink: &mut Recorder) -> Result<Http1Progress, Error> {
        self.0.read(input, sink)
    }
    fn end_of_stream(&mut self, sink: &mut Recorder) -> Result<(), Error> {
        self.0.end_of_stream(sink)
    }
}

impl Reader for RequestReader {
    fn begin(&mut self) {
        RequestReader::begin(self);
    }
    fn read(&mut self, input: &[u8], sink: &mut Recorder) -> Result<Http1Progress, Error> {
        RequestReader::read(self, input, sink)
    }
    fn end_of_stream(&mut self, sink: &mut Recorder) -> Result<(), Error> {
        RequestReader::end_of_stream(self, sink)
    }
}

pub fn responses(limits: Http1Limits, expect: Expect) -> Responses {
    Responses(ResponseReader::new(limits), expect)
}

/// Reads message after message from the pieces of a stream, then closes it. Stops at the first error.
pub fn record<'p>(mut reader: impl Reader, pieces: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut recorder = Recorder::default();
    reader.begin();
    for piece in pieces {
        if let Err(error) = feed(&mut reader, piece, &mut recorder) {
            recorder.refused(error);
            return recorder.into_text();
        }
    }
    let end = reader.end_of_stream(&mut recorder);
    recorder.end(end);
    recorder.into_text()
}

fn feed(reader: &mut impl Reader, mut piece: &[u8], recorder: &mut Recorder) -> Result<(), Error> {
    while !piece.is_empty() {
        let progress = reader.read(piece, recorder)?;
        piece = &piece[progress.consumed..];
        if progress.done {
            recorder.line("done".into());
            reader.begin();
        } else {
            assert!(piece.is_empty(), "bytes left although the message goes on");
        }
    }
    Ok(())
}

/// Whole, byte by byte, and cut in two anywhere: always the same text.
#[track_caller]
pub fn check<R: Reader>(new: impl Fn() -> R, input: &[u8], expected: &str) {
    let expected = expected.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(record(new(), [input]), expected, "whole");
    assert_eq!(record(new(), input.chunks(1)), expected, "byte by byte");
    for cut in 1..input.len() {
        let (first, second) = input.split_at(cut);
        assert_eq!(record(new(), [first, second]), expected, "cut at {cut}");
    }
}
