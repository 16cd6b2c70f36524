//! Constants of enumerations and their like, which are passed on: `ChronoUnit.DAYS`, `StandardCharsets.UTF_8`.

use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use std::ptr;
use std::rc::Rc;

/// A constant of a class.
pub(crate) struct Constant {
    kind: &'static Kind,
    pub name: Rc<str>,
}

impl Constant {
    /// As a value.
    pub fn value(kind: &'static Kind, name: &str) -> Value {
        Value::object(Constant { kind, name: Rc::from(name) })
    }

    /// The name of a value that is one of a class.
    pub fn name_of<'v>(value: &'v Value, kind: &'static Kind) -> Option<&'v Rc<str>> {
        value
            .as_object::<Constant>()
            .filter(|constant| ptr::eq(constant.kind, kind))
            .map(|constant| &constant.name)
    }
}

impl Object for Constant {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&self.name);
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .downcast::<Constant>()
            .is_some_and(|other| ptr::eq(self.kind, other.kind) && self.name == other.name)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.lang", "Enum").extends(&object::KIND).methods(&[
    row("name", 0, name),
    row("toString", 0, name),
    row("displayName", 0, name),
]);

fn name(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Text(of.receiver::<Constant>().name.clone()))
}
