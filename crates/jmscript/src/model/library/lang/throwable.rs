//! `Throwable`: exceptions as scripts see them.

use super::object;
use crate::model::abrupt::Run;
use crate::model::class::{Class, Exception, Kind, row, rows};
use crate::model::library::io::bytes::Output;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use std::rc::Rc;

/// An exception.
pub(crate) struct Throwable {
    /// Its kind.
    pub class: Exception,
    /// Its message.
    pub message: Option<Rc<str>>,
}

impl Object for Throwable {
    fn class(&self) -> Class {
        Class::Thrown(self.class)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(self.class.full_name());
        if let Some(message) = &self.message {
            out.push_str(": ");
            out.push_str(message);
        }
    }
}

pub(crate) static KIND: Kind = Kind::new("java.lang", "Throwable").extends(&object::KIND).methods(&[
    row("getMessage", 0, message),
    row("getLocalizedMessage", 0, message),
    row("getCause", 0, |_, _, _| Ok(Value::Null)),
    rows("printStackTrace", 0, 1, |m, of, args| {
        let text = Value::Text(of.shown(Style::Java));
        match args.first().filter(|to| to.as_object::<Output>().is_some()) {
            Some(to) => m.invoke(to, "println", &[text]).map(|_| Value::Null),
            None => object::print(m, &text, "\n"),
        }
    }),
    row("getStackTrace", 0, |_, _, _| Ok(Value::array(Vec::new()))),
    row("toString", 0, |m, of, _| m.new_text(of.shown(Style::Java))),
    row("getName", 0, |_, of, _| Ok(Value::from(of.receiver::<Throwable>().class.full_name()))),
]);

fn message(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(of.receiver::<Throwable>().message.clone().map_or(Value::Null, Value::Text))
}

/// `new`.
pub(crate) fn create(m: &mut Machine<'_>, class: Exception, args: &[Value]) -> Run {
    let message = match args.first() {
        Some(message) if !message.is_null() => Some(m.text(message)?),
        _ => None,
    };
    Ok(Value::object(Throwable { class, message }))
}
