//! Times in a form of their own.

use crate::data::body::Body;
use serde::{Deserialize, Serialize};

/// A time in a form of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimeText {
    /// As of strftime in the C locale; `%3f`, `%6f` and `%9f` are fractions of a second without a dot.
    pub format: Body,
    /// The zone that it is of.
    #[serde(default)]
    pub zone: Zone,
}

/// A piece of a form: bytes that stay, and what follows a percent sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimePiece<'a> {
    /// Bytes that stay.
    pub text: &'a [u8],
    /// Flags, width and letter of a conversion, without modifiers; empty: none.
    pub conversion: &'a str,
}

impl TimeText {
    /// The pieces of the form, in order.
    ///
    /// # Errors
    /// A conversion that cannot be written, in words.
    pub fn pieces(&self) -> Result<Vec<TimePiece<'_>>, String> {
        let mut pieces = Vec::new();
        let mut rest = &self.format[..];
        while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
            let length = conversion(&rest[at + 1..]).ok_or_else(|| refused(&rest[at..]))?;
            let conversion = std::str::from_utf8(&rest[at + 1..at + 1 + length]).unwrap_or_default();
            pieces.push(TimePiece { text: &rest[..at], conversion: without_modifier(conversion) });
            rest = &rest[at + 1 + length..];
        }
        pieces.push(TimePiece { text: rest, conversion: "" });
        Ok(pieces)
    }

    /// Why it cannot be written; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        self.pieces().err()
    }
}

fn refused(rest: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(rest).chars().take(4).collect();
    format!(
        "'{shown}' is no part of a time: give one such as %Y, %m, %d, %H, %M, %S or %3f, and %% for a percent sign"
    )
}

/// `Ey` and `Od` mean `y` and `d`: the C locale has no eras and no digits of its own.
fn without_modifier(conversion: &str) -> &str {
    conversion.strip_prefix(['E', 'O']).unwrap_or(conversion)
}

/// Bytes of a conversion of strftime, behind its percent sign: a flag, a width, and a letter; before `f` a dot and its
/// digits, before `z` colons; or E or O and one of the letters that have such a form (POSIX.1-2024, strftime).
fn conversion(text: &[u8]) -> Option<usize> {
    if let [modifier @ (b'E' | b'O'), letter, ..] = text {
        let letters: &[u8] = if *modifier == b'E' { b"cCxXyY" } else { b"deHImMSuUVwWy" };
        return letters.contains(letter).then_some(2);
    }
    let digits = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(matches!(text.first(), Some(b'-' | b'_' | b'0' | b'^' | b'#')));
    let width = digits(at);
    if width > 0 && std::str::from_utf8(&text[at..at + width]).ok()?.parse::<u8>().is_err() {
        return None;
    }
    at += width;
    if text.get(at) == Some(&b'.') {
        let most = digits(at + 1);
        at += 1 + most;
        return (most <= 2 && text.get(at) == Some(&b'f')).then_some(at + 1);
    }
    let colons = text[at..].iter().take_while(|byte| **byte == b':').count();
    let letter = text.get(at + colons).filter(|letter| CONVERSIONS.contains(letter))?;
    let known = colons == 0 || *letter == b'z' && colons <= 3;
    known.then_some(at + colons + 1)
}

/// The letters of strftime that are known.
const CONVERSIONS: &[u8] = b"%AaBbCcDdeFfGgHhIjklMmNnPpQqRrSsTtUuVWwXxYyZz";

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Zone {
    /// Coordinated Universal Time.
    #[default]
    Utc,
    /// This machine's.
    Local,
    /// Of the time zone database, such as `Asia/Shanghai`.
    Named(String),
}
