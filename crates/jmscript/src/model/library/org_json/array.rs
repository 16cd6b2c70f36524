//! `JSONArray`.

use super::object::to_text;
use super::part::{self, JsonType, Null, OrgJsonLayout, optional, required};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, Native, row, rows};
use crate::model::library::util::iterable;
use crate::model::machine::Machine;
use crate::model::meaning::items::{check_circle, items, iterator};
use crate::model::value::{List, Object, Style, Value};
use std::rc::Rc;

/// An array of JSON.
pub(crate) struct JsonArray {
    pub list: Rc<List>,
}

impl JsonArray {
    pub fn of(list: List) -> JsonArray {
        JsonArray { list: Rc::new(list) }
    }

    /// The element of an index, which does not count from the end.
    fn find(&self, index: &Value) -> Option<Value> {
        self.list.get(usize::try_from(index.to_long()?).ok()?)
    }
}

impl Object for JsonArray {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        let this = Value::object(JsonArray { list: self.list.clone() });
        part::write(&this, out, OrgJsonLayout::default());
    }

    fn items(&self, m: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        m.take_items(self.list.len())?;
        Ok(self.list.to_vec())
    }

    fn json(&self) -> Option<Value> {
        Some(Value::List(self.list.clone()))
    }

    fn held(&self) -> Vec<Value> {
        vec![Value::List(self.list.clone())]
    }
}

pub(crate) static KIND: Kind = Kind::new("org.json", "JSONArray")
    .extends(&iterable::KIND)
    .creates(|m, kind, args| match args {
        [] => Ok(part::wrapped(&Value::list(Vec::new()))),
        [text] if text.as_text().is_some() => {
            let text = m.text(text)?;
            part::read(m, &text, '[', "A JSONArray text must start with '['")
        }
        [Value::List(_) | Value::Range(_)] => {
            let items = items(m, &args[0])?;
            Ok(part::wrapped(&Value::list(items)))
        }
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(METHODS);

/// A method that wants the element of an index, of a type.
macro_rules! get {
    ($wanted:ident) => {{
        const GET: Native = |m, of, args| {
            let place = format!("JSONArray[{}]", m.text(&args[0])?);
            required(of.receiver::<JsonArray>().find(&args[0]), JsonType::$wanted, &place)
        };
        GET
    }};
}

/// A method that takes another value where there is none of the type.
macro_rules! opt {
    ($wanted:ident) => {{
        const OPT: Native = |_, of, args| {
            let found = of.receiver::<JsonArray>().find(&args[0]);
            Ok(optional(found, JsonType::$wanted, args.get(1)))
        };
        OPT
    }};
}

const METHODS: &[ClassRow] = readers![
    row("put", 1, |m, of, args| {
        let value = kept(m, of, &args[0])?;
        of.receiver::<JsonArray>().list.change(|items| items.push(value));
        Ok(of.clone())
    }),
    row("put", 2, |m, of, args| {
        let value = kept(m, of, &args[1])?;
        let list = &of.receiver::<JsonArray>().list;
        let Some(at) = args[0].to_long().and_then(|at| usize::try_from(at).ok()) else {
            return thrown("JSONException", "JSONArray[-1] not found.");
        };
        m.take_items(at.saturating_sub(list.len()))?;
        list.change(|items| {
            while items.len() <= at {
                items.push(Value::object(Null));
            }
            items[at] = value;
        });
        Ok(of.clone())
    }),
    row("remove", 1, |_, of, args| {
        let list = &of.receiver::<JsonArray>().list;
        let at = args[0].to_long().and_then(|at| usize::try_from(at).ok()).filter(|at| *at < list.len());
        Ok(at.map_or(Value::Null, |at| list.change(|items| items.remove(at))))
    }),
    row("isNull", 1, |_, of, args| {
        let found = of.receiver::<JsonArray>().find(&args[0]);
        Ok(Value::Bool(found.is_none_or(|value| value.as_object::<Null>().is_some())))
    }),
    row("length", 0, |_, of, _| Ok(Value::count(of.receiver::<JsonArray>().list.len()))),
    row("size", 0, |_, of, _| Ok(Value::count(of.receiver::<JsonArray>().list.len()))),
    row("isEmpty", 0, |_, of, _| Ok(Value::Bool(of.receiver::<JsonArray>().list.is_empty()))),
    row("iterator", 0, |m, of, _| iterator(m, of)),
    row("toList", 0, |m, of, _| {
        m.take_items(of.receiver::<JsonArray>().list.len())?;
        Ok(part::unwrapped(of))
    }),
    row("join", 1, |m, of, args| {
        let between = m.text(&args[0])?;
        let items = of.receiver::<JsonArray>().list.to_vec();
        let texts: Vec<String> = items.iter().map(json_text).collect();
        m.new_text(texts.join(&between))
    }),
    rows("toString", 0, 1, to_text),
];

fn json_text(value: &Value) -> String {
    let mut out = String::new();
    part::write(value, &mut out, OrgJsonLayout::default());
    out
}

/// A value as the array keeps it, which must not come to hold itself.
fn kept(m: &mut Machine<'_>, of: &Value, value: &Value) -> Run {
    m.take_items(1)?;
    if matches!(value, Value::Object(_)) {
        check_circle(m, Rc::as_ptr(&of.receiver::<JsonArray>().list).cast(), value)?;
    }
    Ok(part::wrapped(value))
}
