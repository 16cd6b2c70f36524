//! `JSONObject`.

use super::array::JsonArray;
use super::part::{self, JsonType, Null, OrgJsonLayout, optional, required};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, Native, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::check_circle;
use crate::model::value::{List, ListKind, Map, MapKind, Object, Style, Value, hash_code};
use std::rc::Rc;

/// An object of JSON. It is written in the order of Java's `HashMap`, which goes by the hashes of keys.
pub(crate) struct JsonObject {
    pub map: Rc<Map>,
}

impl JsonObject {
    pub fn of(map: Map) -> JsonObject {
        JsonObject { map: Rc::new(map) }
    }

    /// Its entries in the order of the table of a `HashMap`, which has been doubled whenever it was three quarters full.
    pub fn in_order(&self) -> Vec<(Value, Value)> {
        let mut entries = self.map.to_vec();
        let mut places: u32 = 16;
        while entries.len() as u64 > u64::from(places) * 3 / 4 && places < 1 << 30 {
            places *= 2;
        }
        entries.sort_by_key(|(key, _)| {
            let hash = hash_code(key).cast_unsigned();
            (hash ^ (hash >> 16)) & (places - 1)
        });
        entries
    }

    fn put(&self, m: &mut Machine<'_>, key: &Value, value: &Value) -> Run<()> {
        m.take_items(2)?;
        if matches!(value, Value::Object(_)) {
            check_circle(m, Rc::as_ptr(&self.map).cast(), value)?;
        }
        let key = Value::Text(m.text(key)?);
        if value.is_null() {
            self.map.remove(&key);
        } else {
            self.map.put(key, part::wrapped(value));
        }
        Ok(())
    }

    fn find(&self, m: &mut Machine<'_>, key: &Value) -> Run<OrgJsonFound> {
        let name = m.text(key)?;
        let value = self.map.get(&Value::Text(name.clone()));
        Ok(OrgJsonFound { place: format!("JSONObject[\"{name}\"]"), value })
    }
}

/// The value of a key, and what messages call it.
struct OrgJsonFound {
    place: String,
    value: Option<Value>,
}

impl Object for JsonObject {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        let this = Value::object(JsonObject { map: self.map.clone() });
        part::write(&this, out, OrgJsonLayout::default());
    }

    /// Groovy asks `get(name)` for a property.
    fn property(&self, m: &mut Machine<'_>, _: &Value, name: &Rc<str>) -> Option<Run> {
        let found = self.find(m, &Value::Text(name.clone()));
        Some(found.and_then(|OrgJsonFound { place, value }| required(value, JsonType::Any, &place)))
    }

    fn element(&self, m: &mut Machine<'_>, this: &Value, index: &Value) -> Option<Run> {
        let name = index.as_text().map(|name| Rc::from(&**name))?;
        self.property(m, this, &name)
    }

    fn json(&self) -> Option<Value> {
        let entries = self.in_order();
        Some(Value::Map(Rc::new(Map::new(MapKind::Plain, entries))))
    }

    fn held(&self) -> Vec<Value> {
        vec![Value::Map(self.map.clone())]
    }
}

pub(crate) static KIND: Kind = Kind::new("org.json", "JSONObject")
    .extends(&object::KIND)
    .creates(create)
    .constants(|name| (name == "NULL").then(|| Value::object(Null)))
    .statics(&[row("quote", 1, |m, _, args| {
        let text = Value::Text(m.text(&args[0])?);
        let mut out = String::new();
        part::write(&text, &mut out, OrgJsonLayout::default());
        m.new_text(out)
    })])
    .methods(METHODS);

/// A method that wants the value of a key, of a type.
macro_rules! get {
    ($wanted:ident) => {{
        const GET: Native = |m, of, args| {
            let OrgJsonFound { place, value } = of.receiver::<JsonObject>().find(m, &args[0])?;
            required(value, JsonType::$wanted, &place)
        };
        GET
    }};
}

/// A method that takes another value where there is none of the type.
macro_rules! opt {
    ($wanted:ident) => {{
        const OPT: Native = |m, of, args| {
            let found = of.receiver::<JsonObject>().find(m, &args[0])?;
            Ok(optional(found.value, JsonType::$wanted, args.get(1)))
        };
        OPT
    }};
}

const METHODS: &[ClassRow] = readers![
    row("put", 2, put),
    row("putOpt", 2, |m, of, args| if args[1].is_null() { Ok(of.clone()) } else { put(m, of, args) }),
    row("append", 2, |m, of, args| {
        let object: &JsonObject = of.receiver();
        let OrgJsonFound { value, .. } = object.find(m, &args[0])?;
        let mut items = value
            .as_ref()
            .and_then(|value| value.as_object::<JsonArray>())
            .map_or_else(Vec::new, |array| array.list.to_vec());
        items.push(part::wrapped(&args[1]));
        m.take_items(items.len())?;
        let array = Value::object(JsonArray::of(List::new(ListKind::List, items)));
        object.put(m, &args[0], &array)?;
        Ok(of.clone())
    }),
    row("has", 1, |m, of, args| {
        let found = of.receiver::<JsonObject>().find(m, &args[0])?;
        Ok(Value::Bool(found.value.is_some()))
    }),
    row("isNull", 1, |m, of, args| {
        let found = of.receiver::<JsonObject>().find(m, &args[0])?;
        Ok(Value::Bool(found.value.is_none_or(|value| value.as_object::<Null>().is_some())))
    }),
    row("remove", 1, |m, of, args| {
        let key = Value::Text(m.text(&args[0])?);
        Ok(of.receiver::<JsonObject>().map.remove(&key).unwrap_or(Value::Null))
    }),
    row("keys", 0, |m, of, _| {
        let keys = keys(m, of)?;
        m.invoke(&keys, "iterator", &[])
    }),
    row("keySet", 0, keys_of),
    row("names", 0, |m, of, _| {
        let keys = keys(m, of)?;
        Ok(part::wrapped(&keys))
    }),
    row("length", 0, |_, of, _| Ok(Value::count(of.receiver::<JsonObject>().map.len()))),
    row("isEmpty", 0, |_, of, _| Ok(Value::Bool(of.receiver::<JsonObject>().map.is_empty()))),
    row("toMap", 0, |m, of, _| {
        m.take_items(of.receiver::<JsonObject>().map.len() * 2)?;
        Ok(part::unwrapped(of))
    }),
    row("similar", 1, |_, of, args| Ok(Value::Bool(part::unwrapped(of).equals(&part::unwrapped(&args[0]))))),
    rows("toString", 0, 1, to_text),
];

/// The text of an object or array, indented where that is asked for.
pub(crate) fn to_text(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let by = args.first().and_then(Value::to_long).and_then(|by| usize::try_from(by).ok()).unwrap_or(0);
    let mut out = String::new();
    part::write(of, &mut out, OrgJsonLayout { by: by.min(16), ..OrgJsonLayout::default() });
    m.work(out.len() / 64)?;
    m.new_text(out)
}

fn put(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    if args[0].is_null() {
        return thrown("NullPointerException", "Null key.");
    }
    of.receiver::<JsonObject>().put(m, &args[0], &args[1])?;
    Ok(of.clone())
}

fn keys(m: &mut Machine<'_>, of: &Value) -> Run {
    let keys: Vec<Value> = of.receiver::<JsonObject>().in_order().into_iter().map(|(key, _)| key).collect();
    m.new_list(keys)
}

fn keys_of(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    keys(m, of)
}

fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args {
        [] => Ok(part::wrapped(&Value::Map(Rc::new(Map::new(MapKind::Plain, []))))),
        [map @ Value::Map(entries)] => {
            m.take_items(entries.len() * 2)?;
            Ok(part::wrapped(map))
        }
        [text] if text.as_text().is_some() => {
            let text = m.text(text)?;
            part::read(m, &text, '{', "A JSONObject text must begin with '{'")
        }
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    }
}
