//! The things that scripts compute with: values, their classes with all methods, the tree of a compiled script, the state of a run, and what
//! operators, conversions and calls mean. It does not know how a text becomes a tree, nor how a tree is walked: a closure is
//! called through [`machine::Walk`].
//!
//! These know each other by nature: a value has a class, a class has functions of values, a closure is a value with code, code
//! names classes.

pub(crate) mod abrupt;
mod bound;
pub(crate) mod call;
pub(crate) mod class;
pub mod host;
pub(crate) mod library;
pub(crate) mod machine;
pub(crate) mod meaning;
pub(crate) mod tree;
pub(crate) mod value;
