//! Answers of the native form: paths `/w/<laws>/<id>/<size>`, HTTP/1.1 in full, each answer stamped.
//!
//! What an answer must be follows from the request, the site's laws and the moment alone; nothing is stored. Start at
//! [`compose`].

use crate::answer::{Answer, Body, content_range, content_range_none, number, reason};
use crate::date;
use crate::range::{self, Span};
use crate::request::{Method, Request};
use crate::worker::{Turn, Worker};
use plan::draw::{Draw, hash};
use plan::site::{self, NotAnObject, Paths, STAMP_FIELD, StampKind, Storage};
use wire::http1::Version;
use wire::http1::write::{field, status_line};

/// What is kept from answer to answer so that composing allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The clear text that the body begins with.
    pub(crate) overlay: Vec<u8>,
    tag: Vec<u8>,
}

/// An object as it is at the moment of an answer.
struct Object {
    id: u64,
    size: u64,
    version: u64,
    variant: u32,
    /// Second since 1970 in which this version began.
    modified: u64,
    storage: Storage,
}

/// Writes the head of the answer to a request and says what follows it.
pub(crate) fn compose(
    worker: &Worker,
    request: &Request,
    turn: &mut Turn,
    keep_alive: bool,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Answer {
    let reply = Reply { worker, request, keep_alive };
    if !matches!(request.method, Method::Get | Method::Head) {
        return reply.refuse(out, turn, 405, b"Allow: GET, HEAD\r\n");
    }
    let (id, size) = match worker.paths.read(&request.path) {
        Ok(found) => found,
        Err(reason) => return reply.not_found(out, turn, reason),
    };
    if turn.draw.chance(worker.behaviour().errors) {
        return reply.fail(out, turn);
    }
    let object = Object::at(worker, id, size, request.variant, turn.now_us);
    scratch.tag.clear();
    site::write_etag(&mut scratch.tag, id, object.version, object.variant);
    scratch.overlay.clear();
    worker.counts().conditional.add(u64::from(request.is_conditional()));
    worker.counts().ranges.add(u64::from(request.range.get().is_some()));
    if reply.is_unchanged(&object, &scratch.tag) {
        return reply.unchanged(out, turn, &object, &scratch.tag);
    }
    match reply.span(&object, &scratch.tag, turn.now_us) {
        Span::Unsatisfiable => {
            let mut line = Vec::new();
            content_range_none(&mut line, size);
            reply.refuse(out, turn, 416, &line)
        }
        Span::Whole => reply.send(out, turn, &object, scratch, None),
        Span::Part { from, to } => reply.send(out, turn, &object, scratch, Some((from, to))),
    }
}

/// What tells requests for the same thing from others; `None` where no object is asked for.
pub(crate) fn key(paths: &Paths, request: &Request) -> Option<u64> {
    let (object, _) = paths.read(&request.path).ok()?;
    Some(hash(object, u64::from(request.variant)))
}

impl Object {
    fn at(worker: &Worker, id: u64, size: u64, variant: u32, now_us: u64) -> Object {
        let site = worker.site();
        let version = site.version_at(id, now_us);
        let modified = site.version_began(id, version) / 1_000_000;
        Object { id, size, version, variant, modified, storage: site.storage_of(id) }
    }
}

/// An answer being composed: what all of them need.
struct Reply<'a> {
    worker: &'a Worker,
    request: &'a Request,
    keep_alive: bool,
}

impl Reply<'_> {
    /// The preconditions, in the order of RFC 9110 section 13.2.2.
    fn is_unchanged(&self, object: &Object, tag: &[u8]) -> bool {
        if let Some(list) = self.request.if_none_match.get() {
            return names(list, tag, self.worker.site().etag);
        }
        let since = self.request.if_modified_since.get().filter(|_| self.worker.site().last_modified);
        since.and_then(date::read).is_some_and(|since| object.modified <= since)
    }

    /// The bytes asked for, if Range applies at all: to GET, and only while If-Range holds (RFC 9110 section 14.2).
    fn span(&self, object: &Object, tag: &[u8], now_us: u64) -> Span {
        match self.request.range.get() {
            Some(value) if self.request.method == Method::Get && self.if_range_holds(object, tag, now_us) => {
                range::resolve(value, object.size)
            }
            _ => Span::Whole,
        }
    }

    /// RFC 9110 section 13.1.5: strong comparison; a date is strong when it lies a second or more back.
    fn if_range_holds(&self, object: &Object, tag: &[u8], now_us: u64) -> bool {
        let site = self.worker.site();
        match self.request.if_range.get() {
            None => true,
            Some(value) if value.starts_with(b"\"") => site.etag && value == tag,
            Some(value) => {
                let strong = object.modified < now_us / 1_000_000;
                site.last_modified && strong && date::read(value) == Some(object.modified)
            }
        }
    }

    /// 200 or 206.
    fn send(
        &self,
        out: &mut Vec<u8>,
        turn: &mut Turn,
        object: &Object,
        scratch: &mut Scratch,
        part: Option<(u64, u64)>,
    ) -> Answer {
        let (from, to) = part.unwrap_or((0, object.size));
        let mut body = self.body(object, from, to, &mut turn.draw);
        let kind = match part {
            _ if body.cut => StampKind::Cut,
            None => StampKind::Full,
            Some(_) => StampKind::Part,
        };
        let status: &[u8] = match part {
            None => b"HTTP/1.1 200 OK\r\nDate: ",
            Some(_) => b"HTTP/1.1 206 Partial Content\r\nDate: ",
        };
        self.begin(out, status, turn);
        out.extend_from_slice(b"Content-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\n");
        self.about(out, object, &scratch.tag);
        self.stamp(out, turn, kind);
        if part.is_some() {
            content_range(out, from, to, object.size);
        }
        if body.chunked {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        } else {
            out.extend_from_slice(b"Content-Length: ");
            number(out, to - from);
            out.extend_from_slice(b"\r\n");
        }
        // An answer that is to be cut promises to keep the connection, as one that breaks by accident would.
        self.end(out, self.keep_alive);
        site::write_prefix(&mut scratch.overlay, object.id, object.version, object.variant, object.size);
        body.chunked &= self.request.method == Method::Get;
        Answer {
            kind,
            head_bytes: out.len(),
            storable: object.storage == Storage::Shared,
            keep_alive: self.keep_alive && !body.cut,
            body: (self.request.method == Method::Get).then_some(body),
        }
    }

    fn body(&self, object: &Object, from: u64, to: u64, draw: &mut Draw) -> Body {
        let behaviour = self.worker.behaviour();
        let content = self.worker.site().content(object.id, object.version, object.variant);
        let cut = draw.chance(behaviour.aborts);
        let chunked = self.request.version == Version::Http11 && draw.chance(behaviour.chunked);
        let mut body = Body { content, from, to, chunked, cut: false };
        if cut && to > from && self.request.method == Method::Get {
            body.cut_short(draw);
        }
        body
    }

    fn unchanged(&self, out: &mut Vec<u8>, turn: &Turn, object: &Object, tag: &[u8]) -> Answer {
        self.begin(out, b"HTTP/1.1 304 Not Modified\r\nDate: ", turn);
        self.about(out, object, tag);
        self.stamp(out, turn, StampKind::Unchanged);
        self.end(out, self.keep_alive);
        Answer::of_head(StampKind::Unchanged, out, object.storage == Storage::Shared, self.keep_alive)
    }

    /// An error that the plan wants.
    fn fail(&self, out: &mut Vec<u8>, turn: &Turn) -> Answer {
        let status = self.worker.behaviour().error_status;
        self.short(out, turn, status, b"", StampKind::Error, b"The plan asked for this error.\n")
    }

    fn refuse(&self, out: &mut Vec<u8>, turn: &Turn, status: u16, line: &[u8]) -> Answer {
        let text: &[u8] = match status {
            405 => b"Only GET and HEAD are answered.\n",
            _ => b"The object has no such bytes.\n",
        };
        self.short(out, turn, status, line, StampKind::Refused, text)
    }

    fn not_found(&self, out: &mut Vec<u8>, turn: &Turn, reason: NotAnObject) -> Answer {
        let text: &[u8] = match reason {
            NotAnObject::OtherForm => b"Objects are at /w/<id>/<size>.\n",
            NotAnObject::OtherLaws => {
                b"This is the address of an object under other laws (sizes, lifetimes, versions, variants): \
                  give clients and origin the same options.\n"
            }
        };
        self.short(out, turn, 404, b"", StampKind::Refused, text)
    }

    /// A short text that nobody is to store, with one more field line where there is one.
    fn short(
        &self,
        out: &mut Vec<u8>,
        turn: &Turn,
        status: u16,
        line: &[u8],
        kind: StampKind,
        text: &[u8],
    ) -> Answer {
        status_line(out, Version::Http11, status, reason(status));
        out.extend_from_slice(b"Date: ");
        self.begin(out, b"", turn);
        out.extend_from_slice(b"Content-Type: text/plain\r\nCache-Control: no-store\r\n");
        out.extend_from_slice(line);
        self.stamp(out, turn, kind);
        out.extend_from_slice(b"Content-Length: ");
        number(out, text.len() as u64);
        out.extend_from_slice(b"\r\n");
        self.end(out, self.keep_alive);
        let answer = Answer::of_head(kind, out, false, self.keep_alive);
        if self.request.method != Method::Head {
            out.extend_from_slice(text);
        }
        answer
    }

    /// Status line up to the name of Date, then the date.
    #[inline]
    fn begin(&self, out: &mut Vec<u8>, status: &[u8], turn: &Turn) {
        out.extend_from_slice(status);
        out.extend_from_slice(&self.worker.date.borrow_mut().of(turn.now_us / 1_000_000));
        out.extend_from_slice(b"\r\n");
    }

    /// What a cache must know of the object: the fields that a 304 repeats (RFC 9110 section 15.4.5).
    #[inline]
    fn about(&self, out: &mut Vec<u8>, object: &Object, tag: &[u8]) {
        let site = self.worker.site();
        let control: &[u8] = match object.storage {
            Storage::Shared => b"Cache-Control: max-age=",
            Storage::Private => b"Cache-Control: private, max-age=",
            Storage::NoStore => b"Cache-Control: no-store",
        };
        out.extend_from_slice(control);
        if object.storage != Storage::NoStore {
            number(out, site.lifetime_of(object.id).as_secs());
        }
        if site.etag {
            out.extend_from_slice(b"\r\nETag: ");
            out.extend_from_slice(tag);
        }
        if site.last_modified {
            out.extend_from_slice(b"\r\nLast-Modified: ");
            out.extend_from_slice(&self.worker.modified.borrow_mut().of(object.modified));
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.worker.vary_line);
    }

    #[inline]
    fn stamp(&self, out: &mut Vec<u8>, turn: &Turn, kind: StampKind) {
        out.extend_from_slice(STAMP_FIELD.as_bytes());
        out.extend_from_slice(b": ");
        self.worker.stamp(turn, self.request, kind).write(out);
        out.extend_from_slice(b"\r\n");
    }

    /// The plan's own fields, what becomes of the connection (RFC 9112 section 9.3), and the blank line.
    #[inline]
    fn end(&self, out: &mut Vec<u8>, keep_alive: bool) {
        out.extend_from_slice(&self.worker.field_lines);
        match (keep_alive, self.request.version) {
            (false, _) => field(out, "Connection", "close"),
            (true, Version::Http10) => field(out, "Connection", "keep-alive"),
            (true, Version::Http11) => {}
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Whether If-None-Match names the tag, compared weakly (RFC 9110 section 13.1.2). Our tags hold no comma, so that a
/// foreign one with a comma falls apart into pieces that are not ours.
fn names(list: &[u8], tag: &[u8], has_tag: bool) -> bool {
    list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).any(|element| {
        let opaque = element.strip_prefix(b"W/").unwrap_or(element);
        element == b"*" || (has_tag && opaque == tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_in_lists_weak_or_strong() {
        let tag = b"\"1f-0-0\"";
        for list in ["\"1f-0-0\"", "W/\"1f-0-0\"", "\"a\", \"1f-0-0\" ,W/\"b\"", "*"] {
            assert!(names(list.as_bytes(), tag, true), "{list}");
        }
        for list in ["", "1f-0-0", "\"1f-0-1\"", "w/\"1f-0-0\"", "\"\""] {
            assert!(!names(list.as_bytes(), tag, true), "{list}");
        }
        assert!(!names(tag, tag, false) && names(b"*", tag, false));
    }
}
