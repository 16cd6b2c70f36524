//! What time it is where the user lives, for the lines of doors that show it.

use report::siege::Now;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The local date and time.
pub fn now() -> Now {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
    at(seconds + offset_s())
}

/// The local time of day with microseconds.
pub fn time_of_day() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let second = (since.as_secs() as i64 + offset_s()).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}.{:06}", second / 3600, second / 60 % 60, second % 60, since.subsec_micros())
}

/// Seconds that local time is ahead of UTC, as the system's own `date` says; asked once. The rules behind a time zone are
/// too many to be known here for a line in a log.
fn offset_s() -> i64 {
    static OFFSET: OnceLock<i64> = OnceLock::new();
    *OFFSET.get_or_init(|| {
        let said = Command::new("date").arg("+%z").output().map(|said| said.stdout).unwrap_or_default();
        read_offset(String::from_utf8_lossy(&said).trim()).unwrap_or(0)
    })
}

/// Reads `+0130`.
fn read_offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let number: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

/// The date and time so many seconds after 1970 began.
fn at(seconds: i64) -> Now {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days to a date of the Gregorian calendar, years counted from March.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    Now {
        weekday: WEEKDAYS[days.rem_euclid(7) as usize],
        date: format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}", second % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_known_moments() {
        for (seconds, weekday, date) in [
            (0, "Thu", "1970-01-01 00:00:00"),
            (951_827_696, "Tue", "2000-02-29 12:34:56"),
            (1_795_219_150, "Fri", "2026-11-20 23:59:10"),
            (-1, "Wed", "1969-12-31 23:59:59"),
        ] {
            let now = at(seconds);
            assert_eq!((now.weekday, now.date.as_str()), (weekday, date));
        }
    }

    #[test]
    fn offsets_read() {
        for (text, seconds) in
            [("+0000", Some(0)), ("+0530", Some(19_800)), ("-0330", Some(-12_600)), ("", None), ("+xx", None)]
        {
            assert_eq!(read_offset(text), seconds, "{text}");
        }
    }
}
