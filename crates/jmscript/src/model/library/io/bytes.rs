//! Streams of bytes in memory: `ByteArrayOutputStream` and `ByteArrayInputStream`, and those that compress or decompress on their way.

use super::packing::{self, Packing};
use crate::coding;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, row, rows};
use crate::model::library::lang::bytes::{bytes_of, new_bytes};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A stream that is written to.
pub(crate) struct Output {
    kind: &'static Kind,
    data: RefCell<Vec<u8>>,
    /// The stream that what was written goes to, compressed, when it ends; `None`: it is kept.
    to: Option<Packed>,
}

/// Where compressed bytes go.
struct Packed {
    stream: Value,
    packing: Packing,
    has_ended: Cell<bool>,
}

impl Object for Output {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        match self.to {
            None => out.push_str(&String::from_utf8_lossy(&self.data.borrow())),
            Some(_) => {
                out.push_str(&self.class().full_name());
                out.push_str("@1");
            }
        }
    }

    fn held(&self) -> Vec<Value> {
        self.to.iter().map(|to| to.stream.clone()).collect()
    }
}

/// A stream that is read from.
pub(crate) struct Input {
    kind: &'static Kind,
    data: Rc<[u8]>,
    at: Cell<usize>,
}

impl Object for Input {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }
}

pub(crate) static OUTPUT_STREAM: Kind =
    Kind::new("java.io", "OutputStream").extends(&object::KIND).methods(OUTPUT_METHODS);

pub(crate) static OUTPUT: Kind = Kind::new("java.io", "ByteArrayOutputStream")
    .extends(&OUTPUT_STREAM)
    .creates(|_, kind, _| Ok(Value::object(Output { kind, data: RefCell::default(), to: None })))
    .methods(&[
        row("toByteArray", 0, |m, of, _| {
            let bytes = of.receiver::<Output>().data.borrow().clone();
            new_bytes(m, bytes)
        }),
        rows("toString", 0, 1, |m, of, args| {
            let charset = match args.first() {
                Some(charset) => m.text(charset)?,
                None => Rc::from("UTF-8"),
            };
            let text = coding::decoded(&of.receiver::<Output>().data.borrow(), &charset);
            m.new_text(text)
        }),
        row("size", 0, |_, of, _| Ok(Value::count(of.receiver::<Output>().data.borrow().len()))),
        row("reset", 0, |_, of, _| {
            of.receiver::<Output>().data.take();
            Ok(Value::Null)
        }),
        row("writeTo", 1, |m, of, args| {
            let bytes = of.receiver::<Output>().data.borrow().clone();
            let bytes = new_bytes(m, bytes)?;
            m.invoke(&args[0], "write", &[bytes])
        }),
    ]);

const OUTPUT_METHODS: &[ClassRow] = &[
    row("write", 1, |m, of, args| write(m, of, &args[0]).map(|()| Value::Null)),
    row("writeBytes", 1, |m, of, args| write(m, of, &args[0]).map(|()| Value::Null)),
    row("write", 3, |m, of, args| {
        let bytes = bytes_of(m, &args[0])?;
        match part(&bytes, &args[1], &args[2]) {
            Some(part) => put(m, of.receiver(), part).map(|()| Value::Null),
            None => thrown("IndexOutOfBoundsException", "the part is not within the array"),
        }
    }),
    row("leftShift", 1, |m, of, args| write(m, of, &args[0]).map(|()| of.clone())),
    row("append", 1, |m, of, args| write_text(m, of, &args[0], "")),
    row("print", 1, |m, of, args| write_text(m, of, &args[0], "")),
    rows("println", 0, 1, |m, of, args| write_text(m, of, args.first().unwrap_or(&Value::from("")), "\n")),
    row("newLine", 0, |m, of, _| write_text(m, of, &Value::from(""), "\n")),
    row("flush", 0, |_, _, _| Ok(Value::Null)),
    row("finish", 0, |m, of, _| finish(m, of.receiver())),
    row("close", 0, |m, of, _| finish(m, of.receiver())),
    row("withCloseable", 1, |m, of, args| {
        let value = m.apply(&args[0], std::slice::from_ref(of))?;
        finish(m, of.receiver())?;
        Ok(value)
    }),
    row("withStream", 1, |m, of, args| {
        let value = m.apply(&args[0], std::slice::from_ref(of))?;
        finish(m, of.receiver())?;
        Ok(value)
    }),
];

/// Texts are written to it, which it keeps in UTF-8.
pub(crate) static STRING_WRITER: Kind = Kind::new("java.io", "StringWriter")
    .extends(&OUTPUT_STREAM)
    .creates(|_, kind, _| Ok(Value::object(Output { kind, data: RefCell::default(), to: None })))
    .methods(&[
        row("write", 1, |m, of, args| match args[0].to_long().filter(|_| args[0].is_number()) {
            Some(code) => {
                let c =
                    u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                write_text(m, of, &Value::Char(c), "").map(|_| Value::Null)
            }
            None => write_text(m, of, &args[0], "").map(|_| Value::Null),
        }),
        row("getBuffer", 0, |m, of, _| m.text(of).map(Value::Text)),
    ]);

pub(crate) static INPUT: Kind =
    Kind::new("java.io", "ByteArrayInputStream").extends(&INPUT_STREAM).creates(|m, kind, args| match args {
        [bytes] => {
            let data = bytes_of(m, bytes)?;
            Ok(Value::object(Input { kind, data, at: Cell::new(0) }))
        }
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    });

pub(crate) static INPUT_STREAM: Kind = Kind::new("java.io", "InputStream").extends(&object::KIND).methods(&[
    row("read", 0, |_, of, _| {
        let input: &Input = of.receiver();
        let byte = input.data.get(input.at.get()).copied();
        input.at.set(input.at.get().saturating_add(1));
        Ok(Value::Int(byte.map_or(-1, i32::from)))
    }),
    row("read", 1, |m, of, args| match &args[0] {
        Value::Bytes(to) => {
            let rest = rest(of.receiver(), to.len());
            m.work(rest.len() / 64)?;
            to.change(|to| to[..rest.len()].copy_from_slice(&rest));
            Ok(if rest.is_empty() && !to.is_empty() { Value::Int(-1) } else { Value::count(rest.len()) })
        }
        _ => m.no_method(of, "read", args),
    }),
    row("readAllBytes", 0, all),
    row("getBytes", 0, all),
    rows("getText", 0, 1, |m, of, args| {
        let charset = match args.first() {
            Some(charset) => m.text(charset)?,
            None => Rc::from("UTF-8"),
        };
        let text = coding::decoded(&rest(of.receiver(), usize::MAX), &charset);
        m.new_text(text)
    }),
    row("available", 0, |_, of, _| {
        let input: &Input = of.receiver();
        Ok(Value::count(input.data.len().saturating_sub(input.at.get())))
    }),
    row("close", 0, |_, _, _| Ok(Value::Null)),
]);

/// A stream of the class that decompresses what another one has left.
pub(crate) fn unpacked(m: &mut Machine<'_>, kind: &'static Kind, of: &Value, packing: Packing) -> Run {
    let Some(input) = of.as_object::<Input>() else {
        return m.no_method(&Value::Class(Class::Known(kind)), "<init>", std::slice::from_ref(of));
    };
    let data = packing::unpack(m, &rest(input, usize::MAX), packing)?;
    Ok(Value::object(Input { kind, data: Rc::from(data), at: Cell::new(0) }))
}

/// A stream of the class that compresses what goes to another one.
pub(crate) fn packed(m: &mut Machine<'_>, kind: &'static Kind, to: &Value, packing: Packing) -> Run {
    if to.as_object::<Output>().is_none() {
        return m.no_method(&Value::Class(Class::Known(kind)), "<init>", std::slice::from_ref(to));
    }
    let to = Packed { stream: to.clone(), packing, has_ended: Cell::new(false) };
    Ok(Value::object(Output { kind, data: RefCell::default(), to: Some(to) }))
}

/// The rest of a stream, at most so many bytes, which are then gone.
fn rest(input: &Input, most: usize) -> Rc<[u8]> {
    let from = input.at.get().min(input.data.len());
    let to = from.saturating_add(most).min(input.data.len());
    input.at.set(to);
    Rc::from(&input.data[from..to])
}

/// The text that is left of a stream, where the value is one.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    let input = value.as_object::<Input>()?;
    Some(String::from_utf8_lossy(&rest(input, usize::MAX)).into_owned())
}

fn all(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let rest = rest(of.receiver(), usize::MAX);
    new_bytes(m, rest.to_vec())
}

fn part<'b>(bytes: &'b [u8], from: &Value, count: &Value) -> Option<&'b [u8]> {
    let from = usize::try_from(from.to_long()?).ok()?;
    let count = usize::try_from(count.to_long()?).ok()?;
    bytes.get(from..from.checked_add(count)?)
}

/// A number is one byte, anything else all of its bytes.
fn write(m: &mut Machine<'_>, of: &Value, value: &Value) -> Run<()> {
    match value {
        value if value.is_number() => {
            let byte = value.to_long().unwrap_or(0) as u8;
            put(m, of.receiver(), &[byte])
        }
        Value::Null => thrown("NullPointerException", "Cannot read the array length because \"b\" is null"),
        value => {
            let bytes = bytes_of(m, value)?;
            put(m, of.receiver(), &bytes)
        }
    }
}

fn write_text(m: &mut Machine<'_>, of: &Value, value: &Value, end: &str) -> Run {
    let text = m.text(value)?;
    put(m, of.receiver(), text.as_bytes())?;
    put(m, of.receiver(), end.as_bytes())?;
    Ok(of.clone())
}

fn put(m: &mut Machine<'_>, output: &Output, bytes: &[u8]) -> Run<()> {
    if output.to.as_ref().is_some_and(|to| to.has_ended.get()) {
        return thrown("IOException", "Stream closed");
    }
    m.take(bytes.len())?;
    m.work(bytes.len() / 64)?;
    output.data.borrow_mut().extend_from_slice(bytes);
    Ok(())
}

/// Sends on all that was written, compressed; once.
fn finish(m: &mut Machine<'_>, output: &Output) -> Run {
    if let Some(to) = output.to.as_ref().filter(|to| !to.has_ended.replace(true)) {
        let packed = packing::pack(m, &output.data.take(), to.packing)?;
        let target = to.stream.as_object::<Output>().expect("it was one when it was given");
        put(m, target, &packed)?;
    }
    Ok(Value::Null)
}
