//! Calls: of closures, and of methods by the class of their receiver; properties by their names.

use super::abrupt::{Run, thrown};
use super::class::{Class, Method};
use super::library;
use super::library::groovy::time_category;
use super::library::lang::{class, throwable};
use super::library::util::entry::Entry;
use super::machine::Machine;
use super::meaning::items::{self, iterator};
use super::value::{Callable, Closure, Delegate, ListKind, Value, text};
use crate::dialect::Dialect;
use smallvec::SmallVec;
use std::rc::Rc;

/// Arguments of a call.
pub(crate) type Args = SmallVec<[Value; 4]>;

impl Machine<'_> {
    pub(crate) fn apply(&mut self, of: &Value, args: &[Value]) -> Run {
        match of {
            Value::Closure(closure) => self.call_closure(&closure.clone(), args),
            Value::Null => thrown("NullPointerException", "Cannot invoke method call() on null object"),
            other => self.invoke(other, "call", args),
        }
    }

    /// Calls a closure.
    pub(crate) fn call_closure(&mut self, closure: &Rc<Closure>, args: &[Value]) -> Run {
        self.step()?;
        let given: Args;
        let mut args = args;
        if !closure.given.is_empty() {
            given = closure.given.iter().chain(args).cloned().collect();
            args = &given;
        }
        match &closure.function {
            Callable::Method(of, method) => self.invoke(of, method, args),
            Callable::Function(function) => {
                // One argument that holds several is taken apart for several parameters.
                let parts = match args {
                    [one] if function.parameters.len() > 1 => parts_of(one),
                    _ => None,
                };
                let args = parts.as_deref().unwrap_or(args);
                let delegate = closure.delegate.borrow().clone();
                if delegate.value.is_null() {
                    return (self.walk)(self, function, closure.captures.clone(), args);
                }
                self.delegates.push(delegate);
                let result = (self.walk)(self, function, closure.captures.clone(), args);
                self.delegates.pop();
                result
            }
        }
    }

    // Methods.

    /// Calls a method whose name the script wrote: of its class, of a map's closure, or of whatever the object knows.
    pub(crate) fn invoke_named(
        &mut self,
        of: &Value,
        method: Option<Method>,
        name: &Rc<str>,
        args: &[Value],
    ) -> Run {
        if let Value::Map(map) = of
            && (method.is_none() || self.dialect == Dialect::JavaScript)
            && let Some(value @ Value::Closure(_)) = map.get(&Value::Text(name.clone()))
        {
            return self.apply(&value, args);
        }
        if let Some(method) = method {
            return self.invoke_method(of, method, args);
        }
        if let Value::Object(object) = of
            && let Some(result) = object.clone().call(self, of, name, args)
        {
            return result;
        }
        self.no_method(of, name, args)
    }

    /// Calls a method by its name.
    pub(crate) fn invoke(&mut self, of: &Value, name: &str, args: &[Value]) -> Run {
        match Method::named(name) {
            Some(method) => self.invoke_method(of, method, args),
            None => self.no_method(of, name, args),
        }
    }

    /// Calls a method.
    pub(crate) fn invoke_method(&mut self, of: &Value, method: Method, args: &[Value]) -> Run {
        self.check_depth()?;
        if let Value::Class(class) = of {
            return self.invoke_static(*class, method, args);
        }
        let kind = match of {
            Value::Null | Value::Void => return self.on_null(method),
            other => other.kind(),
        };
        if let Some(native) = kind.method(method, args.len(), self.dialect) {
            return native(self, of, args);
        }
        if let Value::Object(object) = of
            && let Some(result) = object.clone().call(self, of, &Rc::from(method.name()), args)
        {
            return result;
        }
        match kind.stand() {
            Some(stand) if library::has_method(of, method, args.len(), self.dialect) => {
                let other = (stand.value)(self, of)?;
                self.invoke_method(&other, method, args)
            }
            Some(_) | None => self.no_method(of, method.name(), args),
        }
    }

    /// Calls a method of a class, or one of the class as an object.
    pub(crate) fn invoke_static(&mut self, class: Class, method: Method, args: &[Value]) -> Run {
        let of = Value::Class(class);
        let native = class.kind().static_method(method, args.len());
        match native.or_else(|| class::KIND.method(method, args.len(), self.dialect)) {
            Some(native) => native(self, &of, args),
            None => self.no_method(&of, method.name(), args),
        }
    }

    /// `new`.
    pub(crate) fn create(&mut self, class: Class, args: &[Value]) -> Run {
        self.step()?;
        self.take(64)?;
        match (class, class.kind().create()) {
            (Class::Thrown(exception), _) => throwable::create(self, exception, args),
            (Class::Known(kind), Some(create)) => create(self, kind, args),
            (Class::Known(_), None) => self.no_method(&Value::Class(class), "<init>", args),
        }
    }

    fn on_null(&mut self, method: Method) -> Run {
        let name = method.name();
        match name {
            "toString" if self.dialect == Dialect::Groovy => return Ok(Value::from("null")),
            "iterator" if self.dialect == Dialect::Groovy => return iterator(self, &Value::Null),
            "is" if self.dialect == Dialect::Groovy => return Ok(Value::Bool(true)),
            _ => {}
        }
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

    /// Calls a closure that knows an object's methods and properties by their names alone.
    pub(crate) fn call_with_delegate(&mut self, closure: &Rc<Closure>, of: &Value, args: &[Value]) -> Run {
        self.delegates.push(Delegate { value: of.clone(), is_first: true });
        let result = self.call_closure(closure, args);
        self.delegates.pop();
        result
    }

    pub(crate) fn no_method<T>(&mut self, of: &Value, name: &str, args: &[Value]) -> Run<T> {
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

    pub(crate) fn texts_of(&mut self, args: &[Value]) -> Run<String> {
        let mut texts = Vec::with_capacity(args.len());
        for arg in args {
            texts.push(self.text(arg)?.chars().take(80).collect::<String>());
        }
        Ok(texts.join(", "))
    }

    // Properties.

    /// The property that a name alone means in a closure with a delegate.
    pub(crate) fn property_named(&mut self, of: &Value, name: &Rc<str>) -> Run {
        self.property_by(of, name, library::getters(name))
    }

    pub(crate) fn property_by(&mut self, of: &Value, name: &Rc<str>, getters: [Option<Method>; 2]) -> Run {
        match of {
            Value::Map(map) if self.dialect.has_collections() => {
                return items::key(self, map, &Value::Text(name.clone()));
            }
            Value::Null => {
                return thrown(
                    "NullPointerException",
                    format!("Cannot get property '{name}' on null object"),
                );
            }
            Value::Int(count) if self.time_categories > 0 => {
                if let Some(length) = time_category::length(*count, name) {
                    return Ok(length);
                }
            }
            Value::Object(object) => {
                if let Some(found) = object.clone().property(self, of, name) {
                    return found;
                }
            }
            Value::Bound(_) => {
                if let Some(found) = of.kind().view().property.and_then(|property| property(self, name)) {
                    return found;
                }
            }
            _ => {}
        }
        if &**name == "length"
            && let Some(length) = self.length(of)
        {
            return Ok(self.number_of(length));
        }
        for getter in getters.into_iter().flatten() {
            if library::has_method(of, getter, 0, self.dialect) {
                return self.invoke_method(of, getter, &[]);
            }
        }
        self.missing_property(of, name)
    }

    /// A length as numbers are in this language.
    pub(crate) fn number_of(&self, length: usize) -> Value {
        if self.dialect.has_only_doubles() { Value::Double(length as f64) } else { Value::count(length) }
    }

    pub(crate) fn length(&self, of: &Value) -> Option<usize> {
        Some(match of {
            Value::List(list) if list.kind == ListKind::Array || self.dialect == Dialect::JavaScript => {
                list.len()
            }
            Value::Bytes(bytes) => bytes.len(),
            Value::Text(found) if self.dialect == Dialect::JavaScript => text::len(found),
            _ => return None,
        })
    }

    pub(crate) fn missing_property<T>(&mut self, of: &Value, name: &str) -> Run<T> {
        let class = of.class_name();
        match self.dialect {
            Dialect::BeanShell => thrown("EvalError", format!("No such field: {name} of {class}")),
            Dialect::Jexl => thrown("JexlException", format!("unsolvable property '{name}'")),
            _ => thrown("MissingPropertyException", format!("No such property: {name} for class: {class}")),
        }
    }
}

/// The parts of an argument that is given to several parameters.
fn parts_of(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(list) => Some(list.to_vec()),
        value => value.as_object::<Entry>().map(|entry| vec![entry.key.clone(), entry.value.clone()]),
    }
}

/// The name of a class without its package.
pub(crate) fn short_name(class: &str) -> String {
    class.rsplit('.').next().unwrap_or(class).to_owned()
}
