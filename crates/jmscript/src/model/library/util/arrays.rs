//! `Arrays`.

use super::collection::count;
use super::{collection, collections, list};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::lang::bytes::new_bytes;
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::items;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.util", "Arrays").extends(&object::KIND).statics(&[
    rows("asList", 0, MANY, list::of),
    row("toString", 1, |m, _, args| {
        let items = items(m, &args[0])?;
        m.text(&Value::list(items)).map(Value::Text)
    }),
    rows("sort", 1, 2, collections::sort),
    row("copyOf", 2, |m, _, args| {
        if let Value::Bytes(bytes) = &args[0] {
            return padded(m, &bytes.get(), 0, count(&args[1]));
        }
        let part = collection::sub_list(m, &args[0], 0, count(&args[1]))?;
        m.invoke(&part, "toArray", &[])
    }),
    row("copyOfRange", 3, |m, _, args| match &args[0] {
        Value::Bytes(bytes) => padded(m, &bytes.get(), count(&args[1]), count(&args[2])),
        _ => collection::sub_list(m, &args[0], count(&args[1]), count(&args[2])),
    }),
    row("equals", 2, |_, _, args| Ok(Value::Bool(args[0].equals_loosely(&args[1])))),
    row("fill", 2, |m, _, args| match &args[0] {
        Value::Bytes(bytes) => {
            bytes.change(|bytes| bytes.fill(args[1].to_long().unwrap_or(0) as u8));
            Ok(Value::Null)
        }
        array => m.invoke(array, "fill", &args[1..]),
    }),
    row("stream", 1, |_, _, args| Ok(args[0].clone())),
]);

/// The bytes from one place to another, with zeros behind their end.
fn padded(m: &mut Machine<'_>, bytes: &[u8], from: usize, to: usize) -> Run {
    if from > bytes.len() || from > to {
        return thrown("ArrayIndexOutOfBoundsException", format!("{from} > {to}"));
    }
    m.take(to - from)?;
    let mut part = bytes[from..to.min(bytes.len())].to_vec();
    part.resize(to - from, 0);
    new_bytes(m, part)
}
