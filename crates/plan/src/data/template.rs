//! Templates: text with placeholders such as `{{id}}`, taken apart.
//!
//! `\{{` stands for two braces. Behind a bar a placeholder says how its value is written: `{{id|url}}`, `{{id|json}}`,
//! `{{id|path}}`, `{{id|form}}`, `{{id|raw}}`; without one it is percent-encoded in a URL, kept to one line in a header field, and raw in a body.

use crate::address::{Address, UrlFault};
use crate::masked::Masked;
use std::borrow::Cow;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePiece {
    /// Bytes that stay.
    Text(Vec<u8>),
    /// A value.
    Value {
        /// Its name.
        name: String,
        /// How it is written.
        encode: Encode,
    },
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encode {
    /// As it is.
    Raw,
    /// As it is, but for line ends and NUL, which become spaces.
    Line,
    /// Percent-encoded but for RFC 3986's unreserved characters.
    Url,
    /// As it stands between the quotes of a JSON string (RFC 8259 section 7).
    Json,
    /// As a path or query: as it is, but for blanks, control characters and what is no ASCII, which are percent-encoded.
    Path,
    /// As `application/x-www-form-urlencoded`: letters, digits and `.-*_` as they are, a blank as `+`, others percent-encoded.
    Form,
}

const OPEN: &[u8] = b"{{";

/// True if there is a placeholder, or something that begins like one.
pub fn is_template(text: &[u8]) -> bool {
    find(text, OPEN).is_some()
}

/// Text that means just these bytes.
pub fn escape(bytes: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, OPEN) {
        escaped.extend_from_slice(&rest[..at]);
        escaped.extend_from_slice(b"\\{{");
        rest = &rest[at + 2..];
    }
    escaped.extend_from_slice(rest);
    escaped
}

/// Takes a text apart. `encode`: how values are written where a placeholder does not say.
///
/// # Errors
/// A placeholder without end or without name, in words.
pub fn pieces(text: &[u8], encode: Encode) -> Result<Vec<TemplatePiece>, String> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut rest = text;
    while let Some(at) = find(rest, OPEN) {
        if rest[..at].ends_with(b"\\") {
            plain.extend_from_slice(&rest[..at - 1]);
            plain.extend_from_slice(OPEN);
            rest = &rest[at + 2..];
            continue;
        }
        plain.extend_from_slice(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = find(inside, b"}}").ok_or_else(|| unfinished(&rest[at..]))?;
        if !plain.is_empty() {
            pieces.push(TemplatePiece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(value(&inside[..end], encode)?);
        rest = &inside[end + 2..];
    }
    plain.extend_from_slice(rest);
    if !plain.is_empty() {
        pieces.push(TemplatePiece::Text(plain));
    }
    Ok(pieces)
}

fn unfinished(text: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(text).chars().take(20).collect();
    format!("'{shown}' has no }}}}: write \\{{{{ for braces that stand for themselves")
}

fn value(inside: &[u8], otherwise: Encode) -> Result<TemplatePiece, String> {
    let text = String::from_utf8_lossy(inside);
    // In quotes, the name of a column may have a bar.
    let quoted = text.rfind('"').map_or(0, |at| at + 1);
    let bar = text[quoted..].find('|').map(|at| quoted + at);
    let (name, encode) = match bar.map(|at| (&text[..at], &text[at + 1..])) {
        None => (text.as_ref(), otherwise),
        Some((name, "raw")) => (name, Encode::Raw),
        Some((name, "url")) => (name, Encode::Url),
        Some((name, "json")) => (name, Encode::Json),
        Some((name, "path")) => (name, Encode::Path),
        Some((name, "form")) => (name, Encode::Form),
        Some((_, other)) => {
            return Err(format!("'{{{{{text}}}}}': {other} is not raw, url, path, form or json"));
        }
    };
    let name = name.trim();
    if !is_placeholder_name(name) {
        return Err(format!(
            "'{{{{{text}}}}}' is no placeholder: give a name such as {{{{id}}}}, or write \\{{{{ for braces"
        ));
    }
    Ok(TemplatePiece::Value { name: name.to_owned(), encode })
}

/// True for the name of a value, or of one column of a file, whose name is anybody's: `users.Order No.`, `users."a|b"`.
fn is_placeholder_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+".contains(&byte);
    let is_of_file =
        |file: &str| !file.is_empty() && file.bytes().all(|byte| byte != b'.' && byte != b':' && good(byte));
    let has_column = name.split_once('.').is_some_and(|(file, column)| {
        is_of_file(file) && !column.trim_matches('"').is_empty() && !column.contains(['{', '}', '\r', '\n'])
    });
    has_column || !name.is_empty() && name.bytes().all(good)
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

impl Encode {
    /// Writes a piece of a value.
    #[inline]
    pub fn write(self, bytes: &[u8], to: &mut Vec<u8>) {
        match self {
            Encode::Raw => to.extend_from_slice(bytes),
            Encode::Line => to.extend(bytes.iter().map(|byte| match byte {
                b'\r' | b'\n' | 0 => b' ',
                other => *other,
            })),
            Encode::Url => bytes.iter().for_each(|byte| match byte {
                b'-' | b'.' | b'_' | b'~' => to.push(*byte),
                byte if byte.is_ascii_alphanumeric() => to.push(*byte),
                byte => percent(*byte, to),
            }),
            Encode::Path => bytes.iter().for_each(|byte| match byte {
                b'!'..=b'~' => to.push(*byte),
                byte => percent(*byte, to),
            }),
            Encode::Form => bytes.iter().for_each(|byte| match byte {
                b'.' | b'-' | b'*' | b'_' => to.push(*byte),
                b' ' => to.push(b'+'),
                byte if byte.is_ascii_alphanumeric() => to.push(*byte),
                byte => percent(*byte, to),
            }),
            Encode::Json => bytes.iter().for_each(|byte| match byte {
                b'"' | b'\\' => to.extend([b'\\', *byte]),
                byte if *byte < 0x20 => {
                    to.extend_from_slice(b"\\u00");
                    to.extend([digit(byte >> 4), digit(byte & 15)]);
                }
                byte => to.push(*byte),
            }),
        }
    }
}

fn percent(byte: u8, to: &mut Vec<u8>) {
    to.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
}

fn digit(value: u8) -> u8 {
    b"0123456789ABCDEF"[usize::from(value)]
}

/// A URL with placeholders, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateAddress {
    /// Where it leads; its text and path have words in place of the values.
    pub address: Address,
    /// Path and query.
    pub path: Vec<TemplatePiece>,
    /// All of it.
    pub text: Vec<TemplatePiece>,
}

impl TemplateAddress {
    /// Takes a URL apart. Host and port are fixed: connections are made before values are drawn.
    ///
    /// # Errors
    /// No URL, a placeholder in the host, or a broken one, in words.
    pub fn parse(url: &str) -> Result<TemplateAddress, String> {
        let pieces = pieces(url.trim().as_bytes(), Encode::Url)?;
        let word = word_for(url);
        let mut values = Vec::new();
        let mut plain = String::new();
        for piece in pieces {
            match piece {
                TemplatePiece::Text(text) => plain += &String::from_utf8_lossy(&text),
                value @ TemplatePiece::Value { .. } => {
                    plain += &word;
                    values.push(value);
                }
            }
        }
        let mut address = Address::parse(&plain).ok_or_else(|| UrlFault::of_template(url).to_string())?;
        if address.authority.contains(&word) {
            let shown = Masked::address(url);
            return Err(format!("'{shown}' has a placeholder in its host: give one URL for each host"));
        }
        let filled = |text: &str| {
            let mut pieces: Vec<TemplatePiece> = Vec::new();
            for (nth, part) in text.split(&word).enumerate() {
                pieces.extend(nth.checked_sub(1).and_then(|nth| values.get(nth)).cloned());
                if !part.is_empty() {
                    pieces.push(TemplatePiece::Text(part.into()));
                }
            }
            pieces
        };
        // A value behind '#' is not sent, so it is missing in both.
        let path = filled(&address.path);
        let text = filled(&address.text);
        // People see the placeholders, and no word that stands for them.
        address.text = text.iter().map(TemplatePiece::typed).collect();
        Ok(TemplateAddress { address, path, text })
    }
}

impl TemplatePiece {
    /// As it was typed, but for its encoding.
    fn typed(&self) -> Cow<'_, str> {
        match self {
            TemplatePiece::Text(text) => String::from_utf8_lossy(text),
            TemplatePiece::Value { name, .. } => format!("{{{{{name}}}}}").into(),
        }
    }
}

/// A word that the text does not contain and that a URL keeps as it is.
fn word_for(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    // One of so many words is missing in any text that is shorter than all of them together.
    (0..=text.len()).map(|nth| format!("zq{nth}q")).find(|word| !lower.contains(word)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(pieces: &[TemplatePiece]) -> String {
        let shown = pieces.iter().map(|piece| match piece {
            TemplatePiece::Text(text) => String::from_utf8_lossy(text).into_owned(),
            TemplatePiece::Value { name, encode } => format!("<{name} {encode:?}>"),
        });
        shown.collect()
    }

    #[test]
    fn texts_are_taken_apart() {
        for (text, expected) in [
            ("", ""),
            ("plain } }} {", "plain } }} {"),
            ("{{a}}", "<a Raw>"),
            ("x{{ a.b }}{{c|url}}y", "x<a.b Raw><c Url>y"),
            ("\\{{a}} {{b|json}}", "{{a}} <b Json>"),
            ("{{int:-1..9|raw}}", "<int:-1..9 Raw>"),
            ("{{u.User Name}}{{ u.Order No. |url}}", "<u.User Name Raw><u.Order No. Url>"),
            ("{{u.\"a|b\"}}{{u.\"a|b\"|json}}", "<u.\"a|b\" Raw><u.\"a|b\" Json>"),
        ] {
            assert_eq!(shown(&pieces(text.as_bytes(), Encode::Raw).unwrap()), expected, "{text}");
        }
        for (text, said) in [
            ("{{a", "no }}"),
            ("{{}}", "no placeholder"),
            ("{{a:b.c d}}", "no placeholder"),
            ("{{a b}}", "\\{{"),
            ("{{a|x}}", "x is not raw"),
        ] {
            assert!(pieces(text.as_bytes(), Encode::Raw).unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn values_are_written_as_their_place_wants_them() {
        for (encode, expected) in [
            (Encode::Raw, "a \"/\n\u{e9}"),
            (Encode::Line, "a \"/ \u{e9}"),
            (Encode::Url, "a%20%22%2F%0A%C3%A9"),
            (Encode::Path, "a%20\"/%0A%C3%A9"),
            (Encode::Form, "a+%22%2F%0A%C3%A9"),
            (Encode::Json, "a \\\"/\\u000A\u{e9}"),
        ] {
            let mut written = Vec::new();
            encode.write("a \"/\n\u{e9}".as_bytes(), &mut written);
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }

    #[test]
    fn urls_keep_what_stands_around_the_values() {
        let url = TemplateAddress::parse("http://h:8/a b/{{x}}/zq0q?q={{y|raw}}&z={{x}}#{{gone}}").unwrap();
        assert_eq!(shown(&url.path), "/a%20b/<x Url>/zq0q?q=<y Raw>&z=<x Url>");
        assert_eq!(shown(&url.text), "http://h:8/a%20b/<x Url>/zq0q?q=<y Raw>&z=<x Url>");
        assert_eq!(url.address.text, "http://h:8/a%20b/{{x}}/zq0q?q={{y}}&z={{x}}");
        assert_eq!(url.address.authority, "h:8");
        for (url, said) in
            [("http://{{h}}/", "in its host"), ("ftp://h/{{x}}", "begins with ftp:"), ("{{x", "no }}")]
        {
            assert!(TemplateAddress::parse(url).unwrap_err().contains(said), "{url}");
        }
    }

    proptest! {
        #[test]
        fn escaped_bytes_mean_themselves(bytes in proptest::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'\\'), any::<u8>()], 0..40)) {
            let read = pieces(&escape(&bytes), Encode::Raw).unwrap();
            let expected = if bytes.is_empty() { vec![] } else { vec![TemplatePiece::Text(bytes)] };
            prop_assert_eq!(read, expected);
        }
    }
}
