//! Methods that the classes of moments in `java.time` have in common.

use super::date_time_formatter::{self as formatter, Formatter};
use super::duration::Duration;
use super::span::{span, span_of};
use super::{
    chrono_unit, in_time, instant, local_date, local_date_time, local_time, out_of_time, zoned_date_time,
};
use crate::model::abrupt::{Run, thrown};
use crate::model::class::{Class, ClassRow, Kind, Native, row, rows};
use crate::model::library::constant::Constant;
use crate::model::library::lang::object;
use crate::model::library::time::zone::{self, Zone};
use crate::model::machine::Machine;
use crate::model::value::{Object, Style, Value};
use crate::time::{self, Letters, Moment};
use jiff::civil::{Date, DateTime, DateTimeWith, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use std::cmp::Ordering;
use std::fmt::Write;

/// A date, a time, or both.
pub(crate) enum Temporal {
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Zoned(Zoned),
    Instant(Timestamp),
}

impl Object for Temporal {
    fn class(&self) -> Class {
        Class::Known(match self {
            Temporal::Date(_) => &local_date::KIND,
            Temporal::Time(_) => &local_time::KIND,
            Temporal::DateTime(_) => &local_date_time::KIND,
            Temporal::Zoned(_) => &zoned_date_time::KIND,
            Temporal::Instant(_) => &instant::KIND,
        })
    }

    fn write(&self, out: &mut String, _: Style, _: usize) {
        match self {
            Temporal::Date(date) => write!(out, "{date}").expect("a String takes all"),
            Temporal::Time(of_day) => out.push_str(&time::iso_time(*of_day)),
            Temporal::DateTime(at) => out.push_str(&time::iso_date_time(*at)),
            Temporal::Zoned(at) => out.push_str(&time::iso_zoned(at)),
            Temporal::Instant(at) => out.push_str(&time::iso_instant(*at)),
        }
    }

    fn order(&self, other: &dyn Object) -> Option<Ordering> {
        match (self, other.downcast::<Temporal>()?) {
            (Temporal::Date(a), Temporal::Date(b)) => Some(a.cmp(b)),
            (Temporal::Time(a), Temporal::Time(b)) => Some(a.cmp(b)),
            (Temporal::DateTime(a), Temporal::DateTime(b)) => Some(a.cmp(b)),
            (Temporal::Zoned(a), Temporal::Zoned(b)) => Some(a.timestamp().cmp(&b.timestamp())),
            (Temporal::Instant(a), Temporal::Instant(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

impl Temporal {
    /// As formatters see it: what lies in no zone is taken as it is.
    pub fn moment(&self, zone: &TimeZone) -> Moment {
        let plain = |at: DateTime| Moment { at, zoned: None };
        match self {
            Temporal::Date(date) => plain(date.to_datetime(Time::midnight())),
            Temporal::Time(of_day) => plain(Date::constant(1970, 1, 1).to_datetime(*of_day)),
            Temporal::DateTime(at) => plain(*at),
            Temporal::Zoned(zoned) => Moment { at: zoned.datetime(), zoned: Some(zoned.clone()) },
            Temporal::Instant(instant) => {
                let zoned = instant.to_zoned(zone.clone());
                Moment { at: zoned.datetime(), zoned: Some(zoned) }
            }
        }
    }

    fn at(&self) -> DateTime {
        self.moment(&TimeZone::UTC).at
    }

    /// The instant that it is, where it is one.
    pub fn instant(&self) -> Option<Timestamp> {
        match self {
            Temporal::Instant(instant) => Some(*instant),
            Temporal::Zoned(zoned) => Some(zoned.timestamp()),
            Temporal::Date(_) | Temporal::Time(_) | Temporal::DateTime(_) => None,
        }
    }

    /// Another date and time as one of the same class.
    fn like(&self, at: DateTime) -> Option<Temporal> {
        Some(match self {
            Temporal::Date(_) => Temporal::Date(at.date()),
            Temporal::Time(_) => Temporal::Time(at.time()),
            Temporal::DateTime(_) => Temporal::DateTime(at),
            Temporal::Zoned(zoned) => Temporal::Zoned(at.to_zoned(zoned.time_zone().clone()).ok()?),
            Temporal::Instant(_) => Temporal::Instant(at.to_zoned(TimeZone::UTC).ok()?.timestamp()),
        })
    }

    /// So much later or earlier.
    pub fn shifted(&self, span: Span) -> Option<Temporal> {
        match self {
            Temporal::Time(of_day) => Some(Temporal::Time(of_day.wrapping_add(span))),
            other => other.like(other.at().checked_add(span).ok()?),
        }
    }
}

/// `plusDays` and its like.
macro_rules! shift {
    ($unit:literal, $sign:literal) => {{
        const SHIFT: Native = |_, of, args| {
            let span = span_of($unit, &args[0], $sign)?;
            made(temporal(of).shifted(span))
        };
        SHIFT
    }};
}

/// `withHour` and its like.
macro_rules! with {
    ($number:ty, $set:expr) => {{
        const WITH: Native = |_, of, args| {
            let set: fn(DateTimeWith, $number) -> DateTimeWith = $set;
            let number = <$number>::try_from(args[0].to_long().unwrap_or(0)).ok();
            let at = temporal(of).at();
            made(
                number
                    .and_then(|number| set(at.with(), number).build().ok())
                    .and_then(|at| temporal(of).like(at)),
            )
        };
        WITH
    }};
}

/// A whole number of a date and time.
macro_rules! field {
    ($read:expr) => {{
        const READ: Native = |_, of, _| {
            let read: fn(DateTime) -> i32 = $read;
            Ok(Value::Int(read(temporal(of).at())))
        };
        READ
    }};
}

pub(crate) static KIND: Kind =
    Kind::new("java.time.temporal", "Temporal").extends(&object::KIND).statics(STATICS).methods(METHODS);

const METHODS: &[ClassRow] = &[
    row("plusYears", 1, shift!("YEARS", 1)),
    row("plusMonths", 1, shift!("MONTHS", 1)),
    row("plusWeeks", 1, shift!("WEEKS", 1)),
    row("plusDays", 1, shift!("DAYS", 1)),
    row("plusHours", 1, shift!("HOURS", 1)),
    row("plusMinutes", 1, shift!("MINUTES", 1)),
    row("plusSeconds", 1, shift!("SECONDS", 1)),
    row("plusMillis", 1, shift!("MILLIS", 1)),
    row("plusNanos", 1, shift!("NANOS", 1)),
    row("minusYears", 1, shift!("YEARS", -1)),
    row("minusMonths", 1, shift!("MONTHS", -1)),
    row("minusWeeks", 1, shift!("WEEKS", -1)),
    row("minusDays", 1, shift!("DAYS", -1)),
    row("minusHours", 1, shift!("HOURS", -1)),
    row("minusMinutes", 1, shift!("MINUTES", -1)),
    row("minusSeconds", 1, shift!("SECONDS", -1)),
    row("minusMillis", 1, shift!("MILLIS", -1)),
    row("minusNanos", 1, shift!("NANOS", -1)),
    rows("plus", 1, 2, |m, of, args| moved(m, of, args, 1)),
    rows("minus", 1, 2, |m, of, args| moved(m, of, args, -1)),
    row("withYear", 1, with!(i16, DateTimeWith::year)),
    row("withMonth", 1, with!(i8, DateTimeWith::month)),
    row("withDayOfMonth", 1, with!(i8, DateTimeWith::day)),
    row("withDayOfYear", 1, with!(i16, DateTimeWith::day_of_year)),
    row("withHour", 1, with!(i8, DateTimeWith::hour)),
    row("withMinute", 1, with!(i8, DateTimeWith::minute)),
    row("withSecond", 1, with!(i8, DateTimeWith::second)),
    row("withNano", 1, with!(i32, DateTimeWith::subsec_nanosecond)),
    row("truncatedTo", 1, truncated),
    row("getYear", 0, field!(|at| at.year().into())),
    row("getMonthValue", 0, field!(|at| at.month().into())),
    row("getDayOfMonth", 0, field!(|at| at.day().into())),
    row("getDayOfYear", 0, field!(|at| at.day_of_year().into())),
    row("getHour", 0, field!(|at| at.hour().into())),
    row("getMinute", 0, field!(|at| at.minute().into())),
    row("getSecond", 0, field!(|at| at.second().into())),
    row("getNano", 0, field!(DateTime::subsec_nanosecond)),
    row("lengthOfMonth", 0, field!(|at| at.date().days_in_month().into())),
    row("getMonth", 0, |_, of, _| Ok(Value::text(time::month_name(temporal(of).at().month())))),
    row("getDayOfWeek", 0, |_, of, _| Ok(Value::text(time::day_name(temporal(of).at().weekday())))),
    row("isLeapYear", 0, |_, of, _| Ok(Value::Bool(temporal(of).at().date().in_leap_year()))),
    row("toEpochDay", 0, |_, of, _| {
        Ok(Value::Long((since_epoch(temporal(of).at()) / 86_400_000_000_000) as i64))
    }),
    rows("toEpochSecond", 0, 1, to_epoch_second),
    row("getEpochSecond", 0, to_epoch_second),
    row("toEpochMilli", 0, |m, of, args| match temporal(of).instant() {
        Some(instant) => Ok(Value::Long(instant.as_millisecond())),
        None => m.no_method(of, "toEpochMilli", args),
    }),
    row("isBefore", 1, |_, of, args| Ok(Value::Bool(of.order(&args[0]) == Some(Ordering::Less)))),
    row("isAfter", 1, |_, of, args| Ok(Value::Bool(of.order(&args[0]) == Some(Ordering::Greater)))),
    row("isEqual", 1, |_, of, args| Ok(Value::Bool(of.order(&args[0]) == Some(Ordering::Equal)))),
    row("until", 2, |m, of, args| match Constant::name_of(&args[1], &chrono_unit::KIND) {
        Some(unit) => between(unit, of, &args[0]),
        None => m.no_method(of, "until", args),
    }),
    row("format", 1, format),
    row("toLocalDate", 0, |_, of, _| Ok(Value::object(Temporal::Date(temporal(of).at().date())))),
    row("toLocalTime", 0, |_, of, _| Ok(Value::object(Temporal::Time(temporal(of).at().time())))),
    row("toLocalDateTime", 0, |_, of, _| Ok(Value::object(Temporal::DateTime(temporal(of).at())))),
    rows("toInstant", 0, 1, |_, of, _| {
        let at = temporal(of).at();
        let plain = || at.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
        made(temporal(of).instant().or_else(plain).map(Temporal::Instant))
    }),
    row("atStartOfDay", 0, |_, of, _| {
        Ok(Value::object(Temporal::DateTime(temporal(of).at().date().to_datetime(Time::midnight()))))
    }),
    rows("atTime", 1, 4, at_time),
    row("atStartOfDay", 1, local_in),
    row("atZone", 1, instant_in),
    row("atOffset", 1, instant_in),
    row("withZoneSameInstant", 1, instant_in),
    row("withZoneSameLocal", 1, local_in),
    row("toZonedDateTime", 0, |_, of, _| {
        made(temporal(of).moment(&TimeZone::UTC).zoned.map(Temporal::Zoned))
    }),
    row("toOffsetDateTime", 0, |_, of, _| {
        made(temporal(of).moment(&TimeZone::UTC).zoned.map(Temporal::Zoned))
    }),
    row("getZone", 0, zone_in),
    row("getOffset", 0, zone_in),
];

fn temporal(of: &Value) -> &Temporal {
    of.receiver()
}

/// A moment as a value; an exception where it cannot be.
pub(crate) fn made(found: Option<Temporal>) -> Run {
    in_time(found).map(Value::object)
}

fn since_epoch(at: DateTime) -> i128 {
    at.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_nanos()
}

fn to_epoch_second(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    Ok(Value::Long(match temporal(of).instant() {
        Some(instant) => instant.as_second(),
        None => (since_epoch(temporal(of).at()) / 1_000_000_000) as i64,
    }))
}

fn moved(m: &mut Machine<'_>, of: &Value, args: &[Value], sign: i64) -> Run {
    match plus(m, temporal(of), args, sign)? {
        Some(value) => Ok(value),
        None => m.no_method(of, if sign > 0 { "plus" } else { "minus" }, args),
    }
}

/// A moment and a duration, or so many units of it; `None` where it has no such sum.
pub(crate) fn plus(m: &mut Machine<'_>, of: &Temporal, args: &[Value], sign: i64) -> Run<Option<Value>> {
    let by = match args {
        [amount, unit] => {
            let name = m.text(unit)?;
            span(&name, amount.to_long().unwrap_or(0).saturating_mul(sign))
        }
        [duration] if duration.as_object::<Duration>().is_some() => {
            let nanos = duration.receiver::<Duration>().0.as_nanos();
            Span::new().try_nanoseconds(i64::try_from(nanos).unwrap_or(i64::MAX).saturating_mul(sign)).ok()
        }
        [days] if days.is_number() && matches!(of, Temporal::Date(_)) => {
            span("DAYS", days.to_long().unwrap_or(0).saturating_mul(sign))
        }
        _ => return Ok(None),
    };
    made(by.and_then(|by| of.shifted(by))).map(Some)
}

fn truncated(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let at = temporal(of).at();
    let name = m.text(&args[0])?;
    let of_day = match &*name {
        "DAYS" => Some(Time::midnight()),
        "HOURS" => Time::new(at.hour(), 0, 0, 0).ok(),
        "MINUTES" => Time::new(at.hour(), at.minute(), 0, 0).ok(),
        "MILLIS" => {
            Time::new(at.hour(), at.minute(), at.second(), i32::from(at.millisecond()) * 1_000_000).ok()
        }
        _ => Time::new(at.hour(), at.minute(), at.second(), 0).ok(),
    };
    made(of_day.and_then(|of_day| temporal(of).like(at.date().to_datetime(of_day))))
}

fn format(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    if args[0].as_object::<Formatter>().is_some() {
        return formatter::format(m, &args[0], of);
    }
    let pattern = m.text(&args[0])?;
    shown(m, &temporal(of).moment(&TimeZone::UTC), &pattern, Letters::Formatter).map(Value::Text)
}

/// A moment as text by a pattern.
pub(crate) fn shown(
    m: &mut Machine<'_>,
    moment: &Moment,
    pattern: &str,
    letters: Letters,
) -> Run<std::rc::Rc<str>> {
    m.work(pattern.len() / 8)?;
    match time::format(moment, pattern, letters) {
        Ok(text) => Ok(text.into()),
        Err(reason) if letters == Letters::Simple => thrown("IllegalArgumentException", reason),
        Err(reason) => thrown("DateTimeException", reason),
    }
}

fn at_time(_: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let date = temporal(of).at().date();
    if let Some(Temporal::Time(of_day)) = args[0].as_object::<Temporal>() {
        return Ok(Value::object(Temporal::DateTime(date.to_datetime(*of_day))));
    }
    let number = |at: usize| args.get(at).and_then(Value::to_long).unwrap_or(0) as i8;
    let of_day = Time::new(number(0), number(1), number(2), 0).ok();
    made(of_day.map(|of_day| Temporal::DateTime(date.to_datetime(of_day))))
}

/// The same instant in a zone; a date and time without one as if it stood there.
fn instant_in(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let zone = zone::of_value(m, &args[0])?.unwrap_or(TimeZone::UTC);
    match temporal(of).instant() {
        Some(instant) => Ok(Value::object(Temporal::Zoned(instant.to_zoned(zone)))),
        None => made(temporal(of).at().to_zoned(zone).ok().map(Temporal::Zoned)),
    }
}

/// The same date and time in a zone.
fn local_in(m: &mut Machine<'_>, of: &Value, args: &[Value]) -> Run {
    let zone = zone::of_value(m, &args[0])?.unwrap_or(TimeZone::UTC);
    made(temporal(of).at().to_zoned(zone).ok().map(Temporal::Zoned))
}

fn zone_in(_: &mut Machine<'_>, of: &Value, _: &[Value]) -> Run {
    let zoned = temporal(of).moment(&TimeZone::UTC).zoned;
    let zone = zoned.map_or(TimeZone::UTC, |zoned| zoned.time_zone().clone());
    Ok(Value::object(Zone(zone)))
}

/// Whole units between two moments.
pub(crate) fn between(unit: &str, from: &Value, to: &Value) -> Run {
    let mut ends = [DateTime::constant(1970, 1, 1, 0, 0, 0, 0); 2];
    for (end, value) in ends.iter_mut().zip([from, to]) {
        *end = match crate::model::library::util::date::moment(value, &TimeZone::UTC)? {
            Some(moment) => moment.at,
            None => return out_of_time(),
        };
    }
    let [from, to] = ends;
    let nanos = to.duration_since(from).as_nanos();
    Ok(Value::Long(match unit {
        "MONTHS" => months(from, to),
        "YEARS" => months(from, to) / 12,
        "WEEKS" => nanos as i64 / (7 * 86_400) / 1_000_000_000,
        unit => (nanos / i128::from(chrono_unit::nanos(unit))) as i64,
    }))
}

fn months(from: DateTime, to: DateTime) -> i64 {
    let whole = i64::from(to.year() - from.year()) * 12 + i64::from(to.month() - from.month());
    match ((to.day(), to.time()).cmp(&(from.day(), from.time())), whole.cmp(&0)) {
        (Ordering::Less, Ordering::Greater) => whole - 1,
        (Ordering::Greater, Ordering::Less) => whole + 1,
        _ => whole,
    }
}

/// Static methods that make an object of the class that they are called on.
const STATICS: &[ClassRow] = &[
    rows("now", 0, 1, |m, class, args| {
        let zone = zone::of_first(m, args)?;
        let instant = Timestamp::from_millisecond(m.host.now()).ok();
        made(instant.map(|instant| of_class(class, instant.to_zoned(zone))))
    }),
    row("ofEpochMilli", 1, |_, class, args| {
        let instant = Timestamp::from_millisecond(args[0].to_long().unwrap_or(0)).ok();
        made(instant.map(|instant| of_class(class, instant.to_zoned(TimeZone::UTC))))
    }),
    rows("ofEpochSecond", 1, 3, |_, class, args| {
        let instant = Timestamp::from_second(args[0].to_long().unwrap_or(0)).ok();
        made(instant.map(|instant| of_class(class, instant.to_zoned(TimeZone::UTC))))
    }),
    row("ofEpochDay", 1, |_, class, args| {
        let seconds = args[0].to_long().unwrap_or(0).checked_mul(86_400);
        let instant = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
        made(instant.map(|instant| of_class(class, instant.to_zoned(TimeZone::UTC))))
    }),
    rows("ofInstant", 1, 2, from_instant),
    rows("from", 1, 2, from_instant),
];

/// A moment in a zone as an object of a class.
fn of_class(class: &Value, zoned: Zoned) -> Temporal {
    let is = |kind: &'static Kind| matches!(class, Value::Class(class) if class.is(kind));
    if is(&local_date::KIND) {
        Temporal::Date(zoned.date())
    } else if is(&local_time::KIND) {
        Temporal::Time(zoned.time())
    } else if is(&local_date_time::KIND) {
        Temporal::DateTime(zoned.datetime())
    } else if is(&instant::KIND) {
        Temporal::Instant(zoned.timestamp())
    } else {
        Temporal::Zoned(zoned)
    }
}

/// Of an instant, in a zone or in the script's own.
fn from_instant(m: &mut Machine<'_>, class: &Value, args: &[Value]) -> Run {
    let zone = zone::of_first(m, &args[1..])?;
    match args[0].as_object::<Temporal>().and_then(Temporal::instant) {
        Some(instant) => Ok(Value::object(of_class(class, instant.to_zoned(zone)))),
        None => m.no_method(class, "from", args),
    }
}

/// The moment that a text says by a formatter, a pattern, or in the form of ISO 8601.
pub(crate) fn parse(
    m: &mut Machine<'_>,
    args: &[Value],
    read: fn(&time::Read) -> Option<Temporal>,
    read_iso: fn(&str) -> Option<Temporal>,
) -> Run {
    let text = m.text(&args[0])?;
    let pattern = match args.get(1) {
        Some(value) => match value.as_object::<Formatter>() {
            Some(formatter) => formatter.pattern_unless_iso(),
            None => Some(m.text(value)?),
        },
        None => None,
    };
    let found = match pattern {
        Some(pattern) => time::parse(&text, &pattern, Letters::Formatter, true)
            .ok()
            .filter(time::Read::is_strict)
            .and_then(|found| read(&found)),
        None => read_iso(&text),
    };
    match found {
        Some(temporal) => Ok(Value::object(temporal)),
        None => thrown("DateTimeParseException", format!("Text '{text}' could not be parsed at index 0")),
    }
}

/// A whole number among arguments; 0 where there is none.
pub(crate) fn small<T: TryFrom<i64> + Default>(args: &[Value], at: usize) -> Option<T> {
    match args.get(at) {
        Some(value) => value.to_long().and_then(|number| T::try_from(number).ok()),
        None => Some(T::default()),
    }
}

/// The date that begins a list of arguments.
pub(crate) fn date_in(args: &[Value]) -> Option<Date> {
    Date::new(small(args, 0)?, small(args, 1)?, small(args, 2)?).ok()
}

/// The time that begins a list of arguments.
pub(crate) fn time_in(args: &[Value]) -> Option<Time> {
    Time::new(small(args, 0)?, small(args, 1)?, small(args, 2)?, small(args, 3)?).ok()
}

/// A date that there is, or an exception.
pub(crate) fn valid(found: Option<Temporal>) -> Run {
    match found {
        Some(temporal) => Ok(Value::object(temporal)),
        None => thrown("DateTimeException", "Invalid value for a field of a date"),
    }
}
