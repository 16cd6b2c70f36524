//! `StringBuilder` and `StringBuffer`. What they do not know, the text in them does.

use super::string_part::{out_of_text, substring};
use super::{object, string};
use crate::model::abrupt::Run;
use crate::model::class::{Class, ClassRow, Kind, row};
use crate::model::machine::Machine;
use crate::model::meaning::items::element;
use crate::model::value::{Object, Style, Value, text};
use std::cell::RefCell;
use std::rc::Rc;

/// A text that grows.
pub(crate) struct StringBuilder(RefCell<String>);

impl StringBuilder {
    /// The text in it, as a value.
    fn content(&self) -> Value {
        Value::text(self.0.borrow().as_str())
    }
}

impl Object for StringBuilder {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&self.0.borrow());
    }

    fn is_true(&self) -> bool {
        !self.0.borrow().is_empty()
    }

    fn element(&self, m: &mut Machine<'_>, _: &Value, index: &Value) -> Option<Run> {
        Some(element(m, &self.content(), index))
    }
}

const METHODS: &[ClassRow] = &[
    row("append", 1, append),
    row("leftShift", 1, append),
    row("append", 3, |m, of, args| {
        let part = m.text(&args[0])?;
        let part = substring(m, &part, args[1].to_long(), args[2].to_long())?;
        append(m, of, &[part])
    }),
    row("insert", 2, insert),
    row("reverse", 0, |_, of, _| {
        let content = content(of);
        let reversed: String = content.borrow().chars().rev().collect();
        content.replace(reversed);
        Ok(of.clone())
    }),
    row("setLength", 1, |_, of, args| {
        let content = content(of);
        let place = place(&content.borrow(), &args[0]);
        content.borrow_mut().truncate(place.unwrap_or(usize::MAX));
        Ok(of.clone())
    }),
    row("deleteCharAt", 1, |m, of, args| {
        let from = args[0].to_long().unwrap_or(-1);
        cut(m, of, from, from + 1)
    }),
    row("delete", 2, |m, of, args| {
        let length = text::len(&content(of).borrow()) as i64;
        cut(m, of, args[0].to_long().unwrap_or(-1), args[1].to_long().unwrap_or(0).min(length))
    }),
    row("setCharAt", 2, set_char_at),
    row("length", 0, |m, of, _| {
        let length = text::len(&content(of).borrow());
        Ok(m.number_of(length))
    }),
    row("toString", 0, |m, of, _| {
        let text: Rc<str> = Rc::from(content(of).borrow().as_str());
        m.take_text(text.len())?;
        Ok(Value::Text(text))
    }),
    // A builder equals itself alone.
    row("equals", 1, |_, of, args| Ok(Value::Bool(of.equals(&args[0])))),
];

fn passed_on(m: &mut Machine<'_>, of: &Value) -> Run {
    m.take_text(content(of).borrow().len())?;
    Ok(of.receiver::<StringBuilder>().content())
}

pub(crate) static KIND: Kind = Kind::new("java.lang", "StringBuilder")
    .extends(&object::KIND)
    .creates(create)
    .passes_on(&string::KIND, passed_on)
    .methods(METHODS);

pub(crate) static BUFFER: Kind = Kind::new("java.lang", "StringBuffer")
    .extends(&object::KIND)
    .creates(create)
    .passes_on(&string::KIND, passed_on)
    .methods(METHODS);

fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    let text = match args {
        [of] if !of.is_number() => m.text(of)?,
        _ => Rc::from(""),
    };
    Ok(Value::object(StringBuilder(RefCell::new(text.to_string()))))
}

fn content(of: &Value) -> &RefCell<String> {
    &of.receiver::<StringBuilder>().0
}

fn place(text: &str, at: &Value) -> Option<usize> {
    at.to_long().and_then(|at| text::byte_of(text, usize::try_from(at).ok()?))
}

/// Counts what a builder is about to hold.
fn grow(m: &mut Machine<'_>, now: usize, more: usize) -> Run<()> {
    if now + more > m.limits.text {
        return m.take_text(now + more);
    }
    m.take(more)
}

fn append(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let part = m.text(&args[0])?;
    let content = content(of);
    grow(m, content.borrow().len(), part.len())?;
    content.borrow_mut().push_str(&part);
    Ok(of.clone())
}

fn insert(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let part = m.text(&args[1])?;
    let content = content(of);
    let length = content.borrow().len();
    grow(m, length, length + part.len())?;
    let place = place(&content.borrow(), &args[0]);
    let Some(place) = place else { return out_of_text(m, &content.borrow(), &args[0]) };
    content.borrow_mut().insert_str(place, &part);
    Ok(of.clone())
}

fn cut(m: &mut Machine<'_>, of: &Value, from: i64, to: i64) -> Run {
    let content = content(of);
    let byte = |at: i64| usize::try_from(at).ok().and_then(|at| text::byte_of(&content.borrow(), at));
    let Some((start, end)) = byte(from).zip(byte(to)).filter(|(start, end)| start <= end) else {
        return out_of_text(m, &content.borrow(), &Value::Long(from));
    };
    m.work(content.borrow().len() / 256)?;
    content.borrow_mut().replace_range(start..end, "");
    Ok(of.clone())
}

fn set_char_at(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let Value::Char(c) = args[1] else { return m.no_method(of, "setCharAt", args) };
    let from = args[0].to_long().unwrap_or(-1);
    cut(m, of, from, from + 1)?;
    let place = place(&content(of).borrow(), &args[0]).expect("a character has just been cut there");
    content(of).borrow_mut().insert(place, c);
    Ok(Value::Null)
}
