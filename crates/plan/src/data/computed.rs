//! Values that depend on the rest of a TCP message: its length, and checksums over it.

use super::number::{Counts, Number};
use super::source::Source;
use crate::data::body::Body;
use crate::data::secret::Secret;
use serde::{Deserialize, Deserializer, Serialize};

/// The length of a message, once all else in it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LengthField {
    /// How it is written.
    pub number: Number,
    /// The bytes that it counts: those that follow the message's head, or all of them.
    #[serde(default)]
    pub counts: Counts,
    /// The number that is added to the count.
    #[serde(default)]
    pub adjust: i64,
}

/// A checksum, once all else is known, lengths included; of several the first is computed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

    /// Returns the kind of key that it needs, in words; `None` where it has none.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Algorithm::HmacSha256 | Algorithm::HmacSha1 | Algorithm::HmacSha512 => Some("a key"),
            Algorithm::Cmac => Some("a key of 16, 24 or 32 bytes"),
            Algorithm::RetailMac | Algorithm::RetailMac80 => Some("a key of 16 bytes"),
            Algorithm::Lrc
            | Algorithm::Crc16
            | Algorithm::Crc16Arc
            | Algorithm::Crc16Modbus
            | Algorithm::Crc16Xmodem
            | Algorithm::Crc32 => None,
        }
    }

    /// True if a key of so many bytes will do.
    pub fn takes(self, key_bytes: usize) -> bool {
        match self {
            Algorithm::Cmac => [16, 24, 32].contains(&key_bytes),
            Algorithm::RetailMac | Algorithm::RetailMac80 => key_bytes == 16,
            Algorithm::Lrc
            | Algorithm::Crc16
            | Algorithm::Crc16Arc
            | Algorithm::Crc16Modbus
            | Algorithm::Crc16Xmodem
            | Algorithm::Crc32
            | Algorithm::HmacSha256
            | Algorithm::HmacSha1
            | Algorithm::HmacSha512 => key_bytes > 0,
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

impl LengthField {
    /// True if it has as many digits as it needs.
    pub fn is_flexible(&self) -> bool {
        self.number == Number::Ascii(0)
    }
}

impl ChecksumField {
    pub(super) fn violation(&self) -> Option<String> {
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

/// A length or a checksum; `None` inside where it only begins like one.
pub(super) fn computed(text: &str) -> Option<Option<Source>> {
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

fn length(number: &str, options: Option<&str>) -> Option<Source> {
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
    Some(Source::Length(field))
}

fn checksum(mut field: ChecksumField, options: Option<&str>) -> Option<Source> {
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        match option.split_once('=') {
            None if option == "hex" => field.digits = Digits::Hex,
            None if option == "HEX" => field.digits = Digits::UpperHex,
            Some(("from", from)) => field.from = from.parse().ok()?,
            Some(("bytes", bytes)) => field.bytes = Some(bytes.parse().ok()?),
            _ => return None,
        }
    }
    Some(Source::Checksum(field))
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
