//! Dates by Java's patterns (`yyyy-MM-dd'T'HH:mm:ss.SSSXXX`), written and read.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::borrow::Cow;

/// A moment in the system's time zone.
pub(super) fn at(ms: i64) -> Result<Zoned, String> {
    let moment = Timestamp::from_millisecond(ms).map_err(|error| error.to_string())?;
    Ok(moment.to_zoned(TimeZone::system()))
}

/// A piece of a pattern: letters of one kind, or text.
enum DateField<'a> {
    Letters(char, usize),
    Text(Cow<'a, str>),
}

fn fields(pattern: &str) -> Result<Vec<DateField<'_>>, String> {
    let mut fields = Vec::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let end = end_of_quoted(quoted).ok_or_else(|| format!("a quote in '{pattern}' is not closed"))?;
            fields.push(DateField::Text(if end == 0 {
                "'".into()
            } else {
                quoted[..end].replace("''", "'").into()
            }));
            rest = &quoted[end + 1..];
        } else if first.is_ascii_alphabetic() {
            let count = rest.chars().take_while(|letter| *letter == first).count();
            fields.push(DateField::Letters(first, count.min(20)));
            rest = &rest[count..];
        } else {
            let end = rest.find(|one: char| one == '\'' || one.is_ascii_alphabetic()).unwrap_or(rest.len());
            fields.push(DateField::Text(rest[..end].into()));
            rest = &rest[end..];
        }
    }
    Ok(fields)
}

/// Where a quote ends that has begun; two of them within it are one.
fn end_of_quoted(quoted: &str) -> Option<usize> {
    if quoted.starts_with('\'') {
        return Some(0);
    }
    let mut from = 0;
    loop {
        let end = from + quoted[from..].find('\'')?;
        if !quoted[end + 1..].starts_with('\'') {
            return Some(end);
        }
        from = end + 2;
    }
}

/// A moment as a pattern wants it; names in English.
pub(super) fn format(moment: &Zoned, pattern: &str) -> Result<String, String> {
    let mut text = String::new();
    for field in fields(pattern)? {
        match field {
            DateField::Text(fixed) => text.push_str(&fixed),
            DateField::Letters(letter, count) => text.push_str(&written(moment, letter, count, pattern)?),
        }
    }
    Ok(text)
}

fn written(moment: &Zoned, letter: char, count: usize, pattern: &str) -> Result<String, String> {
    let padded = |number: i64| format!("{number:0count$}");
    let named = |format: &str| moment.strftime(format).to_string();
    let hour = i64::from(moment.hour());
    Ok(match letter {
        'y' | 'u' | 'Y' if count == 2 => format!("{:02}", moment.year().rem_euclid(100)),
        'y' | 'u' | 'Y' => padded(i64::from(moment.year())),
        'M' | 'L' if count >= 4 => named("%B"),
        'M' | 'L' if count == 3 => named("%b"),
        'M' | 'L' => padded(i64::from(moment.month())),
        'd' => padded(i64::from(moment.day())),
        'D' => padded(i64::from(moment.day_of_year())),
        'H' => padded(hour),
        'k' => padded(if hour == 0 { 24 } else { hour }),
        'K' => padded(hour % 12),
        'h' => padded((hour + 11) % 12 + 1),
        'm' => padded(i64::from(moment.minute())),
        's' => padded(i64::from(moment.second())),
        'S' if count <= 3 => padded(i64::from(moment.millisecond())),
        'S' => format!("{:09}", moment.subsec_nanosecond())[..count.min(9)].to_owned(),
        'E' if count >= 4 => named("%A"),
        'E' => named("%a"),
        'a' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        'z' => named("%Z"),
        'Z' => named("%z"),
        'X' if moment.offset().is_zero() => "Z".to_owned(),
        'X' | 'x' if count >= 3 => named("%:z"),
        'X' | 'x' => named("%z"),
        _ => return Err(format!("'{letter}' in the pattern '{pattern}' is not known")),
    })
}

/// A moment, read by a pattern; what the pattern does not say is the first of its kind.
pub(super) fn parse(text: &str, pattern: &str) -> Result<Zoned, String> {
    let wrong = || format!("'{text}' is no date as '{pattern}' wants it");
    let mut format = String::new();
    for field in fields(pattern)? {
        match field {
            DateField::Text(fixed) => format.push_str(&fixed.replace('%', "%%")),
            DateField::Letters(letter, count) => format.push_str(read_as(letter, count).ok_or_else(wrong)?),
        }
    }
    let broken = jiff::fmt::strtime::parse(&format, text).map_err(|_| wrong())?;
    if let Ok(moment) = broken.to_timestamp() {
        return Ok(moment.to_zoned(TimeZone::system()));
    }
    let civil: DateTime = match broken.to_datetime() {
        Ok(civil) => civil,
        Err(_) => broken.to_date().map_err(|_| wrong())?.at(0, 0, 0, 0),
    };
    civil.to_zoned(TimeZone::system()).map_err(|error| error.to_string())
}

fn read_as(letter: char, count: usize) -> Option<&'static str> {
    Some(match letter {
        'y' | 'u' if count == 2 => "%y",
        'y' | 'u' => "%Y",
        'M' if count >= 4 => "%B",
        'M' if count == 3 => "%b",
        'M' => "%m",
        'd' => "%d",
        'D' => "%j",
        'H' | 'k' => "%H",
        'h' | 'K' => "%I",
        'm' => "%M",
        's' => "%S",
        'S' => "%f",
        'E' if count >= 4 => "%A",
        'E' => "%a",
        'a' => "%p",
        'Z' => "%z",
        'X' | 'x' => "%:z",
        _ => return None,
    })
}
