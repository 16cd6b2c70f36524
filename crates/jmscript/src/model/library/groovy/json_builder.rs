//! `JsonBuilder`: its calls, and the calls of the closures that it is given, are keys and values.

use super::json_output::json_text;
use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, MANY, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, put};
use crate::model::value::{Closure, Map, MapKind, Object, Style, Value, json};
use std::cell::RefCell;
use std::rc::Rc;

/// A builder and the value that it has built.
struct JsonBuilder(RefCell<Value>);

impl Object for JsonBuilder {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&json::to_json(&self.0.borrow(), Style::Groovy));
    }

    /// `builder.name { … }`: an object with one key.
    fn call(&self, m: &mut Machine<'_>, _: &Value, name: &Rc<str>, args: &[Value]) -> Option<Run> {
        let root = Rc::new(Map::new(MapKind::Plain, []));
        Some(node(m, &root, name, args).map(|_| {
            self.0.replace(Value::Map(root.clone()));
            Value::Map(root)
        }))
    }

    fn json(&self) -> Option<Value> {
        Some(self.0.borrow().clone())
    }
}

pub(crate) static KIND: Kind = Kind::new("groovy.json", "JsonBuilder")
    .extends(&object::KIND)
    .creates(|_, _, args| {
        let content = args.first().cloned().unwrap_or(Value::Null);
        Ok(Value::object(JsonBuilder(RefCell::new(content))))
    })
    .methods(&[
        rows("call", 0, MANY, |m, of, args| {
            let value = built(m, args)?;
            content(of).replace(value.clone());
            Ok(value)
        }),
        row("toString", 0, |m, of, _| {
            let text = json_text(m, &content(of).borrow().clone())?;
            m.new_text(text)
        }),
        row("toPrettyString", 0, |m, of, _| {
            let text = json_text(m, &content(of).borrow().clone())?;
            m.new_text(json::pretty(&text))
        }),
        row("getContent", 0, |_, of, _| Ok(content(of).borrow().clone())),
    ]);

fn content(of: &Value) -> &RefCell<Value> {
    &of.receiver::<JsonBuilder>().0
}

/// The value of `(value)`, `{ … }`, `(list) { … }`.
fn built(m: &mut Machine<'_>, args: &[Value]) -> Run {
    match args {
        [Value::Closure(closure)] => filled(m, closure, &[]),
        [list @ (Value::List(_) | Value::Range(_)), Value::Closure(closure)] => {
            let mut found = Vec::new();
            for item in items(m, list)? {
                found.push(filled(m, closure, &[item])?);
            }
            m.new_list(found)
        }
        [one] => Ok(one.clone()),
        several => m.new_list(several.to_vec()),
    }
}

/// The map that a closure's calls fill.
fn filled(m: &mut Machine<'_>, closure: &Rc<Closure>, args: &[Value]) -> Run {
    let map = Rc::new(Map::new(MapKind::Plain, []));
    m.builders.push(map.clone());
    let result = m.call_closure(closure, args);
    m.builders.pop();
    result?;
    Ok(Value::Map(map))
}

/// `name value`, `name { … }`, `name(list) { … }` within a builder's closure.
pub(crate) fn node(m: &mut Machine<'_>, builder: &Rc<Map>, name: &Rc<str>, args: &[Value]) -> Run {
    let value = built(m, args)?;
    put(m, builder, Value::Text(name.clone()), value.clone())?;
    Ok(value)
}
