//! `ZoneId` and `ZoneOffset`; `TimeZone` of `java.util` is one as well.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use crate::time;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A zone.
pub(crate) struct Zone(pub TimeZone);

impl Object for Zone {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&time::zone_name(&self.0));
    }
}

pub(crate) static KIND: Kind = Kind::new("java.time", "ZoneId")
    .extends(&object::KIND)
    .statics(&[
        row("of", 1, |m, _, args| match of_value(m, &args[0])? {
            Some(zone) => Ok(Value::object(Zone(zone))),
            None => {
                let name = m.text(&args[0])?;
                thrown("DateTimeException", format!("Unknown time-zone ID: {name}"))
            }
        }),
        row("systemDefault", 0, own),
    ])
    .methods(METHODS);

pub(crate) static OFFSET: Kind = Kind::new("java.time", "ZoneOffset")
    .extends(&KIND)
    .constants(|name| (name == "UTC").then(|| Value::object(Zone(TimeZone::UTC))));

const METHODS: &[ClassRow] = &[
    row("getID", 0, name),
    row("getId", 0, name),
    rows("getDisplayName", 0, 2, name),
    row("getRawOffset", 0, |_, of, _| {
        Ok(Value::Int(of.receiver::<Zone>().0.to_offset(Timestamp::UNIX_EPOCH).seconds() * 1_000))
    }),
    row("toZoneId", 0, |_, of, _| Ok(of.clone())),
];

fn name(m: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    m.new_text(time::zone_name(&of.receiver::<Zone>().0))
}

/// The script's own zone.
pub(crate) fn own(m: &mut Machine<'_>, _: &Value, _: &[Value]) -> Run {
    Ok(Value::object(Zone(m.host.time_zone())))
}

/// A zone by its object or name; `None` for one that is not known.
pub(crate) fn of_value(m: &mut Machine<'_>, value: &Value) -> Run<Option<TimeZone>> {
    if let Value::Object(_) = value {
        return Ok(value.as_object::<Zone>().map(|zone| zone.0.clone()));
    }
    let name = m.text(value)?;
    Ok(time::zone_of(&name))
}

/// The zone that an argument names; without one, or where it is not known, the script's own.
pub(crate) fn of_first(m: &mut Machine<'_>, args: &[Value]) -> Run<TimeZone> {
    let named = match args.first().filter(|zone| !zone.is_null()) {
        Some(zone) => of_value(m, zone)?,
        None => None,
    };
    Ok(named.unwrap_or_else(|| m.host.time_zone()))
}
