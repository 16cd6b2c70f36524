//! Classes and methods that JavaScript has beside Java's: `JSON`, `Array`, and its names for methods of texts, lists and dates.

pub(crate) mod array;
pub(crate) mod date;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod string;
