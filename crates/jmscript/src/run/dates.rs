//! Dates and times: `Date`, `Calendar`, `SimpleDateFormat`, and `java.time`.

use super::Machine;
use super::abrupt::{Run, thrown};
use super::moments::span_named;
use crate::class::Class;
use crate::method::Method;
use crate::time::{self, Letters, Moment};
use crate::value::{Object, Value};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn date_method(
        &mut self,
        object: &Rc<Object>,
        of: &Value,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        match &**object {
            Object::Date(millis) => self.of_date(millis, of, method, &first),
            Object::Calendar(millis, zone) => self.of_calendar((millis, zone), method, args),
            Object::DateFormat(pattern, zone) => self.of_format((pattern, zone), method, &first),
            Object::Formatter(pattern, zone) => self.of_formatter((pattern, zone.as_ref()), method, &first),
            Object::Zone(zone) => Ok(Some(match method {
                Method::getID | Method::getId | Method::getDisplayName | Method::toString => {
                    self.new_text(time::zone_name(zone))?
                }
                Method::getRawOffset => Value::Int(zone.to_offset(Timestamp::UNIX_EPOCH).seconds() * 1_000),
                Method::toZoneId => of.clone(),
                _ => return Ok(None),
            })),
            Object::Duration(duration) => Ok(of_duration(*duration, method)),
            Object::LocalDate(_)
            | Object::LocalTime(_)
            | Object::LocalDateTime(_)
            | Object::Zoned(_)
            | Object::Instant(_) => self.of_moment(object, method, args),
            _ => Ok(None),
        }
    }

    pub(super) fn of_date(
        &mut self,
        millis: &Cell<i64>,
        of: &Value,
        method: Method,
        first: &Value,
    ) -> Run<Option<Value>> {
        let other = match first {
            Value::Object(object) => match &**object {
                Object::Date(other) => other.get(),
                _ => 0,
            },
            _ => 0,
        };
        Ok(Some(match method {
            Method::getTime => Value::Long(millis.get()),
            Method::setTime => {
                millis.set(first.to_long().unwrap_or(0));
                Value::Null
            }
            Method::before => Value::Bool(millis.get() < other),
            Method::after => Value::Bool(millis.get() > other),
            Method::format => {
                let pattern = self.text(first)?;
                Value::Text(self.date_as(of, &pattern)?)
            }
            Method::plus | Method::minus => {
                let object = Rc::new(Object::Date(Cell::new(millis.get())));
                self.moved(&object, method == Method::minus, first)?.unwrap_or_default()
            }
            Method::toInstant => match Timestamp::from_millisecond(millis.get()) {
                Ok(instant) => Value::object(Object::Instant(instant)),
                Err(_) => return self.out_of_time(),
            },
            Method::getYear
            | Method::getMonth
            | Method::getDate
            | Method::getDay
            | Method::getHours
            | Method::getMinutes
            | Method::getSeconds => {
                let zone = self.host.time_zone();
                let Some(moment) = time::moment(millis.get(), &zone) else { return self.out_of_time() };
                Value::Int(match method {
                    Method::getYear => i32::from(moment.at.year()) - 1900,
                    Method::getMonth => i32::from(moment.at.month()) - 1,
                    Method::getDate => i32::from(moment.at.day()),
                    Method::getDay => i32::from(moment.at.weekday().to_sunday_zero_offset()),
                    Method::getHours => i32::from(moment.at.hour()),
                    Method::getMinutes => i32::from(moment.at.minute()),
                    _ => i32::from(moment.at.second()),
                })
            }
            Method::toISOString => match Timestamp::from_millisecond(millis.get()) {
                Ok(instant) => self.new_text(format!("{instant:.3}"))?,
                Err(_) => return self.out_of_time(),
            },
            _ => return Ok(None),
        }))
    }

    pub(super) fn out_of_time<T>(&mut self) -> Run<T> {
        thrown("DateTimeException", "a date beyond the years that are known here (-9999 to 9999)")
    }

    /// A date, or milliseconds, as text by a pattern of `SimpleDateFormat` in the script's zone.
    pub(super) fn date_as(&mut self, value: &Value, pattern: &str) -> Run<Rc<str>> {
        let zone = self.host.time_zone();
        let moment = match value {
            Value::Object(object) => self.moment(object, &zone)?,
            value => time::moment(value.to_long().unwrap_or(0), &zone),
        };
        let Some(moment) = moment else { return self.out_of_time() };
        self.shown_moment(&moment, pattern, Letters::Simple)
    }

    pub(super) fn shown_moment(&mut self, moment: &Moment, pattern: &str, letters: Letters) -> Run<Rc<str>> {
        self.work(pattern.len() / 8)?;
        match time::format(moment, pattern, letters) {
            Ok(text) => Ok(Rc::from(text)),
            Err(reason) if letters == Letters::Simple => thrown("IllegalArgumentException", reason),
            Err(reason) => thrown("DateTimeException", reason),
        }
    }

    /// Converts an object to the moment that formatters see.
    pub(super) fn moment(&mut self, object: &Object, zone: &TimeZone) -> Run<Option<Moment>> {
        let plain = |at: DateTime| Some(Moment { at, zoned: None });
        Ok(match object {
            Object::Date(millis) | Object::Calendar(millis, _) => time::moment(millis.get(), zone),
            Object::LocalDate(date) => plain(date.to_datetime(Time::midnight())),
            Object::LocalTime(of_day) => plain(Date::constant(1970, 1, 1).to_datetime(*of_day)),
            Object::LocalDateTime(at) => plain(*at),
            Object::Zoned(zoned) => Some(Moment { at: zoned.datetime(), zoned: Some(zoned.clone()) }),
            Object::Instant(instant) => {
                let zoned = instant.to_zoned(zone.clone());
                Some(Moment { at: zoned.datetime(), zoned: Some(zoned) })
            }
            _ => return thrown("IllegalArgumentException", "Cannot format given Object as a Date"),
        })
    }

    pub(super) fn of_format(
        &mut self,
        (pattern, zone): (&RefCell<Rc<str>>, &RefCell<TimeZone>),
        method: Method,
        first: &Value,
    ) -> Run<Option<Value>> {
        let text = pattern.borrow().clone();
        Ok(Some(match method {
            Method::format => {
                let zone = zone.borrow().clone();
                let moment = match first {
                    Value::Object(object) => self.moment(object, &zone)?,
                    first => time::moment(first.to_long().unwrap_or(0), &zone),
                };
                let Some(moment) = moment else { return self.out_of_time() };
                Value::Text(self.shown_moment(&moment, &text, Letters::Simple)?)
            }
            Method::parse => {
                let wanted = self.text(first)?;
                let zone = zone.borrow().clone();
                match self.read_date(&wanted, &text, &zone) {
                    Some(millis) => Value::object(Object::Date(Cell::new(millis))),
                    None => return thrown("ParseException", format!("Unparseable date: \"{wanted}\"")),
                }
            }
            Method::setTimeZone => {
                if let Some(new) = self.zone_of(first)? {
                    zone.replace(new);
                }
                Value::Null
            }
            Method::applyPattern => {
                let new = self.text(first)?;
                pattern.replace(new);
                Value::Null
            }
            Method::toPattern => Value::Text(text),
            Method::setLenient => Value::Null,
            _ => return Ok(None),
        }))
    }

    /// Milliseconds that a text says by a pattern of `SimpleDateFormat`.
    pub(super) fn read_date(&mut self, text: &str, pattern: &str, zone: &TimeZone) -> Option<i64> {
        let read = time::parse(text, pattern, Letters::Simple, false).ok()?;
        let at = read.date_time()?;
        match read.offset {
            Some(seconds) => time::millis(at, &TimeZone::UTC)
                .map(|millis| millis.saturating_sub(i64::from(seconds) * 1_000)),
            None => time::millis(at, zone),
        }
    }

    /// A zone by its object or name.
    pub(super) fn zone_of(&mut self, value: &Value) -> Run<Option<TimeZone>> {
        if let Value::Object(object) = value {
            return Ok(match &**object {
                Object::Zone(zone) => Some(zone.clone()),
                Object::Constant(Class::ZoneOffset, _) => Some(TimeZone::UTC),
                _ => None,
            });
        }
        let name = self.text(value)?;
        Ok(time::zone_of(&name))
    }

    pub(super) fn of_formatter(
        &mut self,
        (pattern, zone): (&Rc<str>, Option<&TimeZone>),
        method: Method,
        first: &Value,
    ) -> Run<Option<Value>> {
        Ok(Some(match (method, first) {
            (Method::format, Value::Object(object)) => {
                let zone = zone.cloned().unwrap_or(TimeZone::UTC);
                if iso_name(pattern) {
                    return self.text(first).map(|text| Some(Value::Text(text)));
                }
                let Some(moment) = self.moment(object, &zone)? else { return self.out_of_time() };
                Value::Text(self.shown_moment(&moment, pattern, Letters::Formatter)?)
            }
            (Method::withZone, zone) => {
                Value::object(Object::Formatter(pattern.clone(), self.zone_of(zone)?))
            }
            (Method::withLocale, _) => Value::object(Object::Formatter(pattern.clone(), zone.cloned())),
            _ => return Ok(None),
        }))
    }

    // Calendar.

    pub(super) fn of_calendar(
        &mut self,
        (millis, zone): (&Cell<i64>, &RefCell<TimeZone>),
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let number = |at: usize| args.get(at).and_then(Value::to_long).unwrap_or(0);
        let here = zone.borrow().clone();
        let Some(moment) = time::moment(millis.get(), &here) else { return self.out_of_time() };
        let at = moment.at;
        let new = match (method, args.len()) {
            (Method::getTime, 0) => return Ok(Some(Value::object(Object::Date(Cell::new(millis.get()))))),
            (Method::getTimeInMillis, 0) => return Ok(Some(Value::Long(millis.get()))),
            (Method::get, 1) => return Ok(Some(Value::Int(calendar_field(at, number(0))))),
            (Method::getActualMaximum, 1) => {
                return Ok(Some(Value::Int(i32::from(at.date().days_in_month()))));
            }
            (Method::setTime, 1) => match &args[0] {
                Value::Object(object) => match &**object {
                    Object::Date(other) => Some(other.get()),
                    _ => None,
                },
                _ => None,
            },
            (Method::setTimeInMillis, 1) => Some(number(0)),
            (Method::setTimeZone, 1) => {
                if let Some(new) = self.zone_of(&args[0])? {
                    zone.replace(new);
                }
                Some(millis.get())
            }
            (Method::add | Method::roll, 2) => calendar_span(number(0), number(1))
                .and_then(|span| at.checked_add(span).ok())
                .and_then(|at| time::millis(at, &here)),
            (Method::set, 2) => {
                let by = number(1).saturating_sub(i64::from(calendar_field(at, number(0))));
                calendar_span(number(0), by)
                    .and_then(|span| at.checked_add(span).ok())
                    .and_then(|at| time::millis(at, &here))
            }
            (Method::set, 3..) => {
                let read = time::Read {
                    year: Some(number(0)),
                    month: Some(number(1).saturating_add(1)),
                    day: Some(number(2)),
                    hour: Some(if args.len() > 3 { number(3) } else { i64::from(at.hour()) }),
                    minute: Some(if args.len() > 4 { number(4) } else { i64::from(at.minute()) }),
                    second: Some(if args.len() > 5 { number(5) } else { i64::from(at.second()) }),
                    ..time::Read::default()
                };
                read.date_time().and_then(|at| time::millis(at, &here))
            }
            _ => return Ok(None),
        };
        match new {
            Some(new) => {
                millis.set(new);
                Ok(Some(Value::Null))
            }
            None => self.out_of_time(),
        }
    }

    // Classes.

    pub(super) fn time_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::Calendar | Class::GregorianCalendar, Method::getInstance) => {
                let zone = self.zone_or_own(&first)?;
                Value::object(Object::Calendar(Cell::new(self.host.now()), RefCell::new(zone)))
            }
            (Class::DateFormat, Method::getInstance) => self.date_format(Rc::from("M/d/yy, h:mm a")),
            (Class::TimeZone | Class::ZoneId | Class::ZoneOffset, Method::getTimeZone | Method::of) => {
                match self.zone_of(&first)? {
                    Some(zone) => Value::object(Object::Zone(zone)),
                    None if class == Class::TimeZone => Value::object(Object::Zone(TimeZone::UTC)),
                    None => {
                        return thrown(
                            "DateTimeException",
                            format!("Unknown time-zone ID: {}", self.text(&first)?),
                        );
                    }
                }
            }
            (Class::TimeZone | Class::ZoneId, Method::getDefault | Method::systemDefault) => {
                Value::object(Object::Zone(self.host.time_zone()))
            }
            (Class::DateTimeFormatter, Method::ofPattern) => {
                let pattern = self.text(&first)?;
                Value::object(Object::Formatter(pattern, None))
            }
            (Class::Date, Method::parse) => {
                let (pattern, text) = (self.text(&first)?, self.text(args.get(1).unwrap_or(&Value::Null))?);
                let zone = self.host.time_zone();
                match self.read_date(&text, &pattern, &zone) {
                    Some(millis) => Value::object(Object::Date(Cell::new(millis))),
                    None => return thrown("ParseException", format!("Unparseable date: \"{text}\"")),
                }
            }
            (Class::Date, Method::now) => Value::Double(self.host.now() as f64),
            (Class::Date, Method::from) => match &first {
                Value::Object(object) => match self.instant_of(object) {
                    Some(instant) => Value::object(Object::Date(Cell::new(instant.as_millisecond()))),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            },
            _ => return self.moment_class(class, method, args),
        }))
    }

    /// Classes of `java.time`.
    fn moment_class(&mut self, class: Class, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        Ok(Some(match (class, method) {
            (Class::Duration, _) => return self.duration_class(method, args),
            (_, Method::now) => {
                let zone = self.zone_or_own(&first)?;
                let Ok(instant) = Timestamp::from_millisecond(self.host.now()) else {
                    return self.out_of_time();
                };
                of_class(class, instant.to_zoned(zone))
            }
            (_, Method::ofEpochMilli | Method::ofEpochSecond | Method::ofEpochDay) => {
                let number = first.to_long().unwrap_or(0);
                let instant = match method {
                    Method::ofEpochMilli => Timestamp::from_millisecond(number).ok(),
                    Method::ofEpochSecond => Timestamp::from_second(number).ok(),
                    _ => number.checked_mul(86_400).and_then(|seconds| Timestamp::from_second(seconds).ok()),
                };
                match instant {
                    Some(instant) => of_class(class, instant.to_zoned(TimeZone::UTC)),
                    None => return self.out_of_time(),
                }
            }
            (_, Method::ofInstant | Method::from) => {
                let zone = self.zone_or_own(args.get(1).unwrap_or(&Value::Null))?;
                match &first {
                    Value::Object(object) => match self.instant_of(object) {
                        Some(instant) => of_class(class, instant.to_zoned(zone)),
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                }
            }
            (_, Method::of) => return self.moment_of(class, args).map(Some),
            (_, Method::parse) => return self.parsed_moment(class, args).map(Some),
            _ => return Ok(None),
        }))
    }

    pub(super) fn zone_or_own(&mut self, value: &Value) -> Run<TimeZone> {
        if value.is_null() {
            return Ok(self.host.time_zone());
        }
        Ok(self.zone_of(value)?.unwrap_or_else(|| self.host.time_zone()))
    }

    /// A `SimpleDateFormat` in the script's zone.
    pub(super) fn date_format(&mut self, pattern: Rc<str>) -> Value {
        let zone = self.host.time_zone();
        Value::object(Object::DateFormat(RefCell::new(pattern), RefCell::new(zone)))
    }

    pub(super) fn duration_class(&mut self, method: Method, args: &[Value]) -> Run<Option<Value>> {
        let number = args.first().and_then(Value::to_long).unwrap_or(0);
        let seconds = match method {
            Method::ofDays => number.saturating_mul(86_400),
            Method::ofHours => number.saturating_mul(3_600),
            Method::ofMinutes => number.saturating_mul(60),
            Method::ofSeconds => number,
            Method::ofMillis => {
                return Ok(Some(Value::object(Object::Duration(SignedDuration::from_millis(number)))));
            }
            Method::between => {
                let nanos = self.between("NANOS", args)?.to_long().unwrap_or(0);
                return Ok(Some(Value::object(Object::Duration(SignedDuration::from_nanos(nanos)))));
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::object(Object::Duration(SignedDuration::from_secs(seconds)))))
    }

    pub(super) fn moment_of(&mut self, class: Class, args: &[Value]) -> Run {
        let number = |at: usize| args.get(at).and_then(Value::to_long);
        let small = |at: usize| number(at).map_or(Some(0), |number| i8::try_from(number).ok());
        if class == Class::LocalTime {
            let of_day = small(0)
                .zip(small(1))
                .zip(small(2))
                .and_then(|((hour, minute), second)| Time::new(hour, minute, second, 0).ok());
            return of_day
                .map_or_else(|| self.out_of_time(), |of_day| Ok(Value::object(Object::LocalTime(of_day))));
        }
        let year = number(0).and_then(|year| i16::try_from(year).ok());
        let date = year
            .zip(small(1))
            .zip(small(2))
            .and_then(|((year, month), day)| Date::new(year, month, day).ok());
        let of_day = small(3).zip(small(4)).zip(small(5)).and_then(|((hour, minute), second)| {
            Time::new(hour, minute, second, i32::try_from(number(6).unwrap_or(0)).ok()?).ok()
        });
        match (date.zip(of_day), class) {
            (Some((date, _)), Class::LocalDate) => Ok(Value::object(Object::LocalDate(date))),
            (Some((date, of_day)), Class::LocalDateTime) => {
                Ok(Value::object(Object::LocalDateTime(date.to_datetime(of_day))))
            }
            (Some((date, of_day)), _) => {
                let zone = self.zone_or_own(args.get(7).unwrap_or(&Value::Null))?;
                match date.to_datetime(of_day).to_zoned(zone) {
                    Ok(zoned) => Ok(of_class(class, zoned)),
                    Err(_) => self.out_of_time(),
                }
            }
            (None, _) => thrown("DateTimeException", "Invalid value for a field of a date"),
        }
    }

    pub(super) fn parsed_moment(&mut self, class: Class, args: &[Value]) -> Run {
        let text = self.text(args.first().unwrap_or(&Value::Null))?;
        let pattern = match args.get(1) {
            Some(Value::Object(formatter)) => match &**formatter {
                Object::Formatter(pattern, _) if !iso_name(pattern) => Some(pattern.clone()),
                _ => None,
            },
            Some(pattern) => Some(self.text(pattern)?),
            None => None,
        };
        let found = match pattern {
            Some(pattern) => read_moment(class, &text, &pattern),
            None => read_iso(class, &text),
        };
        match found {
            Some(object) => Ok(Value::object(object)),
            None => thrown("DateTimeParseException", format!("Text '{text}' could not be parsed at index 0")),
        }
    }
}

fn read_moment(class: Class, text: &str, pattern: &str) -> Option<Object> {
    let read = time::parse(text, pattern, Letters::Formatter, true).ok().filter(time::Read::is_strict)?;
    let at = read.date_time()?;
    Some(match class {
        Class::LocalDate => Object::LocalDate(at.date()),
        Class::LocalTime => Object::LocalTime(at.time()),
        Class::LocalDateTime => Object::LocalDateTime(at),
        _ => {
            let zone = TimeZone::fixed(jiff::tz::Offset::from_seconds(read.offset?).ok()?);
            Object::Zoned(at.to_zoned(zone).ok()?)
        }
    })
}

fn read_iso(class: Class, text: &str) -> Option<Object> {
    Some(match class {
        Class::LocalDate => Object::LocalDate(text.parse().ok()?),
        Class::LocalTime => Object::LocalTime(text.parse().ok()?),
        Class::LocalDateTime => Object::LocalDateTime(text.parse().ok()?),
        Class::Instant => Object::Instant(text.parse().ok()?),
        Class::Duration => Object::Duration(text.parse().ok()?),
        _ => match text.parse() {
            Ok(zoned) => Object::Zoned(zoned),
            Err(_) => {
                let instant: Timestamp = text.parse().ok()?;
                let zone = text.rfind(['+', '-', 'Z']).and_then(|at| time::zone_of(&text[at..]));
                Object::Zoned(instant.to_zoned(zone.unwrap_or(TimeZone::UTC)))
            }
        },
    })
}

/// The pattern of a constant like `ISO_DATE`, which is its name here.
pub(super) fn iso_name(pattern: &str) -> bool {
    pattern.starts_with("ISO_")
}

pub(super) fn of_class(class: Class, zoned: jiff::Zoned) -> Value {
    Value::object(match class {
        Class::LocalDate => Object::LocalDate(zoned.date()),
        Class::LocalTime => Object::LocalTime(zoned.time()),
        Class::LocalDateTime => Object::LocalDateTime(zoned.datetime()),
        Class::Instant => Object::Instant(zoned.timestamp()),
        _ => Object::Zoned(zoned),
    })
}

fn of_duration(duration: SignedDuration, method: Method) -> Option<Value> {
    Some(Value::Long(match method {
        Method::toMillis => duration.as_millis() as i64,
        Method::toSeconds | Method::getSeconds => duration.as_secs(),
        Method::toMinutes => duration.as_secs() / 60,
        Method::toHours => duration.as_secs() / 3_600,
        Method::toDays => duration.as_secs() / 86_400,
        Method::toNanos => duration.as_nanos() as i64,
        _ => return None,
    }))
}

/// A field of `Calendar` by its number.
fn calendar_field(at: DateTime, field: i64) -> i32 {
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

/// So many units of a field of `Calendar`.
fn calendar_span(field: i64, count: i64) -> Option<Span> {
    let unit = match field {
        1 => "YEARS",
        2 => "MONTHS",
        3 | 4 => "WEEKS",
        5..=8 => "DAYS",
        10 | 11 => "HOURS",
        12 => "MINUTES",
        13 => "SECONDS",
        14 => "MILLIS",
        _ => return None,
    };
    span_named(unit, count)
}

/// The number of a field of `Calendar`.
pub(super) fn calendar_constant(name: &str) -> Option<i32> {
    Some(match name {
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
    })
}
