//! The part of Groovy, BeanShell, JavaScript and JEXL that scripts in JMeter's plans use, as a small interpreter.
//!
//! [`Script::compile`] reads a text once and lists all that does not run here; [`Script::run`] runs it for any user. Whatever is
//! outside of the script (variables, samples, time, chance, files) comes through a [`Host`], and each run is bounded by
//! [`Limits`]. There is no process, no network and no reflection to refuse: such classes do not exist. A dialect is a value
//! that the one lexer, parser and evaluator ask where the languages differ.
//!
//! Start reading at [`parse`] for how a text becomes a [`tree`], and at [`run`] for how that is walked.

mod class;
mod dialect;
pub mod host;
mod lexer;
mod memory;
mod method;
mod number;
mod parse;
mod run;
mod script;
mod stack;
mod time;
mod tree;
mod value;

pub use dialect::Dialect;
pub use host::Host;
pub use memory::MemoryHost;
pub use parse::Unsupported;
pub use run::{Globals, Limit, Limits, RunError};
pub use script::Script;
pub use tree::Binding;
pub use value::{Argument, CookieValue, List, ListKind, Map, MapKind, Value};
