//! Parts of texts.

use super::string::receiver;
use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::library::util::iterable;
use crate::model::machine::Machine;
use crate::model::meaning::items::list_of_kind;
use crate::model::meaning::patterns::{self, all_matches, pattern_of};
use crate::model::value::{ListKind, Value, text};
use std::ops::Range;
use std::rc::Rc;

/// The character at a place.
fn character(m: &mut Machine<'_>, of: &Value, at: &Value) -> Run<char> {
    let found = receiver(m, of)?;
    let unit = at.to_long().and_then(|at| usize::try_from(at).ok());
    let unit = unit.filter(|unit| *unit < text::len(&found));
    match unit.and_then(|unit| text::char_at(&found, unit)) {
        Some(c) => Ok(c),
        None => out_of_text(m, &found, at),
    }
}

pub(super) fn char_at(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    character(m, of, &args[0]).map(Value::Char)
}

pub(super) fn code_point_at(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    Ok(Value::Int(u32::from(character(m, of, &args[0])?) as i32))
}

/// A place beyond a text.
pub(crate) fn out_of_text<T>(m: &Machine<'_>, of: &str, at: &Value) -> Run<T> {
    let at = at.to_long().unwrap_or(0);
    let message = match m.dialect {
        Dialect::Groovy => format!("index {at}, length {}", text::len(of)),
        Dialect::BeanShell | Dialect::JavaScript | Dialect::Jexl => {
            format!("String index out of range: {at}")
        }
    };
    thrown("StringIndexOutOfBoundsException", message)
}

pub(super) fn substring_of(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    substring(m, &text, args[0].to_long(), args.get(1).and_then(Value::to_long))
}

/// The units from one to another, exclusive.
pub(crate) fn substring(m: &mut Machine<'_>, of: &str, from: Option<i64>, to: Option<i64>) -> Run {
    let length = text::len(of) as i64;
    let from = from.unwrap_or(0);
    let end = to.unwrap_or(length);
    let places = usize::try_from(from).ok().zip(usize::try_from(end).ok());
    match places.and_then(|(from, to)| text::slice(of, from, to)) {
        Some(part) => m.new_text(part),
        None => {
            thrown("StringIndexOutOfBoundsException", format!("begin {from}, end {end}, length {length}"))
        }
    }
}

/// A part that a length and a number of units say.
pub(super) fn taken(
    m: &mut Machine<'_>,
    of: &Value,
    args: &[Value],
    places: fn(usize, usize) -> Range<usize>,
) -> Run {
    let found = receiver(m, of)?;
    let count = usize::try_from(args[0].to_long().unwrap_or(0)).unwrap_or(0);
    let Range { start, end } = places(text::len(&found), count);
    m.new_text(text::slice(&found, start, end).expect("both lie within the text"))
}

pub(super) fn tokenize(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let signs = match args.first() {
        Some(signs) => m.text(signs)?,
        None => Rc::from(" \t\n\r\u{c}"),
    };
    let parts: Vec<Value> =
        text.split(|c| signs.contains(c)).filter(|part| !part.is_empty()).map(Value::from).collect();
    m.take(text.len())?;
    m.new_list(parts)
}

pub(super) fn lines(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let text = receiver(m, of)?;
    m.new_list(text.lines().map(Value::from).collect())
}

fn texts_of_characters(m: &mut Machine<'_>, of: &Value) -> Run<Vec<Value>> {
    let text = receiver(m, of)?;
    m.take(text.len() * 32)?;
    Ok(text.chars().map(|c| Value::text(c.to_string())).collect())
}

pub(super) fn characters(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let items = texts_of_characters(m, of)?;
    m.new_list(items)
}

pub(super) fn set_of_characters(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let items = texts_of_characters(m, of)?;
    list_of_kind(m, ListKind::Set, items)
}

pub(super) fn array_of_characters(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let text = receiver(m, of)?;
    m.take_items(text.len())?;
    Ok(Value::array(text.chars().map(Value::Char).collect()))
}

pub(super) fn each_line(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let Value::Closure(closure) = &args[0] else { return m.no_method(of, "eachLine", args) };
    let mut last = Value::Null;
    for line in receiver(m, of)?.lines() {
        last = m.call_closure(closure, &[Value::from(line)])?;
    }
    Ok(last)
}

/// The part before or after another.
pub(super) fn around(
    m: &mut Machine<'_>,
    of: &Value,
    args: &[Value],
    cut: for<'t> fn(&'t str, &str) -> &'t str,
) -> Run {
    let text = receiver(m, of)?;
    let part = m.text(&args[0])?;
    m.new_text(cut(&text, &part))
}

/// The part between two others.
pub(super) fn between(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = receiver(m, of)?;
    let from = m.text(&args[0])?;
    let to = m.text(&args[1])?;
    let inner = text.split_once(&*from).and_then(|(_, rest)| rest.split_once(&*to)).map(|(inner, _)| inner);
    Ok(inner.map_or(Value::from(""), Value::from))
}

/// The first match of a pattern, or what a closure makes of it.
pub(super) fn find(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let (Some(pattern), closure) = (args.first(), args.get(1)) else { return iterable::find(m, of, args) };
    if let Value::Closure(_) = pattern {
        return iterable::find(m, of, args);
    }
    let text = receiver(m, of)?;
    let pattern = pattern_of(m, pattern)?;
    patterns::search(m, &text)?;
    let Some(places) = pattern.regex.captures(&text).map(|captures| patterns::places(&captures)) else {
        return Ok(Value::Null);
    };
    match closure {
        Some(Value::Closure(closure)) => m.call_closure(closure, &patterns::parts(&text, &places)),
        _ => Ok(patterns::part(&text, places[0])),
    }
}

/// The matches of a pattern, or what a closure makes of them.
pub(super) fn find_all(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    match args {
        [] | [Value::Closure(_)] => iterable::find_all(m, of, args),
        [pattern, rest @ ..] => {
            let found = matches_of(m, of, pattern, rest.first())?;
            m.new_list(found)
        }
    }
}

pub(super) fn each_match(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    matches_of(m, of, &args[0], args.get(1))?;
    m.text(of).map(Value::Text)
}

fn matches_of(m: &mut Machine<'_>, of: &Value, pattern: &Value, closure: Option<&Value>) -> Run<Vec<Value>> {
    let text = receiver(m, of)?;
    let pattern = pattern_of(m, pattern)?;
    let mut found = Vec::new();
    for item in all_matches(m, &pattern, &text)? {
        found.push(match (closure, item) {
            (Some(Value::Closure(closure)), item) => m.call_closure(closure, &[item])?,
            (_, Value::List(groups)) => groups.get(0).expect("a match has at least its text"),
            (_, item) => item,
        });
    }
    Ok(found)
}
