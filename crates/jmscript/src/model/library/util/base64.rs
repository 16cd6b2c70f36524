//! `Base64` of `java.util`.

use crate::coding;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, gives, row};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use base64::Engine;

/// `Base64.Encoder`.
#[derive(Clone, Copy)]
struct Encoder {
    of_urls: bool,
    pads: bool,
    /// Breaks its text into lines of 76 signs.
    breaks: bool,
}

impl Object for Encoder {
    fn class(&self) -> Class {
        Class::Known(&ENCODER)
    }
}

/// `Base64.Decoder`.
struct Decoder {
    of_urls: bool,
}

impl Object for Decoder {
    fn class(&self) -> Class {
        Class::Known(&DECODER)
    }
}

const PLAIN: Encoder = Encoder { of_urls: false, pads: true, breaks: false };

pub(crate) static KIND: Kind = Kind::new("java.util", "Base64").extends(&object::KIND).statics(&[
    gives(row("getEncoder", 0, |_, _, _| Ok(Value::object(PLAIN))), &ENCODER),
    gives(row("getUrlEncoder", 0, |_, _, _| Ok(Value::object(Encoder { of_urls: true, ..PLAIN }))), &ENCODER),
    gives(row("getMimeEncoder", 0, |_, _, _| Ok(Value::object(Encoder { breaks: true, ..PLAIN }))), &ENCODER),
    gives(row("getDecoder", 0, |_, _, _| Ok(Value::object(Decoder { of_urls: false }))), &DECODER),
    gives(row("getMimeDecoder", 0, |_, _, _| Ok(Value::object(Decoder { of_urls: false }))), &DECODER),
    gives(row("getUrlDecoder", 0, |_, _, _| Ok(Value::object(Decoder { of_urls: true }))), &DECODER),
]);

pub(crate) static ENCODER: Kind = Kind::new("java.util", "Base64.Encoder").extends(&object::KIND).methods(&[
    row("encodeToString", 1, |m, of, args| {
        let text = encoded(m, of, &args[0])?;
        m.new_text(text)
    }),
    row("encode", 1, |m, of, args| {
        let text = encoded(m, of, &args[0])?;
        new_bytes(m, text.into_bytes())
    }),
    row("withoutPadding", 0, |_, of, _| {
        Ok(Value::object(Encoder { pads: false, ..*of.receiver::<Encoder>() }))
    }),
]);

pub(crate) static DECODER: Kind =
    Kind::new("java.util", "Base64.Decoder").extends(&object::KIND).methods(&[row(
        "decode",
        1,
        |m, of, args| {
            let text = bytes_of(m, &args[0])?;
            match coding::from_base64(&String::from_utf8_lossy(&text), of.receiver::<Decoder>().of_urls) {
                Some(bytes) => new_bytes(m, bytes),
                None => thrown("IllegalArgumentException", "Illegal base64 character"),
            }
        },
    )]);

fn encoded(m: &mut Machine<'_>, of: &Value, value: &Value) -> Run<String> {
    let bytes = bytes_of(m, value)?;
    m.work(bytes.len() / 32)?;
    let Encoder { of_urls, pads, breaks } = *of.receiver::<Encoder>();
    let text = coding::engine(of_urls, pads).encode(&bytes);
    if !breaks {
        return Ok(text);
    }
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).expect("signs of Base64 are ASCII"))
        .collect();
    Ok(lines.join("\r\n"))
}
