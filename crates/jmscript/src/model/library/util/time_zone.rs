//! `TimeZone` of `java.util`, whose objects are zones.

use crate::model::class::{Kind, row};
use crate::model::library::time::zone::{self, Zone};
use crate::model::value::Value;
use jiff::tz::TimeZone;

pub(crate) static KIND: Kind = Kind::new("java.util", "TimeZone").extends(&zone::KIND).statics(&[
    row("getTimeZone", 1, |m, _, args| {
        let zone = zone::of_value(m, &args[0])?;
        Ok(Value::object(Zone(zone.unwrap_or(TimeZone::UTC))))
    }),
    row("getDefault", 0, zone::own),
]);
