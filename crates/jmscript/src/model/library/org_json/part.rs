//! Common parts of objects and arrays of `org.json`: how they are read and written, and how their values are asked for.

use super::array::JsonArray;
use super::object::JsonObject;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{List, ListKind, Map, MapKind, Object, Style, Value, json};
use crate::number::double_text;
use std::rc::Rc;

/// `JSONObject.NULL`.
pub(crate) struct Null;

impl Object for Null {
    fn class(&self) -> Class {
        Class::Known(&NULL)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str("null");
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Null>().is_some()
    }
}

pub(crate) static NULL: Kind = Kind::new("org.json", "JSONObject.Null").extends(&object::KIND);

/// Objects and arrays within each other; what is deeper is null.
const DEEPEST: usize = 200;

/// The value as `org.json` keeps it: maps and lists become objects and arrays.
pub(crate) fn wrapped(value: &Value) -> Value {
    wrapped_at(value, 0)
}

fn wrapped_at(value: &Value, depth: usize) -> Value {
    match value {
        _ if depth > DEEPEST => Value::object(Null),
        Value::Null | Value::Void => Value::object(Null),
        Value::Map(map) => {
            let entries = map.to_vec().into_iter().map(|(key, value)| (key, wrapped_at(&value, depth + 1)));
            Value::object(JsonObject::of(Map::new(MapKind::Plain, entries)))
        }
        Value::List(list) => {
            let items = list.to_vec().iter().map(|item| wrapped_at(item, depth + 1)).collect();
            Value::object(JsonArray::of(List::new(ListKind::List, items)))
        }
        value => value.clone(),
    }
}

/// The value of Java's own classes: objects and arrays become maps and lists.
pub(crate) fn unwrapped(value: &Value) -> Value {
    unwrapped_at(value, 0)
}

fn unwrapped_at(value: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return Value::Null;
    }
    if let Some(object) = value.as_object::<JsonObject>() {
        let entries =
            object.map.to_vec().into_iter().map(|(key, value)| (key, unwrapped_at(&value, depth + 1)));
        return Value::Map(Rc::new(Map::new(MapKind::Plain, entries)));
    }
    if let Some(array) = value.as_object::<JsonArray>() {
        return Value::list(array.list.to_vec().iter().map(|item| unwrapped_at(item, depth + 1)).collect());
    }
    if value.as_object::<Null>().is_some() { Value::Null } else { value.clone() }
}

/// The value that a text says, which begins with a sign.
pub(crate) fn read(m: &mut Machine<'_>, text: &str, begins: char, message: &str) -> Run {
    if !text.trim_start().starts_with(begins) {
        return thrown("JSONException", format!("{message} at 1 [character 2 line 1]"));
    }
    m.take(text.len().saturating_mul(8))?;
    m.work(text.len() / 16)?;
    match json::parse(text) {
        Ok(value) => Ok(wrapped(&value)),
        Err((message, at)) => thrown("JSONException", format!("{message} at {at}")),
    }
}

/// How a value is written: on one line, or indented by so many blanks.
#[derive(Clone, Copy, Default)]
pub(crate) struct OrgJsonLayout {
    pub by: usize,
    /// How far the line is indented, in such steps.
    pub depth: usize,
    /// Objects and arrays around the value.
    pub level: usize,
}

/// Writes a value as JSON.
pub(crate) fn write(value: &Value, out: &mut String, layout: OrgJsonLayout) {
    if layout.level > DEEPEST {
        return out.push_str("null");
    }
    if let Some(object) = value.as_object::<JsonObject>() {
        let entries = object.in_order();
        let write_entry = |at: usize, out: &mut String, inner: OrgJsonLayout| {
            let (key, value) = &entries[at];
            quote(&key.shown(Style::Java), out);
            out.push_str(if inner.by > 0 { ": " } else { ":" });
            write(value, out, inner);
        };
        return write_parts(entries.len(), out, layout, ['{', '}'], &write_entry);
    }
    if let Some(array) = value.as_object::<JsonArray>() {
        let items = array.list.to_vec();
        return write_parts(items.len(), out, layout, ['[', ']'], &|at, out, inner| {
            write(&items[at], out, inner)
        });
    }
    match value {
        Value::Null | Value::Void => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Map(_) | Value::List(_) => write(&wrapped(value), out, layout),
        value if value.is_number() => out.push_str(&number(value)),
        value if value.as_object::<Null>().is_some() => out.push_str("null"),
        value => quote(&value.shown(Style::Java), out),
    }
}

/// Writes the parts of an object or array between its signs; one part alone stands on its line.
fn write_parts(
    count: usize,
    out: &mut String,
    layout: OrgJsonLayout,
    signs: [char; 2],
    part: &dyn Fn(usize, &mut String, OrgJsonLayout),
) {
    let flat = OrgJsonLayout { level: layout.level + 1, ..layout };
    let inner = OrgJsonLayout { depth: layout.depth + 1, ..flat };
    let breaks = layout.by > 0 && count > 1;
    out.push(signs[0]);
    for at in 0..count {
        out.push_str(if at > 0 { "," } else { "" });
        if breaks {
            out.push('\n');
            out.push_str(&" ".repeat(layout.by * inner.depth));
            part(at, out, inner);
        } else {
            part(at, out, flat);
        }
    }
    if breaks {
        out.push('\n');
        out.push_str(&" ".repeat(layout.by * layout.depth));
    }
    out.push(signs[1]);
}

/// A number without zeros behind its point.
fn number(value: &Value) -> String {
    let text = match value {
        Value::Double(number) => double_text(*number).to_string(),
        other => other.shown(Style::Java).to_string(),
    };
    if !text.contains('.') || text.contains(['e', 'E']) {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text in quotes: what is beyond ASCII stays as it is, and `/` behind `<` is marked.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '/' if before == '<' => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' || ('\u{80}'..'\u{a0}').contains(&c) || ('\u{2000}'..'\u{2100}').contains(&c) => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
        before = c;
    }
    out.push('"');
}

/// A type that a value is asked for as.
#[derive(Clone, Copy)]
pub(crate) enum JsonType {
    Any,
    Text,
    Int,
    Long,
    Double,
    Bool,
    Object,
    Array,
}

impl JsonType {
    /// The value as this type; `None` where it is none of it.
    pub fn of(self, value: &Value) -> Option<Value> {
        let text = value.as_text();
        Some(match self {
            JsonType::Any => value.clone(),
            JsonType::Text => Value::from(&**text?),
            JsonType::Int => Value::Int(self.whole(value)? as i32),
            JsonType::Long => Value::Long(self.whole(value)?),
            JsonType::Double => Value::Double(match text {
                Some(text) => text.trim().parse().ok()?,
                None => value.to_double()?,
            }),
            JsonType::Bool => Value::Bool(match (value, text) {
                (Value::Bool(flag), _) => *flag,
                (_, Some(text)) if text.eq_ignore_ascii_case("true") => true,
                (_, Some(text)) if text.eq_ignore_ascii_case("false") => false,
                _ => return None,
            }),
            JsonType::Object => value.as_object::<JsonObject>().map(|_| value.clone())?,
            JsonType::Array => value.as_object::<JsonArray>().map(|_| value.clone())?,
        })
    }

    fn whole(self, value: &Value) -> Option<i64> {
        match value.as_text() {
            Some(text) => text.trim().parse().ok(),
            None => value.to_long().filter(|_| value.is_number()),
        }
    }

    fn named(self) -> &'static str {
        match self {
            JsonType::Any => "value",
            JsonType::Text => "string",
            JsonType::Int => "int",
            JsonType::Long => "long",
            JsonType::Double => "double",
            JsonType::Bool => "Boolean",
            JsonType::Object => "JSONObject",
            JsonType::Array => "JSONArray",
        }
    }

    /// The value that `opt` and its like give where there is none.
    pub fn otherwise(self) -> Value {
        match self {
            JsonType::Any | JsonType::Object | JsonType::Array => Value::Null,
            JsonType::Text => Value::from(""),
            JsonType::Int => Value::Int(0),
            JsonType::Long => Value::Long(0),
            JsonType::Double => Value::Double(f64::NAN),
            JsonType::Bool => Value::Bool(false),
        }
    }
}

/// A value that must be there and be of a type; `place` names it, as `JSONObject["a"]`.
pub(crate) fn required(value: Option<Value>, wanted: JsonType, place: &str) -> Run {
    let Some(value) = value else { return thrown("JSONException", format!("{place} not found.")) };
    match wanted.of(&value) {
        Some(found) => Ok(found),
        None => {
            let class = value.class_name();
            let shown = value.shown(Style::Java);
            thrown("JSONException", format!("{place} is not a {} (class {class} : {shown}).", wanted.named()))
        }
    }
}

/// A value that may be missing; `opt` of texts takes any value.
pub(crate) fn optional(value: Option<Value>, wanted: JsonType, otherwise: Option<&Value>) -> Value {
    let is_null = |value: &Value| value.as_object::<Null>().is_some();
    let found = value.filter(|value| matches!(wanted, JsonType::Any) || !is_null(value));
    let found = found.and_then(|value| match wanted {
        JsonType::Text => Some(Value::Text(value.shown(Style::Java))),
        wanted => wanted.of(&value),
    });
    found.unwrap_or_else(|| otherwise.cloned().unwrap_or_else(|| wanted.otherwise()))
}
