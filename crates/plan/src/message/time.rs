//! Times in a form of their own.

use serde::{Deserialize, Serialize};

/// A time in a form of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeText {
    /// As of strftime; `%3f`, `%6f` and `%9f` are fractions of a second without a dot.
    pub format: String,
    /// The zone that it is of.
    #[serde(default)]
    pub zone: Zone,
}

impl TimeText {
    /// What no form of a time can be, in words; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        let mut rest = self.format.as_str();
        while let Some(at) = rest.find('%') {
            match conversion(&rest[at + 1..]) {
                Some(after) => rest = after,
                None => {
                    let shown: String = rest[at..].chars().take(4).collect();
                    return Some(format!(
                        "'{shown}' is no part of a time: give one such as %Y, %m, %d, %H, %M, %S or %3f, and %% for a percent sign"
                    ));
                }
            }
        }
        None
    }
}

/// What follows a conversion of strftime, behind its percent sign: a flag, a width, and a letter; before `f` a dot and its
/// digits, before `z` colons.
fn conversion(text: &str) -> Option<&str> {
    let text = text.strip_prefix(['-', '_', '0', '^', '#']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (width, text) = text.split_at(digits(text));
    if !width.is_empty() && width.parse::<u8>().is_err() {
        return None;
    }
    if let Some(text) = text.strip_prefix('.') {
        let (most, text) = text.split_at(digits(text));
        return text.strip_prefix('f').filter(|_| most.len() <= 2);
    }
    let colons = text.bytes().take_while(|byte| *byte == b':').count();
    let letter = text[colons..].chars().next().filter(|letter| CONVERSIONS.contains(*letter))?;
    let known = colons == 0 || letter == 'z' && colons <= 3;
    known.then(|| &text[colons + letter.len_utf8()..])
}

/// The letters of strftime that are known.
const CONVERSIONS: &str = "%AaBbCcDdeFfGgHhIjklMmNnPpQqRrSsTtUuVWwXxYyZz";

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
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
