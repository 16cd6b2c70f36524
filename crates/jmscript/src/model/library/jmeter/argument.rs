//! `Argument`, `HTTPArgument` and `Header`: a name and a value.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Argument, Object, Style, Value};
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;

/// A name and a value.
pub(crate) struct Pair {
    kind: &'static Kind,
    pub name: Rc<str>,
    value: RefCell<Rc<str>>,
    encodes: Cell<bool>,
}

impl Object for Pair {
    fn class(&self) -> Class {
        Class::Known(self.kind)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        write!(out, "{}\t{}", self.name, self.value.borrow()).expect("a String takes all");
    }
}

pub(crate) static KIND: Kind =
    Kind::new("org.apache.jmeter.config", "Argument").extends(&object::KIND).creates(create).methods(METHODS);

pub(crate) static HTTP: Kind =
    Kind::new("org.apache.jmeter.protocol.http.util", "HTTPArgument").extends(&KIND).creates(create);

pub(crate) static HEADER: Kind =
    Kind::new("org.apache.jmeter.protocol.http.control", "Header").extends(&KIND).creates(create);

const METHODS: &[ClassRow] = &[
    row("getName", 0, |_, of, _| Ok(Value::Text(of.receiver::<Pair>().name.clone()))),
    row("getValue", 0, |_, of, _| Ok(Value::Text(of.receiver::<Pair>().value.borrow().clone()))),
    row("setValue", 1, |m, of, args| {
        let text = m.text(&args[0])?;
        of.receiver::<Pair>().value.replace(text);
        Ok(Value::Null)
    }),
    row("setAlwaysEncoded", 1, |m, of, args| {
        let encodes = &*m.text(&args[0])? == "true";
        of.receiver::<Pair>().encodes.set(encodes);
        Ok(Value::Null)
    }),
    // What stands between a name and its value: always the equals sign here, as it is unless a script says else.
    row("setUseEquals", 1, |m, _, args| equals_sign(&*m.text(&args[0])? == "true")),
    row("setMetaData", 1, |m, _, args| equals_sign(matches!(&*m.text(&args[0])?, "=" | ""))),
];

fn equals_sign(is_one: bool) -> Run {
    if is_one {
        return Ok(Value::Null);
    }
    thrown("UnsupportedOperationException", "a name and its value have an equals sign between them")
}

fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    let [name, rest @ ..] = args else {
        return m.no_method(&Value::Class(Class::Known(kind)), "<init>", args);
    };
    let name = m.text(name)?;
    let value = match rest.first() {
        Some(value) => m.text(value)?,
        None => Rc::from(""),
    };
    Ok(Value::object(Pair { kind, name, value: RefCell::new(value), encodes: Cell::new(true) }))
}

/// A parameter as an object.
pub(crate) fn value_of(argument: &Argument) -> Value {
    Value::object(Pair {
        kind: &HTTP,
        name: argument.name.clone(),
        value: RefCell::new(argument.value.clone()),
        encodes: Cell::new(argument.encodes),
    })
}

/// A parameter: of an object, or of a name and a value.
pub(crate) fn argument(m: &mut Machine<'_>, args: &[Value], encodes: bool) -> Run<Argument> {
    if let [one] = args
        && let Some(pair) = one.as_object::<Pair>()
    {
        let value = pair.value.borrow().clone();
        return Ok(Argument { name: pair.name.clone(), value, encodes: pair.encodes.get() });
    }
    let name = m.text(&args[0])?;
    let value = match args.get(1) {
        Some(value) => m.text(value)?,
        None => Rc::from(""),
    };
    Ok(Argument { name, value, encodes })
}
