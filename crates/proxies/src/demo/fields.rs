//! Header fields: what is not passed on, what a condition or a range asks for. Pure.

use std::ops::Range;

use hyper::HeaderMap;
use hyper::Version;
use hyper::header::{self, HeaderName, HeaderValue};

/// Our entry in Via.
const VIA: HeaderValue = HeaderValue::from_static("1.1 wringer-demo");

const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// Fields for one connection only (RFC 9110 section 7.6.1), besides those that Connection names.
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    PROXY_CONNECTION,
];

/// Fields that ask for less than the whole object.
const PARTIAL: [HeaderName; 4] =
    [header::RANGE, header::IF_RANGE, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE];

/// Fields of a stored answer that a 304 leaves alone: they describe the stored bytes (RFC 9111 section 3.2).
const OF_THE_BODY: [HeaderName; 3] =
    [header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::CONTENT_RANGE];

/// Leaves the fields that are meant for the other end, and adds ourselves to those who passed them on.
pub(super) fn pass_on(fields: &mut HeaderMap) {
    let named: Vec<HeaderName> =
        list(fields, &header::CONNECTION).filter_map(|name| name.parse().ok()).collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        fields.remove(name);
    }
    fields.append(header::VIA, VIA);
}

/// Removes what asks for a part of an object, or for the object on a condition.
pub(super) fn ask_for_whole(fields: &mut HeaderMap) {
    for name in &PARTIAL {
        fields.remove(name);
    }
}

/// True if this HTTP/1.0 request wants its connection kept in the manner of clients of proxies only.
pub(super) fn is_kept_by_proxy_connection(version: Version, fields: &HeaderMap) -> bool {
    version == Version::HTTP_10
        && !fields.contains_key(header::CONNECTION)
        && list(fields, &PROXY_CONNECTION).any(|option| option.eq_ignore_ascii_case("keep-alive"))
}

/// Says that the connection stays open.
pub(super) fn keep_connection(fields: &mut HeaderMap) {
    fields.insert(header::CONNECTION, HeaderValue::from_static("keep-alive"));
}

/// The names that Vary lists; `None` where it says that no other request will do (RFC 9110 section 12.5.5).
pub(super) fn selecting(fields: &HeaderMap) -> Option<Vec<HeaderName>> {
    let mut names: Vec<HeaderName> = list(fields, &header::VARY)
        .map(|name| name.parse().ok().filter(|_| name != "*"))
        .collect::<Option<_>>()?;
    names.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
    names.dedup();
    Some(names)
}

/// Replaces fields of a stored answer by those of a 304 (RFC 9111 section 3.2). The old age is over in any case.
pub(super) fn update(stored: &mut HeaderMap, unchanged: &HeaderMap) {
    stored.remove(header::AGE);
    for name in unchanged.keys().filter(|name| !OF_THE_BODY.contains(name)) {
        stored.remove(name);
        for value in unchanged.get_all(name) {
            stored.append(name, value.clone());
        }
    }
}

/// True if a client that asks with these conditions has the stored answer already (RFC 9110 section 13.2.2).
pub(super) fn is_unchanged(asked: &HeaderMap, stored: &HeaderMap) -> bool {
    if asked.contains_key(header::IF_NONE_MATCH) {
        let tag = text(stored, &header::ETAG).map(opaque);
        return list(asked, &header::IF_NONE_MATCH)
            .any(|element| element == "*" || Some(opaque(element)) == tag);
    }
    let since = text(asked, &header::IF_MODIFIED_SINCE).and_then(moment);
    let modified = text(stored, &header::LAST_MODIFIED).and_then(moment);
    matches!((modified, since), (Some(modified), Some(since)) if modified <= since)
}

/// Which bytes of a stored answer are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldSpan {
    Whole,
    Part(Range<usize>),
    Unsatisfiable,
}

/// Returns the span that the Range of a request means for a body of `length` bytes. Several ranges at once, other units
/// and mistakes are answered by the whole, as RFC 9110 section 14.2 allows.
pub(super) fn span(asked: &HeaderMap, stored: &HeaderMap, length: usize) -> FieldSpan {
    let range = text(asked, &header::RANGE).filter(|_| if_range_holds(asked, stored));
    let bounds = range.and_then(|range| range.strip_prefix("bytes=")?.trim().split_once('-'));
    let Some((first, last)) = bounds else { return FieldSpan::Whole };
    match (position(first), position(last)) {
        (Some(first), Some(last)) if first <= last => part(first, last.saturating_add(1), length),
        (Some(first), None) if last.is_empty() => part(first, length, length),
        (None, Some(count)) if first.is_empty() => part(length.saturating_sub(count), length, length),
        _ => FieldSpan::Whole,
    }
}

fn part(from: usize, to: usize, length: usize) -> FieldSpan {
    let to = to.min(length);
    if from < to { FieldSpan::Part(from..to) } else { FieldSpan::Unsatisfiable }
}

/// Digits as a number; one too large for us lies behind any end.
fn position(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

/// RFC 9110 section 13.1.5. Only an exact match will do; dates are weak when the object may change twice a second,
/// which we cannot know, so that they are not taken.
fn if_range_holds(asked: &HeaderMap, stored: &HeaderMap) -> bool {
    match text(asked, &header::IF_RANGE) {
        None => !asked.contains_key(header::IF_RANGE),
        Some(tag) => tag.starts_with('"') && text(stored, &header::ETAG) == Some(tag),
    }
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// A date of the preferred format (RFC 9110 section 5.6.7) as something that sorts by time: year, month, day, time.
/// Dates of the two obsolete formats do not match, which costs a client its 304 and no more.
fn moment(date: &str) -> Option<(&str, usize, &str, &str)> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = MONTHS.find(date.get(8..11)?).filter(|place| place % 3 == 0)?;
    let is_fixed = date.len() == 29 && date.ends_with(" GMT");
    is_fixed.then_some((date.get(12..16)?, month, date.get(5..7)?, date.get(17..25)?))
}

fn text<'a>(fields: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    fields.get(name)?.to_str().ok().map(str::trim)
}

/// The elements of a field that is a list, from all its lines. Entity tags with commas fall apart into pieces that match
/// nothing.
fn list<'a>(fields: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = fields.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let line = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        lines.iter().map(line).fold(HeaderMap::new(), |mut fields, (name, value)| {
            fields.append(name, value);
            fields
        })
    }

    #[test]
    fn fields_of_one_hop_stay_behind() {
        let mut fields = map(&[
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("transfer-encoding", "chunked"),
            ("via", "1.0 other"),
            ("wringer", "1"),
        ]);
        pass_on(&mut fields);
        assert_eq!(fields, map(&[("via", "1.0 other"), ("wringer", "1"), ("via", "1.1 wringer-demo")]));
    }

    #[test]
    fn ranges() {
        let check = |range: &'static str, expected: FieldSpan| {
            assert_eq!(span(&map(&[("range", range)]), &HeaderMap::new(), 100), expected, "{range}");
        };
        check("bytes=0-9", FieldSpan::Part(0..10));
        check("bytes=90-", FieldSpan::Part(90..100));
        check("bytes=90-400", FieldSpan::Part(90..100));
        check("bytes=-10", FieldSpan::Part(90..100));
        check("bytes=-400", FieldSpan::Part(0..100));
        check("bytes=5-99999999999999999999999", FieldSpan::Part(5..100));
        check("bytes=100-", FieldSpan::Unsatisfiable);
        check("bytes=-0", FieldSpan::Unsatisfiable);
        for whole in ["bytes=9-3", "bytes=0-1,5-6", "bytes=-", "bytes=a-b", "bytes=+1-2", "lines=1-2", ""] {
            check(whole, FieldSpan::Whole);
        }
    }

    #[test]
    fn if_range_wants_the_same_strong_tag() {
        let stored = map(&[("etag", "\"a\"")]);
        let check = |condition: &'static str, expected: FieldSpan| {
            let asked = map(&[("range", "bytes=1-2"), ("if-range", condition)]);
            assert_eq!(span(&asked, &stored, 10), expected, "{condition}");
        };
        check("\"a\"", FieldSpan::Part(1..3));
        check("\"b\"", FieldSpan::Whole);
        check("W/\"a\"", FieldSpan::Whole);
        check("Mon, 01 Jan 2024 00:00:00 GMT", FieldSpan::Whole);
    }

    #[test]
    fn conditions() {
        let stored = map(&[("etag", "W/\"a\""), ("last-modified", "Tue, 06 Feb 2024 08:49:37 GMT")]);
        let check = |asked: &[(&'static str, &'static str)], expected: bool| {
            assert_eq!(is_unchanged(&map(asked), &stored), expected, "{asked:?}");
        };
        check(&[], false);
        check(&[("if-none-match", "\"a\"")], true);
        check(&[("if-none-match", "\"x\", W/\"a\"")], true);
        check(&[("if-none-match", "*")], true);
        check(&[("if-none-match", "\"b\"")], false);
        check(&[("if-modified-since", "Tue, 06 Feb 2024 08:49:37 GMT")], true);
        check(&[("if-modified-since", "Fri, 01 Mar 2024 00:00:00 GMT")], true);
        check(&[("if-modified-since", "Wed, 31 Jan 2024 23:59:59 GMT")], false);
        check(&[("if-modified-since", "Tuesday, 06-Feb-24 08:49:37 GMT")], false);
        check(&[("if-none-match", "\"b\""), ("if-modified-since", "Fri, 01 Mar 2024 00:00:00 GMT")], false);
    }

    #[test]
    fn vary_is_a_set_of_names() {
        let names = selecting(&map(&[("vary", "X-Variant, Accept"), ("vary", "accept")])).expect("no star");
        assert_eq!(names, ["accept", "x-variant"]);
        assert_eq!(selecting(&HeaderMap::new()), Some(Vec::new()));
        assert_eq!(selecting(&map(&[("vary", "Accept, *")])), None);
    }

    #[test]
    fn a_304_replaces_fields_but_not_those_of_the_body() {
        let mut stored = map(&[("wringer", "old"), ("content-length", "9"), ("age", "7"), ("etag", "\"a\"")]);
        update(&mut stored, &map(&[("wringer", "new"), ("content-length", "0"), ("x-more", "1")]));
        let expected =
            map(&[("content-length", "9"), ("etag", "\"a\""), ("wringer", "new"), ("x-more", "1")]);
        assert_eq!(stored, expected);
    }
}
