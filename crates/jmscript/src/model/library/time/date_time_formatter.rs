//! `DateTimeFormatter`.

use super::{temporal, zone};
use crate::model::abrupt::Run;
use crate::model::class::{Class, Kind, gives, row, rows};
use crate::model::library::lang::object;
use crate::model::library::util::date::moment;
use crate::model::machine::Machine;
use crate::model::value::{Object, Value};
use crate::time::Letters;
use jiff::tz::TimeZone;
use std::rc::Rc;

/// A pattern, or the name of a constant like `ISO_DATE`; and a zone for what lies in none.
pub(crate) struct Formatter {
    pattern: Rc<str>,
    zone: Option<TimeZone>,
}

impl Formatter {
    /// The pattern, where it is no form of ISO 8601.
    pub fn pattern_unless_iso(&self) -> Option<Rc<str>> {
        (!self.pattern.starts_with("ISO_")).then(|| self.pattern.clone())
    }
}

impl Object for Formatter {
    fn class(&self) -> Class {
        Class::Known(&KIND)
    }
}

pub(crate) static KIND: Kind = Kind::new("java.time.format", "DateTimeFormatter")
    .extends(&object::KIND)
    .constants(|name| {
        let pattern = Rc::from(name);
        name.starts_with("ISO_").then(|| Value::object(Formatter { pattern, zone: None }))
    })
    .statics(&[gives(
        rows("ofPattern", 1, 2, |m, _, args| {
            let pattern = m.text(&args[0])?;
            Ok(Value::object(Formatter { pattern, zone: None }))
        }),
        &KIND,
    )])
    .methods(&[
        row("format", 1, |m, of, args| match args[0] {
            Value::Object(_) => format(m, of, &args[0]),
            _ => m.no_method(of, "format", args),
        }),
        row("withZone", 1, |m, of, args| {
            let zone = zone::of_value(m, &args[0])?;
            Ok(Value::object(Formatter { pattern: of.receiver::<Formatter>().pattern.clone(), zone }))
        }),
        row("withLocale", 1, |_, of, _| Ok(of.clone())),
    ]);

/// A moment as text by a formatter.
pub(crate) fn format(m: &mut Machine<'_>, of: &Value, at: &Value) -> Run {
    let Formatter { pattern, zone } = of.receiver();
    if pattern.starts_with("ISO_") {
        return m.text(at).map(Value::Text);
    }
    let zone = zone.clone().unwrap_or(TimeZone::UTC);
    let moment = super::in_time(moment(at, &zone)?)?;
    temporal::shown(m, &moment, pattern, Letters::Formatter).map(Value::Text)
}
