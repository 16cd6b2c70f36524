//! Text from outside, as terminals and programs may have it: no control character of it does anything.

use std::borrow::Cow;

/// True if a character may change what a terminal does or how the text around it reads: control characters (C0, DEL, C1)
/// but line ends and tabs, and those that turn the direction of writing.
fn is_hostile(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with hostile characters written out, such as `\u{9b}`. Colours stay: old tools have them.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = colour(rest).unwrap_or(character.len_utf8());
        match is_hostile(character) && length == character.len_utf8() {
            true => shown.extend(character.escape_default()),
            false => shown.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    shown.into()
}

/// The length of the sequence that chooses a colour (ECMA-48 section 8.3.117), where the text begins with one.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(end + 3)
}

/// JSON in which hostile characters stand as `\u009b`. JSON escapes only some of them by itself (RFC 8259 section 7), and has
/// none outside of strings.
pub fn harmless_json(text: String) -> String {
    if !text.contains(is_hostile) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_hostile(character) {
            true => shown += &format!("\\u{:04x}", u32::from(character)),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_of_others_does_anything() {
        for (text, shown) in [
            ("plain\tä 中\r\n", "plain\tä 中\r\n"),
            ("a\u{9b}2Jb", "a\\u{9b}2Jb"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[1;31", "\\u{1b}[1;31"),
            ("user\u{202e}gnp.exe\u{7f}", "user\\u{202e}gnp.exe\\u{7f}"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn json_stays_json() {
        let text = serde_json::to_string(&["a\u{9b}2J\u{7f}\u{1b}\u{202e}\n"]).unwrap();
        let safe = harmless_json(text.clone());
        assert_eq!(safe, "[\"a\\u009b2J\\u007f\\u001b\\u202e\\n\"]");
        let read = |text: &str| serde_json::from_str::<Vec<String>>(text).unwrap();
        assert_eq!(read(&safe), read(&text));
    }
}
