//! `SignatureAlgorithm`, `Keys` and `Decoders`: what tokens are signed with.

use crate::coding;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, listed, row};
use crate::model::library::constant::{self, Constant};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use crate::model::library::security::mac::Secret;
use crate::model::library::util::random::chance_bytes;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::rc::Rc;

pub(crate) static ALGORITHM: Kind = Kind::new("io.jsonwebtoken", "SignatureAlgorithm")
    .extends(&constant::KIND)
    .constants(|name| java_name(name).map(|_| Constant::value(&ALGORITHM, name)))
    .methods(&[
        row("getValue", 0, |_, of, _| Ok(Value::Text(of.receiver::<Constant>().name.clone()))),
        row("getJcaName", 0, |m, of, _| {
            let name = of.receiver::<Constant>().name.clone();
            m.new_text(java_name(&name).expect("constants are known algorithms"))
        }),
    ]);

pub(crate) static KEYS: Kind = Kind::new("io.jsonwebtoken.security", "Keys").extends(&object::KIND).statics(&[
    row("hmacShaKeyFor", 1, |m, _, args| {
        let bytes = bytes_of(m, &args[0])?;
        if bytes.len() < 32 {
            let bits = bytes.len() * 8;
            let message = format!("The specified key byte array is {bits} bits which is not secure enough for any JWT HMAC-SHA algorithm.");
            return thrown("WeakKeyException", message);
        }
        Ok(Value::object(Secret(bytes)))
    }),
    row("secretKeyFor", 1, |m, _, args| {
        let name = Constant::name_of(&args[0], &ALGORITHM);
        let count = match name.map(|name| &**name) {
            Some("HS256") => 32,
            Some("HS384") => 48,
            Some("HS512") => 64,
            Some(_) | None => return m.no_method(&Value::Class(Class::Known(&KEYS)), "secretKeyFor", args),
        };
        let bytes = chance_bytes(m, count);
        m.take(count)?;
        Ok(Value::object(Secret(Rc::from(bytes))))
    }),
    listed("keyPairFor", "tokens are signed with HMAC here"),
]);

/// `Decoders.BASE64` and `Decoders.BASE64URL`.
struct KeyDecoder {
    of_urls: bool,
}

impl Object for KeyDecoder {
    fn class(&self) -> Class {
        Class::Known(&DECODER)
    }
}

pub(crate) static DECODERS: Kind =
    Kind::new("io.jsonwebtoken.io", "Decoders").extends(&object::KIND).constants(|name| match name {
        "BASE64" => Some(Value::object(KeyDecoder { of_urls: false })),
        "BASE64URL" => Some(Value::object(KeyDecoder { of_urls: true })),
        _ => None,
    });

pub(crate) static DECODER: Kind = Kind::new("io.jsonwebtoken.io", "Decoder").extends(&object::KIND).methods(
    &[row("decode", 1, |m, of, args| {
        let text = m.text(&args[0])?;
        decoded(m, &text, of.receiver::<KeyDecoder>().of_urls)
    })],
);

fn decoded(m: &mut Machine<'_>, text: &str, of_urls: bool) -> Run {
    match coding::from_base64(text, of_urls) {
        Some(bytes) => new_bytes(m, bytes),
        None => thrown("IllegalArgumentException", "Illegal base64 character"),
    }
}

/// The name that Java has for an algorithm of signatures; `None` for one that is not known here.
pub(crate) fn java_name(name: &str) -> Option<&'static str> {
    match name {
        "HS256" => Some("HmacSHA256"),
        "HS384" => Some("HmacSHA384"),
        "HS512" => Some("HmacSHA512"),
        _ => None,
    }
}
