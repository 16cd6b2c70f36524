//! Maps, in the order in which their keys came.

use super::{Value, drop_flat};
use crate::number::double_text;
use indexmap::IndexMap;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};

/// A key: a value that equals others as Java's `equals` says.
#[derive(Clone, Debug)]
pub struct Key(pub Value);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Value::Text(text) => text.hash(state),
            Value::Int(value) => value.hash(state),
            Value::Long(value) => value.hash(state),
            Value::Bool(value) => value.hash(state),
            Value::Char(value) => value.hash(state),
            Value::Double(value) => double_text(*value).hash(state),
            // The rest is rare as a key, and compared one by one.
            _ => 0_u8.hash(state),
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0.equals(&other.0)
    }
}

impl Eq for Key {}

/// Where a map comes from, and what order it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// A map of the script's own.
    Plain,
    /// A map read from JSON, whose `toString()` is Java's `{a=1}` in Groovy too.
    Json,
    /// Sorted by key.
    Sorted,
}

/// A map that may be changed by all who share it.
pub struct Map {
    /// How it prints itself.
    pub kind: MapKind,
    entries: RefCell<IndexMap<Key, Value>>,
    /// `withDefault`'s closure.
    pub(crate) default: RefCell<Value>,
}

impl Map {
    /// A map of these.
    pub fn new(kind: MapKind, entries: impl IntoIterator<Item = (Value, Value)>) -> Map {
        let entries = entries.into_iter().map(|(key, value)| (Key(key), value)).collect();
        Map { kind, entries: RefCell::new(entries), default: RefCell::new(Value::Null) }
    }

    /// Entries in it.
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// True if it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<Value> {
        self.entries.borrow().get(&Key(key.clone())).cloned()
    }

    /// Gives a key a value; the former one.
    pub fn put(&self, key: Value, value: Value) -> Option<Value> {
        let mut entries = self.entries.borrow_mut();
        if self.kind != MapKind::Sorted || entries.contains_key(&Key(key.clone())) {
            return entries.insert(Key(key), value);
        }
        let at =
            entries.keys().take_while(|known| known.0.order(&key) == Some(std::cmp::Ordering::Less)).count();
        entries.shift_insert(at, Key(key), value)
    }

    /// Takes a key away; the value that it had.
    pub fn remove(&self, key: &Value) -> Option<Value> {
        self.entries.borrow_mut().shift_remove(&Key(key.clone()))
    }

    /// Takes all keys away.
    pub fn clear(&self) {
        let entries = std::mem::take(&mut *self.entries.borrow_mut());
        drop_flat(entries.into_values().collect());
    }

    /// A copy of its keys and values.
    pub fn to_vec(&self) -> Vec<(Value, Value)> {
        self.entries.borrow().iter().map(|(key, value)| (key.0.clone(), value.clone())).collect()
    }

    /// The entry at a place.
    pub fn at(&self, at: usize) -> Option<(Value, Value)> {
        self.entries.borrow().get_index(at).map(|(key, value)| (key.0.clone(), value.clone()))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut());
        drop_flat(entries.into_iter().flat_map(|(key, value)| [key.0, value]).collect());
    }
}
