//! `Iterator`.

use super::iterable;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row};
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use std::cell::{Cell, RefCell};

/// An iterator: the elements, and how many have been seen.
pub(crate) struct Iterating {
    items: RefCell<Vec<Value>>,
    at: Cell<usize>,
}

impl Iterating {
    pub fn new(items: Vec<Value>) -> Iterating {
        Iterating { items: RefCell::new(items), at: Cell::new(0) }
    }
}

impl Object for Iterating {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn is_true(&self) -> bool {
        self.at.get() < self.items.borrow().len()
    }

    fn items(&self, _: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        let from = self.at.replace(usize::MAX).min(self.items.borrow().len());
        Ok(self.items.borrow()[from..].to_vec())
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util", "Iterator").extends(&iterable::KIND).methods(&[
    row("hasNext", 0, |_, of, _| Ok(Value::Bool(of.receiver::<Iterating>().is_true()))),
    row("next", 0, |_, of, _| {
        let iterating = of.receiver::<Iterating>();
        let next = iterating.items.borrow().get(iterating.at.get()).cloned();
        match next {
            Some(item) => {
                iterating.at.set(iterating.at.get() + 1);
                Ok(item)
            }
            None => thrown("NoSuchElementException", "No more elements"),
        }
    }),
]);
