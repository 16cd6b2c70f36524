//! Values as text, and values compared: what needs nothing but the values themselves.

use super::{ListKind, Map, Range, Value, text};
use crate::number::{double_text, float_text, script_text};
use std::cmp::Ordering;
use std::fmt::Write;
use std::rc::Rc;

/// Lists within lists that are printed and compared; deeper ones count as empty.
const DEEPEST: usize = 200;

/// Whose way of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Groovy's: maps as `[a:1]`.
    Groovy,
    /// Java's: maps as `{a=1}`.
    Java,
    /// JavaScript's: numbers without `.0`, lists without brackets.
    JavaScript,
}

impl Value {
    /// The value as text.
    pub fn shown(&self, style: Style) -> Rc<str> {
        match self {
            Value::Text(text) | Value::Template(text) => text.clone(),
            Value::Null => Rc::from("null"),
            other => {
                let mut out = String::new();
                other.write(&mut out, style, 0);
                Rc::from(out)
            }
        }
    }

    /// The value as Groovy prints it.
    pub fn shown_in_groovy(&self) -> Rc<str> {
        self.shown(Style::Groovy)
    }

    /// Writes the value as text.
    pub(crate) fn write(&self, out: &mut String, style: Style, depth: usize) {
        // Writing to a String cannot fail.
        let _ = match self {
            Value::Null => out.write_str("null"),
            Value::Void => out.write_str(if style == Style::JavaScript { "undefined" } else { "void" }),
            Value::Bool(value) => write!(out, "{value}"),
            Value::Int(value) => write!(out, "{value}"),
            Value::Long(value) => write!(out, "{value}"),
            Value::Big(value) => write!(out, "{value}"),
            Value::Float(value) => out.write_str(&float_text(*value)),
            Value::Double(value) if style == Style::JavaScript => out.write_str(&script_text(*value)),
            Value::Double(value) => out.write_str(&double_text(*value)),
            Value::Decimal(value) => write!(out, "{value}"),
            Value::Char(value) => write!(out, "{value}"),
            Value::Text(text) | Value::Template(text) => out.write_str(text),
            Value::Lazy(_) => out.write_str("GString"),
            Value::Bytes(bytes) => {
                let texts: Vec<String> =
                    bytes.get().iter().map(|byte| byte.cast_signed().to_string()).collect();
                write!(out, "[{}]", texts.join(", "))
            }
            Value::List(_) | Value::Map(_) if depth > DEEPEST => Ok(()),
            Value::List(list) => {
                list.look(|items| write_items(items, out, style, depth));
                Ok(())
            }
            Value::Range(range) => write_range(**range, out, style, depth),
            Value::Map(map) => {
                write_map(map, out, style, depth);
                Ok(())
            }
            Value::Closure(_) => out.write_str("Script1$_run_closure1"),
            Value::Class(class) => write!(out, "class {}", class.full_name()),
            Value::Bound(binding) => write!(out, "{binding:?}"),
            Value::Object(object) => {
                object.write(out, style, depth);
                Ok(())
            }
        };
    }

    /// The name of its class, with the package.
    pub fn class_name(&self) -> String {
        match self {
            Value::Null | Value::Void => "null".to_owned(),
            Value::Object(object) => object.class().full_name(),
            other => other.kind().full_name(),
        }
    }

    /// Java's `equals`: numbers of different kinds differ, as do a `String` and a `GString`.
    pub fn equals(&self, other: &Value) -> bool {
        self.equals_at(other, 0, false)
    }

    /// Groovy's `==` of what has no order: numbers compare across their kinds, also within lists.
    pub(crate) fn equals_loosely(&self, other: &Value) -> bool {
        self.equals_at(other, 0, true)
    }

    fn equals_at(&self, other: &Value, depth: usize, loosely: bool) -> bool {
        if depth > DEEPEST {
            return false;
        }
        match (self, other) {
            (Value::Null | Value::Void, Value::Null | Value::Void) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Long(a), Value::Long(b)) => a == b,
            (Value::Big(a), Value::Big(b)) => a == b,
            (Value::Decimal(a), Value::Decimal(b)) => a == b && (loosely || a.scale() == b.scale()),
            (Value::Char(a), Value::Char(b)) => a == b,
            (Value::Text(a), Value::Text(b)) | (Value::Template(a), Value::Template(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => Rc::ptr_eq(a, b) || loosely && a.get() == b.get(),
            (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b) || same_items(a, b, depth, loosely),
            (Value::Range(a), Value::Range(b)) => a == b,
            (Value::List(a), Value::Range(b)) | (Value::Range(b), Value::List(a)) => a.look(|items| {
                items.len() == b.len() && items.iter().enumerate().all(|(at, item)| item.equals(&b.at(at)))
            }),
            (Value::Map(a), Value::Map(b)) => Rc::ptr_eq(a, b) || same_entries(a, b, depth, loosely),
            (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
            (Value::Class(a), Value::Class(b)) => a == b,
            (Value::Bound(a), Value::Bound(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b) || a.equals(&**b),
            (Value::Object(a), b) if a.says().is_some() => {
                a.says().as_deref() == Some(&*b.shown(Style::Java))
            }
            (a, b) if loosely => loose_equality(a, b),
            (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }

    /// The order of two values; `None` where there is none. `null` comes first, numbers compare across their kinds.
    pub fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Null, Value::Null) => Some(Ordering::Equal),
            (Value::Null, _) => Some(Ordering::Less),
            (_, Value::Null) => Some(Ordering::Greater),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Char(a), b) if b.as_text().is_some() => Some(compare_texts(&a.to_string(), b.as_text()?)),
            (a, Value::Char(b)) if a.as_text().is_some() => Some(compare_texts(a.as_text()?, &b.to_string())),
            (Value::Object(a), Value::Object(b)) => a.order(&**b),
            (a, b) => match (a.as_text(), b.as_text()) {
                (Some(a), Some(b)) => Some(compare_texts(a, b)),
                (None, None) => order_of_numbers(a, b),
                _ => None,
            },
        }
    }
}

fn loose_equality(a: &Value, b: &Value) -> bool {
    match (a.as_text(), b.as_text()) {
        (Some(a), Some(b)) => return a == b,
        (Some(text), None) | (None, Some(text)) => {
            let other = if a.as_text().is_some() { b } else { a };
            return matches!(other, Value::Char(c) if text.chars().eq([*c]));
        }
        (None, None) => {}
    }
    order_of_numbers(a, b) == Some(Ordering::Equal)
}

/// Texts by their UTF-16 units.
pub(crate) fn compare_texts(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

fn order_of_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    let is_floating = |value: &Value| matches!(value, Value::Float(_) | Value::Double(_));
    if is_floating(a) || is_floating(b) {
        return a.to_double()?.partial_cmp(&b.to_double()?);
    }
    if matches!(a, Value::Decimal(_) | Value::Big(_)) || matches!(b, Value::Decimal(_) | Value::Big(_)) {
        return Some(a.to_decimal()?.cmp(&b.to_decimal()?));
    }
    Some(a.to_long()?.cmp(&b.to_long()?))
}

fn same_items(a: &super::List, b: &super::List, depth: usize, loosely: bool) -> bool {
    if a.kind == ListKind::Set || b.kind == ListKind::Set {
        let one = a.to_vec();
        let other = b.to_vec();
        return one.len() == other.len()
            && one.iter().all(|item| other.iter().any(|known| item.equals(known)));
    }
    a.look(|a| {
        b.look(|b| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals_at(b, depth + 1, loosely)))
    })
}

fn same_entries(a: &Map, b: &Map, depth: usize, loosely: bool) -> bool {
    let same = |(key, value): (Value, Value)| {
        b.get(&key).is_some_and(|other| value.equals_at(&other, depth + 1, loosely))
    };
    a.len() == b.len() && a.to_vec().into_iter().all(same)
}

fn write_items(items: &[Value], out: &mut String, style: Style, depth: usize) {
    let (open, comma, close) = if style == Style::JavaScript { ("", ",", "") } else { ("[", ", ", "]") };
    out.push_str(open);
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { comma } else { "" });
        item.write(out, style, depth + 1);
    }
    out.push_str(close);
}

fn write_range(range: Range, out: &mut String, style: Style, depth: usize) -> std::fmt::Result {
    if depth > 0 || range.is_empty {
        let items: Vec<Value> = (0..range.len().min(1 << 16)).map(|at| range.at(at)).collect();
        write_items(&items, out, style, depth);
        return Ok(());
    }
    let from = range.at(0).shown(style);
    let to = range.at(range.len() - 1).shown(style);
    write!(out, "{from}..{to}")
}

fn write_map(map: &Map, out: &mut String, style: Style, depth: usize) {
    let is_literal = style == Style::Groovy;
    if style == Style::JavaScript {
        out.push_str("[object Object]");
        return;
    }
    let (open, sign, close) = if is_literal { ("[", ":", "]") } else { ("{", "=", "}") };
    if is_literal && map.is_empty() {
        out.push_str("[:]");
        return;
    }
    out.push_str(open);
    for (at, (key, value)) in map.to_vec().iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        key.write(out, style, depth + 1);
        out.push_str(sign);
        value.write(out, style, depth + 1);
    }
    out.push_str(close);
}

/// `hashCode` of the kinds where it is defined by the value.
pub(crate) fn hash_code(value: &Value) -> i32 {
    let folded = |bits: u64| (bits ^ bits >> 32) as u32 as i32;
    match value {
        Value::Null | Value::Void => 0,
        Value::Bool(value) => {
            if *value {
                1231
            } else {
                1237
            }
        }
        Value::Int(value) => *value,
        Value::Long(value) => folded(value.cast_unsigned()),
        Value::Double(value) => folded(value.to_bits()),
        Value::Char(value) => u32::from(*value) as i32,
        Value::List(list) => list.look(|items| {
            items.iter().fold(1_i32, |hash, item| hash.wrapping_mul(31).wrapping_add(plain_hash(item)))
        }),
        other => text::hash(&other.shown(Style::Java)),
    }
}

/// The hash of an element, which does not look into further lists.
fn plain_hash(value: &Value) -> i32 {
    if matches!(value, Value::List(_)) { 1 } else { hash_code(value) }
}
