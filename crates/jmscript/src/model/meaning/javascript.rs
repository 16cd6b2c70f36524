//! JavaScript's operators.

use super::operate::{identical, joined, no_operator};
use crate::model::abrupt::Run;
use crate::model::library::util::date::Date;
use crate::model::machine::Machine;
use crate::model::tree::Binary;
use crate::model::value::{Value, text};

pub(crate) fn arithmetic(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let is_plain =
        |value: &Value| value.is_number() || matches!(value, Value::Bool(_) | Value::Null | Value::Void);
    if operator == Binary::Add && !(is_plain(left) && is_plain(right)) {
        return joined(m, left, right);
    }
    let a = number(m, left)?;
    let b = number(m, right)?;
    let bits = |value: f64| {
        if value.is_finite() { value.trunc().rem_euclid(4_294_967_296.0) as u32 as i32 } else { 0 }
    };
    let shift = bits(b) as u32 & 31;
    Ok(Value::Double(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Remainder => a % b,
        Binary::Power => a.powf(b),
        Binary::BitAnd => f64::from(bits(a) & bits(b)),
        Binary::BitOr => f64::from(bits(a) | bits(b)),
        Binary::BitXor => f64::from(bits(a) ^ bits(b)),
        Binary::ShiftLeft => f64::from(bits(a) << shift),
        Binary::ShiftRight => f64::from(bits(a) >> shift),
        Binary::ShiftRightUnsigned => f64::from(bits(a).cast_unsigned() >> shift),
        _ => return no_operator(m, operator, left, right),
    }))
}

/// A value as a number of JavaScript; `NaN` where it is none.
pub(crate) fn number(m: &mut Machine<'_>, value: &Value) -> Run<f64> {
    Ok(match value {
        Value::Null => 0.0,
        Value::Void => f64::NAN,
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Object(_) => value.as_object::<Date>().map_or(f64::NAN, |date| date.0.get() as f64),
        value if value.is_number() => value.to_double().unwrap_or(f64::NAN),
        value => {
            let found = m.text(value)?;
            let found = found.trim();
            let hex = found.strip_prefix("0x").or_else(|| found.strip_prefix("0X"));
            match hex {
                _ if found.is_empty() => 0.0,
                Some(hex) => u64::from_str_radix(hex, 16).map_or(f64::NAN, |number| number as f64),
                None => text::parse_double(found)
                    .filter(|_| !found.ends_with(['d', 'f', 'D', 'F']))
                    .unwrap_or(f64::NAN),
            }
        }
    })
}

pub(crate) fn are_equal(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<bool> {
    Ok(match (left, right) {
        (Value::Null | Value::Void, Value::Null | Value::Void) => true,
        (Value::Null | Value::Void, _) | (_, Value::Null | Value::Void) => false,
        (a, b) if a.as_text().is_some() && b.as_text().is_some() => a.as_text() == b.as_text(),
        (
            Value::List(_) | Value::Map(_) | Value::Object(_),
            Value::List(_) | Value::Map(_) | Value::Object(_),
        ) => identical(left, right),
        (a @ (Value::List(_) | Value::Map(_) | Value::Object(_)), b)
        | (b, a @ (Value::List(_) | Value::Map(_) | Value::Object(_))) => {
            let text = Value::Text(m.text(a)?);
            number(m, &text)? == number(m, b)? || b.as_text() == text.as_text()
        }
        (a, b) => number(m, a)? == number(m, b)?,
    })
}

/// A place in a text or list: from the end where it is negative, and never beyond.
pub(crate) fn clamped(
    m: &mut Machine<'_>,
    value: Option<&Value>,
    length: usize,
    default: usize,
) -> Run<usize> {
    let Some(value) = value.filter(|value| !matches!(value, Value::Void)) else { return Ok(default) };
    let wanted = number(m, value)?;
    let wanted = if wanted.is_nan() { 0.0 } else { wanted };
    let place = if wanted < 0.0 { wanted + length as f64 } else { wanted };
    Ok(place.clamp(0.0, length as f64) as usize)
}
