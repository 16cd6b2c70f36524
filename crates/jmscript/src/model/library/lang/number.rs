//! `Number`, and the classes of numbers that the machine computes with: `Integer`, `Long`, `Short`, `Byte`, `Double`, `Float`.

use super::{math, object};
use crate::model::abrupt::{Run, thrown, thrown_bare};
use crate::model::class::{Class, ClassRow, Kind, row, rows};
use crate::model::machine::Machine;
use crate::model::meaning::convert::parse_number;
use crate::model::meaning::operate::{number_as, of_numbers, operate};
use crate::model::tree::{Binary, Type};
use crate::model::value::{Value, text};
use crate::number::{Decimal, Rounding};
use num_bigint::BigInt;
use num_traits::Signed;
use std::cmp::Ordering;

pub(crate) static KIND: Kind = Kind::new("java.lang", "Number").extends(&object::KIND).methods(&[
    row("intValue", 0, |_, of, _| number_as(of, &Type::Int)),
    row("toInteger", 0, |_, of, _| number_as(of, &Type::Int)),
    row("intValueExact", 0, |_, of, _| number_as(of, &Type::Int)),
    row("longValue", 0, |_, of, _| number_as(of, &Type::Long)),
    row("longValueExact", 0, |_, of, _| number_as(of, &Type::Long)),
    row("toLong", 0, |_, of, _| number_as(of, &Type::Long)),
    row("doubleValue", 0, |_, of, _| number_as(of, &Type::Double)),
    row("toDouble", 0, |_, of, _| number_as(of, &Type::Double)),
    row("floatValue", 0, |_, of, _| number_as(of, &Type::Float)),
    row("toFloat", 0, |_, of, _| number_as(of, &Type::Float)),
    row("shortValue", 0, |_, of, _| number_as(of, &Type::Short)),
    row("toShort", 0, |_, of, _| number_as(of, &Type::Short)),
    row("byteValue", 0, |_, of, _| number_as(of, &Type::Byte)),
    row("toBigDecimal", 0, |_, of, _| number_as(of, &Type::Decimal)),
    row("toBigInteger", 0, |_, of, _| number_as(of, &Type::Big)),
    row("toString", 1, |m, of, args| m.new_text(in_radix(&whole(of), args[0].to_long().unwrap_or(10)))),
    rows("toFixed", 0, 1, |m, of, args| {
        let digits = args.first().and_then(Value::to_long).unwrap_or(0);
        m.new_text(fixed(of.to_double().unwrap_or(f64::NAN), digits))
    }),
    row("isNaN", 0, |_, of, _| Ok(Value::Bool(of.to_double().is_some_and(f64::is_nan)))),
    row("isInfinite", 0, |_, of, _| Ok(Value::Bool(of.to_double().is_some_and(f64::is_infinite)))),
    row("plus", 1, |m, of, args| operate(m, Binary::Add, of, &args[0])),
    row("add", 1, |m, of, args| operate(m, Binary::Add, of, &args[0])),
    row("minus", 1, |m, of, args| operate(m, Binary::Subtract, of, &args[0])),
    row("subtract", 1, |m, of, args| operate(m, Binary::Subtract, of, &args[0])),
    row("multiply", 1, |m, of, args| operate(m, Binary::Multiply, of, &args[0])),
    row("div", 1, |m, of, args| operate(m, Binary::Divide, of, &args[0])),
    row("mod", 1, |m, of, args| operate(m, Binary::Remainder, of, &args[0])),
    row("power", 1, |m, of, args| operate(m, Binary::Power, of, &args[0])),
    row("intdiv", 1, |m, of, args| whole_quotient(m, of, &args[0])),
    row("abs", 0, |m, of, _| absolute(m, of)),
    row("negate", 0, |m, of, _| of_numbers(m, Binary::Subtract, &Value::Int(0), of)),
    row("next", 0, |m, of, _| of_numbers(m, Binary::Add, of, &Value::Int(1))),
    row("previous", 0, |m, of, _| of_numbers(m, Binary::Add, of, &Value::Int(-1))),
    row("signum", 0, |_, of, _| Ok(Value::Int(of.order(&Value::Int(0)).map_or(0, |order| order as i32)))),
    row("bitLength", 0, |_, of, _| Ok(Value::Int(whole(of).bits() as i32))),
    row("max", 1, |m, of, args| math::greatest(m, vec![of.clone(), args[0].clone()])),
    row("min", 1, |m, of, args| math::least(m, vec![of.clone(), args[0].clone()])),
    row("times", 1, |m, of, args| {
        let count = of.to_long().unwrap_or(0);
        counted(m, of, "times", args, Steps { from: 0, to: count.saturating_sub(1), by: 1 })
    }),
    row("upto", 2, |m, of, args| {
        let to = args[0].to_long().unwrap_or(0);
        counted(m, of, "upto", args, Steps { from: of.to_long().unwrap_or(0), to, by: 1 })
    }),
    row("downto", 2, |m, of, args| {
        let to = args[0].to_long().unwrap_or(0);
        counted(m, of, "downto", args, Steps { from: of.to_long().unwrap_or(0), to, by: -1 })
    }),
    row("step", 3, |m, of, args| {
        let end = args[0].to_long().unwrap_or(0);
        let by = args[1].to_long().unwrap_or(1);
        let to = if by > 0 { end.saturating_sub(1) } else { end.saturating_add(1) };
        counted(m, of, "step", args, Steps { from: of.to_long().unwrap_or(0), to, by })
    }),
]);

pub(crate) static INTEGER: Kind = Kind::new("java.lang", "Integer")
    .extends(&KIND)
    .converts(|| Type::Int)
    .creates(|m, _, args| create(m, &INTEGER, args))
    .constants(|name| match name {
        "MAX_VALUE" => Some(Value::Int(i32::MAX)),
        "MIN_VALUE" => Some(Value::Int(i32::MIN)),
        _ => None,
    })
    .statics(&[
        rows("parseInt", 1, 2, parse),
        rows("valueOf", 1, 2, parse),
        row("decode", 1, decode),
        rows("toString", 1, 2, to_string),
        row("toHexString", 1, |m, _, args| m.new_text(format!("{:x}", bits(&args[0])))),
        row("toBinaryString", 1, |m, _, args| m.new_text(format!("{:b}", bits(&args[0])))),
        row("toOctalString", 1, |m, _, args| m.new_text(format!("{:o}", bits(&args[0])))),
        COMPARE,
        MAX,
        MIN,
        SUM,
        SIGNUM,
        ABS,
    ]);

pub(crate) static LONG: Kind = Kind::new("java.lang", "Long")
    .extends(&KIND)
    .converts(|| Type::Long)
    .creates(|m, _, args| create(m, &LONG, args))
    .constants(|name| match name {
        "MAX_VALUE" => Some(Value::Long(i64::MAX)),
        "MIN_VALUE" => Some(Value::Long(i64::MIN)),
        _ => None,
    })
    .statics(&[
        rows("parseLong", 1, 2, parse),
        rows("valueOf", 1, 2, parse),
        row("decode", 1, decode),
        rows("toString", 1, 2, to_string),
        row("toHexString", 1, |m, _, args| m.new_text(format!("{:x}", long_bits(&args[0])))),
        row("toBinaryString", 1, |m, _, args| m.new_text(format!("{:b}", long_bits(&args[0])))),
        row("toOctalString", 1, |m, _, args| m.new_text(format!("{:o}", long_bits(&args[0])))),
        COMPARE,
        MAX,
        MIN,
        SUM,
        SIGNUM,
        ABS,
    ]);

pub(crate) static SHORT: Kind = Kind::new("java.lang", "Short")
    .extends(&KIND)
    .converts(|| Type::Short)
    .creates(|m, _, args| create(m, &SHORT, args))
    .statics(&[
        rows("parseShort", 1, 2, parse),
        rows("valueOf", 1, 2, parse),
        rows("toString", 1, 2, to_string),
        COMPARE,
    ]);

pub(crate) static BYTE: Kind = Kind::new("java.lang", "Byte")
    .extends(&KIND)
    .converts(|| Type::Byte)
    .creates(|m, _, args| create(m, &BYTE, args))
    .statics(&[
        rows("parseByte", 1, 2, parse),
        rows("valueOf", 1, 2, parse),
        rows("toString", 1, 2, to_string),
        COMPARE,
    ]);

/// Methods of numbers with a fraction.
const FLOATING: &[ClassRow] = &[
    rows("round", 0, 1, |_, of, args| Ok(rounded(of, args.first().and_then(Value::to_long)))),
    rows("trunc", 0, 1, |_, of, args| Ok(truncated(of, args.first().and_then(Value::to_long)))),
];

pub(crate) static DOUBLE: Kind = Kind::new("java.lang", "Double")
    .extends(&KIND)
    .converts(|| Type::Double)
    .creates(|m, _, args| create(m, &DOUBLE, args))
    .constants(|name| match name {
        "MAX_VALUE" => Some(Value::Double(f64::MAX)),
        "MIN_VALUE" => Some(Value::Double(f64::from_bits(1))),
        "NaN" => Some(Value::Double(f64::NAN)),
        "POSITIVE_INFINITY" => Some(Value::Double(f64::INFINITY)),
        "NEGATIVE_INFINITY" => Some(Value::Double(f64::NEG_INFINITY)),
        _ => None,
    })
    .statics(&[
        row("parseDouble", 1, parse),
        row("valueOf", 1, parse),
        row("toString", 1, to_string),
        COMPARE,
        MAX,
        MIN,
        SUM,
        IS_NAN,
        IS_INFINITE,
    ])
    .methods(FLOATING);

pub(crate) static FLOAT: Kind = Kind::new("java.lang", "Float")
    .extends(&KIND)
    .converts(|| Type::Float)
    .creates(|m, _, args| create(m, &FLOAT, args))
    .statics(&[
        row("parseFloat", 1, parse),
        row("valueOf", 1, parse),
        row("toString", 1, to_string),
        COMPARE,
        MAX,
        MIN,
        SUM,
        IS_NAN,
        IS_INFINITE,
    ])
    .methods(FLOATING);

const COMPARE: ClassRow =
    row("compare", 2, |_, _, args| Ok(Value::Int(args[0].order(&args[1]).map_or(0, |order| order as i32))));
const MAX: ClassRow = row("max", 2, |m, _, args| math::greatest(m, args.to_vec()));
const MIN: ClassRow = row("min", 2, |m, _, args| math::least(m, args.to_vec()));
const SUM: ClassRow = row("sum", 2, |m, _, args| operate(m, Binary::Add, &args[0], &args[1]));
const SIGNUM: ClassRow = row("signum", 1, |_, _, args| {
    Ok(Value::Int(args[0].order(&Value::Int(0)).map_or(0, |order| order as i32)))
});
const ABS: ClassRow = row("abs", 1, |m, _, args| absolute(m, &args[0]));
const IS_NAN: ClassRow =
    row("isNaN", 1, |_, _, args| Ok(Value::Bool(args[0].to_double().is_some_and(f64::is_nan))));
const IS_INFINITE: ClassRow =
    row("isInfinite", 1, |_, _, args| Ok(Value::Bool(args[0].to_double().is_some_and(f64::is_infinite))));

/// The type of numbers of the class whose method is called.
fn kind_of(class: &Value) -> Type {
    match class {
        Value::Class(class) => Type::of_class(*class),
        other => Type::of_class(other.class()),
    }
}

/// `new Integer("1")` and its like.
pub(crate) fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args {
        [value] if value.is_number() => number_as(value, &kind.as_type()),
        [value] => {
            let text = m.text(value)?;
            parse_number(&text, &kind.as_type())
        }
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    }
}

/// `Integer.parseInt` and its like, with a radix or without.
pub(crate) fn parse(m: &mut Machine<'_>, class: &Value, args: &[Value]) -> Run {
    let kind = kind_of(class);
    let value = &args[0];
    if value.is_null() {
        return match kind {
            Type::Double | Type::Float | Type::Decimal | Type::Big => thrown_bare("NullPointerException"),
            _ => thrown("NumberFormatException", "null"),
        };
    }
    if value.is_number() {
        return number_as(value, &kind);
    }
    let found = m.text(value)?;
    let Some(radix) = args.get(1).and_then(Value::to_long) else { return parse_number(&found, &kind) };
    let number = u32::try_from(radix)
        .ok()
        .filter(|radix| (2..=36).contains(radix))
        .and_then(|radix| text::parse_long(&found, radix));
    match number {
        Some(number) => number_as(&Value::Long(number), &kind),
        None => thrown("NumberFormatException", format!("For input string: \"{found}\"")),
    }
}

/// `Long.decode` and its like: a text in decimal, hexadecimal (`0x`, `#`) or octal (`0`) digits.
fn decode(m: &mut Machine<'_>, class: &Value, args: &[Value]) -> Run {
    let found = m.text(&args[0])?;
    let sign = if found.starts_with('-') { "-" } else { "" };
    let digits = found.strip_prefix(['-', '+']).unwrap_or(&found);
    let hexadecimal = ["0x", "0X", "#"].iter().find_map(|start| digits.strip_prefix(start));
    let octal = digits.strip_prefix('0').filter(|rest| !rest.is_empty());
    let (digits, radix) = match (hexadecimal, octal) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 8),
        (None, None) => (digits, 10),
    };
    match text::parse_long(&format!("{sign}{digits}"), radix).filter(|_| !digits.starts_with(['-', '+'])) {
        Some(number) => number_as(&Value::Long(number), &kind_of(class)),
        None => thrown("NumberFormatException", format!("For input string: \"{found}\"")),
    }
}

fn to_string(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    match args {
        [number, radix] => m.new_text(in_radix(&whole(number), radix.to_long().unwrap_or(10))),
        _ => m.text(&args[0]).map(Value::Text),
    }
}

fn bits(value: &Value) -> u32 {
    value.to_long().unwrap_or(0) as u32
}

fn long_bits(value: &Value) -> u64 {
    value.to_long().unwrap_or(0).cast_unsigned()
}

/// A number without its fraction; 0 for what is no finite number.
fn whole(of: &Value) -> BigInt {
    of.to_big().unwrap_or(BigInt::ZERO)
}

/// The number without its sign.
pub(crate) fn absolute(m: &mut Machine<'_>, of: &Value) -> Run {
    if of.order(&Value::Int(0)) == Some(Ordering::Less) {
        of_numbers(m, Binary::Subtract, &Value::Int(0), of)
    } else {
        Ok(of.clone())
    }
}

/// `intdiv`, and `divide` of `BigInteger`.
pub(crate) fn whole_quotient(m: &mut Machine<'_>, of: &Value, other: &Value) -> Run {
    match (of.to_big(), other.to_big()) {
        (Some(_), Some(b)) if b == BigInt::ZERO => thrown("ArithmeticException", "/ by zero"),
        (Some(a), Some(b)) if matches!(of, Value::Big(_)) => crate::model::meaning::operate::big(m, a / b),
        (Some(a), Some(b)) => Ok(Value::whole(a / b)),
        _ => thrown("IllegalArgumentException", "intdiv needs two numbers"),
    }
}

fn scale(digits: i64) -> f64 {
    10_f64.powi(digits.clamp(-300, 300) as i32)
}

fn rounded(of: &Value, digits: Option<i64>) -> Value {
    let number = of.to_double().unwrap_or(f64::NAN);
    match digits {
        None => Value::Long((number + 0.5).floor() as i64),
        Some(digits) => Value::Double((number * scale(digits) + 0.5).floor() / scale(digits)),
    }
}

fn truncated(of: &Value, digits: Option<i64>) -> Value {
    let number = of.to_double().unwrap_or(f64::NAN);
    Value::Double(digits.map_or(number.trunc(), |digits| (number * scale(digits)).trunc() / scale(digits)))
}

/// Numbers that a closure is called with, both ends included.
struct Steps {
    from: i64,
    to: i64,
    by: i64,
}

/// `3.times { }`, `1.upto(3) { }`, `1.step(10, 3) { }`.
fn counted(m: &mut Machine<'_>, of: &Value, name: &str, args: &[Value], steps: Steps) -> Run {
    let Some(Value::Closure(closure)) = args.last() else { return m.no_method(of, name, args) };
    let Steps { from: mut at, to, by } = steps;
    if by == 0 {
        return thrown("GroovyRuntimeException", "Infinite loop in step()");
    }
    while if by > 0 { at <= to } else { at >= to } {
        m.call_closure(closure, &[i32::try_from(at).map_or(Value::Long(at), Value::Int)])?;
        let Some(next) = at.checked_add(by) else { break };
        at = next;
    }
    Ok(Value::Null)
}

fn in_radix(value: &BigInt, radix: i64) -> String {
    let radix = u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let digits = value.magnitude().to_str_radix(radix);
    if value.is_negative() { format!("-{digits}") } else { digits }
}

/// JavaScript's `toFixed`.
fn fixed(value: f64, digits: i64) -> String {
    let digits = digits.clamp(0, 100) as usize;
    let exact =
        Decimal::from_double(value).and_then(|decimal| decimal.with_scale(digits as i32, Rounding::HalfUp));
    exact.map_or_else(|| format!("{value}"), |decimal| decimal.plain_text())
}
