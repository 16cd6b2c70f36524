//! `BigDecimal`.

use super::rounding_mode::{self, rounding};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Kind, row, rows};
use crate::model::library::constant::Constant;
use crate::model::library::lang::number;
use crate::model::machine::Machine;
use crate::model::meaning::operate::operate;
use crate::model::tree::{Binary, Type};
use crate::model::value::Value;
use crate::number::{Decimal, Rounding};
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.math", "BigDecimal")
    .extends(&number::KIND)
    .converts(|| Type::Decimal)
    .creates(create)
    .constants(|name| {
        let number = match name {
            "ZERO" => 0,
            "ONE" => 1,
            "TEN" => 10,
            name => {
                let mode = name.strip_prefix("ROUND_").filter(|mode| Rounding::named(mode).is_some())?;
                return Some(Constant::value(&rounding_mode::KIND, mode));
            }
        };
        Some(Value::Decimal(Rc::new(Decimal::new(number, 0))))
    })
    .statics(&[rows("valueOf", 1, 2, value_of)])
    .methods(&[
        rows("setScale", 1, 2, |_, of, args| {
            let mode = args.get(1).and_then(rounding).unwrap_or(Rounding::Unnecessary);
            exact(decimal(of).with_scale(int(&args[0]), mode))
        }),
        row("round", 0, |_, of, _| exact(decimal(of).with_scale(0, Rounding::HalfUp))),
        row("round", 1, |m, of, args| match rounding(&args[0]) {
            None => exact(decimal(of).with_scale(int(&args[0]), Rounding::HalfUp)),
            Some(_) => m.no_method(of, "round", args),
        }),
        rows("trunc", 0, 1, |_, of, args| {
            exact(decimal(of).with_scale(args.first().map_or(0, int), Rounding::Down))
        }),
        row("divide", 1, |m, of, args| operate(m, Binary::Divide, of, &args[0])),
        rows("divide", 2, 3, divide),
        row("remainder", 1, |_, of, args| exact(decimal(of).remainder(&other(&args[0])))),
        row("stripTrailingZeros", 0, |_, of, _| exact(Some(decimal(of).stripped()))),
        row("pow", 1, |m, of, args| operate(m, Binary::Power, of, &args[0])),
        row("scale", 0, |_, of, _| Ok(Value::Int(decimal(of).scale()))),
        row("unscaledValue", 0, |_, of, _| Ok(Value::Big(Rc::new(decimal(of).unscaled().clone())))),
        row("toPlainString", 0, |m, of, _| m.new_text(decimal(of).plain_text())),
    ]);

fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args {
        // All digits of the binary fraction, as Java has it.
        [Value::Double(number)] => match Decimal::parse(&format!("{number:.60}")) {
            Some(decimal) => exact(Some(decimal.stripped())),
            None => thrown("NumberFormatException", "Infinite or NaN"),
        },
        args => number::create(m, kind, args.get(..1).unwrap_or(args)),
    }
}

fn value_of(m: &mut Machine<'_>, class: &Value, args: &[Value]) -> Run {
    match args {
        [unscaled, scale] => {
            let unscaled = unscaled.to_long().unwrap_or(0);
            exact(Some(Decimal::new(unscaled, int(scale))))
        }
        args => number::parse(m, class, args),
    }
}

fn divide(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let mode = args.iter().find_map(rounding).unwrap_or(Rounding::HalfUp);
    let scale = if args.len() > 2 { int(&args[1]) } else { decimal(of).scale() };
    exact(decimal(of).divided_to(&other(&args[0]), scale, mode))
}

fn decimal(of: &Value) -> &Decimal {
    match of {
        Value::Decimal(decimal) => decimal,
        other => unreachable!("{other:?} is no receiver of BigDecimal's methods"),
    }
}

fn other(value: &Value) -> Decimal {
    value.to_decimal().unwrap_or_else(|| Decimal::new(0, 0))
}

fn int(value: &Value) -> i32 {
    value.to_long().unwrap_or(0) as i32
}

fn exact(result: Option<Decimal>) -> Run {
    match result {
        Some(value) => Ok(Value::Decimal(Rc::new(value))),
        None => thrown("ArithmeticException", "Rounding necessary"),
    }
}
