//! `vars`: the user's variables.

use super::super::util::entry::Entry;
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{ClassRow, ClassView, Kind, gives, row, rows};
use crate::model::host::Field;
use crate::model::library::lang::object;
use crate::model::library::util::{collection, iterable, iterator};
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, iterator};
use crate::model::value::Value;
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.threads", "JMeterVariables")
    .extends(&object::KIND)
    .mixes_in(&iterable::KIND)
    .viewed(ClassView { items: Some(entries), ..ClassView::NONE })
    .methods(METHODS);

const METHODS: &[ClassRow] = &[
    row("get", 1, get),
    row("getObject", 1, |m, _, args| {
        let name = name_of(m, &args[0])?;
        Ok(m.host.variable(&name).unwrap_or(Value::Null))
    }),
    row("put", 2, put),
    row("putObject", 2, |m, _, args| {
        let name = m.text(&args[0])?;
        let value = kept(&args[1])?;
        m.host.set_variable(&name, value);
        Ok(Value::Null)
    }),
    row("putAll", 1, |m, _, args| {
        for entry in items(m, &args[0])? {
            let key = m.invoke(&entry, "getKey", &[])?;
            let value = m.invoke(&entry, "getValue", &[])?;
            let name = m.text(&key)?;
            m.host.set_variable(&name, value);
        }
        Ok(Value::Null)
    }),
    row("remove", 1, |m, _, args| {
        let name = name_of(m, &args[0])?;
        Ok(m.host.remove_variable(&name).unwrap_or(Value::Null))
    }),
    gives(
        row("entrySet", 0, |m, _, _| {
            let entries = entries(m)?;
            m.new_list(entries)
        }),
        &collection::KIND,
    ),
    gives(row("getIterator", 0, |m, of, _| iterator(m, of)), &iterator::KIND),
    gives(row("iterator", 0, |m, of, _| iterator(m, of)), &iterator::KIND),
    row("getIteration", 0, |m, _, _| Ok(m.host.get(Field::Iteration))),
    row("getThreadName", 0, |m, _, _| Ok(m.host.get(Field::UserName))),
    rows("isSamplingStarted", 0, 0, |_, _, _| Ok(Value::Bool(true))),
];

/// The name that an argument says.
pub(crate) fn name_of(m: &mut Machine<'_>, value: &Value) -> Run<Rc<str>> {
    match value {
        Value::Null => Ok(Rc::from("null")),
        name => m.text(name),
    }
}

/// A value that lives longer than its script.
pub(crate) fn kept(value: &Value) -> Run {
    match value {
        Value::Closure(_) | Value::Lazy(_) => {
            thrown("UnsupportedOperationException", "a closure ends with its script: put what it gives")
        }
        value => Ok(value.clone()),
    }
}

fn entries(m: &mut Machine<'_>) -> Run<Vec<Value>> {
    let names = m.host.variables();
    m.take_items(names.len() * 3)?;
    let entry = |name: Rc<str>| {
        let value = m.host.variable(&name).unwrap_or(Value::Null);
        Value::object(Entry { key: Value::Text(name), value })
    };
    Ok(names.into_iter().map(entry).collect())
}

fn get(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let name = name_of(m, &args[0])?;
    match m.host.variable(&name) {
        None | Some(Value::Null) => Ok(Value::Null),
        Some(text @ Value::Text(_)) => Ok(text),
        Some(other) => {
            let class = other.class_name();
            thrown("ClassCastException", format!("class {class} cannot be cast to class java.lang.String"))
        }
    }
}

fn put(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let is_text =
        |value: &Value| matches!(value, Value::Null | Value::Text(_) | Value::Template(_) | Value::Lazy(_));
    // Rhino converts what a method wants as text.
    if m.dialect != Dialect::JavaScript && !(is_text(&args[0]) && is_text(&args[1])) {
        return m.no_method(of, "put", args);
    }
    let name = m.text(&args[0])?;
    let value = match &args[1] {
        Value::Null => Value::Null,
        value => Value::Text(m.text(value)?),
    };
    m.host.set_variable(&name, value);
    Ok(Value::Null)
}
