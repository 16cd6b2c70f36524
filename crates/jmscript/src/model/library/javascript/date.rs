//! Methods of dates in JavaScript (ECMA-262 section 21.4), as Rhino has them.

use crate::model::abrupt::Run;
use crate::model::class::{ClassRow, Native, row, rows};
use crate::model::library::time::in_time;
use crate::model::library::util::date::{Date, millis};
use crate::model::machine::Machine;
use crate::model::value::Value;
use crate::time;
use jiff::civil::{self, DateTime};
use jiff::tz::TimeZone;

/// A whole number of a date, in the script's zone or in UTC.
macro_rules! field {
    ($zone:expr, $read:expr) => {{
        const READ: Native = |m, of, _| {
            let zone: fn(&Machine<'_>) -> TimeZone = $zone;
            let read: fn(DateTime) -> i32 = $read;
            let moment = in_time(time::moment(millis(of), &zone(m)))?;
            Ok(Value::Int(read(moment.at)))
        };
        READ
    }};
}

/// Sets parts of a date, the first one that which its name says.
macro_rules! setter {
    ($zone:expr, $first:expr) => {{
        const SET: Native = |m, of, args| {
            let zone: fn(&Machine<'_>) -> TimeZone = $zone;
            let zone = zone(m);
            set(m, of, args, &SetFrom { first: $first, zone })
        };
        SET
    }};
}

fn local(m: &Machine<'_>) -> TimeZone {
    m.host.time_zone()
}

fn utc(_: &Machine<'_>) -> TimeZone {
    TimeZone::UTC
}

fn year(at: DateTime) -> i32 {
    at.year().into()
}

fn month(at: DateTime) -> i32 {
    i32::from(at.month()) - 1
}

fn weekday(at: DateTime) -> i32 {
    at.weekday().to_sunday_zero_offset().into()
}

pub(crate) const METHODS: &[ClassRow] = &[
    row("getFullYear", 0, field!(local, year)),
    row("getMilliseconds", 0, field!(local, |at| at.millisecond().into())),
    row("getUTCFullYear", 0, field!(utc, year)),
    row("getUTCMonth", 0, field!(utc, month)),
    row("getUTCDate", 0, field!(utc, |at| at.day().into())),
    row("getUTCDay", 0, field!(utc, weekday)),
    row("getUTCHours", 0, field!(utc, |at| at.hour().into())),
    row("getUTCMinutes", 0, field!(utc, |at| at.minute().into())),
    row("getUTCSeconds", 0, field!(utc, |at| at.second().into())),
    row("getUTCMilliseconds", 0, field!(utc, |at| at.millisecond().into())),
    row("getTimezoneOffset", 0, |m, of, _| {
        let moment = in_time(time::moment(millis(of), &m.host.time_zone()))?;
        let seconds = moment.zoned.map_or(0, |zoned| zoned.offset().seconds());
        Ok(Value::Int(-seconds / 60))
    }),
    row("valueOf", 0, |_, of, _| Ok(Value::Double(millis(of) as f64))),
    rows("setFullYear", 1, 3, setter!(local, 0)),
    rows("setMonth", 1, 2, setter!(local, 1)),
    row("setDate", 1, setter!(local, 2)),
    rows("setHours", 1, 4, setter!(local, 3)),
    rows("setMinutes", 1, 3, setter!(local, 4)),
    rows("setSeconds", 1, 2, setter!(local, 5)),
    row("setMilliseconds", 1, setter!(local, 6)),
    rows("setUTCFullYear", 1, 3, setter!(utc, 0)),
    rows("setUTCMonth", 1, 2, setter!(utc, 1)),
    row("setUTCDate", 1, setter!(utc, 2)),
    rows("setUTCHours", 1, 4, setter!(utc, 3)),
    rows("setUTCMinutes", 1, 3, setter!(utc, 4)),
    rows("setUTCSeconds", 1, 2, setter!(utc, 5)),
    row("setUTCMilliseconds", 1, setter!(utc, 6)),
    row("toJSON", 0, |m, of, _| m.invoke(of, "toISOString", &[])),
];

/// The part of a date that is set first, of year, month, day, hour, minute, second and millisecond, and the zone it is read in.
struct SetFrom {
    first: usize,
    zone: TimeZone,
}

fn set(m: &mut Machine<'_>, of: &Value, args: &[Value], target: &SetFrom) -> Run {
    let at = in_time(time::moment(millis(of), &target.zone))?.at;
    let mut parts = [
        i64::from(at.year()),
        i64::from(at.month()) - 1,
        at.day().into(),
        at.hour().into(),
        at.minute().into(),
        at.second().into(),
        at.millisecond().into(),
    ];
    for (part, given) in parts[target.first..].iter_mut().zip(args) {
        *part = number(m, given)?;
    }
    let new = in_time(joined(&parts).and_then(|at| time::millis(at, &target.zone)))?;
    of.receiver::<Date>().0.set(new);
    Ok(Value::Double(new as f64))
}

fn number(m: &mut Machine<'_>, value: &Value) -> Run<i64> {
    Ok(match value.to_long() {
        Some(number) => number,
        None => m.text(value)?.trim().parse().unwrap_or(0),
    })
}

/// A date of parts that may lie beyond their usual bounds: a 13th month is the second of the next year.
fn joined(parts: &[i64; 7]) -> Option<DateTime> {
    let month = parts[1];
    let year = i16::try_from(parts[0].checked_add(month.div_euclid(12))?).ok()?;
    let first =
        civil::Date::new(year, month.rem_euclid(12) as i8 + 1, 1).ok()?.to_datetime(civil::Time::midnight());
    let hours = parts[2].checked_sub(1)?.checked_mul(24)?.checked_add(parts[3])?;
    let minutes = hours.checked_mul(60)?.checked_add(parts[4])?;
    let seconds = minutes.checked_mul(60)?.checked_add(parts[5])?;
    let all = seconds.checked_mul(1000)?.checked_add(parts[6])?;
    first.checked_add(jiff::SignedDuration::from_millis(all)).ok()
}

/// A date of its parts, the year and the month at least, as `new Date(y, m, …)` makes it.
pub(crate) fn of_parts(m: &mut Machine<'_>, args: &[Value]) -> Run {
    let mut parts = [1970, 0, 1, 0, 0, 0, 0];
    for (part, given) in parts.iter_mut().zip(args) {
        *part = number(m, given)?;
    }
    if (0..100).contains(&parts[0]) {
        parts[0] += 1900;
    }
    let zone = m.host.time_zone();
    Ok(Date::value(in_time(joined(&parts).and_then(|at| time::millis(at, &zone)))?))
}
