//! `java.text`.

pub(crate) mod decimal_format;
pub(crate) mod simple_date_format;
