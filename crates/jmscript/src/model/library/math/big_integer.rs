//! `BigInteger`.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::lang::number;
use crate::model::machine::Machine;
use crate::model::meaning::operate::{big, operate};
use crate::model::tree::{Binary, Type};
use crate::model::value::Value;
use num_bigint::{BigInt, Sign};
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.math", "BigInteger")
    .extends(&number::KIND)
    .converts(|| Type::Big)
    .creates(create)
    .constants(|name| {
        let number = match name {
            "ZERO" => 0,
            "ONE" => 1,
            "TWO" => 2,
            "TEN" => 10,
            _ => return None,
        };
        Some(Value::Big(Rc::new(BigInt::from(number))))
    })
    .statics(&[rows("valueOf", 1, 2, number::parse)])
    .methods(&[
        row("divide", 1, |m, of, args| number::whole_quotient(m, of, &args[0])),
        row("pow", 1, |m, of, args| operate(m, Binary::Power, of, &args[0])),
        row("remainder", 1, |m, of, args| operate(m, Binary::Remainder, of, &args[0])),
    ]);

fn create(m: &mut Machine<'_>, kind: &'static Kind, args: &[Value]) -> Run {
    match args {
        [sign, Value::Bytes(bytes)] => {
            let sign = if sign.to_long() == Some(-1) { Sign::Minus } else { Sign::Plus };
            big(m, BigInt::from_bytes_be(sign, &bytes.get()))
        }
        [text, radix] => {
            let text = m.text(text)?;
            let radix = radix
                .to_long()
                .and_then(|radix| u32::try_from(radix).ok())
                .filter(|radix| (2..=36).contains(radix))
                .unwrap_or(10);
            match BigInt::parse_bytes(text.get(..2_000).unwrap_or(&text).as_bytes(), radix) {
                Some(value) => big(m, value),
                None => thrown("NumberFormatException", format!("For input string: \"{text}\"")),
            }
        }
        [Value::Bytes(bytes)] => big(m, BigInt::from_signed_bytes_be(&bytes.get())),
        [_] => number::create(m, kind, args),
        _ => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    }
}
