//! `Map.Entry`.

use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value, drop_flat};

/// A key of a map and its value.
pub(crate) struct Entry {
    pub key: Value,
    pub value: Value,
}

impl Object for Entry {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, style: Style, depth: usize) {
        self.key.write(out, style, depth + 1);
        out.push('=');
        self.value.write(out, style, depth + 1);
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .downcast::<Entry>()
            .is_some_and(|other| self.key.equals(&other.key) && self.value.equals(&other.value))
    }

    fn element(&self, _: &mut Machine<'_>, _: &Value, index: &Value) -> Option<Run> {
        Some(Ok(if index.to_long() == Some(0) { self.key.clone() } else { self.value.clone() }))
    }

    fn held(&self) -> Vec<Value> {
        vec![self.value.clone()]
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        drop_flat(vec![std::mem::take(&mut self.key), std::mem::take(&mut self.value)]);
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util", "Map.Entry").extends(&object::KIND).methods(&[
    row("getKey", 0, |_, of, _| Ok(of.receiver::<Entry>().key.clone())),
    row("getValue", 0, |_, of, _| Ok(of.receiver::<Entry>().value.clone())),
]);
