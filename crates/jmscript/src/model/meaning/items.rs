//! Elements of anything that has some: to loop over, by an index, to add and to set.

use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown, thrown_bare};
use crate::model::library::util::entry::Entry;
use crate::model::library::util::iterator::Iterating;
use crate::model::machine::Machine;
use crate::model::value::{List, ListKind, Map, MapKind, Range, Value, text};
use std::rc::Rc;

/// Returns the items that a loop over a value sees.
pub(crate) fn items(m: &mut Machine<'_>, of: &Value) -> Run<Vec<Value>> {
    let count = match of {
        Value::List(list) => list.len(),
        Value::Range(range) => range.len(),
        Value::Map(map) => map.len() * 4,
        Value::Text(text) => text.len() * 3,
        Value::Bytes(bytes) => bytes.len(),
        _ => 1,
    };
    m.take_items(count)?;
    Ok(match of {
        Value::Null | Value::Void => Vec::new(),
        Value::List(list) => list.to_vec(),
        Value::Range(range) => (0..range.len()).map(|at| range.at(at)).collect(),
        Value::Map(map) => {
            map.to_vec().into_iter().map(|(key, value)| Value::object(Entry { key, value })).collect()
        }
        Value::Bytes(bytes) => {
            bytes.get().iter().map(|byte| Value::Int(i32::from(byte.cast_signed()))).collect()
        }
        Value::Text(text) | Value::Template(text) => {
            text.chars().map(|c| Value::text(c.to_string())).collect()
        }
        Value::Object(object) => return object.clone().items(m, of),
        Value::Bound(_) => match of.kind().view().items {
            Some(items) => return items(m),
            None => vec![of.clone()],
        },
        other => vec![other.clone()],
    })
}

/// An iterator over a value.
pub(crate) fn iterator(m: &mut Machine<'_>, of: &Value) -> Run {
    let items = items(m, of)?;
    Ok(Value::object(Iterating::new(items)))
}

/// A list, array or set of these.
pub(crate) fn list_of_kind(m: &mut Machine<'_>, kind: ListKind, items: Vec<Value>) -> Run {
    m.take_items(items.len())?;
    let items = if kind == ListKind::Set { distinct(m, items)? } else { items };
    Ok(Value::List(Rc::new(List::new(kind, items))))
}

/// Each value once.
pub(crate) fn distinct(m: &mut Machine<'_>, items: Vec<Value>) -> Run<Vec<Value>> {
    m.work(items.len() / 2)?;
    let seen = Map::new(MapKind::Plain, []);
    Ok(items.into_iter().filter(|item| seen.put(item.clone(), Value::Null).is_none()).collect())
}

/// A list or map must not come to hold itself: it would have no text and no end.
pub(crate) fn check_circle(m: &mut Machine<'_>, holder: *const (), item: &Value) -> Run<()> {
    let mut rest = vec![item.clone()];
    while let Some(value) = rest.pop() {
        let place = match &value {
            Value::List(list) => Rc::as_ptr(list).cast::<()>(),
            Value::Map(map) => Rc::as_ptr(map).cast::<()>(),
            _ => std::ptr::null(),
        };
        if place == holder {
            return thrown("UnsupportedOperationException", "a list or map cannot hold itself here");
        }
        let more: Vec<Value> = match &value {
            Value::List(list) => {
                list.look(|items| items.iter().filter(|item| holds(item)).cloned().collect())
            }
            Value::Map(map) => map.to_vec().into_iter().map(|(_, value)| value).filter(holds).collect(),
            Value::Object(object) => object.held(),
            _ => continue,
        };
        m.work(1 + more.len())?;
        rest.extend(more);
    }
    Ok(())
}

/// Adds an element; whether there was room for it.
pub(crate) fn push(m: &mut Machine<'_>, of: &Value, item: Value) -> Run<bool> {
    let Value::List(list) = of else { return m.no_method(of, "add", &[item]) };
    if list.kind == ListKind::Array {
        return thrown_bare("UnsupportedOperationException");
    }
    if holds(&item) {
        check_circle(m, Rc::as_ptr(list).cast(), &item)?;
    }
    m.take_items(1)?;
    if list.kind == ListKind::Set {
        m.work(list.len() / 8)?;
        if list.look(|items| items.iter().any(|known| known.equals(&item))) {
            return Ok(false);
        }
    }
    list.change(|items| items.push(item));
    Ok(true)
}

/// The value of a key; what `withDefault` says where there is none.
pub(crate) fn key(m: &mut Machine<'_>, map: &Rc<Map>, key: &Value) -> Run {
    if let Some(value) = map.get(key) {
        return Ok(value);
    }
    let default = map.default.borrow().clone();
    match default {
        Value::Closure(closure) => {
            let value = m.call_closure(&closure, std::slice::from_ref(key))?;
            put(m, map, key.clone(), value.clone())?;
            Ok(value)
        }
        _ if m.dialect == Dialect::JavaScript => Ok(Value::Void),
        _ => Ok(Value::Null),
    }
}

/// Gives a key of a map a value. A `GString` as a key becomes a text.
pub(crate) fn put(m: &mut Machine<'_>, map: &Rc<Map>, key: Value, value: Value) -> Run<()> {
    if holds(&value) {
        check_circle(m, Rc::as_ptr(map).cast(), &value)?;
    }
    m.take_items(2)?;
    if map.kind == MapKind::Sorted {
        m.work(map.len() / 4)?;
    }
    map.put(key, value);
    Ok(())
}

// Elements.

/// `of[index]`.
pub(crate) fn element(m: &mut Machine<'_>, of: &Value, index: &Value) -> Run {
    m.check_depth()?;
    match (of, index) {
        (Value::Null, _) => thrown("NullPointerException", "Cannot invoke method getAt() on null object"),
        (Value::Map(map), index) => {
            let index = key_of(m, index)?;
            key(m, &map.clone(), &index)
        }
        (_, Value::List(_) | Value::Range(_)) => elements(m, of, index),
        (Value::Text(_) | Value::Template(_), index) => character(m, of, index),
        (Value::List(_) | Value::Range(_), Value::Text(name)) if m.dialect == Dialect::Groovy => {
            let mut found = Vec::new();
            for item in items(m, of)? {
                found.push(element(m, &item, &Value::Text(name.clone()))?);
            }
            m.new_list(found)
        }
        (Value::List(list), index) => {
            let at = place(m, index.to_long().unwrap_or(-1), list.len());
            match at.and_then(|at| list.get(at)) {
                Some(value) => Ok(value),
                None if list.kind == ListKind::Array || m.dialect == Dialect::BeanShell => {
                    out_of_array(index, list.len())
                }
                None if m.dialect == Dialect::JavaScript => Ok(Value::Void),
                None if index.to_long().is_some_and(|at| at < 0) && m.dialect == Dialect::Groovy => thrown(
                    "ArrayIndexOutOfBoundsException",
                    format!(
                        "Negative array index [{}] too large for array size {}",
                        m.text(index)?,
                        list.len()
                    ),
                ),
                None => Ok(Value::Null),
            }
        }
        (Value::Range(range), index) => {
            let at = place(m, index.to_long().unwrap_or(-1), range.len());
            Ok(at.filter(|at| *at < range.len()).map_or(Value::Null, |at| range.at(at)))
        }
        (Value::Bytes(bytes), index) => {
            let at = place(m, index.to_long().unwrap_or(-1), bytes.len());
            match at.and_then(|at| bytes.at(at)) {
                Some(byte) => Ok(Value::Int(i32::from(byte.cast_signed()))),
                None => out_of_array(index, bytes.len()),
            }
        }
        (Value::Object(object), index) => match object.clone().element(m, of, index) {
            Some(found) => found,
            None => {
                let items = items(m, of)?;
                let list = m.new_list(items)?;
                element(m, &list, index)
            }
        },
        (Value::Bound(_), index) => {
            let name = m.text(index)?;
            let found = of.kind().view().property.and_then(|property| property(m, &name));
            found.unwrap_or_else(|| no_element(m, of, index))
        }
        (of, index) => no_element(m, of, index),
    }
}

fn no_element(m: &mut Machine<'_>, of: &Value, index: &Value) -> Run {
    let name = m.text(index)?;
    if index.as_text().is_some() {
        m.missing_property(of, &name)
    } else {
        m.no_method(of, "getAt", std::slice::from_ref(index))
    }
}

/// A key as maps have it.
fn key_of(m: &mut Machine<'_>, key: &Value) -> Run {
    match key {
        Value::Template(text) => Ok(Value::Text(text.clone())),
        Value::Lazy(_) => m.text(key).map(Value::Text),
        Value::Double(number) if m.dialect == Dialect::JavaScript => {
            m.new_text(crate::number::script_text(*number))
        }
        key => Ok(key.clone()),
    }
}

fn out_of_array<T>(index: &Value, length: usize) -> Run<T> {
    let index = index.to_long().unwrap_or(-1);
    thrown("ArrayIndexOutOfBoundsException", format!("Index {index} out of bounds for length {length}"))
}

/// The place of an index, which counts from the end where it is negative.
pub(crate) fn place(m: &mut Machine<'_>, index: i64, length: usize) -> Option<usize> {
    let counts_back = m.dialect == Dialect::Groovy;
    let index = if index < 0 && counts_back { index + length as i64 } else { index };
    usize::try_from(index).ok()
}

/// The elements at several indices.
pub(crate) fn elements(m: &mut Machine<'_>, of: &Value, indices: &Value) -> Run {
    let length = match of {
        Value::List(list) => list.len(),
        Value::Range(range) => range.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Text(found) | Value::Template(found) => text::len(found),
        other => items(m, other)?.len(),
    };
    let places = match indices {
        Value::Range(range) => places_of_range(m, **range, length)?,
        other => items(m, other)?,
    };
    let mut found = Vec::with_capacity(places.len().min(1 << 16));
    for place in &places {
        m.step()?;
        found.push(element(m, of, place)?);
    }
    if of.as_text().is_none() {
        return m.new_list(found);
    }
    let mut out = String::new();
    for part in &found {
        out.push_str(&m.text(part)?);
    }
    m.new_text(out)
}

/// The indices of a range whose ends may count from the end.
fn places_of_range(m: &mut Machine<'_>, range: Range, length: usize) -> Run<Vec<Value>> {
    if range.is_empty() {
        // `0..<-1` and its like: the exclusive end counts from the end as well.
        return Ok(Vec::new());
    }
    let from_end = |at: i64| if at < 0 { at + length as i64 } else { at };
    let from = from_end(range.from);
    let to = from_end(range.to);
    let count = (from.abs_diff(to) as usize).saturating_add(1);
    m.take_items(count.min(length * 2 + 2))?;
    if from < 0 || to < 0 || count > length.max(1) * 2 {
        return Ok(vec![Value::Long(from.max(to))]);
    }
    let all: Vec<Value> = (from.min(to)..=from.max(to)).map(Value::Long).collect();
    Ok(if from > to { all.into_iter().rev().collect() } else { all })
}

pub(crate) fn character(m: &mut Machine<'_>, of: &Value, index: &Value) -> Run {
    let found = m.text(of)?;
    let length = text::len(&found);
    let Some(wanted) = index.to_long() else {
        let name = m.text(index)?;
        return if &*name == "length" && m.dialect == Dialect::JavaScript {
            Ok(m.number_of(length))
        } else {
            m.missing_property(of, &name)
        };
    };
    let place = place(m, wanted, length).filter(|place| *place < length);
    match place.and_then(|place| text::char_at(&found, place)) {
        Some(c) => Ok(Value::text(c.to_string())),
        None if m.dialect == Dialect::JavaScript => Ok(Value::Void),
        None => thrown(
            "StringIndexOutOfBoundsException",
            format!("begin {wanted}, end {}, length {length}", wanted + 1),
        ),
    }
}

/// `of[index] = value`.
pub(crate) fn set_element(m: &mut Machine<'_>, of: &Value, index: &Value, value: Value) -> Run<()> {
    match of {
        Value::Map(map) => {
            let key = key_of(m, index)?;
            put(m, map, key, value)
        }
        Value::List(list) => {
            let wanted = index.to_long().unwrap_or(-1);
            let Some(place) = place(m, wanted, list.len()) else {
                return out_of_array(index, list.len());
            };
            if place >= list.len() && (list.kind == ListKind::Array || m.dialect == Dialect::BeanShell) {
                return out_of_array(index, list.len());
            }
            if holds(&value) {
                check_circle(m, Rc::as_ptr(list).cast(), &value)?;
            }
            if place >= list.len() {
                m.take_items(place - list.len() + 1)?;
                list.change(|items| items.resize(place + 1, Value::Null));
            }
            list.change(|items| items[place] = value);
            Ok(())
        }
        Value::Bytes(bytes) => {
            let at = place(m, index.to_long().unwrap_or(-1), bytes.len()).filter(|at| *at < bytes.len());
            let Some(at) = at else { return out_of_array(index, bytes.len()) };
            bytes.change(|bytes| bytes[at] = value.to_long().unwrap_or(0) as u8);
            Ok(())
        }
        Value::Null => thrown("NullPointerException", "Cannot invoke method putAt() on null object"),
        of => {
            let name = m.text(index)?;
            let known = match of {
                Value::Object(object) => object.clone().set_property(m, of, &name, &value),
                Value::Bound(_) => of.kind().view().set_property.and_then(|set| set(m, &name, &value)),
                _ => None,
            };
            known.unwrap_or_else(|| m.missing_property(of, &name))
        }
    }
}

/// True if a value may hold others.
pub(super) fn holds(value: &Value) -> bool {
    match value {
        Value::List(list) => !list.is_empty(),
        Value::Map(map) => !map.is_empty(),
        Value::Object(object) => !object.held().is_empty(),
        _ => false,
    }
}
