//! Writers of files: `FileWriter`, `BufferedWriter`, `PrintWriter` and the streams that texts are written to.

use super::bytes::Output;
use super::write;
use crate::model::abrupt::Run;
use crate::model::class::{Class, ClassRow, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Bytes that a writer gathers before they go to the host.
const MOST_WAITING: usize = 64 << 10;

/// A file that is being written, and the text that waits.
struct TextWriter {
    path: Rc<str>,
    waiting: RefCell<String>,
}

impl Object for TextWriter {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind =
    Kind::new("java.io", "FileWriter").extends(&object::KIND).creates(open_file).methods(METHODS);

pub(crate) static FILE_STREAM: Kind =
    Kind::new("java.io", "FileOutputStream").extends(&KIND).creates(open_file);

pub(crate) static BUFFERED: Kind = Kind::new("java.io", "BufferedWriter").extends(&KIND).creates(wrap);

pub(crate) static PRINT: Kind = Kind::new("java.io", "PrintWriter").extends(&KIND).creates(wrap);

pub(crate) static STREAM_WRITER: Kind =
    Kind::new("java.io", "OutputStreamWriter").extends(&KIND).creates(wrap);

pub(crate) static PRINT_STREAM: Kind = Kind::new("java.io", "PrintStream").extends(&KIND).creates(wrap);

const METHODS: &[ClassRow] = &[
    row("write", 1, |m, of, args| put(m, of, Some(&args[0]), "")),
    row("append", 1, |m, of, args| put(m, of, Some(&args[0]), "")),
    row("leftShift", 1, |m, of, args| put(m, of, Some(&args[0]), "")),
    row("print", 1, |m, of, args| put(m, of, Some(&args[0]), "")),
    rows("println", 0, 1, |m, of, args| put(m, of, args.first(), "\n")),
    row("writeLine", 1, |m, of, args| put(m, of, Some(&args[0]), "\n")),
    row("newLine", 0, |m, of, _| put(m, of, None, "\n")),
    row("flush", 0, |m, of, _| flush(m, of)),
    row("close", 0, |m, of, _| flush(m, of)),
];

/// `new FileWriter(path, appends)`.
fn open_file(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args {
        [of] => open(m, of, false),
        [of, appends, ..] => open(m, of, appends.is_true()),
        [] => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    }
}

/// `new BufferedWriter(writer)`; what else stands there is an encoding.
fn wrap(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args {
        [of, ..] => open(m, of, false),
        [] => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    }
}

/// A writer of a file, a path or another writer.
pub(crate) fn open(m: &mut Machine<'_>, of: &Value, appends: bool) -> Run {
    if of.as_object::<TextWriter>().is_some() || of.as_object::<Output>().is_some() {
        return Ok(of.clone());
    }
    let path = m.text(of)?;
    if !appends {
        write(m, &path, b"", false)?;
    }
    Ok(Value::object(TextWriter { path, waiting: RefCell::default() }))
}

fn put(m: &mut Machine<'_>, of: &Value, value: Option<&Value>, end: &str) -> Run {
    let text = match value {
        Some(value) => m.text(value)?,
        None => Rc::from(""),
    };
    m.take(text.len() + end.len())?;
    let writer = of.receiver::<TextWriter>();
    writer.waiting.borrow_mut().push_str(&text);
    writer.waiting.borrow_mut().push_str(end);
    if writer.waiting.borrow().len() > MOST_WAITING {
        flush(m, of)?;
    }
    Ok(of.clone())
}

fn flush(m: &mut Machine<'_>, of: &Value) -> Run {
    let writer = of.receiver::<TextWriter>();
    let waiting = writer.waiting.take();
    if !waiting.is_empty() {
        write(m, &writer.path, waiting.as_bytes(), true)?;
    }
    Ok(Value::Null)
}
