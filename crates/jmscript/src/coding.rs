//! Texts as bytes and bytes as texts: charsets, hexadecimal digits, Base64, percent encoding; digests and their keyed kind.

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};
use base64::{alphabet, engine::general_purpose};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use std::rc::Rc;

/// A text's bytes in a charset; UTF-8 where it is not one of the old ones.
pub(crate) fn encoded(text: &str, charset: &str) -> Rc<[u8]> {
    match charset.to_ascii_uppercase().replace('_', "-").as_str() {
        "ISO-8859-1" | "LATIN1" => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
        "US-ASCII" | "ASCII" => text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }).collect(),
        "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => Rc::from(text.as_bytes()),
    }
}

/// The text of bytes in a charset.
pub(crate) fn decoded(bytes: &[u8], charset: &str) -> String {
    match charset.to_ascii_uppercase().replace('_', "-").as_str() {
        "ISO-8859-1" | "LATIN1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The digest of an algorithm by Java's name.
pub(crate) fn digest(algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match algorithm.to_ascii_uppercase().replace('-', "").as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA" | "SHA1" => Sha1::digest(bytes).to_vec(),
        "SHA224" => Sha224::digest(bytes).to_vec(),
        "SHA256" => Sha256::digest(bytes).to_vec(),
        "SHA384" => Sha384::digest(bytes).to_vec(),
        "SHA512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

/// The HMAC of an algorithm by Java's name.
pub(crate) fn hmac(algorithm: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    fn of<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let mut mac = <M as KeyInit>::new_from_slice(key).ok()?;
        mac.update(bytes);
        Some(mac.finalize().into_bytes().to_vec())
    }
    match algorithm.to_ascii_uppercase().as_str() {
        "HMACMD5" => of::<Hmac<Md5>>(key, bytes),
        "HMACSHA1" => of::<Hmac<Sha1>>(key, bytes),
        "HMACSHA224" => of::<Hmac<Sha224>>(key, bytes),
        "HMACSHA256" => of::<Hmac<Sha256>>(key, bytes),
        "HMACSHA384" => of::<Hmac<Sha384>>(key, bytes),
        "HMACSHA512" => of::<Hmac<Sha512>>(key, bytes),
        _ => None,
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    if text.len().is_multiple_of(2) { (0..text.len()).step_by(2).map(pair).collect() } else { None }
}

pub(crate) fn engine(of_urls: bool, pads: bool) -> GeneralPurpose {
    let config = if pads { general_purpose::PAD } else { general_purpose::NO_PAD };
    let config: GeneralPurposeConfig =
        config.with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(if of_urls { &alphabet::URL_SAFE } else { &alphabet::STANDARD }, config)
}

/// Base64 of either alphabet, without blanks.
pub(crate) fn from_base64(text: &str, of_urls: bool) -> Option<Vec<u8>> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = if of_urls { plain } else { plain.replace('-', "+").replace('_', "/") };
    engine(of_urls, false).decode(plain.trim_end_matches('=')).ok()
}

/// Forms' encoding: a blank is a plus.
pub(crate) fn url_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub(crate) fn url_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = text.get(at..at + 2)?;
                out.push(u8::from_str_radix(digits, 16).ok()?);
                at += 2;
            }
            byte => out.push(*byte),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}
