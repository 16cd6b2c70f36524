//! Scripts of JMeter's languages: compiled once for each text, and run with a user as their host.

use super::ProgramWorker;
use super::host::HostSeen;
use super::memory::Memory;
use jmscript::{MachineLimits, RunError, Script, Value};
use load::code::{CodeContext, Ran, Refusal};
use plan::Code;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub(super) use jmscript::Dialect;

/// The language of elements that name none that is known.
pub(super) const USUAL: Dialect = Dialect::Groovy;
/// Scripts that a worker keeps compiled, at most: texts that hold values may be many.
const MOST_SCRIPTS: usize = 1000;

/// A script, or why it cannot run.
type Compiled = Rc<Result<Script, String>>;

/// Scripts of a worker.
#[derive(Default)]
pub(super) struct WorkerScripts {
    compiled: RefCell<HashMap<(Dialect, String), Compiled>>,
    /// Properties that are no texts: those of this worker's users.
    pub objects: RefCell<HashMap<Rc<str>, Value>>,
}

/// The language of this name.
pub(super) fn named(language: &str) -> Option<Dialect> {
    Dialect::named(language)
}

/// Returns the parts of a script that do not run, each with its line.
pub(super) fn unsupported(language: &str, text: &str) -> Vec<(u32, String)> {
    let Some(dialect) = named(language) else { return Vec::new() };
    let mut found = Vec::new();
    // What stands for a value may be a number, or a part of a text or name.
    for value in ["1", "x"] {
        let Err(mistakes) = Script::compile(&with(text, value), dialect) else { return Vec::new() };
        let told = |mistake: &jmscript::Unsupported| {
            (mistake.line, format!("{}: {}", mistake.construct, mistake.reason))
        };
        if found.is_empty() {
            found = mistakes.iter().map(told).collect();
        }
    }
    found
}

impl WorkerScripts {
    /// Compiles a script that will be run.
    pub fn prepare(&self, dialect: Dialect, text: &str) {
        self.compiled(dialect, text);
    }

    /// A script, compiled once for each text.
    fn compiled(&self, dialect: Dialect, text: &str) -> Compiled {
        let key = (dialect, text.to_owned());
        if let Some(known) = self.compiled.borrow().get(&key) {
            return known.clone();
        }
        let compiled = Script::compile(text, dialect).map_err(|mistakes| {
            mistakes.first().map_or_else(|| "it cannot run".to_owned(), ToString::to_string)
        });
        let compiled = Rc::new(compiled);
        let mut all = self.compiled.borrow_mut();
        if all.len() >= MOST_SCRIPTS {
            all.clear();
        }
        all.insert(key, compiled.clone());
        compiled
    }
}

/// Runs a script. `text`: with its values.
pub(super) fn run(
    worker: &ProgramWorker,
    code: &Code,
    dialect: Dialect,
    text: &str,
    context: &mut CodeContext<'_>,
    memory: &mut Memory,
) -> Ran {
    let compiled = worker.scripts.compiled(dialect, text);
    let script = match &*compiled {
        Ok(script) => script,
        Err(why) => return refused(why.clone(), false),
    };
    let mut globals = memory.scripts.globals.remove(&code.name).unwrap_or_default();
    let mut seen = HostSeen::new(worker, code, context, memory);
    let result = script.run_with(&mut seen, MachineLimits::default(), &mut globals);
    seen.conclude();
    if dialect.keeps_globals() {
        memory.scripts.globals.insert(code.name.clone(), globals);
    }
    match result {
        Ok(value) if value.is_null() => Ran::default(),
        Ok(value) => Ran { value: Some(script.text_of(&value).as_bytes().to_vec()), failed: None },
        Err(error) => refused(words(&error), error.is_assertion()),
    }
}

fn refused(text: String, is_assertion: bool) -> Ran {
    Ran { value: None, failed: Some(Refusal { text, is_assertion }) }
}

/// An exception as JMeter's script engine says it.
fn words(error: &RunError) -> String {
    match error.class {
        "" => error.to_string(),
        class if error.message.is_empty() => format!("javax.script.ScriptException: {class}"),
        class => format!("javax.script.ScriptException: {class}: {}", error.message),
    }
}

/// The text with one value for all of them, so that it can be looked at before the run.
fn with(text: &str, value: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let inside = &rest[at + 2..];
        let end = closing(inside);
        found.push_str(&rest[..at]);
        match end {
            Some(end) if names_value(&inside[..end]) => {
                found.push_str(value);
                rest = &inside[end + 1..];
            }
            _ => {
                found.push_str("${");
                rest = inside;
            }
        }
    }
    found + rest
}

/// Where the brace closes that was opened before.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, one) in text.char_indices() {
        match one {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A variable or a function of JMeter's, rather than an expression of Groovy's.
fn names_value(inside: &str) -> bool {
    let word = |one: char| one.is_alphanumeric() || "_-".contains(one);
    inside.starts_with("__") || !inside.is_empty() && inside.chars().all(word)
}

#[cfg(test)]
mod tests {
    use super::with;

    #[test]
    fn values_are_put_where_variables_stand() {
        for (text, filled) in [
            ("int a = ${n};", "int a = 1;"),
            ("\"${a.b()} ${c}\"", "\"${a.b()} 1\""),
            ("x(${__P(a,${b})})", "x(1)"),
            ("${", "${"),
            ("a ${open", "a ${open"),
        ] {
            assert_eq!(with(text, "1"), filled, "{text}");
        }
    }
}
