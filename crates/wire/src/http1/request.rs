//! The origin's side: reads requests.
//!
//! Must not know objects or answers. Start at [`RequestReader::read`].

use super::body::{Content, Http1Body, Refused};
use super::head::{CUT, Facts, FieldTable, GOES_ON, Gather, field_limit};
use super::{
    Breach, EMPTY_LINES_LIMIT, Error, ErrorContext, FIELDS_CAP, Http1Framing, Http1Limits, Http1Progress,
    Http1Stage, Version, diagnosis,
};
use httparse::{ParserConfig, Status};
use std::mem::MaybeUninit;

/// The target of a request, in one of four forms (RFC 9112 section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// `/path?query`: to an origin.
    Origin(&'a [u8]),
    /// `http://authority/path?query`: to a proxy.
    Absolute {
        /// `http`, in the case received.
        scheme: &'a [u8],
        /// `host` or `host:port`, not empty.
        authority: &'a [u8],
        /// Path and query; `/` where the target ends with its authority, `?query` where only the path is missing.
        path: &'a [u8],
    },
    /// `host:port`, with CONNECT only.
    Authority(&'a [u8]),
    /// `*`, with OPTIONS only.
    Asterisk,
}

impl<'a> Target<'a> {
    /// Reads a target as `method` has it.
    ///
    /// # Errors
    /// [`Breach::Target`] when it has no such form.
    #[inline]
    pub fn parse(method: &[u8], target: &'a [u8]) -> Result<Self, Breach> {
        match (method, target) {
            (b"CONNECT", _) => authority(target),
            (_, [b'/', ..]) => Ok(Target::Origin(target)),
            (b"OPTIONS", b"*") => Ok(Target::Asterisk),
            _ => absolute(target),
        }
    }
}

/// `uri-host ":" port` (RFC 9112 section 3.2.3): CONNECT has no default port.
fn authority(target: &[u8]) -> Result<Target<'_>, Breach> {
    let colon = memchr::memrchr(b':', target).ok_or(Breach::Target)?;
    let host = &target[..colon];
    let port = &target[colon + 1..];
    let port_is_number = !port.is_empty() && port.iter().all(u8::is_ascii_digit);
    let host_is_plain = !host.is_empty() && !host.iter().any(|byte| b"/?#@".contains(byte));
    if port_is_number && host_is_plain { Ok(Target::Authority(target)) } else { Err(Breach::Target) }
}

/// `scheme "://" authority path-and-query` (RFC 9112 section 3.2.2).
fn absolute(target: &[u8]) -> Result<Target<'_>, Breach> {
    let colon = memchr::memchr(b':', target).ok_or(Breach::Target)?;
    let scheme = &target[..colon];
    let rest = target[colon..].strip_prefix(b"://").ok_or(Breach::Target)?;
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if !is_scheme(scheme) || authority.is_empty() {
        return Err(Breach::Target);
    }
    Ok(Target::Absolute { scheme, authority, path: if path.is_empty() { b"/" } else { path } })
}

/// RFC 3986 section 3.1.
fn is_scheme(scheme: &[u8]) -> bool {
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
}

/// The meaning of a request's head. Borrowed from the buffer it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// The method, case as received (methods are case-sensitive, RFC 9110 section 9.1).
    pub method: &'a [u8],
    /// Its target.
    pub target: Target<'a>,
    /// The version in the request line.
    pub version: Version,
    /// The end of the content; never [`Http1Framing::UntilClose`].
    pub framing: Http1Framing,
    /// True if the connection may stay open after the answer (RFC 9112 section 9.3).
    pub keep_alive: bool,
    /// The client waits for 100 before it sends content (RFC 9110 section 10.1.1); never in HTTP/1.0.
    pub expect_continue: bool,
}

/// Where a request goes, piece by piece. Slices live for the call only.
///
/// When the head turns out to be refused, `field` may have been called without `head` following.
pub trait RequestSink {
    /// One field line, in order, before [`head`](Self::head). White space around `value` is removed.
    fn field(&mut self, name: &[u8], value: &[u8]) {
        let _ = (name, value);
    }

    /// The head is complete. `raw` is request line to blank line, as received.
    fn head(&mut self, head: &RequestHead<'_>, raw: &[u8]) {
        let _ = (head, raw);
    }

    /// A part of the content, not empty, transfer coding removed.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// One line of the trailer section.
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        let _ = (name, value);
    }
}

/// Reads the requests of one connection, one after the other; the twin of
/// [`ResponseReader`](super::ResponseReader).
#[derive(Debug)]
pub struct RequestReader {
    limits: Http1Limits,
    state: Http1RequestState,
    gather: Gather,
    empty_lines: EmptyLines,
    error_context: Option<Box<ErrorContext>>,
}

#[derive(Debug)]
enum Http1RequestState {
    Head,
    Body(Http1Body),
    Done,
}

impl RequestReader {
    /// A reader at the start of a connection, as after `begin`.
    pub fn new(limits: Http1Limits) -> Self {
        RequestReader {
            limits,
            state: Http1RequestState::Head,
            gather: Gather::default(),
            empty_lines: EmptyLines::default(),
            error_context: None,
        }
    }

    /// Gets ready for the next request.
    #[inline]
    pub fn begin(&mut self) {
        self.state = Http1RequestState::Head;
        self.gather.clear();
        self.empty_lines = EmptyLines::default();
    }

    /// Takes the bytes that belong to this request and pushes their meaning into `sink`.
    ///
    /// # Errors
    /// Whatever [`Error`] says about a malformed request; the connection is then of no further use.
    #[inline]
    pub fn read(&mut self, input: &[u8], sink: &mut impl RequestSink) -> Result<Http1Progress, Error> {
        let mut consumed = 0;
        while consumed < input.len() {
            let rest = &input[consumed..];
            consumed += match &mut self.state {
                Http1RequestState::Head => self.read_head(rest, sink)?,
                Http1RequestState::Body(body) => {
                    match body.read(rest, &self.limits, &mut Http1RequestPart(sink)) {
                        Ok((taken, complete)) => {
                            if complete {
                                self.state = Http1RequestState::Done;
                            }
                            taken
                        }
                        Err(refused) => return Err(self.refused_in_body(refused, rest)),
                    }
                }
                Http1RequestState::Done => break,
            };
        }
        Ok(Http1Progress { consumed, done: matches!(self.state, Http1RequestState::Done) })
    }

    /// The peer closed its side.
    ///
    /// # Errors
    /// The peer closed between requests, which is how a kept connection ends ([`Breach::ClosedIdle`]), or within one. A cut head that was malformed already gives its own error.
    pub fn end_of_stream(&mut self, sink: &mut impl RequestSink) -> Result<(), Error> {
        match &self.state {
            Http1RequestState::Done => Ok(()),
            Http1RequestState::Body(body) => body.end_of_stream(),
            Http1RequestState::Head if self.gather.is_empty() => Err(Breach::ClosedIdle.into()),
            Http1RequestState::Head => {
                let checked = self.gather.check(|bytes| parse::<CUT>(bytes, &self.limits, sink));
                let error = checked.err().unwrap_or(Breach::ClosedInHead.into());
                Err(self.refused_in_head(error, &[]))
            }
        }
    }

    /// The stage of the request. Empty lines before it do not count.
    #[inline]
    pub fn stage(&self) -> Http1Stage {
        match self.state {
            Http1RequestState::Head if self.gather.is_empty() => Http1Stage::Idle,
            Http1RequestState::Head => Http1Stage::Head,
            Http1RequestState::Body(_) => Http1Stage::Body,
            Http1RequestState::Done => Http1Stage::Done,
        }
    }

    /// Sight of the breach that was refused last.
    pub fn error_context(&self) -> Option<&ErrorContext> {
        self.error_context.as_deref()
    }

    #[cold]
    fn refused_in_body(&mut self, refused: Refused, input: &[u8]) -> Error {
        self.error_context = Some(Box::new(ErrorContext::in_body(&input[refused.at..])));
        refused.error
    }

    #[cold]
    fn refused_in_head(&mut self, error: Error, input: &[u8]) -> Error {
        let came = if self.gather.is_empty() { input } else { self.gather.gathered() };
        self.error_context = Some(Box::new(ErrorContext::in_head(error.breach, came)));
        error
    }

    #[inline]
    fn read_head(&mut self, input: &[u8], sink: &mut impl RequestSink) -> Result<usize, Error> {
        let skipped = if self.gather.is_empty() { self.empty_lines.skip(input)? } else { 0 };
        let rest = &input[skipped..];
        if rest.is_empty() {
            return Ok(skipped);
        }
        let stepped = self
            .gather
            .step(rest, self.limits.head_bytes, |bytes| parse::<GOES_ON>(bytes, &self.limits, sink));
        let (taken, framing) = match stepped {
            Ok(stepped) => stepped,
            Err(error) => return Err(self.refused_in_head(error, rest)),
        };
        if let Some(framing) = framing {
            self.state = Http1Body::new(framing).map_or(Http1RequestState::Done, Http1RequestState::Body);
        }
        Ok(skipped + taken)
    }
}

/// Empty lines before a request line are skipped (RFC 9112 section 2.2): old clients send one after their content.
#[derive(Debug, Default)]
struct EmptyLines {
    skipped: usize,
    after_cr: bool,
}

impl EmptyLines {
    /// Returns the bytes of `input` that are, or begin, empty lines.
    #[inline]
    fn skip(&mut self, input: &[u8]) -> Result<usize, Error> {
        for (at, &byte) in input.iter().enumerate() {
            match (byte, self.after_cr) {
                (b'\n', _) => self.after_cr = false,
                (b'\r', false) => self.after_cr = true,
                (_, true) => return Err(Breach::BareCr.into()),
                _ => return Ok(at),
            }
            self.skipped += 1;
            if self.skipped > EMPTY_LINES_LIMIT {
                return Err(Error::limit(Breach::EmptyLines, EMPTY_LINES_LIMIT));
            }
        }
        Ok(input.len())
    }
}

/// The content's part of a request sink.
struct Http1RequestPart<'s, S>(&'s mut S);

impl<S: RequestSink> Content for Http1RequestPart<'_, S> {
    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.0.body(bytes);
    }

    #[inline]
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.0.trailer(name, value);
    }
}

/// Parses a head that begins `bytes` (no empty line before it). `None` when it goes on beyond them, which it does
/// not where they are [`CUT`].
#[inline]
fn parse<const IS_CUT: bool>(
    bytes: &[u8],
    limits: &Http1Limits,
    sink: &mut impl RequestSink,
) -> Result<Option<(usize, Http1Framing)>, Error> {
    let mut table: FieldTable<'_> = [const { MaybeUninit::uninit() }; FIELDS_CAP];
    let mut request = httparse::Request::new(&mut []);
    let fields = &mut table[..field_limit(limits)];
    let length = match ParserConfig::default().parse_request_with_uninit_headers(&mut request, bytes, fields)
    {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Ok(None),
        Err(error) => {
            return diagnosis::of_request(error, &request, bytes, limits, IS_CUT).map_or(Ok(None), Err);
        }
    };
    let framing = understand(&request, &bytes[..length], sink)?;
    Ok(Some((length, framing)))
}

#[inline]
fn understand(
    request: &httparse::Request<'_, '_>,
    raw: &[u8],
    sink: &mut impl RequestSink,
) -> Result<Http1Framing, Error> {
    let version = Version::from_minor(request.version);
    let method = request.method.unwrap_or_default().as_bytes();
    let target = Target::parse(method, request.path.unwrap_or_default().as_bytes())?;
    let mut facts = Facts::default();
    for field in request.headers.iter() {
        sink.field(field.name.as_bytes(), field.value);
        facts.note(field.name.as_bytes(), field.value)?;
    }
    if facts.coded {
        return Err(Breach::TransferCoding.into());
    }
    let framing = facts.framing(version)?;
    let keep_alive = facts.keep_alive(version);
    let expect_continue = facts.expect_continue && version == Version::Http11;
    sink.head(&RequestHead { method, target, version, framing, keep_alive, expect_continue }, raw);
    Ok(framing)
}
