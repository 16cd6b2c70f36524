//! `Closure`.

use crate::model::abrupt::Run;
use crate::model::class::{Kind, MANY, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Closure, Delegate, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Strategies of a closure by their numbers: whether its delegate comes before what is around it.
const DELEGATE_FIRST: i64 = 1;
const DELEGATE_ONLY: i64 = 3;

pub(crate) static KIND: Kind = Kind::new("groovy.lang", "Closure")
    .extends(&object::KIND)
    .constants(|name| {
        Some(Value::Int(match name {
            "OWNER_FIRST" => 0,
            "DELEGATE_FIRST" => DELEGATE_FIRST as i32,
            "OWNER_ONLY" => 2,
            "DELEGATE_ONLY" => DELEGATE_ONLY as i32,
            "TO_SELF" => 4,
            _ => return None,
        }))
    })
    .methods(&[
        rows("call", 0, MANY, call),
        rows("doCall", 0, MANY, call),
        row("run", 0, call),
        rows("curry", 0, MANY, |_, of, args| {
            let closure = closure(of);
            let given = closure.given.iter().chain(args).cloned().collect();
            let function = closure.function.clone();
            let captures = closure.captures.clone();
            let delegate = closure.delegate.clone();
            Ok(Value::Closure(Rc::new(Closure { function, captures, given, delegate })))
        }),
        row("memoize", 0, |_, of, _| Ok(of.clone())),
        row("setDelegate", 1, |_, of, args| {
            closure(of).delegate.borrow_mut().value = args[0].clone();
            Ok(Value::Null)
        }),
        row("getDelegate", 0, |_, of, _| Ok(closure(of).delegate.borrow().value.clone())),
        row("setResolveStrategy", 1, |_, of, args| {
            let strategy = args[0].to_long();
            closure(of).delegate.borrow_mut().is_first =
                matches!(strategy, Some(DELEGATE_FIRST | DELEGATE_ONLY));
            Ok(Value::Null)
        }),
        row("rehydrate", 3, |_, of, args| Ok(with_delegate(closure(of), &args[0]))),
        row("getMaximumNumberOfParameters", 0, |_, of, _| Ok(Value::count(closure(of).parameters()))),
    ]);

fn closure(of: &Value) -> &Rc<Closure> {
    match of {
        Value::Closure(closure) => closure,
        other => unreachable!("{other:?} is no receiver of Closure's methods"),
    }
}

fn call(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    m.call_closure(closure(of), args)
}

/// A copy of a closure with another delegate.
fn with_delegate(closure: &Closure, value: &Value) -> Value {
    let is_first = closure.delegate.borrow().is_first;
    let copy = Closure {
        function: closure.function.clone(),
        captures: closure.captures.clone(),
        given: closure.given.clone(),
        delegate: RefCell::new(Delegate { value: value.clone(), is_first }),
    };
    Value::Closure(Rc::new(copy))
}
