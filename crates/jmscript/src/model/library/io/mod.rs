//! `java.io`: files, as far as the host allows them, below the plan's folder.

pub(crate) mod bytes;
pub(crate) mod file;
pub(crate) mod packing;
pub(crate) mod reader;
pub(crate) mod writer;

use crate::model::abrupt::{Run, thrown};
use crate::model::machine::Machine;
use std::rc::Rc;

/// The bytes of a file.
pub(crate) fn read_bytes(m: &mut Machine<'_>, path: &str) -> Run<Rc<[u8]>> {
    match m.host.read_file(path) {
        Ok(bytes) => {
            m.take(bytes.len())?;
            m.work(bytes.len() / 64)?;
            Ok(bytes)
        }
        Err(reason) => thrown("FileNotFoundException", reason),
    }
}

/// The text of a file.
pub(crate) fn read_text(m: &mut Machine<'_>, path: &str) -> Run<Rc<str>> {
    Ok(Rc::from(String::from_utf8_lossy(&read_bytes(m, path)?)))
}

/// Writes a file, or adds to it.
pub(crate) fn write(m: &mut Machine<'_>, path: &str, bytes: &[u8], appends: bool) -> Run<()> {
    m.work(1 + bytes.len() / 64)?;
    match m.host.write_file(path, bytes, appends) {
        Ok(()) => Ok(()),
        Err(reason) => thrown("IOException", reason),
    }
}
