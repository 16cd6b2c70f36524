//! `JsonSlurper`.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::io::{file::File, read_text};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value, json, text};
use std::rc::Rc;

struct JsonSlurper;

impl Object for JsonSlurper {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind = Kind::new("groovy.json", "JsonSlurper")
    .extends(&object::KIND)
    .creates(|_, _, _| Ok(Value::object(JsonSlurper)))
    .methods(&[
        row("parseText", 1, parse_value),
        rows("parse", 1, 2, parse_value),
        rows("parseFile", 1, 2, parse_value),
        row("setType", 1, |_, of, _| Ok(of.clone())),
    ]);

pub(crate) static CLASSIC: Kind = Kind::new("groovy.json", "JsonSlurperClassic")
    .extends(&KIND)
    .creates(|_, _, _| Ok(Value::object(JsonSlurper)));

fn parse_value(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let text = match &args[0] {
        Value::Null => return thrown("IllegalArgumentException", "Text must not be null or empty"),
        Value::Bytes(bytes) => Rc::from(String::from_utf8_lossy(&bytes.get())),
        value => match value.as_object::<File>() {
            Some(file) => read_text(m, &file.0)?,
            None if value.kind().is_a(&crate::model::library::io::reader::BUFFERED) => {
                let text = m.invoke(value, "getText", &[])?;
                m.text(&text)?
            }
            None => m.text(value)?,
        },
    };
    parse(m, &text)
}

/// The value that a JSON text says.
pub(crate) fn parse(m: &mut Machine<'_>, text: &str) -> Run {
    if text.trim().is_empty() {
        return thrown("IllegalArgumentException", "Text must not be null or empty");
    }
    // Reading makes at most some values per byte.
    m.take(text.len().saturating_mul(8))?;
    m.work(text.len() / 32)?;
    match json::parse(text) {
        Ok(value) => Ok(value),
        Err((message, at)) => {
            let (line, column) = text::position(text, at);
            let near: String = text[at..].chars().take(40).collect();
            thrown("JsonException", format!("{message}\n\nline {line}, column {column}, at: {near}"))
        }
    }
}
