//! An entry as a request that can be sent: its line taken apart, escapes taken back, and what it is known by.

use crate::entry::{Entry, Named, Range, Sent, Text};
use crate::left_out::Reason;
use crate::request::UNTOLD_BYTES;
use crate::text::{is_untold, trim, unescape};
use crate::words::{Agent, Cache, Coding, Condition, Kind, Media, Method, Storage, Version};
use std::borrow::Cow;

/// Bytes of an answer's head where the log does not tell them: the middle of what servers send.
pub const HEAD_GUESS: u64 = 300;

/// A request that can be sent.
#[derive(Debug, Clone)]
pub struct Clean<'a> {
    /// Host in small letters; empty: not told.
    pub host: Cow<'a, [u8]>,
    /// Path and query, never a full URL; empty for an object that is a number.
    pub target: Cow<'a, [u8]>,
    /// The number of an object that has no URL.
    pub number: Option<u64>,
    /// Method, version, conditions and the like.
    pub kind: Kind,
    /// Kind of content.
    pub media: Media,
    /// Bytes of the body; [`UNTOLD_BYTES`]: not told.
    pub sent: u64,
    /// The head's bytes were guessed.
    pub head_guessed: bool,
}

impl<'a> Clean<'a> {
    /// Takes an entry apart.
    ///
    /// # Errors
    /// The reason for which it is left out.
    #[inline]
    pub fn of(entry: &Entry<'a>) -> Result<Clean<'a>, Reason> {
        let parts = CleanParts::of(entry)?;
        let CleanParts { method, version, target, number } = parts;
        if method == Method::Connect {
            return Err(Reason::Connect);
        }
        if entry.status == Some(101) {
            return Err(Reason::Upgrade);
        }
        let Located { host, target } = match number {
            Some(_) => Located { host: Cow::Borrowed(b""), target: Cow::Borrowed(b"") },
            None => Located::of(target, entry.host)?,
        };
        let media = match (entry.content_type.is_empty(), number) {
            (false, _) => Media::of_type(&unescape(entry.content_type)),
            (true, None) => Media::of_path(&target),
            (true, Some(_)) => Media::Untold,
        };
        let (sent, head_guessed) = body_bytes(entry, method);
        Ok(Clean { host, target, number, kind: kind(entry, method, version), media, sent, head_guessed })
    }
}

/// Method, version and target of an entry, wherever they stood.
struct CleanParts<'a> {
    method: Method,
    version: Version,
    target: Cow<'a, [u8]>,
    number: Option<u64>,
}

impl<'a> CleanParts<'a> {
    #[inline]
    fn of(entry: &Entry<'a>) -> Result<CleanParts<'a>, Reason> {
        let apart = |target: Cow<'a, [u8]>| {
            let text = entry.method.bytes;
            if text == b"ICP_QUERY" || text == b"HTCP_TST" {
                return Err(Reason::Internal);
            }
            let method = if is_untold(text) { Some(Method::Get) } else { Method::read(text) };
            let version = Version::read(entry.protocol.bytes);
            Ok(CleanParts { method: method.ok_or(Reason::NoRequest)?, version, target, number: None })
        };
        match entry.object {
            Named::Nothing => Err(Reason::NoObject),
            Named::Number(number) => {
                apart(Cow::Borrowed(b"")).map(|parts| CleanParts { number: Some(number), ..parts })
            }
            Named::Target(text) => apart(unescape(text)),
            Named::Parts(path, query) if query.is_empty() => apart(unescape(path)),
            Named::Parts(path, query) => {
                let mut target = unescape(path).into_owned();
                target.push(b'?');
                target.extend_from_slice(&unescape(query));
                apart(Cow::Owned(target))
            }
            Named::Line(line) => match unescape(line) {
                Cow::Borrowed(bytes) => line_parts(bytes).map(|(method, target, version)| CleanParts {
                    method,
                    version,
                    target: Cow::Borrowed(target),
                    number: None,
                }),
                Cow::Owned(bytes) => line_parts(&bytes).map(|(method, target, version)| CleanParts {
                    method,
                    version,
                    target: Cow::Owned(target.to_vec()),
                    number: None,
                }),
            },
        }
    }
}

/// Method, target and version of a request line.
#[inline]
fn line_parts(line: &[u8]) -> Result<(Method, &[u8], Version), Reason> {
    let end = memchr::memchr(b' ', line).ok_or(Reason::NoRequest)?;
    let method = Method::read(&line[..end]).ok_or(Reason::NoRequest)?;
    let rest = &line[end + 1..];
    match memchr::memrchr(b' ', rest) {
        Some(at) if rest[at + 1..].starts_with(b"HTTP/") => {
            Ok((method, &rest[..at], Version::read(&rest[at + 1..])))
        }
        // HTTP/0.9 has no version, and of some logs it was cut off.
        Some(_) | None => Ok((method, rest, Version::Untold)),
    }
}

/// Host and path of a target.
struct Located<'a> {
    host: Cow<'a, [u8]>,
    target: Cow<'a, [u8]>,
}

impl<'a> Located<'a> {
    /// Takes a target apart that may be a whole URL.
    #[inline]
    fn of(target: Cow<'a, [u8]>, host: Text<'a>) -> Result<Located<'a>, Reason> {
        if target.is_empty()
            || is_untold(&target)
            || target.starts_with(b"error:")
            || target.starts_with(b"<BADREQ>")
        {
            return Err(Reason::NoRequest);
        }
        // All bytes are looked at, since a loop without a way out goes many at a time.
        if target.iter().fold(false, |found, byte| found | (*byte <= b' ') | (*byte == 0x7f)) {
            return Err(Reason::Unsendable);
        }
        if target.starts_with(b"cache_object:") {
            return Err(Reason::Internal);
        }
        let named = || if host.is_empty() { Cow::Borrowed(&b""[..]) } else { lower(unescape(host)) };
        if target[0] == b'/' {
            return Ok(Located { host: sendable(bare_host(named()))?, target });
        }
        let Some(at) = memchr::memmem::find(&target, b"://") else {
            return match &target[..] {
                // OPTIONS * asks for the server, not for an object of it.
                b"*" => Err(Reason::NoObject),
                _ => Err(Reason::NoRequest),
            };
        };
        let authority = at + 3;
        let path =
            memchr::memchr2(b'/', b'?', &target[authority..]).map_or(target.len(), |slash| authority + slash);
        let in_url = lower(Cow::Owned(target[authority..path].to_vec()));
        let path = match &target[path..] {
            b"" => Cow::Borrowed(&b"/"[..]),
            query if query[0] == b'?' => Cow::Owned([b"/", query].concat()),
            path => Cow::Owned(path.to_vec()),
        };
        // The Host field is what the client asked for; a URL's host may be that of the server behind.
        let host = if in_url.is_empty() { named() } else { in_url };
        Ok(Located { host: sendable(bare_host(host))?, target: path })
    }
}

fn lower(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if text.iter().any(u8::is_ascii_uppercase) { Cow::Owned(text.to_ascii_lowercase()) } else { text }
}

/// A host without the ports that nobody writes, and without a user's name.
fn bare_host(host: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let begin = memchr::memrchr(b'@', &host).map_or(0, |at| at + 1);
    let end = [&b":80"[..], b":443"]
        .iter()
        .find(|port| host.ends_with(port))
        .map_or(host.len(), |port| host.len() - port.len());
    if begin == 0 && end == host.len() { host } else { Cow::Owned(host[begin..end].to_vec()) }
}

/// A host as it may stand in a request; a log's own field may hold anything.
fn sendable(host: Cow<'_, [u8]>) -> Result<Cow<'_, [u8]>, Reason> {
    let is_other = |byte: &u8| *byte <= b' ' || matches!(*byte, 0x7f | b'/' | b'?' | b'#');
    let port = memchr::memrchr(b':', &host).map_or(&b""[..], |at| &host[at + 1..]);
    // A password that holds a slash ends the authority before its host.
    let is_port = port.iter().all(u8::is_ascii_digit) || host.ends_with(b"]");
    if host.iter().any(is_other) || !is_port { Err(Reason::Unsendable) } else { Ok(host) }
}

/// Bytes of the body that were sent, and true if the head's were guessed.
#[inline]
fn body_bytes(entry: &Entry<'_>, method: Method) -> (u64, bool) {
    let bodiless = method == Method::Head || matches!(entry.status, Some(304 | 204 | 100..=199));
    match entry.sent {
        Sent::Unknown => (UNTOLD_BYTES, false),
        _ if bodiless => (0, false),
        Sent::Body(bytes) => (bytes, false),
        Sent::Whole(0) => (0, false),
        Sent::Whole(bytes) => (bytes.saturating_sub(HEAD_GUESS), true),
        Sent::Apart { whole, head } => (whole.saturating_sub(head), false),
    }
}

#[inline]
fn kind(entry: &Entry<'_>, method: Method, version: Version) -> Kind {
    let version = if version == Version::Untold { Version::read(entry.protocol.bytes) } else { version };
    let condition = match (entry.if_none_match.is_empty(), entry.if_modified_since.is_empty()) {
        (true, true) => Condition::None,
        (false, true) => Condition::Tag,
        (true, false) => Condition::Date,
        (false, false) => Condition::Both,
    };
    let coding = if entry.accept_encoding.is_empty() {
        Coding::Untold
    } else {
        Coding::read(entry.accept_encoding.bytes)
    };
    // 499 is nginx's word for a client that went away; no status at all is an answer that never came.
    let aborted = entry.aborted || matches!(entry.status, Some(499 | 0));
    let has =
        |text: Text<'_>, word: &[u8]| !text.is_empty() && memchr::memmem::find(text.bytes, word).is_some();
    let reload = entry.cache == Cache::Reload
        || has(entry.request_cache_control, b"no-cache")
        || has(entry.request_cache_control, b"max-age=0");
    Kind { method, cache: entry.cache, version, condition, coding, agent: Agent::Untold, aborted, reload }
}

/// Lifetime and storage that an answer's own fields tell.
pub fn lifetime(entry: &Entry<'_>) -> (Option<u32>, Storage) {
    if let Some(ttl) = entry.ttl_s {
        return (Some(ttl.min(u64::from(u32::MAX >> 1)) as u32), entry.storage.unwrap_or_default());
    }
    if entry.cache_control.is_empty() && entry.expires.is_empty() {
        return (None, entry.storage.unwrap_or_default());
    }
    let mut shared = None;
    let mut own = None;
    let mut storage = entry.storage.unwrap_or_default();
    let text = unescape(entry.cache_control).to_ascii_lowercase();
    for directive in text.split(|byte| *byte == b',').map(trim) {
        let seconds = |text: &[u8]| {
            crate::text::number(text.trim_ascii()).map(|value| value.min(u64::from(u32::MAX >> 1)) as u32)
        };
        match directive {
            b"no-store" => storage = Storage::NoStore,
            b"private" if storage == Storage::Shared => storage = Storage::Private,
            b"no-cache" => shared = Some(0),
            other => {
                if let Some(text) = other.strip_prefix(b"s-maxage=") {
                    shared = shared.or(seconds(text));
                } else if let Some(text) = other.strip_prefix(b"max-age=") {
                    own = seconds(text);
                }
            }
        }
    }
    let lifetime = shared.or(own).or_else(|| expires(entry));
    (lifetime, storage)
}

/// The range that was asked for; none where several were, or a part counted from the end.
pub fn range(entry: &Entry<'_>) -> Range {
    if let Some(part) = entry.part {
        return part;
    }
    if entry.range.is_empty() {
        return Range::default();
    }
    single_range(&unescape(entry.range)).unwrap_or_default()
}

/// Reads `bytes=0-99` and `bytes=100-`.
fn single_range(text: &[u8]) -> Option<Range> {
    let spans = text.strip_prefix(b"bytes=")?;
    let dash = memchr::memchr(b'-', spans)?;
    let from = crate::text::number(trim(&spans[..dash]))?;
    let to = trim(&spans[dash + 1..]);
    if to.is_empty() {
        return Some(Range { from, length: 0 });
    }
    let to = crate::text::number(to).filter(|to| *to >= from)?;
    Some(Range { from, length: to - from + 1 })
}

/// The time from an answer until its Expires field.
fn expires(entry: &Entry<'_>) -> Option<u32> {
    if entry.expires.is_empty() {
        return None;
    }
    let text = unescape(entry.expires);
    let now = entry.time?.us;
    let seconds = (http_date(&text)? - now) / crate::moment::SECOND;
    Some(u32::try_from(seconds.max(0)).unwrap_or(u32::MAX >> 1))
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, in microseconds since 1970.
fn http_date(text: &[u8]) -> Option<i64> {
    let rest = &text[memchr::memchr(b',', text)? + 1..];
    let mut words = rest.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let day = crate::text::number(words.next()?)? as u32;
    let month = crate::moment::month(words.next()?)?;
    let year = crate::text::number(words.next()?)? as i64;
    let of_day = crate::moment::clock(words.next()?)?;
    let midnight = crate::moment::is_date(year, month, day).then(|| crate::moment::days(year, month, day))?;
    Some((midnight * 86_400 + i64::from(of_day)) * crate::moment::SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Escape, Logged};

    fn of_line(line: &str) -> Result<(String, String, Method), Reason> {
        let text = Text { bytes: line.as_bytes(), escape: Escape::Backslash };
        let entry =
            Entry { object: Named::Line(text), host: Text::plain(b"H.example:80"), ..Entry::default() };
        Clean::of(&entry).map(|clean| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (text(&clean.host), text(&clean.target), clean.kind.method)
        })
    }

    #[test]
    fn request_lines_are_taken_apart() {
        let fine = |host: &str, target: &str| Ok((host.to_owned(), target.to_owned(), Method::Get));
        for (line, found) in [
            ("GET /a?b=1 HTTP/1.1", fine("h.example", "/a?b=1")),
            ("GET /a", fine("h.example", "/a")),
            ("GET http://O.example:8080/a HTTP/1.1", fine("o.example:8080", "/a")),
            ("GET https://u:p@o.example:443?x HTTP/1.1", fine("o.example", "/?x")),
            ("GET http://o.example HTTP/1.1", fine("o.example", "/")),
            (r"GET /\x22\\ HTTP/1.1", fine("h.example", "/\"\\")),
            ("GET http://jane:hun/ter2@o.example/a HTTP/1.1", Err(Reason::Unsendable)),
            ("GET /a b HTTP/1.1", Err(Reason::Unsendable)),
            (r"GET /a\x0d\x0aX: y HTTP/1.1", Err(Reason::Unsendable)),
            (r"GET /a\x00 HTTP/1.1", Err(Reason::Unsendable)),
            (r"GET /a\x7f HTTP/1.1", Err(Reason::Unsendable)),
            ("-", Err(Reason::NoRequest)),
            ("", Err(Reason::NoRequest)),
            ("<BADREQ>", Err(Reason::NoRequest)),
            (r"\x16\x03\x01\x02\x00 x", Err(Reason::NoRequest)),
            ("GET error:invalid-request HTTP/0.0", Err(Reason::NoRequest)),
            ("CONNECT h.example:443 HTTP/1.1", Err(Reason::Connect)),
            ("OPTIONS * HTTP/1.1", Err(Reason::NoObject)),
            ("GET cache_object://localhost/info HTTP/1.0", Err(Reason::Internal)),
        ] {
            assert_eq!(of_line(line), found, "{line}");
        }
    }

    #[test]
    fn a_host_that_no_request_can_hold_leaves_the_line_out() {
        let of = |host: &[u8]| {
            let object = Named::Line(Text::plain(b"GET /a HTTP/1.1"));
            let text = Text { bytes: host, escape: Escape::Backslash };
            Clean::of(&Entry { object, host: text, ..Entry::default() }).map(|clean| clean.host.to_vec())
        };
        for host in [&b"[::1]:8080"[..], b"[::1]", b"h:8080"] {
            assert_eq!(of(host), Ok(host.to_vec()));
        }
        for host in
            [&b"id\"\0\0h"[..], b"a b", b"a\x7f", b"a/b", br"a\x0d\x0aX: y", b"a?b", b"a#b", b"jane:hun"]
        {
            assert_eq!(of(host), Err(Reason::Unsendable), "{host:?}");
        }
    }

    #[test]
    fn bytes_of_bodies() {
        let of = |sent, status, method| {
            let target = Named::Target(Text::plain(b"/a"));
            let method = Text::plain(method);
            let entry = Entry { sent, status: Some(status), object: target, method, ..Entry::default() };
            let clean = Clean::of(&entry).unwrap();
            (clean.sent, clean.head_guessed)
        };
        assert_eq!(of(Sent::Body(7), 200, b"GET"), (7, false));
        assert_eq!(of(Sent::Whole(1300), 200, b"GET"), (1000, true));
        assert_eq!(of(Sent::Apart { whole: 1300, head: 250 }, 200, b"GET"), (1050, false));
        assert_eq!(of(Sent::Whole(300), 304, b"GET"), (0, false));
        assert_eq!(of(Sent::Body(7), 200, b"HEAD"), (0, false));
        assert_eq!(of(Sent::Unknown, 200, b"GET"), (UNTOLD_BYTES, false));
    }

    #[test]
    fn ranges() {
        let of =
            |text: &'static str| range(&Entry { range: Text::plain(text.as_bytes()), ..Entry::default() });
        assert_eq!(of("bytes=0-99"), Range { from: 0, length: 100 });
        assert_eq!(of("bytes=100-"), Range { from: 100, length: 0 });
        for text in ["", "-", "bytes=-5", "bytes=5-4", "bytes=0-1,5-6", "lines=1-2"] {
            assert_eq!(of(text), Range::default(), "{text}");
        }
    }

    #[test]
    fn lifetimes_of_answers() {
        let time = Some(Logged { us: 784_111_777_000_000, resolution: 1, edge: crate::entry::Edge::Begin });
        let of = |control: &'static str, expires: &'static str| {
            let cache_control = Text::plain(control.as_bytes());
            let expires = Text::plain(expires.as_bytes());
            lifetime(&Entry { cache_control, expires, time, ..Entry::default() })
        };
        assert_eq!(of("public, max-age=60", ""), (Some(60), Storage::Shared));
        assert_eq!(of("s-maxage=5, max-age=60", ""), (Some(5), Storage::Shared));
        assert_eq!(of("private, max-age=60", ""), (Some(60), Storage::Private));
        assert_eq!(of("No-Store", ""), (None, Storage::NoStore));
        assert_eq!(of("no-cache", ""), (Some(0), Storage::Shared));
        assert_eq!(of("", "Sun, 06 Nov 1994 08:50:37 GMT"), (Some(60), Storage::Shared));
        assert_eq!(of("", "Sun, 06 Nov 1994 08:00:00 GMT"), (Some(0), Storage::Shared));
        assert_eq!(of("", "0"), (None, Storage::Shared));
        assert_eq!(of("", "Tue, 31 Nov 1994 08:00:00 GMT"), (None, Storage::Shared));
        assert_eq!(of("", ""), (None, Storage::Shared));
    }
}
