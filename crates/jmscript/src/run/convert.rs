//! Values as other types: declarations, casts, `as`.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::class::Class;
use crate::dialect::Dialect;
use crate::number::Decimal;
use crate::tree::Type;
use crate::value::{List, ListKind, Map, MapKind, Object, Value, text};
use num_bigint::BigInt;
use std::rc::Rc;

impl Machine<'_> {
    /// A value for a variable of a type: numbers become of its kind, in Groovy anything becomes a text.
    pub(super) fn coerce(&mut self, kind: &Type, value: Value) -> Run {
        match (kind, &value) {
            (Type::Any | Type::Class(_), _) | (_, Value::Null) => Ok(value),
            (Type::Text, Value::Text(_)) | (Type::Int, Value::Int(_)) | (Type::Long, Value::Long(_)) => {
                Ok(value)
            }
            (Type::Text, _) if self.dialect == Dialect::Groovy => self.text(&value).map(Value::Text),
            (Type::Text, Value::Char(_)) => self.text(&value).map(Value::Text),
            (Type::Text, _) => self.cannot(&value, kind),
            (Type::Bool, Value::Bool(_)) => Ok(value),
            (Type::Bool, _) if self.dialect == Dialect::Groovy => Ok(Value::Bool(value.is_true())),
            (Type::Char, _) if value.as_text().is_some_and(|text| text.chars().count() == 1) => {
                self.cast(kind, value, true)
            }
            (
                Type::Int | Type::Long | Type::Short | Type::Byte | Type::Float | Type::Double | Type::Char,
                _,
            ) if value.is_number() || matches!(value, Value::Char(_)) => self.number_as(&value, kind),
            (Type::Decimal | Type::Big, _) if value.is_number() => self.number_as(&value, kind),
            (Type::Int | Type::Long | Type::Short | Type::Byte, Value::Text(found))
                if self.dialect == Dialect::Groovy && text::len(found) == 1 =>
            {
                // A text of one character is that character.
                let code = found.chars().next().map_or(0, u32::from);
                self.number_as(&Value::Int(code as i32), kind)
            }
            (Type::List | Type::Set, _) if self.is_of_type(&value, kind) => Ok(value),
            (Type::List, Value::List(_))
            | (Type::Map, Value::Map(_) | Value::Bound(_))
            | (_, Value::Bound(_)) => Ok(value),
            (Type::Set | Type::Array(_), Value::List(_) | Value::Range(_) | Value::Bytes(_)) => {
                self.cast(kind, value, true)
            }
            (Type::List, Value::Range(_) | Value::Bytes(_)) => Ok(value),
            _ => self.cannot(&value, kind),
        }
    }

    fn cannot(&mut self, value: &Value, kind: &Type) -> Run {
        let (class, shown) = (value.class_name(), self.text(value)?);
        match self.dialect {
            Dialect::BeanShell => thrown("EvalError", format!("Can't assign {class} to {}", type_name(kind))),
            _ => thrown(
                "GroovyCastException",
                format!("Cannot cast object '{shown}' with class '{class}' to class '{}'", type_name(kind)),
            ),
        }
    }

    /// `(T) value`, or `value as T`.
    pub(super) fn cast(&mut self, kind: &Type, value: Value, is_as: bool) -> Run {
        match (kind, &value) {
            (Type::Any, _) => Ok(value),
            (Type::Bool, _) => Ok(Value::Bool(value.is_true())),
            (_, Value::Null) => Ok(value),
            (Type::Text, _) => self.text(&value).map(Value::Text),
            (Type::Array(of), _) => self.as_array(of, &value),
            (Type::List | Type::Set | Type::Map, _) => self.as_collection(kind, value),
            (Type::Class(class), _) => self.as_class(*class, value),
            (Type::Char, _) if value.as_text().is_some() => {
                let text = self.text(&value)?;
                text.chars().next().map_or_else(|| self.cannot(&value, kind), |c| Ok(Value::Char(c)))
            }
            (_, value) if value.is_number() || matches!(value, Value::Char(_)) => self.number_as(value, kind),
            (_, value) if value.as_text().is_some() && (is_as || self.dialect == Dialect::Groovy) => {
                let text = self.text(value)?;
                if !is_as && text::len(&text) != 1 {
                    return self.cannot(value, kind);
                }
                if is_as { self.parse_number(&text, kind) } else { self.coerce(kind, value.clone()) }
            }
            _ => self.cannot(&value, kind),
        }
    }

    /// A text as a number of a type.
    pub(super) fn parse_number(&mut self, found: &str, kind: &Type) -> Run {
        let number = match kind {
            Type::Int => {
                text::parse_long(found, 10).and_then(|long| i32::try_from(long).ok()).map(Value::Int)
            }
            Type::Short => text::parse_long(found, 10)
                .and_then(|long| i16::try_from(long).ok())
                .map(|short| Value::Int(short.into())),
            Type::Byte => text::parse_long(found, 10)
                .and_then(|long| i8::try_from(long).ok())
                .map(|byte| Value::Int(byte.into())),
            Type::Long => text::parse_long(found, 10).map(Value::Long),
            Type::Double => text::parse_double(found).map(Value::Double),
            Type::Float => text::parse_double(found).map(|double| Value::Float(double as f32)),
            Type::Decimal => Decimal::parse(found).map(|decimal| Value::Decimal(Rc::new(decimal))),
            Type::Big => (found.len() <= 1_000)
                .then(|| found.parse::<BigInt>().ok().map(|big| Value::Big(Rc::new(big))))
                .flatten(),
            _ => None,
        };
        match number {
            Some(number) => Ok(number),
            None if matches!(kind, Type::Decimal) => {
                thrown("NumberFormatException", "Character array is missing \"exponent\" mark 'e' or 'E'.")
            }
            None if found.is_empty() && matches!(kind, Type::Double | Type::Float) => {
                thrown("NumberFormatException", "empty String")
            }
            None => thrown("NumberFormatException", format!("For input string: \"{found}\"")),
        }
    }

    fn as_array(&mut self, of: &Type, value: &Value) -> Run {
        if let Value::Bytes(_) = value {
            return Ok(value.clone());
        }
        let items = match value {
            value if value.as_text().is_some() => {
                let text = self.text(value)?;
                self.take_items(text.len())?;
                text.chars().map(Value::Char).collect()
            }
            value => self.items(value)?,
        };
        if *of == Type::Byte {
            self.take(items.len())?;
            return Ok(Value::Bytes(items.iter().map(|item| item.to_long().unwrap_or(0) as u8).collect()));
        }
        self.take_items(items.len())?;
        let items = items.into_iter().map(|item| self.cast(of, item, true)).collect::<Run<Vec<Value>>>()?;
        Ok(Value::List(Rc::new(List::new(ListKind::Array, items))))
    }

    fn as_collection(&mut self, kind: &Type, value: Value) -> Run {
        match (kind, &value) {
            (Type::Map, Value::Map(_)) => Ok(value),
            (Type::List, Value::List(list)) if list.kind == ListKind::List => Ok(value),
            (Type::Set, Value::List(list)) if list.kind == ListKind::Set => Ok(value),
            (Type::List, _) => {
                let items = self.items(&value)?;
                self.new_list(items)
            }
            (Type::Set, _) => {
                let items = self.items(&value)?;
                self.list_of_kind(ListKind::Set, items)
            }
            _ => self.cannot(&value, kind),
        }
    }

    fn as_class(&mut self, class: Class, value: Value) -> Run {
        match (class, &value) {
            (Class::TreeMap | Class::ConcurrentHashMap, Value::Map(map)) => {
                let kind = if class == Class::TreeMap { MapKind::Sorted } else { MapKind::Plain };
                let sorted = Rc::new(Map::new(kind, []));
                for (key, item) in map.to_vec() {
                    self.put(&sorted, key, item)?;
                }
                Ok(Value::Map(sorted))
            }
            (Class::TreeSet, _) => {
                let items = self.items(&value)?;
                let set = self.list_of_kind(ListKind::Set, items)?;
                self.sort_in_place(&set)?;
                Ok(set)
            }
            (Class::File, value) if value.as_text().is_some() => {
                self.text(value).map(|path| Value::object(Object::File(path)))
            }
            _ => Ok(value),
        }
    }
}

/// The name of a type in messages.
pub(super) fn type_name(kind: &Type) -> String {
    match kind {
        Type::Any => "java.lang.Object".to_owned(),
        Type::Bool => "boolean".to_owned(),
        Type::Byte => "byte".to_owned(),
        Type::Short => "short".to_owned(),
        Type::Int => "int".to_owned(),
        Type::Long => "long".to_owned(),
        Type::Float => "float".to_owned(),
        Type::Double => "double".to_owned(),
        Type::Char => "char".to_owned(),
        Type::Text => "java.lang.String".to_owned(),
        Type::Decimal => "java.math.BigDecimal".to_owned(),
        Type::Big => "java.math.BigInteger".to_owned(),
        Type::List => "java.util.List".to_owned(),
        Type::Set => "java.util.Set".to_owned(),
        Type::Map => "java.util.Map".to_owned(),
        Type::Array(of) => format!("{}[]", type_name(of)),
        Type::Class(class) => class.full_name(),
    }
}
