//! The byte order mark that editors of Windows write in front of UTF-8: no list begins with it.

const MARK: &[u8] = "\u{feff}".as_bytes();

/// A list's text behind its byte order mark.
pub fn behind(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A list's bytes behind its byte order mark.
pub fn behind_bytes(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}
