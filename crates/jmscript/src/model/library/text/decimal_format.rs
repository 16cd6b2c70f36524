//! `DecimalFormat`.

use crate::model::class::{Class, Kind, row};
use crate::model::library::lang::object;
use crate::model::meaning::format::decimal_format;
use crate::model::value::{Object, Value};
use std::rc::Rc;

/// A pattern of digits.
struct DecimalFormat(Rc<str>);

impl Object for DecimalFormat {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.text", "DecimalFormat")
    .extends(&object::KIND)
    .creates(|m, kind, args| match args.first() {
        Some(pattern) => {
            let pattern = m.text(pattern)?;
            Ok(Value::object(DecimalFormat(pattern)))
        }
        None => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(&[row("format", 1, |m, of, args| {
        decimal_format(m, &of.receiver::<DecimalFormat>().0, &args[0])
    })]);
