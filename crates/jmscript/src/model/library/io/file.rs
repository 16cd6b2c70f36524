//! `File`.

use super::{read_bytes, read_text, reader, write, writer};
use crate::model::abrupt::Run;
use crate::model::class::{Class, ClassRow, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use std::rc::Rc;

/// A path.
pub(crate) struct File(pub Rc<str>);

impl Object for File {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&self.0);
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<File>().is_some_and(|other| self.0 == other.0)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.io", "File")
    .extends(&object::KIND)
    .creates(|m, _, args| {
        let path: Rc<str> = match args {
            [folder, name] => Rc::from(format!("{}/{}", m.text(folder)?, m.text(name)?)),
            [path] => m.text(path)?,
            _ => return m.no_method(&Value::Class(Class::Known(&KIND)), "<init>", args),
        };
        Ok(Value::object(File(path)))
    })
    .casts(|m, value| match value.as_text() {
        Some(_) => m.text(&value).map(|path| Value::object(File(path))),
        None => Ok(value),
    })
    .constants(|name| match name {
        "separator" | "separatorChar" => Some(Value::from("/")),
        "pathSeparator" => Some(Value::from(":")),
        _ => None,
    })
    .methods(METHODS);

const METHODS: &[ClassRow] = &[
    // Reading.
    rows("getText", 0, 1, |m, of, _| read_text(m, path(of)).map(Value::Text)),
    row("getBytes", 0, |m, of, _| read_bytes(m, path(of)).map(Value::bytes)),
    row("readBytes", 0, |m, of, _| read_bytes(m, path(of)).map(Value::bytes)),
    rows("readLines", 0, 1, |m, of, _| {
        let text = read_text(m, path(of))?;
        m.new_list(text.lines().map(Value::from).collect())
    }),
    rows("eachLine", 1, 2, |m, of, args| {
        let text = read_text(m, path(of))?;
        m.invoke(&Value::Text(text), "eachLine", &args[args.len() - 1..])
    }),
    row("newReader", 0, |m, of, _| reader::open(m, of)),
    row("withReader", 1, |m, of, args| {
        let Value::Closure(closure) = &args[0] else { return m.no_method(of, "withReader", args) };
        let reader = reader::open(m, of)?;
        m.call_closure(closure, &[reader])
    }),
    row("exists", 0, |m, of, _| Ok(Value::Bool(m.host.has_file(path(of))))),
    row("isFile", 0, |m, of, _| Ok(Value::Bool(m.host.has_file(path(of))))),
    row("length", 0, size),
    row("size", 0, size),
    // Writing.
    rows("append", 1, 2, |m, of, args| put(m, of, &args[0], true)),
    row("leftShift", 1, |m, of, args| put(m, of, &args[0], true)),
    rows("write", 1, 2, |m, of, args| put(m, of, &args[0], false)),
    rows("setText", 1, 2, |m, of, args| put(m, of, &args[0], false)),
    rows("withWriter", 1, 2, |m, of, args| with_writer(m, of, args, false)),
    rows("withPrintWriter", 1, 2, |m, of, args| with_writer(m, of, args, false)),
    rows("withWriterAppend", 1, 2, |m, of, args| with_writer(m, of, args, true)),
    rows("newWriter", 0, 2, |m, of, args| writer::open(m, of, args.first().is_some_and(Value::is_true))),
    rows("newPrintWriter", 0, 2, |m, of, args| writer::open(m, of, args.first().is_some_and(Value::is_true))),
    row("createNewFile", 0, |m, of, _| {
        let is_new = !m.host.has_file(path(of));
        write(m, path(of), b"", true)?;
        Ok(Value::Bool(is_new))
    }),
    // Its path.
    row("getName", 0, name),
    row("getFileName", 0, name),
    row("getPath", 0, path_text),
    row("getAbsolutePath", 0, path_text),
    row("getCanonicalPath", 0, path_text),
    row("toPath", 0, itself),
    row("toFile", 0, itself),
    row("toAbsolutePath", 0, itself),
];

fn path(of: &Value) -> &Rc<str> {
    &of.receiver::<File>().0
}

fn path_text(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Text(path(of).clone()))
}

fn name(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::from(path(of).rsplit('/').next().unwrap_or(path(of))))
}

fn itself(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(of.clone())
}

fn size(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Long(read_bytes(m, path(of))?.len() as i64))
}

fn put(m: &mut Machine<'_>, of: &Value, value: &Value, appends: bool) -> Run {
    let text = m.text(value)?;
    write(m, path(of), text.as_bytes(), appends)?;
    Ok(of.clone())
}

fn with_writer(m: &mut Machine<'_>, of: &Value, args: &[Value], appends: bool) -> Run {
    let Some(Value::Closure(closure)) = args.last() else { return m.no_method(of, "withWriter", args) };
    let writer = writer::open(m, of, appends)?;
    let value = m.call_closure(closure, std::slice::from_ref(&writer))?;
    m.invoke(&writer, "close", &[])?;
    Ok(value)
}
