//! Numbers and escapes of logs.

use crate::entry::{Escape, Text};
use std::borrow::Cow;

/// Reads a whole number; `None` for anything else.
pub fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    let mut value = 0_u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// Reads a decimal number, such as `1.250`, as millionths: 1,250,000. More than six decimals are cut off.
pub fn millionths(text: &[u8]) -> Option<i64> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let dot = memchr::memchr(b'.', text).unwrap_or(text.len());
    let whole = number(&text[..dot])?;
    let decimals = if dot < text.len() { &text[dot + 1..] } else { b"" };
    // "1.5e9" and the like come of programs that print floats.
    if decimals.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        return float_millionths(text, negative);
    }
    let mut fraction = 0;
    for place in 0..6 {
        let digit = match decimals.get(place) {
            None => 0,
            Some(byte) if byte.is_ascii_digit() => u64::from(byte - b'0'),
            Some(_) => return None,
        };
        fraction = fraction * 10 + digit;
    }
    if decimals.iter().skip(6).any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    let value = i64::try_from(whole.checked_mul(1_000_000)?.checked_add(fraction)?).ok()?;
    Some(if negative { -value } else { value })
}

fn float_millionths(text: &[u8], negative: bool) -> Option<i64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let scaled = value * 1e6;
    (scaled.is_finite() && scaled.abs() < 9e18)
        .then(|| if negative { -(scaled as i64) } else { scaled as i64 })
}

/// Takes an escaped text back to what it was. Text that is not escaped, which is nearly all, is not copied.
pub fn unescape(text: Text<'_>) -> Cow<'_, [u8]> {
    let bytes = text.bytes;
    match text.escape {
        Escape::None => Cow::Borrowed(bytes),
        Escape::Backslash if memchr::memchr(b'\\', bytes).is_some() => Cow::Owned(backslashes(bytes)),
        Escape::Json if memchr::memchr(b'\\', bytes).is_some() => Cow::Owned(json(bytes)),
        Escape::Hash if memchr::memchr(b'#', bytes).is_some() => Cow::Owned(hexed(bytes, b'#', false)),
        Escape::Plus if memchr::memchr2(b'+', b'%', bytes).is_some() => Cow::Owned(hexed(bytes, b'%', true)),
        Escape::TwicePercent if memchr::memchr(b'%', bytes).is_some() => Cow::Owned(percent_once(bytes)),
        Escape::Backslash | Escape::Json | Escape::Hash | Escape::Plus | Escape::TwicePercent => {
            Cow::Borrowed(bytes)
        }
    }
}

fn backslashes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (byte, taken) = match &bytes[at..] {
            [b'\\', b'x', high, low, ..] => match hex(*high, *low) {
                Some(byte) => (byte, 4),
                None => (b'\\', 1),
            },
            [b'\\', b'n', ..] => (b'\n', 2),
            [b'\\', b'r', ..] => (b'\r', 2),
            [b'\\', b't', ..] => (b'\t', 2),
            [b'\\', b'b', ..] => (8, 2),
            [b'\\', b'v', ..] => (11, 2),
            [b'\\', b'f', ..] => (12, 2),
            [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => (*byte, 2),
            [byte, ..] => (*byte, 1),
            [] => break,
        };
        out.push(byte);
        at += taken;
    }
    out
}

/// Reads JSON's escapes; pairs of surrogates are one character, a lone one becomes the replacement character.
fn json(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at..].starts_with(b"\\u") {
            let end = bytes.len().min(at + 2);
            let one = if bytes[at] == b'\\' { &bytes[at..end] } else { &bytes[at..=at] };
            out.extend_from_slice(&backslashes(one));
            at += one.len();
            continue;
        }
        let unit = unit(bytes, at);
        let next = at + 6;
        let low = unit_low(bytes, next);
        let (code, end) = match (unit, low) {
            (Some(high @ 0xD800..=0xDBFF), Some(low)) => (0x10000 + ((high - 0xD800) << 10) + low, next + 6),
            (Some(code), _) => (code, next),
            (None, _) => (u32::from('\u{fffd}'), at + 2),
        };
        let letter = char::from_u32(code).unwrap_or('\u{fffd}');
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        at = end;
    }
    out
}

/// The four digits after `\u` at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The lower surrogate at `at`, from 0.
fn unit_low(bytes: &[u8], at: usize) -> Option<u32> {
    unit(bytes, at).filter(|unit| (0xDC00..=0xDFFF).contains(unit)).map(|unit| unit - 0xDC00)
}

/// Takes back `%XX` or `#XX`, and `+` where it stands for a blank.
fn hexed(bytes: &[u8], mark: u8, plus: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (byte, taken) = match &bytes[at..] {
            [first, high, low, ..] if *first == mark => {
                hex(*high, *low).map_or((*first, 1), |byte| (byte, 3))
            }
            [b'+', ..] if plus => (b' ', 1),
            [byte, ..] => (*byte, 1),
            [] => break,
        };
        out.push(byte);
        at += taken;
    }
    out
}

/// Takes back `%25` alone, which leaves a URL as its client sent it.
fn percent_once(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"%25") {
        out.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 3..];
    }
    out.extend_from_slice(rest);
    out
}

/// The byte of two hexadecimal digits.
pub fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    Some((digit(high)? << 4 | digit(low)?) as u8)
}

/// Takes blanks off both ends.
pub fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

/// True of `-` and of nothing, which logs write for what they do not know.
pub fn is_untold(text: &[u8]) -> bool {
    matches!(text, b"" | b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number(b"1024"), Some(1024));
        assert_eq!(number(b""), None);
        assert_eq!(number(b"12a"), None);
        assert_eq!(number(b"99999999999999999999"), None);
        for (text, value) in [
            ("1", 1_000_000),
            ("0.25", 250_000),
            ("1066036250.603", 1_066_036_250_603_000),
            ("-1", -1_000_000),
            ("1.1234567", 1_123_456),
            ("1.5e3", 1_500_000_000),
        ] {
            assert_eq!(millionths(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["", ".", "1.x", "x", "1 2"] {
            assert_eq!(millionths(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn escapes_are_taken_back() {
        for (escape, text, plain) in [
            (Escape::None, r"a\x22", r"a\x22"),
            (Escape::Backslash, r#"a\x22\"\\\tb"#, "a\"\"\\\tb"),
            (Escape::Backslash, r"a\xzz\", r"a\xzz\"),
            (Escape::Json, r#"\u0026\/\ud83d\ude00\"x"#, "&/\u{1f600}\"x"),
            (Escape::Json, r"\ud83dx\u", "\u{fffd}x\u{fffd}"),
            (Escape::Hash, "a#20b#zz", "a b#zz"),
            (Escape::Plus, "Mozilla/5.0+(X11)%2B", "Mozilla/5.0 (X11)+"),
            (Escape::TwicePercent, "/a%2520b%20", "/a%20b%20"),
        ] {
            assert_eq!(&*unescape(Text { bytes: text.as_bytes(), escape }), plain.as_bytes(), "{text}");
        }
    }
}
