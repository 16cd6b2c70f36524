//! JEXL's operators.

use super::operate::{is_in, is_numeric, joined, of_numbers, operator_sign};
use crate::model::abrupt::{Run, thrown};
use crate::model::machine::Machine;
use crate::model::meaning::patterns;
use crate::model::tree::Binary;
use crate::model::value::Value;
use std::cmp::Ordering;

pub(crate) fn arithmetic(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    if left.is_null() || right.is_null() {
        return thrown("JexlException", format!("{} of null", operator_sign(operator)));
    }
    let has_text = left.as_text().is_some() || right.as_text().is_some();
    if operator == Binary::Add && has_text {
        return joined(m, left, right);
    }
    let left = number(m, left)?;
    let right = number(m, right)?;
    match operator {
        Binary::Divide | Binary::Remainder if right.to_double() == Some(0.0) => {
            thrown("JexlException", "/ by zero")
        }
        operator => match of_numbers(m, operator, &left, &right)? {
            // Whole numbers are as wide as they need to be.
            Value::Long(value) => Ok(i32::try_from(value).map_or(Value::Long(value), Value::Int)),
            value => Ok(value),
        },
    }
}

/// A value as a number of JEXL; whole numbers are computed with 64 bits.
pub(crate) fn number(m: &mut Machine<'_>, value: &Value) -> Run {
    Ok(match value {
        Value::Int(value) => Value::Long(i64::from(*value)),
        Value::Bool(value) => Value::Long(i64::from(*value)),
        Value::Char(c) => Value::Long(i64::from(u32::from(*c))),
        Value::Float(value) => Value::Double(f64::from(*value)),
        value if value.is_number() => value.clone(),
        value => {
            let text = m.text(value)?;
            let whole = crate::model::value::text::parse_long(&text, 10).map(Value::Long);
            let number = whole.or_else(|| text.parse().ok().map(Value::Double));
            match number {
                Some(number) => number,
                None if text.is_empty() => Value::Long(0),
                None => return thrown("JexlException", format!("'{text}' is no number")),
            }
        }
    })
}

pub(crate) fn are_equal(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<bool> {
    match (left, right) {
        (Value::Null | Value::Void, other) | (other, Value::Null | Value::Void) => Ok(other.is_null()),
        (Value::Bool(a), b) | (b, Value::Bool(a)) if b.as_text().is_some() => {
            Ok(*m.text(b)? == *a.to_string())
        }
        _ if left.as_text().is_some() && right.as_text().is_some() => Ok(left.as_text() == right.as_text()),
        _ if is_numeric(left) || is_numeric(right) => Ok(compared(m, left, right)? == Some(Ordering::Equal)),
        _ => Ok(left.equals_loosely(right)),
    }
}

pub(crate) fn compared(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<Option<Ordering>> {
    if left.is_null() || right.is_null() {
        return Ok(None);
    }
    if is_numeric(left) || is_numeric(right) {
        let left = number(m, left)?;
        let right = number(m, right)?;
        return Ok(left.order(&right));
    }
    let left = m.text(left)?;
    let right = m.text(right)?;
    Ok(Value::Text(left).order(&Value::Text(right)))
}

/// `=~`: the whole text by a pattern, or an element of a list.
pub(crate) fn matches(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<bool> {
    match right {
        Value::List(_) | Value::Range(_) => is_in(m, left, right),
        Value::Map(map) => Ok(map.get(left).is_some()),
        Value::Null => Ok(left.is_null()),
        right => {
            if left.is_null() {
                Ok(false)
            } else {
                patterns::matches(m, left, right)
            }
        }
    }
}
