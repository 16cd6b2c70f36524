//! `SimpleDateFormat` and `DateFormat`.

use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, gives, row};
use crate::model::library::lang::object;
use crate::model::library::time::{in_time, temporal, zone};
use crate::model::library::util::date::{Date, moment};
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use crate::time::{self, Letters};
use jiff::tz::TimeZone;
use std::cell::RefCell;
use std::rc::Rc;

/// A pattern, and the zone in which dates are written and read.
struct DateFormat {
    pattern: RefCell<Rc<str>>,
    zone: RefCell<TimeZone>,
}

impl Object for DateFormat {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

/// The pattern of formats that are given none.
const SHORT: &str = "M/d/yy, h:mm a";

pub(crate) static DATE_FORMAT: Kind = Kind::new("java.text", "DateFormat")
    .extends(&object::KIND)
    .statics(&[gives(row("getInstance", 0, |m, _, _| Ok(new(m, Rc::from(SHORT)))), &KIND)]);

pub(crate) static KIND: Kind =
    Kind::new("java.text", "SimpleDateFormat").extends(&DATE_FORMAT).creates(create).methods(&[
        row("format", 1, |m, of, args| {
            let pattern = format(of).pattern.borrow().clone();
            let zone = format(of).zone.borrow().clone();
            let moment = match &args[0] {
                date @ Value::Object(_) => moment(date, &zone)?,
                millis => time::moment(millis.to_long().unwrap_or(0), &zone),
            };
            temporal::shown(m, &in_time(moment)?, &pattern, Letters::Simple).map(Value::Text)
        }),
        row("parse", 1, |m, of, args| {
            let text = m.text(&args[0])?;
            match read(&text, &format(of).pattern.borrow(), &format(of).zone.borrow()) {
                Some(millis) => Ok(Date::value(millis)),
                None => thrown("ParseException", format!("Unparseable date: \"{text}\"")),
            }
        }),
        row("setTimeZone", 1, |m, of, args| {
            if let Some(new) = zone::of_value(m, &args[0])? {
                format(of).zone.replace(new);
            }
            Ok(Value::Null)
        }),
        row("getTimeZone", 0, |_, of, _| Ok(Value::object(zone::Zone(format(of).zone.borrow().clone())))),
        row("applyPattern", 1, |m, of, args| {
            let new = m.text(&args[0])?;
            format(of).pattern.replace(new);
            Ok(Value::Null)
        }),
        row("toPattern", 0, |_, of, _| Ok(Value::Text(format(of).pattern.borrow().clone()))),
        row("setLenient", 1, |_, _, _| Ok(Value::Null)),
    ]);

fn format(of: &Value) -> &DateFormat {
    of.receiver()
}

fn create(m: &mut Machine<'_>, _: &'static Kind, args: &[Value]) -> Run {
    let pattern = match args.first() {
        Some(pattern) => m.text(pattern)?,
        None => Rc::from(SHORT),
    };
    let probe = time::moment(0, &TimeZone::UTC).expect("the beginning of Unix time is known");
    match time::format(&probe, &pattern, Letters::Simple) {
        Ok(_) => Ok(new(m, pattern)),
        Err(reason) => thrown("IllegalArgumentException", reason),
    }
}

fn new(m: &mut Machine<'_>, pattern: Rc<str>) -> Value {
    Value::object(DateFormat { pattern: RefCell::new(pattern), zone: RefCell::new(m.host.time_zone()) })
}

/// Milliseconds that a text says by a pattern.
pub(crate) fn read(text: &str, pattern: &str, zone: &TimeZone) -> Option<i64> {
    let read = time::parse(text, pattern, Letters::Simple, false).ok()?;
    let at = read.date_time()?;
    match read.offset {
        Some(seconds) => {
            time::millis(at, &TimeZone::UTC).map(|millis| millis.saturating_sub(i64::from(seconds) * 1_000))
        }
        None => time::millis(at, zone),
    }
}
