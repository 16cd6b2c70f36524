//! Formats as of printf, with one value.

use crate::data::body::Body;
use serde::{Deserialize, Serialize};

/// How a value is written, as of printf: `%08d`, `%-10s`, `%x`; without any `%`, these bytes instead of the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "Body", into = "Body")]
pub struct Format {
    text: Body,
    before: Vec<u8>,
    after: Vec<u8>,
    /// `None`: no value is written.
    conversion: Option<Conversion>,
}

/// One conversion of printf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Conversion {
    /// Filled with zeros rather than blanks.
    zeros: bool,
    /// A blank before positive numbers.
    blank: bool,
    /// Filled behind rather than before.
    left: bool,
    /// A plus before positive numbers.
    plus: bool,
    /// `0x` before hexadecimal numbers, 0 before octal ones.
    alternate: bool,
    /// Bytes at least.
    width: u16,
    /// Digits of a number at least; bytes of a text at most.
    precision: Option<u16>,
    kind: DataKind,
}

/// The form that a conversion gives a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DataKind {
    Text,
    Decimal,
    Unsigned,
    Hex,
    UpperHex,
    Octal,
    /// One byte with this number.
    Character,
}

impl TryFrom<Body> for Format {
    type Error = String;

    fn try_from(text: Body) -> Result<Format, String> {
        Format::parse(&text)
    }
}

impl From<Format> for Body {
    fn from(format: Format) -> Body {
        format.text
    }
}

impl Format {
    /// Reads a format with one value at most, which may be of any of C's lengths (`%08ld`).
    ///
    /// # Errors
    /// The accepted forms, in words.
    pub fn parse(text: &[u8]) -> Result<Format, String> {
        let wrong = || {
            let shown = String::from_utf8_lossy(text);
            format!("'{shown}' is no format: give one value such as %08d, %-10s or %x")
        };
        let (before, rest) = plain(text);
        let mut format = Format { text: text.to_vec().into(), before, after: Vec::new(), conversion: None };
        if let Some(rest) = rest {
            let (conversion, rest) = Conversion::read(rest).ok_or_else(wrong)?;
            format.conversion = Some(conversion);
            let (after, rest) = plain(rest);
            if rest.is_some() {
                return Err(wrong());
            }
            format.after = after;
        }
        Ok(format)
    }

    /// Reads a format of a whole number alone, and of a moderate width.
    ///
    /// # Errors
    /// The accepted forms, in words.
    pub fn of_number(text: &[u8]) -> Result<Format, String> {
        let good = |conversion: &Conversion| {
            let moderate =
                conversion.width <= 1000 && conversion.precision.is_none_or(|digits| digits <= 1000);
            moderate && conversion.kind != DataKind::Text
        };
        let format = Format::parse(text).ok().filter(|format| format.conversion.as_ref().is_none_or(good));
        format.ok_or_else(|| {
            let shown = String::from_utf8_lossy(text);
            format!("'{shown}' is no format of one whole number: give one such as %08ld")
        })
    }

    /// Bytes that whatever it writes has at least.
    pub fn least(&self) -> usize {
        let value = self.conversion.map_or(0, |conversion| {
            let digits = match conversion.kind {
                DataKind::Text => 0,
                DataKind::Character => 1,
                // A precision of 0 leaves nothing of the number 0.
                DataKind::Decimal
                | DataKind::Unsigned
                | DataKind::Hex
                | DataKind::UpperHex
                | DataKind::Octal => conversion.precision.unwrap_or(1),
            };
            usize::from(conversion.width.max(digits))
        });
        self.before.len() + value + self.after.len()
    }

    /// Appends a value.
    pub fn write(&self, value: &[u8], to: &mut Vec<u8>) {
        to.extend_from_slice(&self.before);
        if let Some(conversion) = &self.conversion {
            conversion.write(value, to);
        }
        to.extend_from_slice(&self.after);
    }
}

/// Returns the text before the next conversion, and the text behind its percent sign; `%%` is a percent sign.
fn plain(text: &[u8]) -> (Vec<u8>, Option<&[u8]>) {
    let mut before = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        before.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix(b"%") {
            None => return (before, Some(rest)),
            Some(after) => {
                before.push(b'%');
                rest = after;
            }
        }
    }
    before.extend_from_slice(rest);
    (before, None)
}

/// Digits at the beginning of a text as a number; none is 0.
fn leading(text: &[u8]) -> Option<(u16, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    let value = if digits.is_empty() { 0 } else { std::str::from_utf8(digits).ok()?.parse().ok()? };
    (value <= 4096).then_some((value, rest))
}

impl Conversion {
    /// Reads what follows a percent sign.
    fn read(text: &[u8]) -> Option<(Conversion, &[u8])> {
        // In the C locale ' groups nothing.
        let flags = text.iter().take_while(|byte| b"0-+ #'".contains(byte)).count();
        let (flags, rest) = text.split_at(flags);
        let (width, rest) = leading(rest)?;
        let (precision, rest) = match rest.strip_prefix(b".") {
            None => (None, rest),
            Some(rest) => leading(rest).map(|(digits, rest)| (Some(digits), rest))?,
        };
        let length = rest.iter().take_while(|byte| b"lhzjqt".contains(byte)).count();
        let (letter, rest) = rest[length..].split_first()?;
        let kind = match letter {
            b's' => DataKind::Text,
            b'd' | b'i' => DataKind::Decimal,
            b'u' => DataKind::Unsigned,
            b'x' => DataKind::Hex,
            b'X' => DataKind::UpperHex,
            b'o' => DataKind::Octal,
            b'c' => DataKind::Character,
            _ => return None,
        };
        let has = |flag: u8| flags.contains(&flag);
        let conversion = Conversion {
            zeros: has(b'0'),
            blank: has(b' '),
            left: has(b'-'),
            plus: has(b'+'),
            alternate: has(b'#'),
            width,
            precision,
            kind,
        };
        Some((conversion, rest))
    }

    fn write(&self, value: &[u8], to: &mut Vec<u8>) {
        let number = || std::str::from_utf8(value).ok()?.parse::<i64>().ok();
        let begin = to.len();
        match (self.kind, number()) {
            (DataKind::Text, _) | (_, None) => {
                let most = self.precision.map_or(value.len(), usize::from);
                let most = if self.kind == DataKind::Text { most } else { value.len() };
                to.extend_from_slice(&value[..value.len().min(most)]);
                self.fill(begin, begin, to);
            }
            (DataKind::Character, Some(number)) => {
                to.push(number as u8);
                self.fill(begin, begin, to);
            }
            (_, Some(number)) => {
                self.sign(number, to);
                let digits = to.len();
                self.digits(number, to);
                self.fill(begin, digits, to);
            }
        }
    }

    /// Appends the sign or prefix that stands before the digits of a number.
    fn sign(&self, number: i64, to: &mut Vec<u8>) {
        match self.kind {
            DataKind::Decimal if number < 0 => to.push(b'-'),
            DataKind::Decimal if self.plus => to.push(b'+'),
            DataKind::Decimal if self.blank => to.push(b' '),
            DataKind::Hex if self.alternate && number != 0 => to.extend_from_slice(b"0x"),
            DataKind::UpperHex if self.alternate && number != 0 => to.extend_from_slice(b"0X"),
            DataKind::Text
            | DataKind::Decimal
            | DataKind::Unsigned
            | DataKind::Hex
            | DataKind::UpperHex
            | DataKind::Octal
            | DataKind::Character => {}
        }
    }

    fn digits(&self, number: i64, to: &mut Vec<u8>) {
        use std::io::Write;
        let begin = to.len();
        let least = usize::from(self.precision.unwrap_or(1));
        // A vector takes all that is written. C has no number 0 without digits, but for a precision of 0.
        let _ = match self.kind {
            _ if number == 0 && least == 0 => Ok(()),
            DataKind::Hex => write!(to, "{number:0least$x}"),
            DataKind::UpperHex => write!(to, "{number:0least$X}"),
            DataKind::Octal => write!(to, "{number:0least$o}"),
            DataKind::Unsigned => write!(to, "{:0least$}", number as u64),
            DataKind::Text | DataKind::Decimal | DataKind::Character => {
                write!(to, "{:0least$}", number.unsigned_abs())
            }
        };
        if self.kind == DataKind::Octal && self.alternate && to.get(begin) != Some(&b'0') {
            to.insert(begin, b'0');
        }
    }

    /// Fills up what begins at `begin`; zeros come before `digits`, where a precision does not say how many there are.
    fn fill(&self, begin: usize, digits: usize, to: &mut Vec<u8>) {
        let missing = usize::from(self.width).saturating_sub(to.len() - begin);
        if missing == 0 {
            return;
        }
        let end = to.len();
        to.resize(end + missing, b' ');
        if self.left {
            return;
        }
        let number = !matches!(self.kind, DataKind::Character);
        let zeros = self.zeros && number && (self.precision.is_none() || self.kind == DataKind::Text);
        let at = if zeros { digits } else { begin };
        to.copy_within(at..end, at + missing);
        to[at..at + missing].fill(if zeros { b'0' } else { b' ' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str, value: &str) -> String {
        let mut out = Vec::new();
        let format = Format::parse(format.as_bytes()).unwrap();
        format.write(value.as_bytes(), &mut out);
        assert!(value != "1" || out.len() >= format.least());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn formats_as_of_printf() {
        for (format, value, expected) in [
            ("%d", "5", "5"),
            ("%08ld", "42", "00000042"),
            ("%08ld", "-42", "-0000042"),
            ("%5d|", "42", "   42|"),
            ("ID%-5s.", "ab", "IDab   ."),
            ("%04x", "255", "00ff"),
            ("%X", "255", "FF"),
            ("%+d", "7", "+7"),
            ("% d", "7", " 7"),
            ("% 04d", "7", " 007"),
            ("%.3s", "abcdef", "abc"),
            ("100%%-%d%%", "1", "100%-1%"),
            ("%x", "no", "no"),
            ("%.8ld", "1", "00000001"),
            ("%.8ld", "-1", "-00000001"),
            ("%12.8ld", "1", "    00000001"),
            ("%012.8ld", "1", "    00000001"),
            ("%-12.8ld|", "1", "00000001    |"),
            ("%.0d", "0", ""),
            ("%#lx", "255", "0xff"),
            ("%#08lX", "255", "0X0000FF"),
            ("%#x", "0", "0"),
            ("%#o", "8", "010"),
            ("%lx", "-1", "ffffffffffffffff"),
            ("%lu", "-1", "18446744073709551615"),
            ("%c", "65", "A"),
            ("%3c", "65", "  A"),
            ("%'ld", "1000", "1000"),
            ("ABC", "7", "ABC"),
            ("%%", "7", "%"),
            ("", "7", ""),
            ("5", "7", "5"),
        ] {
            assert_eq!(written(format, value), expected, "{format}");
        }
        for format in ["%", "%n", "%d%d", "%99999d", "%s%", "%f", "%*d"] {
            assert!(Format::parse(format.as_bytes()).is_err(), "{format}");
        }
        for format in ["%s", "%08", "%ld %ld", "%f", "%*d", "%9999ld", "%1001d", "%-3s", "%.1001d"] {
            assert!(Format::of_number(format.as_bytes()).unwrap_err().contains("%08ld"), "{format}");
        }
        for format in ["%d", "\"%03ld\"", "100%% %i", "%-5u|", "%04lX", "abc", "%1.5ld", "%.5ld", "%#x", "%c"]
        {
            assert!(Format::of_number(format.as_bytes()).is_ok(), "{format}");
        }
    }

    #[test]
    fn bytes_of_any_character_set_stay() {
        let format = Format::of_number(b"\xB9\xFA%02ld").unwrap();
        let mut out = Vec::new();
        format.write(b"7", &mut out);
        assert_eq!(out, b"\xB9\xFA07");
    }
}
