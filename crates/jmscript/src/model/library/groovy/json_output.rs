//! `JsonOutput`.

use crate::model::abrupt::Run;
use crate::model::class::{Kind, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Value, json};

pub(crate) static KIND: Kind = Kind::new("groovy.json", "JsonOutput").extends(&object::KIND).statics(&[
    row("toJson", 1, |m, _, args| {
        let text = json_text(m, &args[0])?;
        m.new_text(text)
    }),
    row("prettyPrint", 1, |m, _, args| {
        let text = m.text(&args[0])?;
        m.work(text.len() / 16)?;
        m.new_text(json::pretty(&text))
    }),
]);

/// A value as JSON; closures in texts are called before.
pub(crate) fn json_text(m: &mut Machine<'_>, value: &Value) -> Run<String> {
    let value = if let Value::Lazy(_) = value { Value::Text(m.text(value)?) } else { value.clone() };
    let text = json::to_json(&value, m.style());
    m.take_text(text.len())?;
    m.work(text.len() / 64)?;
    Ok(text)
}
