//! `byte[]`. What it does not know itself, an array of its numbers does.

use super::{array, object};
use crate::coding;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, row, rows};
use crate::model::library::security::digest;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, list_of_kind};
use crate::model::value::{ListKind, Value};
use base64::Engine;
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("", "[B")
    .extends(&object::KIND)
    .passes_on(&array::KIND, |m, of| {
        let items = items(m, of)?;
        list_of_kind(m, ListKind::Array, items)
    })
    .methods(&[
        rows("encodeBase64", 0, 1, |m, of, _| {
            let bytes = receiver(m, of)?;
            m.new_text(coding::engine(false, true).encode(bytes))
        }),
        rows("encodeBase64Url", 0, 1, |m, of, _| {
            let bytes = receiver(m, of)?;
            m.new_text(coding::engine(true, false).encode(bytes))
        }),
        row("encodeHex", 0, |m, of, _| {
            let bytes = receiver(m, of)?;
            m.new_text(coding::hex(&bytes))
        }),
        row("length", 0, |m, of, _| Ok(Value::count(receiver(m, of)?.len()))),
        row("size", 0, |m, of, _| Ok(Value::count(receiver(m, of)?.len()))),
        row("md5", 0, |m, of, _| digest::hex_digest(m, "MD5", of)),
        row("sha256", 0, |m, of, _| digest::hex_digest(m, "SHA256", of)),
        row("digest", 1, |m, of, args| {
            let algorithm = m.text(&args[0])?;
            digest::hex_digest(m, &algorithm, of)
        }),
        row("toString", 0, |m, _, _| m.new_text("[B@1")),
    ]);

fn receiver(m: &mut Machine<'_>, of: &Value) -> Run<Rc<[u8]>> {
    let bytes = bytes_of(m, of)?;
    m.work(bytes.len() / 64)?;
    Ok(bytes)
}

/// Bytes that a script has made.
pub(crate) fn new_bytes(m: &mut Machine<'_>, bytes: Vec<u8>) -> Run {
    m.take(bytes.len())?;
    Ok(Value::bytes(bytes))
}

/// The bytes of a value: those of an array, or of a text in UTF-8.
pub(crate) fn bytes_of(m: &mut Machine<'_>, value: &Value) -> Run<Rc<[u8]>> {
    match value {
        Value::Bytes(bytes) => Ok(bytes.get()),
        Value::List(list) => {
            Ok(list.look(|items| items.iter().map(|item| item.to_long().unwrap_or(0) as u8).collect()))
        }
        value => Ok(Rc::from(m.text(value)?.as_bytes())),
    }
}
