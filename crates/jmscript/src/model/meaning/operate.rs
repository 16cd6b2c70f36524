//! Operators, by the rules of each language.

use super::items::{items, list_of_kind, push, put};
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown, thrown_bare};
use crate::model::class::Class;
use crate::model::library::groovy::time_category;
use crate::model::library::io::{bytes::Output, file::File, writer};
use crate::model::library::lang::string_builder;
use crate::model::library::regex::pattern::{Pattern, find};
use crate::model::library::util::date;
use crate::model::machine::Machine;
use crate::model::meaning::{convert, javascript, jexl, patterns};
use crate::model::tree::{Binary, Type};
use crate::model::value::{ListKind, Map, MapKind, Value};
use crate::number::{Decimal, MOST_DIGITS};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;
use std::rc::Rc;

/// The value of an operator.
pub(crate) fn operate(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    Ok(Value::Bool(match operator {
        Binary::Equal => are_equal(m, left, right)?,
        Binary::NotEqual => !are_equal(m, left, right)?,
        Binary::Same => are_same(m, left, right),
        Binary::NotSame => !are_same(m, left, right),
        Binary::Less => compared(m, left, right)?.is_some_and(Ordering::is_lt),
        Binary::LessOrEqual => compared(m, left, right)?.is_some_and(Ordering::is_le),
        Binary::Greater => compared(m, left, right)?.is_some_and(Ordering::is_gt),
        Binary::GreaterOrEqual => compared(m, left, right)?.is_some_and(Ordering::is_ge),
        Binary::Compare => {
            let order = compared(m, left, right)?.map_or(0, |order| order as i32);
            return Ok(Value::Int(order));
        }
        Binary::In => is_in(m, left, right)?,
        Binary::NotIn => !is_in(m, left, right)?,
        Binary::Find if m.dialect == Dialect::Jexl => jexl::matches(m, left, right)?,
        Binary::NotMatches => !jexl::matches(m, left, right)?,
        Binary::Find => return find(m, left, right),
        Binary::Matches => patterns::matches(m, left, right)?,
        Binary::StartsWith => m.text(left)?.starts_with(&*m.text(right)?),
        Binary::EndsWith => m.text(left)?.ends_with(&*m.text(right)?),
        operator => return arithmetic(m, operator, left, right),
    }))
}

pub(crate) fn arithmetic(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    match m.dialect {
        Dialect::Groovy => of_groovy(m, operator, left, right),
        Dialect::BeanShell => of_java(m, operator, left, right),
        Dialect::JavaScript => javascript::arithmetic(m, operator, left, right),
        Dialect::Jexl => jexl::arithmetic(m, operator, left, right),
    }
}

// Equality and order.

/// `==`.
pub(crate) fn are_equal(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<bool> {
    if matches!(left, Value::Lazy(_)) || matches!(right, Value::Lazy(_)) {
        return Ok(!left.is_null() && !right.is_null() && m.text(left)? == m.text(right)?);
    }
    match m.dialect {
        Dialect::Groovy => Ok(left.equals_loosely(right)),
        Dialect::BeanShell => Ok(same_in_java(left, right)),
        Dialect::JavaScript => javascript::are_equal(m, left, right),
        Dialect::Jexl => jexl::are_equal(m, left, right),
    }
}

/// `===`, and `is`.
fn are_same(m: &mut Machine<'_>, left: &Value, right: &Value) -> bool {
    match m.dialect {
        Dialect::JavaScript => match (left, right) {
            (Value::Null, Value::Void) | (Value::Void, Value::Null) => false,
            (a, b) if a.is_number() && b.is_number() => a.to_double() == b.to_double(),
            (a, b) => a.equals(b),
        },
        _ => identical(left, right),
    }
}

/// The order of two values; `None` where a comparison is false either way.
pub(crate) fn compared(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<Option<Ordering>> {
    match m.dialect {
        Dialect::Groovy => compared_in_groovy(m, left, right),
        Dialect::BeanShell => {
            if !is_numeric(left) || !is_numeric(right) {
                return thrown("EvalError", "Operator: inappropriate for objects");
            }
            Ok(left.order(right))
        }
        Dialect::JavaScript => match (left.as_text(), right.as_text()) {
            (Some(_), Some(_)) => Ok(left.order(right)),
            _ => {
                let left = javascript::number(m, left)?;
                Ok(left.partial_cmp(&javascript::number(m, right)?))
            }
        },
        Dialect::Jexl => jexl::compared(m, left, right),
    }
}

fn compared_in_groovy(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run<Option<Ordering>> {
    if left.is_number() && matches!(right, Value::Float(_) | Value::Double(_))
        || matches!(left, Value::Double(_)) && right.is_number()
    {
        return Ok(left.order(right));
    }
    if let (Value::Lazy(_), _) | (_, Value::Lazy(_)) = (left, right) {
        let left = m.text(left)?;
        let right = m.text(right)?;
        return Ok(Value::Text(left).order(&Value::Text(right)));
    }
    match left.order(right) {
        Some(order) => Ok(Some(order)),
        None => {
            let a = m.text(left)?;
            let b = m.text(right)?;
            let of = left.class_name();
            let with = right.class_name();
            thrown(
                "IllegalArgumentException",
                format!("Cannot compare {of} with value '{a}' and {with} with value '{b}'"),
            )
        }
    }
}

/// `a in b`, and what a `case` with a list asks.
pub(crate) fn is_in(m: &mut Machine<'_>, item: &Value, of: &Value) -> Run<bool> {
    Ok(match of {
        Value::Null => item.is_null(),
        Value::Range(range) if !range.is_text => {
            let is_whole = |number: f64| number.fract() == 0.0;
            item.to_double().is_some_and(is_whole)
                && item.to_long().is_some_and(|number| range.contains(number))
        }
        Value::Map(map) => map.get(item).is_some_and(|value| value.is_true()),
        Value::Class(class) => convert::is_instance(item, *class),
        Value::Text(text) => match item.as_text() {
            Some(item) => **item == **text,
            None => false,
        },
        of => {
            let items = items(m, of)?;
            m.work(items.len() / 4)?;
            items.iter().any(|known| known.equals_loosely(item))
        }
    })
}

// Groovy.

fn of_groovy(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    if left.is_number() && right.is_number() {
        return of_numbers(m, operator, left, right);
    }
    match (operator, left, right) {
        (Binary::Add, Value::Text(_), _) => joined(m, left, right),
        (Binary::Add, Value::Template(_) | Value::Lazy(_), _) => match joined(m, left, right)? {
            Value::Text(text) if !matches!(right, Value::Text(_)) => Ok(Value::Template(text)),
            joined => Ok(joined),
        },
        (Binary::Add, left, right)
            if right.as_text().is_some() && !matches!(left, Value::List(_) | Value::Map(_)) =>
        {
            joined(m, left, right)
        }
        (_, Value::Null, _) => {
            let name = operator_name(operator);
            thrown("NullPointerException", format!("Cannot invoke method {name}() on null object"))
        }
        (_, Value::List(_) | Value::Range(_) | Value::Map(_), _) => of_collections(m, operator, left, right),
        (Binary::ShiftLeft, Value::Text(_) | Value::Template(_), _) => {
            let joined = joined(m, left, right)?;
            m.create(Class::Known(&string_builder::KIND), &[joined])
        }
        (Binary::Subtract | Binary::Multiply, Value::Text(_) | Value::Template(_), _) => {
            of_texts(m, operator, left, right)
        }
        (_, Value::Object(_), _) => of_objects(m, operator, left, right),
        (_, Value::Char(_), right) if right.is_number() || matches!(right, Value::Char(_)) => {
            of_numbers(m, operator, left, right)
        }
        (_, left, Value::Char(_)) if left.is_number() => of_numbers(m, operator, left, right),
        (_, Value::Bool(a), Value::Bool(b)) => match operator {
            Binary::BitAnd => Ok(Value::Bool(a & b)),
            Binary::BitOr => Ok(Value::Bool(a | b)),
            Binary::BitXor => Ok(Value::Bool(a ^ b)),
            _ => no_operator(m, operator, left, right),
        },
        (_, left, Value::Null) if left.is_number() => thrown(
            "GroovyRuntimeException",
            format!(
                "Ambiguous method overloading for method {}#{}.",
                left.class_name(),
                operator_name(operator)
            ),
        ),
        _ => no_operator(m, operator, left, right),
    }
}

pub(crate) fn no_operator(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let of = left.class_name();
    let name = operator_name(operator);
    let with = right.class_name();
    let values = m.text(right)?;
    let message = format!(
        "No signature of method: {of}.{name}() is applicable for argument types: ({with}) values: [{values}]"
    );
    thrown("MissingMethodException", message)
}

/// Both as one text.
pub(crate) fn joined(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run {
    let left = m.text(left)?;
    let right = m.text(right)?;
    m.take_text(left.len() + right.len())?;
    let mut out = String::with_capacity(left.len() + right.len());
    out.push_str(&left);
    out.push_str(&right);
    Ok(Value::text(out))
}

fn of_texts(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let text = m.text(left)?;
    if operator == Binary::Multiply {
        let Some(times) = right.to_long() else { return no_operator(m, operator, left, right) };
        let Ok(times) = usize::try_from(times) else {
            let message = format!("multiply() should be called with a number of 0 or greater not: {times}");
            return thrown("IllegalArgumentException", message);
        };
        m.take_text(text.len().saturating_mul(times))?;
        return Ok(Value::text(text.repeat(times)));
    }
    if let Some(pattern) = right.as_object::<Pattern>() {
        return m.new_text(pattern.regex.replacen(&text, 1, regex::NoExpand("")).into_owned());
    }
    let part = m.text(right)?;
    m.new_text(text.replacen(&*part, "", 1))
}

pub(crate) fn of_objects(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let is_builder = left.kind().is_a(&string_builder::KIND) || left.kind().is_a(&string_builder::BUFFER);
    let sum = match operator {
        Binary::ShiftLeft
            if is_builder || left.kind().is_a(&writer::KIND) || left.as_object::<File>().is_some() =>
        {
            m.invoke(left, "append", std::slice::from_ref(right))?;
            return Ok(left.clone());
        }
        Binary::Add if is_builder => return joined(m, left, right),
        Binary::ShiftLeft if left.as_object::<Output>().is_some() => {
            return m.invoke(left, "leftShift", std::slice::from_ref(right));
        }
        Binary::Add => sum(m, left, right, 1)?,
        Binary::Subtract => sum(m, left, right, -1)?,
        _ => None,
    };
    match sum {
        Some(value) => Ok(value),
        None => no_operator(m, operator, left, right),
    }
}

/// The sum of moments and lengths of time, by `TimeCategory` where that is asked for.
fn sum(m: &mut Machine<'_>, left: &Value, right: &Value, sign: i64) -> Run<Option<Value>> {
    match time_category::sum(m, left, right, sign)? {
        None => date::sum(m, left, right, sign),
        found => Ok(found),
    }
}

fn of_collections(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    if let (Value::Map(map), Value::Map(other)) = (left, right)
        && matches!(operator, Binary::Add | Binary::ShiftLeft)
    {
        let target = if operator == Binary::Add {
            Rc::new(Map::new(MapKind::Plain, map.to_vec()))
        } else {
            map.clone()
        };
        m.take_items(target.len() * 2)?;
        for (key, value) in other.to_vec() {
            put(m, &target, key, value)?;
        }
        return Ok(Value::Map(target));
    }
    match operator {
        Binary::ShiftLeft => {
            push(m, left, right.clone())?;
            Ok(left.clone())
        }
        Binary::Add => {
            let mut kept = items(m, left)?;
            match right {
                Value::List(_) | Value::Range(_) => kept.extend(items(m, right)?),
                other => kept.push(other.clone()),
            }
            like(m, left, kept)
        }
        Binary::Subtract => {
            let mut kept = items(m, left)?;
            let gone = if matches!(right, Value::List(_) | Value::Range(_)) {
                items(m, right)?
            } else {
                vec![right.clone()]
            };
            m.work(kept.len() * gone.len() / 8)?;
            kept.retain(|item| !gone.iter().any(|gone| gone.equals_loosely(item)));
            like(m, left, kept)
        }
        Binary::Multiply => {
            let items = items(m, left)?;
            let times = usize::try_from(right.to_long().unwrap_or(0)).unwrap_or(0);
            m.take_items(items.len().saturating_mul(times))?;
            let repeated = items.iter().cycle().take(items.len() * times).cloned().collect();
            Ok(Value::list(repeated))
        }
        _ => no_operator(m, operator, left, right),
    }
}

/// A list of the kind that another has.
pub(crate) fn like(m: &mut Machine<'_>, of: &Value, items: Vec<Value>) -> Run {
    match of {
        Value::List(list) if list.kind != ListKind::List => list_of_kind(m, list.kind, items),
        _ => m.new_list(items),
    }
}

// Numbers.

/// An operator of two numbers, of which the wider kind decides.
pub(crate) fn of_numbers(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    if operator == Binary::Power {
        return power(m, left, right);
    }
    if small(left).is_some() && small(right).is_some() {
        return of_whole(m, operator, left, right);
    }
    let is_floating = |value: &Value| matches!(value, Value::Float(_) | Value::Double(_));
    if is_floating(left) || is_floating(right) {
        return of_doubles(m, operator, left, right);
    }
    let is_decimal = matches!(left, Value::Decimal(_)) || matches!(right, Value::Decimal(_));
    if is_decimal || operator == Binary::Divide && !m.dialect.divides_whole_numbers() {
        return of_decimals(m, operator, left, right);
    }
    of_bigs(m, operator, left, right)
}

/// An operator of two whole numbers; where one is a `long`, so is the result.
fn of_whole(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let (Some(a), Some(b)) = (small(left), small(right)) else {
        return no_operator(m, operator, left, right);
    };
    let is_long = matches!(left, Value::Long(_)) || matches!(right, Value::Long(_));
    let fitted = |value: i64| if is_long { Value::Long(value) } else { Value::Int(value as i32) };
    let divides = matches!(operator, Binary::Divide | Binary::Remainder);
    if operator == Binary::Divide && !m.dialect.divides_whole_numbers() {
        return of_decimals(m, operator, left, right);
    }
    if divides && b == 0 {
        return thrown(
            "ArithmeticException",
            match (m.dialect, operator) {
                (Dialect::Groovy, Binary::Divide) => "/ by zero",
                (Dialect::Groovy, _) => "Division by zero",
                (Dialect::BeanShell | Dialect::JavaScript | Dialect::Jexl, _) => {
                    "Arithemetic Exception in binary op"
                }
            },
        );
    }
    Ok(match operator {
        Binary::Add => fitted(a.wrapping_add(b)),
        Binary::Subtract => fitted(a.wrapping_sub(b)),
        Binary::Multiply => fitted(a.wrapping_mul(b)),
        Binary::Divide => fitted(a.wrapping_div(b)),
        Binary::Remainder => fitted(a.wrapping_rem(b)),
        Binary::BitAnd => fitted(a & b),
        Binary::BitOr => fitted(a | b),
        Binary::BitXor => fitted(a ^ b),
        Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightUnsigned => match left {
            Value::Long(a) => Value::Long(shifted(operator, *a, b)),
            _ => Value::Int(shifted_int(operator, a as i32, b)),
        },
        _ => return no_operator(m, operator, left, right),
    })
}

fn shifted(operator: Binary, value: i64, by: i64) -> i64 {
    match operator {
        Binary::ShiftLeft => value.wrapping_shl(by as u32),
        Binary::ShiftRight => value.wrapping_shr(by as u32),
        _ => value.cast_unsigned().wrapping_shr(by as u32).cast_signed(),
    }
}

fn shifted_int(operator: Binary, value: i32, by: i64) -> i32 {
    match operator {
        Binary::ShiftLeft => value.wrapping_shl(by as u32),
        Binary::ShiftRight => value.wrapping_shr(by as u32),
        _ => value.cast_unsigned().wrapping_shr(by as u32).cast_signed(),
    }
}

fn of_doubles(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let a = left.to_double().unwrap_or(f64::NAN);
    let b = right.to_double().unwrap_or(f64::NAN);
    let value = match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Remainder => a % b,
        _ => return no_operator(m, operator, left, right),
    };
    let is_float = matches!(
        (left, right),
        (Value::Float(_), Value::Float(_) | Value::Int(_)) | (Value::Int(_), Value::Float(_))
    );
    Ok(if is_float && m.dialect == Dialect::BeanShell {
        Value::Float(value as f32)
    } else {
        Value::Double(value)
    })
}

fn of_decimals(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let (Some(a), Some(b)) = (left.to_decimal(), right.to_decimal()) else {
        return of_doubles(m, operator, left, right);
    };
    let value = match operator {
        Binary::Add => Some(a.plus(&b)),
        Binary::Subtract => Some(a.minus(&b)),
        Binary::Multiply => a.times(&b),
        Binary::Divide => match a.divided_by(&b) {
            Some(quotient) => Some(quotient),
            None => return thrown("ArithmeticException", "Division by zero"),
        },
        Binary::Remainder if m.dialect == Dialect::Groovy => {
            let class = left.class_name();
            let shown = m.text(left)?;
            return thrown(
                "UnsupportedOperationException",
                format!("Cannot use mod() on this number type: {class} with value: {shown}"),
            );
        }
        Binary::Remainder => a.remainder(&b),
        _ => return no_operator(m, operator, left, right),
    };
    bounded(m, value)
}

pub(crate) fn bounded(m: &mut Machine<'_>, value: Option<Decimal>) -> Run {
    match value.filter(Decimal::is_bounded) {
        Some(value) => {
            m.work(1 + value.unscaled().bits() as usize / 64)?;
            Ok(Value::Decimal(Rc::new(value)))
        }
        None => thrown("ArithmeticException", format!("numbers have at most {MOST_DIGITS} digits here")),
    }
}

fn of_bigs(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let (Some(a), Some(b)) = (left.to_big(), right.to_big()) else {
        return no_operator(m, operator, left, right);
    };
    let is_division = matches!(operator, Binary::Divide | Binary::Remainder);
    if is_division && b.is_zero() {
        return thrown("ArithmeticException", "Division by zero");
    }
    let value = match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Remainder => a % b,
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::ShiftLeft if b.to_u64().is_some_and(|by| by < MOST_DIGITS * 3) => {
            a << b.to_u64().unwrap_or(0)
        }
        Binary::ShiftRight if b.to_u64().is_some() => a >> b.to_u64().unwrap_or(0),
        _ => return no_operator(m, operator, left, right),
    };
    big(m, value)
}

/// A whole number of any size that is not absurd.
pub(crate) fn big(m: &mut Machine<'_>, value: BigInt) -> Run {
    if value.bits() > MOST_DIGITS * 4 {
        return thrown("ArithmeticException", format!("numbers have at most {MOST_DIGITS} digits here"));
    }
    m.work(1 + value.bits() as usize / 64)?;
    Ok(Value::Big(Rc::new(value)))
}

pub(crate) fn power(m: &mut Machine<'_>, left: &Value, right: &Value) -> Run {
    let exponent = right.to_long().unwrap_or(0);
    let is_whole = matches!(right, Value::Int(_) | Value::Long(_)) && exponent >= 0;
    let is_exact = matches!(left, Value::Int(_) | Value::Long(_) | Value::Big(_));
    if is_whole && is_exact {
        let base = left.to_big().expect("a whole number");
        let bits = base.bits().saturating_mul(exponent.unsigned_abs());
        if bits > MOST_DIGITS * 4 && base.bits() > 1 {
            return thrown("ArithmeticException", format!("numbers have at most {MOST_DIGITS} digits here"));
        }
        let exponent = if base.bits() <= 1 { exponent % 2 + 2 * i64::from(exponent > 1) } else { exponent };
        return Ok(Value::whole(base.pow(exponent as u32)));
    }
    if let (Value::Decimal(base), true) = (left, is_whole && exponent < 1_000) {
        let mut product = Some(Decimal::new(1, 0));
        for _ in 0..exponent {
            m.step()?;
            product = product.and_then(|product| product.times(base)).filter(Decimal::is_bounded);
        }
        return bounded(m, product);
    }
    let value = left.to_double().unwrap_or(f64::NAN).powf(right.to_double().unwrap_or(f64::NAN));
    let is_int = value.fract() == 0.0 && value.abs() < 2_147_483_648.0 && is_exact;
    Ok(if is_int { Value::Int(value as i32) } else { Value::Double(value) })
}

// BeanShell.

fn of_java(m: &mut Machine<'_>, operator: Binary, left: &Value, right: &Value) -> Run {
    let is_text = |value: &Value| value.as_text().is_some();
    if operator == Binary::Add && (is_text(left) || is_text(right)) {
        return joined(m, left, right);
    }
    if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
        match operator {
            Binary::BitAnd => return Ok(Value::Bool(a & b)),
            Binary::BitOr => return Ok(Value::Bool(a | b)),
            Binary::BitXor => return Ok(Value::Bool(a ^ b)),
            _ => {}
        }
    }
    if !is_numeric(left) || !is_numeric(right) {
        let what = if left.is_null() || right.is_null() {
            "null or void value in binary operation"
        } else {
            "inappropriate for objects"
        };
        return thrown("EvalError", format!("Operator: '{}' {what}", operator_sign(operator)));
    }
    let plain = |value: &Value| {
        if let Value::Char(c) = value { Value::Int(u32::from(*c) as i32) } else { value.clone() }
    };
    of_numbers(m, operator, &plain(left), &plain(right))
}

/// A number converted to a type that must hold it.
pub(crate) fn number_as(value: &Value, kind: &Type) -> Run {
    let Some(double) = value.to_double() else { return thrown_bare("ClassCastException") };
    let long = value.to_long().unwrap_or(0);
    // A floating-point number beyond the type is its largest; a whole one loses its upper bits.
    let is_floating = matches!(value, Value::Float(_) | Value::Double(_));
    let int = if is_floating { double as i32 } else { long as i32 };
    Ok(match kind {
        Type::Int => Value::Int(int),
        Type::Short => Value::Int(i32::from(int as i16)),
        Type::Byte => Value::Int(i32::from(int as i8)),
        Type::Long => Value::Long(long),
        Type::Float => Value::Float(double as f32),
        Type::Double => Value::Double(double),
        Type::Char => Value::Char(char::from_u32(u32::from(int as u16)).unwrap_or('\u{fffd}')),
        Type::Decimal => match value.to_decimal() {
            Some(decimal) => Value::Decimal(Rc::new(decimal)),
            None => return thrown("NumberFormatException", "Infinite or NaN"),
        },
        Type::Big => match value.to_big() {
            Some(big) => Value::Big(Rc::new(big)),
            None => return thrown("NumberFormatException", "Infinite or NaN"),
        },
        _ => value.clone(),
    })
}

/// Applies an operator to two ints: the most frequent case, without further checks.
pub(crate) fn of_ints(operator: Binary, a: i32, b: i32) -> Option<Value> {
    Some(match operator {
        Binary::Add => Value::Int(a.wrapping_add(b)),
        Binary::Subtract => Value::Int(a.wrapping_sub(b)),
        Binary::Multiply => Value::Int(a.wrapping_mul(b)),
        Binary::Less => Value::Bool(a < b),
        Binary::LessOrEqual => Value::Bool(a <= b),
        Binary::Greater => Value::Bool(a > b),
        Binary::GreaterOrEqual => Value::Bool(a >= b),
        Binary::Equal => Value::Bool(a == b),
        Binary::NotEqual => Value::Bool(a != b),
        Binary::Remainder if b != 0 => Value::Int(a.wrapping_rem(b)),
        _ => return None,
    })
}

fn small(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(i64::from(*value)),
        Value::Long(value) => Some(*value),
        Value::Char(c) => Some(i64::from(u32::from(*c))),
        _ => None,
    }
}

pub(crate) fn is_numeric(value: &Value) -> bool {
    value.is_number() || matches!(value, Value::Char(_))
}

/// `==` of Java: numbers by value, everything else by identity.
fn same_in_java(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (a, b) if is_numeric(a) && is_numeric(b) => a.order(b) == Some(Ordering::Equal),
        (Value::Void, Value::Null) | (Value::Null, Value::Void) => false,
        _ => identical(left, right),
    }
}

/// True if two values are one.
pub(crate) fn identical(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) | (Value::Template(a), Value::Template(b)) => Rc::ptr_eq(a, b),
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) => Rc::ptr_eq(a, b),
        (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
        (a, b) => a.equals(b),
    }
}

fn operator_name(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "plus",
        Binary::Subtract => "minus",
        Binary::Multiply => "multiply",
        Binary::Divide => "div",
        Binary::Remainder => "mod",
        Binary::Power => "power",
        Binary::ShiftLeft => "leftShift",
        Binary::ShiftRight => "rightShift",
        Binary::ShiftRightUnsigned => "rightShiftUnsigned",
        Binary::BitAnd => "and",
        Binary::BitOr => "or",
        Binary::BitXor => "xor",
        _ => "compareTo",
    }
}

pub(crate) fn operator_sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        _ => "?",
    }
}

/// True if a value is one of those that a `case` names: a text, a pattern, a list, a range, a class, a closure.
pub(crate) fn is_case(m: &mut Machine<'_>, case: &Value, subject: &Value) -> Run<bool> {
    if m.dialect != Dialect::Groovy {
        return are_equal(m, case, subject);
    }
    match case {
        Value::List(_) | Value::Range(_) => is_in(m, subject, case),
        Value::Map(map) => Ok(map.get(subject).is_some_and(|value| value.is_true())),
        Value::Class(class) => Ok(convert::is_instance(subject, *class)),
        Value::Closure(closure) => {
            let value = m.call_closure(closure, std::slice::from_ref(subject))?;
            Ok(value.is_true())
        }
        case => match case.as_object::<Pattern>() {
            Some(pattern) => {
                let text = m.text(subject)?;
                m.work(text.len() / 64)?;
                Ok(patterns::matches_whole(pattern, &text))
            }
            None => are_equal(m, case, subject),
        },
    }
}
