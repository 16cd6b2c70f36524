//! Why a script cannot run or go on, in one line that names the script's own line.

use std::cell::RefCell;
use std::rc::Rc;
use thiserror::Error;

/// The prelude's chunk, of which no script's author knows.
pub(crate) const PRELUDE: &str = "wringer";

/// Why a script cannot run or go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// Of what Lua says while doing something: its first line, with the script's file and line in front.
    pub(crate) fn of(error: &mlua::Error) -> Failure {
        let (text, traceback) = said(error);
        let (words, calls) = text.split_once('\n').unwrap_or((&text, ""));
        let words = without_prelude(words);
        if has_position(words) {
            return Failure(words.to_owned());
        }
        match calls.lines().chain(traceback.lines()).find_map(position) {
            Some(position) => Failure(format!("{position}: {words}")),
            None => Failure(words.to_owned()),
        }
    }
}

/// The words of an error and the calls that led to it.
fn said(error: &mlua::Error) -> (String, String) {
    match error {
        mlua::Error::CallbackError { cause, traceback } => {
            let (text, inner) = said(cause);
            (text, if inner.is_empty() { traceback.clone() } else { inner })
        }
        mlua::Error::RuntimeError(text) => (text.clone(), String::new()),
        mlua::Error::SyntaxError { message, .. } => (message.clone(), String::new()),
        mlua::Error::BadArgument { pos, cause, .. } => {
            let (text, calls) = said(cause);
            (format!("bad argument #{pos}: {text}"), calls)
        }
        other => (other.to_string(), String::new()),
    }
}

/// The words without the prelude's own position.
fn without_prelude(words: &str) -> &str {
    let inner = words.strip_prefix(PRELUDE).and_then(|rest| rest.strip_prefix(':'));
    inner.and_then(|rest| rest.split_once(": ")).map_or(words, |(_, words)| words)
}

/// True if words begin with `file:line: `.
fn has_position(words: &str) -> bool {
    let ends = words.match_indices(": ").map(|(at, _)| &words[..at]);
    ends.filter_map(|part| part.rsplit_once(':')).any(|(_, line)| is_number(line))
}

/// `file:line` of a line of a traceback that is in a script or a module.
fn position(call: &str) -> Option<&str> {
    let (position, _) = call.trim().split_once(": ")?;
    let (file, line) = position.rsplit_once(':')?;
    (is_number(line) && file != PRELUDE && !file.starts_with('[')).then_some(position)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_scripts_line() {
        let calls = "stack traceback:\n\t[C]: in function 'set'\n\twringer:3: in function 'format'\n\ta.lua:7: in main";
        let runtime = |text: &str| mlua::Error::RuntimeError(text.to_owned());
        for (text, expected) in [
            ("a.lua:3: boom\nstack traceback:\n\tb.lua:9: in x", "a.lua:3: boom"),
            (&format!("wringer:41: no table\n{calls}"), "a.lua:7: no table"),
            (&format!("cannot\n{calls}"), "a.lua:7: cannot"),
            ("unable to resolve h:81 no address", "unable to resolve h:81 no address"),
        ] {
            assert_eq!(Failure::of(&runtime(text)).0, expected);
        }
        let cause =
            mlua::Error::CallbackError { cause: runtime("cannot").into(), traceback: calls.to_owned() };
        assert_eq!(Failure::of(&cause).0, "a.lua:7: cannot");
    }
}
