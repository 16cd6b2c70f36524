//! Methods of maps.

use super::Machine;
use super::abrupt::Run;
use crate::dialect::Dialect;
use crate::method::Method;
use crate::value::{Closure, ListKind, Map, MapKind, Object, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// The value of a key; what `withDefault` says where there is none.
    pub(super) fn key(&mut self, map: &Rc<Map>, key: &Value) -> Run {
        if let Some(value) = map.get(key) {
            return Ok(value);
        }
        let default = map.default.borrow().clone();
        match default {
            Value::Closure(closure) => {
                let value = self.call_closure(&closure, std::slice::from_ref(key))?;
                self.put(map, key.clone(), value.clone())?;
                Ok(value)
            }
            _ if self.dialect == Dialect::JavaScript => Ok(Value::Void),
            _ => Ok(Value::Null),
        }
    }

    pub(super) fn map_method(&mut self, map: &Rc<Map>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        if let Some(value) = self.map_access(map, method, args)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.map_copy(map, method, args)? {
            return Ok(Some(value));
        }
        match args.last() {
            Some(Value::Closure(closure)) => self.map_each(map, method, &closure.clone(), args),
            _ => Ok(None),
        }
    }

    fn map_access(&mut self, map: &Rc<Map>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::get | Method::getAt, [key]) => self.key(map, key)?,
            (Method::get, [key, default]) => match map.get(key) {
                Some(value) => value,
                None => {
                    // The default becomes the key's value.
                    self.put(map, key.clone(), default.clone())?;
                    default.clone()
                }
            },
            (Method::getOrDefault, [key, default]) => map.get(key).unwrap_or_else(|| default.clone()),
            (Method::put | Method::putAt, [key, value]) => {
                let old = map.get(key).unwrap_or_default();
                self.put(map, key.clone(), value.clone())?;
                old
            }
            (Method::putIfAbsent, [key, value]) => match map.get(key).filter(|old| !old.is_null()) {
                Some(old) => old,
                None => {
                    self.put(map, key.clone(), value.clone())?;
                    Value::Null
                }
            },
            (Method::computeIfAbsent, [key, Value::Closure(closure)]) => match map.get(key) {
                Some(old) => old,
                None => {
                    let value = self.call_closure(closure, std::slice::from_ref(key))?;
                    self.put(map, key.clone(), value.clone())?;
                    value
                }
            },
            (Method::putAll, [more]) => {
                for entry in self.items(more)? {
                    if let Value::Object(object) = &entry
                        && let Object::Entry(key, value) = &**object
                    {
                        self.put(map, key.clone(), value.clone())?;
                    }
                }
                Value::Null
            }
            (Method::remove, [key]) => {
                self.work(map.len() / 64)?;
                map.remove(key).unwrap_or_default()
            }
            (Method::clear, []) => {
                map.clear();
                Value::Null
            }
            (Method::containsKey | Method::hasOwnProperty, [key]) => Value::Bool(map.get(key).is_some()),
            (Method::containsValue, [value]) => {
                Value::Bool(map.to_vec().iter().any(|(_, known)| known.equals(value)))
            }
            (Method::toString, []) if map.kind == MapKind::Json => {
                let text = Value::Map(map.clone()).shown(crate::value::Style::Java);
                self.new_text(text)?
            }
            (Method::size, []) => Value::count(map.len()),
            (Method::isEmpty, []) => Value::Bool(map.is_empty()),
            (Method::getProperty, [key]) => self.key(map, key)?,
            (Method::setProperty, [key, value]) => {
                self.put(map, key.clone(), value.clone())?;
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    fn map_copy(&mut self, map: &Rc<Map>, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::keySet | Method::keys, []) => {
                let keys = map.to_vec().into_iter().map(|(key, _)| key).collect();
                self.list_of_kind(ListKind::Set, keys)?
            }
            (Method::values, []) => {
                let values = map.to_vec().into_iter().map(|(_, value)| value).collect();
                self.new_list(values)?
            }
            (Method::entrySet | Method::toList | Method::iterator, []) => {
                let entries = self.items(&Value::Map(map.clone()))?;
                let list = Value::list(entries);
                if method == Method::iterator { self.iterator(&list)? } else { list }
            }
            (Method::plus, [other]) => {
                self.operate(crate::tree::Binary::Add, &Value::Map(map.clone()), other)?
            }
            (Method::subMap, [keys]) => {
                let mut found = Vec::new();
                for key in self.items(keys)? {
                    found.extend(map.get(&key).map(|value| (key, value)));
                }
                self.new_map(found)?
            }
            (Method::sort, []) => {
                let mut entries = map.to_vec();
                self.work(entries.len())?;
                entries.sort_by(|a, b| a.0.order(&b.0).unwrap_or(std::cmp::Ordering::Equal));
                self.new_map(entries)?
            }
            (Method::withDefault, [closure]) => {
                let copy = Map::new(map.kind, map.to_vec());
                copy.default.replace(closure.clone());
                Value::Map(Rc::new(copy))
            }
            (Method::firstKey, []) => map.at(0).map(|(key, _)| key).unwrap_or_default(),
            (Method::lastKey, []) => {
                map.at(map.len().wrapping_sub(1)).map(|(key, _)| key).unwrap_or_default()
            }
            (Method::asImmutable | Method::asUnmodifiable | Method::asSynchronized, []) => {
                Value::Map(map.clone())
            }
            (Method::take | Method::drop, [count]) => {
                let count = usize::try_from(count.to_long().unwrap_or(0)).unwrap_or(0);
                let entries = map.to_vec().into_iter();
                let kept = if method == Method::take {
                    entries.take(count).collect()
                } else {
                    entries.skip(count).collect()
                };
                self.new_map(kept)?
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn new_map(&mut self, entries: Vec<(Value, Value)>) -> Run {
        self.take_items(entries.len() * 2)?;
        Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, entries))))
    }

    /// A closure with an entry, or its key and value.
    fn call_entry(&mut self, closure: &Rc<Closure>, key: &Value, value: &Value) -> Run {
        let entry = Value::object(Object::Entry(key.clone(), value.clone()));
        self.call_closure(closure, &[entry])
    }

    fn map_each(
        &mut self,
        map: &Rc<Map>,
        method: Method,
        closure: &Rc<Closure>,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let of = Value::Map(map.clone());
        match method {
            Method::findAll | Method::sort | Method::groupBy => {}
            Method::forEach => {
                for (key, value) in map.to_vec() {
                    self.call_closure(closure, &[key, value])?;
                }
                return Ok(Some(of));
            }
            Method::each => {
                for (key, value) in map.to_vec() {
                    self.call_entry(closure, &key, &value)?;
                }
                return Ok(Some(of));
            }
            Method::inject if args.len() == 2 => {
                let mut result = args[0].clone();
                for (key, value) in map.to_vec() {
                    let entry = Value::object(Object::Entry(key, value));
                    result = self.call_closure(closure, &[result, entry])?;
                }
                return Ok(Some(result));
            }
            _ => return self.each_method(&of, method, args),
        }
        let entries = self.items(&of)?;
        let kept = match method {
            Method::findAll => {
                let mut kept = Vec::new();
                for (key, value) in map.to_vec() {
                    if self.call_entry(closure, &key, &value)?.is_true() {
                        kept.push((key, value));
                    }
                }
                kept
            }
            Method::sort => {
                let by = Value::Closure(closure.clone());
                self.sorted(entries, Some(&by))?.iter().filter_map(parts).collect()
            }
            _ => return self.each_method(&Value::list(entries), method, args),
        };
        self.new_map(kept).map(Some)
    }
}

fn parts(entry: &Value) -> Option<(Value, Value)> {
    match entry {
        Value::Object(object) => match &**object {
            Object::Entry(key, value) => Some((key.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    }
}
