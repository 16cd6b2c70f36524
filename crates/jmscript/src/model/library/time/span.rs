//! Spans by the name of their unit.

use crate::model::abrupt::Run;
use crate::model::value::Value;
use jiff::Span;

/// So many units.
pub(crate) fn span(unit: &str, count: i64) -> Option<Span> {
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

/// As many units as a value says, forward or back.
pub(crate) fn span_of(unit: &str, count: &Value, sign: i64) -> Run<Span> {
    super::in_time(span(unit, count.to_long().unwrap_or(0).saturating_mul(sign)))
}
