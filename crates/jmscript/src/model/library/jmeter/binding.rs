//! `binding` and `this`: the script's own variables.

use super::vars::name_of;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{ClassView, Kind, gives, row};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::tree::Binding;
use crate::model::value::Value;
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("groovy.lang", "Binding")
    .extends(&object::KIND)
    .viewed(ClassView {
        property: Some(|m, name| match m.own_variable(name) {
            Some(found) => Some(found),
            None if &**name == "variables" => Some(Ok(Value::Bound(Binding::Variables))),
            None => Some(m.missing_property(&Value::Bound(Binding::Variables), name)),
        }),
        set_property: Some(|m, name, value| Some(m.set_own_variable(name, value))),
        ..ClassView::NONE
    })
    .methods(&[
        row("hasVariable", 1, |m, _, args| {
            let name = name_of(m, &args[0])?;
            Ok(Value::Bool(m.own_value(&name).is_some() || is_given(&name)))
        }),
        row("getVariable", 1, variable),
        row("getProperty", 1, variable),
        row("getAt", 1, variable),
        row("setVariable", 2, set),
        row("setProperty", 2, set),
        gives(row("getVariables", 0, |_, of, _| Ok(of.clone())), &KIND),
    ]);

fn variable(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let name = name_of(m, &args[0])?;
    match m.own_value(&name) {
        Some(value) => Ok(value),
        None => thrown(
            "MissingPropertyException",
            format!("No such property: {name} for class: groovy.lang.Binding"),
        ),
    }
}

fn set(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let name: Rc<str> = name_of(m, &args[0])?;
    m.set_own_variable(&name, &args[1])?;
    Ok(Value::Null)
}

/// Names that JMeter puts into each binding.
fn is_given(name: &str) -> bool {
    ["vars", "props", "ctx", "log", "OUT", "Parameters", "args", "Label", "FileName", "sampler", "prev"]
        .contains(&name)
}
