//! Values as other types: declarations, casts, `as`.

use super::items::{items, list_of_kind};
use super::operate::number_as;
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind};
use crate::model::library::lang::throwable::Throwable;
use crate::model::machine::Machine;
use crate::model::tree::Type;
use crate::model::value::{List, ListKind, Value, text};
use crate::number::Decimal;
use num_bigint::BigInt;
use std::rc::Rc;

/// A value for a variable of a type: numbers become of its kind, in Groovy anything becomes a text.
pub(crate) fn coerce(m: &mut Machine<'_>, kind: &Type, value: Value) -> Run {
    match (kind, &value) {
        (Type::Any | Type::Class(_), _) | (_, Value::Null) => Ok(value),
        (Type::Text, Value::Text(_)) | (Type::Int, Value::Int(_)) | (Type::Long, Value::Long(_)) => Ok(value),
        (Type::Text, _) if m.dialect == Dialect::Groovy => m.text(&value).map(Value::Text),
        (Type::Text, Value::Char(_)) => m.text(&value).map(Value::Text),
        (Type::Text, _) => cannot(m, &value, kind),
        (Type::Bool, Value::Bool(_)) => Ok(value),
        (Type::Bool, _) if m.dialect == Dialect::Groovy => Ok(Value::Bool(value.is_true())),
        (Type::Char, _) if value.as_text().is_some_and(|text| text.chars().count() == 1) => {
            cast(m, kind, value, true)
        }
        (Type::Int | Type::Long | Type::Short | Type::Byte | Type::Float | Type::Double | Type::Char, _)
            if value.is_number() || matches!(value, Value::Char(_)) =>
        {
            number_as(&value, kind)
        }
        (Type::Decimal | Type::Big, _) if value.is_number() => number_as(&value, kind),
        (Type::Int | Type::Long | Type::Short | Type::Byte, Value::Text(found))
            if m.dialect == Dialect::Groovy && text::len(found) == 1 =>
        {
            // A text of one character is that character.
            let code = found.chars().next().map_or(0, u32::from);
            number_as(&Value::Int(code as i32), kind)
        }
        (Type::List | Type::Set, _) if is_of_type(&value, kind) => Ok(value),
        (Type::List, Value::List(_))
        | (Type::Map, Value::Map(_) | Value::Bound(_))
        | (_, Value::Bound(_)) => Ok(value),
        (Type::Set | Type::Array(_), Value::List(_) | Value::Range(_) | Value::Bytes(_)) => {
            cast(m, kind, value, true)
        }
        (Type::List, Value::Range(_) | Value::Bytes(_)) => Ok(value),
        _ => cannot(m, &value, kind),
    }
}

pub(crate) fn cannot(m: &mut Machine<'_>, value: &Value, kind: &Type) -> Run {
    let class = value.class_name();
    let shown = m.text(value)?;
    match m.dialect {
        Dialect::BeanShell => thrown("EvalError", format!("Can't assign {class} to {}", type_name(kind))),
        _ => thrown(
            "GroovyCastException",
            format!("Cannot cast object '{shown}' with class '{class}' to class '{}'", type_name(kind)),
        ),
    }
}

/// `(T) value`, or `value as T`.
pub(crate) fn cast(m: &mut Machine<'_>, kind: &Type, value: Value, is_as: bool) -> Run {
    match (kind, &value) {
        (Type::Any, _) => Ok(value),
        (Type::Bool, _) => Ok(Value::Bool(value.is_true())),
        (_, Value::Null) => Ok(value),
        (Type::Text, _) => m.text(&value).map(Value::Text),
        (Type::Array(of), _) => as_array(m, of, &value),
        (Type::List | Type::Set | Type::Map, _) => as_collection(m, kind, value),
        (Type::Class(class), _) => as_class(m, *class, value),
        (Type::Char, _) if value.as_text().is_some() => {
            let text = m.text(&value)?;
            text.chars().next().map_or_else(|| cannot(m, &value, kind), |c| Ok(Value::Char(c)))
        }
        (_, value) if value.is_number() || matches!(value, Value::Char(_)) => number_as(value, kind),
        (_, value) if value.as_text().is_some() && (is_as || m.dialect == Dialect::Groovy) => {
            let text = m.text(value)?;
            if !is_as && text::len(&text) != 1 {
                return cannot(m, value, kind);
            }
            if is_as { parse_number(&text, kind) } else { coerce(m, kind, value.clone()) }
        }
        _ => cannot(m, &value, kind),
    }
}

/// A text as a number of a type.
pub(crate) fn parse_number(found: &str, kind: &Type) -> Run {
    let number = match kind {
        Type::Int => text::parse_long(found, 10).and_then(|long| i32::try_from(long).ok()).map(Value::Int),
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

fn as_array(m: &mut Machine<'_>, of: &Type, value: &Value) -> Run {
    if let Value::Bytes(_) = value {
        return Ok(value.clone());
    }
    let items = match value {
        value if value.as_text().is_some() => {
            let text = m.text(value)?;
            m.take_items(text.len())?;
            text.chars().map(Value::Char).collect()
        }
        value => items(m, value)?,
    };
    if *of == Type::Byte {
        m.take(items.len())?;
        return Ok(Value::bytes(
            items.iter().map(|item| item.to_long().unwrap_or(0) as u8).collect::<Rc<[u8]>>(),
        ));
    }
    m.take_items(items.len())?;
    let items = items.into_iter().map(|item| cast(m, of, item, true)).collect::<Run<Vec<Value>>>()?;
    Ok(Value::List(Rc::new(List::new(ListKind::Array, items))))
}

fn as_collection(m: &mut Machine<'_>, kind: &Type, value: Value) -> Run {
    match (kind, &value) {
        (Type::Map, Value::Map(_)) => Ok(value),
        (Type::List, Value::List(list)) if list.kind == ListKind::List => Ok(value),
        (Type::Set, Value::List(list)) if list.kind == ListKind::Set => Ok(value),
        (Type::List, _) => {
            let items = items(m, &value)?;
            m.new_list(items)
        }
        (Type::Set, _) => {
            let items = items(m, &value)?;
            list_of_kind(m, ListKind::Set, items)
        }
        _ => cannot(m, &value, kind),
    }
}

fn as_class(m: &mut Machine<'_>, class: Class, value: Value) -> Run {
    match class.kind().cast() {
        Some(cast) => cast(m, value),
        None => Ok(value),
    }
}

/// True if a value is of a type.
pub(crate) fn is_of_type(value: &Value, kind: &Type) -> bool {
    match kind {
        Type::Any => !value.is_null(),
        Type::Class(class) => is_instance(value, *class),
        Type::Bool => matches!(value, Value::Bool(_)),
        Type::Int | Type::Short | Type::Byte => matches!(value, Value::Int(_)),
        Type::Long => matches!(value, Value::Long(_)),
        Type::Float => matches!(value, Value::Float(_)),
        Type::Double => matches!(value, Value::Double(_)),
        Type::Char => matches!(value, Value::Char(_)),
        Type::Text => matches!(value, Value::Text(_)),
        Type::Decimal => matches!(value, Value::Decimal(_)),
        Type::Big => matches!(value, Value::Big(_)),
        Type::List => {
            matches!(value, Value::Range(_))
                || matches!(value, Value::List(list) if list.kind == ListKind::List)
        }
        Type::Set => matches!(value, Value::List(list) if list.kind == ListKind::Set),
        Type::Map => matches!(value, Value::Map(_)),
        Type::Array(_) => {
            matches!(value, Value::Bytes(_))
                || matches!(value, Value::List(list) if list.kind == ListKind::Array)
        }
    }
}

/// True if a value is of a class or one that extends it.
pub(crate) fn is_instance(value: &Value, class: Class) -> bool {
    match (value, class) {
        (Value::Null | Value::Void, _) => false,
        (value, Class::Thrown(wanted)) => {
            value.as_object::<Throwable>().is_some_and(|thrown| thrown.class.is_a(wanted))
        }
        (value, Class::Known(kind)) => value.kind().is_a(kind) || is_converted(value, kind),
    }
}

/// True if a value is of the type that a class's name converts to.
fn is_converted(value: &Value, kind: &'static Kind) -> bool {
    match kind.as_type() {
        Type::Class(_) => false,
        known => is_of_type(value, &known),
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
