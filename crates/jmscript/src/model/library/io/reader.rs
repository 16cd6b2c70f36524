//! Readers of files: `FileReader` and `BufferedReader`.

use super::{bytes, read_text};
use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::items;
use crate::model::value::{Object, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Lines still to be read, the last first.
struct IoReader(RefCell<Vec<Rc<str>>>);

impl IoReader {
    /// All that is left as one text.
    fn rest(&self) -> String {
        let lines: Vec<Rc<str>> = self.0.take().into_iter().rev().collect();
        lines.join("\n")
    }
}

impl Object for IoReader {
    fn class(&self) -> Class {
        Class::Known(&BUFFERED)
    }

    fn items(&self, _: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        Ok(self.0.take().into_iter().rev().map(Value::Text).collect())
    }
}

pub(crate) static KIND: Kind = Kind::new("java.io", "FileReader").extends(&object::KIND).creates(create);

pub(crate) static STREAM: Kind = Kind::new("java.io", "InputStreamReader").extends(&BUFFERED).creates(create);

pub(crate) static BUFFERED: Kind =
    Kind::new("java.io", "BufferedReader").extends(&object::KIND).creates(create).methods(&[
        row("readLine", 0, |_, of, _| {
            Ok(of.receiver::<IoReader>().0.borrow_mut().pop().map_or(Value::Null, Value::Text))
        }),
        row("readLines", 0, |m, of, _| {
            let rest = items(m, of)?;
            m.new_list(rest)
        }),
        row("lines", 0, |m, of, _| {
            let rest = items(m, of)?;
            m.new_list(rest)
        }),
        rows("getText", 0, 1, |m, of, _| m.new_text(of.receiver::<IoReader>().rest())),
        row("eachLine", 1, |m, of, args| {
            let rest = Value::text(of.receiver::<IoReader>().rest());
            m.invoke(&rest, "eachLine", args)
        }),
        row("ready", 0, |_, of, _| Ok(Value::Bool(!of.receiver::<IoReader>().0.borrow().is_empty()))),
        row("close", 0, |_, _, _| Ok(Value::Null)),
    ]);

pub(crate) static OF_TEXT: Kind =
    Kind::new("java.io", "StringReader").extends(&BUFFERED).creates(|m, kind, args| match args {
        [text] => {
            let text = m.text(text)?;
            of_text(m, &text)
        }
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    });

fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args.first() {
        Some(of) => open(m, of),
        None => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    }
}

/// A reader of a file, a path, a stream or another reader.
pub(crate) fn open(m: &mut Machine<'_>, of: &Value) -> Run {
    if of.as_object::<IoReader>().is_some() {
        return Ok(of.clone());
    }
    let text = match bytes::text_of(of) {
        Some(text) => Rc::from(text),
        None => {
            let path = m.text(of)?;
            read_text(m, &path)?
        }
    };
    of_text(m, &text)
}

fn of_text(m: &mut Machine<'_>, text: &str) -> Run {
    let lines: Vec<Rc<str>> = text.lines().rev().map(Rc::from).collect();
    m.take_items(lines.len())?;
    Ok(Value::object(IoReader(RefCell::new(lines))))
}
