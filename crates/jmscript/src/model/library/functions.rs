//! Functions that scripts call without a receiver: `println`, `parseInt` and their like.

use crate::coding;
use crate::dialect::Dialect;
use crate::model::abrupt::Run;
use crate::model::library::groovy::time_category;
use crate::model::library::lang::object::print;
use crate::model::machine::Machine;
use crate::model::meaning::{format, javascript};
use crate::model::tree::Binding;
use crate::model::value::Value;
use std::rc::Rc;

/// A function: its arguments may be any number.
pub(crate) type Function = fn(&mut Machine<'_>, &[Value]) -> Run;

/// A function, and the languages that have it.
struct FunctionRow {
    name: &'static str,
    languages: &'static [Dialect],
    run: Function,
}

const GROOVY: &[Dialect] = &[Dialect::Groovy];
const JAVA: &[Dialect] = &[Dialect::Groovy, Dialect::BeanShell];
const JAVASCRIPT: &[Dialect] = &[Dialect::JavaScript];
const ALL: &[Dialect] = &[Dialect::Groovy, Dialect::BeanShell, Dialect::JavaScript, Dialect::Jexl];

const ROWS: &[FunctionRow] = &[
    FunctionRow { name: "println", languages: JAVA, run: |m, args| print_all(m, args, "\n") },
    FunctionRow { name: "print", languages: JAVA, run: |m, args| print_all(m, args, "") },
    FunctionRow {
        name: "printf",
        languages: GROOVY,
        run: |m, args| {
            let text = format::format(m, args)?;
            m.host.print(&text);
            Ok(Value::Null)
        },
    },
    FunctionRow {
        name: "sprintf",
        languages: GROOVY,
        run: |m, args| {
            let text = format::format(m, args)?;
            m.new_text(text)
        },
    },
    FunctionRow {
        name: "sleep",
        languages: GROOVY,
        run: |m, args| {
            m.sleep(args.first().and_then(Value::to_long).unwrap_or(0))?;
            Ok(Value::Null)
        },
    },
    FunctionRow { name: "use", languages: GROOVY, run: time_category::use_category },
    FunctionRow { name: "getBinding", languages: ALL, run: |_, _| Ok(Value::Bound(Binding::Variables)) },
    FunctionRow {
        name: "parseInt",
        languages: JAVASCRIPT,
        run: |m, args| {
            let text = m.text(first(args))?;
            Ok(Value::Double(leading_int(&text, args.get(1).and_then(Value::to_long))))
        },
    },
    FunctionRow {
        name: "parseFloat",
        languages: JAVASCRIPT,
        run: |m, args| {
            let text = m.text(first(args))?;
            Ok(Value::Double(leading_float(text.trim())))
        },
    },
    FunctionRow {
        name: "Number",
        languages: JAVASCRIPT,
        run: |m, args| match args.first() {
            Some(value) => javascript::number(m, value).map(Value::Double),
            None => Ok(Value::Double(0.0)),
        },
    },
    FunctionRow {
        name: "String",
        languages: JAVASCRIPT,
        run: |m, args| m.text(first(args)).map(Value::Text),
    },
    FunctionRow {
        name: "Boolean",
        languages: JAVASCRIPT,
        run: |m, args| m.is_true(first(args)).map(Value::Bool),
    },
    FunctionRow {
        name: "isNaN",
        languages: JAVASCRIPT,
        run: |m, args| Ok(Value::Bool(javascript::number(m, first(args))?.is_nan())),
    },
    FunctionRow {
        name: "isFinite",
        languages: JAVASCRIPT,
        run: |m, args| Ok(Value::Bool(javascript::number(m, first(args))?.is_finite())),
    },
    FunctionRow { name: "encodeURIComponent", languages: JAVASCRIPT, run: encode_component },
    FunctionRow {
        name: "decodeURIComponent",
        languages: JAVASCRIPT,
        run: |m, args| {
            let text = m.text(first(args))?;
            let decoded = coding::url_decoded(&text.replace('+', "%2B"));
            match decoded {
                Some(decoded) => m.new_text(decoded),
                None => crate::model::abrupt::thrown("EcmaError", "URIError: Malformed URI sequence."),
            }
        },
    },
    FunctionRow {
        name: "print",
        languages: JAVASCRIPT,
        run: |m, args| {
            print(m, first(args), "\n")?;
            Ok(Value::Void)
        },
    },
];

/// The function of a name in a language.
pub(crate) fn named(name: &str, dialect: Dialect) -> Option<Function> {
    ROWS.iter().find(|row| row.name == name && row.languages.contains(&dialect)).map(|row| row.run)
}

fn first(args: &[Value]) -> &Value {
    args.first().unwrap_or(&Value::Void)
}

fn print_all(m: &mut Machine<'_>, args: &[Value], end: &str) -> Run {
    let empty = Value::Text(Rc::from(""));
    print(m, args.first().unwrap_or(&empty), end)
}

fn encode_component(m: &mut Machine<'_>, args: &[Value]) -> Run {
    let text = m.text(first(args))?;
    m.take(text.len() * 3)?;
    let mut encoded = coding::url_encoded(&text).replace('+', "%20");
    for (written, sign) in [("%21", "!"), ("%7E", "~"), ("%28", "("), ("%29", ")"), ("%27", "'")] {
        encoded = encoded.replace(written, sign);
    }
    m.new_text(encoded)
}

fn leading_int(found: &str, radix: Option<i64>) -> f64 {
    let found = found.trim();
    let (sign, digits) = match found.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, found.strip_prefix('+').unwrap_or(found)),
    };
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
        .filter(|_| matches!(radix, None | Some(16)));
    let radix =
        if hex.is_some() { 16 } else { u32::try_from(radix.unwrap_or(10)).unwrap_or(10).clamp(2, 36) };
    let digits = hex.unwrap_or(digits);
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if length == 0 {
        return f64::NAN;
    }
    sign * digits[..length]
        .chars()
        .fold(0.0, |sum, c| sum * f64::from(radix) + f64::from(c.to_digit(radix).unwrap_or(0)))
}

fn leading_float(found: &str) -> f64 {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let most = found.find(|c| !is_part(c)).unwrap_or(found.len());
    let fits = (1..=most.min(64)).rev().find_map(|length| found[..length].parse::<f64>().ok());
    fits.unwrap_or(f64::NAN)
}
