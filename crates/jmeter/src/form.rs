//! `application/x-www-form-urlencoded` as Java's URLEncoder and URLDecoder have it.

use std::fmt::Write;

/// A text in UTF-8, encoded.
pub(crate) fn encode(text: &str) -> String {
    encode_bytes(text.as_bytes())
}

/// Letters, digits and `.-*_` stay, a space is `+`, all else `%XX`.
pub(crate) fn encode_bytes(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                encoded.push(char::from(byte))
            }
            b' ' => encoded.push('+'),
            other => write!(encoded, "%{other:02X}").expect("a String takes all"),
        }
    }
    encoded
}

/// The text that was encoded; what is no `%XX` stays.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match (bytes[at], hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
