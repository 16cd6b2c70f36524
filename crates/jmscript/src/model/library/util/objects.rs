//! `Objects`.

use crate::model::class::{Kind, row};
use crate::model::library::lang::object;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.util", "Objects").extends(&object::KIND).statics(&[
    row("equals", 2, |_, _, args| Ok(Value::Bool(args[0].equals_loosely(&args[1])))),
    row("isNull", 1, |_, _, args| Ok(Value::Bool(args[0].is_null()))),
    row("nonNull", 1, |_, _, args| Ok(Value::Bool(!args[0].is_null()))),
    row("toString", 1, |m, _, args| m.text(&args[0]).map(Value::Text)),
]);
