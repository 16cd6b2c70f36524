//! Encodings of what a sampler sends: texts → bytes as Java has them. What an encoding has no bytes for becomes `?`.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// An encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    /// Each character is the byte of its number: up to 127, or up to 255.
    Bytes {
        most: u8,
    },
    /// Two bytes for each unit of UTF-16. `marked`: a byte order mark stands first.
    Utf16 {
        little: bool,
        marked: bool,
    },
    Other(&'static Encoding),
}

impl Charset {
    /// By its name; `None` for a name that nobody knows.
    pub fn named(name: &str) -> Option<Charset> {
        let lower = name.trim().to_ascii_lowercase();
        Some(match lower.as_str() {
            "" => Charset::Utf8,
            "us-ascii" | "ascii" => Charset::Bytes { most: 0x7F },
            "iso-8859-1" | "iso8859-1" | "iso8859_1" | "latin1" => Charset::Bytes { most: 0xFF },
            "utf-16" => Charset::Utf16 { little: false, marked: true },
            _ => match Encoding::for_label(lower.as_bytes())? {
                found if found == UTF_8 => Charset::Utf8,
                found if found == UTF_16BE => Charset::Utf16 { little: false, marked: false },
                found if found == UTF_16LE => Charset::Utf16 { little: true, marked: false },
                // Labels of Latin-1 are those of this one, too; what is left are its own.
                found if found == WINDOWS_1252 && !is_windows(&lower) => Charset::Bytes { most: 0xFF },
                found => Charset::Other(found),
            },
        })
    }

    /// The bytes of a text.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Charset::Utf8 => text.as_bytes().to_vec(),
            Charset::Bytes { most } => {
                let byte = |char: char| u8::try_from(u32::from(char)).ok().filter(|byte| *byte <= most);
                text.chars().map(|char| byte(char).unwrap_or(b'?')).collect()
            }
            Charset::Utf16 { little, marked } => {
                let mark = marked.then_some(0xFEFF);
                let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
                mark.into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
            }
            Charset::Other(encoding) => match encoding.encode(text) {
                (bytes, _, false) => bytes.into_owned(),
                (_, _, true) => text.chars().flat_map(|char| one(encoding, char)).collect(),
            },
        }
    }
}

fn one(encoding: &'static Encoding, char: char) -> Vec<u8> {
    let mut buffer = [0; 4];
    match encoding.encode(char.encode_utf8(&mut buffer)) {
        (bytes, _, false) => bytes.into_owned(),
        (_, _, true) => b"?".to_vec(),
    }
}

fn is_windows(name: &str) -> bool {
    name.contains("1252")
}

/// The name that Java writes for an encoding into Content-Type, whatever was typed.
pub(crate) fn java_name(name: &str) -> String {
    let typed = name.trim();
    let lower = typed.to_ascii_lowercase();
    let known = match lower.as_str() {
        "" | "utf8" | "utf-8" => "UTF-8",
        "ascii" | "us-ascii" => "US-ASCII",
        "latin1" | "iso8859-1" | "iso8859_1" => "ISO-8859-1",
        "big5" => "Big5",
        "sjis" | "shift_jis" | "shift-jis" => "Shift_JIS",
        "cp1250" => "windows-1250",
        "cp1251" => "windows-1251",
        "cp1252" => "windows-1252",
        windows if windows.starts_with("windows-") => return lower,
        _ => return typed.to_ascii_uppercase(),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_bytes_of_their_encoding() {
        for (name, text, bytes) in [
            ("", "é", &b"\xc3\xa9"[..]),
            ("GB2312", "中文", b"\xd6\xd0\xce\xc4"),
            ("gbk", "{€}", b"{\x80}"),
            ("Big5", "中", b"\xa4\xa4"),
            ("iso-8859-1", "é€", b"\xe9?"),
            ("latin1", "é", b"\xe9"),
            ("windows-1252", "€", b"\x80"),
            ("us-ascii", "aé", b"a?"),
            ("shift_jis", "日", b"\x93\xfa"),
            ("euc-kr", "한x😀", b"\xc7\xd1x?"),
            ("UTF-16", "a", b"\xfe\xff\0a"),
            ("utf-16le", "a", b"a\0"),
        ] {
            assert_eq!(
                Charset::named(name).map(|charset| charset.encode(text)).as_deref(),
                Some(bytes),
                "{name}"
            );
        }
        assert_eq!(Charset::named("klingon"), None);
    }

    #[test]
    fn names_are_those_that_java_writes() {
        for (typed, written) in [
            ("gb2312", "GB2312"),
            ("big5", "Big5"),
            ("utf8", "UTF-8"),
            ("iso-8859-15", "ISO-8859-15"),
            ("Windows-1251", "windows-1251"),
            ("latin1", "ISO-8859-1"),
        ] {
            assert_eq!(java_name(typed), written);
        }
    }
}
