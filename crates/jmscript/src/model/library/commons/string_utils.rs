//! `StringUtils` of Commons Lang: like the texts' own methods, but null is let through.

use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, Kind, MANY, Native, row, rows};
use crate::model::library::lang::{object, string, string_change};
use crate::model::machine::Machine;
use crate::model::value::Value;
use std::rc::Rc;

/// A question about a text, for which null is an empty one.
macro_rules! question {
    ($test:expr) => {{
        const ASK: Native = |m, _, args| {
            let test: fn(&str) -> bool = $test;
            let text = if args[0].is_null() { Rc::from("") } else { m.text(&args[0])? };
            Ok(Value::Bool(test(&text)))
        };
        ASK
    }};
}

/// A method that texts have themselves; of null, null.
macro_rules! of_text {
    ($name:literal, $least:literal, $most:expr) => {
        rows($name, $least + 1, $most + 1, |m, _, args| match &args[0] {
            Value::Null | Value::Void => Ok(Value::Null),
            text => {
                let text = Value::Text(m.text(text)?);
                m.invoke(&text, $name, &args[1..])
            }
        })
    };
}

const ROWS: &[ClassRow] = &[
    row("isEmpty", 1, question!(str::is_empty)),
    row("isNotEmpty", 1, question!(|text| !text.is_empty())),
    row("isBlank", 1, question!(|text| text.trim().is_empty())),
    row("isNotBlank", 1, question!(|text| !text.trim().is_empty())),
    row("isNumeric", 1, question!(|text| !text.is_empty() && text.chars().all(char::is_numeric))),
    row("isAlpha", 1, question!(|text| !text.is_empty() && text.chars().all(char::is_alphabetic))),
    row("isAlphanumeric", 1, question!(|text| !text.is_empty() && text.chars().all(char::is_alphanumeric))),
    rows("leftPad", 2, 3, |m, _, args| padded(m, args, |missing| missing)),
    rows("rightPad", 2, 3, |m, _, args| padded(m, args, |_| 0)),
    rows("center", 2, 3, |m, _, args| padded(m, args, |missing| missing / 2)),
    row("equals", 2, |_, _, args| Ok(Value::Bool(args[0].equals_loosely(&args[1])))),
    rows("join", 1, MANY, join),
    row("defaultString", 1, |m, _, args| or(m, &args[0], None)),
    row("defaultString", 2, |m, _, args| or(m, &args[0], Some(&args[1]))),
    row("countMatches", 2, |m, _, args| {
        let [text, part] = [&args[0], &args[1]];
        if text.is_null() { Ok(Value::Int(0)) } else { m.invoke(text, "count", std::slice::from_ref(part)) }
    }),
    row("trimToEmpty", 1, |m, _, args| {
        let text = or(m, &args[0], None)?;
        m.invoke(&text, "trim", &[])
    }),
    row("removeStart", 2, |m, _, args| without(m, args, |text, part| text.strip_prefix(part))),
    row("removeEnd", 2, |m, _, args| without(m, args, |text, part| text.strip_suffix(part))),
    row("deleteWhitespace", 1, |m, _, args| {
        let text = or(m, &args[0], None)?;
        let text: String = m.text(&text)?.chars().filter(|c| !c.is_whitespace()).collect();
        m.new_text(text)
    }),
    // By blanks where no separators are given; several of them are one.
    row("split", 1, |m, _, args| split(m, &args[0], None)),
    row("split", 2, |m, _, args| split(m, &args[0], Some(&args[1]))),
    of_text!("capitalize", 0, 0),
    of_text!("uncapitalize", 0, 0),
    of_text!("reverse", 0, 0),
    of_text!("trim", 0, 0),
    of_text!("strip", 0, 0),
    of_text!("length", 0, 0),
    of_text!("toUpperCase", 0, 0),
    of_text!("toLowerCase", 0, 0),
    of_text!("contains", 1, 1),
    of_text!("startsWith", 1, 1),
    of_text!("endsWith", 1, 1),
    of_text!("equalsIgnoreCase", 1, 1),
    of_text!("indexOf", 1, 2),
    of_text!("lastIndexOf", 1, 2),
    of_text!("substring", 1, 2),
    of_text!("substringBefore", 1, 1),
    of_text!("substringAfter", 1, 1),
    of_text!("substringBeforeLast", 1, 1),
    of_text!("substringAfterLast", 1, 1),
    of_text!("substringBetween", 2, 2),
    of_text!("replace", 2, 2),
    of_text!("replaceAll", 2, 2),
    of_text!("replaceFirst", 2, 2),
    of_text!("repeat", 1, 1),
];

pub(crate) static KIND: Kind =
    Kind::new("org.apache.commons.lang3", "StringUtils").extends(&object::KIND).statics(ROWS);

fn or(m: &mut Machine<'_>, text: &Value, otherwise: Option<&Value>) -> Run {
    match (text.is_null(), otherwise) {
        (true, Some(otherwise)) => Ok(otherwise.clone()),
        (true, None) => Ok(Value::from("")),
        (false, _) => m.text(text).map(Value::Text),
    }
}

fn padded(m: &mut Machine<'_>, args: &[Value], before: fn(usize) -> usize) -> Run {
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    string_change::padded(m, &args[0], &args[1..], before)
}

fn join(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let between = args.get(1).cloned().unwrap_or_else(|| Value::from(""));
    m.invoke(&args[0], "join", &[between])
}

fn without(m: &mut Machine<'_>, args: &[Value], cut: for<'t> fn(&'t str, &str) -> Option<&'t str>) -> Run {
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    let text = string::receiver(m, &args[0])?;
    let part = m.text(&args[1])?;
    match cut(&text, &part) {
        Some(rest) => m.new_text(rest),
        None => Ok(Value::Text(text)),
    }
}

fn split(m: &mut Machine<'_>, text: &Value, signs: Option<&Value>) -> Run {
    if text.is_null() {
        return Ok(Value::Null);
    }
    let found = m.invoke(text, "tokenize", signs.map_or(&[], std::slice::from_ref))?;
    m.invoke(&found, "toArray", &[])
}
