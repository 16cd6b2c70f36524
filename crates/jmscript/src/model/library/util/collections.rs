//! `Collections`.

use super::collection::count;
use super::list;
use crate::model::abrupt::Run;
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::meaning::items::{items, push};
use crate::model::value::{Map, MapKind, Value};
use std::rc::Rc;

pub(crate) static KIND: Kind = Kind::new("java.util", "Collections").extends(&object::KIND).statics(&[
    rows("sort", 1, 2, sort),
    rows("shuffle", 1, 2, |m, _, args| m.invoke(&args[0], "shuffle", &args[1..])),
    row("reverse", 1, |m, _, args| {
        m.invoke(&args[0], "reverse", &[Value::Bool(true)])?;
        Ok(Value::Null)
    }),
    row("swap", 3, |m, _, args| {
        m.invoke(&args[0], "swap", &args[1..])?;
        Ok(Value::Null)
    }),
    rows("max", 1, 2, |m, _, args| m.invoke(&args[0], "max", &args[1..])),
    rows("min", 1, 2, |m, _, args| m.invoke(&args[0], "min", &args[1..])),
    row("emptyList", 0, |_, _, _| Ok(Value::list(Vec::new()))),
    row("emptyMap", 0, |_, _, _| Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, []))))),
    row("singletonList", 1, |m, _, args| m.new_list(args.to_vec())),
    row("unmodifiableList", 1, |_, _, args| Ok(args[0].clone())),
    row("synchronizedList", 1, |_, _, args| Ok(args[0].clone())),
    rows("addAll", 1, MANY, |m, _, args| {
        for item in &args[1..] {
            push(m, &args[0], item.clone())?;
        }
        Ok(Value::Bool(true))
    }),
    row("nCopies", 2, |m, _, args| {
        let count = count(&args[0]);
        m.take_items(count)?;
        Ok(Value::list(vec![args[1].clone(); count]))
    }),
    row("frequency", 2, |m, _, args| {
        Ok(Value::count(items(m, &args[0])?.iter().filter(|item| item.equals(&args[1])).count()))
    }),
]);

/// Sorts a list or array where it is.
pub(crate) fn sort(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    match &args[0] {
        sorted @ Value::List(_) => {
            list::sort(m, sorted, &args[1..])?;
            Ok(Value::Null)
        }
        _ => m.no_method(of, "sort", args),
    }
}
