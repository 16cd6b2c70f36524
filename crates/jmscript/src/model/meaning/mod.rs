//! The meaning of operators, conversions, loops and formats in each language.

pub(crate) mod convert;
pub(crate) mod format;
pub(crate) mod items;
pub(crate) mod javascript;
pub(crate) mod jexl;
pub(crate) mod operate;
pub(crate) mod order;
pub(crate) mod patterns;
