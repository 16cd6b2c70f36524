//! The header manager of the sampler.

use super::allowed;
use super::argument::argument;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::Value;

const UNKNOWN: &str = "the header fields that the plan gives a request are not known to its scripts: they may add one or remove one by its name";

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.protocol.http.control", "HeaderManager")
    .extends(&object::KIND)
    .lacks(|_| Some(UNKNOWN))
    .methods(&[
        rows("add", 1, 2, add),
        rows("addHeader", 1, 2, add),
        row("removeHeaderNamed", 1, |m, _, args| {
            let field = argument(m, args, false)?;
            allowed(m.host.remove_header(&field.name))?;
            Ok(Value::Null)
        }),
    ]);

fn add(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let field = argument(m, args, false)?;
    allowed(m.host.add_header(&field.name, &field.value))?;
    Ok(Value::Null)
}
