//! `Collection`: methods that lists, sets, arrays and ranges share, without those that call a closure for each element.

use super::iterable;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Kind, row, rows};
use crate::model::library::javascript::list as javascript;
use crate::model::machine::Machine;
use crate::model::meaning::items::{element, items, iterator, list_of_kind};
use crate::model::meaning::operate::{is_in, operate};
use crate::model::meaning::order;
use crate::model::tree::{Binary, Type};
use crate::model::value::{ListKind, Map, MapKind, Value};
use std::cmp::Ordering;
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.util", "Collection")
    .extends(&iterable::KIND)
    .converts(|| Type::List)
    .javascript(javascript::METHODS)
    .methods(&[
        // Questions.
        row("size", 0, |_, of, _| Ok(Value::count(length(of)))),
        row("length", 0, |_, of, _| Ok(Value::count(length(of)))),
        row("isEmpty", 0, |_, of, _| Ok(Value::Bool(length(of) == 0))),
        row("getAt", 1, |m, of, args| element(m, of, &args[0])),
        row("get", 1, |m, of, args| element(m, of, &args[0])),
        row("contains", 1, contains),
        row("includes", 1, contains),
        row("containsAll", 1, |m, of, args| {
            let items = items(m, of)?;
            let wanted = others(m, &args[0], items.len())?;
            Ok(Value::Bool(wanted.iter().all(|wanted| items.iter().any(|item| item.equals(wanted)))))
        }),
        row("disjoint", 1, |m, of, args| {
            let items = items(m, of)?;
            let other = others(m, &args[0], items.len())?;
            Ok(Value::Bool(!items.iter().any(|item| other.iter().any(|known| known.equals(item)))))
        }),
        row("indexOf", 1, |m, of, args| {
            let items = items(m, of)?;
            Ok(place(m, items.iter().position(|known| known.equals_loosely(&args[0]))))
        }),
        row("lastIndexOf", 1, |m, of, args| {
            let items = items(m, of)?;
            Ok(place(m, items.iter().rposition(|known| known.equals_loosely(&args[0]))))
        }),
        row("first", 0, first),
        row("head", 0, first),
        row("getFirst", 0, first),
        row("last", 0, last),
        row("getLast", 0, last),
        row("peek", 0, |m, of, _| Ok(items(m, of)?.pop().unwrap_or(Value::Null))),
        row("equals", 1, |_, of, args| Ok(Value::Bool(of.equals_loosely(&args[0])))),
        // Made of the elements.
        rows("join", 0, 1, |m, of, args| {
            let items = items(m, of)?;
            order::join(m, &items, args.first())
        }),
        row("sum", 0, |m, of, _| {
            let items = items(m, of)?;
            order::sum(m, items)
        }),
        row("average", 0, |m, of, _| {
            let items = items(m, of)?;
            order::average(m, items)
        }),
        row("max", 0, |m, of, _| {
            let items = items(m, of)?;
            order::extreme(m, items, Ordering::Greater)
        }),
        row("min", 0, |m, of, _| {
            let items = items(m, of)?;
            order::extreme(m, items, Ordering::Less)
        }),
        // A part of the elements.
        row("reverse", 0, |m, of, _| {
            let items = items(m, of)?.into_iter().rev().collect();
            order::like_array(m, of, items)
        }),
        row("take", 1, |m, of, args| {
            let items = items(m, of)?.into_iter().take(count(&args[0])).collect();
            order::like_array(m, of, items)
        }),
        row("limit", 1, |m, of, args| {
            let items = items(m, of)?.into_iter().take(count(&args[0])).collect();
            m.new_list(items)
        }),
        row("drop", 1, |m, of, args| {
            let items = items(m, of)?.into_iter().skip(count(&args[0])).collect();
            order::like_array(m, of, items)
        }),
        row("skip", 1, |m, of, args| {
            let items = items(m, of)?.into_iter().skip(count(&args[0])).collect();
            m.new_list(items)
        }),
        row("takeRight", 1, |m, of, args| {
            let items = items(m, of)?;
            m.new_list(items[items.len().saturating_sub(count(&args[0]))..].to_vec())
        }),
        row("dropRight", 1, |m, of, args| {
            let items = items(m, of)?;
            m.new_list(items[..items.len().saturating_sub(count(&args[0]))].to_vec())
        }),
        row("tail", 0, |m, of, _| {
            let items = items(m, of)?.into_iter().skip(1).collect();
            m.new_list(items)
        }),
        row("init", 0, |m, of, _| {
            let mut items = items(m, of)?;
            items.pop();
            m.new_list(items)
        }),
        row("subList", 2, |m, of, args| sub_list(m, of, count(&args[0]), count(&args[1]))),
        // In another order, or as another kind of collection.
        row("flatten", 0, |m, of, _| {
            let items = items(m, of)?;
            let items = order::flattened(m, items)?;
            m.new_list(items)
        }),
        rows("unique", 0, 2, unique),
        rows("toUnique", 0, 1, unique),
        rows("distinct", 0, 1, unique),
        rows("sort", 0, 2, |m, of, args| {
            let items = items(m, of)?;
            let items = order::sorted(m, items, args.last())?;
            order::like_array(m, of, items)
        }),
        rows("toSorted", 0, 1, sorted),
        rows("sorted", 0, 1, sorted),
        rows("shuffled", 0, 1, |m, of, args| {
            let items = items(m, of)?;
            let items = super::random::shuffled(m, items, args.last())?;
            m.new_list(items)
        }),
        row("toList", 0, as_list),
        row("asList", 0, as_list),
        row("stream", 0, as_list),
        row("boxed", 0, as_list),
        row("toSet", 0, |m, of, _| {
            let items = items(m, of)?;
            list_of_kind(m, ListKind::Set, items)
        }),
        rows("toArray", 0, 1, |m, of, _| {
            let items = items(m, of)?;
            list_of_kind(m, ListKind::Array, items)
        }),
        row("asImmutable", 0, itself),
        row("asUnmodifiable", 0, itself),
        row("asSynchronized", 0, itself),
        row("copy", 0, itself),
        row("iterator", 0, |m, of, _| iterator(m, of)),
        row("listIterator", 0, |m, of, _| iterator(m, of)),
        // With another collection.
        row("plus", 1, |m, of, args| operate(m, Binary::Add, of, &args[0])),
        row("minus", 1, |m, of, args| operate(m, Binary::Subtract, of, &args[0])),
        row("multiply", 1, |m, of, args| operate(m, Binary::Multiply, of, &args[0])),
        row("intersect", 1, intersect),
        rows("step", 1, 2, step),
        row("collate", 1, |m, of, args| {
            let items = items(m, of)?;
            let parts = items.chunks(count(&args[0]).max(1)).map(|part| Value::list(part.to_vec())).collect();
            m.new_list(parts)
        }),
        row("transpose", 0, transpose),
        rows("indexed", 0, 1, |m, of, args| {
            let items = items(m, of)?.into_iter().enumerate();
            let from = args.first().map_or(0, count);
            let entries: Vec<_> = items.map(|(at, item)| (Value::count(at + from), item)).collect();
            m.take_items(entries.len() * 2)?;
            Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, entries))))
        }),
        rows("withIndex", 0, 1, |m, of, args| {
            let items = items(m, of)?.into_iter().enumerate();
            let from = args.first().map_or(0, count);
            m.new_list(items.map(|(at, item)| Value::list(vec![item, Value::count(at + from)])).collect())
        }),
    ]);

/// Elements of a list or a range.
fn length(of: &Value) -> usize {
    match of {
        Value::List(list) => list.len(),
        Value::Range(range) => range.len(),
        other => unreachable!("{other:?} is no receiver of Collection's methods"),
    }
}

/// A number of elements, never below zero.
pub(crate) fn count(value: &Value) -> usize {
    usize::try_from(value.to_long().unwrap_or(0)).unwrap_or(0)
}

/// The elements of another collection; counts that each of them is compared with each of so many.
fn others(m: &mut Machine<'_>, other: &Value, times: usize) -> Run<Vec<Value>> {
    let found = items(m, other)?;
    m.work(found.len() * times / 8)?;
    Ok(found)
}

fn place(m: &Machine<'_>, at: Option<usize>) -> Value {
    let at = at.map_or(-1, |at| at as i32);
    if m.dialect.has_only_doubles() { Value::Double(f64::from(at)) } else { Value::Int(at) }
}

fn contains(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    m.work(length(of) / 8)?;
    Ok(Value::Bool(match of {
        Value::List(list) => list.look(|items| items.iter().any(|known| known.equals_loosely(&args[0]))),
        of => is_in(m, &args[0], of)?,
    }))
}

fn end_of(of: &Value, at: usize) -> Run {
    let found = match of {
        Value::List(list) => list.get(at),
        Value::Range(range) if at < range.len() => Some(range.at(at)),
        _ => None,
    };
    found
        .map_or_else(|| thrown("NoSuchElementException", "Cannot access an element of an empty Iterable"), Ok)
}

fn first(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    end_of(of, 0)
}

fn last(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    end_of(of, length(of).wrapping_sub(1))
}

fn itself(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(of.clone())
}

fn as_list(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let items = items(m, of)?;
    m.new_list(items)
}

fn unique(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let items = items(m, of)?;
    let items = order::unique(m, items, args.last())?;
    m.new_list(items)
}

fn sorted(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let items = items(m, of)?;
    let items = order::sorted(m, items, args.last())?;
    m.new_list(items)
}

pub(crate) fn sub_list(m: &mut Machine<'_>, of: &Value, from: usize, to: usize) -> Run {
    let items = items(m, of)?;
    match items.get(from..to) {
        Some(part) => m.new_list(part.to_vec()),
        None => thrown(
            "IndexOutOfBoundsException",
            format!("fromIndex: {from}, toIndex: {to}, size: {}", items.len()),
        ),
    }
}

fn intersect(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let mut kept = items(m, of)?;
    let other = others(m, &args[0], kept.len())?;
    kept.retain(|item| other.iter().any(|known| known.equals_loosely(item)));
    match of {
        Value::List(list) if list.kind == ListKind::Set => list_of_kind(m, ListKind::Set, kept),
        _ => m.new_list(kept),
    }
}

fn step(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let by = usize::try_from(args[0].to_long().unwrap_or(1)).unwrap_or(1).max(1);
    let items: Vec<Value> = items(m, of)?.into_iter().step_by(by).collect();
    if let [_, Value::Closure(_)] = args {
        return iterable::each(m, &Value::list(items), &args[1..]);
    }
    m.new_list(items)
}

fn transpose(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let mut rows = Vec::new();
    for row in items(m, of)? {
        rows.push(items(m, &row)?);
    }
    let width = rows.iter().map(Vec::len).min().unwrap_or(0);
    m.take_items(width * rows.len())?;
    let column = |at: usize| Value::list(rows.iter().map(|row| row[at].clone()).collect());
    m.new_list((0..width).map(column).collect())
}
