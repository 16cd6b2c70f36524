//! Answers of the native form: paths `/w/<laws>/<id>/<size>`, HTTP in full, each answer stamped.
//!
//! The right answer follows from the request, the site's laws and the moment alone; nothing is stored. Start at
//! [`compose`].

use crate::answer::{Answer, AnswerBody, number};
use crate::coded;
use crate::date;
use crate::head::{
    ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, DATE, ETAG, EXPIRES,
    Head, LAST_MODIFIED, LOCATION, Name, UNCHANGED,
};
use crate::range::{self, Span};
use crate::request::{Method, Request};
use crate::worker::{Turn, Worker};
use plan::canary;
use plan::draw::hash;
use plan::site::codings::{Coding, MOST_CODED};
use plan::site::{self, FreshnessForm, NotAnObject, Paths, StampKind, Storage};
use wire::http1::Version;

/// Buffers kept from answer to answer so that composing allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The clear text that the body begins with.
    pub(crate) overlay: Vec<u8>,
    tag: Vec<u8>,
    /// A body that is to be coded.
    plain: Vec<u8>,
    /// The value of a field that is put together.
    value: Vec<u8>,
}

/// An object as it is at the moment of an answer.
struct Object {
    id: u64,
    size: u64,
    version: u64,
    variant: u32,
    /// Its ETag is a weak one.
    weak: bool,
    coding: Coding,
    /// Second since 1970 in which this version began.
    modified: u64,
    storage: Storage,
}

/// A lifetime of more seconds than 64 bits count, with or without a sign (RFC 9111 section 1.2.2).
const HUGE: &[u8] = b"max-age=99999999999999999999";
/// Where objects are that have moved: nobody is to go there.
const MOVED_TO: &[u8] = b"/moved";
/// A moment that is over.
const LONG_AGO: &[u8] = b"Thu, 01 Jan 1970 00:00:00 GMT";

/// Writes the head of the answer to a request and says what follows it.
pub(crate) fn compose(
    worker: &Worker,
    request: &Request,
    turn: &mut Turn,
    keep_alive: bool,
    scratch: &mut Scratch,
    out: &mut impl Head,
) -> Answer {
    let reply = NativeReply { worker, request, keep_alive };
    worker.count_canary(request);
    if turn.misdirected {
        return reply.misdirect(out, turn, scratch);
    }
    if request.method == Method::Other {
        return reply.refuse(out, turn, scratch, 405);
    }
    let (id, size) = match worker.paths.read(&request.path) {
        Ok(found) => found,
        Err(reason) => return reply.not_found(out, turn, scratch, reason),
    };
    if matches!(request.method, Method::Post | Method::Change) {
        return reply.accept(out, turn, scratch);
    }
    if turn.draw.chance(worker.errors()) {
        return reply.fail(out, turn, scratch);
    }
    let mut object = Object::at(worker, id, size, request.variant, turn.now_us);
    scratch.tag.clear();
    site::write_etag(&mut scratch.tag, id, object.version, object.variant);
    if let Some(gone) = worker.site().gone(id, object.version) {
        return reply.gone(out, turn, &object, scratch, gone.status());
    }
    scratch.overlay.clear();
    worker.counts().conditional.add(u64::from(request.is_conditional()));
    worker.counts().ranges.add(u64::from(request.range.get().is_some()));
    if reply.is_unchanged(&object, &scratch.tag) {
        return reply.unchanged(out, turn, &object, scratch);
    }
    if object.coding != Coding::Identity {
        object.code(worker, scratch);
        return reply.send(out, turn, &object, scratch, None);
    }
    match reply.span(&object, &scratch.tag, turn) {
        Span::Unsatisfiable => {
            scratch.value(|value| {
                value.extend_from_slice(b"bytes */");
                number(value, object.size);
            });
            reply.refuse(out, turn, scratch, 416)
        }
        Span::Whole => reply.send(out, turn, &object, scratch, None),
        Span::Part { from, to } => reply.send(out, turn, &object, scratch, Some((from, to))),
    }
}

impl Scratch {
    /// The value that is put together by `write`.
    #[inline]
    fn value(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        self.value.clear();
        write(&mut self.value);
        &self.value
    }
}

/// Returns the key that tells requests for the same thing from others; `None` where no object is asked for.
pub(crate) fn key(paths: &Paths, request: &Request) -> Option<u64> {
    let (object, _) = paths.read(&request.path).ok()?;
    Some(hash(object, u64::from(request.variant)))
}

impl Object {
    fn at(worker: &Worker, id: u64, size: u64, variant: u32, now_us: u64) -> Object {
        let site = worker.site();
        let version = site.version_at(id, now_us);
        let modified = site.version_began(id, version) / 1_000_000;
        let coding = match site.codes() && size <= MOST_CODED {
            true => Coding::of_number(variant).unwrap_or(Coding::Identity),
            false => Coding::Identity,
        };
        let variant = if site.codes() { coding.number() } else { site.variant_in(id, version, variant) };
        let size = site.size_of_version(id, version, size);
        let weak = site.has_weak_etag(id);
        Object { id, size, version, variant, weak, coding, modified, storage: site.storage_of(id) }
    }

    /// Codes its body, which is all laid over the content then.
    fn code(&mut self, worker: &Worker, scratch: &mut Scratch) {
        let site = worker.site();
        scratch.plain.clear();
        site::write_prefix(
            &mut scratch.plain,
            self.id,
            self.version,
            site.body_variant(self.variant),
            self.size,
        );
        scratch.plain.truncate(usize::try_from(self.size).unwrap_or(usize::MAX));
        let content = site.content(self.id, self.version, self.variant);
        let pieces = content.pieces(scratch.plain.len() as u64, self.size);
        pieces.for_each(|piece| scratch.plain.extend_from_slice(piece));
        coded::write(&mut scratch.overlay, self.coding, &scratch.plain);
        self.size = scratch.overlay.len() as u64;
    }
}

/// An answer being composed: what all of them need.
struct NativeReply<'a> {
    worker: &'a Worker,
    request: &'a Request,
    keep_alive: bool,
}

impl NativeReply<'_> {
    /// The preconditions, in the order of RFC 9110 section 13.2.2.
    fn is_unchanged(&self, object: &Object, tag: &[u8]) -> bool {
        if object.storage == Storage::OneRequest {
            return false;
        }
        if let Some(list) = self.request.if_none_match.get() {
            return names(list, tag, self.worker.site().etag);
        }
        let since = self.request.if_modified_since.get().filter(|_| self.worker.site().last_modified);
        since.and_then(date::read).is_some_and(|since| object.modified <= since)
    }

    /// The bytes asked for, if Range applies at all: to GET, and only while If-Range holds (RFC 9110 section 14.2).
    fn span(&self, object: &Object, tag: &[u8], turn: &mut Turn) -> Span {
        let Some(value) = self.request.range.get().filter(|_| self.request.method == Method::Get) else {
            return Span::Whole;
        };
        let applies = self.if_range_holds(object, tag, turn.now_us);
        match applies && !turn.draw.chance(self.worker.behaviour().ignores_ranges) {
            true => range::resolve(value, object.size),
            false => Span::Whole,
        }
    }

    /// RFC 9110 section 13.1.5: strong comparison; a date is strong when it lies a second or more back.
    fn if_range_holds(&self, object: &Object, tag: &[u8], now_us: u64) -> bool {
        let site = self.worker.site();
        match self.request.if_range.get() {
            None => true,
            Some(value) if value.starts_with(b"\"") => site.etag && !object.weak && value == tag,
            Some(value) => {
                let strong = object.modified < now_us / 1_000_000;
                site.last_modified && strong && date::read(value) == Some(object.modified)
            }
        }
    }

    /// 200 or 206.
    fn send(
        &self,
        out: &mut impl Head,
        turn: &mut Turn,
        object: &Object,
        scratch: &mut Scratch,
        part: Option<(u64, u64)>,
    ) -> Answer {
        let (from, to) = part.unwrap_or((0, object.size));
        let mut body = self.body(object, from, to, turn);
        let kind = match part {
            _ if body.cut => StampKind::Cut,
            None => StampKind::Full,
            Some(_) => StampKind::Part,
        };
        self.begin(out, if part.is_some() { 206 } else { 200 }, turn);
        out.field(&CONTENT_TYPE, b"application/octet-stream");
        match object.coding {
            Coding::Identity => out.field(&ACCEPT_RANGES, b"bytes"),
            coding => out.field(&CONTENT_ENCODING, coding.name().as_bytes()),
        }
        self.about(out, turn, object, scratch);
        self.stamp(out, turn, scratch, kind);
        if part.is_some() {
            let range = scratch.value(|value| {
                value.extend_from_slice(b"bytes ");
                number(value, from);
                value.push(b'-');
                number(value, to - 1);
                value.push(b'/');
                number(value, object.size);
            });
            out.field(&CONTENT_RANGE, range);
        }
        out.length((!body.chunked).then_some(to - from));
        // An answer that is to be cut promises to keep the connection, as one that breaks by accident would.
        self.end(out, self.keep_alive);
        if object.coding == Coding::Identity {
            let variant = self.worker.site().body_variant(object.variant);
            site::write_prefix(&mut scratch.overlay, object.id, object.version, variant, object.size);
        }
        body.chunked &= self.request.method == Method::Get;
        Answer {
            kind,
            head_bytes: out.bytes(),
            storable: object.storage == Storage::Shared,
            keep_alive: self.keep_alive && !body.cut,
            body: (self.request.method == Method::Get).then_some(body),
        }
    }

    fn body(&self, object: &Object, from: u64, to: u64, turn: &mut Turn) -> AnswerBody {
        let behaviour = self.worker.behaviour();
        let content = self.worker.site().content(object.id, object.version, object.variant);
        let draw = &mut turn.draw;
        let cut = draw.chance(self.worker.aborts()) || turn.cut;
        let chunked = self.request.version == Version::Http11 && draw.chance(behaviour.chunked);
        let mut body = AnswerBody { content, from, to, chunked, cut: false };
        if cut && to > from && self.request.method == Method::Get {
            body.cut_short(draw);
        }
        body
    }

    fn unchanged(&self, out: &mut impl Head, turn: &Turn, object: &Object, scratch: &mut Scratch) -> Answer {
        self.begin(out, 304, turn);
        self.about(out, turn, object, scratch);
        // A field that the stored answer does not have, so that whoever takes over some fields of a 304 and not others is known.
        out.field(&UNCHANGED, scratch.value(|value| site::write_hex(value, turn.serial)));
        self.stamp(out, turn, scratch, StampKind::Unchanged);
        self.end(out, self.keep_alive);
        Answer::of_head(StampKind::Unchanged, out.bytes(), object.storage == Storage::Shared, self.keep_alive)
    }

    /// The object is not there in this version: an answer that is kept as long as one with it.
    fn gone(
        &self,
        out: &mut impl Head,
        turn: &Turn,
        object: &Object,
        scratch: &mut Scratch,
        status: u16,
    ) -> Answer {
        const TEXT: &[u8] = b"The object is gone in this version.\n";
        self.begin(out, status, turn);
        out.field(&CONTENT_TYPE, b"text/plain");
        if status == 301 {
            out.field(&LOCATION, MOVED_TO);
        }
        // With validators of its own: a cache without them asks by Date, which cannot tell what changed within its second.
        self.about(out, turn, object, scratch);
        self.stamp(out, turn, scratch, StampKind::Gone);
        out.length(Some(TEXT.len() as u64));
        self.end(out, self.keep_alive);
        let storable = object.storage == Storage::Shared;
        let answer = Answer::of_head(StampKind::Gone, out.bytes(), storable, self.keep_alive);
        if self.request.method != Method::Head {
            out.content(TEXT);
        }
        answer
    }

    /// An error that the plan wants.
    fn fail(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch) -> Answer {
        let short = Short {
            status: self.worker.behaviour().error_status,
            kind: StampKind::Error,
            text: b"The plan asked for this error.\n",
            field: None,
        };
        self.short(out, turn, scratch, &short)
    }

    /// 204 to a method that changes things: from here on nobody may use what was stored before (RFC 9111 section 4.4).
    fn accept(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch) -> Answer {
        self.begin(out, 204, turn);
        out.field(&CACHE_CONTROL, b"no-store");
        self.stamp(out, turn, scratch, StampKind::Accepted);
        self.end(out, self.keep_alive);
        Answer::of_head(StampKind::Accepted, out.bytes(), false, self.keep_alive)
    }

    /// 421 (RFC 9110 section 15.5.20).
    fn misdirect(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch) -> Answer {
        self.worker.counts().misdirected.add(1);
        let kind = StampKind::Error;
        let text = b"The plan has this connection for another authority.\n";
        self.short(out, turn, scratch, &Short { status: 421, kind, text, field: None })
    }

    /// 405, or 416 with the Content-Range that was put together in the scratch.
    fn refuse(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch, status: u16) -> Answer {
        let range = std::mem::take(&mut scratch.value);
        let (text, field): (&'static [u8], _) = match status {
            405 => (b"This method is not answered.\n", (&ALLOW, &b"GET, HEAD, POST, PUT, PATCH, DELETE"[..])),
            _ => (b"The object has no such bytes.\n", (&CONTENT_RANGE, range.as_slice())),
        };
        let short = Short { status, kind: StampKind::Refused, text, field: Some(field) };
        self.short(out, turn, scratch, &short)
    }

    fn not_found(
        &self,
        out: &mut impl Head,
        turn: &Turn,
        scratch: &mut Scratch,
        reason: NotAnObject,
    ) -> Answer {
        let text: &'static [u8] = match reason {
            NotAnObject::OtherForm => b"Objects are at /w/<id>/<size>.\n",
            NotAnObject::OtherLaws => {
                b"This is the address of an object under other laws (sizes, lifetimes, versions, variants): \
                  give clients and origin the same options.\n"
            }
        };
        self.short(out, turn, scratch, &Short { status: 404, kind: StampKind::Refused, text, field: None })
    }

    /// A short text that nobody is to store.
    fn short(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch, short: &Short<'_>) -> Answer {
        self.begin(out, short.status, turn);
        out.field(&CONTENT_TYPE, b"text/plain");
        out.field(&CACHE_CONTROL, b"no-store");
        if let Some((name, value)) = short.field {
            out.field(name, value);
        }
        self.stamp(out, turn, scratch, short.kind);
        out.length(Some(short.text.len() as u64));
        self.end(out, self.keep_alive);
        let answer = Answer::of_head(short.kind, out.bytes(), false, self.keep_alive);
        if self.request.method != Method::Head {
            out.content(short.text);
        }
        answer
    }

    /// The status and the date.
    #[inline]
    fn begin(&self, out: &mut impl Head, status: u16, turn: &Turn) {
        out.status(status);
        out.field(&DATE, &self.worker.date.borrow_mut().of(turn.now_us / 1_000_000));
    }

    /// Writes what a cache must know of the object: the fields that a 304 repeats (RFC 9110 section 15.4.5).
    #[inline]
    fn about(&self, out: &mut impl Head, turn: &Turn, object: &Object, scratch: &mut Scratch) {
        let site = self.worker.site();
        self.keep(out, turn, object, scratch);
        // Where an answer will do for one request alone there is nothing that could be confirmed.
        let validates = object.storage != Storage::OneRequest;
        if site.etag && validates {
            match object.weak {
                true => out.field(&ETAG, &[b"W/", scratch.tag.as_slice()].concat()),
                false => out.field(&ETAG, &scratch.tag),
            }
        }
        if site.last_modified && validates {
            out.field(&LAST_MODIFIED, &self.worker.modified.borrow_mut().of(object.modified));
        }
        out.vary(&self.worker.vary[site.vary_of(object.id, object.version) as usize]);
        self.worker.keyed.iter().for_each(|field| out.keyed(field, &self.request.path));
    }

    /// The fields that say for how long the answer may be kept, and by whom.
    #[inline]
    fn keep(&self, out: &mut impl Head, turn: &Turn, object: &Object, scratch: &mut Scratch) {
        let lifetime = self.worker.site().lifetime_of(object.id, turn.now_us).as_secs();
        match object.storage {
            Storage::Private => return with_lifetime(out, scratch, b"private, max-age=", lifetime),
            Storage::NoStore => return out.field(&CACHE_CONTROL, b"no-store"),
            Storage::Shared | Storage::OneRequest => {}
        }
        match self.worker.site().freshness_of(object.id) {
            FreshnessForm::MaxAge => with_lifetime(out, scratch, b"max-age=", lifetime),
            FreshnessForm::SMaxage => with_lifetime(out, scratch, b"s-maxage=", lifetime),
            FreshnessForm::SMaxageOverMaxAge => {
                with_lifetime(out, scratch, b"max-age=0, s-maxage=", lifetime)
            }
            FreshnessForm::TwoLines => {
                out.field(&CACHE_CONTROL, b"public");
                with_lifetime(out, scratch, b"max-age=", lifetime);
            }
            FreshnessForm::Huge => out.field(&CACHE_CONTROL, HUGE),
            FreshnessForm::StaleWhileRevalidate => {
                with_stale(out, scratch, lifetime, b", stale-while-revalidate=");
            }
            FreshnessForm::StaleIfError => with_stale(out, scratch, lifetime, b", stale-if-error="),
            FreshnessForm::Expires => {
                let until = turn.now_us / 1_000_000 + lifetime;
                out.field(&EXPIRES, &self.worker.expires.borrow_mut().of(until));
            }
            FreshnessForm::MaxAgeOverExpires => {
                with_lifetime(out, scratch, b"max-age=", lifetime);
                out.field(&EXPIRES, LONG_AGO);
            }
        }
    }

    #[inline]
    fn stamp(&self, out: &mut impl Head, turn: &Turn, scratch: &mut Scratch, kind: StampKind) {
        let stamp = self.worker.stamp(turn, self.request, kind);
        out.stamp(scratch.value(|value| stamp.write(value)));
        if !self.request.canaries.is_none() {
            out.canary(scratch.value(|value| canary::write(value, turn.serial)));
        }
    }

    #[inline]
    fn end(&self, out: &mut impl Head, keep_alive: bool) {
        out.end(self.worker, keep_alive, self.request.version);
    }
}

/// A Cache-Control field that ends in a number of seconds.
#[inline]
fn with_lifetime(out: &mut impl Head, scratch: &mut Scratch, before: &[u8], seconds: u64) {
    let value = scratch.value(|value| {
        value.extend_from_slice(before);
        number(value, seconds);
    });
    out.field(&CACHE_CONTROL, value);
}

/// A Cache-Control field that lets what is stale be served for as long again.
fn with_stale(out: &mut impl Head, scratch: &mut Scratch, seconds: u64, which: &[u8]) {
    let value = scratch.value(|value| {
        value.extend_from_slice(b"max-age=");
        number(value, seconds);
        value.extend_from_slice(which);
        number(value, seconds);
    });
    out.field(&CACHE_CONTROL, value);
}

/// An answer that is no object.
struct Short<'a> {
    status: u16,
    kind: StampKind,
    text: &'static [u8],
    /// One more field.
    field: Option<(&'a Name, &'a [u8])>,
}

/// True if If-None-Match names the tag, compared weakly (RFC 9110 section 13.1.2). Our tags hold no comma, so that a
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
