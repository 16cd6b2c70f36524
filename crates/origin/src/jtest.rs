//! Answers of jtest's form, exact to its bytes and their order (spec/jtest.md section 5), with the faults that section 9
//! lists put right: ranges give the bytes asked for, any size works, and what is no document gets an answer.
//!
//! There is no stamp, because an old client would see a field that jtest never sent. Start at [`compose`].

use crate::answer::{Answer, AnswerBody, content_range, content_range_none, number, reason};
use crate::native::Scratch;
use crate::range::{self, Span};
use crate::request::{Method, Request};
use crate::worker::{Turn, Worker};
use plan::draw::hash;
use plan::jtest::{self, ContentType, JtestForm};
use plan::site::StampKind;
use wire::http1::Version;
use wire::http1::write::status_line;

/// The one date of all documents; it was a Tuesday, and jtest says Monday.
const LAST_MODIFIED: &[u8] = b"Last-Modified: Mon, 05 Oct 2010 01:00:00 GMT\r\n";
const CACHE_CONTROL: &[u8] = b"Cache-Control: max-age=630720000\r\n";
const NO_CACHE: &[u8] = b"Pragma: no-cache\r\nCache-Control: no-cache\r\n";

/// Writes the head of the answer to a request and says what follows it.
pub(crate) fn compose(
    worker: &Worker,
    form: &JtestForm,
    request: &Request,
    turn: &mut Turn,
    keep_alive: bool,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Answer {
    let reply = JtestReply { worker, form, request, keep_alive };
    if matches!(request.method, Method::Other | Method::Change) {
        return reply.empty(out, 405, b"Allow: GET, HEAD, POST\r\n", StampKind::Refused);
    }
    let Some(size) = jtest::read_size(&request.path) else {
        return reply.empty(out, 404, b"", StampKind::Refused);
    };
    if turn.draw.chance(worker.errors()) {
        let status = worker.behaviour().error_status;
        return reply.empty(out, status, b"Cache-Control: no-store\r\n", StampKind::Error);
    }
    worker.counts().conditional.add(u64::from(request.is_conditional()));
    worker.counts().ranges.add(u64::from(request.range.get().is_some()));
    let dated = request.if_modified_since.get().is_some() && request.range.get().is_none();
    if dated && turn.draw.chance(form.not_modified) {
        return reply.unchanged(out);
    }
    scratch.overlay.clear();
    let embedded = jtest::embedded(form, request.path.len(), size);
    scratch.overlay.extend_from_slice(&request.path[..embedded]);
    match request.range.get().map_or(Span::Whole, |value| range::resolve(value, size)) {
        Span::Whole => reply.whole(out, turn, size),
        Span::Part { from, to } => reply.part(out, turn, from, to, size),
        Span::Unsatisfiable => {
            let mut line = Vec::new();
            content_range_none(&mut line, size);
            reply.empty(out, 416, &line, StampKind::Refused)
        }
    }
}

/// Returns the key that tells requests for the same thing from others; `None` where no document is asked for.
pub(crate) fn key(request: &Request) -> Option<u64> {
    jtest::read_size(&request.path)?;
    let path = request.path.iter().fold(0, |sum, byte| hash(sum, u64::from(*byte)));
    Some(hash(path, u64::from(alternate(request))))
}

/// Of the cookie, else of the user agent, else 0.
fn alternate(request: &Request) -> u32 {
    let fields = &request.jtest;
    fields.cookie_alternate.or(fields.agent_alternate).unwrap_or(0)
}

/// An answer being composed: what all of them need.
struct JtestReply<'a> {
    worker: &'a Worker,
    form: &'a JtestForm,
    request: &'a Request,
    keep_alive: bool,
}

impl JtestReply<'_> {
    fn whole(&self, out: &mut Vec<u8>, turn: &mut Turn, size: u64) -> Answer {
        let body = self.body(turn, 0, size, size);
        out.extend_from_slice(b"HTTP/1.0 200 OK\r\n");
        self.content_type(out);
        out.extend_from_slice(CACHE_CONTROL);
        out.extend_from_slice(LAST_MODIFIED);
        self.connection(out, self.keeps(&body));
        self.length(out, size);
        self.end_of_document(out);
        self.answer(StampKind::Full, out, body)
    }

    fn part(&self, out: &mut Vec<u8>, turn: &mut Turn, from: u64, to: u64, size: u64) -> Answer {
        let body = self.body(turn, from, to, size);
        out.extend_from_slice(b"HTTP/1.1 206 Partial-Content\r\n");
        self.content_type(out);
        out.extend_from_slice(CACHE_CONTROL);
        out.extend_from_slice(LAST_MODIFIED);
        match self.keeps(&body) {
            true => self.connection(out, true),
            false => out.extend_from_slice(b"Connection: close\r\n"),
        }
        self.length(out, to - from);
        content_range(out, from, to, size);
        self.end_of_document(out);
        self.answer(StampKind::Part, out, body)
    }

    fn unchanged(&self, out: &mut Vec<u8>) -> Answer {
        out.extend_from_slice(b"HTTP/1.0 304 Not-Modified\r\n");
        self.content_type(out);
        out.extend_from_slice(LAST_MODIFIED);
        self.connection(out, self.keep_alive);
        self.end(out);
        Answer::of_head(StampKind::Unchanged, out.len(), !self.form.no_cache, self.keep_alive)
    }

    /// An answer without content, with one more field line where there is one.
    fn empty(&self, out: &mut Vec<u8>, status: u16, line: &[u8], kind: StampKind) -> Answer {
        status_line(out, Version::Http10, status, reason(status));
        out.extend_from_slice(line);
        self.connection(out, self.keep_alive);
        self.length(out, 0);
        self.end(out);
        Answer::of_head(kind, out.len(), false, self.keep_alive)
    }

    fn body(&self, turn: &mut Turn, from: u64, to: u64, size: u64) -> AnswerBody {
        let content = jtest::content(size, alternate(self.request));
        let mut body = AnswerBody { content, from, to, chunked: false, cut: false };
        let cut = turn.draw.chance(self.worker.aborts());
        if cut && to > from && self.request.method != Method::Head {
            body.cut_short(&mut turn.draw);
        }
        body
    }

    /// Unlike the native form, jtest says beforehand that it will close after a body that it cuts.
    fn keeps(&self, body: &AnswerBody) -> bool {
        self.keep_alive && !body.cut
    }

    fn answer(&self, kind: StampKind, head: &[u8], body: AnswerBody) -> Answer {
        Answer {
            kind: if body.cut { StampKind::Cut } else { kind },
            head_bytes: head.len(),
            storable: !self.form.no_cache,
            keep_alive: self.keeps(&body),
            body: (self.request.method != Method::Head).then_some(body),
        }
    }

    fn content_type(&self, out: &mut Vec<u8>) {
        let jpeg = match self.form.content_type {
            ContentType::Html => false,
            ContentType::Jpeg => true,
            ContentType::JpegForCookies => self.request.jtest.cookie,
        };
        let line: &[u8] = if jpeg { b"Content-Type: image/jpeg\r\n" } else { b"Content-Type: text/html\r\n" };
        out.extend_from_slice(line);
    }

    fn connection(&self, out: &mut Vec<u8>, keep_alive: bool) {
        if keep_alive {
            out.extend_from_slice(b"Connection: Keep-Alive\r\n");
        }
    }

    fn length(&self, out: &mut Vec<u8>, length: u64) {
        out.extend_from_slice(b"Content-Length: ");
        number(out, length);
        out.extend_from_slice(b"\r\n");
    }

    fn end_of_document(&self, out: &mut Vec<u8>) {
        if self.form.no_cache {
            out.extend_from_slice(NO_CACHE);
        }
        self.end(out);
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.worker.field_lines);
        out.extend_from_slice(b"\r\n");
    }
}
