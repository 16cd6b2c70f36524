//! `Pattern`, and JavaScript's regular expressions.

use super::matcher::Matcher;
use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::patterns;
use crate::model::value::{Object, Style, Value};
use regex::Regex;
use std::rc::Rc;

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// As it was written.
    pub text: Rc<str>,
    /// Compiled.
    pub regex: Regex,
}

impl Object for Pattern {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&self.text);
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util.regex", "Pattern")
    .extends(&object::KIND)
    .constants(flag)
    .statics(&[
        rows("compile", 1, 2, |m, _, args| {
            let text = m.text(&args[0])?;
            let flags = args.get(1).and_then(Value::to_long).unwrap_or(0);
            Ok(Value::Object(patterns::pattern(m, &text, flags)?))
        }),
        row("matches", 2, |m, _, args| Ok(Value::Bool(patterns::matches(m, &args[1], &args[0])?))),
        row("quote", 1, |m, _, args| {
            let text = m.text(&args[0])?;
            m.new_text(format!("\\Q{text}\\E"))
        }),
    ])
    .methods(&[
        row("matcher", 1, |m, of, args| find(m, &args[0], of)),
        row("pattern", 0, |_, of, _| Ok(Value::Text(of.receiver::<Pattern>().text.clone()))),
        row("test", 1, test),
        row("split", 1, |m, of, args| {
            let text = m.text(&args[0])?;
            patterns::split(m, &text, of.receiver(), 0)
        }),
        row("isCase", 1, |m, of, args| Ok(Value::Bool(patterns::matches(m, &args[0], of)?))),
        row("exec", 1, exec),
    ]);

/// `text =~ pattern`.
pub(crate) fn find(m: &mut Machine<'_>, text: &Value, pattern: &Value) -> Run {
    let pattern = patterns::pattern_of(m, pattern)?;
    let text = m.text(text)?;
    patterns::search(m, &text)?;
    Ok(Value::object(Matcher::new(pattern, text)))
}

fn test(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = m.text(&args[0])?;
    patterns::search(m, &text)?;
    Ok(Value::Bool(of.receiver::<Pattern>().regex.is_match(&text)))
}

fn exec(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let text = m.text(&args[0])?;
    patterns::search(m, &text)?;
    let found = of.receiver::<Pattern>().regex.captures(&text);
    let places = found.map(|captures| patterns::places(&captures));
    Ok(places.map_or(Value::Null, |places| Value::list(patterns::parts(&text, &places))))
}

fn flag(name: &str) -> Option<Value> {
    Some(Value::Int(match name {
        "CASE_INSENSITIVE" => 2,
        "COMMENTS" => 4,
        "MULTILINE" => 8,
        "LITERAL" => 16,
        "DOTALL" => 32,
        "UNICODE_CASE" | "UNICODE_CHARACTER_CLASS" | "UNIX_LINES" => 0,
        _ => return None,
    }))
}
