//! An HTTP request as a value, which sessions and signatures edit; the encoding of either protocol comes last.

use super::chunked;
use crate::channel::{LongBody, OpenBody};
use std::io;
use std::rc::Rc;
use wire::http1::{Http1Limits, RequestHead, RequestReader, RequestSink};
use wire::http2::{FieldList, Indexing};

/// A request: its line, its fields in order, and its body without transfer coding. Copies share what they do not change.
#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    pub method: Rc<str>,
    /// It is asked for by an `https` URL.
    pub secure: bool,
    /// The target of the request line, as the plan has it.
    pub target: Rc<str>,
    /// `HTTP/1.1` or `HTTP/1.0`.
    pub version: &'static str,
    pub fields: Vec<FieldLine>,
    pub body: Rc<[u8]>,
    /// The body instead, where it is sent in pieces.
    pub long: Option<Rc<LongBody>>,
    /// The body is sent in chunks (RFC 9112 section 7.1).
    pub chunked: bool,
}

/// One field line as it is written, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldLine {
    line: Rc<[u8]>,
    /// Bytes of the name; a colon follows.
    name: usize,
    /// Indexing in the tables of HTTP/2.
    indexing: Indexing,
}

/// Fields that carry credentials: no table of HTTP/2 keeps them (RFC 7541 section 7.1.3).
const CREDENTIALS: [&str; 3] = ["Authorization", "Proxy-Authorization", "Cookie"];

/// Fields that a session adds, of which a plan may say the place.
const ADDED: [&str; 4] = ["If-Modified-Since", "If-None-Match", "Cookie", "Authorization"];

/// Fields of HTTP/1 that speak of one connection (RFC 9113 section 8.2.2).
const OF_CONNECTIONS: [&str; 5] =
    ["Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"];

/// True if HTTP/2 does not have a field.
pub(super) fn is_of_connections(name: &str) -> bool {
    OF_CONNECTIONS.iter().any(|of| of.eq_ignore_ascii_case(name))
}

impl FieldLine {
    /// `Name: value`, which changes from request to request.
    pub fn new(name: &str, value: &str) -> FieldLine {
        FieldLine::written(format!("{name}: {value}").into_bytes(), Indexing::Literal)
    }

    /// A line that somebody has written as a whole.
    pub fn written(line: Vec<u8>, indexing: Indexing) -> FieldLine {
        let name = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut field = FieldLine { line: line.into(), name, indexing };
        if CREDENTIALS.iter().any(|name| field.is(name)) {
            field.indexing = Indexing::Never;
        }
        field
    }

    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.line[..self.name]).unwrap_or_default()
    }

    /// True if this is its name, in whichever case.
    pub fn is(&self, name: &str) -> bool {
        self.line[..self.name].eq_ignore_ascii_case(name.as_bytes())
    }

    /// The value without the spaces around it.
    pub fn value(&self) -> String {
        String::from_utf8_lossy(self.value_bytes()).into_owned()
    }

    fn value_bytes(&self) -> &[u8] {
        self.line.get(self.name + 1..).unwrap_or_default().trim_ascii()
    }

    /// True if a plan lists it without a value: it is the place of what a session adds under that name.
    pub fn is_open(&self) -> bool {
        self.line.len() <= self.name + 2 && ADDED.iter().any(|name| self.is(name))
    }

    /// True if it describes the body: it goes where the body goes.
    pub fn describes_body(&self) -> bool {
        let of_content = self.line[..self.name].get(..8);
        of_content.is_some_and(|start| start.eq_ignore_ascii_case(b"Content-"))
            || chunked::is_named(self.name())
    }
}

impl HttpRequest {
    /// The first field of this name.
    pub fn field(&self, name: &str) -> Option<&FieldLine> {
        self.fields.iter().find(|field| field.is(name))
    }

    /// Opens the body, where it is sent in pieces.
    ///
    /// # Errors
    /// One of its files cannot be opened, or has another length now.
    pub fn open(&self) -> io::Result<Option<OpenBody>> {
        self.long.as_ref().map(|long| long.open()).transpose()
    }

    /// Reads the first request of a text that somebody else wrote, and says where it ends; `None` where it is not whole.
    pub fn read(text: &[u8], secure: bool) -> Option<(HttpRequest, usize)> {
        let mut taken =
            RequestTaken { request: HttpRequest { secure, ..HttpRequest::default() }, body: Vec::new() };
        let progress = RequestReader::new(Http1Limits::default()).read(text, &mut taken).ok()?;
        taken.request.body = taken.body.into();
        progress.done.then_some((taken.request, progress.consumed))
    }

    /// Adds the request as HTTP/2 has it, with other fields (RFC 9113 section 8.3.1): the request line and Host become
    /// pseudo-fields, and what speaks of one connection of HTTP/1 is left out. Its content is the body as it stands.
    pub fn list<'a>(
        &self,
        path: &str,
        fields: impl Iterator<Item = &'a FieldLine> + Clone,
        to: &mut FieldList,
    ) {
        let host = fields.clone().find(|field| field.is("Host"));
        to.push(":method", &*self.method, Indexing::Insert);
        to.push(":scheme", if self.secure { "https" } else { "http" }, Indexing::Insert);
        to.push(":authority", host.map(FieldLine::value_bytes).unwrap_or_default(), Indexing::Insert);
        to.push(":path", path, Indexing::Literal);
        for field in fields.filter(|field| !field.is("Host") && !is_of_connections(field.name())) {
            to.push(field.name().to_ascii_lowercase(), field.value_bytes(), field.indexing);
        }
    }

    /// Appends the request with other fields, for a target as this connection wants it. `last`: it is to say that the connection
    /// ends with it. Of a body that is sent in pieces it appends nothing.
    pub fn encode<'a>(
        &self,
        target: &str,
        fields: impl Iterator<Item = &'a FieldLine>,
        last: bool,
        to: &mut Vec<u8>,
    ) {
        for piece in [&*self.method, " ", target, " ", self.version, "\r\n"] {
            to.extend_from_slice(piece.as_bytes());
        }
        for field in fields {
            to.extend_from_slice(&field.line);
            to.extend_from_slice(b"\r\n");
        }
        if last {
            to.extend_from_slice(b"Connection: close\r\n");
        }
        to.extend_from_slice(b"\r\n");
        if self.chunked {
            chunked::frame(&self.body, to);
        } else {
            to.extend_from_slice(&self.body);
        }
    }
}

impl Default for HttpRequest {
    fn default() -> HttpRequest {
        HttpRequest {
            method: "GET".into(),
            secure: false,
            target: "/".into(),
            version: "HTTP/1.1",
            fields: Vec::new(),
            body: [].into(),
            long: None,
            chunked: false,
        }
    }
}

/// A request as it is read.
struct RequestTaken {
    request: HttpRequest,
    body: Vec<u8>,
}

impl RequestSink for RequestTaken {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.request.fields.push(FieldLine::written([name, b": ", value].concat(), Indexing::Literal));
    }

    fn head(&mut self, head: &RequestHead<'_>, raw: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into();
        let target = raw.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        (self.request.method, self.request.target) = (text(head.method), text(target));
        self.request.chunked = self.request.fields.iter().any(|field| chunked::is_named(field.name()));
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

#[cfg(test)]
impl HttpRequest {
    /// Of its text, as tests write it; a body in chunks stands there without them.
    pub fn of_text(text: &str) -> HttpRequest {
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut lines = head.split("\r\n");
        let words: Vec<&str> = lines.next().unwrap().split(' ').collect();
        let fields: Vec<FieldLine> =
            lines.map(|line| FieldLine::written(line.into(), Indexing::Literal)).collect();
        HttpRequest {
            method: words[0].into(),
            target: words[1].into(),
            version: if words[2] == "HTTP/1.0" { "HTTP/1.0" } else { "HTTP/1.1" },
            chunked: fields.iter().any(|field| chunked::is_named(field.name())),
            fields,
            body: body.as_bytes().into(),
            long: None,
            secure: false,
        }
    }

    /// Its text as it stands.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        self.encode(&self.target, self.fields.iter(), false, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "POST /form?a=b HTTP/1.1\r\nHost: h:81\r\nX-A: b\r\nConnection: close\r\nAuthorization: x\r\n\
        Content-Length: 3\r\n\r\na=1";

    /// The fields of a request over HTTP/2, and the names of those that are never indexed.
    fn listed(request: &HttpRequest) -> (Vec<String>, Vec<String>) {
        let mut list = FieldList::default();
        request.list(&request.target, request.fields.iter(), &mut list);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let all = list.iter().map(|(name, value, _)| format!("{}={}", text(name), text(value))).collect();
        let never = list.iter().filter(|(.., indexing)| *indexing == Indexing::Never);
        (all, never.map(|(name, ..)| text(name)).collect())
    }

    #[test]
    fn either_protocol_encodes_the_same_value() {
        let request = HttpRequest::of_text(TEXT);
        assert_eq!(request.text(), TEXT);
        let (all, never) = listed(&HttpRequest { secure: true, ..request });
        let pseudo = [":method=POST", ":scheme=https", ":authority=h:81", ":path=/form?a=b"];
        let fields = ["x-a=b", "authorization=x", "content-length=3"];
        assert_eq!(all, [pseudo.as_slice(), &fields].concat());
        assert_eq!(never, ["authorization"]);
    }

    #[test]
    fn texts_are_read_one_by_one() {
        let chunked = "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
        let both = format!("{TEXT}{chunked}");
        let (first, end) = HttpRequest::read(both.as_bytes(), false).unwrap();
        assert_eq!((first.text().as_str(), end), (TEXT, TEXT.len()));
        let (second, length) = HttpRequest::read(&both.as_bytes()[end..], false).unwrap();
        assert_eq!((second.text().as_str(), length), (chunked, chunked.len()));
        assert_eq!((&*second.body, listed(&second).0.len()), (&b"hi"[..], 4));
        assert!(HttpRequest::read(&both.as_bytes()[..20], false).is_none());
    }
}
