//! Functions of the script: which one a name means, its parameters and its body.

use super::exec::Flow;
use crate::dialect::Dialect;
use crate::model::abrupt::{Abrupt, Limit, Run, thrown};
use crate::model::call::short_name;
use crate::model::class::Method;
use crate::model::library::functions;
use crate::model::library::groovy::json_builder;
use crate::model::machine::{Machine, MachineSlot};
use crate::model::meaning::convert;
use crate::model::tree::{Function, FunctionCall, Type};
use crate::model::value::{SharedValue, Value};
use std::rc::Rc;

impl Machine<'_> {
    // Functions.

    /// A call by a name: a method of the script, a variable with a closure, what is built in, or a builder's node.
    pub(super) fn call_named(&mut self, call: &FunctionCall, args: &[Value]) -> Run {
        self.step()?;
        let code = self.code;
        let callee = &code.calls[usize::from(call.id)];
        if let Some(function) = self.overload(&callee.functions, args.len()) {
            return self.call_function(&function, Rc::from([]), args);
        }
        if let Some(place) = callee.place
            && let crate::model::tree::TreePlace::Global(at) = place
            && let Some(value) = self.globals.values[usize::from(at)].clone()
        {
            return self.apply(&value, args);
        }
        if let Some(function) = functions::named(&call.name, self.dialect) {
            return function(self, args);
        }
        if let Some(builder) = self.builders.last().cloned() {
            return json_builder::node(self, &builder, &call.name, args);
        }
        if let Some(delegate) = self.delegates.last().cloned() {
            return self.invoke_named(&delegate.value, Method::named(&call.name), &call.name, args);
        }
        let values = self.texts_of(args)?;
        let types: Vec<String> = args.iter().map(|arg| short_name(&arg.class_name())).collect();
        let name = &call.name;
        match self.dialect {
            Dialect::Groovy => thrown(
                "MissingMethodException",
                format!(
                    "No signature of method: Script1.{name}() is applicable for argument types: ({}) values: [{values}]",
                    types.join(", ")
                ),
            ),
            Dialect::BeanShell => {
                thrown("EvalError", format!("Command not found: {name}( {} )", types.join(", ")))
            }
            Dialect::JavaScript => thrown("EcmaError", format!("ReferenceError: \"{name}\" is not defined.")),
            Dialect::Jexl => thrown("JexlException", format!("unsolvable function/method '{name}'")),
        }
    }

    /// The method that takes so many arguments, with defaults for the rest.
    fn overload(&self, functions: &[u16], args: usize) -> Option<Rc<Function>> {
        let function = |at: &u16| &self.code.functions[usize::from(*at)];
        let needs = |function: &Function| {
            function.parameters.iter().filter(|parameter| parameter.default.is_none()).count()
        };
        let fits = |at: &&u16| (needs(function(at))..=function(at).parameters.len()).contains(&args);
        functions.iter().rev().find(fits).map(|at| function(at).clone())
    }

    pub(super) fn call_function(
        &mut self,
        function: &Rc<Function>,
        captures: Rc<[Rc<SharedValue>]>,
        args: &[Value],
    ) -> Run {
        if self.calls >= self.limits.calls || self.check_depth().is_err() {
            return Err(Abrupt::limit(Limit::Calls, self.limits.calls as u64));
        }
        let needed = function.parameters.len();
        let is_loose = function.has_it || self.dialect == Dialect::JavaScript;
        if args.len() > needed && !(is_loose && args.len() <= 1 || self.dialect == Dialect::JavaScript) {
            return self.wrong_count(function, args);
        }
        let base = self.enter(function.slots)?;
        let outer_base = std::mem::replace(&mut self.frame.base, base);
        let outer_captures = std::mem::replace(&mut self.frame.captures, captures);
        self.calls += 1;
        let result = self.run_function(function, args, is_loose);
        self.calls -= 1;
        self.frame.slots.truncate(base);
        self.frame.base = outer_base;
        self.frame.captures = outer_captures;
        result
    }

    fn run_function(&mut self, function: &Function, args: &[Value], is_loose: bool) -> Run {
        for (at, parameter) in function.parameters.iter().enumerate() {
            let value = match (args.get(at), &parameter.default) {
                (Some(value), _) => convert::coerce(self, &parameter.kind, value.clone())?,
                (None, Some(default)) => self.eval(default)?,
                (None, None) if is_loose => {
                    if self.dialect == Dialect::JavaScript {
                        Value::Void
                    } else {
                        Value::Null
                    }
                }
                (None, None) => return self.wrong_count(function, args),
            };
            let slot = self.frame.base + at;
            self.frame.slots[slot] = MachineSlot::Plain(value);
        }
        match self.block(&function.body)? {
            Flow::Return(value) if function.returns == Type::Any => Ok(value),
            Flow::Return(value) => convert::coerce(self, &function.returns, value),
            _ if self.dialect == Dialect::JavaScript => Ok(Value::Void),
            _ => Ok(Value::Null),
        }
    }

    fn wrong_count<T>(&mut self, function: &Function, args: &[Value]) -> Run<T> {
        let types: Vec<String> = args.iter().map(|arg| short_name(&arg.class_name())).collect();
        let values = self.texts_of(args)?;
        let name = if function.name.is_empty() { "call" } else { &function.name };
        let message = format!(
            "No signature of method: Script1.{name}() is applicable for argument types: ({}) values: [{values}]",
            types.join(", ")
        );
        thrown(
            if self.dialect == Dialect::BeanShell { "EvalError" } else { "MissingMethodException" },
            message,
        )
    }
}
