//! Fields of a log line: what each means, and how its text becomes part of an [`Entry`].

use crate::cache_words;
use crate::entry::{Edge, Entry, Escape, Logged, Named, Range, Sent, Text, WHOLE_SECONDS};
use crate::moment::{self, Clf, MomentParts, Zone};
use crate::text::{self, is_untold};

use super::duration::{Steps, keep_finest, put_duration, step_ns, sum};
use super::strftime::Strftime;

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeForm {
    /// `10/Oct/2000:13:55:36 -0700`, in brackets or not; HAProxy's `06/Feb/2009:12:14:14.655` without a zone, too.
    Clf,
    /// ISO 8601.
    Iso,
    /// Seconds since 1970 with decimals.
    Seconds,
    /// Milliseconds since 1970.
    Millis,
    /// Microseconds since 1970.
    Micros,
    /// Nanoseconds since 1970.
    Nanos,
    /// Any of these, told by its look: what JSON logs have.
    Any,
    /// `2026-11-25` alone.
    Date,
    /// `10:00:00` alone, with decimals or not.
    Clock,
    /// Digits below a second alone.
    Below,
    /// A form of the format's own, by its number.
    Own(u8),
}

/// Unit of a duration; decimals are read in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Written out, `1.5ms`; a bare number is of seconds.
    Written,
}

/// How a log says that the client went away before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbortForm {
    /// Apache's `%X`: `X`.
    Connection,
    /// nginx's `$request_completion`: nothing instead of `OK`.
    Completion,
    /// HAProxy's `%ts`: its first letter is `C`.
    Termination,
    /// ATS's `%<cfsc>`: anything but `FIN`.
    Finish,
    /// Envoy's flags: `DC` among them.
    Flags,
}

/// One field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Nobody needs it.
    Skip,
    /// The time of the line, or a part of it.
    Time(TimeForm),
    /// When the request came in, where the line's own time is that of the end.
    Began(TimeForm),
    /// From the request to the answer's end.
    Duration(Unit),
    /// From the request to the answer's first byte.
    FirstByte(Unit),
    /// Time of the server behind; several (`0.1, 0.2 : 0.3`) are added.
    Upstream(Unit),
    /// The client's address.
    Address,
    /// Address and port, `192.0.2.1:443` or `[::1]:443`.
    AddressPort,
    /// X-Forwarded-For: the first address, if it has any.
    Forwarded,
    /// User-Agent.
    Agent,
    /// Number or name of the connection.
    Connection,
    /// The field that `--user-by FIELD` names.
    User,
    /// The request line.
    Line,
    /// Method.
    Method,
    /// Path and query, or a URL.
    Target,
    /// Path alone.
    Path,
    /// Query alone, with or without `?`.
    Query,
    /// Host.
    Host,
    /// Version of HTTP.
    Protocol,
    /// Status; `-` and 0: there was no answer.
    Status,
    /// Bytes of the answer's body.
    BodyBytes,
    /// Bytes of the answer, head and body.
    SentBytes,
    /// Bytes of the answer's head.
    HeadBytes,
    /// Size of the object, whatever was sent.
    Size,
    /// The cache's word.
    Cache,
    /// A sign that the client went away.
    Aborted(AbortForm),
    /// Content-Type.
    ContentType,
    /// Range of the request.
    Range,
    /// First byte of a range.
    RangeFrom,
    /// Last byte of a range.
    RangeTo,
    /// Accept-Encoding.
    AcceptEncoding,
    /// If-None-Match.
    IfNoneMatch,
    /// If-Modified-Since.
    IfModifiedSince,
    /// Cache-Control of the request.
    RequestCacheControl,
    /// Cache-Control of the answer.
    CacheControl,
    /// Expires of the answer.
    Expires,
    /// Time to live in seconds.
    Ttl,
    /// Cookie of the request.
    Cookie,
    /// Number of the object, as traces have it.
    Number,
}

impl Field {
    /// The field of a request that is known by this name; others are not needed.
    pub fn of_request(name: &str) -> Field {
        match name.to_ascii_lowercase().as_str() {
            "user-agent" => Field::Agent,
            "host" | ":authority" => Field::Host,
            "range" => Field::Range,
            "accept-encoding" => Field::AcceptEncoding,
            "if-none-match" => Field::IfNoneMatch,
            "if-modified-since" => Field::IfModifiedSince,
            "cache-control" => Field::RequestCacheControl,
            "cookie" => Field::Cookie,
            "x-forwarded-for" | "x-real-ip" | "true-client-ip" | "cf-connecting-ip" => Field::Forwarded,
            ":path" | "x-envoy-original-path" => Field::Target,
            ":method" => Field::Method,
            _ => Field::Skip,
        }
    }

    /// The field of an answer that is known by this name.
    pub fn of_answer(name: &str) -> Field {
        match name.to_ascii_lowercase().as_str() {
            "content-type" => Field::ContentType,
            "cache-control" => Field::CacheControl,
            "expires" => Field::Expires,
            "x-cache" | "x-cache-status" | "cf-cache-status" => Field::Cache,
            "x-envoy-upstream-service-time" => Field::Upstream(Unit::Millis),
            _ => Field::Skip,
        }
    }
}

/// Reads the fields of a line, one after the other, into an entry of the caller's: it is large, and each hand that it went through
/// by value would copy it.
#[derive(Debug)]
pub struct Filler<'e, 'a> {
    entry: &'e mut Entry<'a>,
    parts: MomentParts,
    /// The line's time in microseconds where it came in one piece.
    time_us: Option<i64>,
    resolution: u32,
    steps: Steps,
    head: Option<u64>,
    body: Option<u64>,
    whole: Option<u64>,
    from: Option<u64>,
}

/// Memory from line to line, and what a log's times need to be understood.
#[derive(Debug, Clone, Default)]
pub struct Times {
    clf: Clf,
    /// Zone of times that name none.
    pub zone: Zone,
    /// Which end of the exchange the line's time is.
    pub edge: Edge,
    /// The format's own forms of times.
    pub own: Vec<Strftime>,
    /// A time was seen that names no zone.
    pub zone_missing: bool,
    /// Times need not lie between 1990 and 2100: a trace counts from its own beginning.
    pub relative: bool,
}

impl Times {
    /// Nothing remembered yet.
    pub fn new(zone: Zone, edge: Edge) -> Times {
        Times { zone, edge, ..Times::default() }
    }
}

impl<'e, 'a> Filler<'e, 'a> {
    /// Nothing is read yet; the entry says nothing so far.
    pub fn new(entry: &'e mut Entry<'a>) -> Filler<'e, 'a> {
        Filler {
            entry,
            parts: MomentParts::default(),
            time_us: None,
            resolution: 0,
            steps: Steps::default(),
            head: None,
            body: None,
            whole: None,
            from: None,
        }
    }

    /// Reads one field; false where it cannot be this field.
    #[inline]
    pub fn put(&mut self, field: Field, text: Text<'a>, times: &mut Times) -> bool {
        let entry = &mut *self.entry;
        let bytes = text.bytes;
        match field {
            Field::Skip => {}
            Field::Time(form) => return self.put_time(form, bytes, times),
            Field::Began(form) => {
                let Some((us, resolution)) = whole_time(form, bytes, times) else { return is_untold(bytes) };
                if entry.began.is_none_or(|before| resolution <= before.resolution) {
                    entry.began = Some(Logged { us, resolution, edge: Edge::Begin });
                }
            }
            Field::Duration(unit) => {
                return put_duration(&mut entry.duration_us, &mut self.steps.duration_ns, unit, bytes);
            }
            Field::FirstByte(unit) => {
                return put_duration(&mut entry.first_byte_us, &mut self.steps.first_byte_ns, unit, bytes);
            }
            Field::Upstream(unit) => {
                if let Some(us) = sum(unit, bytes) {
                    keep_finest(
                        &mut entry.upstream_us,
                        &mut self.steps.upstream_ns,
                        us,
                        step_ns(unit, bytes),
                    );
                }
            }
            Field::Address => return put_address(&mut entry.address, text),
            Field::AddressPort => return put_address(&mut entry.address, without_port(text)),
            Field::Forwarded => forwarded(&mut entry.address, text),
            Field::Agent => told(&mut entry.agent, text),
            Field::Connection => told(&mut entry.connection, text),
            Field::User => told(&mut entry.user, text),
            Field::Line => entry.object = Named::Line(text),
            Field::Method => told(&mut entry.method, text),
            Field::Target => name(&mut entry.object, Named::Target(text)),
            Field::Path => put_path(&mut entry.object, text),
            Field::Query => put_query(&mut entry.object, text),
            Field::Host => told(&mut entry.host, text),
            Field::Protocol => told(&mut entry.protocol, text),
            Field::Status => return put_status(&mut entry.status, bytes),
            Field::BodyBytes => return put_bytes(&mut self.body, bytes),
            Field::SentBytes => return put_bytes(&mut self.whole, bytes),
            Field::HeadBytes => return put_bytes(&mut self.head, bytes),
            Field::Size => entry.size = text::number(bytes),
            Field::Cache => return put_cache(entry, bytes),
            Field::Aborted(form) => entry.aborted |= is_aborted(form, bytes),
            Field::ContentType => told(&mut entry.content_type, text),
            Field::Range => told(&mut entry.range, text),
            Field::RangeFrom => self.from = text::number(bytes),
            Field::RangeTo => self.put_range_to(bytes),
            Field::AcceptEncoding => told(&mut entry.accept_encoding, text),
            Field::IfNoneMatch => told(&mut entry.if_none_match, text),
            Field::IfModifiedSince => told(&mut entry.if_modified_since, text),
            Field::RequestCacheControl => told(&mut entry.request_cache_control, text),
            Field::CacheControl => told(&mut entry.cache_control, text),
            Field::Expires => told(&mut entry.expires, text),
            Field::Ttl => {
                entry.ttl_s = text::millionths(bytes).and_then(|us| u64::try_from(us / moment::SECOND).ok())
            }
            Field::Cookie => told(&mut entry.cookie, text),
            Field::Number => match text::number(bytes) {
                Some(number) => entry.object = Named::Number(number),
                None => name(&mut entry.object, Named::Target(text)),
            },
        }
        true
    }

    fn put_range_to(&mut self, bytes: &[u8]) {
        if let (Some(from), Some(to)) = (self.from, text::number(bytes))
            && to >= from
        {
            self.entry.part = Some(Range { from, length: to - from + 1 });
        }
    }

    fn put_time(&mut self, form: TimeForm, bytes: &[u8], times: &mut Times) -> bool {
        match form {
            TimeForm::Date => {
                let Some(day) = date(bytes) else { return false };
                (self.parts.year, self.parts.month, self.parts.day) = day;
                // W3C logs are in UTC by definition.
                self.parts.offset = Some(0);
                true
            }
            TimeForm::Clock => {
                let end = bytes.iter().position(|byte| *byte == b'.').unwrap_or(bytes.len());
                let Some(of_day) = moment::clock(&bytes[..end]) else { return false };
                self.parts.of_day = of_day;
                moment::fraction(&bytes[end..], &mut self.parts).is_some_and(<[u8]>::is_empty)
            }
            TimeForm::Below => {
                let Some((micros, resolution)) = moment::subsecond(bytes) else { return false };
                (self.parts.micros, self.parts.resolution) = (micros, resolution);
                true
            }
            TimeForm::Own(which) => times.own[usize::from(which)].read(bytes, &mut self.parts).is_some(),
            TimeForm::Clf
            | TimeForm::Iso
            | TimeForm::Seconds
            | TimeForm::Millis
            | TimeForm::Micros
            | TimeForm::Nanos
            | TimeForm::Any => match whole_time(form, bytes, times) {
                // Of two times of a line the finer counts, wherever it stands.
                Some((us, resolution)) => {
                    if self.time_us.is_none() || resolution <= self.resolution {
                        (self.time_us, self.resolution) = (Some(us), resolution);
                    }
                    true
                }
                None => false,
            },
        }
    }

    /// Puts together what several fields told: the time, and the bytes that were sent.
    pub fn finish(self, times: &mut Times) {
        let below = self.parts.resolution;
        // Digits below a second complete a time of whole seconds; one that has finer ones of its own keeps them.
        let is_finer = below > 0 && (self.time_us.is_none() || below < self.resolution);
        let whole_us = self.time_us.map(|us| match is_finer {
            true => us - us.rem_euclid(moment::SECOND) + i64::from(self.parts.micros),
            false => us,
        });
        let resolution = if is_finer { below } else { self.resolution };
        let from_parts = || {
            times.zone_missing |= self.parts.offset.is_none() && self.parts.unix.is_none();
            self.parts.unix_us(&times.zone)
        };
        let us = whole_us.or_else(from_parts);
        let resolution = if resolution > 0 { resolution } else { WHOLE_SECONDS };
        self.entry.time = us.map(|us| Logged { us, resolution, edge: times.edge });
        self.entry.sent = match (self.whole, self.head, self.body) {
            (Some(whole), Some(head), _) => Sent::Apart { whole, head },
            (_, _, Some(body)) => Sent::Body(body),
            (Some(whole), None, None) => Sent::Whole(whole),
            (None, _, None) => Sent::Unknown,
        };
    }
}

/// Reads a time that stands in one piece: microseconds, and its finest step.
fn whole_time(form: TimeForm, bytes: &[u8], times: &mut Times) -> Option<(i64, u32)> {
    let of_parts = |parts: MomentParts, times: &mut Times| {
        times.zone_missing |= parts.offset.is_none();
        let step = if parts.resolution > 0 { parts.resolution } else { WHOLE_SECONDS };
        Some((parts.unix_us(&times.zone)?, step))
    };
    match form {
        TimeForm::Clf => {
            let bytes =
                bytes.strip_prefix(b"[").map_or(bytes, |rest| rest.strip_suffix(b"]").unwrap_or(rest));
            match times.clf.read(bytes) {
                Some(us) => Some((us, WHOLE_SECONDS)),
                None => of_parts(clf_parts(bytes)?, times),
            }
        }
        TimeForm::Iso => of_parts(moment::iso(bytes)?, times),
        TimeForm::Seconds => Some((text::millionths(bytes)?, decimals_step(bytes))),
        TimeForm::Millis => Some((text::millionths(bytes)? / 1_000, 1_000)),
        TimeForm::Micros => Some((i64::try_from(text::number(bytes)?).ok()?, 1)),
        TimeForm::Nanos => Some((i64::try_from(text::number(bytes)? / 1_000).ok()?, 1)),
        TimeForm::Any => any_time(bytes, times),
        TimeForm::Date | TimeForm::Clock | TimeForm::Below | TimeForm::Own(_) => None,
    }
}

/// Reads a time by its look: digits by their number, else ISO 8601, else CLF.
fn any_time(bytes: &[u8], times: &mut Times) -> Option<(i64, u32)> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let form = match digits {
        _ if bytes.first() == Some(&b'[') => TimeForm::Clf,
        18.. => TimeForm::Nanos,
        15..=17 => TimeForm::Micros,
        12..=14 => TimeForm::Millis,
        5..=11 => TimeForm::Seconds,
        4 => TimeForm::Iso,
        _ => TimeForm::Clf,
    };
    whole_time(form, bytes, times)
}

/// The step of so many decimals: none is a whole second.
fn decimals_step(bytes: &[u8]) -> u32 {
    let decimals = memchr::memchr(b'.', bytes).map_or(0, |dot| bytes.len() - dot - 1);
    10_u32.pow(6 - decimals.min(6) as u32)
}

/// CLF's time with decimals, or without a zone.
fn clf_parts(bytes: &[u8]) -> Option<MomentParts> {
    let day = moment::clf_date(bytes.get(..11)?)?;
    if bytes.get(11) != Some(&b':') {
        return None;
    }
    let of_day = moment::clock(bytes.get(12..20)?)?;
    let mut parts = MomentParts::default();
    let rest = moment::fraction(&bytes[20..], &mut parts)?;
    let zone = rest.strip_prefix(b" ").unwrap_or(rest);
    let offset = if zone.is_empty() { None } else { Some(moment::offset(zone)?) };
    let seconds = day + i64::from(of_day);
    match offset {
        Some(offset) => parts.unix = Some((seconds - i64::from(offset)) * moment::SECOND),
        None => {
            let (year, month, date) = civil(bytes)?;
            (parts.year, parts.month, parts.day, parts.of_day) = (year, month, date, of_day);
        }
    }
    parts.offset = offset;
    Some(parts)
}

fn civil(bytes: &[u8]) -> Option<(i64, u32, u32)> {
    let year = text::number(&bytes[7..11])? as i64;
    Some((year, moment::month(&bytes[3..6])?, text::number(&bytes[..2])? as u32))
}

/// Reads `2026-11-25`.
fn date(bytes: &[u8]) -> Option<(i64, u32, u32)> {
    let [_, _, _, _, b'-', _, _, b'-', _, _] = bytes else { return None };
    let year = text::number(&bytes[..4])? as i64;
    let month = text::number(&bytes[5..7])? as u32;
    let day = text::number(&bytes[8..])? as u32;
    moment::is_date(year, month, day).then_some((year, month, day))
}

#[inline]
fn told<'a>(slot: &mut Text<'a>, text: Text<'a>) {
    if !is_untold(text.bytes) {
        *slot = text;
    }
}

/// Reads an address: a text without blanks, since a host's name may stand there, too.
#[inline]
fn put_address<'a>(slot: &mut Text<'a>, text: Text<'a>) -> bool {
    if slot.is_empty() {
        told(slot, text);
    }
    !text.is_empty() && text.bytes.len() <= 256 && memchr::memchr2(b' ', b'"', text.bytes).is_none()
}

/// The first of a list of addresses; it stands for the client's own, which is that of a proxy then.
fn forwarded<'a>(slot: &mut Text<'a>, text: Text<'a>) {
    let end = memchr::memchr(b',', text.bytes).unwrap_or(text.bytes.len());
    told(slot, Text { bytes: text::trim(&text.bytes[..end]), ..text });
}

/// The address of `address:port`.
fn without_port(text: Text<'_>) -> Text<'_> {
    let bytes = text.bytes;
    let end = match bytes.first() {
        Some(b'[') => memchr::memchr(b']', bytes).map_or(bytes.len(), |at| at + 1),
        _ => memchr::memrchr(b':', bytes).unwrap_or(bytes.len()),
    };
    Text { bytes: &bytes[..end], ..text }
}

/// A request line tells more than what stands apart, so it stays.
fn name<'a>(slot: &mut Named<'a>, found: Named<'a>) {
    if !matches!(slot, Named::Line(_)) {
        *slot = found;
    }
}

fn put_path<'a>(slot: &mut Named<'a>, text: Text<'a>) {
    let query = match slot {
        Named::Parts(_, query) => *query,
        Named::Nothing | Named::Line(_) | Named::Target(_) | Named::Number(_) => Text::default(),
    };
    name(slot, Named::Parts(text, query));
}

fn put_query<'a>(slot: &mut Named<'a>, text: Text<'a>) {
    let bytes = text.bytes.strip_prefix(b"?").unwrap_or(text.bytes);
    let query = if is_untold(bytes) { Text::default() } else { Text { bytes, ..text } };
    match *slot {
        Named::Parts(path, _) => *slot = Named::Parts(path, query),
        Named::Nothing => *slot = Named::Parts(Text::default(), query),
        Named::Line(_) | Named::Target(_) | Named::Number(_) => {}
    }
}

#[inline]
fn put_status(slot: &mut Option<u16>, bytes: &[u8]) -> bool {
    match bytes {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            *slot = Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'));
            true
        }
        b"0" | b"-" | b"" | b"-1" => {
            *slot = Some(0);
            true
        }
        _ => false,
    }
}

#[inline]
fn put_bytes(slot: &mut Option<u64>, bytes: &[u8]) -> bool {
    match text::number(bytes) {
        Some(number) => {
            *slot = Some(number);
            true
        }
        None => {
            // CLF writes "-" for nothing; ATS and others -1 for what they do not know.
            let untold = matches!(bytes, b"-" | b"" | b"-1");
            if bytes == b"-" {
                *slot = Some(0);
            }
            untold
        }
    }
}

/// Reads a cache's word; no word has quotes in it.
fn put_cache(entry: &mut Entry<'_>, bytes: &[u8]) -> bool {
    // Servers that passed it on write "MISS, HIT" for tries one after the other; the last one answered.
    let last = bytes.rsplit(|byte| *byte == b',').next().unwrap_or(bytes);
    let told = cache_words::read(text::trim(last));
    entry.aborted |= told.aborted;
    if told.foreign {
        // A query between caches is no request of a client.
        entry.method = Text::plain(b"ICP_QUERY");
    } else if told.cache != crate::words::Cache::Untold {
        entry.cache = told.cache;
    }
    memchr::memchr(b'"', bytes).is_none()
}

fn is_aborted(form: AbortForm, bytes: &[u8]) -> bool {
    match form {
        AbortForm::Connection => bytes == b"X",
        AbortForm::Completion => bytes.is_empty(),
        AbortForm::Termination => bytes.first() == Some(&b'C'),
        AbortForm::Finish => matches!(bytes, b"INTR" | b"TIMEOUT"),
        AbortForm::Flags => bytes.split(|byte| *byte == b',').any(|flag| flag == b"DC"),
    }
}

/// The escape of a field in this dialect: addresses, numbers and times have none.
pub fn escape_of(field: Field, dialect: Escape) -> Escape {
    match field {
        Field::Agent
        | Field::User
        | Field::Line
        | Field::Target
        | Field::Path
        | Field::Query
        | Field::Host
        | Field::ContentType
        | Field::AcceptEncoding
        | Field::IfNoneMatch
        | Field::IfModifiedSince
        | Field::RequestCacheControl
        | Field::CacheControl
        | Field::Expires
        | Field::Cookie
        | Field::Range => dialect,
        Field::Skip
        | Field::Time(_)
        | Field::Began(_)
        | Field::Duration(_)
        | Field::FirstByte(_)
        | Field::Upstream(_)
        | Field::Address
        | Field::AddressPort
        | Field::Forwarded
        | Field::Connection
        | Field::Method
        | Field::Protocol
        | Field::Status
        | Field::BodyBytes
        | Field::SentBytes
        | Field::HeadBytes
        | Field::Size
        | Field::Cache
        | Field::Aborted(_)
        | Field::RangeFrom
        | Field::RangeTo
        | Field::Ttl
        | Field::Number => Escape::None,
    }
}
