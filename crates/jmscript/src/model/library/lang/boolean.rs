//! `Boolean`.

use super::object;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, row};
use crate::model::machine::Machine;
use crate::model::tree::Type;
use crate::model::value::Value;

pub(crate) static KIND: Kind = Kind::new("java.lang", "Boolean")
    .extends(&object::KIND)
    .converts(|| Type::Bool)
    .creates(|m, _, args| match args {
        [value] => parsed(m, value),
        _ => m.no_method(&Value::Class(crate::model::class::Class::Known(&KIND)), "<init>", args),
    })
    .constants(|name| match name {
        "TRUE" => Some(Value::Bool(true)),
        "FALSE" => Some(Value::Bool(false)),
        _ => None,
    })
    .statics(&[
        row("parseBoolean", 1, |m, _, args| parsed(m, &args[0])),
        row("valueOf", 1, |m, _, args| parsed(m, &args[0])),
        row("toString", 1, |m, _, args| m.text(&args[0]).map(Value::Text)),
    ])
    .methods(&[
        row("booleanValue", 0, |_, of, _| Ok(of.clone())),
        row("toBoolean", 0, |_, of, _| Ok(of.clone())),
        row("and", 1, |_, of, args| Ok(Value::Bool(of.is_true() & args[0].is_true()))),
        row("or", 1, |_, of, args| Ok(Value::Bool(of.is_true() | args[0].is_true()))),
    ]);

fn parsed(m: &mut Machine<'_>, value: &Value) -> Run {
    Ok(match value {
        Value::Bool(_) => value.clone(),
        other => Value::Bool(!other.is_null() && m.text(other)?.eq_ignore_ascii_case("true")),
    })
}
