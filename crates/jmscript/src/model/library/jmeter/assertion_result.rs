//! `AssertionResult`.

use crate::model::abrupt::Run;
use crate::model::class::{Kind, row, rows};
use crate::model::host::Field;
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::Value;

pub(crate) static KIND: Kind =
    Kind::new("org.apache.jmeter.assertions", "AssertionResult").extends(&object::KIND).methods(&[
        row("isFailure", 0, |m, _, _| Ok(m.host.get(Field::Failure))),
        row("getFailure", 0, |m, _, _| Ok(m.host.get(Field::Failure))),
        row("isError", 0, |m, _, _| Ok(m.host.get(Field::AssertionError))),
        row("getError", 0, |m, _, _| Ok(m.host.get(Field::AssertionError))),
        row("getFailureMessage", 0, |m, _, _| Ok(m.host.get(Field::FailureMessage))),
        row("setFailure", 1, |m, _, args| m.put_field(Field::Failure, Value::Bool(args[0].is_true()))),
        row("setError", 1, |m, _, args| m.put_field(Field::AssertionError, Value::Bool(args[0].is_true()))),
        row("setFailureMessage", 1, |m, _, args| message(m, &args[0])),
        rows("setResultForFailure", 1, 1, |m, _, args| {
            m.put_field(Field::Failure, Value::Bool(true))?;
            message(m, &args[0])
        }),
        row("getName", 0, |m, _, _| Ok(m.host.get(Field::Label))),
    ]);

fn message(m: &mut Machine<'_>, value: &Value) -> Run {
    let text = if value.is_null() { Value::Null } else { Value::Text(m.text(value)?) };
    m.put_field(Field::FailureMessage, text)
}
