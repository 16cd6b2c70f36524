//! `Object`: methods of everything, those that Groovy adds among them.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::machine::Machine;
use crate::model::meaning::{convert, operate};
use crate::model::tree::Type;
use crate::model::value::{Object, Value, hash_code};

/// `new Object()`, which is nothing but itself.
struct Plain;

impl Object for Plain {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.lang", "Object")
    .creates(|_, _, _| Ok(Value::object(Plain)))
    .converts(|| Type::Any)
    .methods(&[
        rows("toString", 0, 1, |m, of, _| m.text(of).map(Value::Text)),
        row("toLocaleString", 0, |m, of, _| m.text(of).map(Value::Text)),
        row("equals", 1, |_, of, args| Ok(Value::Bool(of.equals(&args[0])))),
        row("is", 1, |_, of, args| Ok(Value::Bool(operate::identical(of, &args[0])))),
        row("hashCode", 0, |_, of, _| Ok(Value::Int(hash_code(of)))),
        row("getClass", 0, |_, of, _| Ok(Value::Class(of.class()))),
        row("compareTo", 1, |m, of, args| {
            Ok(Value::Int(operate::compared(m, of, &args[0])?.map_or(0, |order| order as i32)))
        }),
        row("asType", 1, as_type),
        row("with", 1, with),
        row("tap", 1, |m, of, args| {
            with(m, of, args)?;
            Ok(of.clone())
        }),
        row("each", 1, each),
        row("isCase", 1, |m, of, args| Ok(Value::Bool(operate::is_case(m, of, &args[0])?))),
        row("println", 1, |m, _, args| print(m, &args[0], "\n")),
        row("print", 1, |m, _, args| print(m, &args[0], "")),
        row("inspect", 0, |m, of, _| m.text(of).map(Value::Text)),
        row("dump", 0, |m, of, _| m.text(of).map(Value::Text)),
        row("sleep", 1, |m, _, args| {
            m.sleep(args[0].to_long().unwrap_or(0))?;
            Ok(Value::Null)
        }),
    ]);

fn as_type(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    match &args[0] {
        Value::Class(class) => convert::cast(m, &Type::of_class(*class), of.clone(), true),
        _ => m.no_method(of, "asType", args),
    }
}

/// A closure that knows an object's methods and properties by their names alone.
fn with(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    match &args[0] {
        Value::Closure(closure) => m.call_with_delegate(closure, of, std::slice::from_ref(of)),
        _ => m.no_method(of, "with", args),
    }
}

fn each(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    match &args[0] {
        Value::Closure(closure) => {
            m.call_closure(closure, std::slice::from_ref(of))?;
            Ok(of.clone())
        }
        _ => m.no_method(of, "each", args),
    }
}

/// Prints to the standard output.
pub(crate) fn print(m: &mut Machine<'_>, value: &Value, end: &str) -> Run {
    let text = m.text(value)?;
    m.host.print(&format!("{text}{end}"));
    Ok(Value::Null)
}

/// A method that scripts may not use here: why.
pub(crate) fn refused(reason: &'static str) -> Run {
    thrown("UnsupportedOperationException", reason)
}
