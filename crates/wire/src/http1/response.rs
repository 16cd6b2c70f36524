//! The client's side: reads responses.
//!
//! Must not know the request beyond [`Expect`]. Start at [`ResponseReader::read`].

use super::body::{Content, Http1Body, Refused};
use super::head::{CUT, Facts, FieldTable, GOES_ON, Gather, field_limit};
use super::{
    Breach, Error, ErrorContext, FIELDS_CAP, HeadMemo, Http1Framing, Http1Limits, Http1Progress, Http1Stage,
    INTERIM_LIMIT, Version, diagnosis,
};
use httparse::{ParserConfig, Status};
use std::borrow::Cow;
use std::mem::MaybeUninit;

/// The request's part in the framing of its response (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expect {
    /// The response says itself.
    #[default]
    Body,
    /// The request was HEAD: no content, whatever the fields say.
    NoBody,
    /// The request was CONNECT: a 2xx response becomes a tunnel, read like [`Http1Framing::UntilClose`].
    Tunnel,
}

/// The meaning of a final response's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    /// The version in the status line.
    pub version: Version,
    /// 101 or 200..=999, as received; other 1xx go to [`ResponseSink::interim`].
    pub status: u16,
    /// The end of the content; a tunnel is [`Http1Framing::UntilClose`].
    pub framing: Http1Framing,
    /// Content-Length as given, also where it does not frame anything (HEAD, 204, 304).
    pub content_length: Option<u64>,
    /// True if the connection may be used again after this response (RFC 9112 section 9.3); not after 101, which hands it over to
    /// another protocol.
    pub keep_alive: bool,
}

/// Where a response goes, piece by piece. Slices live for the call only.
///
/// When the head turns out to be refused, `field` may have been called without `head` following.
pub trait ResponseSink {
    /// One field line of the final response, in order, before [`head`](Self::head). White space around `value` is removed, and a
    /// folded one is on one line.
    fn field(&mut self, name: &[u8], value: &[u8]) {
        let _ = (name, value);
    }

    /// The head is complete. `raw` is status line to blank line, as received.
    fn head(&mut self, head: &ResponseHead, raw: &[u8]) {
        let _ = (head, raw);
    }

    /// A part of the content, not empty, transfer coding removed.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// An interim response came (1xx except 101); its fields are not reported (RFC 9110 section 15.2).
    fn interim(&mut self, status: u16) {
        let _ = status;
    }

    /// True if it removes the transfer codings that a `Transfer-Encoding` names beside chunked; where not, they are a breach.
    fn takes_codings(&self) -> bool {
        false
    }

    /// True if fields are looked at; where not, those of a head that is known need not be pushed.
    fn wants_fields(&self) -> bool {
        true
    }

    /// One line of the trailer section.
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        let _ = (name, value);
    }
}

/// Reads the responses of one connection, one after the other.
///
/// ```
/// use wire::http1::{Error, Expect, Http1Limits, ResponseReader, ResponseSink};
///
/// struct Bytes(usize);
/// impl ResponseSink for Bytes {
///     fn body(&mut self, bytes: &[u8]) {
///         self.0 += bytes.len();
///     }
/// }
///
/// let mut reader = ResponseReader::new(Http1Limits::default());
/// let mut sink = Bytes(0);
/// reader.begin(Expect::Body);
/// let progress = reader.read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP", &mut sink)?;
/// assert!(progress.done);
/// assert_eq!(progress.consumed, 40);
/// assert_eq!(sink.0, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct ResponseReader {
    limits: Http1Limits,
    expect: Expect,
    state: Http1State,
    gather: Gather,
    interims: usize,
    head: Option<ResponseHead>,
    /// Bytes of the last piece of the head.
    head_bytes: usize,
    error_context: Option<Box<ErrorContext>>,
}

#[derive(Debug)]
enum Http1State {
    Head,
    Body(Http1Body),
    Done,
}

impl ResponseReader {
    /// A reader at the start of a connection, as after `begin(Expect::Body)`.
    pub fn new(limits: Http1Limits) -> Self {
        ResponseReader {
            limits,
            expect: Expect::Body,
            state: Http1State::Head,
            gather: Gather::default(),
            interims: 0,
            head: None,
            head_bytes: 0,
            error_context: None,
        }
    }

    /// Gets ready for the next response.
    #[inline]
    pub fn begin(&mut self, expect: Expect) {
        self.expect = expect;
        self.state = Http1State::Head;
        self.gather.clear();
        self.interims = 0;
        self.head = None;
    }

    /// Takes the bytes that belong to this response and pushes their meaning into `sink`.
    ///
    /// # Errors
    /// Whatever [`Error`] says about a malformed response; the connection is then of no further use.
    #[inline]
    pub fn read(&mut self, input: &[u8], sink: &mut impl ResponseSink) -> Result<Http1Progress, Error> {
        let mut consumed = 0;
        while consumed < input.len() {
            let rest = &input[consumed..];
            consumed += match &mut self.state {
                Http1State::Head => self.read_head(rest, sink)?,
                Http1State::Body(body) => match body.read(rest, &self.limits, &mut Http1Part(sink)) {
                    Ok((taken, complete)) => {
                        if complete {
                            self.state = Http1State::Done;
                        }
                        taken
                    }
                    Err(refused) => return Err(self.refused_in_body(refused, rest)),
                },
                Http1State::Done => break,
            };
        }
        Ok(Http1Progress { consumed, done: matches!(self.state, Http1State::Done) })
    }

    /// As [`read`](Self::read), for answers that are much alike: a head that equals one that came before is told by comparing,
    /// not by parsing. A memo serves the answers to one request, over any number of connections.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    #[inline]
    pub fn read_remembering(
        &mut self,
        input: &[u8],
        sink: &mut impl ResponseSink,
        memo: &mut HeadMemo,
    ) -> Result<Http1Progress, Error> {
        if self.stage() != Http1Stage::Idle {
            return self.read(input, sink);
        }
        if let Some((length, head)) = memo.read(input, self.expect, sink) {
            self.enter_body(head);
            let rest = self.read(&input[length..], sink)?;
            return Ok(Http1Progress { consumed: length + rest.consumed, ..rest });
        }
        let progress = self.read(input, sink)?;
        if let (Some(head), 0) = (self.head, self.interims) {
            memo.learn(&input[..self.head_bytes], &head, self.expect);
        }
        Ok(progress)
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

    fn enter_body(&mut self, head: ResponseHead) {
        self.state = Http1Body::new(head.framing).map_or(Http1State::Done, Http1State::Body);
        self.head = Some(head);
    }

    /// The peer closed its side.
    ///
    /// # Errors
    /// The peer closed too early (see [`Error::is_end`]), unless the response is complete or ends
    /// by closing ([`Http1Framing::UntilClose`]). A cut head that was malformed already gives its own error.
    pub fn end_of_stream(&mut self, sink: &mut impl ResponseSink) -> Result<(), Error> {
        match (&self.state, self.stage()) {
            (Http1State::Body(body), _) => body.end_of_stream()?,
            (_, Http1Stage::Idle) => return Err(Breach::ClosedIdle.into()),
            (_, Http1Stage::Head) => {
                let checked = self.gather.check(|bytes| parse::<CUT>(bytes, &self.limits, self.expect, sink));
                let error = checked.err().unwrap_or(Breach::ClosedInHead.into());
                return Err(self.refused_in_head(error, &[]));
            }
            _ => {}
        }
        self.state = Http1State::Done;
        Ok(())
    }

    /// The stage of the response.
    #[inline]
    pub fn stage(&self) -> Http1Stage {
        match self.state {
            Http1State::Head if self.gather.is_empty() && self.interims == 0 => Http1Stage::Idle,
            Http1State::Head => Http1Stage::Head,
            Http1State::Body(_) => Http1Stage::Body,
            Http1State::Done => Http1Stage::Done,
        }
    }

    /// Bytes of content still to come where Content-Length frames it; `None` before the head and for other framings.
    #[inline]
    pub fn remaining(&self) -> Option<u64> {
        match (&self.state, self.head?.framing) {
            (Http1State::Body(Http1Body::Length(left)), _) => Some(*left),
            (_, Http1Framing::Length(_)) => Some(0),
            _ => None,
        }
    }

    /// The transport drained `count` bytes of content unread; only where [`remaining`](Self::remaining) said so many, or
    /// until close. Chunked content cannot be skipped, because its length is in it. Returns whether the response is
    /// complete.
    #[inline]
    pub fn skip(&mut self, count: u64) -> bool {
        if let Http1State::Body(Http1Body::Length(left)) = &mut self.state {
            debug_assert!(count <= *left, "skipped {count} of {left} bytes");
            *left = left.saturating_sub(count);
            if *left == 0 {
                self.state = Http1State::Done;
            }
        }
        matches!(self.state, Http1State::Done)
    }

    /// The final response's head, once it is complete.
    #[inline]
    pub fn head(&self) -> Option<ResponseHead> {
        self.head
    }

    #[inline]
    fn read_head(&mut self, input: &[u8], sink: &mut impl ResponseSink) -> Result<usize, Error> {
        let stepped = self.gather.step(input, self.limits.head_bytes, |bytes| {
            parse::<GOES_ON>(bytes, &self.limits, self.expect, sink)
        });
        let (taken, parsed) = match stepped {
            Ok(stepped) => stepped,
            Err(error) => return Err(self.refused_in_head(error, input)),
        };
        match parsed {
            Some(Parsed::Final(head)) => {
                self.head_bytes = taken;
                self.enter_body(head);
            }
            Some(Parsed::Interim(status)) => self.interim(status, sink)?,
            None => {}
        }
        Ok(taken)
    }

    fn interim(&mut self, status: u16, sink: &mut impl ResponseSink) -> Result<(), Error> {
        self.interims += 1;
        if self.interims > INTERIM_LIMIT {
            return Err(Error::limit(Breach::InterimLimit, INTERIM_LIMIT));
        }
        sink.interim(status);
        Ok(())
    }
}

/// The content's part of a response sink.
struct Http1Part<'s, S>(&'s mut S);

impl<S: ResponseSink> Content for Http1Part<'_, S> {
    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.0.body(bytes);
    }

    #[inline]
    fn trailer(&mut self, name: &[u8], value: &[u8]) {
        self.0.trailer(name, value);
    }
}

enum Parsed {
    Interim(u16),
    Final(ResponseHead),
}

/// Parses a head that begins `bytes`. `None` when it goes on beyond them, which it does not where they are [`CUT`].
#[inline]
fn parse<const IS_CUT: bool>(
    bytes: &[u8],
    limits: &Http1Limits,
    expect: Expect,
    sink: &mut impl ResponseSink,
) -> Result<Option<(usize, Parsed)>, Error> {
    // The parser would skip empty lines; before a status line there are none (RFC 9112 section 2.2).
    if matches!(bytes.first(), Some(b'\r' | b'\n')) {
        return Err(Breach::NotHttp.into());
    }
    let mut table: FieldTable<'_> = [const { MaybeUninit::uninit() }; FIELDS_CAP];
    let mut response = httparse::Response::new(&mut []);
    let fields = &mut table[..field_limit(limits)];
    let length =
        match ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, fields) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::HeaderName) if has_folds(bytes) => {
                return parse_folded::<IS_CUT>(bytes, limits, expect, sink);
            }
            Err(error) => {
                return diagnosis::of_response(error, bytes, limits, IS_CUT).map_or(Ok(None), Err);
            }
        };
    let parsed = understand(&response, &bytes[..length], false, expect, sink)?;
    Ok(Some((length, parsed)))
}

/// True if a line begins with white space.
fn has_folds(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|two| matches!(two, b"\n " | b"\n\t"))
}

/// Parses a head with folded field lines, which a user agent replaces by spaces (RFC 9112 section 5.2).
#[cold]
fn parse_folded<const IS_CUT: bool>(
    bytes: &[u8],
    limits: &Http1Limits,
    expect: Expect,
    sink: &mut impl ResponseSink,
) -> Result<Option<(usize, Parsed)>, Error> {
    let mut table: FieldTable<'_> = [const { MaybeUninit::uninit() }; FIELDS_CAP];
    let mut response = httparse::Response::new(&mut []);
    let fields = &mut table[..field_limit(limits)];
    let mut config = ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true);
    match config.parse_response_with_uninit_headers(&mut response, bytes, fields) {
        Ok(Status::Complete(length)) => {
            let parsed = understand(&response, &bytes[..length], true, expect, sink)?;
            Ok(Some((length, parsed)))
        }
        Ok(Status::Partial) => Ok(None),
        Err(error) => diagnosis::of_response(error, bytes, limits, IS_CUT).map_or(Ok(None), Err),
    }
}

/// A value on one line.
fn unfolded(value: &[u8]) -> Vec<u8> {
    let lines = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(&b' ')
}

/// `folded`: values may go over several lines.
#[inline]
fn understand(
    response: &httparse::Response<'_, '_>,
    raw: &[u8],
    folded: bool,
    expect: Expect,
    sink: &mut impl ResponseSink,
) -> Result<Parsed, Error> {
    let version = Version::from_minor(response.version);
    let status = response.code.unwrap_or(0);
    match status {
        0..100 => return Err(Breach::Status.into()),
        // RFC 9110 section 15.2.2: after 101 the connection speaks another protocol, so it is final.
        100 | 102..200 => return Ok(Parsed::Interim(status)),
        _ => {}
    }
    let mut facts = Facts::default();
    for field in response.headers.iter() {
        let value = if folded { Cow::from(unfolded(field.value)) } else { Cow::from(field.value) };
        sink.field(field.name.as_bytes(), &value);
        facts.note(field.name.as_bytes(), &value)?;
    }
    let framing = framing(&facts, version, status, expect)?;
    if facts.coded
        && !sink.takes_codings()
        && matches!(framing, Http1Framing::Chunked | Http1Framing::UntilClose)
    {
        return Err(Breach::TransferCoding.into());
    }
    let goes_on = framing != Http1Framing::UntilClose && status != 101;
    let keep_alive = goes_on && facts.keep_alive(version);
    let head = ResponseHead { version, status, framing, content_length: facts.length, keep_alive };
    sink.head(&head, raw);
    Ok(Parsed::Final(head))
}

/// RFC 9112 section 6.3, in its order except that a tunnel comes first: RFC 9110 section 9.3.6 makes one of any 2xx.
#[inline]
fn framing(facts: &Facts, version: Version, status: u16, expect: Expect) -> Result<Http1Framing, Error> {
    if expect == Expect::Tunnel && (200..300).contains(&status) {
        return Ok(Http1Framing::UntilClose);
    }
    // What follows it is of another protocol.
    if status == 101 {
        return Ok(Http1Framing::None);
    }
    let framing = facts.framing(version)?;
    if expect == Expect::NoBody || matches!(status, 204 | 304) {
        return Ok(Http1Framing::None);
    }
    Ok(if framing == Http1Framing::None { Http1Framing::UntilClose } else { framing })
}
