//! `Character`.

use super::object;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, Native, row};
use crate::model::machine::Machine;
use crate::model::tree::Type;
use crate::model::value::Value;

/// A question about a character, of one or as a method of the class.
macro_rules! question {
    ($test:expr) => {{
        const ASK: Native = |m, of, args| {
            let test: fn(char) -> bool = $test;
            match character(args.first().unwrap_or(of)) {
                Some(c) => Ok(Value::Bool(test(c))),
                None => m.no_method(of, "is", args),
            }
        };
        ASK
    }};
}

pub(crate) static KIND: Kind = Kind::new("java.lang", "Character")
    .extends(&object::KIND)
    .converts(|| Type::Char)
    .statics(&[
        row("toString", 1, |m, of, args| with(m, of, args, |c| Value::text(c.to_string()))),
        row("valueOf", 1, |m, of, args| with(m, of, args, Value::Char)),
        row("getNumericValue", 1, |m, of, args| {
            with(m, of, args, |c| Value::Int(c.to_digit(36).map_or(-1, |digit| digit as i32)))
        }),
        row("toUpperCase", 1, |m, of, args| with(m, of, args, |c| Value::Char(upper(c)))),
        row("toLowerCase", 1, |m, of, args| with(m, of, args, |c| Value::Char(lower(c)))),
        row("isDigit", 1, question!(char::is_numeric)),
        row("isLetter", 1, question!(char::is_alphabetic)),
        row("isLetterOrDigit", 1, question!(char::is_alphanumeric)),
        row("isUpperCase", 1, question!(char::is_uppercase)),
        row("isLowerCase", 1, question!(char::is_lowercase)),
        row("isWhitespace", 1, question!(char::is_whitespace)),
    ])
    .methods(&[
        row("charValue", 0, |_, of, _| Ok(of.clone())),
        row("toString", 0, |m, of, _| with(m, of, &[], |c| Value::text(c.to_string()))),
        row("toUpperCase", 0, |m, of, _| with(m, of, &[], |c| Value::Char(upper(c)))),
        row("toLowerCase", 0, |m, of, _| with(m, of, &[], |c| Value::Char(lower(c)))),
        row("toInteger", 0, |m, of, _| {
            with(m, of, &[], |c| Value::Int(c.to_digit(10).map_or(u32::from(c) as i32, |digit| digit as i32)))
        }),
        row("intValue", 0, |m, of, _| with(m, of, &[], |c| Value::Int(u32::from(c) as i32))),
        row("equals", 1, |_, of, args| {
            Ok(Value::Bool(match (of, &args[0]) {
                (Value::Char(a), Value::Char(b)) => a == b,
                _ => false,
            }))
        }),
        row("compareTo", 1, |m, of, args| match (of, &args[0]) {
            (Value::Char(a), Value::Char(b)) => Ok(Value::Int(u32::from(*a) as i32 - u32::from(*b) as i32)),
            _ => m.no_method(of, "compareTo", args),
        }),
        row("isDigit", 0, question!(char::is_numeric)),
        row("isLetter", 0, question!(char::is_alphabetic)),
        row("isLetterOrDigit", 0, question!(char::is_alphanumeric)),
        row("isUpperCase", 0, question!(char::is_uppercase)),
        row("isLowerCase", 0, question!(char::is_lowercase)),
        row("isWhitespace", 0, question!(char::is_whitespace)),
    ]);

/// The character that a value is: a number is one, and a text its first.
fn character(value: &Value) -> Option<char> {
    match value {
        Value::Char(c) => Some(*c),
        Value::Int(code) => char::from_u32(*code as u32),
        other => other.as_text().and_then(|text| text.chars().next()),
    }
}

fn with(m: &mut Machine<'_>, of: &Value, args: &[Value], change: fn(char) -> Value) -> Run {
    match character(args.first().unwrap_or(of)) {
        Some(c) => Ok(change(c)),
        None => m.no_method(of, "valueOf", args),
    }
}

fn upper(c: char) -> char {
    c.to_uppercase().next().unwrap_or(c)
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}
