//! Why a script cannot run or go on, in one line.

use std::cell::RefCell;
use std::rc::Rc;
use thiserror::Error;

/// Why a script cannot run or go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// Of what Lua says while doing something: its first line, which names file and line.
    pub(crate) fn of(error: &mlua::Error) -> Failure {
        let text = match error {
            mlua::Error::CallbackError { cause, .. } => return Failure::of(cause),
            mlua::Error::RuntimeError(text) => text.clone(),
            mlua::Error::SyntaxError { message, .. } => message.clone(),
            other => other.to_string(),
        };
        Failure(text.lines().next().unwrap_or_default().to_owned())
    }
}

/// A failure that is no mistake of the script, kept beside the error that Lua carries: its words stand alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fatal(Rc<RefCell<Option<String>>>);

impl Fatal {
    /// Keeps the words, and returns an error that ends the script.
    pub fn raise(&self, words: String) -> mlua::Error {
        let error = mlua::Error::RuntimeError(words.clone());
        *self.0.borrow_mut() = Some(words);
        error
    }

    /// The failure that an error means.
    pub fn failure(&self, error: &mlua::Error) -> Failure {
        self.0.borrow_mut().take().map_or_else(|| Failure::of(error), Failure)
    }
}
