//! Dates and times as text, by the patterns of `SimpleDateFormat` and `DateTimeFormatter`, which differ in a few letters.
//! Names of months and days are English.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use std::fmt::Write;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Repetitions of a letter that are taken for what they say.
const WIDEST: usize = 20;

/// Whose patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// `java.text.SimpleDateFormat`.
    Simple,
    /// `java.time.format.DateTimeFormatter`.
    Formatter,
}

/// A moment as formatters see it: with an offset where its kind has one.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Date and time of day.
    pub at: DateTime,
    /// Where in the world.
    pub zoned: Option<Zoned>,
}

/// A letter and how often it stands, or text.
#[derive(Debug, PartialEq)]
enum TimePart {
    Letter(char, usize),
    Text(String),
}

/// The parts of a pattern; an error names the letter that is no field.
fn parts(pattern: &str) -> Result<Vec<TimePart>, String> {
    let mut found: Vec<TimePart> = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            let (text, length) = quoted(rest)?;
            found.push(TimePart::Text(text));
            rest = &rest[length..];
        } else if c.is_ascii_alphabetic() {
            let count = rest.len() - rest.trim_start_matches(c).len();
            if !"GyYuMLwWDdFEeHhKkmsSaAnzZXxVO".contains(c) || count > WIDEST {
                return Err(format!("Illegal pattern character '{c}'"));
            }
            found.push(TimePart::Letter(c, count));
            rest = &rest[count..];
        } else {
            found.push(TimePart::Text(c.to_string()));
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(found)
}

/// The text in quotes at the beginning, and its length with them; two quotes are one.
fn quoted(text: &str) -> Result<(String, usize), String> {
    if text.starts_with("''") {
        return Ok(("'".to_owned(), 2));
    }
    let mut inner = String::new();
    let mut at = 1;
    loop {
        let end = text[at..].find('\'').ok_or("Unterminated quote")?;
        inner.push_str(&text[at..at + end]);
        at += end + 1;
        if !text[at..].starts_with('\'') {
            return Ok((inner, at));
        }
        inner.push('\'');
        at += 1;
    }
}

/// A moment as text.
pub fn format(moment: &Moment, pattern: &str, letters: Letters) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    for part in parts(pattern)? {
        match part {
            TimePart::Text(text) => out.push_str(&text),
            TimePart::Letter(letter, count) => field(&mut out, moment, letter, count, letters)?,
        }
    }
    Ok(out)
}

fn field(
    out: &mut String,
    moment: &Moment,
    letter: char,
    count: usize,
    letters: Letters,
) -> Result<(), String> {
    let at = moment.at;
    let number = match letter {
        'G' => return add(out, "AD"),
        'y' => return year(out, i64::from(at.year()), count),
        'u' if letters == Letters::Formatter => return year(out, i64::from(at.year()), count),
        'Y' => return year(out, i64::from(week_year(at.date())), count),
        'M' | 'L' if count >= 3 => return add(out, name(&MONTHS, at.month() as usize - 1, count)),
        'E' => return add(out, name(&DAYS, at.weekday().to_monday_zero_offset() as usize, count)),
        'e' if count >= 3 => {
            return add(out, name(&DAYS, at.weekday().to_monday_zero_offset() as usize, count));
        }
        'a' => return add(out, if at.hour() < 12 { "AM" } else { "PM" }),
        'S' if letters == Letters::Formatter => return fraction(out, at, count),
        'z' | 'Z' | 'X' | 'x' | 'V' | 'O' => return zone(out, moment, letter, count),
        'M' | 'L' => i64::from(at.month()),
        'd' => i64::from(at.day()),
        'D' => i64::from(at.day_of_year()),
        'u' => i64::from(at.weekday().to_monday_one_offset()),
        'e' => i64::from(at.weekday().to_sunday_one_offset()),
        'F' => i64::from((at.day() - 1) / 7 + 1),
        'w' => i64::from(week_of_year(at.date())),
        'W' => i64::from((at.day() + first_of_month_offset(at.date()) - 1) / 7 + 1),
        'H' => i64::from(at.hour()),
        'k' => i64::from(if at.hour() == 0 { 24 } else { at.hour() }),
        'K' => i64::from(at.hour() % 12),
        'h' => i64::from((at.hour() + 11) % 12 + 1),
        'm' => i64::from(at.minute()),
        's' => i64::from(at.second()),
        'S' => i64::from(at.millisecond()),
        'n' => i64::from(at.subsec_nanosecond()),
        'A' => {
            i64::from(at.hour()) * 3_600_000
                + i64::from(at.minute()) * 60_000
                + i64::from(at.second()) * 1_000
                + i64::from(at.millisecond())
        }
        other => return Err(format!("Unsupported field: {other}")),
    };
    let _ = write!(out, "{number:0count$}");
    Ok(())
}

fn add(out: &mut String, text: &str) -> Result<(), String> {
    out.push_str(text);
    Ok(())
}

fn year(out: &mut String, year: i64, count: usize) -> Result<(), String> {
    let _ =
        if count == 2 { write!(out, "{:02}", year.rem_euclid(100)) } else { write!(out, "{year:0count$}") };
    Ok(())
}

fn name<'a>(names: &[&'a str], at: usize, count: usize) -> &'a str {
    if count >= 4 { names[at] } else { &names[at][..3] }
}

fn fraction(out: &mut String, at: DateTime, count: usize) -> Result<(), String> {
    let digits = format!("{:09}", at.subsec_nanosecond());
    out.push_str(&digits[..count.min(9)]);
    Ok(())
}

/// The year of the Saturday of the week: weeks begin on Sunday, and the first one has the first of January.
fn week_year(date: Date) -> i16 {
    let until_saturday = 6 - i64::from(date.weekday().to_sunday_zero_offset());
    date.checked_add(jiff::Span::new().days(until_saturday)).map_or(date.year(), |saturday| saturday.year())
}

fn week_of_year(date: Date) -> i16 {
    if week_year(date) != date.year() {
        return 1;
    }
    let first = date.first_of_year().weekday().to_sunday_zero_offset();
    (date.day_of_year() + i16::from(first) - 1) / 7 + 1
}

fn first_of_month_offset(date: Date) -> i8 {
    date.first_of_month().weekday().to_sunday_zero_offset()
}

fn zone(out: &mut String, moment: &Moment, letter: char, count: usize) -> Result<(), String> {
    let zoned = moment.zoned.as_ref().ok_or("Unable to extract ZoneId from temporal")?;
    let seconds = zoned.offset().seconds();
    match letter {
        'z' => {
            let info = zoned.time_zone().to_offset_info(zoned.timestamp());
            let abbreviation = info.abbreviation();
            let is_number = abbreviation.starts_with(['+', '-']);
            if is_number && seconds != 0 {
                out.push_str("GMT");
                return offset(out, seconds, ":", false);
            }
            out.push_str(if is_number { "Z" } else { abbreviation });
        }
        'V' => out.push_str(&zone_name(zoned.time_zone())),
        'Z' if count == 5 => return offset(out, seconds, ":", true),
        'Z' => return offset(out, seconds, "", false),
        'O' => {
            out.push_str("GMT");
            return if seconds == 0 { Ok(()) } else { offset(out, seconds, ":", false) };
        }
        _ if count == 1 => {
            let zero = letter == 'X' && seconds == 0;
            let _ = if zero { out.write_str("Z") } else { write!(out, "{:+03}", seconds / 3600) };
        }
        _ => return offset(out, seconds, if count == 3 { ":" } else { "" }, letter == 'X'),
    }
    Ok(())
}

fn offset(out: &mut String, seconds: i32, colon: &str, z_for_zero: bool) -> Result<(), String> {
    if z_for_zero && seconds == 0 {
        return add(out, "Z");
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.abs() / 60;
    let _ = write!(out, "{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60);
    Ok(())
}

/// Parts of a moment that a text gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// The year.
    pub year: Option<i64>,
    /// From 1.
    pub month: Option<i64>,
    /// Day of the month.
    pub day: Option<i64>,
    /// Hour of the day.
    pub hour: Option<i64>,
    /// Minute.
    pub minute: Option<i64>,
    /// Second.
    pub second: Option<i64>,
    /// Nanoseconds of the second.
    pub nanos: Option<i64>,
    /// Half of the day, where the hour counts to twelve.
    pub is_afternoon: Option<bool>,
    /// Seconds east of UTC.
    pub offset: Option<i32>,
}

impl Read {
    /// Date and time; what is missing is that of the first of January 1970.
    pub fn date_time(&self) -> Option<DateTime> {
        let hour = match (self.is_afternoon, self.hour.unwrap_or(0)) {
            (Some(is_afternoon), hour) => hour % 12 + if is_afternoon { 12 } else { 0 },
            (None, hour) => hour,
        };
        let date = Date::new(i16::try_from(self.year.unwrap_or(1970)).ok()?, 1, 1).ok()?;
        // Lenient as `SimpleDateFormat`: the 32nd is the first of the next month.
        let span = jiff::Span::new()
            .try_months(self.month.unwrap_or(1).saturating_sub(1))
            .ok()?
            .try_days(self.day.unwrap_or(1).saturating_sub(1))
            .ok()?
            .try_hours(hour)
            .ok()?
            .try_minutes(self.minute.unwrap_or(0))
            .ok()?
            .try_seconds(self.second.unwrap_or(0))
            .ok()?
            .try_nanoseconds(self.nanos.unwrap_or(0))
            .ok()?;
        date.to_datetime(Time::midnight()).checked_add(span).ok()
    }

    /// True if each field is within its own bounds, as `DateTimeFormatter` wants.
    pub fn is_strict(&self) -> bool {
        let within =
            |value: Option<i64>, from: i64, to: i64| value.is_none_or(|value| (from..=to).contains(&value));
        let last = self.year.zip(self.month).and_then(|(year, month)| {
            Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1)
                .ok()
                .map(|date| i64::from(date.days_in_month()))
        });
        within(self.month, 1, 12)
            && within(self.day, 1, last.unwrap_or(31))
            && within(self.hour, 0, 24)
            && within(self.minute, 0, 59)
            && within(self.second, 0, 59)
    }
}

/// Reads a text by a pattern; in error, the byte where it does not fit. What follows is left where `wants_all` is false.
pub fn parse(text: &str, pattern: &str, letters: Letters, wants_all: bool) -> Result<Read, usize> {
    let parts = parts(pattern).map_err(|_| 0_usize)?;
    let mut read = Read::default();
    let mut at = 0;
    for (index, part) in parts.iter().enumerate() {
        match part {
            TimePart::Text(expected) => {
                let fits = text[at..].starts_with(expected.as_str());
                at += if fits { expected.len() } else { return Err(at) };
            }
            TimePart::Letter(letter, count) => {
                let is_adjacent = matches!(parts.get(index + 1), Some(TimePart::Letter(next, _)) if !"EaGzZXxV".contains(*next));
                let width = if is_adjacent { Some(*count) } else { None };
                at += read_field(&mut read, &text[at..], *letter, *count, width, letters).ok_or(at)?;
            }
        }
    }
    if wants_all && at < text.len() { Err(at) } else { Ok(read) }
}

/// Reads one field; the bytes that it took.
fn read_field(
    read: &mut Read,
    text: &str,
    letter: char,
    count: usize,
    width: Option<usize>,
    letters: Letters,
) -> Option<usize> {
    match letter {
        'M' | 'L' if count >= 3 => {
            let (at, length) = read_name(text, &MONTHS)?;
            read.month = Some(at as i64 + 1);
            return Some(length);
        }
        'E' => return read_name(text, &DAYS).map(|(_, length)| length),
        'a' => {
            let half = text.get(..2)?.to_ascii_uppercase();
            read.is_afternoon = Some(half == "PM");
            return matches!(half.as_str(), "AM" | "PM").then_some(2);
        }
        'z' | 'Z' | 'X' | 'x' | 'V' | 'O' => {
            let (seconds, length) = read_offset(text)?;
            read.offset = Some(seconds);
            return Some(length);
        }
        'G' => return text.starts_with("AD").then_some(2),
        _ => {}
    }
    let most = match (letters, width) {
        (_, Some(width)) => width,
        (Letters::Formatter, None) if count > 1 && letter != 'y' && letter != 'u' => count,
        _ => 19,
    };
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let number: i64 = text[..length].parse().ok()?;
    if letters == Letters::Formatter && count > 1 && length < count {
        return None;
    }
    match letter {
        'y' | 'u' | 'Y' if count == 2 && length == 2 => read.year = Some(2000 + number),
        'y' | 'u' | 'Y' => read.year = Some(number),
        'M' | 'L' => read.month = Some(number),
        'd' => read.day = Some(number),
        'H' => read.hour = Some(number),
        'k' => read.hour = Some(number % 24),
        'h' | 'K' => {
            read.hour = Some(number % 12);
            read.is_afternoon = read.is_afternoon.or(Some(false));
        }
        'm' => read.minute = Some(number),
        's' => read.second = Some(number),
        'S' if letters == Letters::Simple => read.nanos = Some(number.checked_mul(1_000_000)?),
        'S' => read.nanos = format!("{:0<9}", &text[..length.min(9)]).parse().ok(),
        'n' => read.nanos = Some(number),
        _ => {}
    }
    Some(length)
}

fn read_name(text: &str, names: &[&str]) -> Option<(usize, usize)> {
    let starts = |name: &str| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let found = |length: fn(&str) -> usize| {
        names.iter().position(|name| starts(&name[..length(name)])).map(|at| (at, length(names[at])))
    };
    found(|name| name.len()).or_else(|| found(|_| 3))
}

fn read_offset(text: &str) -> Option<(i32, usize)> {
    if text.starts_with('Z') {
        return Some((0, 1));
    }
    for name in ["UTC", "GMT"] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some(read_offset(rest).map_or((0, 3), |(seconds, length)| (seconds, length + 3)));
        }
    }
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().take(5).take_while(|c| c.is_ascii_digit() || *c == ':').collect();
    let plain = digits.replace(':', "");
    let hours: i32 = plain.get(..2)?.parse().ok()?;
    let minutes: i32 = plain.get(2..4).and_then(|minutes| minutes.parse().ok()).unwrap_or(0);
    Some((sign * (hours * 3600 + minutes * 60), 1 + digits.len()))
}

/// A zone by its name or offset: `Europe/Paris`, `UTC`, `GMT+2`, `+02:00`, `Z`.
pub fn zone_of(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "GMT" | "Z" | "UT") {
        return Some(TimeZone::UTC);
    }
    let digits = ["UTC", "GMT", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    if digits.starts_with(['+', '-']) {
        let padded = match digits[1..].find(':').unwrap_or(digits.len() - 1) {
            1 => format!("{}0{}", &digits[..1], &digits[1..]),
            _ => digits.to_owned(),
        };
        let (seconds, _) = read_offset(&padded)?;
        return Offset::from_seconds(seconds).ok().map(TimeZone::fixed);
    }
    TimeZone::get(name).ok()
}

/// The name of a zone; an offset where it has none.
pub fn zone_name(zone: &TimeZone) -> String {
    if *zone == TimeZone::UTC {
        return "UTC".to_owned();
    }
    match zone.iana_name() {
        Some(name) => name.to_owned(),
        None => {
            let mut text = String::new();
            let _ = offset(&mut text, zone.to_offset(Timestamp::UNIX_EPOCH).seconds(), ":", true);
            text
        }
    }
}

/// `LocalTime.toString`: without seconds where they are zero, with three, six or nine digits of a fraction.
pub fn iso_time(time: Time) -> String {
    let mut text = format!("{:02}:{:02}", time.hour(), time.minute());
    let nanos = time.subsec_nanosecond();
    if time.second() != 0 || nanos != 0 {
        let _ = write!(text, ":{:02}", time.second());
    }
    let digits = format!("{nanos:09}");
    if nanos != 0 {
        let length = if nanos % 1_000_000 == 0 {
            3
        } else if nanos % 1_000 == 0 {
            6
        } else {
            9
        };
        let _ = write!(text, ".{}", &digits[..length]);
    }
    text
}

/// `LocalDateTime.toString`.
pub fn iso_date_time(at: DateTime) -> String {
    format!("{}T{}", at.date(), iso_time(at.time()))
}

/// `ZonedDateTime.toString`.
pub fn iso_zoned(at: &Zoned) -> String {
    let mut text = iso_date_time(at.datetime());
    let _ = offset(&mut text, at.offset().seconds(), ":", true);
    if let Some(name) = at.time_zone().iana_name() {
        let _ = write!(text, "[{name}]");
    }
    text
}

/// `Instant.toString`: seconds always, a fraction of three, six or nine digits.
pub fn iso_instant(at: Timestamp) -> String {
    let moment = at.to_zoned(TimeZone::UTC).datetime();
    let time = iso_time(moment.time());
    let seconds = if time.len() == 5 { ":00" } else { "" };
    format!("{}T{time}{seconds}Z", moment.date())
}

/// `Date.toString` in UTC.
pub fn date_text(millis: i64) -> String {
    date_text_in(millis, &TimeZone::UTC)
}

/// `Date.toString` in a zone.
pub fn date_text_in(millis: i64, zone: &TimeZone) -> String {
    let moment = moment(millis, zone);
    // A date beyond the years that are known has no text.
    moment.map_or_else(String::new, |moment| {
        format(&moment, "EEE MMM dd HH:mm:ss z yyyy", Letters::Simple).expect("a pattern that is known")
    })
}

/// Milliseconds of Unix time in a zone; `None` beyond the years that calendars know.
pub fn moment(millis: i64, zone: &TimeZone) -> Option<Moment> {
    let zoned = Timestamp::from_millisecond(millis).ok()?.to_zoned(zone.clone());
    Some(Moment { at: zoned.datetime(), zoned: Some(zoned) })
}

/// Milliseconds of Unix time of a date and time in a zone.
pub fn millis(at: DateTime, zone: &TimeZone) -> Option<i64> {
    at.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp().as_millisecond())
}

/// Names of days as `DayOfWeek` prints them.
pub fn day_name(day: Weekday) -> String {
    DAYS[day.to_monday_zero_offset() as usize].to_ascii_uppercase()
}

/// Names of months as `Month` prints them.
pub fn month_name(month: i8) -> String {
    MONTHS[month.clamp(1, 12) as usize - 1].to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(millis: i64, zone: &str, pattern: &str) -> String {
        let moment = moment(millis, &zone_of(zone).expect("a zone")).expect("a moment");
        format(&moment, pattern, Letters::Simple).unwrap_or_else(|problem| problem)
    }

    #[test]
    fn formats() {
        let at = 1_735_543_805_042; // 2024-12-30T07:30:05.042Z, a Monday
        for (zone, pattern, expected) in [
            ("UTC", "yyyy-MM-dd'T'HH:mm:ss.SSSZ", "2024-12-30T07:30:05.042+0000"),
            ("UTC", "YYYY", "2025"),
            ("UTC", "EEE, d MMM yy h:mm a z XXX", "Mon, 30 Dec 24 7:30 AM UTC Z"),
            ("+05:30", "HH:mm XXX X EEEE", "13:00 +05:30 +05 Monday"),
            ("UTC", "''yyyy''", "'2024'"),
            ("UTC", "b", "Illegal pattern character 'b'"),
        ] {
            assert_eq!(shown(at, zone, pattern), expected, "{pattern}");
        }
        assert_eq!(date_text(0), "Thu Jan 01 00:00:00 UTC 1970");
    }

    #[test]
    fn reads() {
        for (text, pattern, expected) in [
            ("2024-02-28 09:05", "yyyy-MM-dd HH:mm", Some("2024-02-28T09:05")),
            ("20240228", "yyyyMMdd", Some("2024-02-28T00:00")),
            ("28 Feb 2024 9 PM", "d MMM yyyy h a", Some("2024-02-28T21:00")),
            ("2024-02-30", "yyyy-MM-dd", Some("2024-03-01T00:00")),
            ("x", "yyyy", None),
        ] {
            let read = parse(text, pattern, Letters::Simple, false).ok().and_then(|read| read.date_time());
            assert_eq!(read.map(iso_date_time).as_deref(), expected, "{text}");
        }
    }
}
