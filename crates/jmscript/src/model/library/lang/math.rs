//! `Math`.

use super::{number, object};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{ClassRow, Kind, row};
use crate::model::library::util::random;
use crate::model::machine::Machine;
use crate::model::meaning::order;
use crate::model::value::Value;
use std::cmp::Ordering;
use std::f64::consts;

/// A function of one number.
macro_rules! of_one {
    ($name:literal, $function:expr) => {
        row($name, 1, |_, _, args| {
            let function: fn(f64) -> f64 = $function;
            Ok(Value::Double(function(double(&args[0]))))
        })
    };
}

/// A function of two numbers.
macro_rules! of_two {
    ($name:literal, $function:expr) => {
        row($name, 2, |_, _, args| {
            let function: fn(f64, f64) -> f64 = $function;
            Ok(Value::Double(function(double(&args[0]), double(&args[1]))))
        })
    };
}

const ROWS: &[ClassRow] = &[
    row("random", 0, |m, _, _| Ok(Value::Double(random::double(m, None)))),
    row("round", 1, round),
    of_one!("floor", f64::floor),
    of_one!("ceil", f64::ceil),
    of_one!("rint", f64::round_ties_even),
    of_one!("sqrt", f64::sqrt),
    of_one!("cbrt", f64::cbrt),
    of_one!("exp", f64::exp),
    of_one!("log", f64::ln),
    of_one!("log10", f64::log10),
    of_one!("sin", f64::sin),
    of_one!("cos", f64::cos),
    of_one!("tan", f64::tan),
    of_one!("atan", f64::atan),
    of_one!("asin", f64::asin),
    of_one!("acos", f64::acos),
    of_one!("toRadians", f64::to_radians),
    of_one!("toDegrees", f64::to_degrees),
    of_one!("signum", f64::signum),
    of_two!("pow", f64::powf),
    of_two!("atan2", f64::atan2),
    of_two!("hypot", f64::hypot),
    row("abs", 1, |m, _, args| number::absolute(m, &args[0])),
    row("floorMod", 2, |_, _, args| {
        let Floored { rest, divisor, is_between, .. } = floored(args)?;
        Ok(sized(args, if is_between { rest + divisor } else { rest }))
    }),
    row("floorDiv", 2, |_, _, args| {
        let Floored { quotient, is_between, .. } = floored(args)?;
        Ok(sized(args, quotient - i64::from(is_between)))
    }),
    row("addExact", 2, |_, _, args| exact(args, i64::checked_add)),
    row("subtractExact", 2, |_, _, args| exact(args, i64::checked_sub)),
    row("multiplyExact", 2, |_, _, args| exact(args, i64::checked_mul)),
    row("toIntExact", 1, |_, _, args| match i32::try_from(long(&args[0])) {
        Ok(int) => Ok(Value::Int(int)),
        Err(_) => thrown("ArithmeticException", "integer overflow"),
    }),
    crate::model::class::rows("max", 1, crate::model::class::MANY, |m, _, args| greatest(m, args.to_vec())),
    crate::model::class::rows("min", 1, crate::model::class::MANY, |m, _, args| least(m, args.to_vec())),
];

pub(crate) static KIND: Kind = Kind::new("java.lang", "Math")
    .extends(&object::KIND)
    .constants(|name| match name {
        "PI" => Some(Value::Double(consts::PI)),
        "E" => Some(Value::Double(consts::E)),
        _ => None,
    })
    .statics(ROWS);

fn double(value: &Value) -> f64 {
    value.to_double().unwrap_or(f64::NAN)
}

fn long(value: &Value) -> i64 {
    value.to_long().unwrap_or(0)
}

/// The greatest of some values; null of none.
pub(crate) fn greatest(m: &mut Machine<'_>, values: Vec<Value>) -> Run {
    order::extreme(m, values, Ordering::Greater)
}

/// The least of some values; null of none.
pub(crate) fn least(m: &mut Machine<'_>, values: Vec<Value>) -> Run {
    order::extreme(m, values, Ordering::Less)
}

fn round(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let rounded = (double(&args[0]) + 0.5).floor();
    Ok(match args[0] {
        _ if m.dialect.has_only_doubles() => Value::Double(rounded),
        Value::Float(_) => Value::Int(rounded as i32),
        _ => Value::Long(rounded as i64),
    })
}

/// A division towards zero, and whether the exact quotient lies between two whole numbers below zero.
struct Floored {
    quotient: i64,
    rest: i64,
    divisor: i64,
    is_between: bool,
}

fn floored(args: &[Value]) -> Run<Floored> {
    let dividend = long(&args[0]);
    let divisor = long(&args[1]);
    if divisor == 0 {
        return thrown("ArithmeticException", "/ by zero");
    }
    let rest = dividend.wrapping_rem(divisor);
    let is_between = rest != 0 && (rest < 0) != (divisor < 0);
    Ok(Floored { quotient: dividend.wrapping_div(divisor), rest, divisor, is_between })
}

fn are_ints(args: &[Value]) -> bool {
    args.iter().all(|arg| matches!(arg, Value::Int(_)))
}

fn sized(args: &[Value], value: i64) -> Value {
    if are_ints(args) { Value::Int(value as i32) } else { Value::Long(value) }
}

fn exact(args: &[Value], function: fn(i64, i64) -> Option<i64>) -> Run {
    match function(long(&args[0]), long(&args[1])) {
        Some(value) if are_ints(args) => match i32::try_from(value) {
            Ok(int) => Ok(Value::Int(int)),
            Err(_) => thrown("ArithmeticException", "integer overflow"),
        },
        Some(value) => Ok(Value::Long(value)),
        None => thrown("ArithmeticException", "long overflow"),
    }
}
