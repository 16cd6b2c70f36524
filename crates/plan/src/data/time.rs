//! Moments as text, without allocating.

use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

/// `2026-07-20T09:05:05.123Z`; after the year 9999 the last moment of that year.
pub fn rfc3339(unix_us: u64) -> [u8; 24] {
    // The end of the year 9999.
    let unix_us = unix_us.min(253_402_300_799_999_999);
    let days = unix_us / 86_400_000_000;
    let of_day = unix_us % 86_400_000_000;
    let (year, month, day) = date(days);
    let seconds = of_day / 1_000_000;
    let millis = of_day / 1_000 % 1_000;
    let hour = seconds / 3600;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    let mut written = [0; 24];
    // As many bytes as there is room for, whatever the numbers.
    let _ = write!(
        &mut written[..],
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
    );
    written
}

/// `Mon, 20 Jul 2026 09:05:05 GMT`.
pub(super) fn http(unix_us: u64) -> [u8; 29] {
    let unix_us = unix_us.min(253_402_300_799_999_999);
    let mut written = [0; 29];
    let date = httpdate::HttpDate::from(UNIX_EPOCH + Duration::from_micros(unix_us));
    let _ = write!(&mut written[..], "{date}");
    written
}

/// Year, month and day of the Gregorian calendar, by days since 1970. Years begin in March here, so that the leap day is
/// the last of a year (Hinnant, "chrono-compatible low-level date algorithms").
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_088, (2024, 12, 31)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
        assert_eq!(&rfc3339(u64::MAX), b"9999-12-31T23:59:59.999Z");
    }
}
