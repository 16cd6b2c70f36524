//! Calls: of the script's functions and closures, and of methods by the kind of their receiver.

use super::abrupt::{Abrupt, Run, thrown};
use super::exec::Flow;
use super::{Limit, Machine, Slot};
use crate::dialect::Dialect;
use crate::method::Method;
use crate::tree::{Binding, Function, FunctionCall, Type};
use crate::value::{Callable, Closure, Map, MapKind, Object, Shared, Value};
use smallvec::SmallVec;
use std::rc::Rc;

/// Arguments of a call.
pub(super) type Args = SmallVec<[Value; 4]>;

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
            && let crate::tree::Place::Global(at) = place
            && let Some(value) = self.globals.values[usize::from(at)].clone()
        {
            return self.apply(&value, args);
        }
        if let Some(value) = self.built_in(&call.name, args)? {
            return Ok(value);
        }
        if let Some(builder) = self.builders.last().cloned() {
            return self.node(&builder, &call.name, args);
        }
        if let Some(delegate) = self.delegates.last().cloned() {
            return self.invoke_named(&delegate, Method::named(&call.name), &call.name, args);
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

    pub(super) fn apply(&mut self, of: &Value, args: &[Value]) -> Run {
        match of {
            Value::Closure(closure) => self.call_closure(&closure.clone(), args),
            Value::Object(object) if matches!(**object, Object::JsonBuilder(_)) => {
                self.build(&object.clone(), args)
            }
            Value::Null => thrown("NullPointerException", "Cannot invoke method call() on null object"),
            other => self.invoke_named(other, Some(Method::call), "call", args),
        }
    }

    /// Calls a closure.
    pub(super) fn call_closure(&mut self, closure: &Rc<Closure>, args: &[Value]) -> Run {
        self.step()?;
        let given: Args;
        let mut args = args;
        if !closure.given.is_empty() {
            given = closure.given.iter().chain(args).cloned().collect();
            args = &given;
        }
        match &closure.function {
            Callable::Method(of, method) => self.invoke(of, *method, args),
            Callable::Function(function) => {
                // One argument that holds several is taken apart for several parameters.
                let parts = match args {
                    [one] if function.parameters.len() > 1 => parts_of(one),
                    _ => None,
                };
                self.call_function(function, closure.captures.clone(), parts.as_deref().unwrap_or(args))
            }
        }
    }

    fn call_function(&mut self, function: &Rc<Function>, captures: Rc<[Rc<Shared>]>, args: &[Value]) -> Run {
        if self.calls >= self.limits.calls || self.stack.is_exhausted() {
            return Err(Abrupt::limit(Limit::Calls, self.limits.calls as u64));
        }
        let needed = function.parameters.len();
        let is_loose = function.has_it || self.dialect == Dialect::JavaScript;
        if args.len() > needed && !(is_loose && args.len() <= 1 || self.dialect == Dialect::JavaScript) {
            return self.wrong_count(function, args);
        }
        let base = self.enter(function.slots)?;
        let outer =
            (std::mem::replace(&mut self.base, base), std::mem::replace(&mut self.captures, captures));
        self.calls += 1;
        let result = self.run_function(function, args, is_loose);
        self.calls -= 1;
        self.slots.truncate(base);
        (self.base, self.captures) = outer;
        result
    }

    fn run_function(&mut self, function: &Function, args: &[Value], is_loose: bool) -> Run {
        for (at, parameter) in function.parameters.iter().enumerate() {
            let value = match (args.get(at), &parameter.default) {
                (Some(value), _) => self.coerce(&parameter.kind, value.clone())?,
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
            let slot = self.base + at;
            self.slots[slot] = Slot::Plain(value);
        }
        match self.block(&function.body)? {
            Flow::Return(value) if function.returns == Type::Any => Ok(value),
            Flow::Return(value) => self.coerce(&function.returns, value),
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

    fn texts_of(&mut self, args: &[Value]) -> Run<String> {
        let mut texts = Vec::with_capacity(args.len());
        for arg in args {
            texts.push(self.text(arg)?.chars().take(80).collect::<String>());
        }
        Ok(texts.join(", "))
    }

    /// Functions that need no receiver.
    fn built_in(&mut self, name: &str, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        match (name, self.dialect) {
            ("println" | "print", Dialect::Groovy | Dialect::BeanShell) => {
                let end = if name == "println" { "\n" } else { "" };
                let text = if args.is_empty() { Rc::from("") } else { self.text(&first)? };
                self.host.print(&format!("{text}{end}"));
                Ok(Some(Value::Null))
            }
            ("printf" | "sprintf", Dialect::Groovy) => {
                let text = self.format(args)?;
                if name == "sprintf" {
                    return self.new_text(text).map(Some);
                }
                self.host.print(&text);
                Ok(Some(Value::Null))
            }
            ("sleep", Dialect::Groovy) => {
                self.sleep(first.to_long().unwrap_or(0)).map(|()| Some(Value::Null))
            }
            ("getBinding", _) => Ok(Some(Value::Bound(Binding::Variables))),
            (_, Dialect::JavaScript) => self.function_of_javascript(name, args),
            _ => Ok(None),
        }
    }

    /// Waits: the user does, after the script. The script's own clock goes on at once.
    pub(super) fn sleep(&mut self, millis: i64) -> Run<()> {
        let millis = u64::try_from(millis).unwrap_or(0);
        self.slept = self.slept.saturating_add(millis);
        if self.slept > self.limits.sleep {
            return Err(Abrupt::limit(Limit::Sleep, self.limits.sleep));
        }
        self.host.pause(millis);
        Ok(())
    }

    // Builders.

    /// `builder { … }`, `builder(map)`, `builder(list) { … }`.
    fn build(&mut self, object: &Rc<Object>, args: &[Value]) -> Run {
        let Object::JsonBuilder(content) = &**object else { return Ok(Value::Null) };
        let value = match args {
            [Value::Closure(closure)] => self.filled(closure, &[])?,
            [list @ (Value::List(_) | Value::Range(_)), Value::Closure(closure)] => {
                let mut found = Vec::new();
                for item in self.items(list)? {
                    found.push(self.filled(closure, &[item])?);
                }
                self.new_list(found)?
            }
            [one] => one.clone(),
            several => self.new_list(several.to_vec())?,
        };
        *content.borrow_mut() = value.clone();
        Ok(value)
    }

    /// The map that a closure's calls fill.
    fn filled(&mut self, closure: &Rc<Closure>, args: &[Value]) -> Run {
        let map = Rc::new(Map::new(MapKind::Plain, []));
        self.builders.push(map.clone());
        let result = self.call_closure(closure, args);
        self.builders.pop();
        result?;
        Ok(Value::Map(map))
    }

    /// `name value`, `name { … }`, `name(list) { … }` within a builder's closure.
    fn node(&mut self, builder: &Rc<Map>, name: &Rc<str>, args: &[Value]) -> Run {
        let value = match args {
            [Value::Closure(closure)] => self.filled(closure, &[])?,
            [list @ (Value::List(_) | Value::Range(_)), Value::Closure(closure)] => {
                let mut found = Vec::new();
                for item in self.items(list)? {
                    found.push(self.filled(closure, &[item])?);
                }
                self.new_list(found)?
            }
            [one] => one.clone(),
            several => self.new_list(several.to_vec())?,
        };
        self.put(builder, Value::Text(name.clone()), value.clone())?;
        Ok(value)
    }

    // Methods.

    pub(super) fn invoke_named(
        &mut self,
        of: &Value,
        method: Option<Method>,
        name: &str,
        args: &[Value],
    ) -> Run {
        // A map's value, or a builder's node, may have any name.
        let found = match of {
            Value::Map(map) if method.is_none() || self.dialect == Dialect::JavaScript => {
                map.get(&Value::from(name))
            }
            Value::Object(object) if method.is_none() && matches!(**object, Object::JsonBuilder(_)) => {
                return self.build_root(&object.clone(), name, args);
            }
            _ => None,
        };
        if let Some(value @ Value::Closure(_)) = found {
            return self.apply(&value, args);
        }
        match method {
            Some(method) => self.invoke(of, method, args),
            None => self.no_method(of, name, args),
        }
    }

    /// `builder.name { … }`: an object with one key.
    fn build_root(&mut self, object: &Rc<Object>, name: &str, args: &[Value]) -> Run {
        let root = Rc::new(Map::new(MapKind::Plain, []));
        self.node(&root, &Rc::from(name), args)?;
        if let Object::JsonBuilder(content) = &**object {
            *content.borrow_mut() = Value::Map(root.clone());
        }
        Ok(Value::Map(root))
    }

    /// Calls a method.
    pub(super) fn invoke(&mut self, of: &Value, method: Method, args: &[Value]) -> Run {
        if self.stack.is_exhausted() {
            return super::abrupt::too_deep(self.limits.calls);
        }
        let found = match of {
            Value::Template(text) if method == Method::equals => args
                .first()
                .map(|other| Value::Bool(matches!(other, Value::Template(other) if other == text))),
            Value::Text(text) | Value::Template(text) => self.text_method(&text.clone(), method, args)?,
            Value::Bound(binding) => self.bound_method(*binding, method, args)?,
            Value::Map(map) => self.map_method(&map.clone(), method, args)?,
            Value::List(_) | Value::Range(_) => self.collection_method(of, method, args)?,
            Value::Object(object) => self.object_method(&object.clone(), of, method, args)?,
            Value::Bytes(bytes) => self.bytes_method(&bytes.clone(), method, args)?,
            Value::Closure(closure) => self.closure_method(&closure.clone(), method, args)?,
            Value::Class(class) => return self.class_method(*class, method, args),
            Value::Lazy(_) => {
                let text = self.text(of)?;
                self.text_method(&text, method, args)?
            }
            Value::Null | Value::Void => return self.on_null(method),
            Value::Char(c) => self.char_method(*c, method, args)?,
            _ => self.number_method(of, method, args)?,
        };
        match found {
            Some(value) => Ok(value),
            None => match self.any_method(of, method, args)? {
                Some(value) => Ok(value),
                None => self.no_method(of, method.name(), args),
            },
        }
    }

    fn on_null(&mut self, method: Method) -> Run {
        if self.dialect == Dialect::Groovy {
            match method {
                Method::toString => return Ok(Value::from("null")),
                Method::iterator => {
                    return Ok(Value::object(Object::Iterator(Default::default(), Default::default())));
                }
                Method::is => return Ok(Value::Bool(true)),
                _ => {}
            }
        }
        let name = method.name();
        match self.dialect {
            Dialect::JavaScript => {
                thrown("EcmaError", format!("TypeError: Cannot call method \"{name}\" of null"))
            }
            Dialect::Jexl => thrown("JexlException", format!("{name} of null")),
            Dialect::BeanShell => {
                thrown("EvalError", format!("Attempt to invoke method {name} on null value"))
            }
            Dialect::Groovy => {
                thrown("NullPointerException", format!("Cannot invoke method {name}() on null object"))
            }
        }
    }

    /// Methods that everything has.
    fn any_method(&mut self, of: &Value, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::toString | Method::toLocaleString, _) => Value::Text(self.text(of)?),
            (Method::equals, [other]) => Value::Bool(of.equals(other)),
            (Method::is, [other]) => Value::Bool(super::operate::identical(of, other)),
            (Method::hashCode, []) => Value::Int(crate::value::hash_code(of)),
            (Method::getClass, []) => self.class_of(of),
            (Method::compareTo, [other]) => {
                Value::Int(self.compared(of, other)?.map_or(0, |order| order as i32))
            }
            (Method::asType, [Value::Class(class)]) => {
                self.cast(&Type::of_class(*class), of.clone(), true)?
            }
            (Method::with, [Value::Closure(closure)]) => self.with(closure, of)?,
            (Method::tap, [Value::Closure(closure)]) => {
                self.with(closure, of)?;
                of.clone()
            }
            (Method::each, [Value::Closure(closure)]) => {
                self.call_closure(closure, std::slice::from_ref(of))?;
                of.clone()
            }
            (Method::isCase, [subject]) => Value::Bool(self.is_case(of, subject)?),
            (Method::println | Method::print, [value]) => {
                let end = if method == Method::println { "\n" } else { "" };
                let text = self.text(value)?;
                self.host.print(&format!("{text}{end}"));
                Value::Null
            }
            (Method::inspect | Method::dump, []) => Value::Text(self.text(of)?),
            (Method::sleep, [millis]) => {
                self.sleep(millis.to_long().unwrap_or(0))?;
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    /// A closure that knows an object's methods and properties by their names alone.
    fn with(&mut self, closure: &Rc<Closure>, of: &Value) -> Run {
        self.delegates.push(of.clone());
        let result = self.call_closure(closure, std::slice::from_ref(of));
        self.delegates.pop();
        result
    }

    fn class_of(&mut self, of: &Value) -> Value {
        let name = of.class_name();
        let class = crate::class::Class::with_path(&name);
        class.map_or_else(
            || Value::object(Object::Constant(crate::class::Class::ClassItself, Rc::from(name))),
            Value::Class,
        )
    }

    pub(super) fn no_method<T>(&mut self, of: &Value, name: &str, args: &[Value]) -> Run<T> {
        let class = of.class_name();
        let types: Vec<String> = args.iter().map(|arg| short_name(&arg.class_name())).collect();
        let values = self.texts_of(args)?;
        let types = types.join(", ");
        match self.dialect {
            Dialect::Groovy => thrown(
                "MissingMethodException",
                format!(
                    "No signature of method: {class}.{name}() is applicable for argument types: ({types}) values: [{values}]"
                ),
            ),
            Dialect::BeanShell => thrown(
                "EvalError",
                format!("Error in method invocation: Method {name}( {types} ) not found in class'{class}'"),
            ),
            Dialect::JavaScript => {
                thrown("EcmaError", format!("TypeError: Cannot find function {name} in object."))
            }
            Dialect::Jexl => thrown("JexlException", format!("unsolvable function/method '{name}'")),
        }
    }

    /// The property of a getter; one that is missing is a missing property.
    pub(super) fn invoke_getter(&mut self, of: &Value, getter: Method, name: &str) -> Run {
        if matches!(getter, Method::getClass) {
            return Ok(self.class_of(of));
        }
        match self.invoke(of, getter, &[]) {
            Err(abrupt)
                if matches!(&*abrupt, Abrupt::Thrown(class, Some(message))
                if class.simple_name() == "MissingMethodException" && message.contains(getter.name())) =>
            {
                self.missing_property(of, name)
            }
            result => result,
        }
    }

    fn closure_method(
        &mut self,
        closure: &Rc<Closure>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match method {
            Method::call | Method::doCall | Method::run => self.call_closure(closure, args)?,
            Method::curry => {
                let given = closure.given.iter().chain(args).cloned().collect();
                let (function, captures) = (closure.function.clone(), closure.captures.clone());
                Value::Closure(Rc::new(Closure { function, captures, given }))
            }
            Method::memoize => Value::Closure(closure.clone()),
            _ => return Ok(None),
        }))
    }
}

/// The parts of an argument that is given to several parameters.
fn parts_of(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(list) => Some(list.to_vec()),
        Value::Object(object) => match &**object {
            Object::Entry(key, value) => Some(vec![key.clone(), value.clone()]),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a class without its package.
fn short_name(class: &str) -> String {
    class.rsplit('.').next().unwrap_or(class).to_owned()
}
