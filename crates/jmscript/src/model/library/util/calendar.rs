//! `Calendar` and `GregorianCalendar`.

use super::date::Date;
use crate::model::abrupt::Run;
use crate::model::class::{Class, ClassRow, Kind, gives, row, rows};
use crate::model::library::lang::object;
use crate::model::library::time::{in_time, span::span, zone};
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use crate::time;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;

/// Milliseconds of Unix time in a zone.
pub(crate) struct Calendar {
    millis: Cell<i64>,
    zone: RefCell<TimeZone>,
}

impl Calendar {
    pub fn millis(&self) -> i64 {
        self.millis.get()
    }
}

impl Object for Calendar {
    fn class(&self) -> Class {
        Class::Known(&GREGORIAN)
    }

    fn order(&self, other: &dyn Object) -> Option<Ordering> {
        other.downcast::<Calendar>().map(|other| self.millis().cmp(&other.millis()))
    }
}

pub(crate) static KIND: Kind = Kind::new("java.util", "Calendar")
    .extends(&object::KIND)
    .constants(constant)
    .statics(&[gives(rows("getInstance", 0, 2, now), &GREGORIAN)])
    .methods(METHODS);

pub(crate) static GREGORIAN: Kind = Kind::new("java.util", "GregorianCalendar")
    .extends(&KIND)
    .constants(constant)
    .creates(|m, _, _| now(m, &Value::Null, &[]));

const METHODS: &[ClassRow] = &[
    row("getTime", 0, |_, of, _| Ok(Date::value(calendar(of).millis()))),
    row("getTimeInMillis", 0, |_, of, _| Ok(Value::Long(calendar(of).millis()))),
    row("getTimeZone", 0, |_, of, _| Ok(Value::object(zone::Zone(calendar(of).zone.borrow().clone())))),
    row("get", 1, |_, of, args| Ok(Value::Int(field(at(of)?, number(args, 0))))),
    row("getActualMaximum", 1, |_, of, _| Ok(Value::Int(at(of)?.date().days_in_month().into()))),
    row("setTime", 1, |_, of, args| {
        let millis = args[0].as_object::<Date>().map(|date| date.0.get());
        set(of, millis)
    }),
    row("setTimeInMillis", 1, |_, of, args| set(of, Some(number(args, 0)))),
    row("setTimeZone", 1, |m, of, args| {
        if let Some(new) = zone::of_value(m, &args[0])? {
            calendar(of).zone.replace(new);
        }
        Ok(Value::Null)
    }),
    row("add", 2, |_, of, args| add(of, number(args, 0), number(args, 1))),
    row("roll", 2, |_, of, args| add(of, number(args, 0), number(args, 1))),
    row("set", 2, |_, of, args| {
        let by = number(args, 1).saturating_sub(i64::from(field(at(of)?, number(args, 0))));
        add(of, number(args, 0), by)
    }),
    rows("set", 3, 6, set_date),
    row("before", 1, |_, of, args| Ok(Value::Bool(of.order(&args[0]) == Some(Ordering::Less)))),
    row("after", 1, |_, of, args| Ok(Value::Bool(of.order(&args[0]) == Some(Ordering::Greater)))),
];

fn now(m: &mut Machine<'_>, _: &Value, args: &[Value]) -> Run {
    let zone = RefCell::new(zone::of_first(m, args)?);
    Ok(Value::object(Calendar { millis: Cell::new(m.host.now()), zone }))
}

fn calendar(of: &Value) -> &Calendar {
    of.receiver()
}

fn number(args: &[Value], at: usize) -> i64 {
    args.get(at).and_then(Value::to_long).unwrap_or(0)
}

fn at(of: &Value) -> Run<DateTime> {
    let calendar = calendar(of);
    Ok(in_time(time::moment(calendar.millis(), &calendar.zone.borrow()))?.at)
}

fn set(of: &Value, millis: Option<i64>) -> Run {
    calendar(of).millis.set(in_time(millis)?);
    Ok(Value::Null)
}

fn set_at(of: &Value, at: Option<DateTime>) -> Run {
    let millis = at.and_then(|at| time::millis(at, &calendar(of).zone.borrow()));
    set(of, millis)
}

fn add(of: &Value, field: i64, count: i64) -> Run {
    let at = at(of)?;
    set_at(of, unit(field).and_then(|unit| span(unit, count)).and_then(|span| at.checked_add(span).ok()))
}

/// `set(year, month, day)`, and hour, minute, second.
fn set_date(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let at = at(of)?;
    let or =
        |place: usize, now: i8| Some(if args.len() > place { number(args, place) } else { i64::from(now) });
    let read = time::Read {
        year: Some(number(args, 0)),
        month: Some(number(args, 1).saturating_add(1)),
        day: Some(number(args, 2)),
        hour: or(3, at.hour()),
        minute: or(4, at.minute()),
        second: or(5, at.second()),
        ..time::Read::default()
    };
    set_at(of, read.date_time())
}

/// A field by its number.
fn field(at: DateTime, field: i64) -> i32 {
    match field {
        1 => at.year().into(),
        2 => i32::from(at.month()) - 1,
        5 => at.day().into(),
        6 => at.day_of_year().into(),
        7 => at.weekday().to_sunday_one_offset().into(),
        9 => i32::from(at.hour() >= 12),
        10 => i32::from(at.hour()) % 12,
        11 => at.hour().into(),
        12 => at.minute().into(),
        13 => at.second().into(),
        14 => at.millisecond().into(),
        _ => 0,
    }
}

/// The unit of a field.
fn unit(field: i64) -> Option<&'static str> {
    Some(match field {
        1 => "YEARS",
        2 => "MONTHS",
        3 | 4 => "WEEKS",
        5..=8 => "DAYS",
        10 | 11 => "HOURS",
        12 => "MINUTES",
        13 => "SECONDS",
        14 => "MILLIS",
        _ => return None,
    })
}

/// The number of a field, of a month or of a day.
fn constant(name: &str) -> Option<Value> {
    Some(Value::Int(match name {
        "YEAR" => 1,
        "MONTH" => 2,
        "WEEK_OF_YEAR" => 3,
        "WEEK_OF_MONTH" => 4,
        "DATE" | "DAY_OF_MONTH" => 5,
        "DAY_OF_YEAR" => 6,
        "DAY_OF_WEEK" => 7,
        "AM_PM" => 9,
        "HOUR" => 10,
        "HOUR_OF_DAY" => 11,
        "MINUTE" => 12,
        "SECOND" => 13,
        "MILLISECOND" => 14,
        "SUNDAY" | "FEBRUARY" => 1,
        "MONDAY" | "MARCH" => 2,
        "TUESDAY" | "APRIL" => 3,
        "WEDNESDAY" | "MAY" => 4,
        "THURSDAY" | "JUNE" => 5,
        "FRIDAY" | "JULY" => 6,
        "SATURDAY" | "AUGUST" => 7,
        "JANUARY" => 0,
        "SEPTEMBER" => 8,
        "OCTOBER" => 9,
        "NOVEMBER" => 10,
        "DECEMBER" => 11,
        _ => return None,
    }))
}
