//! How a run ends before its end: an exception, which scripts may catch, or a limit, which they may not.

use crate::model::class::Exception;
use std::fmt;
use std::rc::Rc;

/// A limit of a run.
#[expect(missing_docs, reason = "the names are those of the fields of `Limits`")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Steps,
    Memory,
    Text,
    Calls,
    Sleep,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Steps => "steps",
            Limit::Memory => "bytes of memory",
            Limit::Text => "bytes in one text",
            Limit::Calls => "calls within calls",
            Limit::Sleep => "milliseconds of sleep",
        })
    }
}

/// Why a run has ended early.
#[derive(Debug)]
pub enum Abrupt {
    Thrown(Exception, Option<Rc<str>>),
    Limit(Limit, u64),
}

pub type Run<T = crate::model::value::Value> = Result<T, Box<Abrupt>>;

impl Abrupt {
    pub(crate) fn limit(limit: Limit, most: u64) -> Box<Abrupt> {
        Box::new(Abrupt::Limit(limit, most))
    }
}

/// An exception of the class with this simple name.
pub(crate) fn thrown<T>(class: &str, message: impl Into<Rc<str>>) -> Run<T> {
    Err(Box::new(Abrupt::Thrown(exception(class), Some(message.into()))))
}

/// An exception that has no message.
pub(crate) fn thrown_bare<T>(class: &str) -> Run<T> {
    Err(Box::new(Abrupt::Thrown(exception(class), None)))
}

/// Calls or expressions within each other that would take too much of the thread's stack.
pub(crate) fn too_deep<T>(calls: usize) -> Run<T> {
    Err(Abrupt::limit(Limit::Calls, calls as u64))
}

/// The class of this simple name; a plain exception where it is none.
fn exception(class: &str) -> Exception {
    Exception::named(class).unwrap_or_else(Exception::any)
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The line, from 1.
    pub line: u32,
    /// The class of the exception, with its package; empty where a limit was reached.
    pub class: &'static str,
    /// Its message; empty where it has none.
    pub message: String,
    /// The limit that was reached.
    pub limit: Option<Limit>,
}

impl RunError {
    pub(crate) fn new(abrupt: Abrupt, line: u32) -> RunError {
        match abrupt {
            Abrupt::Thrown(class, message) => RunError {
                line,
                class: class.full_name(),
                message: message.map_or_else(String::new, |text| text.to_string()),
                limit: None,
            },
            Abrupt::Limit(limit, most) => RunError {
                line,
                class: "",
                message: format!("the script used more than {most} {limit}, its limit"),
                limit: Some(limit),
            },
        }
    }

    /// True if it is a failed `assert`, which fails an assertion rather than breaking it.
    pub fn is_assertion(&self) -> bool {
        self.class.ends_with("AssertionError")
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunError { line, class, message, .. } = self;
        match (class.is_empty(), message.is_empty()) {
            (true, _) => write!(f, "line {line}: {message}"),
            (false, true) => write!(f, "line {line}: {class}"),
            (false, false) => write!(f, "line {line}: {class}: {message}"),
        }
    }
}

impl std::error::Error for RunError {}
