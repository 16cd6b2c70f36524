//! Names for what the parser of heads refuses, which says no more than which part it met: the bytes are looked at once more.
//!
//! On the cold path. The answer must not depend on how the bytes were cut, so where more of a line decides, it is waited for.

use super::head::field_limit;
use super::{Error, Http1Limits};
use breach::Http1;

/// Bytes of the header of a frame of HTTP/2 (RFC 9113 section 4.1).
const FRAME_HEADER: usize = 9;
/// Types of TLS records (RFC 8446 section 5.1): change_cipher_spec, alert, handshake, application_data.
const TLS_RECORDS: std::ops::RangeInclusive<u8> = 0x14..=0x17;

/// Name of what is wrong with an answer's head, which begins `bytes`; `None`: more of it decides, unless it is `cut` there.
#[cold]
pub(super) fn of_response(
    error: httparse::Error,
    bytes: &[u8],
    limits: &Http1Limits,
    cut: bool,
) -> Option<Error> {
    Some(match error {
        httparse::Error::Version => return of_first_bytes(bytes, cut).map(Error::from),
        httparse::Error::Status => of_status_line(bytes).into(),
        httparse::Error::TooManyHeaders => Error::limit(Http1::FieldsLimit, field_limit(limits)),
        httparse::Error::HeaderName
        | httparse::Error::HeaderValue
        | httparse::Error::NewLine
        | httparse::Error::Token => return of_fields(bytes, true, cut).map(Error::from),
    })
}

/// Name of what is wrong with a request's head, of which so much was understood.
#[cold]
pub(super) fn of_request(
    error: httparse::Error,
    request: &httparse::Request<'_, '_>,
    bytes: &[u8],
    limits: &Http1Limits,
    cut: bool,
) -> Option<Error> {
    Some(match error {
        httparse::Error::Token if request.method.is_some() => Http1::Target.into(),
        httparse::Error::Token if bytes.first().is_some_and(|byte| TLS_RECORDS.contains(byte)) => {
            Http1::IsTls.into()
        }
        httparse::Error::Token if begins_like_method(bytes) => Http1::Method.into(),
        httparse::Error::Token => Http1::NotHttp.into(),
        httparse::Error::Version if bytes.starts_with(b"PRI * HTTP/2") => Http1::IsHttp2.into(),
        httparse::Error::Version => of_version(after_target(request, bytes)).into(),
        httparse::Error::NewLine if !request_line_ends(request, bytes) => Http1::Version.into(),
        httparse::Error::TooManyHeaders => Error::limit(Http1::FieldsLimit, field_limit(limits)),
        httparse::Error::HeaderName
        | httparse::Error::HeaderValue
        | httparse::Error::NewLine
        | httparse::Error::Status => return of_fields(bytes, false, cut).map(Error::from),
    })
}

/// Name of an answer's first bytes, which are no version that is spoken.
fn of_first_bytes(bytes: &[u8], cut: bool) -> Option<Http1> {
    if bytes.starts_with(b"HTTP/") {
        return Some(of_version(bytes));
    }
    if bytes.first().is_some_and(|byte| TLS_RECORDS.contains(byte)) {
        return Some(Http1::IsTls);
    }
    match may_be_settings(bytes) {
        true if bytes.len() >= FRAME_HEADER => Some(Http1::IsHttp2),
        true if !cut => None,
        true | false => Some(Http1::NotHttp),
    }
}

/// True if the bytes are, or begin, the header of a SETTINGS frame of HTTP/2 (RFC 9113 section 6.5): of stream 0, not long.
fn may_be_settings(bytes: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        0 | 1 | 5..=8 => *byte == 0,
        3 => *byte == 4,
        _ => true,
    };
    bytes.iter().enumerate().take(FRAME_HEADER).all(fits)
}

/// `HTTP/1.2` to `HTTP/1.9`, or another version, or none.
fn of_version(bytes: &[u8]) -> Http1 {
    match bytes.strip_prefix(b"HTTP/1.") {
        Some([b'2'..=b'9', ..]) => Http1::MinorVersion,
        Some(_) | None => Http1::Version,
    }
}

/// The status is there, and wrong: digits that are none, or a reason with control characters.
fn of_status_line(bytes: &[u8]) -> Http1 {
    let after_version = bytes.get(b"HTTP/1.1".len()..).unwrap_or_default();
    match after_version {
        [b' ', a, b, c, b' ' | b'\r' | b'\n', ..] if [a, b, c].iter().all(|digit| digit.is_ascii_digit()) => {
            Http1::Reason
        }
        _ => Http1::StatusLine,
    }
}

/// Name of the first field line that is none; the first line of the head is good. `folds`: values may go over several lines.
fn of_fields(bytes: &[u8], folds: bool, cut: bool) -> Option<Http1> {
    for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate().skip(1) {
        let (text, is_whole) = match line.strip_suffix(b"\n") {
            Some(text) => (text.strip_suffix(b"\r").unwrap_or(text), true),
            None if cut => (line, true),
            // An LF may follow a CR.
            None => (line.strip_suffix(b"\r").unwrap_or(line), false),
        };
        match of_field(text, at == 1, folds) {
            None if is_whole => {}
            // What stands behind the blank, or the CR, decides.
            None | Some(Http1::FieldWithoutColon) if !is_whole => return None,
            found => return found,
        }
    }
    Some(Http1::FieldValue)
}

/// Name of what is wrong with one field line; `None`: nothing.
fn of_field(line: &[u8], is_first: bool, folds: bool) -> Option<Http1> {
    if line.is_empty() {
        return None;
    }
    if matches!(line[0], b' ' | b'\t') {
        return match (is_first, folds) {
            (true, _) => Some(Http1::SpaceBeforeFields),
            (false, true) => of_value(line),
            (false, false) => Some(Http1::Folded),
        };
    }
    let name = line.iter().position(|byte| !is_token(*byte)).unwrap_or(line.len());
    let rest = &line[name..];
    match rest.first() {
        Some(b':') if name == 0 => return Some(Http1::FieldWithoutName),
        Some(b':') => {}
        Some(b' ' | b'\t') => {
            let rest = rest.trim_ascii_start();
            let is_name = rest.first() == Some(&b':');
            return Some(match is_name {
                true => Http1::SpaceBeforeColon,
                false if rest.contains(&b':') => Http1::FieldName,
                false => Http1::FieldWithoutColon,
            });
        }
        Some(b'\r') => return Some(Http1::BareCr),
        Some(_) => return Some(Http1::FieldName),
        // The whole line is a name.
        None => return Some(Http1::FieldWithoutColon),
    }
    of_value(rest)
}

/// Name of what is wrong with a value; `None`: nothing.
fn of_value(value: &[u8]) -> Option<Http1> {
    let wrong = value.iter().find(|byte| byte.is_ascii_control() && **byte != b'\t')?;
    Some(if *wrong == b'\r' { Http1::BareCr } else { Http1::FieldValue })
}

/// RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// True if somebody may have meant HTTP: methods in use are letters, a binary protocol's first byte is none.
fn begins_like_method(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
}

/// The request line behind the target and the blank after it.
fn after_target<'b>(request: &httparse::Request<'_, '_>, bytes: &'b [u8]) -> &'b [u8] {
    let method = request.method.unwrap_or_default();
    let target = request.path.unwrap_or_default();
    bytes.get(method.len() + target.len() + " ".len() * 2..).unwrap_or_default()
}

/// True if the line ends after the version; the parser has one error for this and for a CR astray in the fields.
fn request_line_ends(request: &httparse::Request<'_, '_>, bytes: &[u8]) -> bool {
    let rest = after_target(request, bytes).get(b"HTTP/1.1".len()..);
    rest.is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))
}

/// The line of a head that a breach is about; the first one where none can be told.
pub(super) fn line_at_fault(breach: Http1, head: &[u8]) -> &[u8] {
    let lines = || head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let named = |name: &str| {
        let is_it = |line: &&[u8]| {
            line.len() > name.len()
                && line[..name.len()].eq_ignore_ascii_case(name.as_bytes())
                && line[name.len()] == b':'
        };
        lines().rfind(is_it)
    };
    let of_length = matches!(breach, Http1::ContentLength | Http1::ContentLengths);
    let of_coding = matches!(
        breach,
        Http1::LengthAndChunked
            | Http1::TransferCoding
            | Http1::NoTransferCoding
            | Http1::ChunkedNotLast
            | Http1::ChunkedTwice
            | Http1::ChunkedInHttp10
    );
    let mut fields = lines().enumerate().skip(1);
    let found = match () {
        () if of_length => named("content-length"),
        () if of_coding => named("transfer-encoding"),
        () => fields
            .find(|(at, line)| of_field(line, *at == 1, breach != Http1::Folded) == Some(breach))
            .map(|(_, line)| line),
    };
    found.or_else(|| lines().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_line_has_the_name_of_what_is_wrong_with_it() {
        #[track_caller]
        fn check(line: &str, named: Option<Http1>) {
            assert_eq!(of_field(line.as_bytes(), false, false), named, "{line:?}");
        }
        check("", None);
        check("A: b", None);
        check("A:", None);
        check("A: b\tc\u{e9}", None);
        check("words of a script", Some(Http1::FieldWithoutColon));
        check("Server", Some(Http1::FieldWithoutColon));
        check("two words: b", Some(Http1::FieldName));
        check("\"A: b\"", Some(Http1::FieldName));
        check("A\u{1}: b", Some(Http1::FieldName));
        check(": b", Some(Http1::FieldWithoutName));
        check("A : b", Some(Http1::SpaceBeforeColon));
        check("A\t: b", Some(Http1::SpaceBeforeColon));
        check(" b", Some(Http1::Folded));
        check("A: b\rc", Some(Http1::BareCr));
        check("A: b\0", Some(Http1::FieldValue));
        check("A: b\u{7f}", Some(Http1::FieldValue));
        assert_eq!(of_field(b" b\0", false, true), Some(Http1::FieldValue));
        assert_eq!(of_field(b"\tb", true, true), Some(Http1::SpaceBeforeFields));
    }

    #[test]
    fn a_server_of_http_2_is_told_from_other_binary_protocols() {
        let settings = [0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 3];
        for cut in 1..FRAME_HEADER {
            assert_eq!(of_first_bytes(&settings[..cut], false), None, "{cut} bytes");
            assert_eq!(of_first_bytes(&settings[..cut], true), Some(Http1::NotHttp));
        }
        assert_eq!(of_first_bytes(&settings, false), Some(Http1::IsHttp2));
        assert_eq!(of_first_bytes(&[0, 0, 12, 5], false), Some(Http1::NotHttp));
        assert_eq!(of_first_bytes(b"<html>", false), Some(Http1::NotHttp));
        assert_eq!(of_first_bytes(&[0x15], false), Some(Http1::IsTls));
    }
}
