//! Elements of anything that has some, and the methods that lists, arrays, sets and ranges share.

use super::Machine;
use super::abrupt::{Run, thrown, thrown_bare};
use crate::dialect::Dialect;
use crate::method::Method;
use crate::value::{List, ListKind, Map, MapKind, Object, Value, text};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl Machine<'_> {
    /// Returns the items that a loop over a value sees.
    pub(super) fn items(&mut self, of: &Value) -> Run<Vec<Value>> {
        let count = match of {
            Value::List(list) => list.len(),
            Value::Range(range) => range.len(),
            Value::Map(map) => map.len() * 4,
            Value::Text(text) => text.len() * 3,
            Value::Bytes(bytes) => bytes.len(),
            _ => 1,
        };
        self.take_items(count)?;
        Ok(match of {
            Value::Null | Value::Void => Vec::new(),
            Value::List(list) => list.to_vec(),
            Value::Range(range) => (0..range.len()).map(|at| range.at(at)).collect(),
            Value::Map(map) => map
                .to_vec()
                .into_iter()
                .map(|(key, value)| Value::object(Object::Entry(key, value)))
                .collect(),
            Value::Bytes(bytes) => {
                bytes.iter().map(|byte| Value::Int(i32::from(byte.cast_signed()))).collect()
            }
            Value::Text(text) | Value::Template(text) => {
                text.chars().map(|c| Value::text(c.to_string())).collect()
            }
            Value::Object(object) => return self.items_of_object(&object.clone(), of),
            Value::Bound(binding) => return self.items_of_bound(*binding),
            other => vec![other.clone()],
        })
    }

    pub(super) fn items_of_object(&mut self, object: &Rc<Object>, of: &Value) -> Run<Vec<Value>> {
        Ok(match &**object {
            Object::Matcher(matches) => self.all_matches(matches)?,
            Object::Iterator(items, at) => {
                let from = at.replace(usize::MAX).min(items.borrow().len());
                items.borrow()[from..].to_vec()
            }
            Object::Reader(lines) => lines.take().into_iter().rev().map(Value::Text).collect(),
            _ => vec![of.clone()],
        })
    }

    /// An iterator over a value.
    pub(super) fn iterator(&mut self, of: &Value) -> Run {
        let items = self.items(of)?;
        Ok(Value::object(Object::Iterator(RefCell::new(items), Cell::new(0))))
    }

    /// A list, array or set of these.
    pub(super) fn list_of_kind(&mut self, kind: ListKind, items: Vec<Value>) -> Run {
        self.take_items(items.len())?;
        let items = if kind == ListKind::Set { self.distinct(items)? } else { items };
        Ok(Value::List(Rc::new(List::new(kind, items))))
    }

    /// Each value once.
    pub(super) fn distinct(&mut self, items: Vec<Value>) -> Run<Vec<Value>> {
        self.work(items.len() / 2)?;
        let seen = Map::new(MapKind::Plain, []);
        Ok(items.into_iter().filter(|item| seen.put(item.clone(), Value::Null).is_none()).collect())
    }

    /// A list or map must not come to hold itself: it would have no text and no end.
    pub(super) fn check_circle(&mut self, holder: *const (), item: &Value) -> Run<()> {
        let mut rest = vec![item.clone()];
        while let Some(value) = rest.pop() {
            let (place, more) = match &value {
                Value::List(list) => (
                    Rc::as_ptr(list).cast::<()>(),
                    list.look(|items| items.iter().filter(|item| holds(item)).cloned().collect()),
                ),
                Value::Map(map) => (
                    Rc::as_ptr(map).cast::<()>(),
                    map.to_vec().into_iter().map(|(_, value)| value).filter(holds).collect(),
                ),
                Value::Object(object) => match &**object {
                    Object::Entry(_, value) => (std::ptr::null(), vec![value.clone()]),
                    _ => continue,
                },
                _ => continue,
            };
            if place == holder {
                return thrown("UnsupportedOperationException", "a list or map cannot hold itself here");
            }
            self.work(1 + more.len())?;
            rest.extend(more);
        }
        Ok(())
    }

    /// Adds an element; whether there was room for it.
    pub(super) fn push(&mut self, of: &Value, item: Value) -> Run<bool> {
        let Value::List(list) = of else { return self.no_method(of, "add", &[item]) };
        if list.kind == ListKind::Array {
            return thrown_bare("UnsupportedOperationException");
        }
        if holds(&item) {
            self.check_circle(Rc::as_ptr(list).cast(), &item)?;
        }
        self.take_items(1)?;
        if list.kind == ListKind::Set {
            self.work(list.len() / 8)?;
            if list.look(|items| items.iter().any(|known| known.equals(&item))) {
                return Ok(false);
            }
        }
        list.change(|items| items.push(item));
        Ok(true)
    }

    /// Gives a key of a map a value. A `GString` as a key becomes a text.
    pub(super) fn put(&mut self, map: &Rc<Map>, key: Value, value: Value) -> Run<()> {
        if holds(&value) {
            self.check_circle(Rc::as_ptr(map).cast(), &value)?;
        }
        self.take_items(2)?;
        if map.kind == MapKind::Sorted {
            self.work(map.len() / 4)?;
        }
        map.put(key, value);
        Ok(())
    }

    // Elements.

    /// `of[index]`.
    pub(super) fn element(&mut self, of: &Value, index: &Value) -> Run {
        if self.stack.is_exhausted() {
            return super::abrupt::too_deep(self.limits.calls);
        }
        match (of, index) {
            (Value::Null, _) => thrown("NullPointerException", "Cannot invoke method getAt() on null object"),
            (Value::Map(map), key) => {
                let key = self.key_of(key)?;
                self.key(&map.clone(), &key)
            }
            (_, Value::List(_) | Value::Range(_)) => self.elements(of, index),
            (Value::Text(_) | Value::Template(_), index) => self.character(of, index),
            (Value::List(_) | Value::Range(_), Value::Text(name)) if self.dialect == Dialect::Groovy => {
                let mut found = Vec::new();
                for item in self.items(of)? {
                    found.push(self.element(&item, &Value::Text(name.clone()))?);
                }
                self.new_list(found)
            }
            (Value::List(list), index) => {
                let at = self.place(index.to_long().unwrap_or(-1), list.len());
                match at.and_then(|at| list.get(at)) {
                    Some(value) => Ok(value),
                    None if list.kind == ListKind::Array || self.dialect == Dialect::BeanShell => {
                        self.out_of_array(index, list.len())
                    }
                    None if self.dialect == Dialect::JavaScript => Ok(Value::Void),
                    None if index.to_long().is_some_and(|at| at < 0) && self.dialect == Dialect::Groovy => {
                        thrown(
                            "ArrayIndexOutOfBoundsException",
                            format!(
                                "Negative array index [{}] too large for array size {}",
                                self.text(index)?,
                                list.len()
                            ),
                        )
                    }
                    None => Ok(Value::Null),
                }
            }
            (Value::Range(range), index) => {
                let at = self.place(index.to_long().unwrap_or(-1), range.len());
                Ok(at.filter(|at| *at < range.len()).map(|at| range.at(at)).unwrap_or_default())
            }
            (Value::Bytes(bytes), index) => {
                let at = self.place(index.to_long().unwrap_or(-1), bytes.len());
                match at.and_then(|at| bytes.get(at)) {
                    Some(byte) => Ok(Value::Int(i32::from(byte.cast_signed()))),
                    None => self.out_of_array(index, bytes.len()),
                }
            }
            (Value::Object(object), index) => self.element_of_object(&object.clone(), of, index),
            (Value::Bound(crate::tree::Binding::Variables), Value::Text(_)) => {
                self.invoke(of, Method::getVariable, std::slice::from_ref(index))
            }
            (Value::Bound(crate::tree::Binding::Props), key) if self.dialect == Dialect::Groovy => {
                self.invoke(of, Method::get, std::slice::from_ref(key))
            }
            (of, index) => {
                let name = self.text(index)?;
                if index.as_text().is_some() {
                    self.missing_property(of, &name)
                } else {
                    self.no_method(of, "getAt", std::slice::from_ref(index))
                }
            }
        }
    }

    /// A key as maps have it.
    pub(super) fn key_of(&mut self, key: &Value) -> Run {
        match key {
            Value::Template(text) => Ok(Value::Text(text.clone())),
            Value::Lazy(_) => self.text(key).map(Value::Text),
            Value::Double(number) if self.dialect == Dialect::JavaScript => {
                self.new_text(crate::number::script_text(*number))
            }
            key => Ok(key.clone()),
        }
    }

    pub(super) fn element_of_object(&mut self, object: &Rc<Object>, of: &Value, index: &Value) -> Run {
        match &**object {
            Object::Matcher(matches) => self.match_at(matches, index),
            Object::Builder(content) => {
                let text = Value::text(content.borrow().as_str());
                self.element(&text, index)
            }
            Object::Entry(key, value) => {
                Ok(if index.to_long() == Some(0) { key.clone() } else { value.clone() })
            }
            _ => {
                let items = self.items(of)?;
                let list = self.new_list(items)?;
                self.element(&list, index)
            }
        }
    }

    pub(super) fn out_of_array<T>(&mut self, index: &Value, length: usize) -> Run<T> {
        let index = index.to_long().unwrap_or(-1);
        thrown("ArrayIndexOutOfBoundsException", format!("Index {index} out of bounds for length {length}"))
    }

    /// The place of an index, which counts from the end where it is negative.
    pub(super) fn place(&self, index: i64, length: usize) -> Option<usize> {
        let counts_back = self.dialect == Dialect::Groovy;
        let index = if index < 0 && counts_back { index + length as i64 } else { index };
        usize::try_from(index).ok()
    }

    /// The elements at several indices.
    pub(super) fn elements(&mut self, of: &Value, indices: &Value) -> Run {
        let length = match of {
            Value::List(list) => list.len(),
            Value::Range(range) => range.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Text(found) | Value::Template(found) => text::len(found),
            other => self.items(other)?.len(),
        };
        let places = match indices {
            Value::Range(range) => self.places_of_range(**range, length)?,
            other => self.items(other)?,
        };
        let mut found = Vec::with_capacity(places.len().min(1 << 16));
        for place in &places {
            self.step()?;
            found.push(self.element(of, place)?);
        }
        if of.as_text().is_none() {
            return self.new_list(found);
        }
        let mut out = String::new();
        for part in &found {
            out.push_str(&self.text(part)?);
        }
        self.new_text(out)
    }

    /// The indices of a range whose ends may count from the end.
    pub(super) fn places_of_range(&mut self, range: crate::value::Range, length: usize) -> Run<Vec<Value>> {
        if range.is_empty() {
            // `0..<-1` and its like: the exclusive end counts from the end as well.
            return Ok(Vec::new());
        }
        let from_end = |at: i64| if at < 0 { at + length as i64 } else { at };
        let (from, to) = (from_end(range.from), from_end(range.to));
        let count = (from.abs_diff(to) as usize).saturating_add(1);
        self.take_items(count.min(length * 2 + 2))?;
        if from < 0 || to < 0 || count > length.max(1) * 2 {
            return Ok(vec![Value::Long(from.max(to))]);
        }
        let all: Vec<Value> = (from.min(to)..=from.max(to)).map(Value::Long).collect();
        Ok(if from > to { all.into_iter().rev().collect() } else { all })
    }

    pub(super) fn character(&mut self, of: &Value, index: &Value) -> Run {
        let found = self.text(of)?;
        let length = text::len(&found);
        let Some(wanted) = index.to_long() else {
            let name = self.text(index)?;
            return if &*name == "length" && self.dialect == Dialect::JavaScript {
                Ok(self.number_of(length))
            } else {
                self.missing_property(of, &name)
            };
        };
        let place = self.place(wanted, length).filter(|place| *place < length);
        match place.and_then(|place| text::char_at(&found, place)) {
            Some(c) => Ok(Value::text(c.to_string())),
            None if self.dialect == Dialect::JavaScript => Ok(Value::Void),
            None => thrown(
                "StringIndexOutOfBoundsException",
                format!("begin {wanted}, end {}, length {length}", wanted + 1),
            ),
        }
    }

    /// `of[index] = value`.
    pub(super) fn set_element(&mut self, of: &Value, index: &Value, value: Value) -> Run<()> {
        match of {
            Value::Map(map) => {
                let key = self.key_of(index)?;
                self.put(map, key, value)
            }
            Value::List(list) => {
                let wanted = index.to_long().unwrap_or(-1);
                let Some(place) = self.place(wanted, list.len()) else {
                    return self.out_of_array(index, list.len());
                };
                if place >= list.len() && (list.kind == ListKind::Array || self.dialect == Dialect::BeanShell)
                {
                    return self.out_of_array(index, list.len());
                }
                if holds(&value) {
                    self.check_circle(Rc::as_ptr(list).cast(), &value)?;
                }
                if place >= list.len() {
                    self.take_items(place - list.len() + 1)?;
                    list.change(|items| items.resize(place + 1, Value::Null));
                }
                list.change(|items| items[place] = value);
                Ok(())
            }
            Value::Bound(crate::tree::Binding::Props) => {
                self.invoke(of, Method::put, &[index.clone(), value]).map(drop)
            }
            Value::Bound(crate::tree::Binding::Variables) => {
                self.invoke(of, Method::setVariable, &[index.clone(), value]).map(drop)
            }
            Value::Null => thrown("NullPointerException", "Cannot invoke method putAt() on null object"),
            of => {
                let name = self.text(index)?;
                self.missing_property(of, &name)
            }
        }
    }
}

/// True if a value may hold others.
pub(super) fn holds(value: &Value) -> bool {
    match value {
        Value::List(list) => !list.is_empty(),
        Value::Map(map) => !map.is_empty(),
        Value::Object(object) => matches!(**object, Object::Entry(..)),
        _ => false,
    }
}
