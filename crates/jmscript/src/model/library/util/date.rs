//! `Date`.

use crate::dialect::Dialect;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, Native, row};
use crate::model::library::javascript::date as javascript;
use crate::model::library::lang::object;
use crate::model::library::text::simple_date_format;
use crate::model::library::time::temporal::{self, Temporal};
use crate::model::library::time::{in_time, out_of_time};
use crate::model::library::util::calendar::Calendar;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use crate::time::{self, Letters, Moment};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

/// Milliseconds of Unix time.
pub(crate) struct Date(pub Cell<i64>);

impl Date {
    /// As a value.
    pub fn value(millis: i64) -> Value {
        Value::object(Date(Cell::new(millis)))
    }
}

impl Object for Date {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        out.push_str(&time::date_text(self.0.get()));
    }

    fn text(&self, m: &mut Machine<'_>, _: &Value) -> Option<Run<Rc<str>>> {
        let zone = m.host.time_zone();
        if m.dialect == Dialect::JavaScript {
            return Some(in_time(javascript_text(self.0.get(), &zone)).map(Rc::from));
        }
        Some(Ok(Rc::from(time::date_text_in(self.0.get(), &zone))))
    }

    fn order(&self, other: &dyn Object) -> Option<Ordering> {
        other.downcast::<Date>().map(|other| self.0.get().cmp(&other.0.get()))
    }

    fn json(&self) -> Option<Value> {
        let moment = time::moment(self.0.get(), &TimeZone::UTC)?;
        time::format(&moment, "yyyy-MM-dd'T'HH:mm:ssZ", Letters::Simple).ok().map(Value::text)
    }
}

/// A date as Rhino writes it, which has a minus before the zone of Greenwich.
fn javascript_text(millis: i64, zone: &TimeZone) -> Option<String> {
    let moment = time::moment(millis, zone)?;
    let text = time::format(&moment, "EEE MMM dd yyyy HH:mm:ss 'GMT'Z (z)", Letters::Simple).ok()?;
    Some(text.replace("GMT+0000", "GMT-0000"))
}

/// A whole number of a date in the script's zone.
macro_rules! field {
    ($read:expr) => {{
        const READ: Native = |m, of, _| {
            let read: fn(DateTime) -> i32 = $read;
            let zone = m.host.time_zone();
            let moment = in_time(time::moment(millis(of), &zone))?;
            Ok(Value::Int(read(moment.at)))
        };
        READ
    }};
}

pub(crate) static KIND: Kind = Kind::new("java.util", "Date")
    .extends(&object::KIND)
    .creates(create)
    .javascript(javascript::METHODS)
    .statics(&[
        row("parse", 2, |m, _, args| {
            let pattern = m.text(&args[0])?;
            let text = m.text(&args[1])?;
            let zone = m.host.time_zone();
            match simple_date_format::read(&text, &pattern, &zone) {
                Some(millis) => Ok(Date::value(millis)),
                None => thrown("ParseException", format!("Unparseable date: \"{text}\"")),
            }
        }),
        row("now", 0, |m, _, _| Ok(Value::Double(m.host.now() as f64))),
        row("from", 1, |m, of, args| match args[0].as_object::<Temporal>().and_then(Temporal::instant) {
            Some(instant) => Ok(Date::value(instant.as_millisecond())),
            None => m.no_method(of, "from", args),
        }),
    ])
    .methods(&[
        row("getTime", 0, |_, of, _| Ok(Value::Long(millis(of)))),
        row("setTime", 1, |_, of, args| {
            of.receiver::<Date>().0.set(args[0].to_long().unwrap_or(0));
            Ok(Value::Null)
        }),
        row("before", 1, |_, of, args| Ok(Value::Bool(millis(of) < other(&args[0])))),
        row("after", 1, |_, of, args| Ok(Value::Bool(millis(of) > other(&args[0])))),
        row("format", 1, |m, of, args| {
            let pattern = m.text(&args[0])?;
            formatted(m, of, &pattern).map(Value::Text)
        }),
        row("plus", 1, |m, of, args| moved(m, of, &args[0], 1, "plus")),
        row("minus", 1, |m, of, args| moved(m, of, &args[0], -1, "minus")),
        row("next", 0, |_, of, _| Ok(Date::value(millis(of).saturating_add(DAY)))),
        row("previous", 0, |_, of, _| Ok(Date::value(millis(of).saturating_sub(DAY)))),
        row("toInstant", 0, |_, of, _| {
            temporal::made(Timestamp::from_millisecond(millis(of)).ok().map(Temporal::Instant))
        }),
        row("getYear", 0, field!(|at| i32::from(at.year()) - 1900)),
        row("getMonth", 0, field!(|at| i32::from(at.month()) - 1)),
        row("getDate", 0, field!(|at| at.day().into())),
        row("getDay", 0, field!(|at| at.weekday().to_sunday_zero_offset().into())),
        row("getHours", 0, field!(|at| at.hour().into())),
        row("getMinutes", 0, field!(|at| at.minute().into())),
        row("getSeconds", 0, field!(|at| at.second().into())),
        row("toISOString", 0, |m, of, _| match Timestamp::from_millisecond(millis(of)) {
            Ok(instant) => m.new_text(format!("{instant:.3}")),
            Err(_) => out_of_time(),
        }),
    ]);

/// Milliseconds of a day.
pub(crate) const DAY: i64 = 86_400_000;

fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    match args {
        [] => Ok(Date::value(m.host.now())),
        [of] if of.is_number() => Ok(Date::value(of.to_long().unwrap_or(0))),
        [of] if of.as_object::<Date>().is_some() => Ok(Date::value(millis(of))),
        [_, _, ..] if m.dialect == Dialect::JavaScript => javascript::of_parts(m, args),
        [text] if m.dialect == Dialect::JavaScript => {
            let text = m.text(text)?;
            match text.parse::<Timestamp>() {
                Ok(instant) => Ok(Date::value(instant.as_millisecond())),
                Err(_) => {
                    thrown("IllegalArgumentException", "a date is read from ISO 8601 here, with its zone")
                }
            }
        }
        _ => thrown("IllegalArgumentException", "a date needs milliseconds here"),
    }
}

/// Milliseconds of a date.
pub(crate) fn millis(of: &Value) -> i64 {
    of.receiver::<Date>().0.get()
}

fn other(value: &Value) -> i64 {
    value.as_object::<Date>().map_or(0, |date| date.0.get())
}

/// A moment of any class as formatters see it; `None` beyond the years that are known.
pub(crate) fn moment(value: &Value, zone: &TimeZone) -> Run<Option<Moment>> {
    if let Some(date) = value.as_object::<Date>() {
        return Ok(time::moment(date.0.get(), zone));
    }
    if let Some(calendar) = value.as_object::<Calendar>() {
        return Ok(time::moment(calendar.millis(), zone));
    }
    match value.as_object::<Temporal>() {
        Some(temporal) => Ok(Some(temporal.moment(zone))),
        None => thrown("IllegalArgumentException", "Cannot format given Object as a Date"),
    }
}

/// A moment, or milliseconds, as text by a pattern of `SimpleDateFormat` in the script's zone.
pub(crate) fn formatted(m: &mut Machine<'_>, value: &Value, pattern: &str) -> Run<Rc<str>> {
    let zone = m.host.time_zone();
    let moment = match value {
        Value::Object(_) => moment(value, &zone)?,
        value => time::moment(value.to_long().unwrap_or(0), &zone),
    };
    temporal::shown(m, &in_time(moment)?, pattern, Letters::Simple)
}

fn moved(m: &mut Machine<'_>, of: &Value, by: &Value, sign: i64, name: &str) -> Run {
    match sum(m, of, by, sign)? {
        Some(value) => Ok(value),
        None => m.no_method(of, name, std::slice::from_ref(by)),
    }
}

/// `date + 1`, `moment - 2`: days for dates, seconds for times; `date - date` in days. `None` where there is no such sum.
pub(crate) fn sum(m: &mut Machine<'_>, of: &Value, by: &Value, sign: i64) -> Run<Option<Value>> {
    if let Some(date) = of.as_object::<Date>() {
        let millis = date.0.get();
        if by.is_number() {
            let days = by.to_long().unwrap_or(0).saturating_mul(sign);
            return Ok(Some(Date::value(millis.saturating_add(days.saturating_mul(DAY)))));
        }
        let other = by.as_object::<Date>();
        return Ok(other.map(|other| Value::Int((millis.saturating_sub(other.0.get()) / DAY) as i32)));
    }
    let Some(temporal) = of.as_object::<Temporal>() else { return Ok(None) };
    match temporal {
        Temporal::Time(_) | Temporal::DateTime(_) | Temporal::Zoned(_) | Temporal::Instant(_)
            if by.is_number() =>
        {
            temporal::plus(m, temporal, &[by.clone(), Value::from("SECONDS")], sign)
        }
        temporal => temporal::plus(m, temporal, std::slice::from_ref(by), sign),
    }
}
