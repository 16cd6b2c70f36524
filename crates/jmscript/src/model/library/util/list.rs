//! `ArrayList` and the other lists, which are one here.

use super::collection;
use super::random::shuffled;
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{ClassRow, Kind, MANY, row, rows};
use crate::model::machine::Machine;
use crate::model::meaning::items::{check_circle, items, push, set_element};
use crate::model::meaning::order;
use crate::model::tree::Type;
use crate::model::value::{List, ListKind, Value};
use std::rc::Rc;

pub(crate) static LIST: Kind =
    Kind::new("java.util", "List").extends(&collection::KIND).converts(|| Type::List).statics(OF);

pub(crate) static KIND: Kind = Kind::new("java.util", "ArrayList")
    .extends(&LIST)
    .creates(create)
    .converts(|| Type::List)
    .methods(METHODS);

pub(crate) static LINKED: Kind =
    Kind::new("java.util", "LinkedList").extends(&KIND).creates(create).converts(|| Type::List);

pub(crate) static VECTOR: Kind = Kind::new("java.util", "Vector").extends(&KIND).creates(create);

pub(crate) static STACK: Kind = Kind::new("java.util", "Stack").extends(&KIND).creates(create);

pub(crate) static COPY_ON_WRITE: Kind =
    Kind::new("java.util.concurrent", "CopyOnWriteArrayList").extends(&KIND).creates(create);

const OF: &[ClassRow] = &[rows("of", 0, MANY, of), row("copyOf", 1, of)];

/// `List.of(a, b)`, `Arrays.asList(array)`.
pub(crate) fn of(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let items = match args {
        [one @ Value::List(_)] => items(m, one)?,
        args => args.to_vec(),
    };
    m.new_list(items)
}

/// `new ArrayList()`, of a number or another collection.
pub(crate) fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    let items = match args {
        [of] if !of.is_number() => items(m, of)?,
        _ => Vec::new(),
    };
    m.new_list(items)
}

/// Methods that change lists and sets.
pub(crate) const METHODS: &[ClassRow] = &[
    row("add", 1, add),
    row("leftShift", 1, add),
    row("addLast", 1, add),
    row("offer", 1, add),
    row("add", 2, |m, of, args| insert(m, of, &args[0], &args[1])),
    row("addFirst", 1, |m, of, args| insert(m, of, &Value::Int(0), &args[0])),
    // Groovy's lists are stacks from their front.
    row("push", 1, |m, of, args| match m.dialect {
        Dialect::Groovy => insert(m, of, &Value::Int(0), &args[0]),
        Dialect::BeanShell | Dialect::JavaScript | Dialect::Jexl => add(m, of, args),
    }),
    row("pop", 0, |m, of, _| match m.dialect {
        Dialect::Groovy => match take_first(list(of)) {
            Some(first) => Ok(first),
            None => thrown("NoSuchElementException", "Cannot pop() an empty List"),
        },
        Dialect::BeanShell | Dialect::JavaScript | Dialect::Jexl => take_last(m, of),
    }),
    row("removeLast", 0, |m, of, _| take_last(m, of)),
    row("poll", 0, |_, of, _| Ok(take_first(list(of)).unwrap_or(Value::Null))),
    row("removeFirst", 0, |_, of, _| Ok(take_first(list(of)).unwrap_or(Value::Null))),
    row("shift", 0, |_, of, _| Ok(take_first(list(of)).unwrap_or(Value::Null))),
    row("addAll", 1, |m, of, args| {
        let more = items(m, &args[0])?;
        let has_more = !more.is_empty();
        for item in more {
            push(m, of, item)?;
        }
        Ok(Value::Bool(has_more))
    }),
    row("set", 2, set),
    row("putAt", 2, set),
    row("get", 1, |m, of, args| match list(of).kind {
        ListKind::Set => crate::model::meaning::items::element(m, of, &args[0]),
        ListKind::List | ListKind::Array => at(of, &args[0]),
    }),
    row("remove", 1, remove),
    row("removeAt", 1, remove),
    row("removeElement", 1, |m, of, args| remove_element(m, of, &args[0])),
    row("removeAll", 1, |m, of, args| keep(m, of, &args[0], false)),
    row("removeIf", 1, |m, of, args| keep(m, of, &args[0], false)),
    row("retainAll", 1, |m, of, args| keep(m, of, &args[0], true)),
    row("clear", 0, |_, of, _| {
        drop(list(of).change(std::mem::take));
        Ok(Value::Null)
    }),
    rows("unique", 0, 2, |m, of, args| {
        let unique = order::unique(m, list(of).to_vec(), args.last())?;
        if let Some(Value::Bool(false)) = args.first() {
            return m.new_list(unique);
        }
        list(of).change(|items| *items = unique);
        Ok(of.clone())
    }),
    rows("sort", 0, 2, sort),
    rows("shuffle", 0, 1, shuffle),
    row("swap", 2, swap),
    row("reverse", 1, reverse_in_place),
    row("fill", 1, fill),
];

pub(crate) fn list(of: &Value) -> &Rc<List> {
    match of {
        Value::List(list) => list,
        other => unreachable!("{other:?} is no receiver of a list's methods"),
    }
}

fn place(at: &Value, most: usize) -> Run<usize> {
    match usize::try_from(at.to_long().unwrap_or(-1)).ok().filter(|place| *place <= most) {
        Some(place) => Ok(place),
        None => out_of_list(at, most),
    }
}

fn out_of_list<T>(at: &Value, length: usize) -> Run<T> {
    let at = at.to_long().unwrap_or(-1);
    thrown("IndexOutOfBoundsException", format!("Index {at} out of bounds for length {length}"))
}

/// The element at a place, which must be there.
pub(crate) fn at(of: &Value, at: &Value) -> Run {
    let list = list(of);
    match list.get(usize::try_from(at.to_long().unwrap_or(-1)).unwrap_or(usize::MAX)) {
        Some(value) => Ok(value),
        None => out_of_list(at, list.len()),
    }
}

fn add(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    Ok(Value::Bool(push(m, of, args[0].clone())?))
}

fn insert(m: &mut Machine<'_>, of: &Value, at: &Value, item: &Value) -> Run {
    let list = list(of);
    let place = place(at, list.len())?;
    check_circle(m, Rc::as_ptr(list).cast(), item)?;
    m.work(list.len() / 64)?;
    m.take_items(1)?;
    list.change(|items| items.insert(place, item.clone()));
    Ok(Value::Null)
}

fn take_first(list: &List) -> Option<Value> {
    list.change(|items| if items.is_empty() { None } else { Some(items.remove(0)) })
}

fn take_last(m: &mut Machine<'_>, of: &Value) -> Run {
    match list(of).change(Vec::pop) {
        Some(last) => Ok(last),
        None if m.dialect == Dialect::JavaScript => Ok(Value::Void),
        None => thrown("NoSuchElementException", "Cannot pop() an empty List"),
    }
}

/// Replaces the element at a place; the former one.
pub(crate) fn set(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let old = at(of, &args[0])?;
    set_element(m, of, &args[0], args[1].clone())?;
    Ok(old)
}

fn remove(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let list = list(of);
    match &args[0] {
        at @ Value::Int(_) if list.kind == ListKind::List => {
            let Some(last) = list.len().checked_sub(1) else { return out_of_list(at, 0) };
            let Ok(place) = place(at, last) else { return out_of_list(at, list.len()) };
            m.work(list.len() / 64)?;
            Ok(list.change(|items| items.remove(place)))
        }
        item => remove_element(m, of, item),
    }
}

fn remove_element(m: &mut Machine<'_>, of: &Value, item: &Value) -> Run {
    let list = list(of);
    m.work(list.len() / 8)?;
    let place = list.look(|items| items.iter().position(|known| known.equals(item)));
    let gone = place.map(|place| list.change(|items| items.remove(place)));
    Ok(Value::Bool(gone.is_some()))
}

/// Keeps elements that are in another collection, or for which a closure says so; or just those that are not.
fn keep(m: &mut Machine<'_>, of: &Value, what: &Value, wanted_in: bool) -> Run {
    let list = list(of);
    let before = list.to_vec();
    let mut kept = Vec::with_capacity(before.len());
    let wanted = if let Value::Closure(_) = what { Vec::new() } else { items(m, what)? };
    m.work(before.len() * wanted.len() / 8)?;
    for item in &before {
        let is_in = match what {
            Value::Closure(closure) => m.call_closure(closure, std::slice::from_ref(item))?.is_true(),
            _ => wanted.iter().any(|known| known.equals_loosely(item)),
        };
        if is_in == wanted_in {
            kept.push(item.clone());
        }
    }
    let has_changed = kept.len() != before.len();
    list.change(|items| *items = kept);
    Ok(Value::Bool(has_changed))
}

pub(crate) fn sort(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let by = args.iter().find(|arg| matches!(arg, Value::Closure(_)));
    let sorted = order::sorted(m, list(of).to_vec(), by)?;
    if let Some(Value::Bool(false)) = args.first() {
        return m.new_list(sorted);
    }
    list(of).change(|items| *items = sorted);
    Ok(of.clone())
}

pub(crate) fn shuffle(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let mixed = shuffled(m, list(of).to_vec(), args.last())?;
    list(of).change(|items| *items = mixed);
    Ok(Value::Null)
}

pub(crate) fn swap(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let [a, b] = [&args[0], &args[1]].map(|at| at.to_long().unwrap_or(-1) as usize);
    if a.max(b) < list(of).len() {
        list(of).change(|items| items.swap(a, b));
    }
    Ok(of.clone())
}

/// `reverse(true)`; `reverse(false)` makes a new list.
pub(crate) fn reverse_in_place(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    if let Value::Bool(true) = args[0] {
        list(of).change(|items| items.reverse());
        return Ok(of.clone());
    }
    let items = list(of).to_vec().into_iter().rev().collect();
    order::like_array(m, of, items)
}

pub(crate) fn fill(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    list(of).change(|items| items.fill(args[0].clone()));
    Ok(Value::Null)
}
