//! `Arrays`.

use super::collection::count;
use super::{collection, collections, list};
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::lang::object;
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
        let part = collection::sub_list(m, &args[0], 0, count(&args[1]))?;
        m.invoke(&part, "toArray", &[])
    }),
    row("copyOfRange", 3, |m, _, args| collection::sub_list(m, &args[0], count(&args[1]), count(&args[2]))),
    row("equals", 2, |_, _, args| Ok(Value::Bool(args[0].equals_loosely(&args[1])))),
    row("fill", 2, |m, _, args| m.invoke(&args[0], "fill", &args[1..])),
    row("stream", 1, |_, _, args| Ok(args[0].clone())),
]);
