//! A script: compiled once, run as often as wanted.

use crate::dialect::Dialect;
use crate::model::abrupt::RunError;
use crate::model::host::Host;
use crate::model::machine::{Globals, MachineLimits};
use crate::model::meaning::patterns::Patterns;
use crate::model::tree::TreeCode;
use crate::model::value::{Style, Value};
use crate::parse::{Unsupported, parse};
use crate::run::{self, Buffers, Context};
use std::cell::RefCell;
use std::rc::Rc;

/// A compiled script. It stays on the thread that compiled it: each worker compiles its own.
#[derive(Debug)]
pub struct Script {
    code: TreeCode,
    dialect: Dialect,
    patterns: Patterns,
    buffers: RefCell<Buffers>,
}

impl Script {
    /// Compiles a text. In error, all that does not run here, in the order of the text; nothing has run then.
    pub fn compile(text: &str, dialect: Dialect) -> Result<Script, Vec<Unsupported>> {
        let code = parse(text, dialect)?;
        Ok(Script { code, dialect, patterns: Patterns::default(), buffers: RefCell::default() })
    }

    /// The language.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Runs it; its value.
    pub fn run(&self, host: &mut dyn Host, limits: MachineLimits) -> Result<Value, RunError> {
        self.run_with(host, limits, &mut Globals::default())
    }

    /// Runs it with the variables that a user's BeanShell element has kept since its last run. They are of this script
    /// and this user alone.
    pub fn run_with(
        &self,
        host: &mut dyn Host,
        limits: MachineLimits,
        globals: &mut Globals,
    ) -> Result<Value, RunError> {
        let mut buffers = self.buffers.take();
        let context = Context { host, globals, patterns: &self.patterns, buffers: &mut buffers, limits };
        let result = run::run(&self.code, self.dialect, context);
        self.buffers.replace(buffers);
        result
    }

    /// Runs it as the function of an expression, `__groovy`, `__jexl3`, `__javaScript` or `__BeanShell`: the text of its
    /// value, empty for null. JMeter has the empty text for an error as well, and a line in its log.
    pub fn evaluate(&self, host: &mut dyn Host, limits: MachineLimits) -> Result<Rc<str>, RunError> {
        let value = self.run(host, limits)?;
        Ok(self.text_of(&value))
    }

    /// A value as the text that JMeter makes of it.
    pub fn text_of(&self, value: &Value) -> Rc<str> {
        if value.is_null() {
            return Rc::from("");
        }
        let style = if self.dialect == Dialect::JavaScript { Style::JavaScript } else { Style::Java };
        value.shown(style)
    }

    /// Runs it as a condition: whether its text is `true`, in any case.
    pub fn is_true(&self, host: &mut dyn Host, limits: MachineLimits) -> Result<bool, RunError> {
        let text = self.evaluate(host, limits)?;
        Ok(text.trim().eq_ignore_ascii_case("true"))
    }
}
