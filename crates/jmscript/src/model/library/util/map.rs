//! `LinkedHashMap` and the other maps, which keep the order in which their keys came; `TreeMap` and the maps of JSON beside them.

use super::entry::Entry;
use super::{collection, iterable};
use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, Kind, MANY, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, iterator, key, list_of_kind, put};
use crate::model::meaning::operate::operate;
use crate::model::meaning::order;
use crate::model::tree::{Binary, Type};
use crate::model::value::{Closure, ListKind, Map, MapKind, Style, Value};
use std::cmp::Ordering;
use std::rc::Rc;

pub(crate) static MAP: Kind = Kind::new("java.util", "Map")
    .extends(&object::KIND)
    .mixes_in(&iterable::KIND)
    .converts(|| Type::Map)
    .statics(&[rows("of", 0, MANY, |m, _, args| {
        let map = Rc::new(Map::new(MapKind::Plain, []));
        for pair in args.chunks(2) {
            put(m, &map, pair[0].clone(), pair.get(1).cloned().unwrap_or(Value::Null))?;
        }
        Ok(Value::Map(map))
    })]);

pub(crate) static KIND: Kind = Kind::new("java.util", "LinkedHashMap")
    .extends(&MAP)
    .creates(create)
    .converts(|| Type::Map)
    .methods(METHODS);

pub(crate) static HASH: Kind =
    Kind::new("java.util", "HashMap").extends(&KIND).creates(create).converts(|| Type::Map);

pub(crate) static HASHTABLE: Kind = Kind::new("java.util", "Hashtable").extends(&KIND).creates(create);

pub(crate) static PROPERTIES: Kind = Kind::new("java.util", "Properties").extends(&KIND).creates(create);

pub(crate) static CONCURRENT: Kind = Kind::new("java.util.concurrent", "ConcurrentHashMap")
    .extends(&KIND)
    .creates(create)
    .casts(|m, value| copy(m, &value, MapKind::Plain));

pub(crate) static TREE: Kind = Kind::new("java.util", "TreeMap")
    .extends(&KIND)
    .creates(|m, _, args| filled(m, MapKind::Sorted, args))
    .casts(|m, value| copy(m, &value, MapKind::Sorted));

pub(crate) static JSON: Kind = Kind::new("org.apache.groovy.json.internal", "LazyMap")
    .extends(&KIND)
    .methods(&[row("toString", 0, |m, of, _| m.new_text(of.shown(Style::Java)))]);

const METHODS: &[ClassRow] = &[
    row("get", 1, |m, of, args| key(m, map(of), &args[0])),
    row("getAt", 1, |m, of, args| key(m, map(of), &args[0])),
    row("getProperty", 1, |m, of, args| key(m, map(of), &args[0])),
    // The default becomes the key's value.
    row("get", 2, |m, of, args| match map(of).get(&args[0]) {
        Some(value) => Ok(value),
        None => {
            put(m, map(of), args[0].clone(), args[1].clone())?;
            Ok(args[1].clone())
        }
    }),
    row("getOrDefault", 2, |_, of, args| Ok(map(of).get(&args[0]).unwrap_or_else(|| args[1].clone()))),
    row("put", 2, put_method),
    row("putAt", 2, put_method),
    row("setProperty", 2, |m, of, args| {
        put(m, map(of), args[0].clone(), args[1].clone())?;
        Ok(Value::Null)
    }),
    row("putIfAbsent", 2, |m, of, args| match map(of).get(&args[0]).filter(|old| !old.is_null()) {
        Some(old) => Ok(old),
        None => {
            put(m, map(of), args[0].clone(), args[1].clone())?;
            Ok(Value::Null)
        }
    }),
    row("computeIfAbsent", 2, |m, of, args| match (map(of).get(&args[0]), &args[1]) {
        (Some(old), _) => Ok(old),
        (None, Value::Closure(closure)) => {
            let value = m.call_closure(closure, std::slice::from_ref(&args[0]))?;
            put(m, map(of), args[0].clone(), value.clone())?;
            Ok(value)
        }
        (None, _) => m.no_method(of, "computeIfAbsent", args),
    }),
    row("putAll", 1, |m, of, args| {
        put_all(m, map(of), &args[0])?;
        Ok(Value::Null)
    }),
    row("remove", 1, |m, of, args| {
        m.work(map(of).len() / 64)?;
        Ok(map(of).remove(&args[0]).unwrap_or(Value::Null))
    }),
    row("clear", 0, |_, of, _| {
        map(of).clear();
        Ok(Value::Null)
    }),
    row("containsKey", 1, contains_key),
    row("hasOwnProperty", 1, contains_key),
    row("containsValue", 1, |_, of, args| {
        Ok(Value::Bool(map(of).to_vec().iter().any(|(_, known)| known.equals(&args[0]))))
    }),
    row("size", 0, |_, of, _| Ok(Value::count(map(of).len()))),
    row("isEmpty", 0, |_, of, _| Ok(Value::Bool(map(of).is_empty()))),
    // Made of its entries.
    row("keySet", 0, keys),
    row("keys", 0, keys),
    row("values", 0, |m, of, _| m.new_list(map(of).to_vec().into_iter().map(|(_, value)| value).collect())),
    row("entrySet", 0, entries),
    row("toList", 0, entries),
    row("iterator", 0, |m, of, _| iterator(m, of)),
    row("plus", 1, |m, of, args| operate(m, Binary::Add, of, &args[0])),
    row("subMap", 1, |m, of, args| {
        let mut found = Vec::new();
        for key in items(m, &args[0])? {
            found.extend(map(of).get(&key).map(|value| (key, value)));
        }
        new_map(m, found)
    }),
    row("sort", 0, |m, of, _| {
        let mut entries = map(of).to_vec();
        m.work(entries.len())?;
        entries.sort_by(|a, b| a.0.order(&b.0).unwrap_or(Ordering::Equal));
        new_map(m, entries)
    }),
    row("withDefault", 1, |_, of, args| {
        let copy = Map::new(map(of).kind, map(of).to_vec());
        copy.default.replace(args[0].clone());
        Ok(Value::Map(Rc::new(copy)))
    }),
    row("firstKey", 0, |_, of, _| Ok(map(of).at(0).map_or(Value::Null, |(key, _)| key))),
    row("lastKey", 0, |_, of, _| {
        Ok(map(of).at(map(of).len().wrapping_sub(1)).map_or(Value::Null, |(key, _)| key))
    }),
    row("asImmutable", 0, |_, of, _| Ok(of.clone())),
    row("asUnmodifiable", 0, |_, of, _| Ok(of.clone())),
    row("asSynchronized", 0, |_, of, _| Ok(of.clone())),
    row("take", 1, |m, of, args| {
        new_map(m, map(of).to_vec().into_iter().take(collection::count(&args[0])).collect())
    }),
    row("drop", 1, |m, of, args| {
        new_map(m, map(of).to_vec().into_iter().skip(collection::count(&args[0])).collect())
    }),
    // With a closure, which gets an entry, or a key and its value.
    row("forEach", 1, |m, of, args| {
        let closure = iterable::closure(m, of, "forEach", args)?;
        for (key, value) in map(of).to_vec() {
            m.call_closure(&closure, &[key, value])?;
        }
        Ok(of.clone())
    }),
    row("each", 1, |m, of, args| {
        let closure = iterable::closure(m, of, "each", args)?;
        for (key, value) in map(of).to_vec() {
            call_entry(m, &closure, key, value)?;
        }
        Ok(of.clone())
    }),
    row("findAll", 1, |m, of, args| {
        let closure = iterable::closure(m, of, "findAll", args)?;
        let mut kept = Vec::new();
        for (key, value) in map(of).to_vec() {
            if call_entry(m, &closure, key.clone(), value.clone())?.is_true() {
                kept.push((key, value));
            }
        }
        new_map(m, kept)
    }),
    row("sort", 1, |m, of, args| {
        let closure = iterable::closure(m, of, "sort", args)?;
        let entries = items(m, of)?;
        let sorted = order::sorted(m, entries, Some(&Value::Closure(closure)))?;
        let pair =
            |entry: &Value| entry.as_object::<Entry>().map(|entry| (entry.key.clone(), entry.value.clone()));
        new_map(m, sorted.iter().filter_map(pair).collect())
    }),
];

pub(crate) fn map(of: &Value) -> &Rc<Map> {
    match of {
        Value::Map(map) => map,
        other => unreachable!("{other:?} is no receiver of a map's methods"),
    }
}

fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    filled(m, MapKind::Plain, args)
}

fn filled(m: &mut Machine<'_>, kind: MapKind, args: &[Value]) -> Run {
    match args {
        [of] if !of.is_number() => copy(m, of, kind),
        _ => Ok(Value::Map(Rc::new(Map::new(kind, [])))),
    }
}

fn copy(m: &mut Machine<'_>, of: &Value, kind: MapKind) -> Run {
    let new = Rc::new(Map::new(kind, []));
    put_all(m, &new, of)?;
    Ok(Value::Map(new))
}

fn put_all(m: &mut Machine<'_>, map: &Rc<Map>, more: &Value) -> Run<()> {
    for item in items(m, more)? {
        if let Some(entry) = item.as_object::<Entry>() {
            put(m, map, entry.key.clone(), entry.value.clone())?;
        }
    }
    Ok(())
}

fn put_method(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let old = map(of).get(&args[0]).unwrap_or(Value::Null);
    put(m, map(of), args[0].clone(), args[1].clone())?;
    Ok(old)
}

fn contains_key(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    Ok(Value::Bool(map(of).get(&args[0]).is_some()))
}

fn keys(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let keys = map(of).to_vec().into_iter().map(|(key, _)| key).collect();
    list_of_kind(m, ListKind::Set, keys)
}

fn entries(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    items(m, of).map(Value::list)
}

/// A map of the script's making.
fn new_map(m: &mut Machine<'_>, entries: Vec<(Value, Value)>) -> Run {
    m.take_items(entries.len() * 2)?;
    Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, entries))))
}

fn call_entry(m: &mut Machine<'_>, closure: &Rc<Closure>, key: Value, value: Value) -> Run {
    m.call_closure(closure, &[Value::object(Entry { key, value })])
}
