//! `java.time`.

pub(crate) mod chrono_unit;
pub(crate) mod date_time_formatter;
pub(crate) mod duration;
pub(crate) mod instant;
pub(crate) mod local_date;
pub(crate) mod local_date_time;
pub(crate) mod local_time;
pub(crate) mod span;
pub(crate) mod temporal;
pub(crate) mod zone;
pub(crate) mod zoned_date_time;

use crate::model::abrupt::{Run, thrown};

/// A date that cannot be computed with.
pub(crate) fn out_of_time<T>() -> Run<T> {
    thrown("DateTimeException", "a date beyond the years that are known here (-9999 to 9999)")
}

/// A value that can be computed with, or an exception.
pub(crate) fn in_time<T>(found: Option<T>) -> Run<T> {
    found.map_or_else(out_of_time, Ok)
}
