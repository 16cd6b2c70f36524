//! Methods of texts that are JavaScript's own, or mean something else there.

use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, row, rows};
use crate::model::library::lang::string::receiver;
use crate::model::library::lang::string_change::replace_pattern;
use crate::model::library::regex::pattern::Pattern;
use crate::model::machine::Machine;
use crate::model::meaning::javascript;
use crate::model::meaning::operate::joined;
use crate::model::meaning::patterns;
use crate::model::value::{Value, text};

pub(crate) const METHODS: &[ClassRow] = &[
    rows("charAt", 0, 1, |m, of, args| {
        let c = character(m, of, args)?;
        m.new_text(c.map_or_else(String::new, String::from))
    }),
    rows("charCodeAt", 0, 1, |m, of, args| {
        let c = character(m, of, args)?;
        Ok(Value::Double(c.map_or(f64::NAN, |c| f64::from(u32::from(c)))))
    }),
    rows("substring", 0, 2, substring),
    rows("slice", 0, 2, |m, of, args| {
        let text = receiver(m, of)?;
        let length = text::len(&text);
        let from = javascript::clamped(m, args.first(), length, 0)?;
        let to = javascript::clamped(m, args.get(1), length, length)?;
        part(m, &text, from, to.max(from))
    }),
    rows("substr", 1, 2, |m, of, args| {
        let text = receiver(m, of)?;
        let length = text::len(&text);
        let from = javascript::clamped(m, args.first(), length, 0)?;
        let count = args.get(1).and_then(Value::to_long);
        let to = count.map_or(length, |count| from + usize::try_from(count).unwrap_or(0));
        part(m, &text, from, to.min(length))
    }),
    row("replace", 2, |m, of, args| {
        if args[0].as_object::<Pattern>().is_some() {
            return replace_pattern(m, of, args, usize::MAX);
        }
        let text = receiver(m, of)?;
        let from = m.text(&args[0])?;
        let to = m.text(&args[1])?;
        m.new_text(text.replacen(&*from, &to, 1))
    }),
    rows("split", 0, 2, split),
    row("search", 1, |m, of, args| {
        let text = receiver(m, of)?;
        let pattern = patterns::pattern_of(m, &args[0])?;
        patterns::search(m, &text)?;
        let found = pattern.regex.find(&text);
        Ok(Value::Double(found.map_or(-1.0, |found| text::unit_of(&text, found.start()) as f64)))
    }),
    rows("concat", 0, 1, |m, of, args| {
        let text = Value::Text(receiver(m, of)?);
        joined(m, &text, args.first().unwrap_or(&Value::Void))
    }),
];

/// The character at a place; none beyond the text.
fn character(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run<Option<char>> {
    let text = receiver(m, of)?;
    let at = args.first().and_then(Value::to_long).unwrap_or(0);
    let at = usize::try_from(at).ok().filter(|at| *at < text::len(&text));
    Ok(at.and_then(|at| text::char_at(&text, at)))
}

fn part(m: &mut Machine<'_>, of: &str, from: usize, to: usize) -> Run {
    m.new_text(text::slice(of, from, to).expect("both lie within the text"))
}

/// Places below zero are the beginning, and they may come in any order.
fn substring(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let length = text::len(&text);
    let plain: Vec<Value> =
        args.iter().map(|value| Value::Double(value.to_double().unwrap_or(0.0).max(0.0))).collect();
    let from = javascript::clamped(m, plain.first(), length, 0)?;
    let to = javascript::clamped(m, plain.get(1), length, length)?;
    part(m, &text, from.min(to), from.max(to))
}

fn split(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let Some(by) = args.first() else { return m.new_list(vec![Value::Text(text)]) };
    if by.as_object::<Pattern>().is_some() {
        let pattern = patterns::pattern_of(m, by)?;
        return patterns::split(m, &text, &pattern, -1);
    }
    let by = m.text(by)?;
    m.take(text.len() * 16)?;
    let parts: Vec<Value> = if by.is_empty() {
        text.chars().map(|c| Value::text(c.to_string())).collect()
    } else {
        text.split(&*by).map(Value::from).collect()
    };
    m.new_list(parts)
}
