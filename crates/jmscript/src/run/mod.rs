//! Runs a compiled script: a walk over its tree, with a budget for everything that could be without end.

mod abrupt;
mod bytes;
mod call;
mod chance;
mod collections;
mod convert;
mod create;
mod dates;
mod each;
mod eval;
mod exec;
mod files;
mod format;
mod javascript;
mod jexl;
mod jmeter;
mod lists;
mod maps;
mod moments;
mod numbers;
mod objects;
mod operate;
mod patterns;
mod request;
mod samples;
mod statics;
mod texts;

pub use abrupt::{Limit, RunError};
pub(crate) use patterns::Patterns;

use crate::dialect::Dialect;
use crate::host::Host;
use crate::stack::Stack;
use crate::tree::{Code, Place};
use crate::value::{LazyPiece, Map, Shared, Style, Value};
use abrupt::{Abrupt, Run, thrown};
use exec::Flow;
use std::rc::Rc;

/// Limits of one run of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Statements, turns of loops and calls.
    pub steps: u64,
    /// Bytes that may be taken for texts, lists and maps, counted when they are taken and never given back.
    pub memory: usize,
    /// Bytes of the longest text that a script may make.
    pub text: usize,
    /// Calls within calls.
    pub calls: usize,
    /// Milliseconds that a script may sleep in all.
    pub sleep: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 1_000_000, memory: 64 << 20, text: 4 << 20, calls: 128, sleep: 60_000 }
    }
}

/// Variables of a script's outermost level, which BeanShell keeps in the user from run to run.
#[derive(Debug, Default)]
pub struct Globals {
    values: Vec<Option<Value>>,
}

/// A slot of the running function.
#[derive(Debug)]
enum Slot {
    Plain(Value),
    /// A variable that a closure has captured.
    Shared(Rc<Shared>),
}

/// Buffers that runs of a script share.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    slots: Vec<Slot>,
}

struct Machine<'a> {
    code: &'a Code,
    dialect: Dialect,
    host: &'a mut dyn Host,
    globals: &'a mut Globals,
    patterns: &'a Patterns,
    limits: Limits,
    steps: u64,
    memory: usize,
    slept: u64,
    calls: usize,
    stack: Stack,
    slots: Vec<Slot>,
    /// The first slot of the running function, and what it has captured.
    base: usize,
    captures: Rc<[Rc<Shared>]>,
    /// Variables that closures share: emptied in the end, for they may hold each other.
    shared: Vec<Rc<Shared>>,
    /// Maps that a builder's closures fill, the innermost last.
    builders: Vec<Rc<Map>>,
    /// Whose methods and properties closures of `with` and `tap` know, the innermost last.
    delegates: Vec<Value>,
    /// The label of the loop that begins next.
    label: Option<Rc<str>>,
    line: u32,
}

/// Context of a run: all that it needs besides the script.
pub(crate) struct Context<'a> {
    pub host: &'a mut dyn Host,
    pub globals: &'a mut Globals,
    pub patterns: &'a Patterns,
    pub buffers: &'a mut Buffers,
    pub limits: Limits,
}

/// Runs a script; its value.
pub(crate) fn run(code: &Code, dialect: Dialect, context: Context<'_>) -> Result<Value, RunError> {
    let Context { host, globals, patterns, buffers, limits } = context;
    globals.values.resize(code.globals.len(), None);
    if !dialect.keeps_globals() {
        globals.values.fill(None);
    }
    let mut machine = Machine {
        code,
        dialect,
        host,
        globals,
        patterns,
        limits,
        steps: limits.steps,
        memory: limits.memory,
        slept: 0,
        calls: 0,
        stack: Stack::begin(),
        slots: std::mem::take(&mut buffers.slots),
        base: 0,
        captures: Rc::from([]),
        shared: Vec::new(),
        builders: Vec::new(),
        delegates: Vec::new(),
        label: None,
        line: 1,
    };
    let result = machine.main();
    let line = machine.line;
    buffers.slots = machine.end();
    result.map_err(|abrupt| RunError::new(*abrupt, line))
}

impl Machine<'_> {
    fn main(&mut self) -> Run {
        let main = self.code.main.clone();
        self.slots.resize_with(usize::from(main.slots), || Slot::Plain(Value::Null));
        let value = match self.block(&main.body)? {
            Flow::Return(value) => value,
            _ => Value::Null,
        };
        // A text with closures in it is printed while its variables are still there.
        if let Value::Lazy(_) = value { self.text(&value).map(Value::Text) } else { Ok(value) }
    }

    /// Drops all that the run has made; the buffer of slots for the next run.
    fn end(mut self) -> Vec<Slot> {
        self.slots.clear();
        let values = self.shared.iter().map(|shared| shared.set(Value::Null)).collect();
        crate::value::drop_flat(values);
        if !self.dialect.keeps_globals() {
            self.globals.values.fill(None);
        }
        self.slots
    }

    /// Counts one step.
    fn step(&mut self) -> Run<()> {
        self.work(1)
    }

    /// Counts work that is worth several steps.
    fn work(&mut self, steps: usize) -> Run<()> {
        match self.steps.checked_sub(steps as u64) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(Abrupt::limit(Limit::Steps, self.limits.steps)),
        }
    }

    /// Counts bytes that are about to be taken.
    fn take(&mut self, bytes: usize) -> Run<()> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(Abrupt::limit(Limit::Memory, self.limits.memory as u64)),
        }
    }

    /// Counts a text that is about to be made.
    fn take_text(&mut self, bytes: usize) -> Run<()> {
        if bytes > self.limits.text {
            return Err(Abrupt::limit(Limit::Text, self.limits.text as u64));
        }
        self.take(bytes)
    }

    /// Counts the elements of a list that is about to be made.
    fn take_items(&mut self, items: usize) -> Run<()> {
        self.work(items / 4)?;
        self.take(items.saturating_mul(size_of::<Value>()))
    }

    /// A text of the script's making.
    fn new_text(&mut self, text: impl Into<Rc<str>> + AsRef<str>) -> Run {
        self.take_text(text.as_ref().len())?;
        Ok(Value::Text(text.into()))
    }

    /// A list of the script's making.
    fn new_list(&mut self, items: Vec<Value>) -> Run {
        self.take_items(items.len())?;
        Ok(Value::list(items))
    }

    fn style(&self) -> Style {
        match self.dialect {
            Dialect::Groovy => Style::Groovy,
            Dialect::JavaScript => Style::JavaScript,
            Dialect::BeanShell | Dialect::Jexl => Style::Java,
        }
    }

    /// A value as text; closures in it are called.
    fn text(&mut self, value: &Value) -> Run<Rc<str>> {
        match value {
            Value::Text(text) | Value::Template(text) => Ok(text.clone()),
            Value::Lazy(pieces) => self.lazy_text(&pieces.clone()),
            Value::Bound(binding) => self.bound_text(*binding),
            Value::Object(object) => match self.object_text(object) {
                Some(text) => Ok(text),
                None => self.shown(value),
            },
            value => self.shown(value),
        }
    }

    fn shown(&mut self, value: &Value) -> Run<Rc<str>> {
        let text = value.shown(self.style());
        if text.len() > 64 {
            self.take_text(text.len())?;
        }
        Ok(text)
    }

    fn lazy_text(&mut self, pieces: &[LazyPiece]) -> Run<Rc<str>> {
        let mut out = String::new();
        for piece in pieces {
            let text = match piece {
                LazyPiece::Text(text) => text.clone(),
                LazyPiece::Call(closure) => {
                    let value = self.call_closure(closure, &[])?;
                    self.text(&value)?
                }
            };
            self.take_text(out.len() + text.len())?;
            out.push_str(&text);
        }
        Ok(Rc::from(out))
    }

    /// True if a value counts as true in a condition.
    fn is_true(&mut self, value: &Value) -> Run<bool> {
        match value {
            Value::Bool(value) => Ok(*value),
            Value::List(_) | Value::Map(_) if self.dialect == Dialect::JavaScript => Ok(true),
            Value::Text(text) if self.dialect == Dialect::Jexl => Ok(!text.is_empty() && &**text != "false"),
            value if self.dialect.has_truth_of_values() => Ok(value.is_true()),
            _ => thrown("EvalError", "Condition must evaluate to a Boolean or boolean."),
        }
    }

    // Variables.

    fn read(&mut self, place: Place) -> Run {
        match place {
            Place::Local(slot) => Ok(match &self.slots[self.base + usize::from(slot)] {
                Slot::Plain(value) => value.clone(),
                Slot::Shared(shared) => shared.get(),
            }),
            Place::Captured(at) => Ok(self.captures[usize::from(at)].get()),
            Place::Global(at) => match &self.globals.values[usize::from(at)] {
                Some(value) => Ok(value.clone()),
                None => self.unknown_name(at),
            },
            Place::Bound(binding) => self.bound(binding),
        }
    }

    fn unknown_name(&mut self, at: u16) -> Run {
        let name = &self.code.globals[usize::from(at)];
        if let Some(delegate) = self.delegates.last().cloned() {
            return self.element_named(&delegate, name);
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

    fn write(&mut self, place: Place, value: Value) -> Run<()> {
        match place {
            Place::Local(slot) => match &mut self.slots[self.base + usize::from(slot)] {
                Slot::Plain(old) => *old = value,
                Slot::Shared(shared) => drop(shared.set(value)),
            },
            Place::Captured(at) => drop(self.captures[usize::from(at)].set(value)),
            Place::Global(at) => self.globals.values[usize::from(at)] = Some(value),
            Place::Bound(binding) => return self.set_bound(binding, value),
        }
        Ok(())
    }

    /// A new variable in a slot, which a closure may have shared with an earlier turn.
    fn declare(&mut self, slot: u16, value: Value) {
        self.slots[self.base + usize::from(slot)] = Slot::Plain(value);
    }

    /// A local variable as one that closures share.
    fn share(&mut self, slot: u16) -> Rc<Shared> {
        let slot = &mut self.slots[self.base + usize::from(slot)];
        match slot {
            Slot::Shared(shared) => shared.clone(),
            Slot::Plain(value) => {
                let shared = Rc::new(Shared::new(std::mem::take(value)));
                *slot = Slot::Shared(shared.clone());
                self.shared.push(shared.clone());
                shared
            }
        }
    }
}
