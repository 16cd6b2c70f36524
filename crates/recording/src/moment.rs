//! Times as logs write them.

use crate::text;
use jiff::tz::TimeZone;

/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// 1990-01-01 in microseconds since 1970: no log is older.
pub const EARLIEST: i64 = 631_152_000 * SECOND;
/// 2100-01-01 in microseconds since 1970.
pub const LATEST: i64 = 4_102_444_800 * SECOND;

/// Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant's algorithm).
pub const fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = (month as i64 + 9) % 12;
    let of_year = (153 * shifted + 2) / 5 + day as i64 - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// True of a date that the Gregorian calendar has: 29 February of leap years alone, no 31 April.
pub const fn is_date(year: i64, month: u32, day: u32) -> bool {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    1 <= day && day <= days
}

/// A date and time by the clock on a wall, and what is known of its zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MomentParts {
    /// Year, such as 2026; 0: not told.
    pub year: i64,
    /// From 1; 0: not told.
    pub month: u32,
    /// From 1; 0: not told.
    pub day: u32,
    /// Hours, minutes and seconds as seconds of the day.
    pub of_day: u32,
    /// Below a second, in microseconds.
    pub micros: u32,
    /// Seconds east of UTC; `None`: not told.
    pub offset: Option<i32>,
    /// Whole microseconds since 1970, where the text tells these; it overrules the rest but `micros`.
    pub unix: Option<i64>,
    /// Its finest step in microseconds; 0: a whole second.
    pub resolution: u32,
}

impl MomentParts {
    /// Microseconds since 1970; a time without zone is one of `zone`. `None` where parts are missing.
    pub fn unix_us(&self, zone: &Zone) -> Option<i64> {
        if let Some(unix) = self.unix {
            return Some(unix + i64::from(self.micros));
        }
        if self.year == 0 || !is_date(self.year, self.month, self.day) {
            return None;
        }
        let wall = days(self.year, self.month, self.day) * 86_400 + i64::from(self.of_day);
        let offset = match self.offset {
            Some(offset) => i64::from(offset),
            None => zone.offset(wall),
        };
        Some((wall - offset) * SECOND + i64::from(self.micros))
    }
}

/// The zone of times that name none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Zone {
    /// Nobody said; UTC is taken, and the report says so.
    #[default]
    Untold,
    /// A fixed distance, in seconds east of UTC.
    Fixed(i32),
    /// A zone of the IANA database.
    Named(TimeZone),
}

impl Zone {
    /// Reads `UTC`, `+02:00` or `Europe/Berlin`.
    ///
    /// # Errors
    /// In words, where there is no such zone.
    pub fn parse(text: &str) -> Result<Zone, String> {
        if text.eq_ignore_ascii_case("utc") || text == "Z" {
            return Ok(Zone::Fixed(0));
        }
        if let Some(offset) = offset(text.as_bytes()) {
            return Ok(Zone::Fixed(offset));
        }
        let named = TimeZone::get(text);
        named
            .map(Zone::Named)
            .map_err(|_| format!("'{text}' is no zone: give UTC, +02:00 or a name such as Europe/Berlin"))
    }

    /// Seconds east of UTC at a time by the clock on the wall, in seconds since 1970 by it.
    fn offset(&self, wall: i64) -> i64 {
        match self {
            Zone::Untold => 0,
            Zone::Fixed(offset) => i64::from(*offset),
            Zone::Named(zone) => {
                let Ok(utc) = jiff::Timestamp::from_second(wall) else { return 0 };
                let clock = TimeZone::UTC.to_datetime(utc);
                // Of an hour that occurs twice the first is taken; one that does not occur is moved on.
                zone.to_zoned(clock).map_or(0, |zoned| i64::from(zoned.offset().seconds()))
            }
        }
    }
}

/// Reads `+0200`, `-07:00`, `Z`.
pub fn offset(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        b"Z" | b"z" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let two =
        |at: usize| digits.get(at..at + 2).and_then(text::number).and_then(|value| i32::try_from(value).ok());
    let (hours, minutes) = match digits.len() {
        2 => (two(0)?, 0),
        4 => (two(0)?, two(2)?),
        5 if digits[2] == b':' => (two(0)?, two(3)?),
        _ => return None,
    };
    Some(sign * (hours * 3600 + minutes * 60))
}

/// Number of a month, from 1, by its first three letters.
pub fn month(text: &[u8]) -> Option<u32> {
    let name = text.get(..3)?;
    let names: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let at = names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
    Some(at as u32 + 1)
}

/// Reads `12:34:56` as seconds of the day.
pub fn clock(text: &[u8]) -> Option<u32> {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = text else { return None };
    let two = |high: &u8, low: &u8| {
        let high = high.wrapping_sub(b'0');
        let low = low.wrapping_sub(b'0');
        (high <= 9 && low <= 9).then(|| u32::from(high) * 10 + u32::from(low))
    };
    let hours = two(h1, h2)?;
    let minutes = two(m1, m2)?;
    let seconds = two(s1, s2)?;
    (hours < 24 && minutes < 60 && seconds < 61).then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Reads CLF's time, `10/Oct/2000:13:55:36 -0700`, with the day and zone of the last one remembered: times of a log come in order,
/// or nearly.
#[derive(Debug, Clone, Default)]
pub struct Clf {
    day: [u8; 11],
    zone: [u8; 6],
    /// Seconds since 1970 of the remembered day's beginning in the remembered zone.
    begins: i64,
    known: bool,
}

impl Clf {
    /// Microseconds since 1970, and the finest step; text without a zone is not read here.
    pub fn read(&mut self, text: &[u8]) -> Option<i64> {
        if text.len() != 26 {
            return None;
        }
        let day = &text[..11];
        let zone = &text[20..26];
        if !(self.known && day == self.day && zone == self.zone) {
            self.learn(day, zone)?;
        }
        if text[11] != b':' {
            return None;
        }
        Some((self.begins + i64::from(clock(&text[12..20])?)) * SECOND)
    }

    fn learn(&mut self, day: &[u8], zone: &[u8]) -> Option<()> {
        let date = clf_date(day)?;
        let zone_text = zone.strip_prefix(b" ")?;
        self.begins = date - i64::from(offset(zone_text)?);
        self.day.copy_from_slice(day);
        self.zone.copy_from_slice(zone);
        self.known = true;
        Some(())
    }
}

/// Seconds since 1970 of a day written `10/Oct/2000`.
pub fn clf_date(text: &[u8]) -> Option<i64> {
    let [_, _, b'/', _, _, _, b'/', ..] = text else { return None };
    let day = text::number(&text[..2])? as u32;
    let month = month(&text[3..6])?;
    let year = text::number(text.get(7..11)?)? as i64;
    is_date(year, month, day).then(|| days(year, month, day) * 86_400)
}

/// Reads ISO 8601: `2026-11-25T10:00:00.123456Z`, a blank for the `T`, any number of decimals, a zone or none.
pub fn iso(text: &[u8]) -> Option<MomentParts> {
    let date = text.get(..10)?;
    let [_, _, _, _, b'-', _, _, b'-', _, _] = date else { return None };
    let mut parts = MomentParts {
        year: text::number(&date[..4])? as i64,
        month: text::number(&date[5..7])? as u32,
        day: text::number(&date[8..])? as u32,
        ..MomentParts::default()
    };
    if !matches!(text.get(10), Some(b'T' | b't' | b' ')) {
        return None;
    }
    parts.of_day = clock(text.get(11..19)?)?;
    let rest = fraction(&text[19..], &mut parts)?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    if !rest.is_empty() {
        parts.offset = Some(offset(rest)?);
    }
    Some(parts)
}

/// Reads `.123456` or `,123` into the parts; returns what follows.
pub fn fraction<'a>(text: &'a [u8], parts: &mut MomentParts) -> Option<&'a [u8]> {
    let Some(rest) = text.strip_prefix(b".").or_else(|| text.strip_prefix(b",")) else { return Some(text) };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (micros, resolution) = subsecond(&rest[..digits])?;
    (parts.micros, parts.resolution) = (micros, resolution);
    Some(&rest[digits..])
}

/// Reads the digits below a second: microseconds, and the finest step of so many digits.
pub fn subsecond(digits: &[u8]) -> Option<(u32, u32)> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let kept = digits.len().min(6);
    let step = 10_u32.pow(6 - kept as u32);
    Some((text::number(&digits[..kept])? as u32 * step, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(parts: MomentParts) -> i64 {
        parts.unix_us(&Zone::Untold).expect("whole")
    }

    #[test]
    fn days_agree_with_a_calendar() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 2, 29), 11_016);
        assert_eq!(days(2026, 11, 25), 20_782);
        assert_eq!(
            (EARLIEST, LATEST),
            (days(1990, 1, 1) * 86_400 * SECOND, days(2100, 1, 1) * 86_400 * SECOND)
        );
    }

    /// Each day of four centuries, and those beside them that no calendar has.
    #[test]
    fn dates_are_those_of_a_calendar() {
        for year in 1900..2300 {
            for month in 1..=12 {
                let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
                let length = (next - days(year, month, 1)) as u32;
                let found: Vec<u32> = (0..40).filter(|day| is_date(year, month, *day)).collect();
                assert_eq!(found, (1..=length).collect::<Vec<_>>(), "{year}-{month}");
            }
            assert!(!is_date(year, 0, 1) && !is_date(year, 13, 1));
        }
    }

    #[test]
    fn clf_times() {
        let mut clf = Clf::default();
        for (text, seconds) in [
            ("10/Oct/2000:13:55:36 -0700", 971_211_336),
            ("10/Oct/2000:13:55:37 -0700", 971_211_337),
            ("11/Oct/2000:00:00:00 +0000", 971_222_400),
            ("10/Oct/2000:13:55:36 -0700", 971_211_336),
        ] {
            assert_eq!(clf.read(text.as_bytes()), Some(seconds * SECOND), "{text}");
        }
        for text in ["10/Oct/2000:13:55:36", "10/Xct/2000:13:55:36 -0700", "10/Oct/2000:25:55:36 -0700", ""] {
            assert_eq!(clf.read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn iso_times() {
        for (text, us, resolution) in [
            ("2000-10-10T20:55:36Z", 971_211_336_000_000, 0),
            ("2000-10-10T13:55:36.25-07:00", 971_211_336_250_000, 10_000),
            ("2000-10-10 20:55:36,123456789", 971_211_336_123_456, 1),
            ("2000-10-10T20:55:36.123 +0000", 971_211_336_123_000, 1_000),
        ] {
            let parts = iso(text.as_bytes()).expect(text);
            assert_eq!((utc(parts), parts.resolution), (us, resolution), "{text}");
        }
        for text in ["2000-10-10", "2000-10-10T20:55:36X", "2000-10-10T99:55:36Z", "2000-10-10T20:55:36."] {
            assert_eq!(iso(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn zones() {
        let wall = MomentParts { year: 2026, month: 7, day: 1, of_day: 12 * 3600, ..MomentParts::default() };
        let noon = utc(wall);
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(wall.unix_us(&berlin), Some(noon - 7_200 * SECOND));
        let winter = MomentParts { month: 12, ..wall };
        assert_eq!(winter.unix_us(&berlin), Some(utc(winter) - 3_600 * SECOND));
        assert_eq!(wall.unix_us(&Zone::parse("+05:30").unwrap()), Some(noon - 19_800 * SECOND));
        assert_eq!(Zone::parse("utc"), Ok(Zone::Fixed(0)));
        assert!(Zone::parse("Mars/Olympus").unwrap_err().contains("is no zone"));
    }
}
