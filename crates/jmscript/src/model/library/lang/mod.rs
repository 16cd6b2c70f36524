//! `java.lang`, and what every value has.

pub(crate) mod array;
pub(crate) mod boolean;
pub(crate) mod bytes;
pub(crate) mod char_sequence;
pub(crate) mod character;
pub(crate) mod class;
pub(crate) mod gstring;
pub(crate) mod math;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod string;
pub(crate) mod string_builder;
pub(crate) mod string_change;
pub(crate) mod string_part;
pub(crate) mod system;
pub(crate) mod thread;
pub(crate) mod throwable;
