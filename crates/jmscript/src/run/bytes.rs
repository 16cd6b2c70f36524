//! Bytes: encodings, digests, Base64, and percent encoding.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::method::Method;
use crate::value::{Object, Value};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, Engine};
use base64::{alphabet, engine::general_purpose};
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use std::cell::RefCell;
use std::rc::Rc;

/// A text's bytes in a charset; UTF-8 where it is not one of the old ones.
pub(super) fn encoded(text: &str, charset: &str) -> Rc<[u8]> {
    match charset.to_ascii_uppercase().replace('_', "-").as_str() {
        "ISO-8859-1" | "LATIN1" => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
        "US-ASCII" | "ASCII" => text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' }).collect(),
        "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => Rc::from(text.as_bytes()),
    }
}

/// The text of bytes in a charset.
pub(super) fn decoded(bytes: &[u8], charset: &str) -> String {
    match charset.to_ascii_uppercase().replace('_', "-").as_str() {
        "ISO-8859-1" | "LATIN1" => bytes.iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The digest of an algorithm by Java's name.
pub(super) fn digest(algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>> {
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
fn hmac(algorithm: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    if text.len().is_multiple_of(2) { (0..text.len()).step_by(2).map(pair).collect() } else { None }
}

fn engine(of_urls: bool, pads: bool) -> GeneralPurpose {
    let config = if pads { general_purpose::PAD } else { general_purpose::NO_PAD };
    let config: GeneralPurposeConfig =
        config.with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(if of_urls { &alphabet::URL_SAFE } else { &alphabet::STANDARD }, config)
}

/// Base64 of either alphabet, without blanks.
fn from_base64(text: &str, of_urls: bool) -> Option<Vec<u8>> {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = if of_urls { plain } else { plain.replace('-', "+").replace('_', "/") };
    engine(of_urls, false).decode(plain.trim_end_matches('=')).ok()
}

impl Machine<'_> {
    fn new_bytes(&mut self, bytes: Vec<u8>) -> Run {
        self.take(bytes.len())?;
        Ok(Value::Bytes(Rc::from(bytes)))
    }

    /// The bytes of a value: those of an array, or of a text in UTF-8.
    pub(super) fn bytes_of(&mut self, value: &Value) -> Run<Rc<[u8]>> {
        match value {
            Value::Bytes(bytes) => Ok(bytes.clone()),
            Value::List(list) => {
                Ok(list.look(|items| items.iter().map(|item| item.to_long().unwrap_or(0) as u8).collect()))
            }
            value => Ok(Rc::from(self.text(value)?.as_bytes())),
        }
    }

    pub(super) fn bytes_method(
        &mut self,
        bytes: &Rc<[u8]>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        self.work(bytes.len() / 64)?;
        Ok(Some(match (method, args) {
            (Method::encodeBase64 | Method::encodeBase64Url, _) => {
                let of_urls = method == Method::encodeBase64Url;
                self.new_text(engine(of_urls, !of_urls).encode(bytes))?
            }
            (Method::encodeHex, []) => self.new_text(hex(bytes))?,
            (Method::length | Method::size, []) => Value::count(bytes.len()),
            (Method::md5, []) => self.new_text(hex(&Md5::digest(bytes)))?,
            (Method::sha256, []) => self.new_text(hex(&Sha256::digest(bytes)))?,
            (Method::toString, []) => self.new_text("[B@1".to_owned())?,
            _ => {
                let items = self.items(&Value::Bytes(bytes.clone()))?;
                let list = self.list_of_kind(crate::value::ListKind::Array, items)?;
                return self.collection_method(&list, method, args);
            }
        }))
    }

    /// Methods of texts that take or give bytes.
    pub(super) fn text_digest(&mut self, of: &str, method: Method, args: &[Value]) -> Run {
        self.work(of.len() / 64)?;
        match method {
            Method::md5 => self.new_text(hex(&Md5::digest(of))),
            Method::sha256 => self.new_text(hex(&Sha256::digest(of))),
            Method::digest => {
                let algorithm = self.text(args.first().unwrap_or(&Value::Null))?;
                let found = self.digest(&algorithm, of.as_bytes())?;
                self.new_text(hex(&found))
            }
            Method::decodeHex => match from_hex(of) {
                Some(bytes) => self.new_bytes(bytes),
                None => thrown("NumberFormatException", "odd number of characters in hex string"),
            },
            _ => match from_base64(of, method == Method::decodeBase64Url) {
                Some(bytes) => self.new_bytes(bytes),
                None => thrown("RuntimeException", "bad character in base64 value"),
            },
        }
    }

    fn digest(&mut self, algorithm: &str, bytes: &[u8]) -> Run<Vec<u8>> {
        self.work(bytes.len() / 32)?;
        match digest(algorithm, bytes) {
            Some(found) => Ok(found),
            None => thrown("NoSuchAlgorithmException", format!("{algorithm} MessageDigest not available")),
        }
    }

    /// Encoders, decoders, digests and MACs.
    pub(super) fn coder_method(
        &mut self,
        object: &Rc<Object>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (&**object, method) {
            (Object::Encoder(of_urls, pads, _), Method::encodeToString | Method::encode) => {
                let bytes = self.bytes_of(&first)?;
                self.work(bytes.len() / 32)?;
                let text = engine(*of_urls, *pads).encode(&bytes);
                if method == Method::encode {
                    self.new_bytes(text.into_bytes())?
                } else {
                    self.new_text(text)?
                }
            }
            (Object::Encoder(of_urls, _, lines), Method::withoutPadding) => {
                Value::object(Object::Encoder(*of_urls, false, *lines))
            }
            (Object::Decoder(of_urls, _), Method::decode) => {
                let text = self.bytes_of(&first)?;
                match from_base64(&String::from_utf8_lossy(&text), *of_urls) {
                    Some(bytes) => self.new_bytes(bytes)?,
                    None => return thrown("IllegalArgumentException", "Illegal base64 character"),
                }
            }
            (Object::Digest(algorithm, data), Method::update | Method::digest) => {
                if !args.is_empty() {
                    let bytes = self.bytes_of(&first)?;
                    self.take(bytes.len())?;
                    data.borrow_mut().extend_from_slice(&bytes);
                }
                if method == Method::update {
                    return Ok(Some(Value::Null));
                }
                let found = self.digest(algorithm, &data.take())?;
                self.new_bytes(found)?
            }
            (Object::Digest(_, data), Method::reset) => {
                data.borrow_mut().clear();
                Value::Null
            }
            _ => return self.mac_method(object, method, args),
        }))
    }

    fn mac_method(&mut self, object: &Rc<Object>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (&**object, method) {
            (Object::Mac(_, key, _), Method::init) => {
                let Value::Object(secret) = &first else { return Ok(None) };
                let Object::Secret(bytes) = &**secret else { return Ok(None) };
                *key.borrow_mut() = bytes.to_vec();
                Value::Null
            }
            (Object::Mac(algorithm, key, data), Method::update | Method::doFinal) => {
                if !args.is_empty() {
                    let bytes = self.bytes_of(&first)?;
                    self.take(bytes.len())?;
                    data.borrow_mut().extend_from_slice(&bytes);
                }
                if method == Method::update {
                    return Ok(Some(Value::Null));
                }
                let data = data.take();
                self.work(data.len() / 32)?;
                match hmac(algorithm, &key.borrow(), &data) {
                    Some(found) => self.new_bytes(found)?,
                    None => {
                        return thrown(
                            "NoSuchAlgorithmException",
                            format!("Algorithm {algorithm} not available"),
                        );
                    }
                }
            }
            (Object::Digest(algorithm, _) | Object::Mac(algorithm, ..), Method::getAlgorithm) => {
                Value::Text(algorithm.clone())
            }
            _ => return Ok(None),
        }))
    }

    /// Static methods of classes that deal with bytes.
    pub(super) fn bytes_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::Base64, Method::getEncoder) => Value::object(Object::Encoder(false, true, false)),
            (Class::Base64, Method::getUrlEncoder) => Value::object(Object::Encoder(true, true, false)),
            (Class::Base64, Method::getMimeEncoder) => Value::object(Object::Encoder(false, true, true)),
            (Class::Base64, Method::getDecoder | Method::getMimeDecoder) => {
                Value::object(Object::Decoder(false, true))
            }
            (Class::Base64, Method::getUrlDecoder) => Value::object(Object::Decoder(true, false)),
            (
                Class::CodecBase64,
                Method::encodeBase64 | Method::encodeBase64String | Method::encodeBase64URLSafeString,
            ) => {
                let bytes = self.bytes_of(&first)?;
                let of_urls = method == Method::encodeBase64URLSafeString;
                let text = engine(of_urls, !of_urls).encode(&bytes);
                if method == Method::encodeBase64 {
                    self.new_bytes(text.into_bytes())?
                } else {
                    self.new_text(text)?
                }
            }
            (Class::CodecBase64, Method::decodeBase64) => {
                let text = self.bytes_of(&first)?;
                let bytes = from_base64(&String::from_utf8_lossy(&text), false).unwrap_or_default();
                self.new_bytes(bytes)?
            }
            (Class::Hex, Method::encodeHexString | Method::encodeHex) => {
                let bytes = self.bytes_of(&first)?;
                self.new_text(hex(&bytes))?
            }
            (Class::Hex, Method::decodeHex) => {
                let text = self.text(&first)?;
                self.text_digest(&text, Method::decodeHex, &[])?
            }
            _ => return self.digest_class(class, method, args),
        }))
    }

    /// Digests, MACs and percent encoding.
    fn digest_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::DigestUtils, _) => {
                let (name, is_text) = match method {
                    Method::md5Hex => ("MD5", true),
                    Method::sha1Hex | Method::shaHex => ("SHA1", true),
                    Method::sha256Hex => ("SHA256", true),
                    Method::sha512Hex => ("SHA512", true),
                    Method::md5 => ("MD5", false),
                    Method::sha1 => ("SHA1", false),
                    Method::sha256 => ("SHA256", false),
                    Method::sha512 => ("SHA512", false),
                    _ => return Ok(None),
                };
                let bytes = self.bytes_of(&first)?;
                let found = self.digest(name, &bytes)?;
                if is_text { self.new_text(hex(&found))? } else { self.new_bytes(found)? }
            }
            (Class::MessageDigest, Method::getInstance) => {
                let algorithm = self.text(&first)?;
                self.digest(&algorithm, &[])?;
                Value::object(Object::Digest(algorithm, RefCell::default()))
            }
            (Class::Mac, Method::getInstance) => {
                let algorithm = self.text(&first)?;
                Value::object(Object::Mac(algorithm, RefCell::default(), RefCell::default()))
            }
            (Class::UrlEncoder, Method::encode) => {
                let text = self.text(&first)?;
                self.take(text.len() * 3)?;
                self.new_text(url_encoded(&text))?
            }
            (Class::UrlDecoder, Method::decode) => {
                let text = self.text(&first)?;
                match url_decoded(&text) {
                    Some(text) => self.new_text(text)?,
                    None => {
                        return thrown(
                            "IllegalArgumentException",
                            "URLDecoder: Illegal hex characters in escape (%) pattern",
                        );
                    }
                }
            }
            _ => return Ok(None),
        }))
    }
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

pub(super) fn url_decoded(text: &str) -> Option<String> {
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
