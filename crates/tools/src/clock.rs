//! Local time of the user, for the lines of doors that show it.

use jiff::Zoned;
use jiff::tz::TimeZone;

/// Date and time in digits, `YYYYMMDDHHMMSS`: the local ones, and those of UTC.
pub fn digits() -> (String, String) {
    let now = Zoned::now();
    let digits = |now: &Zoned| now.strftime("%Y%m%d%H%M%S").to_string();
    (digits(&now), digits(&now.with_time_zone(TimeZone::UTC)))
}

/// The local time of day with microseconds.
pub fn time_of_day() -> String {
    Zoned::now().strftime("%H:%M:%S%.6f").to_string()
}

/// The local date and time as JMeter's console has it.
pub fn as_jmeter() -> String {
    Zoned::now().strftime("%Y %b %d %H:%M:%S %Z").to_string()
}
