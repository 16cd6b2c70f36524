//! Names of the outside world, and of the script's own variables.

use super::abrupt::{Run, thrown};
use super::machine::Machine;
use super::meaning::items::list_of_kind;
use crate::dialect::Dialect;
use crate::model::host::{Field, HostSample, Presence, Stop};
use crate::model::tree::Binding;
use crate::model::value::{ListKind, Value};
use std::rc::Rc;

impl Machine<'_> {
    /// Returns the value that a name of the outside world stands for.
    pub(crate) fn bound(&mut self, binding: Binding) -> Run {
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
                list_of_kind(self, ListKind::Array, parts)?
            }
            Binding::ResponseData => self.host.get(Field::Bytes(HostSample::Previous)),
            Binding::ResponseCode => self.host.get(Field::Code(HostSample::Previous)),
            Binding::ResponseMessage => self.host.get(Field::Message(HostSample::Previous)),
            Binding::ResponseHeaders => self.host.get(Field::ResponseHeaders(HostSample::Previous)),
            Binding::RequestHeaders => self.host.get(Field::RequestHeaders(HostSample::Previous)),
            Binding::SamplerData => self.host.get(Field::SamplerData(HostSample::Previous)),
            Binding::IsSuccess => self.host.get(Field::Success(HostSample::Own)),
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
    pub(crate) fn set_bound(&mut self, binding: Binding, value: Value) -> Run<()> {
        let field = match binding {
            Binding::ResponseCode => Field::Code(HostSample::Own),
            Binding::ResponseMessage => Field::Message(HostSample::Own),
            Binding::IsSuccess => Field::Success(HostSample::Own),
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
    pub(crate) fn put_field(&mut self, field: Field, value: Value) -> Run {
        match self.host.set(field, value) {
            Ok(()) => Ok(Value::Null),
            Err(reason) => thrown("UnsupportedOperationException", reason),
        }
    }

    pub(crate) fn bound_text(&mut self, of: &Value) -> Run<Rc<str>> {
        match of.kind().view().text {
            Some(text) => text(self),
            None => Ok(Rc::from(of.class_name())),
        }
    }

    pub(crate) fn stop(&mut self, what: Stop) -> Value {
        self.host.stop(what);
        Value::Null
    }

    // The script's own variables.

    /// The value of a variable of the script's outermost level.
    pub(crate) fn global(&mut self, at: u16) -> Run {
        match &self.globals.values[usize::from(at)] {
            Some(value) => Ok(value.clone()),
            None => self.unknown_name(at),
        }
    }

    fn unknown_name(&mut self, at: u16) -> Run {
        let name = self.code.globals[usize::from(at)].clone();
        if let Some(delegate) = self.delegates.last().cloned() {
            return self.property_named(&delegate.value, &name);
        }
        match self.dialect {
            Dialect::Groovy => {
                thrown("MissingPropertyException", format!("No such property: {name} for class: Script1"))
            }
            Dialect::BeanShell => Ok(Value::Void),
            Dialect::JavaScript => thrown("EcmaError", format!("ReferenceError: \"{name}\" is not defined.")),
            Dialect::Jexl => thrown("JexlException", format!("undefined variable {name}")),
        }
    }

    fn own_place(&self, name: &str) -> Option<usize> {
        self.code.globals.iter().position(|global| **global == *name)
    }

    /// The value of a variable of the script's outermost level, where it has been set.
    pub(crate) fn own_value(&self, name: &str) -> Option<Value> {
        self.own_place(name).and_then(|at| self.globals.values[at].clone())
    }

    /// The value of such a variable, where the script knows its name.
    pub(crate) fn own_variable(&mut self, name: &str) -> Option<Run> {
        self.own_place(name).map(|at| self.global(at as u16))
    }

    /// Sets such a variable. Nobody reads one whose name the script does not know.
    pub(crate) fn set_own_variable(&mut self, name: &str, value: &Value) -> Run<()> {
        if let Some(at) = self.own_place(name) {
            self.globals.values[at] = Some(value.clone());
        }
        Ok(())
    }
}
