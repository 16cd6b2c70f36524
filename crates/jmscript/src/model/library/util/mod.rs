//! `java.util`.

pub(crate) mod arrays;
pub(crate) mod base64;
pub(crate) mod calendar;
pub(crate) mod collection;
pub(crate) mod collections;
pub(crate) mod date;
pub(crate) mod entry;
pub(crate) mod iterable;
pub(crate) mod iterator;
pub(crate) mod list;
pub(crate) mod locale;
pub(crate) mod map;
pub(crate) mod objects;
pub(crate) mod random;
pub(crate) mod range;
pub(crate) mod set;
pub(crate) mod time_unit;
pub(crate) mod time_zone;
pub(crate) mod uuid;
pub(crate) mod zip;
