//! `Duration`.

use super::temporal::between;
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, Kind, row, rows};
use crate::model::library::lang::object;
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use jiff::SignedDuration;
use std::cmp::Ordering;
use std::fmt::Write;

/// A length of time.
pub(crate) struct Duration(pub SignedDuration);

impl Object for Duration {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        write!(out, "{}", self.0).expect("a String takes all");
    }

    fn order(&self, other: &dyn Object) -> Option<Ordering> {
        other.downcast::<Duration>().map(|other| self.0.cmp(&other.0))
    }
}

pub(crate) static KIND: Kind = Kind::new("java.time", "Duration")
    .extends(&object::KIND)
    .constants(|name| (name == "ZERO").then(|| Value::object(Duration(SignedDuration::ZERO))))
    .statics(&[
        row("ofDays", 1, |_, _, args| Ok(seconds(&args[0], 86_400))),
        row("ofHours", 1, |_, _, args| Ok(seconds(&args[0], 3_600))),
        row("ofMinutes", 1, |_, _, args| Ok(seconds(&args[0], 60))),
        rows("ofSeconds", 1, 2, |_, _, args| Ok(seconds(&args[0], 1))),
        row("ofMillis", 1, |_, _, args| {
            Ok(Value::object(Duration(SignedDuration::from_millis(args[0].to_long().unwrap_or(0)))))
        }),
        row("between", 2, |_, _, args| {
            let nanos = between("NANOS", &args[0], &args[1])?.to_long().expect("a number of units");
            Ok(Value::object(Duration(SignedDuration::from_nanos(nanos))))
        }),
        row("parse", 1, |m: &mut Machine<'_>, _, args| {
            let text = m.text(&args[0])?;
            match text.parse() {
                Ok(duration) => Ok(Value::object(Duration(duration))),
                Err(_) => {
                    thrown("DateTimeParseException", format!("Text '{text}' could not be parsed at index 0"))
                }
            }
        }),
    ])
    .methods(&[
        row("toMillis", 0, |_, of, _| long(duration(of).as_millis() as i64)),
        row("toSeconds", 0, |_, of, _| long(duration(of).as_secs())),
        row("getSeconds", 0, |_, of, _| long(duration(of).as_secs())),
        row("toMinutes", 0, |_, of, _| long(duration(of).as_secs() / 60)),
        row("toHours", 0, |_, of, _| long(duration(of).as_secs() / 3_600)),
        row("toDays", 0, |_, of, _| long(duration(of).as_secs() / 86_400)),
        row("toNanos", 0, |_, of, _| long(duration(of).as_nanos() as i64)),
    ]);

fn seconds(count: &Value, each: i64) -> Value {
    Value::object(Duration(SignedDuration::from_secs(count.to_long().unwrap_or(0).saturating_mul(each))))
}

fn duration(of: &Value) -> SignedDuration {
    of.receiver::<Duration>().0
}

fn long(value: i64) -> Run {
    Ok(Value::Long(value))
}
