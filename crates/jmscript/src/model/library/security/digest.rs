//! `MessageDigest`, and digests as methods of texts and bytes.

use crate::coding;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, gives, row, rows};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::{object, string};
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// An algorithm, and what it was given.
struct Digest {
    algorithm: Rc<str>,
    data: RefCell<Vec<u8>>,
}

impl Object for Digest {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.security", "MessageDigest")
    .extends(&object::KIND)
    .statics(&[
        gives(
            row("getInstance", 1, |m, _, args| {
                let algorithm = m.text(&args[0])?;
                digest(m, &algorithm, &[])?;
                Ok(Value::object(Digest { algorithm, data: RefCell::default() }))
            }),
            &KIND,
        ),
        row("isEqual", 2, |m, _, args| Ok(Value::Bool(bytes_of(m, &args[0])? == bytes_of(m, &args[1])?))),
    ])
    .methods(&[
        row("update", 1, |m, of, args| {
            add(m, of, &args[0])?;
            Ok(Value::Null)
        }),
        rows("digest", 0, 1, |m, of, args| {
            if let Some(last) = args.first() {
                add(m, of, last)?;
            }
            let Digest { algorithm, data } = of.receiver();
            let found = digest(m, algorithm, &data.take())?;
            new_bytes(m, found)
        }),
        row("reset", 0, |_, of, _| {
            of.receiver::<Digest>().data.take();
            Ok(Value::Null)
        }),
        row("getAlgorithm", 0, |_, of, _| Ok(Value::Text(of.receiver::<Digest>().algorithm.clone()))),
    ]);

fn add(m: &mut Machine<'_>, of: &Value, more: &Value) -> Run<()> {
    let bytes = bytes_of(m, more)?;
    m.take(bytes.len())?;
    of.receiver::<Digest>().data.borrow_mut().extend_from_slice(&bytes);
    Ok(())
}

/// The digest of an algorithm by Java's name.
pub(crate) fn digest(m: &mut Machine<'_>, algorithm: &str, bytes: &[u8]) -> Run<Vec<u8>> {
    m.work(bytes.len() / 32)?;
    match coding::digest(algorithm, bytes) {
        Some(found) => Ok(found),
        None => thrown("NoSuchAlgorithmException", format!("{algorithm} MessageDigest not available")),
    }
}

/// The digest of a text or of bytes in hexadecimal digits.
pub(crate) fn hex_digest(m: &mut Machine<'_>, algorithm: &str, of: &Value) -> Run {
    let bytes = bytes_of(m, of)?;
    m.work(bytes.len() / 64)?;
    let found = digest(m, algorithm, &bytes)?;
    m.new_text(coding::hex(&found))
}

/// A text in hexadecimal digits as bytes.
pub(crate) fn decode_hex(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    match coding::from_hex(&string::receiver(m, of)?) {
        Some(bytes) => new_bytes(m, bytes),
        None => thrown("NumberFormatException", "odd number of characters in hex string"),
    }
}

/// A text in Base64 as bytes.
pub(crate) fn decode_base64(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    base64(m, of, false)
}

/// A text in the Base64 of URLs as bytes.
pub(crate) fn decode_base64_url(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    base64(m, of, true)
}

fn base64(m: &mut Machine<'_>, of: &Value, of_urls: bool) -> Run {
    match coding::from_base64(&string::receiver(m, of)?, of_urls) {
        Some(bytes) => new_bytes(m, bytes),
        None => thrown("RuntimeException", "bad character in base64 value"),
    }
}
