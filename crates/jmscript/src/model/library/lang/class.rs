//! `Class`: methods of classes as objects.

use super::object;
use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, MANY, row, rows};
use crate::model::machine::Machine;
use crate::model::meaning::convert;
use crate::model::tree::Type;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.lang", "Class").extends(&object::KIND).methods(&[
    row("getName", 0, |m, of, _| m.new_text(class(of).full_name())),
    row("getCanonicalName", 0, |m, of, _| m.new_text(class(of).full_name())),
    row("getSimpleName", 0, |_, of, _| Ok(Value::from(class(of).simple_name()))),
    row("toString", 0, |m, of, _| m.new_text(format!("class {}", class(of).full_name()))),
    row("getClass", 0, |_, _, _| Ok(Value::Class(Class::Known(&KIND)))),
    row("isInstance", 1, is_instance),
    row("isCase", 1, is_instance),
    row("cast", 1, |m, of, args| convert::cast(m, &Type::of_class(class(of)), args[0].clone(), false)),
    rows("newInstance", 0, MANY, |m, of, args| m.create(class(of), args)),
]);

fn class(of: &Value) -> Class {
    match of {
        Value::Class(class) => *class,
        other => other.class(),
    }
}

fn is_instance(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    Ok(Value::Bool(convert::is_instance(&args[0], class(of))))
}
