//! Dates of cookies, in whatever order their parts stand (RFC 6265 section 5.1.1).

/// A moment that a date means.
pub(super) struct Date {
    /// Since 1970.
    pub seconds: i64,
    /// Day, month and year stand together: `06-Nov-2044`.
    pub is_dashed: bool,
}

const MONTHS: &str = "janfebmaraprmayjunjulaugsepoctnovdec";

impl Date {
    /// Reads a date; `None` for what is none.
    pub fn read(text: &str) -> Option<Date> {
        let mut time = None;
        let mut month = None;
        let mut numbers = Vec::new();
        let parts = text.split(|char: char| !char.is_ascii_alphanumeric() && char != ':');
        for part in parts.filter(|part| !part.is_empty()) {
            if part.contains(':') {
                time = time.or(seconds_of_day(part));
            } else if let Ok(number) = part.parse::<i64>() {
                numbers.push(number);
            } else if month.is_none() {
                month = month_of(part);
            }
        }
        let month = month?;
        let time = time?;
        let &[day, year] = numbers.get(..2)? else { return None };
        if !(1..=31).contains(&day) {
            return None;
        }
        let year = match year {
            0..=69 => year + 2000,
            70..=99 => year + 1900,
            year => year,
        };
        (1601..=9999).contains(&year).then(|| Date {
            seconds: days(year, month, day) * 86_400 + time,
            is_dashed: text.split([' ', ',']).any(|part| part.split('-').count() == 3),
        })
    }
}

fn seconds_of_day(part: &str) -> Option<i64> {
    let numbers: Vec<i64> = part.split(':').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let &[hour, minute, second] = numbers.as_slice() else { return None };
    ((0..24).contains(&hour) && (0..60).contains(&minute) && (0..61).contains(&second))
        .then_some(hour * 3600 + minute * 60 + second)
}

/// The number of a month from 1, by its first three letters.
fn month_of(part: &str) -> Option<i64> {
    let name = part.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.find(&name).filter(|at| at % 3 == 0)?;
    Some(at as i64 / 3 + 1)
}

/// Days from 1970 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin with March, so that the day which is sometimes there is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_any_order() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:01 GMT", Some(1)),
            ("Thu, 01-Jan-1970 00:00:01 GMT", Some(1)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun, 29 Feb 2032 12:00:00 GMT", Some(1_961_668_800)),
            ("garbage", None),
            ("Thu, 01 Jan 1970", None),
            ("1 2 3", None),
        ] {
            assert_eq!(Date::read(text).map(|date| date.seconds), seconds, "{text}");
        }
        let is_dashed = |text| Date::read(text).is_some_and(|date| date.is_dashed);
        assert!(is_dashed("Thu, 01-Jan-2037 00:00:01 GMT") && !is_dashed("Thu, 01 Jan 2037 00:00:01 GMT"));
    }
}
