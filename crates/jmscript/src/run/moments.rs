//! `java.time`: moments, parts of them, and what lies between two.

use super::Machine;
use super::abrupt::{Run, thrown};
use super::objects::unit_nanos;
use crate::method::Method;
use crate::time::{self, Letters, Moment};
use crate::value::{Object, Value};
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use std::cell::Cell;
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn of_moment(
        &mut self,
        object: &Rc<Object>,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        if let Some(span) = span_of(method, &first)? {
            return self.shifted(object, span).map(Some);
        }
        match (method, args) {
            (Method::format, [_]) => {
                let Some(formatter) = formatter_of(&first) else {
                    let pattern = self.text(&first)?;
                    let Some(moment) = self.moment(object, &TimeZone::UTC)? else {
                        return self.out_of_time();
                    };
                    return self
                        .shown_moment(&moment, &pattern, Letters::Formatter)
                        .map(|text| Some(Value::Text(text)));
                };
                return self.object_method(
                    formatter,
                    &first,
                    Method::format,
                    &[Value::Object(object.clone())],
                );
            }
            (Method::isBefore | Method::isAfter | Method::isEqual, [other]) => {
                let order = Value::Object(object.clone()).order(other).map_or(0, |order| order as i32);
                let wanted = match method {
                    Method::isBefore => -1,
                    Method::isAfter => 1,
                    _ => 0,
                };
                return Ok(Some(Value::Bool(order == wanted)));
            }
            (Method::plus | Method::minus, [_, ..]) => {
                return self.plus(object, method == Method::minus, args);
            }
            (Method::until, [end, Value::Object(unit)]) => {
                let Object::Constant(_, name) = &**unit else { return Ok(None) };
                return self.between(name, &[Value::Object(object.clone()), end.clone()]).map(Some);
            }
            (Method::toEpochMilli, []) => {
                return Ok(self.instant_of(object).map(|instant| Value::Long(instant.as_millisecond())));
            }
            (Method::toEpochSecond | Method::getEpochSecond, _) => {
                if let Some(instant) = self.instant_of(object) {
                    return Ok(Some(Value::Long(instant.as_second())));
                }
            }
            _ => {}
        }
        let Some(moment) = self.moment(object, &TimeZone::UTC)? else { return self.out_of_time() };
        if let Some(value) = self.converted(object, &moment, method, args)? {
            return Ok(Some(value));
        }
        Ok(field(&moment, method))
    }

    pub(super) fn instant_of(&self, object: &Object) -> Option<Timestamp> {
        match object {
            Object::Instant(instant) => Some(*instant),
            Object::Zoned(zoned) => Some(zoned.timestamp()),
            _ => None,
        }
    }

    pub(super) fn converted(
        &mut self,
        object: &Rc<Object>,
        moment: &Moment,
        method: Method,
        args: &[Value],
    ) -> Run<Option<Value>> {
        let first = args.first().cloned().unwrap_or_default();
        let at = moment.at;
        Ok(Some(match method {
            Method::toLocalDate => Value::object(Object::LocalDate(at.date())),
            Method::toLocalTime => Value::object(Object::LocalTime(at.time())),
            Method::toLocalDateTime => Value::object(Object::LocalDateTime(at)),
            Method::toInstant => match self
                .instant_of(object)
                .or_else(|| at.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp()))
            {
                Some(instant) => Value::object(Object::Instant(instant)),
                None => return self.out_of_time(),
            },
            Method::atStartOfDay if args.is_empty() => {
                Value::object(Object::LocalDateTime(at.date().to_datetime(Time::midnight())))
            }
            Method::atTime => {
                let number = |at: usize| args.get(at).and_then(Value::to_long).unwrap_or(0) as i8;
                match Time::new(number(0), number(1), number(2), 0) {
                    Ok(of_day) => Value::object(Object::LocalDateTime(at.date().to_datetime(of_day))),
                    Err(_) => return self.out_of_time(),
                }
            }
            Method::atZone
            | Method::atOffset
            | Method::atStartOfDay
            | Method::withZoneSameInstant
            | Method::withZoneSameLocal
            | Method::toZonedDateTime
            | Method::toOffsetDateTime => {
                let zone = self.zone_of(&first)?.unwrap_or(TimeZone::UTC);
                let zoned = match (self.instant_of(object), method) {
                    (Some(_), Method::toZonedDateTime | Method::toOffsetDateTime) => moment.zoned.clone(),
                    (Some(instant), Method::atZone | Method::atOffset | Method::withZoneSameInstant) => {
                        Some(instant.to_zoned(zone))
                    }
                    _ => at.to_zoned(zone).ok(),
                };
                match zoned {
                    Some(zoned) => Value::object(Object::Zoned(zoned)),
                    None => return self.out_of_time(),
                }
            }
            _ => return self.changed(object, moment, method, &first),
        }))
    }

    fn changed(
        &mut self,
        object: &Rc<Object>,
        moment: &Moment,
        method: Method,
        first: &Value,
    ) -> Run<Option<Value>> {
        let at = moment.at;
        Ok(Some(match method {
            Method::getZone | Method::getOffset => {
                let zone = moment.zoned.as_ref().map_or(TimeZone::UTC, |zoned| zoned.time_zone().clone());
                Value::object(Object::Zone(zone))
            }
            Method::withDayOfMonth
            | Method::withHour
            | Method::withMinute
            | Method::withSecond
            | Method::withNano
            | Method::withYear
            | Method::withMonth
            | Method::withDayOfYear => {
                return self.with_field(object, at, method, first.to_long().unwrap_or(0)).map(Some);
            }
            Method::truncatedTo => {
                let name = self.text(first)?;
                let of_day = match &*name {
                    "DAYS" => Some(Time::midnight()),
                    "HOURS" => Time::new(at.hour(), 0, 0, 0).ok(),
                    "MINUTES" => Time::new(at.hour(), at.minute(), 0, 0).ok(),
                    "MILLIS" => Time::new(
                        at.hour(),
                        at.minute(),
                        at.second(),
                        i32::from(at.millisecond()) * 1_000_000,
                    )
                    .ok(),
                    _ => Time::new(at.hour(), at.minute(), at.second(), 0).ok(),
                };
                return self
                    .like_moment(object, of_day.map(|of_day| at.date().to_datetime(of_day)))
                    .map(Some);
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn with_field(
        &mut self,
        object: &Rc<Object>,
        at: DateTime,
        method: Method,
        value: i64,
    ) -> Run {
        let small = i8::try_from(value).unwrap_or(-1);
        let builder = at.with();
        let changed = match method {
            Method::withDayOfMonth => builder.day(small),
            Method::withHour => builder.hour(small),
            Method::withMinute => builder.minute(small),
            Method::withSecond => builder.second(small),
            Method::withMonth => builder.month(small),
            Method::withDayOfYear => builder.day_of_year(i16::try_from(value).unwrap_or(-1)),
            Method::withYear => builder.year(i16::try_from(value).unwrap_or(i16::MAX)),
            _ => builder.subsec_nanosecond(i32::try_from(value).unwrap_or(-1)),
        };
        self.like_moment(object, changed.build().ok())
    }

    /// Another date and time as an object of the same kind.
    pub(super) fn like_moment(&mut self, object: &Object, at: Option<DateTime>) -> Run {
        let new = at.and_then(|at| {
            Some(match object {
                Object::LocalDate(_) => Object::LocalDate(at.date()),
                Object::LocalTime(_) => Object::LocalTime(at.time()),
                Object::Zoned(zoned) => Object::Zoned(at.to_zoned(zoned.time_zone().clone()).ok()?),
                Object::Instant(_) => Object::Instant(at.to_zoned(TimeZone::UTC).ok()?.timestamp()),
                _ => Object::LocalDateTime(at),
            })
        });
        match new {
            Some(object) => Ok(Value::object(object)),
            None => self.out_of_time(),
        }
    }

    pub(super) fn shifted(&mut self, object: &Rc<Object>, span: Span) -> Run {
        if let Object::LocalTime(of_day) = &**object {
            return Ok(Value::object(Object::LocalTime(of_day.wrapping_add(span))));
        }
        let Some(moment) = self.moment(object, &TimeZone::UTC)? else { return self.out_of_time() };
        let at = moment.at.checked_add(span).ok();
        self.like_moment(object, at)
    }

    pub(super) fn plus(&mut self, object: &Rc<Object>, is_minus: bool, args: &[Value]) -> Run<Option<Value>> {
        let sign = if is_minus { -1 } else { 1 };
        match args {
            [Value::Object(other)] => {
                let Object::Duration(duration) = &**other else { return Ok(None) };
                let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX).saturating_mul(sign);
                match Span::new().try_nanoseconds(nanos) {
                    Ok(span) => self.shifted(object, span).map(Some),
                    Err(_) => self.out_of_time(),
                }
            }
            [amount, unit] => {
                let name = self.text(unit)?;
                match span_named(&name, amount.to_long().unwrap_or(0).saturating_mul(sign)) {
                    Some(span) => self.shifted(object, span).map(Some),
                    None => self.out_of_time(),
                }
            }
            [days] if matches!(**object, Object::LocalDate(_)) => {
                match span_named("DAYS", days.to_long().unwrap_or(0).saturating_mul(sign)) {
                    Some(span) => self.shifted(object, span).map(Some),
                    None => self.out_of_time(),
                }
            }
            _ => Ok(None),
        }
    }

    /// `date + 1`, `moment - 2`: days for dates, seconds for times; `date - date` in days.
    pub(super) fn moved(&mut self, object: &Rc<Object>, is_minus: bool, by: &Value) -> Run<Option<Value>> {
        let sign = if is_minus { -1 } else { 1 };
        match (&**object, by) {
            (Object::Date(millis), by) if by.is_number() => {
                let moved =
                    millis.get().saturating_add(by.to_long().unwrap_or(0).saturating_mul(sign * 86_400_000));
                Ok(Some(Value::object(Object::Date(Cell::new(moved)))))
            }
            (Object::Date(millis), Value::Object(other)) => match &**other {
                Object::Date(other) => {
                    Ok(Some(Value::Int((millis.get().saturating_sub(other.get()) / 86_400_000) as i32)))
                }
                _ => Ok(None),
            },
            (Object::LocalDate(_), by) if by.is_number() => {
                self.plus(object, is_minus, std::slice::from_ref(by))
            }
            (Object::LocalDateTime(_) | Object::LocalTime(_) | Object::Instant(_) | Object::Zoned(_), by)
                if by.is_number() =>
            {
                self.plus(object, is_minus, &[by.clone(), Value::from("SECONDS")])
            }
            (_, Value::Object(_)) => self.plus(object, is_minus, std::slice::from_ref(by)),
            _ => Ok(None),
        }
    }

    /// Whole units between two moments.
    pub(super) fn between(&mut self, unit: &str, args: &[Value]) -> Run {
        let mut ends = [DateTime::constant(1970, 1, 1, 0, 0, 0, 0); 2];
        for (end, arg) in ends.iter_mut().zip(args) {
            let Value::Object(object) = arg else {
                return thrown("IllegalArgumentException", "two dates are needed");
            };
            let Some(moment) = self.moment(object, &TimeZone::UTC)? else { return self.out_of_time() };
            *end = moment.at;
        }
        let [from, to] = ends;
        let months = || {
            let whole = i64::from(to.year() - from.year()) * 12 + i64::from(to.month() - from.month());
            let rest = (to.day(), to.time()).cmp(&(from.day(), from.time()));
            match (whole > 0, rest) {
                (true, std::cmp::Ordering::Less) => whole - 1,
                (false, std::cmp::Ordering::Greater) if whole < 0 => whole + 1,
                _ => whole,
            }
        };
        Ok(Value::Long(match unit {
            "MONTHS" => months(),
            "YEARS" => months() / 12,
            "WEEKS" => nanos_between(from, to) as i64 / (7 * 86_400) / 1_000_000_000,
            unit => (nanos_between(from, to) / i128::from(unit_nanos(unit))) as i64,
        }))
    }
}

pub(super) fn field(moment: &Moment, method: Method) -> Option<Value> {
    let at = moment.at;
    Some(match method {
        Method::getYear => Value::Int(at.year().into()),
        Method::getMonthValue => Value::Int(at.month().into()),
        Method::getMonth => Value::text(time::month_name(at.month())),
        Method::getDayOfMonth => Value::Int(at.day().into()),
        Method::getDayOfYear => Value::Int(at.day_of_year().into()),
        Method::getDayOfWeek => Value::text(time::day_name(at.weekday())),
        Method::getHour => Value::Int(at.hour().into()),
        Method::getMinute => Value::Int(at.minute().into()),
        Method::getSecond => Value::Int(at.second().into()),
        Method::getNano => Value::Int(at.subsec_nanosecond()),
        Method::lengthOfMonth => Value::Int(at.date().days_in_month().into()),
        Method::isLeapYear => Value::Bool(at.date().in_leap_year()),
        Method::toEpochDay => Value::Long(
            (nanos_between(DateTime::constant(1970, 1, 1, 0, 0, 0, 0), at) / 86_400_000_000_000) as i64,
        ),
        Method::toEpochSecond => Value::Long(
            (nanos_between(DateTime::constant(1970, 1, 1, 0, 0, 0, 0), at) / 1_000_000_000) as i64,
        ),
        _ => return None,
    })
}

pub(super) fn nanos_between(from: DateTime, to: DateTime) -> i128 {
    to.duration_since(from).as_nanos()
}

/// The span of `plusDays` and its like; `None` for other methods.
pub(super) fn span_of(method: Method, by: &Value) -> Run<Option<Span>> {
    let name = method.name();
    let (sign, unit) = match (name.strip_prefix("plus"), name.strip_prefix("minus")) {
        (Some(unit), _) => (1, unit),
        (_, Some(unit)) => (-1, unit),
        _ => return Ok(None),
    };
    if unit.is_empty() {
        return Ok(None);
    }
    match span_named(&unit.to_ascii_uppercase(), by.to_long().unwrap_or(0).saturating_mul(sign)) {
        Some(span) => Ok(Some(span)),
        None => thrown("DateTimeException", "a date beyond the years that are known here (-9999 to 9999)"),
    }
}

/// So many units.
pub(super) fn span_named(unit: &str, count: i64) -> Option<Span> {
    let span = Span::new();
    match unit {
        "YEARS" => span.try_years(count),
        "MONTHS" => span.try_months(count),
        "WEEKS" => span.try_weeks(count),
        "DAYS" => span.try_days(count),
        "HOURS" => span.try_hours(count),
        "MINUTES" => span.try_minutes(count),
        "SECONDS" => span.try_seconds(count),
        "MILLIS" => span.try_milliseconds(count),
        "MICROS" => span.try_microseconds(count),
        _ => span.try_nanoseconds(count),
    }
    .ok()
}

/// A `DateTimeFormatter`.
fn formatter_of(value: &Value) -> Option<&Rc<Object>> {
    match value {
        Value::Object(object) if matches!(**object, Object::Formatter(..)) => Some(object),
        _ => None,
    }
}
