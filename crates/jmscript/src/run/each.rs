//! Methods that call a closure for each element.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::dialect::Dialect;
use crate::method::Method;
use crate::value::{Closure, Map, MapKind, Object, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// Methods that call a closure for each element.
    pub(super) fn each_method(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let Some(Value::Closure(closure)) = args.last().cloned() else {
            return self.each_without_closure(of, method, args);
        };
        if let Some(value) = self.each_search(of, method, &closure)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.each_change(of, method, &closure, args)? {
            return Ok(Some(value));
        }
        self.each_group(of, method, &closure, args)
    }

    /// Methods that take a value in place of a closure.
    pub(super) fn each_without_closure(
        &mut self,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let items = match method {
            Method::find | Method::findAll | Method::grep | Method::any | Method::every | Method::count => {
                self.items(of)?
            }
            _ => return Ok(None),
        };
        let mut found = Vec::new();
        for item in items.iter().cloned() {
            let fits = match args.first() {
                Some(case) => self.is_case(case, &item)?,
                None => item.is_true(),
            };
            if fits {
                found.push(item);
            }
        }
        Ok(Some(match method {
            Method::find => found.first().cloned().unwrap_or_default(),
            Method::any => Value::Bool(!found.is_empty()),
            Method::every => Value::Bool(found.len() == items.len()),
            Method::count => Value::count(found.len()),
            _ => self.new_list(found)?,
        }))
    }

    pub(super) fn ask(&mut self, closure: &Rc<Closure>, item: &Value) -> Run<bool> {
        let value = self.call_closure(closure, std::slice::from_ref(item))?;
        Ok(value.is_true())
    }

    pub(super) fn each_search(
        &mut self,
        of: &Value,
        method: Method,
        closure: &Rc<Closure>,
    ) -> Run<Option<Value>> {
        let is_search = matches!(
            method,
            Method::find
                | Method::any
                | Method::every
                | Method::anyMatch
                | Method::allMatch
                | Method::noneMatch
                | Method::findIndexOf
                | Method::findLastIndexOf
                | Method::some
                | Method::findResult
        );
        if !is_search {
            return Ok(None);
        }
        let items = self.items(of)?;
        let mut last = -1;
        for (at, item) in items.iter().enumerate() {
            if method == Method::findResult {
                let value = self.call_closure(closure, std::slice::from_ref(item))?;
                if !value.is_null() {
                    return Ok(Some(value));
                }
                continue;
            }
            match (self.ask(closure, item)?, method) {
                (true, Method::find) => return Ok(Some(item.clone())),
                (true, Method::any | Method::anyMatch | Method::some) => return Ok(Some(Value::Bool(true))),
                (true, Method::noneMatch) | (false, Method::every | Method::allMatch) => {
                    return Ok(Some(Value::Bool(false)));
                }
                (true, Method::findIndexOf) => return Ok(Some(Value::count(at))),
                (true, Method::findLastIndexOf) => last = at as i32,
                _ => {}
            }
        }
        Ok(Some(match method {
            Method::find | Method::findResult => {
                if self.dialect == Dialect::JavaScript {
                    Value::Void
                } else {
                    Value::Null
                }
            }
            Method::findIndexOf | Method::findLastIndexOf => Value::Int(last),
            Method::any | Method::anyMatch | Method::some => Value::Bool(false),
            _ => Value::Bool(true),
        }))
    }

    pub(super) fn each_change(
        &mut self,
        of: &Value,
        method: Method,
        closure: &Rc<Closure>,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let mut found = Vec::new();
        match method {
            Method::each | Method::forEach => {
                for item in self.items(of)? {
                    self.call_closure(closure, std::slice::from_ref(&item))?;
                }
                return Ok(Some(of.clone()));
            }
            Method::reverseEach => {
                for item in self.items(of)?.into_iter().rev() {
                    self.call_closure(closure, std::slice::from_ref(&item))?;
                }
                return Ok(Some(of.clone()));
            }
            Method::eachWithIndex => {
                for (at, item) in self.items(of)?.into_iter().enumerate() {
                    self.call_with_index(closure, item, at)?;
                }
                return Ok(Some(of.clone()));
            }
            Method::collect | Method::map | Method::mapToInt | Method::mapToObj => {
                for item in self.items(of)? {
                    found.push(self.call_closure(closure, std::slice::from_ref(&item))?);
                }
                if let [target @ Value::List(_), Value::Closure(_)] = args {
                    for item in found {
                        self.push(target, item)?;
                    }
                    return Ok(Some(target.clone()));
                }
            }
            Method::collectMany => {
                for item in self.items(of)? {
                    let more = self.call_closure(closure, std::slice::from_ref(&item))?;
                    found.extend(self.items(&more)?);
                }
            }
            Method::findAll
            | Method::filter
            | Method::grep
            | Method::takeWhile
            | Method::dropWhile
            | Method::findResults
            | Method::findIndexValues => {
                found = self.filtered(of, method, closure)?;
            }
            _ => return Ok(None),
        }
        self.like_set(of, method, found).map(Some)
    }

    /// A closure with an element and its index; an entry may be taken apart into three parameters.
    pub(super) fn call_with_index(&mut self, closure: &Rc<Closure>, item: Value, at: usize) -> Run {
        if let Value::Object(object) = &item
            && let Object::Entry(key, value) = &**object
            && parameters(closure) == 3
        {
            return self.call_closure(closure, &[key.clone(), value.clone(), Value::count(at)]);
        }
        self.call_closure(closure, &[item, Value::count(at)])
    }

    pub(super) fn filtered(&mut self, of: &Value, method: Method, closure: &Rc<Closure>) -> Run<Vec<Value>> {
        let mut found = Vec::new();
        let mut is_dropping = true;
        for (at, item) in self.items(of)?.into_iter().enumerate() {
            if method == Method::findResults {
                let value = self.call_closure(closure, &[item])?;
                if !value.is_null() {
                    found.push(value);
                }
                continue;
            }
            let fits = self.ask(closure, &item)?;
            match (method, fits) {
                (Method::takeWhile, false) => break,
                (Method::dropWhile, fits) => {
                    is_dropping &= fits;
                    if !is_dropping {
                        found.push(item);
                    }
                }
                (Method::findIndexValues, true) => found.push(Value::Long(at as i64)),
                (_, true) => found.push(item),
                (_, false) => {}
            }
        }
        Ok(found)
    }

    pub(super) fn each_group(
        &mut self,
        of: &Value,
        method: Method,
        closure: &Rc<Closure>,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let items = match method {
            Method::inject
            | Method::reduce
            | Method::count
            | Method::sum
            | Method::max
            | Method::min
            | Method::groupBy
            | Method::countBy
            | Method::collectEntries
            | Method::split
            | Method::times => self.items(of)?,
            _ => return Ok(None),
        };
        Ok(Some(match method {
            Method::inject | Method::reduce => {
                let mut items = items.into_iter();
                let start = if args.len() > 1 { args[0].clone() } else { items.next().unwrap_or_default() };
                let mut result = start;
                for item in items {
                    result = self.call_closure(closure, &[result, item])?;
                }
                result
            }
            Method::count => {
                let mut count = 0;
                for item in &items {
                    count += usize::from(self.ask(closure, item)?);
                }
                Value::count(count)
            }
            Method::sum => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.call_closure(closure, &[item])?);
                }
                self.folded(values, Method::sum)?
            }
            Method::max | Method::min => {
                let wanted = Value::Closure(closure.clone());
                let sorted = self.sorted(items, Some(&wanted))?;
                let end = if method == Method::max { sorted.last() } else { sorted.first() };
                end.cloned().unwrap_or_default()
            }
            Method::split => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                for item in items {
                    if self.ask(closure, &item)? { yes.push(item) } else { no.push(item) }
                }
                Value::list(vec![Value::list(yes), Value::list(no)])
            }
            _ => self.grouped(items, method, closure)?,
        }))
    }

    pub(super) fn grouped(&mut self, items: Vec<Value>, method: Method, closure: &Rc<Closure>) -> Run {
        let map = Rc::new(Map::new(MapKind::Plain, []));
        for item in items {
            let key = self.call_closure(closure, std::slice::from_ref(&item))?;
            match method {
                Method::groupBy => match map.get(&key) {
                    Some(group) => {
                        self.push(&group, item)?;
                    }
                    None => {
                        let group = self.new_list(vec![item])?;
                        self.put(&map, key, group)?;
                    }
                },
                Method::countBy => {
                    let count = map.get(&key).and_then(|count| count.to_long()).unwrap_or(0);
                    self.put(&map, key, Value::count(count as usize + 1))?;
                }
                _ => self.put_entry(&map, &key)?,
            }
        }
        Ok(Value::Map(map))
    }

    /// Adds a closure's value, a pair or a map, to the map that `collectEntries` makes.
    pub(super) fn put_entry(&mut self, map: &Rc<Map>, entry: &Value) -> Run<()> {
        match entry {
            Value::List(pair) => {
                self.put(map, pair.get(0).unwrap_or_default(), pair.get(1).unwrap_or_default())
            }
            Value::Map(more) => {
                for (key, value) in more.to_vec() {
                    self.put(map, key, value)?;
                }
                Ok(())
            }
            Value::Object(object) => match &**object {
                Object::Entry(key, value) => self.put(map, key.clone(), value.clone()),
                _ => Ok(()),
            },
            _ => thrown("ClassCastException", "collectEntries needs pairs or maps"),
        }
    }
}

/// The parameters of a closure.
pub(super) fn parameters(closure: &Closure) -> usize {
    match &closure.function {
        crate::value::Callable::Function(function) => {
            function.parameters.len().saturating_sub(closure.given.len())
        }
        crate::value::Callable::Method(..) => 1,
    }
}

pub(super) fn takes_two(closure: &Closure) -> bool {
    parameters(closure) == 2
}
