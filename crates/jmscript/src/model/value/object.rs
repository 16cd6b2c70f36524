//! Objects of classes that need more than a number, a text or a collection. Each has a type of its own, in its class's file.

use super::{Style, Value};
use crate::model::abrupt::Run;
use crate::model::class::Class;
use crate::model::machine::Machine;
use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

/// An object of a class of the library. What has a body here is as in `java.lang.Object`.
pub trait Object: Any {
    /// Its class.
    fn class(&self) -> Class;

    /// Writes its text.
    fn write(&self, out: &mut String, _style: Style, _depth: usize) {
        out.push_str(&self.class().full_name());
        out.push_str("@1");
    }

    /// Its text, where that needs more than itself.
    fn text(&self, _machine: &mut Machine<'_>, _this: &Value) -> Option<Run<Rc<str>>> {
        None
    }

    /// True if it counts as true in a condition.
    fn is_true(&self) -> bool {
        true
    }

    /// Java's `equals`.
    fn equals(&self, other: &dyn Object) -> bool {
        self.order(other) == Some(Ordering::Equal)
    }

    /// The text that it equals, beside itself, as a path through XML does.
    fn says(&self) -> Option<Rc<str>> {
        None
    }

    /// Its order beside another; `None` where there is none.
    fn order(&self, _other: &dyn Object) -> Option<Ordering> {
        None
    }

    /// Elements that a loop over it sees.
    fn items(&self, _machine: &mut Machine<'_>, this: &Value) -> Run<Vec<Value>> {
        Ok(vec![this.clone()])
    }

    /// The element of an index, where that is not the one of its elements that stands there.
    fn element(&self, _machine: &mut Machine<'_>, _this: &Value, _index: &Value) -> Option<Run> {
        None
    }

    /// The property of a name, where that is no method without arguments.
    fn property(&self, _machine: &mut Machine<'_>, _this: &Value, _name: &Rc<str>) -> Option<Run> {
        None
    }

    /// Gives a property a value, where that is no method with one argument.
    fn set_property(
        &self,
        _machine: &mut Machine<'_>,
        _this: &Value,
        _name: &Rc<str>,
        _value: &Value,
    ) -> Option<Run<()>> {
        None
    }

    /// A call of a method that its class has no row for.
    fn call(
        &self,
        _machine: &mut Machine<'_>,
        _this: &Value,
        _name: &Rc<str>,
        _args: &[Value],
    ) -> Option<Run> {
        None
    }

    /// The value that its JSON is; none of its own for its text.
    fn json(&self) -> Option<Value> {
        None
    }

    /// Values that it holds and prints with itself.
    fn held(&self) -> Vec<Value> {
        Vec::new()
    }
}

impl dyn Object {
    /// The object as one of a type.
    pub(crate) fn downcast<T: Object>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A cookie of the cookie manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieValue {
    /// Its name.
    pub name: Rc<str>,
    /// Its value.
    pub value: Rc<str>,
    /// The host that it is for.
    pub domain: Rc<str>,
    /// The path that it is for.
    pub path: Rc<str>,
    /// Only over TLS.
    pub is_secure: bool,
    /// Seconds of Unix time when it ends; 0 with the session.
    pub expires: i64,
}

/// A parameter of a request; without a name, a part of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: Rc<str>,
    /// Its value.
    pub value: Rc<str>,
    /// It is encoded (`application/x-www-form-urlencoded`) when it is sent.
    pub encodes: bool,
}
