//! `props`: the properties, which all users share.

use super::super::util::entry::Entry;
use super::vars::{kept, name_of};
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown_bare};
use crate::model::class::{ClassRow, ClassView, Kind, gives, row};
use crate::model::library::lang::object;
use crate::model::library::util::{collection, iterable, set};
use crate::model::machine::Machine;
use crate::model::meaning::items::list_of_kind;
use crate::model::value::{ListKind, Value};
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.util", "Properties")
    .extends(&object::KIND)
    .mixes_in(&iterable::KIND)
    .viewed(ClassView {
        items: Some(entries),
        property: Some(|m, name| {
            (m.dialect == Dialect::Groovy).then(|| Ok(m.host.property(name).unwrap_or(Value::Null)))
        }),
        set_property: Some(|m, name, value| {
            m.host.set_property(name, value.clone());
            Some(Ok(()))
        }),
        ..ClassView::NONE
    })
    .methods(METHODS);

const METHODS: &[ClassRow] = &[
    row("get", 1, get),
    row("getAt", 1, get),
    // It sees texts only.
    row("getProperty", 1, |m, of, args| {
        let value = get(m, of, args)?;
        Ok(if value.as_text().is_some() { value } else { Value::Null })
    }),
    row("getProperty", 2, get_or),
    row("getOrDefault", 2, get_or),
    row("getPropDefault", 2, get_or),
    row("put", 2, |m, _, args| put(m, args, true)),
    row("setProperty", 2, |m, _, args| put(m, args, true)),
    row("putAt", 2, |m, _, args| put(m, args, true)),
    row("putIfAbsent", 2, |m, _, args| put(m, args, false)),
    row("remove", 1, |m, _, args| {
        let name = name_of(m, &args[0])?;
        Ok(m.host.remove_property(&name).unwrap_or(Value::Null))
    }),
    row("containsKey", 1, contains),
    row("contains", 1, contains),
    gives(row("keySet", 0, names), &set::KIND),
    gives(row("stringPropertyNames", 0, names), &set::KIND),
    gives(row("keys", 0, names), &set::KIND),
    gives(
        row("entrySet", 0, |m, _, _| {
            let entries = entries(m)?;
            m.new_list(entries)
        }),
        &collection::KIND,
    ),
    row("size", 0, |m, _, _| Ok(Value::count(m.host.properties().len()))),
];

fn entries(m: &mut Machine<'_>) -> Run<Vec<Value>> {
    let names = m.host.properties();
    m.take_items(names.len() * 3)?;
    let entry = |name: Rc<str>| {
        let value = m.host.property(&name).unwrap_or(Value::Null);
        Value::object(Entry { key: Value::Text(name), value })
    };
    Ok(names.into_iter().map(entry).collect())
}

pub(crate) fn get(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let name = name_of(m, &args[0])?;
    Ok(m.host.property(&name).unwrap_or(Value::Null))
}

fn get_or(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let name = name_of(m, &args[0])?;
    Ok(m.host.property(&name).filter(|value| !value.is_null()).unwrap_or_else(|| args[1].clone()))
}

fn put(m: &mut Machine<'_>, args: &[Value], replaces: bool) -> Run {
    let name = name_of(m, &args[0])?;
    let value = match &args[1] {
        Value::Null | Value::Void => return thrown_bare("NullPointerException"),
        text @ (Value::Text(_) | Value::Template(_) | Value::Lazy(_)) => Value::Text(m.text(text)?),
        value => kept(value)?,
    };
    let old = m.host.property(&name).unwrap_or(Value::Null);
    if replaces || old.is_null() {
        m.host.set_property(&name, value);
    }
    Ok(old)
}

fn contains(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let name = name_of(m, &args[0])?;
    Ok(Value::Bool(m.host.property(&name).is_some()))
}

fn names(m: &mut Machine<'_>, _: &Value, _: &[Value]) -> Run {
    let names = m.host.properties().into_iter().map(Value::Text).collect();
    list_of_kind(m, ListKind::Set, names)
}
