//! Files, as far as the host allows them: read, write, append, below the plan's folder.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::method::Method;
use crate::value::{Object, Value, Writer};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Bytes that a writer gathers before they go to the host.
const MOST_WAITING: usize = 64 << 10;

impl Machine<'_> {
    fn read_text(&mut self, path: &str) -> Run<Rc<str>> {
        match self.host.read_file(path) {
            Ok(bytes) => {
                self.take(bytes.len())?;
                self.work(bytes.len() / 64)?;
                Ok(Rc::from(String::from_utf8_lossy(&bytes)))
            }
            Err(reason) => thrown("FileNotFoundException", reason),
        }
    }

    fn write_text(&mut self, path: &str, text: &[u8], appends: bool) -> Run<()> {
        self.work(1 + text.len() / 64)?;
        match self.host.write_file(path, text, appends) {
            Ok(()) => Ok(()),
            Err(reason) => thrown("IOException", reason),
        }
    }

    /// A writer of a file, a path or another writer.
    pub(super) fn writer(&mut self, of: &Value, appends: bool) -> Run {
        match of {
            Value::Object(object) if matches!(**object, Object::Writer(_)) => Ok(of.clone()),
            of => {
                let path = self.text(of)?;
                if !appends {
                    self.write_text(&path, b"", false)?;
                }
                Ok(Value::object(Object::Writer(Writer {
                    path,
                    appends: Cell::new(true),
                    waiting: RefCell::default(),
                })))
            }
        }
    }

    pub(super) fn reader(&mut self, of: &Value) -> Run {
        match of {
            Value::Object(object) if matches!(**object, Object::Reader(_)) => Ok(of.clone()),
            of => {
                let path = self.text(of)?;
                let text = self.read_text(&path)?;
                let lines: Vec<Rc<str>> = text.lines().rev().map(Rc::from).collect();
                self.take_items(lines.len())?;
                Ok(Value::object(Object::Reader(RefCell::new(lines))))
            }
        }
    }

    pub(super) fn file_method(
        &mut self,
        path: &Rc<str>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (method, args.len()) {
            (Method::getText, _) => Value::Text(self.read_text(path)?),
            (Method::getBytes | Method::readBytes, 0) => {
                Value::Bytes(Rc::from(self.read_text(path)?.as_bytes()))
            }
            (Method::readLines, _) => {
                let text = self.read_text(path)?;
                let lines = text.lines().map(Value::from).collect();
                self.new_list(lines)?
            }
            (Method::eachLine, _) => {
                let text = Value::Text(self.read_text(path)?);
                self.invoke(&text, Method::eachLine, args)?
            }
            (Method::append | Method::leftShift | Method::write | Method::setText, 1..) => {
                let text = self.text(&first)?;
                let appends = matches!(method, Method::append | Method::leftShift);
                self.write_text(path, text.as_bytes(), appends)?;
                of.clone()
            }
            (Method::withWriter | Method::withWriterAppend | Method::withPrintWriter, 1..) => {
                let writer = self.writer(of, method == Method::withWriterAppend)?;
                let Some(Value::Closure(closure)) = args.last() else { return Ok(None) };
                let value = self.call_closure(&closure.clone(), std::slice::from_ref(&writer))?;
                self.invoke(&writer, Method::close, &[])?;
                value
            }
            (Method::newWriter | Method::newPrintWriter, _) => self.writer(of, first.is_true())?,
            (Method::newReader, _) => self.reader(of)?,
            (Method::withReader, 1) => {
                let reader = self.reader(of)?;
                let Value::Closure(closure) = &first else { return Ok(None) };
                self.call_closure(&closure.clone(), &[reader])?
            }
            (Method::exists | Method::isFile, 0) => Value::Bool(self.host.has_file(path)),
            (Method::createNewFile, 0) => {
                let is_new = !self.host.has_file(path);
                self.write_text(path, b"", true)?;
                Value::Bool(is_new)
            }
            (Method::getName | Method::getFileName, 0) => {
                Value::from(path.rsplit('/').next().unwrap_or(path))
            }
            (Method::getPath | Method::getAbsolutePath | Method::getCanonicalPath | Method::toString, 0) => {
                Value::Text(path.clone())
            }
            (Method::toPath | Method::toFile | Method::toAbsolutePath, 0) => of.clone(),
            (Method::length | Method::size, 0) => Value::Long(self.read_text(path)?.len() as i64),
            _ => return Ok(None),
        }))
    }

    pub(super) fn writer_method(
        &mut self,
        writer: &Writer,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let text: Rc<str> = match (method, args.len()) {
            (Method::write | Method::append | Method::leftShift | Method::print, 1) => self.text(&first)?,
            (Method::println | Method::writeLine, 1) => Rc::from(format!("{}\n", self.text(&first)?)),
            (Method::println | Method::newLine, 0) => Rc::from("\n"),
            (Method::flush | Method::close, 0) => {
                let waiting = writer.waiting.take();
                if !waiting.is_empty() {
                    self.write_text(&writer.path, waiting.as_bytes(), writer.appends.get())?;
                }
                return Ok(Some(Value::Null));
            }
            _ => return Ok(None),
        };
        self.take(text.len())?;
        writer.waiting.borrow_mut().push_str(&text);
        if writer.waiting.borrow().len() > MOST_WAITING {
            self.writer_method(writer, of, Method::flush, &[])?;
        }
        Ok(Some(of.clone()))
    }

    pub(super) fn reader_method(
        &mut self,
        lines: &RefCell<Vec<Rc<str>>>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match method {
            Method::readLine => lines.borrow_mut().pop().map_or(Value::Null, Value::Text),
            Method::readLines => {
                let rest = self.items(of)?;
                self.new_list(rest)?
            }
            Method::getText => {
                let rest: Vec<Rc<str>> = lines.take().into_iter().rev().collect();
                self.new_text(rest.join("\n"))?
            }
            Method::eachLine => {
                let rest: Vec<Rc<str>> = lines.take().into_iter().rev().collect();
                self.invoke(&Value::text(rest.join("\n")), Method::eachLine, args)?
            }
            Method::ready => Value::Bool(!lines.borrow().is_empty()),
            Method::close => Value::Null,
            _ => return Ok(None),
        }))
    }
}
