//! Numbers and bytes as they are written in TCP messages, and as they are typed.

use serde::{Deserialize, Serialize};

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// This many decimal digits, 1 to 18; of a [`LengthField`](super::LengthField) also 0: as many as it needs.
    Ascii(u8),
    /// This many hexadecimal digits, 1 to 15.
    Hex(u8),
    /// Binary in 1, 2, 4 or 8 bytes, most significant first.
    Binary(u8),
    /// Binary in 1, 2, 4 or 8 bytes, least significant first.
    Little(u8),
    /// Two decimal digits per byte, in 1 to 9 bytes.
    Bcd(u8),
}

/// The bytes that a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// The bytes that follow the head.
    #[default]
    Body,
    /// Head and body.
    Total,
}

impl Number {
    /// Bytes that it takes.
    pub fn width(self) -> u32 {
        match self {
            Number::Ascii(width)
            | Number::Hex(width)
            | Number::Binary(width)
            | Number::Little(width)
            | Number::Bcd(width) => u32::from(width),
        }
    }

    /// True if numbers of this width can be read and written.
    pub fn is_sound(self) -> bool {
        match self {
            Number::Ascii(width) => (1..=18).contains(&width),
            Number::Hex(width) => (1..=15).contains(&width),
            Number::Binary(width) | Number::Little(width) => [1, 2, 4, 8].contains(&width),
            Number::Bcd(width) => (1..=9).contains(&width),
        }
    }

    /// Reads `8`, `ascii:8`, `hex:4`, `binary:2`, `little:4` or `bcd:2`; a bare number is of `otherwise`.
    pub(crate) fn parse(text: &str, otherwise: fn(u8) -> Number) -> Option<Number> {
        let (kind, width) = match text.split_once(':') {
            None => (otherwise as fn(u8) -> Number, text),
            Some(("ascii", width)) => (Number::Ascii as fn(u8) -> Number, width),
            Some(("hex", width)) => (Number::Hex as fn(u8) -> Number, width),
            Some(("binary", width)) => (Number::Binary as fn(u8) -> Number, width),
            Some(("little", width)) => (Number::Little as fn(u8) -> Number, width),
            Some(("bcd", width)) => (Number::Bcd as fn(u8) -> Number, width),
            Some(_) => return None,
        };
        width.parse().ok().map(kind).filter(|number| number.is_sound())
    }
}

/// Reads text with `\r`, `\n`, `\t`, `\0`, `\\` and `\xHH`.
///
/// # Errors
/// A backslash before anything else.
pub fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let (escape, after) = rest.split_first().unwrap_or((&b' ', &[]));
        rest = after;
        let byte = match escape {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'0' => 0,
            b'\\' => b'\\',
            // A placeholder's escape, which the template reads.
            b'{' => {
                bytes.push(b'\\');
                b'{'
            }
            b'x' => {
                let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                rest = after.get(2..).unwrap_or(&[]);
                byte.ok_or_else(|| format!("'{text}': \\x needs two hexadecimal digits"))?
            }
            _ => {
                return Err(format!(
                    "'{text}': a backslash stands before r, n, t, 0, x and two digits, or another"
                ));
            }
        };
        bytes.push(byte);
    }
    Ok(bytes)
}
