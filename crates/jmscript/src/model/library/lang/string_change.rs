//! Changed texts.

use super::string::receiver;
use crate::model::abrupt::Run;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, list_of_kind};
use crate::model::meaning::operate::{joined, operate};
use crate::model::meaning::{format, order, patterns};
use crate::model::tree::Binary;
use crate::model::value::{ListKind, Value, text};
use std::rc::Rc;

/// The text that a function makes.
pub(super) fn changed(m: &mut Machine<'_>, of: &Value, change: fn(&str) -> String) -> Run {
    let text = receiver(m, of)?;
    m.new_text(change(&text))
}

/// The same text where there was nothing to take away.
pub(super) fn trimmed(m: &mut Machine<'_>, of: &Value, trim: fn(&str) -> &str) -> Run {
    let text = receiver(m, of)?;
    let found = trim(&text);
    if found.len() == text.len() { Ok(Value::Text(text)) } else { m.new_text(found) }
}

/// `String.join(between, a, b, c)`, `String.join(between, list)`.
pub(super) fn join(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let parts = match &args[1..] {
        [one @ (Value::List(_) | Value::Range(_))] => items(m, one)?,
        parts => parts.to_vec(),
    };
    order::join(m, &parts, Some(&args[0]))
}

pub(super) fn plus(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    joined(m, &Value::Text(text), &args[0])
}

pub(super) fn minus(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    operate(m, Binary::Subtract, &Value::Text(text), &args[0])
}

pub(super) fn multiply(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    operate(m, Binary::Multiply, &Value::Text(text), &args[0])
}

/// The text with a sign before and after it up to a width; how many of those that are missing come before it.
pub(crate) fn padded(m: &mut Machine<'_>, of: &Value, args: &[Value], before: fn(usize) -> usize) -> Run {
    let text = receiver(m, of)?;
    let width = args[0].to_long().unwrap_or(0);
    let sign = match args.get(1) {
        Some(sign) => m.text(sign)?,
        None => Rc::from(" "),
    };
    let missing = usize::try_from(width).unwrap_or(0).saturating_sub(text::len(&text));
    m.take_text(text.len().saturating_add(missing.saturating_mul(4)))?;
    let pad =
        |count: usize| sign.chars().cycle().take(if sign.is_empty() { 0 } else { count }).collect::<String>();
    Ok(Value::text(format!("{}{text}{}", pad(before(missing)), pad(missing - before(missing)))))
}

pub(super) fn replace(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    if let Value::Object(_) = args[0] {
        return replace_pattern(m, of, args, usize::MAX);
    }
    let text = receiver(m, of)?;
    let from = m.text(&args[0])?;
    let to = m.text(&args[1])?;
    if from.is_empty() {
        m.work(text.len())?;
    }
    let times = if from.is_empty() { text.len() + 1 } else { text.matches(&*from).count() };
    m.take_text(text.len() + times.saturating_mul(to.len()))?;
    Ok(Value::text(text.replace(&*from, &to)))
}

/// Replaces matches of a pattern by a text or by what a closure gives.
pub(crate) fn replace_pattern(m: &mut Machine<'_>, of: &Value, args: &[Value], most: usize) -> Run {
    let text = receiver(m, of)?;
    let pattern = patterns::pattern_of(m, &args[0])?;
    match &args[1] {
        Value::Closure(closure) => patterns::replaced_by(m, &pattern, &text, &closure.clone(), most),
        to => {
            let to = m.text(to)?;
            patterns::replaced(m, &pattern, &text, &to, most)
        }
    }
}

pub(super) fn formatted(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = Value::Text(receiver(m, of)?);
    let all: Vec<Value> = std::iter::once(text).chain(args.iter().cloned()).collect();
    let text = format::format(m, &all)?;
    m.new_text(text)
}

/// By a pattern; Groovy's `split()` goes by blanks, and `split { }` asks for each character.
pub(super) fn split(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    match args {
        [] => list_of_kind(m, ListKind::Array, text.split_whitespace().map(Value::from).collect()),
        [Value::Closure(_)] => crate::model::library::util::iterable::split(m, of, args),
        [by, rest @ ..] => {
            let pattern = patterns::pattern_of(m, by)?;
            patterns::split(m, &text, &pattern, rest.first().and_then(Value::to_long).unwrap_or(0))
        }
    }
}

pub(super) fn with_first<I: Iterator<Item = char>>(of: &str, change: fn(char) -> I) -> String {
    let mut chars = of.chars();
    chars.next().map_or_else(String::new, |first| change(first).chain(chars).collect())
}

pub(super) fn strip_indent(of: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = of.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    of.lines().map(|line| line.get(least..).unwrap_or("")).collect::<Vec<_>>().join("\n")
}

pub(super) fn strip_margin(of: &str) -> String {
    of.lines().map(|line| line.trim_start().strip_prefix('|').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}
