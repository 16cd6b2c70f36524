//! `Iterable`: methods that call a closure for each element of whatever has some.

use super::entry::Entry;
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, push, put};
use crate::model::meaning::{operate, order};
use crate::model::value::{Closure, Map, MapKind, Value};
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.lang", "Iterable").extends(&object::KIND).methods(&[
    row("each", 1, each),
    row("forEach", 1, each),
    row("reverseEach", 1, |m, of, args| {
        let closure = closure(m, of, "reverseEach", args)?;
        for item in items(m, of)?.into_iter().rev() {
            m.call_closure(&closure, &[item])?;
        }
        Ok(of.clone())
    }),
    row("eachWithIndex", 1, |m, of, args| {
        let closure = closure(m, of, "eachWithIndex", args)?;
        for (at, item) in items(m, of)?.into_iter().enumerate() {
            call_with_index(m, &closure, item, at)?;
        }
        Ok(of.clone())
    }),
    rows("collect", 0, 2, collect),
    row("map", 1, collect),
    row("mapToInt", 1, collect),
    row("mapToLong", 1, collect),
    row("mapToObj", 1, collect),
    row("collectMany", 1, |m, of, args| {
        let closure = closure(m, of, "collectMany", args)?;
        let mut found = Vec::new();
        for item in items(m, of)? {
            let more = m.call_closure(&closure, &[item])?;
            found.extend(items(m, &more)?);
        }
        m.new_list(found)
    }),
    // Elements that fit.
    rows("find", 0, 1, find),
    rows("findAll", 0, 1, find_all),
    row("filter", 1, find_all),
    rows("grep", 0, 1, find_all),
    rows("any", 0, 1, any),
    row("anyMatch", 1, any),
    row("some", 1, any),
    rows("every", 0, 1, every),
    row("allMatch", 1, every),
    row("noneMatch", 1, |m, of, args| {
        search(m, of, "noneMatch", args, Value::Bool(true), |_, _, fits| fits.then(|| Value::Bool(false)))
    }),
    row("findIndexOf", 1, |m, of, args| {
        search(m, of, "findIndexOf", args, Value::Int(-1), |at, _, fits| fits.then(|| Value::count(at)))
    }),
    row("findLastIndexOf", 1, |m, of, args| {
        let last = indices(m, of, "findLastIndexOf", args)?.pop();
        Ok(last.map_or(Value::Int(-1), Value::count))
    }),
    row("findIndexValues", 1, |m, of, args| {
        let found = indices(m, of, "findIndexValues", args)?;
        m.new_list(found.into_iter().map(|at| Value::Long(at as i64)).collect())
    }),
    row("findResult", 1, |m, of, args| {
        let closure = closure(m, of, "findResult", args)?;
        for item in items(m, of)? {
            let value = m.call_closure(&closure, &[item])?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        Ok(nothing(m))
    }),
    row("findResults", 1, |m, of, args| {
        let closure = closure(m, of, "findResults", args)?;
        let mut found = Vec::new();
        for item in items(m, of)? {
            found.extend(Some(m.call_closure(&closure, &[item])?).filter(|value| !value.is_null()));
        }
        m.new_list(found)
    }),
    row("takeWhile", 1, |m, of, args| {
        let (fitting, _) = cut(m, of, "takeWhile", args)?;
        m.new_list(fitting)
    }),
    row("dropWhile", 1, |m, of, args| {
        let (_, rest) = cut(m, of, "dropWhile", args)?;
        m.new_list(rest)
    }),
    // All to one.
    rows("inject", 1, 2, inject),
    rows("reduce", 1, 2, inject),
    row("count", 1, count),
    row("sum", 1, |m, of, args| {
        let values = values(m, of, "sum", args)?;
        order::sum(m, values)
    }),
    row("max", 1, |m, of, args| {
        let items = items(m, of)?;
        Ok(order::sorted(m, items, args.last())?.pop().unwrap_or(Value::Null))
    }),
    row("min", 1, |m, of, args| {
        let items = items(m, of)?;
        Ok(order::sorted(m, items, args.last())?.into_iter().next().unwrap_or(Value::Null))
    }),
    row("groupBy", 1, |m, of, args| {
        grouped(m, of, "groupBy", args, |m, map, key, item| match map.get(&key) {
            Some(group) => push(m, &group, item).map(drop),
            None => {
                let group = m.new_list(vec![item])?;
                put(m, map, key, group)
            }
        })
    }),
    row("countBy", 1, |m, of, args| {
        grouped(m, of, "countBy", args, |m, map, key, _| {
            let count = map.get(&key).and_then(|count| count.to_long()).unwrap_or(0);
            put(m, map, key, Value::count(count as usize + 1))
        })
    }),
    row("collectEntries", 1, |m, of, args| {
        grouped(m, of, "collectEntries", args, |m, map, entry, _| put_entry(m, map, &entry))
    }),
    row("collectEntries", 0, |m, of, _| {
        let map = Rc::new(Map::new(MapKind::Plain, []));
        for item in items(m, of)? {
            put_entry(m, &map, &item)?;
        }
        Ok(Value::Map(map))
    }),
    row("split", 1, split),
]);

/// The closure that ends the arguments.
pub(crate) fn closure(m: &mut Machine<'_>, of: &Value, name: &str, args: &[Value]) -> Run<Rc<Closure>> {
    match args.last() {
        Some(Value::Closure(closure)) => Ok(closure.clone()),
        _ => m.no_method(of, name, args),
    }
}

/// Nothing found: JavaScript's `undefined`, null for the others.
fn nothing(m: &Machine<'_>) -> Value {
    if m.dialect == Dialect::JavaScript { Value::Void } else { Value::Null }
}

pub(crate) fn each(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let closure = closure(m, of, "each", args)?;
    for item in items(m, of)? {
        m.call_closure(&closure, std::slice::from_ref(&item))?;
    }
    Ok(of.clone())
}

/// Calls a closure with an element and its index; an entry may be taken apart into three parameters.
fn call_with_index(m: &mut Machine<'_>, closure: &Rc<Closure>, item: Value, at: usize) -> Run {
    if closure.parameters() == 3
        && let Some(entry) = item.as_object::<Entry>()
    {
        return m.call_closure(closure, &[entry.key.clone(), entry.value.clone(), Value::count(at)]);
    }
    m.call_closure(closure, &[item, Value::count(at)])
}

/// The values that a closure gives for the elements.
fn values(m: &mut Machine<'_>, of: &Value, name: &str, args: &[Value]) -> Run<Vec<Value>> {
    let closure = closure(m, of, name, args)?;
    let items = items(m, of)?;
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        found.push(m.call_closure(&closure, &[item])?);
    }
    Ok(found)
}

fn collect(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    if args.is_empty() {
        let items = items(m, of)?;
        return m.new_list(items);
    }
    let found = values(m, of, "collect", args)?;
    if let [target @ Value::List(_), _] = args {
        for item in found {
            push(m, target, item)?;
        }
        return Ok(target.clone());
    }
    m.new_list(found)
}

/// True if an element fits: by a closure, as a case of a value, or by itself.
fn fits(m: &mut Machine<'_>, test: Option<&Value>, item: &Value) -> Run<bool> {
    match test {
        Some(Value::Closure(closure)) => Ok(m.call_closure(closure, std::slice::from_ref(item))?.is_true()),
        Some(case) => operate::is_case(m, case, item),
        None => Ok(item.is_true()),
    }
}

/// Goes through the elements until a decision is made.
fn search(
    m: &mut Machine<'_>,
    of: &Value,
    name: &str,
    args: &[Value],
    otherwise: Value,
    decide: fn(usize, &Value, bool) -> Option<Value>,
) -> Run {
    if name.ends_with("Match") || name.starts_with("findIndex") {
        closure(m, of, name, args)?;
    }
    for (at, item) in items(m, of)?.iter().enumerate() {
        let fits = fits(m, args.first(), item)?;
        if let Some(decided) = decide(at, item, fits) {
            return Ok(decided);
        }
    }
    Ok(otherwise)
}

pub(crate) fn find(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let otherwise = nothing(m);
    search(m, of, "find", args, otherwise, |_, item, fits| fits.then(|| item.clone()))
}

fn any(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    search(m, of, "any", args, Value::Bool(false), |_, _, fits| fits.then_some(Value::Bool(true)))
}

fn every(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    search(m, of, "every", args, Value::Bool(true), |_, _, fits| (!fits).then_some(Value::Bool(false)))
}

pub(crate) fn find_all(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let mut found = Vec::new();
    for item in items(m, of)? {
        if fits(m, args.first(), &item)? {
            found.push(item);
        }
    }
    m.new_list(found)
}

pub(crate) fn count(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let mut count = 0;
    for item in items(m, of)? {
        count += usize::from(fits(m, args.first(), &item)?);
    }
    Ok(Value::count(count))
}

/// The places of the elements that fit.
fn indices(m: &mut Machine<'_>, of: &Value, name: &str, args: &[Value]) -> Run<Vec<usize>> {
    closure(m, of, name, args)?;
    let mut found = Vec::new();
    for (at, item) in items(m, of)?.iter().enumerate() {
        if fits(m, args.first(), item)? {
            found.push(at);
        }
    }
    Ok(found)
}

/// The elements before the first that does not fit, and the rest.
fn cut(m: &mut Machine<'_>, of: &Value, name: &str, args: &[Value]) -> Run<(Vec<Value>, Vec<Value>)> {
    closure(m, of, name, args)?;
    let mut fitting = items(m, of)?;
    let mut end = fitting.len();
    for (at, item) in fitting.iter().enumerate() {
        if !fits(m, args.first(), item)? {
            end = at;
            break;
        }
    }
    let rest = fitting.split_off(end);
    Ok((fitting, rest))
}

fn inject(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let closure = closure(m, of, "inject", args)?;
    let mut items = items(m, of)?.into_iter();
    let start = if let [start, _] = args { Some(start.clone()) } else { items.next() };
    let mut result = start.unwrap_or(Value::Null);
    for item in items {
        result = m.call_closure(&closure, &[result, item])?;
    }
    Ok(result)
}

/// A map that is filled with what a closure gives for each element.
fn grouped(
    m: &mut Machine<'_>,
    of: &Value,
    name: &str,
    args: &[Value],
    add: fn(&mut Machine<'_>, &Rc<Map>, Value, Value) -> Run<()>,
) -> Run {
    let closure = closure(m, of, name, args)?;
    let map = Rc::new(Map::new(MapKind::Plain, []));
    for item in items(m, of)? {
        let key = m.call_closure(&closure, std::slice::from_ref(&item))?;
        add(m, &map, key, item)?;
    }
    Ok(Value::Map(map))
}

/// Adds a pair or a map to the map that `collectEntries` makes.
fn put_entry(m: &mut Machine<'_>, map: &Rc<Map>, entry: &Value) -> Run<()> {
    match entry {
        Value::List(pair) => {
            put(m, map, pair.get(0).unwrap_or(Value::Null), pair.get(1).unwrap_or(Value::Null))
        }
        Value::Map(more) => {
            for (key, value) in more.to_vec() {
                put(m, map, key, value)?;
            }
            Ok(())
        }
        other => match other.as_object::<Entry>() {
            Some(entry) => put(m, map, entry.key.clone(), entry.value.clone()),
            None => thrown("ClassCastException", "collectEntries needs pairs or maps"),
        },
    }
}

/// Two lists: those that fit, and the others.
pub(crate) fn split(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    closure(m, of, "split", args)?;
    let mut fitting = Vec::new();
    let mut others = Vec::new();
    for item in items(m, of)? {
        if fits(m, args.first(), &item)? { fitting.push(item) } else { others.push(item) }
    }
    Ok(Value::list(vec![Value::list(fitting), Value::list(others)]))
}
