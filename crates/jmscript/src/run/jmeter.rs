//! Objects that JMeter gives to scripts: variables, properties, the log, the place in the run, and what hangs on these.

use super::Machine;
use super::abrupt::{Run, thrown};
use crate::dialect::Dialect;
use crate::host::{Field, Level, Presence, Sample, Stop};
use crate::method::Method;
use crate::tree::Binding;
use crate::value::{ListKind, Object, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// Returns the value that a name of the outside world stands for.
    pub(super) fn bound(&mut self, binding: Binding) -> Run {
        match self.host.presence(binding) {
            Presence::Null => return Ok(Value::Null),
            Presence::Absent => return self.absent(binding),
            Presence::Here => {}
        }
        Ok(match binding {
            Binding::Parameters => self.host.get(Field::Parameters),
            Binding::Label => self.host.get(Field::Label),
            Binding::FileName => self.host.get(Field::FileName),
            Binding::ThreadName => self.host.get(Field::UserName),
            Binding::Args => {
                let text = self.host.get(Field::Parameters);
                let text = if text.is_null() { Rc::from("") } else { self.text(&text)? };
                let parts = text.split_whitespace().map(Value::from).collect();
                self.list_of_kind(ListKind::Array, parts)?
            }
            Binding::ResponseData => self.host.get(Field::Bytes(Sample::Previous)),
            Binding::ResponseCode => self.host.get(Field::Code(Sample::Previous)),
            Binding::ResponseMessage => self.host.get(Field::Message(Sample::Previous)),
            Binding::ResponseHeaders => self.host.get(Field::ResponseHeaders(Sample::Previous)),
            Binding::RequestHeaders => self.host.get(Field::RequestHeaders(Sample::Previous)),
            Binding::SamplerData => self.host.get(Field::SamplerData(Sample::Previous)),
            Binding::IsSuccess => self.host.get(Field::Success(Sample::Own)),
            Binding::Failure => self.host.get(Field::Failure),
            Binding::FailureMessage => self.host.get(Field::FailureMessage),
            binding => Value::Bound(binding),
        })
    }

    fn absent(&mut self, binding: Binding) -> Run {
        let name = match binding {
            Binding::SampleResult => "SampleResult",
            Binding::AssertionResult => "AssertionResult",
            Binding::Prev => "prev",
            Binding::Sampler => "sampler",
            Binding::Vars => "vars",
            Binding::Ctx => "ctx",
            Binding::Props => "props",
            _ => "this name",
        };
        match self.dialect {
            Dialect::Groovy => {
                thrown("MissingPropertyException", format!("No such property: {name} for class: Script1"))
            }
            Dialect::JavaScript => thrown("EcmaError", format!("ReferenceError: \"{name}\" is not defined.")),
            Dialect::Jexl => thrown("JexlException", format!("undefined variable {name}")),
            Dialect::BeanShell => Ok(Value::Void),
        }
    }

    /// Sets one of the names that BeanShell's elements read after the script.
    pub(super) fn set_bound(&mut self, binding: Binding, value: Value) -> Run<()> {
        let field = match binding {
            Binding::ResponseCode => Field::Code(Sample::Own),
            Binding::ResponseMessage => Field::Message(Sample::Own),
            Binding::IsSuccess => Field::Success(Sample::Own),
            Binding::Failure => Field::Failure,
            Binding::FailureMessage => Field::FailureMessage,
            _ => return thrown("EvalError", format!("{binding:?} cannot be set")),
        };
        let value = match (&value, binding) {
            (_, Binding::Failure | Binding::IsSuccess) | (Value::Null, _) => value,
            _ => Value::Text(self.text(&value)?),
        };
        self.put_field(field, value).map(drop)
    }

    /// Changes a field of the outside world.
    pub(super) fn put_field(&mut self, field: Field, value: Value) -> Run {
        match self.host.set(field, value) {
            Ok(()) => Ok(Value::Null),
            Err(reason) => thrown("UnsupportedOperationException", reason),
        }
    }

    pub(super) fn bound_text(&mut self, binding: Binding) -> Run<Rc<str>> {
        Ok(match binding {
            Binding::Thread => {
                let name = self.host.get(Field::UserName);
                Rc::from(format!("Thread[{},5,main]", self.text(&name)?))
            }
            Binding::Sampler => {
                let name = self.host.get(Field::SamplerName);
                self.text(&name)?
            }
            Binding::Prev | Binding::SampleResult => {
                let name = self.host.get(Field::SampleLabel(Sample::Previous));
                self.text(&name)?
            }
            binding => Rc::from(format!("org.apache.jmeter.{binding:?}")),
        })
    }

    /// Returns the items that a loop over a part of the outside world sees.
    pub(super) fn items_of_bound(&mut self, binding: Binding) -> Run<Vec<Value>> {
        match binding {
            Binding::Vars => self.entries(true),
            Binding::Props => self.entries(false),
            Binding::Arguments => Ok(self.argument_values()),
            Binding::CookieManager => Ok(self.cookie_values()),
            binding => Ok(vec![Value::Bound(binding)]),
        }
    }

    fn entries(&mut self, of_variables: bool) -> Run<Vec<Value>> {
        let names = if of_variables { self.host.variables() } else { self.host.properties() };
        self.take_items(names.len() * 3)?;
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let value = if of_variables { self.host.variable(&name) } else { self.host.property(&name) };
            found.push(Value::object(Object::Entry(Value::Text(name), value.unwrap_or_default())));
        }
        Ok(found)
    }

    pub(super) fn bound_method(
        &mut self,
        binding: Binding,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        match binding {
            Binding::Vars => self.vars_method(method, args),
            Binding::Props => self.props_method(method, args),
            Binding::Log => self.log_method(method, args),
            Binding::Out => self.out_method(method, args),
            Binding::Ctx => self.ctx_method(method, args),
            Binding::Thread | Binding::ThreadGroup | Binding::Engine => {
                self.place_method(binding, method, args)
            }
            Binding::Prev => self.sample_method(Sample::Previous, method, args),
            Binding::SampleResult => self.sample_method(Sample::Own, method, args),
            Binding::SampleEvent => Ok((method == Method::getResult).then_some(Value::Bound(Binding::Prev))),
            Binding::AssertionResult => self.assertion_method(method, args),
            Binding::Sampler => self.sampler_method(method, args),
            Binding::HeaderManager => self.header_manager(method, args),
            Binding::CookieManager => self.cookie_manager(method, args),
            Binding::Arguments => self.arguments_method(method, args),
            Binding::FileServer => Ok(match method {
                Method::getBaseDir => Some(self.host.get(Field::Folder)),
                Method::getFileServer => Some(Value::Bound(binding)),
                _ => None,
            }),
            Binding::Variables => self.own_variables(method, args),
            Binding::Bsh => match method {
                Method::get => self.props_method(Method::get, args),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn name_of(&mut self, args: &[Value]) -> Run<Rc<str>> {
        match args.first() {
            Some(Value::Null) | None => Ok(Rc::from("null")),
            Some(name) => self.text(name),
        }
    }

    // vars.

    fn vars_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::get, [_]) => {
                let name = self.name_of(args)?;
                match self.host.variable(&name) {
                    None | Some(Value::Null) => Value::Null,
                    Some(text @ Value::Text(_)) => text,
                    Some(other) => {
                        let class = other.class_name();
                        return thrown(
                            "ClassCastException",
                            format!("class {class} cannot be cast to class java.lang.String"),
                        );
                    }
                }
            }
            (Method::getObject, [_]) => {
                let name = self.name_of(args)?;
                self.host.variable(&name).unwrap_or_default()
            }
            (Method::put, [key, value]) => {
                let is_text = |value: &Value| {
                    value.is_null() || value.as_text().is_some() || matches!(value, Value::Lazy(_))
                };
                if !is_text(key) || !is_text(value) || matches!(value, Value::Void) {
                    return self.wrong_put(args);
                }
                let name = self.text(key)?;
                let value = if value.is_null() { Value::Null } else { Value::Text(self.text(value)?) };
                self.host.set_variable(&name, value);
                Value::Null
            }
            (Method::putObject, [key, value]) => {
                let name = self.text(key)?;
                if matches!(value, Value::Closure(_) | Value::Lazy(_)) {
                    return thrown(
                        "UnsupportedOperationException",
                        "a closure ends with its script: put what it gives",
                    );
                }
                self.host.set_variable(&name, value.clone());
                Value::Null
            }
            (Method::remove, [_]) => {
                let name = self.name_of(args)?;
                self.host.remove_variable(&name).unwrap_or_default()
            }
            (Method::putAll, [map]) => {
                for entry in self.items(map)? {
                    let (key, value) = (
                        self.invoke(&entry, Method::getKey, &[])?,
                        self.invoke(&entry, Method::getValue, &[])?,
                    );
                    let name = self.text(&key)?;
                    self.host.set_variable(&name, value);
                }
                Value::Null
            }
            (Method::entrySet | Method::getIterator | Method::iterator, []) => {
                let entries = self.entries(true)?;
                let list = self.new_list(entries)?;
                if method == Method::entrySet { list } else { self.iterator(&list)? }
            }
            (Method::getIteration, []) => self.host.get(Field::Iteration),
            (Method::getThreadName, []) => self.host.get(Field::UserName),
            (Method::isSamplingStarted, []) => Value::Bool(true),
            _ => return self.each_method(&Value::Bound(Binding::Vars), method, args),
        }))
    }

    fn wrong_put(&mut self, args: &[Value]) -> Run<Option<Value>> {
        if self.dialect == Dialect::JavaScript && args.len() == 2 {
            // Rhino converts what a method wants as text.
            let (name, value) = (self.text(&args[0])?, self.text(&args[1])?);
            self.host.set_variable(&name, Value::Text(value));
            return Ok(Some(Value::Null));
        }
        let short = |value: &Value| value.class_name().rsplit('.').next().unwrap_or_default().to_owned();
        let types = args.iter().map(short).collect::<Vec<_>>().join(", ");
        let mut values = Vec::new();
        for arg in args {
            values.push(self.text(arg)?.to_string());
        }
        let values = values.join(", ");
        if self.dialect == Dialect::BeanShell {
            return thrown(
                "EvalError",
                format!(
                    "Error in method invocation: Method put( {types} ) not found in class'org.apache.jmeter.threads.JMeterVariables'"
                ),
            );
        }
        thrown(
            "MissingMethodException",
            format!(
                "No signature of method: org.apache.jmeter.threads.JMeterVariables.put() is applicable for argument types: ({types}) values: [{values}]"
            ),
        )
    }

    // props.

    fn props_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::get | Method::getProperty | Method::getAt, [_]) => {
                let name = self.name_of(args)?;
                let value = self.host.property(&name).unwrap_or_default();
                // `getProperty` sees texts only.
                if method == Method::getProperty && value.as_text().is_none() { Value::Null } else { value }
            }
            (Method::getProperty | Method::getOrDefault | Method::getPropDefault, [_, default]) => {
                let name = self.name_of(args)?;
                self.host.property(&name).filter(|value| !value.is_null()).unwrap_or_else(|| default.clone())
            }
            (Method::put | Method::setProperty | Method::putAt | Method::putIfAbsent, [_, value]) => {
                let name = self.name_of(args)?;
                if value.is_null() {
                    return super::abrupt::thrown_bare("NullPointerException");
                }
                if matches!(value, Value::Closure(_)) {
                    return thrown(
                        "UnsupportedOperationException",
                        "a closure ends with its script: put what it gives",
                    );
                }
                let value = if value.as_text().is_some() || matches!(value, Value::Lazy(_)) {
                    Value::Text(self.text(value)?)
                } else {
                    value.clone()
                };
                let old = self.host.property(&name).unwrap_or_default();
                if method != Method::putIfAbsent || old.is_null() {
                    self.host.set_property(&name, value);
                }
                old
            }
            (Method::remove, [_]) => {
                let name = self.name_of(args)?;
                self.host.remove_property(&name).unwrap_or_default()
            }
            (Method::containsKey | Method::contains, [_]) => {
                let name = self.name_of(args)?;
                Value::Bool(self.host.property(&name).is_some())
            }
            (Method::keySet | Method::stringPropertyNames | Method::keys, []) => {
                let names = self.host.properties().into_iter().map(Value::Text).collect();
                self.list_of_kind(ListKind::Set, names)?
            }
            (Method::entrySet, []) => {
                let entries = self.entries(false)?;
                self.new_list(entries)?
            }
            (Method::size, []) => Value::count(self.host.properties().len()),
            _ => return self.each_method(&Value::Bound(Binding::Props), method, args),
        }))
    }

    // log, OUT.

    fn log_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let level = match method {
            Method::trace => Level::Trace,
            Method::debug => Level::Debug,
            Method::info => Level::Info,
            Method::warn => Level::Warn,
            Method::error | Method::fatalError => Level::Error,
            Method::isInfoEnabled | Method::isWarnEnabled | Method::isErrorEnabled => {
                return Ok(Some(Value::Bool(true)));
            }
            Method::isDebugEnabled | Method::isTraceEnabled => return Ok(Some(Value::Bool(false))),
            _ => return Ok(None),
        };
        let Some((first, rest)) = args.split_first() else { return Ok(None) };
        if self.dialect == Dialect::Groovy
            && rest.is_empty()
            && (first.is_number() || matches!(first, Value::List(_) | Value::Map(_) | Value::Bool(_)))
        {
            return Ok(None);
        }
        let mut line = self.text(first)?.to_string();
        let spread: Vec<Value>;
        let values = match rest {
            [Value::List(list)] if list.kind == ListKind::Array => {
                spread = list.to_vec();
                &spread[..]
            }
            rest => rest,
        };
        for value in values {
            let text = self.text(value)?;
            match line.find("{}") {
                Some(at) => line.replace_range(at..at + 2, &text),
                // An exception that has no place in the text.
                None => line = format!("{line} {text}"),
            }
        }
        self.take_text(line.len())?;
        self.host.log(level, &line);
        Ok(Some(Value::Null))
    }

    fn out_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let text = match (method, args) {
            (Method::println, []) => "\n".to_owned(),
            (Method::println, [value]) => format!("{}\n", self.text(value)?),
            (Method::print | Method::append, [value]) => self.text(value)?.to_string(),
            (Method::printf | Method::format, _) => self.format(args)?,
            (Method::flush, []) => String::new(),
            _ => return Ok(None),
        };
        self.host.print(&text);
        Ok(Some(Value::Null))
    }

    // ctx and what hangs on it.

    fn ctx_method(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (method, args) {
            (Method::getVariables, []) => Value::Bound(Binding::Vars),
            (Method::getProperties, []) => Value::Bound(Binding::Props),
            (Method::getPreviousResult, []) => self.bound(Binding::Prev)?,
            (Method::getCurrentSampler | Method::getPreviousSampler, []) => self.bound(Binding::Sampler)?,
            (Method::getThreadNum, []) => self.host.get(Field::UserNumber),
            (Method::getThread, []) => Value::Bound(Binding::Thread),
            (Method::getThreadGroup, []) => Value::Bound(Binding::ThreadGroup),
            (Method::getEngine, []) => Value::Bound(Binding::Engine),
            (Method::isSamplingStarted, []) => Value::Bool(true),
            (Method::isRecording, []) => Value::Bool(false),
            (Method::setStartNextThreadLoop, [value]) => {
                self.put_field(Field::NextIteration, Value::Bool(value.is_true()))?
            }
            (Method::setRestartNextLoop, _) => self.put_field(Field::NextIteration, Value::Bool(true))?,
            _ => return Ok(None),
        }))
    }

    fn place_method(&mut self, binding: Binding, method: Method, args: &[Value]) -> Run<Option<Value>> {
        Ok(Some(match (binding, method) {
            (Binding::Thread, Method::getThreadName | Method::getName) => self.host.get(Field::UserName),
            (Binding::ThreadGroup, Method::getName) => self.host.get(Field::GroupName),
            (Binding::ThreadGroup, Method::getNumThreads | Method::getNumberOfThreads) => {
                self.host.get(Field::UserCount)
            }
            (Binding::Thread, Method::getThreadNum) => self.host.get(Field::UserNumber),
            (Binding::Thread, Method::getThreadGroup) => Value::Bound(Binding::ThreadGroup),
            (Binding::Thread, Method::sleep) => {
                self.sleep(args.first().and_then(Value::to_long).unwrap_or(0))?;
                Value::Null
            }
            (Binding::Thread, Method::stop | Method::interrupt) => self.stop(Stop::User),
            (Binding::Engine, Method::askThreadsToStop) => self.stop(Stop::Test),
            (Binding::Engine, Method::stopTest) => {
                let is_now = args.first().is_some_and(Value::is_true);
                self.stop(if is_now { Stop::TestNow } else { Stop::Test })
            }
            (Binding::Engine, Method::stopTestNow | Method::exit) => self.stop(Stop::TestNow),
            _ => return Ok(None),
        }))
    }

    pub(super) fn stop(&mut self, what: Stop) -> Value {
        self.host.stop(what);
        Value::Null
    }

    /// `binding`, `this`.
    fn own_variables(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let name = self.name_of(args)?;
        let at = self.code.globals.iter().position(|global| *global == name);
        let value = at.and_then(|at| self.globals.values[at].clone());
        Ok(Some(match (method, args.len()) {
            (Method::hasVariable, 1) => Value::Bool(value.is_some() || is_known(&name)),
            (Method::getVariable | Method::getProperty | Method::getAt, 1) => match value {
                Some(value) => value,
                None => {
                    return thrown(
                        "MissingPropertyException",
                        format!("No such property: {name} for class: groovy.lang.Binding"),
                    );
                }
            },
            (Method::setVariable | Method::setProperty, 2) => {
                if let Some(at) = at {
                    self.globals.values[at] = Some(args[1].clone());
                }
                Value::Null
            }
            _ => return Ok(None),
        }))
    }
}

/// Names that JMeter puts into each binding.
fn is_known(name: &str) -> bool {
    matches!(
        name,
        "vars"
            | "props"
            | "ctx"
            | "log"
            | "OUT"
            | "Parameters"
            | "args"
            | "Label"
            | "FileName"
            | "sampler"
            | "prev"
    )
}
