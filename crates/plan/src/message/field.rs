//! What the templates of messages are filled with: everything that other requests know (see [`crate::data`]), and what only
//! messages need: bytes, times in any form, numbers of connections, lengths and checksums.

use super::count::Count;
use super::framing::{Counts, Number, unescape};
use super::time::{TimeText, Zone};
use crate::body::Body;
use crate::data::{Source, is_name};
use crate::secret::Secret;
use serde::{Deserialize, Deserializer, Serialize};

/// A name for values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// As it stands between the braces of a placeholder.
    pub name: String,
    /// Where its values come from.
    pub source: FieldSource,
    /// How they are written; `None`: as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
}

/// Where values come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldSource {
    /// A value as other requests have it.
    Value(Source),
    /// Numbers, the next one at each place.
    Count(Count),
    /// The lines of a file as they are, whatever it is called: the next one at each place, and from the first again.
    Lines(String),
    /// Always these bytes.
    Bytes(Body),
    /// The time at which the message is written.
    Time(TimeText),
    /// The number of the connection: the worker's number from 1 times 10,000, and the user's on its worker from 1, which
    /// outlives reconnecting.
    Connection,
    /// The number of the worker, from 1.
    Worker,
    /// What an environment variable or a file holds when the run begins.
    #[serde(alias = "environment", deserialize_with = "outside")]
    Secret(Secret),
    /// The length of the message.
    Length(LengthField),
    /// A checksum over what stands before it.
    Checksum(ChecksumField),
}

/// The length of a message, once all else in it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LengthField {
    /// How it is written.
    pub number: Number,
    /// What it counts: what follows the message's head, or all of it.
    #[serde(default)]
    pub counts: Counts,
    /// What is added.
    #[serde(default)]
    pub adjust: i64,
}

/// A checksum, once all else is known, lengths included; of several the first is computed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChecksumField {
    /// Which.
    pub algorithm: Algorithm,
    /// Where what it covers begins, in bytes from the message's begin; it ends before the field.
    #[serde(default)]
    pub from: u32,
    /// How it is written.
    #[serde(default)]
    pub digits: Digits,
    /// The key of a MAC, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "key")]
    pub key: Option<Secret>,
    /// Only its first bytes; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u8>,
}

/// How a checksum is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// All bytes, exclusive or; one byte (ISO 1155).
    Lrc,
    /// CRC-16/IBM-3740, often called CCITT-FALSE.
    Crc16,
    /// CRC-16/ARC.
    Crc16Arc,
    /// CRC-16/MODBUS, least significant byte first.
    Crc16Modbus,
    /// CRC-16/XMODEM.
    Crc16Xmodem,
    /// CRC-32 of ISO 3309, as of zip.
    Crc32,
    /// HMAC with SHA-256 (RFC 2104).
    HmacSha256,
    /// HMAC with SHA-1.
    HmacSha1,
    /// HMAC with SHA-512.
    HmacSha512,
    /// CMAC with AES (RFC 4493, NIST SP 800-38B).
    Cmac,
    /// ISO 9797-1, algorithm 3 with DES, filled up with zeros (padding method 1): ANSI X9.19.
    RetailMac,
    /// The same, filled up with a byte 0x80 and zeros (padding method 2).
    RetailMac80,
}

impl Algorithm {
    /// Every one with its name.
    const ALL: [(&'static str, Algorithm); 12] = [
        ("lrc", Algorithm::Lrc),
        ("crc16", Algorithm::Crc16),
        ("crc16-arc", Algorithm::Crc16Arc),
        ("crc16-modbus", Algorithm::Crc16Modbus),
        ("crc16-xmodem", Algorithm::Crc16Xmodem),
        ("crc32", Algorithm::Crc32),
        ("mac", Algorithm::HmacSha256),
        ("hmac-sha1", Algorithm::HmacSha1),
        ("hmac-sha512", Algorithm::HmacSha512),
        ("cmac", Algorithm::Cmac),
        ("retail-mac", Algorithm::RetailMac),
        ("retail-mac-80", Algorithm::RetailMac80),
    ];

    /// What a key must be, in words; `None` for what has none.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Algorithm::HmacSha256 | Algorithm::HmacSha1 | Algorithm::HmacSha512 => Some("a key"),
            Algorithm::Cmac => Some("a key of 16, 24 or 32 bytes"),
            Algorithm::RetailMac | Algorithm::RetailMac80 => Some("a key of 16 bytes"),
            _ => None,
        }
    }

    /// Whether a key of so many bytes will do.
    pub fn takes(self, key_bytes: usize) -> bool {
        match self {
            Algorithm::Cmac => [16, 24, 32].contains(&key_bytes),
            Algorithm::RetailMac | Algorithm::RetailMac80 => key_bytes == 16,
            _ => key_bytes > 0,
        }
    }

    /// Bytes that it has.
    pub fn bytes(self) -> u8 {
        match self {
            Algorithm::Lrc => 1,
            Algorithm::Crc16 | Algorithm::Crc16Arc | Algorithm::Crc16Modbus | Algorithm::Crc16Xmodem => 2,
            Algorithm::Crc32 => 4,
            Algorithm::RetailMac | Algorithm::RetailMac80 => 8,
            Algorithm::Cmac => 16,
            Algorithm::HmacSha1 => 20,
            Algorithm::HmacSha256 => 32,
            Algorithm::HmacSha512 => 64,
        }
    }
}

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Digits {
    /// As they are.
    #[default]
    Binary,
    /// Two hexadecimal digits each, `0a`.
    Hex,
    /// Two hexadecimal digits each, `0A`.
    UpperHex,
}

/// How a value is written, as of printf: `%08d`, `%-10s`, `%x`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Format {
    /// What stands before it.
    pub before: Vec<u8>,
    /// What stands behind it.
    pub after: Vec<u8>,
    /// Bytes that it has at least.
    pub width: u16,
    /// Filled with zeros rather than blanks.
    pub zeros: bool,
    /// A blank before positive numbers.
    pub blank: bool,
    /// Filled behind rather than before.
    pub left: bool,
    /// A plus before positive numbers.
    pub plus: bool,
    /// Bytes that it has at most; longer texts are cut.
    pub most: Option<u16>,
    /// How a number is written.
    pub radix: Radix,
    /// It was a text's.
    is_text: bool,
    text: String,
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Radix {
    /// As it is, be it a number or not.
    AsIs,
    /// Hexadecimal, `ff`.
    Hex,
    /// Hexadecimal, `FF`.
    UpperHex,
    /// Octal.
    Octal,
}

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(text: String) -> Result<Format, String> {
        Format::parse(&text)
    }
}

impl From<Format> for String {
    fn from(format: Format) -> String {
        format.text
    }
}

impl Format {
    /// Reads a format as of printf with one value, which may be of any of C's lengths (`%08ld`).
    ///
    /// # Errors
    /// What would do, in words.
    pub fn parse(text: &str) -> Result<Format, String> {
        let wrong = || format!("'{text}' is no format: give one value such as %08d, %-10s or %x");
        let at = text.match_indices('%').find(|(at, _)| !is_percent(text, *at)).map(|(at, _)| at);
        let at = at.ok_or_else(wrong)?;
        let mut format = Format {
            before: text[..at].replace("%%", "%").into_bytes(),
            after: Vec::new(),
            width: 0,
            zeros: false,
            blank: false,
            left: false,
            plus: false,
            most: None,
            radix: Radix::AsIs,
            is_text: false,
            text: text.to_owned(),
        };
        let mut rest = &text[at + 1..];
        while let Some(flag) = rest.chars().next().filter(|flag| "0-+ ".contains(*flag)) {
            format.zeros |= flag == '0';
            format.left |= flag == '-';
            format.plus |= flag == '+';
            format.blank |= flag == ' ';
            rest = &rest[1..];
        }
        let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (width, after) = rest.split_at(number(rest));
        format.width =
            if width.is_empty() { 0 } else { width.parse().ok().filter(|w| *w <= 4096).ok_or_else(wrong)? };
        rest = after;
        if let Some(after) = rest.strip_prefix('.') {
            let (most, after) = after.split_at(number(after));
            format.most = Some(most.parse().map_err(|_| wrong())?);
            rest = after;
        }
        rest = rest.trim_start_matches(['l', 'h', 'z', 'j', 'q']);
        format.is_text = rest.starts_with('s');
        format.radix = match rest.chars().next().ok_or_else(wrong)? {
            'd' | 'i' | 'u' | 's' => Radix::AsIs,
            'x' => Radix::Hex,
            'X' => Radix::UpperHex,
            'o' => Radix::Octal,
            _ => return Err(wrong()),
        };
        let after = &rest[1..];
        let plain = after.replace("%%", "");
        if plain.contains('%') {
            return Err(wrong());
        }
        format.after = after.replace("%%", "%").into_bytes();
        Ok(format)
    }

    /// Reads a format of a whole number alone: neither of a text nor with a precision, and of a moderate width.
    ///
    /// # Errors
    /// What would do, in words.
    pub fn of_number(text: &str) -> Result<Format, String> {
        let wrong = || format!("'{text}' is no format of one whole number: give one such as %08ld");
        let format = Format::parse(text).map_err(|_| wrong())?;
        if format.is_text || format.most.is_some() || format.width > 1000 { Err(wrong()) } else { Ok(format) }
    }

    /// Appends a value. `number`: the same value, where it is a number that may be written in another way.
    pub fn write(&self, value: &[u8], to: &mut Vec<u8>) {
        to.extend_from_slice(&self.before);
        let begin = to.len();
        self.digits(value, to);
        if let Some(most) = self.most {
            to.truncate(begin + usize::from(most));
        }
        let missing = usize::from(self.width).saturating_sub(to.len() - begin);
        if missing > 0 {
            self.fill(begin, missing, to);
        }
        to.extend_from_slice(&self.after);
    }

    fn digits(&self, value: &[u8], to: &mut Vec<u8>) {
        let number = || std::str::from_utf8(value).ok()?.parse::<i64>().ok();
        match (self.radix, self.plus || self.blank) {
            (Radix::AsIs, false) => to.extend_from_slice(value),
            (radix, signed) => match number() {
                None => to.extend_from_slice(value),
                Some(number) => {
                    if signed && number >= 0 && radix == Radix::AsIs {
                        to.push(if self.plus { b'+' } else { b' ' });
                    }
                    // A vector takes all that is written.
                    let _ = write_number(radix, number, value, to);
                }
            },
        }
    }

    fn fill(&self, begin: usize, missing: usize, to: &mut Vec<u8>) {
        let end = to.len();
        if self.left {
            to.resize(end + missing, b' ');
            return;
        }
        let signed = self.zeros && to.get(begin).is_some_and(|first| matches!(first, b'-' | b'+' | b' '));
        let begin = begin + usize::from(signed);
        to.resize(end + missing, b' ');
        to.copy_within(begin..end, begin + missing);
        to[begin..begin + missing].fill(if self.zeros { b'0' } else { b' ' });
    }
}

fn write_number(radix: Radix, number: i64, value: &[u8], to: &mut Vec<u8>) -> std::io::Result<()> {
    use std::io::Write;
    match radix {
        Radix::AsIs => to.write_all(value),
        Radix::Hex => write!(to, "{number:x}"),
        Radix::UpperHex => write!(to, "{number:X}"),
        Radix::Octal => write!(to, "{number:o}"),
    }
}

/// Whether the percent sign here is one half of `%%`.
fn is_percent(text: &str, at: usize) -> bool {
    let before = text[..at].bytes().rev().take_while(|byte| *byte == b'%').count();
    before % 2 == 1 || text[at + 1..].starts_with('%')
}

const WANTED: &str = "give hex:BYTES, time:FORMAT, time-local:FORMAT, time@ZONE:FORMAT, connection, worker, env:NAME, \
                      length[:ascii:8][,total], lrc, crc16, crc32 (with ,hex ,from=N), mac:KEY, mac:env:NAME \
                      (or hmac-sha1, hmac-sha512, cmac, retail-mac), \
                      or counter, int, text, uuid, user or request";

impl Field {
    /// Reads `SOURCE` or `SOURCE as FORMAT`, such as `counter:1..999999 as %08d`.
    ///
    /// # Errors
    /// What would do, in words.
    pub fn parse(name: &str, text: &str) -> Result<Field, String> {
        if !is_name(name) {
            return Err(format!("'{name}' is no name: give letters, digits, _ and -"));
        }
        let (source, format) = match text.rsplit_once(" as ") {
            Some((source, format)) if format.contains('%') => (source, Some(Format::parse(format.trim())?)),
            _ => (text, None),
        };
        Ok(Field { name: name.to_owned(), source: FieldSource::parse(source)?, format })
    }
}

impl FieldSource {
    /// Reads a source as it is typed; see docs/src/tcp.md.
    ///
    /// # Errors
    /// What would do, in words.
    pub fn parse(text: &str) -> Result<FieldSource, String> {
        let wrong = || format!("'{text}' is no source of values: {WANTED}");
        if let Some(computed) = computed(text) {
            let source = computed.ok_or_else(wrong)?;
            return source.violation().map_or(Ok(source), |why| Err(format!("'{text}': {why}")));
        }
        let time = |format: &str, zone| FieldSource::Time(TimeText { format: format.to_owned(), zone });
        match text.split_once(':') {
            None if text == "connection" => return Ok(FieldSource::Connection),
            None if text == "worker" => return Ok(FieldSource::Worker),
            Some(("hex", digits)) => return Ok(FieldSource::Bytes(hex(digits).ok_or_else(wrong)?.into())),
            Some(("bytes", text)) => return Ok(FieldSource::Bytes(unescape(text)?.into())),
            Some(("env", name)) => return Ok(FieldSource::Secret(Secret::environment(name))),
            Some(("time", format)) if format.contains('%') => return Ok(time(format, Zone::Utc)),
            Some(("time-local", format)) => return Ok(time(format, Zone::Local)),
            Some((kind, format)) if kind.starts_with("time@") => {
                return Ok(time(format, Zone::Named(kind[5..].to_owned())));
            }
            _ => {}
        }
        Source::parse(text).map(FieldSource::Value).map_err(|_| wrong())
    }

    /// The secret that it is taken from, or made with.
    pub fn secret(&self) -> Option<&Secret> {
        match self {
            FieldSource::Secret(secret) => Some(secret),
            FieldSource::Checksum(sum) => sum.key.as_ref(),
            _ => None,
        }
    }

    /// The same, to be filled in.
    pub(crate) fn secret_mut(&mut self) -> Option<&mut Secret> {
        match self {
            FieldSource::Secret(secret) => Some(secret),
            FieldSource::Checksum(sum) => sum.key.as_mut(),
            _ => None,
        }
    }

    /// Bytes that it takes at least, where it is computed when all else is known.
    pub fn computed_bytes(&self) -> Option<u32> {
        match self {
            FieldSource::Length(length) => Some(length.number.width()),
            FieldSource::Checksum(sum) => Some(sum.width()),
            _ => None,
        }
    }

    /// What no source can be, in words; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        match self {
            FieldSource::Value(source) => source.violation(),
            FieldSource::Count(count) => count.violation(),
            FieldSource::Lines(file) if file.is_empty() => Some("a file without a name".to_owned()),
            FieldSource::Time(time) => time.violation(),
            FieldSource::Length(length) if !length.number.is_sound() && !length.is_flexible() => {
                Some("a length of an impossible width".to_owned())
            }
            FieldSource::Checksum(sum) => sum.violation(),
            _ => None,
        }
    }
}

impl LengthField {
    /// Whether it has as many digits as it needs.
    pub fn is_flexible(&self) -> bool {
        self.number == Number::Ascii(0)
    }
}

impl ChecksumField {
    fn violation(&self) -> Option<String> {
        let most = self.algorithm.bytes();
        match (self.algorithm.key(), &self.key) {
            (None, Some(_)) => return Some("a checksum has no key, only a mac has".to_owned()),
            (Some(wanted), None) => return Some(format!("a mac has {wanted}, in hexadecimal digits")),
            (Some(wanted), Some(key)) if !key.reveal().is_empty() => match self.key() {
                Some(key) if self.algorithm.takes(key.len()) => {}
                Some(key) => return Some(format!("a key of {} bytes where the mac has {wanted}", key.len())),
                None => return Some(format!("a mac has {wanted}, in hexadecimal digits")),
            },
            _ => {}
        }
        let wrong = self.bytes.is_some_and(|bytes| bytes == 0 || bytes > most);
        wrong.then(|| format!("a checksum has 1 to {most} bytes"))
    }

    /// The bytes of the key; `None` where there is none, or what is no hexadecimal digits.
    pub fn key(&self) -> Option<Vec<u8>> {
        hex(self.key.as_ref()?.reveal())
    }

    /// Bytes that it takes in the message.
    pub fn width(&self) -> u32 {
        let bytes = u32::from(self.bytes.unwrap_or(self.algorithm.bytes()));
        if self.digits == Digits::Binary { bytes } else { 2 * bytes }
    }
}

/// A key as plans have it, or as they once had it: `{ environment = "NAME" }`, `{ bytes = "..." }`.
fn key<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Old {
        Environment(String),
        Bytes(Body),
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Named(String),
        Old(Old),
    }
    Ok(Some(match Form::deserialize(from)? {
        Form::Named(text) => Secret::read(&text).map_err(serde::de::Error::custom)?,
        Form::Old(Old::Environment(name)) => Secret::environment(&name),
        Form::Old(Old::Bytes(bytes)) => {
            Secret::typed(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    }))
}

/// A secret, or the bare name of a variable, as plans once had it.
fn outside<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
    let text = String::deserialize(from)?;
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !text.is_empty() && is_name(&text) {
        return Ok(Secret::environment(&text));
    }
    Secret::read(&text).map_err(serde::de::Error::custom)
}

/// A length or a checksum; `None` inside where it only begins like one.
fn computed(text: &str) -> Option<Option<FieldSource>> {
    let (kind, options) = text.split_once(',').map_or((text, None), |(kind, options)| (kind, Some(options)));
    let (name, value) = kind.split_once(':').map_or((kind, None), |(name, value)| (name, Some(value)));
    if name == "length" {
        return Some(length(value.unwrap_or("8"), options));
    }
    let (name, env) = name.strip_suffix("-env").map_or((name, false), |name| (name, true));
    let (_, algorithm) = Algorithm::ALL.into_iter().find(|(known, _)| *known == name)?;
    let key = match value {
        None if env => None,
        None => Some(None),
        Some(name) if env => Some(Some(Secret::environment(name))),
        Some(text) => Secret::named(text).or_else(|| hex(text).map(|_| Secret::typed(text))).map(Some),
    };
    let field = |key| ChecksumField { algorithm, from: 0, digits: Digits::Binary, key, bytes: None };
    Some(key.and_then(|key| checksum(field(key), options)))
}

fn length(number: &str, options: Option<&str>) -> Option<FieldSource> {
    let number = match number {
        "ascii" => Number::Ascii(0),
        number => Number::parse(number, Number::Ascii)?,
    };
    let mut field = LengthField { number, counts: Counts::Body, adjust: 0 };
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        match option.split_once('=') {
            None if option == "total" => field.counts = Counts::Total,
            None if option == "body" => field.counts = Counts::Body,
            Some(("adjust", adjust)) => field.adjust = adjust.parse().ok()?,
            _ => return None,
        }
    }
    Some(FieldSource::Length(field))
}

fn checksum(mut field: ChecksumField, options: Option<&str>) -> Option<FieldSource> {
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        match option.split_once('=') {
            None if option == "hex" => field.digits = Digits::Hex,
            None if option == "HEX" => field.digits = Digits::UpperHex,
            Some(("from", from)) => field.from = from.parse().ok()?,
            Some(("bytes", bytes)) => field.bytes = Some(bytes.parse().ok()?),
            _ => return None,
        }
    }
    Some(FieldSource::Checksum(field))
}

/// Reads hexadecimal digits, two for each byte.
pub fn hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b' ').collect();
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((value(*high)? << 4 | value(*low)?) as u8),
        _ => None,
    };
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            let mut out = Vec::new();
            Format::parse(format).unwrap().write(value.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{format}");
        }
        for format in ["", "5", "%", "%n", "%d%d", "%99999d", "%s%", "%%"] {
            assert!(Format::parse(format).is_err(), "{format}");
        }
        for format in [
            "abc", "%s", "%08", "%ld %ld", "%f", "%*d", "%9999ld", "%1001d", "%1.5ld", "%.5ld", "%#x", "%-3s",
        ] {
            assert!(Format::of_number(format).unwrap_err().contains("%08ld"), "{format}");
        }
        for format in ["%d", "\"%03ld\"", "100%% %i", "%-5u|", "%04lX"] {
            assert!(Format::of_number(format).is_ok(), "{format}");
        }
    }

    #[test]
    fn sources_as_they_are_typed() {
        let bytes = |bytes: &[u8]| FieldSource::Bytes(bytes.to_vec().into());
        let time = |format: &str, zone| FieldSource::Time(TimeText { format: format.to_owned(), zone });
        let length = |number, counts| FieldSource::Length(LengthField { number, counts, adjust: 0 });
        let sum = |algorithm, from, digits| {
            FieldSource::Checksum(ChecksumField { algorithm, from, digits, key: None, bytes: None })
        };
        for (text, source) in [
            ("hex:0aFF 00", bytes(&[10, 255, 0])),
            ("bytes:a\\x00", bytes(b"a\0")),
            ("time:%H:%M", time("%H:%M", Zone::Utc)),
            ("time-local:%3f", time("%3f", Zone::Local)),
            ("time@Asia/Shanghai:%H", time("%H", Zone::Named("Asia/Shanghai".to_owned()))),
            ("connection", FieldSource::Connection),
            ("env:HOME", FieldSource::Secret(Secret::environment("HOME"))),
            ("length", length(Number::Ascii(8), Counts::Body)),
            ("length:ascii,total", length(Number::Ascii(0), Counts::Total)),
            ("length:binary:2,total", length(Number::Binary(2), Counts::Total)),
            ("lrc", sum(Algorithm::Lrc, 0, Digits::Binary)),
            ("crc16-modbus,from=1,HEX", sum(Algorithm::Crc16Modbus, 1, Digits::UpperHex)),
            ("uuid", FieldSource::Value(Source::Uuid)),
        ] {
            assert_eq!(FieldSource::parse(text), Ok(source), "{text}");
        }
        for (text, said) in [
            ("hex:0", "no source"),
            ("hex:x", "no source"),
            ("length:99", "no source"),
            ("crc32,up", "no source"),
            ("mac", "a mac has a key"),
            ("mac-env", "no source"),
            ("lrc:00", "no key"),
            ("mac:0", "no source"),
            ("nothing", "no source"),
            ("crc16,bytes=3", "1 to 2 bytes"),
            ("cmac:00", "a key of 1 bytes where the mac has a key of 16, 24 or 32"),
            ("retail-mac:0011223344556677", "a key of 8 bytes where the mac has a key of 16"),
        ] {
            assert!(FieldSource::parse(text).unwrap_err().contains(said), "{text}");
        }
        let env = FieldSource::parse("retail-mac-80-env:K,HEX").unwrap();
        assert_eq!((env.secret(), env.computed_bytes()), (Some(&Secret::environment("K")), Some(16)));
        let mac = FieldSource::parse("mac:00ff,bytes=8,hex").unwrap();
        assert_eq!(mac.computed_bytes(), Some(16));
        let field = Field::parse("n", "counter:1..9 as %04d").unwrap();
        assert_eq!(field.format.as_ref().unwrap().width, 4);
        assert!(Field::parse("a b", "uuid").is_err());
    }
}
