//! `java.math`.

pub(crate) mod big_decimal;
pub(crate) mod big_integer;
pub(crate) mod rounding_mode;
