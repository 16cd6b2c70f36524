//! `TimeCategory`: within `use (TimeCategory) { … }` whole numbers have lengths of time as properties, and dates are added to.

use crate::model::abrupt::Run;
use crate::model::class::{Class, ClassRow, Kind, listed, row};
use crate::model::library::lang::object;
use crate::model::library::time::{in_time, out_of_time};
use crate::model::library::util::date::{self, Date};
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use jiff::{Span, Timestamp, Zoned};

/// The parts of a length of time, as `groovy.time.BaseDuration` has them.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct TimeCategoryParts {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    millis: i64,
}

impl TimeCategoryParts {
    /// The sum with another one, or with its opposite.
    fn plus(self, other: TimeCategoryParts, sign: i64) -> TimeCategoryParts {
        let sum = |mine: i64, others: i64| mine.saturating_add(others.saturating_mul(sign));
        TimeCategoryParts {
            years: sum(self.years, other.years),
            months: sum(self.months, other.months),
            days: sum(self.days, other.days),
            hours: sum(self.hours, other.hours),
            minutes: sum(self.minutes, other.minutes),
            seconds: sum(self.seconds, other.seconds),
            millis: sum(self.millis, other.millis),
        }
    }

    fn opposite(self) -> TimeCategoryParts {
        TimeCategoryParts::default().plus(self, -1)
    }

    /// A moment that is so much later, part by part, as a calendar adds them.
    fn after(self, from: &Zoned) -> Option<Zoned> {
        let steps = [
            Span::new().try_years(self.years),
            Span::new().try_months(self.months),
            Span::new().try_days(self.days),
            Span::new().try_hours(self.hours),
            Span::new().try_minutes(self.minutes),
            Span::new().try_seconds(self.seconds),
            Span::new().try_milliseconds(self.millis),
        ];
        let add = |at: Zoned, step: Result<Span, jiff::Error>| at.checked_add(step.ok()?).ok();
        steps.into_iter().try_fold(from.clone(), add)
    }
}

/// A length of time. One without hours begins and ends at midnight; one with months depends on the date that it is added to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Length {
    parts: TimeCategoryParts,
    has_time: bool,
    has_months: bool,
}

impl Object for Length {
    fn class(&self) -> Class {
        Class::Known(match (self.has_months, self.has_time) {
            (false, false) => &DURATION,
            (false, true) => &TIME,
            (true, false) => &DATUM,
            (true, true) => &TIME_DATUM,
        })
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        let TimeCategoryParts { years, months, days, hours, minutes, seconds, millis } = self.parts;
        let named =
            [(years, "years"), (months, "months"), (days, "days"), (hours, "hours"), (minutes, "minutes")];
        let mut texts: Vec<String> = Vec::new();
        texts.extend(
            named.iter().filter(|(count, _)| *count != 0).map(|(count, name)| format!("{count} {name}")),
        );
        if seconds != 0 || millis != 0 {
            let minus = if seconds == 0 && millis < 0 { "-" } else { "" };
            texts.push(format!("{minus}{seconds}.{:03} seconds", millis.abs()));
        }
        out.push_str(&texts.join(", "));
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Length>() == Some(self)
    }
}

/// `3.days.from`, which waits for `now`.
struct From(Length);

impl Object for From {
    fn class(&self) -> Class {
        Class::Known(&FROM)
    }
}

pub(crate) static KIND: Kind = Kind::new("groovy.time", "TimeCategory").extends(&object::KIND).statics(&[
    row("minus", 2, |m, _, args| {
        let dates = args[0].as_object::<Date>().zip(args[1].as_object::<Date>());
        match dates {
            Some((later, earlier)) => Ok(between(later.0.get(), earlier.0.get())),
            None => m.no_method(&Value::Class(Class::Known(&KIND)), "minus", args),
        }
    }),
    listed("plus", "lengths of time are added by + within use (TimeCategory)"),
]);

pub(crate) static BASE: Kind =
    Kind::new("groovy.time", "BaseDuration").extends(&object::KIND).methods(METHODS);

pub(crate) static DURATION: Kind = Kind::new("groovy.time", "Duration").extends(&BASE);
pub(crate) static TIME: Kind = Kind::new("groovy.time", "TimeDuration").extends(&DURATION);
pub(crate) static DATUM: Kind = Kind::new("groovy.time", "DatumDependentDuration").extends(&BASE);
pub(crate) static TIME_DATUM: Kind = Kind::new("groovy.time", "TimeDatumDependentDuration").extends(&DATUM);

pub(crate) static FROM: Kind =
    Kind::new("groovy.time", "BaseDuration.From").extends(&object::KIND).methods(&[
        row("getNow", 0, |m, of, _| from_now(m, of.receiver::<From>().0, 1)),
        row("getToday", 0, |m, of, _| from_now(m, of.receiver::<From>().0, 1)),
    ]);

const METHODS: &[ClassRow] = &[
    row("getYears", 0, |_, of, _| int(parts(of).years)),
    row("getMonths", 0, |_, of, _| int(parts(of).months)),
    row("getDays", 0, |_, of, _| int(parts(of).days)),
    row("getHours", 0, |_, of, _| int(parts(of).hours)),
    row("getMinutes", 0, |_, of, _| int(parts(of).minutes)),
    row("getSeconds", 0, |_, of, _| int(parts(of).seconds)),
    row("getMillis", 0, |_, of, _| int(parts(of).millis)),
    row("toMilliseconds", 0, |m, of, _| {
        let now = m.host.now();
        let length = *of.receiver::<Length>();
        if length.has_months {
            return Ok(Value::Long(shifted(m, now, length.parts)?.saturating_sub(now)));
        }
        let TimeCategoryParts { days, hours, minutes, seconds, millis, .. } = length.parts;
        Ok(Value::Long((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + millis))
    }),
    row("getAgo", 0, |m, of, _| from_now(m, *of.receiver::<Length>(), -1)),
    row("getFrom", 0, |_, of, _| Ok(Value::object(From(*of.receiver::<Length>())))),
];

fn parts(of: &Value) -> TimeCategoryParts {
    of.receiver::<Length>().parts
}

fn int(number: i64) -> Run {
    Ok(Value::Int(number as i32))
}

/// `use (TimeCategory) { … }`; other categories are classes that do not exist here.
pub(crate) fn use_category(m: &mut Machine<'_>, args: &[Value]) -> Run {
    match args {
        [Value::Class(class), Value::Closure(closure)] if class.is(&KIND) => {
            m.time_categories += 1;
            let result = m.call_closure(closure, &[]);
            m.time_categories -= 1;
            result
        }
        _ => m.no_method(&Value::Class(Class::Known(&object::KIND)), "use", args),
    }
}

/// `3.days`: the length that a property of a whole number names.
pub(crate) fn length(count: i32, name: &str) -> Option<Value> {
    let count = i64::from(count);
    let none = TimeCategoryParts::default();
    let parts = match name {
        "year" | "years" => TimeCategoryParts { years: count, ..none },
        "month" | "months" => TimeCategoryParts { months: count, ..none },
        "week" | "weeks" => TimeCategoryParts { days: count * 7, ..none },
        "day" | "days" => TimeCategoryParts { days: count, ..none },
        "hour" | "hours" => TimeCategoryParts { hours: count, ..none },
        "minute" | "minutes" => TimeCategoryParts { minutes: count, ..none },
        "second" | "seconds" => TimeCategoryParts { seconds: count, ..none },
        "millisecond" | "milliseconds" => TimeCategoryParts { millis: count, ..none },
        _ => return None,
    };
    let has_months = matches!(name, "year" | "years" | "month" | "months");
    let has_time = !has_months && !matches!(name, "week" | "weeks" | "day" | "days");
    Some(Value::object(Length { parts, has_time, has_months }))
}

/// Sums of lengths with each other and with dates, and within the category of dates; `None` where it is none of these.
pub(crate) fn sum(m: &mut Machine<'_>, left: &Value, right: &Value, sign: i64) -> Run<Option<Value>> {
    let lengths = (left.as_object::<Length>().copied(), right.as_object::<Length>().copied());
    let dates = (left.as_object::<Date>(), right.as_object::<Date>());
    Ok(Some(match (lengths, dates) {
        ((Some(a), Some(b)), _) => Value::object(Length {
            parts: a.parts.plus(b.parts, sign),
            has_time: a.has_time || b.has_time,
            has_months: a.has_months || b.has_months,
        }),
        ((None, Some(by)), (Some(date), None)) => {
            let parts = if sign < 0 { by.parts.opposite() } else { by.parts };
            Date::value(shifted(m, date.0.get(), parts)?)
        }
        ((Some(by), None), (None, Some(date))) if sign > 0 => {
            Date::value(shifted(m, date.0.get(), by.parts)?)
        }
        (_, (Some(later), Some(earlier))) if sign < 0 && m.time_categories > 0 => {
            between(later.0.get(), earlier.0.get())
        }
        _ => return Ok(None),
    }))
}

/// The length from one moment to another, in days and less.
fn between(later: i64, earlier: i64) -> Value {
    let millis = later.saturating_sub(earlier);
    let parts = TimeCategoryParts {
        days: millis / date::DAY,
        hours: millis / 3_600_000 % 24,
        minutes: millis / 60_000 % 60,
        seconds: millis / 1_000 % 60,
        millis: millis % 1_000,
        ..TimeCategoryParts::default()
    };
    Value::object(Length { parts, has_time: true, has_months: false })
}

fn shifted(m: &mut Machine<'_>, millis: i64, parts: TimeCategoryParts) -> Run<i64> {
    let after = parts.after(&zoned(m, millis)?);
    in_time(after.map(|after| after.timestamp().as_millisecond()))
}

fn zoned(m: &mut Machine<'_>, millis: i64) -> Run<Zoned> {
    match Timestamp::from_millisecond(millis) {
        Ok(at) => Ok(at.to_zoned(m.host.time_zone())),
        Err(_) => out_of_time(),
    }
}

/// So much from now on, or before now; at midnight where the length has no time.
fn from_now(m: &mut Machine<'_>, length: Length, sign: i64) -> Run {
    let now = m.host.now();
    let parts = if sign < 0 { length.parts.opposite() } else { length.parts };
    let after = in_time(parts.after(&zoned(m, now)?))?;
    let at = if length.has_time { Some(after) } else { after.start_of_day().ok() };
    Ok(Date::value(in_time(at)?.timestamp().as_millisecond()))
}
