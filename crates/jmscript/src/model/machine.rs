//! The state of a run, and how much of what it may take is left.

use super::abrupt::{Abrupt, Limit, Run, thrown, too_deep};
use super::host::Host;
use super::meaning::patterns::Patterns;
use super::tree::{Function, TreeCode};
use super::value::{Delegate, LazyPiece, Map, SharedValue, Style, Value};
use crate::dialect::Dialect;
use crate::stack::Stack;
use std::rc::Rc;

/// Limits of one run of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineLimits {
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

impl Default for MachineLimits {
    fn default() -> MachineLimits {
        MachineLimits { steps: 1_000_000, memory: 64 << 20, text: 4 << 20, calls: 128, sleep: 60_000 }
    }
}

/// Variables of a script's outermost level, which BeanShell keeps in the user from run to run.
#[derive(Debug, Default)]
pub struct Globals {
    pub(crate) values: Vec<Option<Value>>,
}

/// A slot of the running function.
#[derive(Debug)]
pub(crate) enum MachineSlot {
    Plain(Value),
    /// A variable that a closure has captured.
    Shared(Rc<SharedValue>),
}

/// Where the running function has its variables.
pub(crate) struct Frame {
    pub slots: Vec<MachineSlot>,
    /// The first slot of the running function, and what it has captured.
    pub base: usize,
    pub captures: Rc<[Rc<SharedValue>]>,
    /// Variables that closures share: emptied in the end, for they may hold each other.
    pub shared: Vec<Rc<SharedValue>>,
}

/// Runs a function of the script with the variables that it has captured: what walks the tree.
pub(crate) type Walk = fn(&mut Machine<'_>, &Rc<Function>, Rc<[Rc<SharedValue>]>, &[Value]) -> Run;

/// The state of a run.
pub struct Machine<'a> {
    pub(crate) code: &'a TreeCode,
    pub(crate) dialect: Dialect,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) globals: &'a mut Globals,
    pub(crate) patterns: &'a Patterns,
    pub(crate) limits: MachineLimits,
    pub(crate) frame: Frame,
    /// Maps that a builder's closures fill, the innermost last.
    pub(crate) builders: Vec<Rc<Map>>,
    /// Whose methods and properties the names in running closures mean, the innermost last.
    pub(crate) delegates: Vec<Delegate>,
    /// Closures of `use (TimeCategory)` that run.
    pub(crate) time_categories: u32,
    /// Calls within calls.
    pub(crate) calls: usize,
    /// The label of the loop that begins next.
    pub(crate) label: Option<Rc<str>>,
    pub(crate) line: u32,
    pub(crate) walk: Walk,
    pub(crate) left: Budget,
}

/// Remainder of what a run may take.
pub(crate) struct Budget {
    steps: u64,
    memory: usize,
    slept: u64,
    stack: Stack,
}

impl Budget {
    /// All of it; the stack is measured from here.
    pub fn new(limits: MachineLimits) -> Budget {
        Budget { steps: limits.steps, memory: limits.memory, slept: 0, stack: Stack::begin() }
    }
}

impl Machine<'_> {
    /// Counts one step.
    pub(crate) fn step(&mut self) -> Run<()> {
        self.work(1)
    }

    /// Counts work that is worth several steps.
    pub(crate) fn work(&mut self, steps: usize) -> Run<()> {
        match self.left.steps.checked_sub(steps as u64) {
            Some(left) => {
                self.left.steps = left;
                Ok(())
            }
            None => Err(Abrupt::limit(Limit::Steps, self.limits.steps)),
        }
    }

    /// Counts bytes that are about to be taken.
    pub(crate) fn take(&mut self, bytes: usize) -> Run<()> {
        match self.left.memory.checked_sub(bytes) {
            Some(left) => {
                self.left.memory = left;
                Ok(())
            }
            None => Err(Abrupt::limit(Limit::Memory, self.limits.memory as u64)),
        }
    }

    /// Counts a text that is about to be made.
    pub(crate) fn take_text(&mut self, bytes: usize) -> Run<()> {
        if bytes > self.limits.text {
            return Err(Abrupt::limit(Limit::Text, self.limits.text as u64));
        }
        self.take(bytes)
    }

    /// Counts the elements of a list that is about to be made.
    pub(crate) fn take_items(&mut self, items: usize) -> Run<()> {
        self.work(items / 4)?;
        self.take(items.saturating_mul(size_of::<Value>()))
    }

    /// A text of the script's making.
    pub(crate) fn new_text(&mut self, text: impl Into<Rc<str>> + AsRef<str>) -> Run {
        self.take_text(text.as_ref().len())?;
        Ok(Value::Text(text.into()))
    }

    /// A list of the script's making.
    pub(crate) fn new_list(&mut self, items: Vec<Value>) -> Run {
        self.take_items(items.len())?;
        Ok(Value::list(items))
    }

    pub(crate) fn style(&self) -> Style {
        match self.dialect {
            Dialect::Groovy => Style::Groovy,
            Dialect::JavaScript => Style::JavaScript,
            Dialect::BeanShell | Dialect::Jexl => Style::Java,
        }
    }

    /// A value as text; closures in it are called.
    pub(crate) fn text(&mut self, value: &Value) -> Run<Rc<str>> {
        match value {
            Value::Text(text) | Value::Template(text) => Ok(text.clone()),
            Value::Lazy(pieces) => self.lazy_text(&pieces.clone()),
            Value::Bound(_) => self.bound_text(value),
            Value::Object(object) => match object.clone().text(self, value) {
                Some(text) => text,
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
    pub(crate) fn is_true(&mut self, value: &Value) -> Run<bool> {
        match value {
            Value::Bool(value) => Ok(*value),
            Value::List(_) | Value::Map(_) if self.dialect == Dialect::JavaScript => Ok(true),
            Value::Text(text) if self.dialect == Dialect::Jexl => Ok(!text.is_empty() && &**text != "false"),
            value if self.dialect.has_truth_of_values() => Ok(value.is_true()),
            _ => thrown("EvalError", "Condition must evaluate to a Boolean or boolean."),
        }
    }

    /// Waits: the user does, after the script. The script's own clock goes on at once.
    pub(crate) fn sleep(&mut self, millis: i64) -> Run<()> {
        let millis = u64::try_from(millis).unwrap_or(0);
        self.left.slept = self.left.slept.saturating_add(millis);
        if self.left.slept > self.limits.sleep {
            return Err(Abrupt::limit(Limit::Sleep, self.limits.sleep));
        }
        self.host.pause(millis);
        Ok(())
    }

    /// Ends the run before its calls and expressions within each other would overflow the thread's stack.
    pub(crate) fn check_depth(&self) -> Run<()> {
        if self.left.stack.is_exhausted() { too_deep(self.limits.calls) } else { Ok(()) }
    }
}
