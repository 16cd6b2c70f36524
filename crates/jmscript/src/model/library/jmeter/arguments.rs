//! `Arguments`: the parameters of the request, and lists of them that a script makes.

use super::allowed;
use super::argument::{argument, value_of};
use crate::model::abrupt::Run;
use crate::model::class::{Class, ClassRow, ClassView, Kind, MANY, row, rows};
use crate::model::library::lang::object;
use crate::model::library::util::list;
use crate::model::machine::Machine;
use crate::model::value::{Argument, Map, MapKind, Object, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Parameters that a script has gathered.
#[derive(Default)]
pub(crate) struct Arguments(pub RefCell<Vec<Argument>>);

impl Object for Arguments {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn items(&self, _: &mut Machine<'_>, _: &Value) -> Run<Vec<Value>> {
        Ok(self.0.borrow().iter().map(value_of).collect())
    }
}

pub(crate) static KIND: Kind = Kind::new("org.apache.jmeter.config", "Arguments")
    .extends(&object::KIND)
    .passes_on(&list::KIND, as_list)
    .creates(|m, kind, args| match args {
        [] => Ok(Value::object(Arguments::default())),
        args => m.no_method(&Value::Class(Class::Known(kind)), "<init>", args),
    })
    .methods(METHODS);

/// The parameters of the request itself.
pub(crate) static OF_SAMPLER: Kind = Kind::new("org.apache.jmeter.config", "Arguments")
    .extends(&object::KIND)
    .viewed(ClassView {
        items: Some(|m| Ok(m.host.arguments().iter().map(value_of).collect())),
        ..ClassView::NONE
    })
    .passes_on(&list::KIND, as_list)
    .methods(METHODS);

const METHODS: &[ClassRow] = &[
    rows("addArgument", 1, MANY, add),
    rows("add", 1, MANY, add),
    row("clear", 0, clear),
    row("removeAllArguments", 0, clear),
    row("size", 0, |m, of, _| Ok(Value::count(all(m, of).len()))),
    row("each", 1, |m, of, args| {
        let all = as_list(m, of)?;
        m.invoke(&all, "each", args)?;
        Ok(of.clone())
    }),
    row("getArgumentCount", 0, |m, of, _| Ok(Value::count(all(m, of).len()))),
    row("get", 1, get),
    row("getArgument", 1, get),
    row("getAt", 1, get),
    row("getArgumentsAsMap", 0, |m, of, _| {
        let entry = |one: Argument| (Value::Text(one.name), Value::Text(one.value));
        Ok(Value::Map(Rc::new(Map::new(MapKind::Plain, all(m, of).into_iter().map(entry)))))
    }),
    row("getArguments", 0, |m, of, _| as_list(m, of)),
];

/// The parameters of either.
fn all(m: &mut Machine<'_>, of: &Value) -> Vec<Argument> {
    match of.as_object::<Arguments>() {
        Some(own) => own.0.borrow().clone(),
        None => m.host.arguments(),
    }
}

fn as_list(m: &mut Machine<'_>, of: &Value) -> Run {
    let values = all(m, of).iter().map(value_of).collect();
    m.new_list(values)
}

fn add(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let argument = argument(m, args, true)?;
    match of.as_object::<Arguments>() {
        Some(own) => {
            m.take_items(1)?;
            own.0.borrow_mut().push(argument);
        }
        None => allowed(m.host.add_argument(argument))?,
    }
    Ok(Value::Null)
}

fn clear(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    match of.as_object::<Arguments>() {
        Some(own) => own.0.borrow_mut().clear(),
        None => allowed(m.host.clear_arguments())?,
    }
    Ok(Value::Null)
}

fn get(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let at = args[0].to_long().and_then(|at| usize::try_from(at).ok());
    let all = all(m, of);
    Ok(at.and_then(|at| all.get(at)).map_or(Value::Null, value_of))
}
