//! The part of Groovy, BeanShell, JavaScript and JEXL that scripts in JMeter's plans use, as a small interpreter.
//!
//! [`Script::compile`] reads a text once and lists all that does not run here; [`Script::run`] runs it for any user. Whatever is
//! outside of the script (variables, samples, time, chance, files) comes through a [`Host`], and each run is bounded by
//! [`MachineLimits`]. There is no process, no network and no reflection to refuse: such classes do not exist. A dialect is a value
//! that the one lexer, parser and evaluator ask where the languages differ.
//!
//! Start reading at [`parse`] for how a text becomes a [`tree`], and at [`run`] for how that is walked.

mod ciphers;
mod coding;
mod dialect;
mod lexer;
mod memory;
mod model;
mod number;
mod parse;
mod run;
mod script;
mod stack;
mod time;

pub use dialect::Dialect;
pub use memory::MemoryHost;
pub use model::abrupt::{Limit, RunError};
pub use model::host::{self, Host};
pub use model::machine::{Globals, MachineLimits};
pub use model::tree::Binding;
pub use model::value::{Argument, Bytes, CookieValue, List, ListKind, Map, MapKind, Value};
pub use parse::Unsupported;
pub use script::Script;
