//! `org.json`: objects and arrays of JSON.

pub(crate) mod array;
pub(crate) mod object;
pub(crate) mod part;
