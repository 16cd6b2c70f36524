//! `OUT` and `System.out`.

use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::lang::object::{self, print};
use crate::model::meaning::format;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.io", "PrintStream").extends(&object::KIND).methods(&[
    row("println", 0, |m, _, _| print(m, &Value::from(""), "\n")),
    row("println", 1, |m, _, args| print(m, &args[0], "\n")),
    row("print", 1, |m, _, args| print(m, &args[0], "")),
    row("append", 1, |m, _, args| print(m, &args[0], "")),
    rows("printf", 1, MANY, |m, _, args| {
        let text = format::format(m, args)?;
        print(m, &Value::text(text), "")
    }),
    rows("format", 1, MANY, |m, _, args| {
        let text = format::format(m, args)?;
        print(m, &Value::text(text), "")
    }),
    row("flush", 0, |_, _, _| Ok(Value::Null)),
]);
