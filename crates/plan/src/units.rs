//! Durations, sizes and rates as people write them: `500ms 2s 3m`, `4KiB 1MB`, `10k/s`.

use std::time::Duration;
use thiserror::Error;

/// Has a type that a function reads from text, and that shows itself as that text, stand in plans as text.
macro_rules! as_text {
    ($type:ty, $read:expr) => {
        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                $read(&text)
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    };
}
pub(crate) use as_text;

/// A quantity that could not be read: what was typed and what would have been understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{typed}' is not {wanted}")]
pub struct UnitError {
    /// The text as it was typed.
    pub typed: String,
    /// The expected form, with an example.
    pub wanted: &'static str,
}

fn error(typed: &str, wanted: &'static str) -> UnitError {
    UnitError { typed: typed.to_owned(), wanted }
}

/// Splits `12.5ms` into 12.5 and `ms`, `1,000` into 1000 and nothing; negative, absent and not finite numbers are refused.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !".,".contains(c)).unwrap_or(text.len());
    Some((number(&text[..end])?, text[end..].trim()))
}

/// A number without a sign. Commas stand before groups of three digits, as in `1,000,000`, or not at all.
fn number(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.split(',');
    let is_first = |group: &str| !whole.contains(',') || (1..=3).contains(&group.len());
    let is_grouped = groups.next().is_some_and(is_first) && groups.all(|group| group.len() == 3);
    let is_number = is_grouped && !fraction.contains(',');
    let digits = is_number.then(|| text.replace(',', ""))?;
    digits.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Seconds in a unit of time. The short words come first; those of other tools are read as well.
fn seconds_in(unit: &str) -> Option<f64> {
    match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "us" | "µs" => Some(1e-6),
        "ms" => Some(1e-3),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hr" | "hour" | "hours" => Some(3600.0),
        "d" | "day" | "days" => Some(86_400.0),
        _ => None,
    }
}

/// Reads a duration such as `500us`, `20ms`, `1.5s`, `3m`, `2h`, or several from the largest unit to the smallest: `1m30s`; a bare
/// number is seconds.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    const WANTED: &str = "a duration such as 500ms, 2s, 1m30s or 1h";
    let wrong = || error(text, WANTED);
    let (first, unit) = number_and_unit(text).ok_or_else(wrong)?;
    if unit.is_empty() {
        return Duration::try_from_secs_f64(first).map_err(|_| wrong());
    }
    let mut duration = Duration::ZERO;
    let mut last_unit = f64::INFINITY;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (count, behind) = number_and_unit(rest).ok_or_else(wrong)?;
        let end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let unit = seconds_in(behind[..end].trim_end()).filter(|unit| *unit < last_unit).ok_or_else(wrong)?;
        let part = match unit {
            // Divided, 20ms are 20 thousandths; times 0.001 they would be another number.
            unit if unit < 1.0 => count / (1.0 / unit).round(),
            unit => count * unit,
        };
        let part = Duration::try_from_secs_f64(part).map_err(|_| wrong())?;
        duration = duration.checked_add(part).ok_or_else(wrong)?;
        last_unit = unit;
        rest = &behind[end..];
    }
    Ok(duration)
}

/// Reads a size in bytes such as `1000`, `4KiB`, `1MB`, `3GiB`.
pub fn size(text: &str) -> Result<u64, UnitError> {
    const WANTED: &str = "a size such as 1000, 4KiB, 1MB or 3GiB";
    let (number, unit) = number_and_unit(text).ok_or_else(|| error(text, WANTED))?;
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(error(text, WANTED)),
    };
    let bytes = number * factor;
    if bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(error(text, WANTED)) }
}

/// Reads a rate per second such as `500`, `10k/s`, `1.5k`, `600/m`, `10rps` or `50/100ms`.
pub fn rate(text: &str) -> Result<f64, UnitError> {
    const WANTED: &str = "a rate such as 500, 10k/s or 600/m";
    let wrong = || error(text, WANTED);
    let (count, per) = text.split_once('/').unwrap_or((text, "s"));
    let per = per.trim();
    let per_seconds =
        seconds_in(per).or_else(|| Some(duration(per).ok()?.as_secs_f64())).ok_or_else(wrong)?;
    let (number, unit) = number_and_unit(count).ok_or_else(wrong)?;
    // What is counted may be said: 10rps, 10 req/s, 10r/s.
    let counted = ["requests", "reqs", "req", "rps", "r"].iter().find_map(|word| unit.strip_suffix(word));
    let factor = match counted.unwrap_or(unit).trim_end() {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        _ => return Err(wrong()),
    };
    let rate = number * factor / per_seconds;
    if rate > 0.0 && rate.is_finite() { Ok(rate) } else { Err(wrong()) }
}

/// Reads a share between 0 and 1, as `0.25` or `25%`.
pub fn share(text: &str) -> Result<f64, UnitError> {
    const WANTED: &str = "a share between 0 and 1, such as 0.25 or 25%";
    let typed = text.trim();
    let (number, whole) = match typed.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (typed, 1.0),
    };
    // Divided, 57% is the number that 0.57 is; times 0.01 it would be another one.
    let share = number.parse::<f64>().map_err(|_| error(text, WANTED))? / whole;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(error(text, WANTED)) }
}

/// 1 - `share`, as a person would write it: 0.2 and not 0.19999999999999996.
pub fn rest_of(share: f64) -> f64 {
    ((1.0 - share) * 1e9).round() / 1e9
}

/// Reads a count such as `1000`, `1,000`, `10k`, `2M`.
pub fn count(text: &str) -> Result<u64, UnitError> {
    const WANTED: &str = "a whole number such as 1000, 10k or 2M";
    let (number, unit) = number_and_unit(text).ok_or_else(|| error(text, WANTED))?;
    // To some, 1.000 is a thousand.
    if unit.is_empty() && text.contains('.') {
        return Err(error(text, WANTED));
    }
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return Err(error(text, WANTED)),
    };
    let whole = number * factor;
    if whole.fract() == 0.0 && whole <= 1e18 { Ok(whole as u64) } else { Err(error(text, WANTED)) }
}

/// Writes a duration so that [`duration`] reads the same value back.
pub fn show_duration(duration: Duration) -> String {
    let us = duration.as_micros() as u64;
    match us {
        0 => "0s".to_owned(),
        _ if us.is_multiple_of(3_600_000_000) => format!("{}h", us / 3_600_000_000),
        _ if us.is_multiple_of(60_000_000) => format!("{}m", us / 60_000_000),
        _ if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        _ if us.is_multiple_of(1_000) => format!("{}ms", us / 1_000),
        _ => format!("{us}us"),
    }
}

/// Writes a size for people, in binary units with one decimal where it is not whole.
pub fn show_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value.fract() == 0.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Serde adaptor: a `Duration` as text, `10s`.
pub mod duration_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::Duration;

    /// Writes the duration as [`super::show_duration`] does.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::show_duration(*duration))
    }

    /// Reads the duration as [`super::duration`] does.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        super::duration(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Serde adaptor: durations as a list of texts.
pub mod duration_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use std::time::Duration;

    /// Writes each as [`super::show_duration`] does.
    pub fn serialize<S: Serializer>(durations: &[Duration], to: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = durations.iter().map(|duration| super::show_duration(*duration)).collect();
        texts.serialize(to)
    }

    /// Reads each as [`super::duration`] does.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Duration>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        texts.iter().map(|text| super::duration(text).map_err(D::Error::custom)).collect()
    }
}

/// Serde adaptor: an optional `Duration` as text.
pub mod duration_text_option {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::Duration;

    /// Writes the duration as text; `None` must be skipped by the field's attribute.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::duration_text::serialize(duration, to),
            None => to.serialize_none(),
        }
    }

    /// Reads the duration as [`super::duration`] does.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| super::duration(&text).map_err(D::Error::custom)).transpose()
    }
}

/// Stands for a duration in the schema of plan files, which tests make.
#[cfg(test)]
pub(crate) struct DurationText;

#[cfg(test)]
impl schemars::JsonSchema for DurationText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^\s*[0-9.,]+\s*$|^\s*([0-9.,]+\s*(us|µs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hr|hours?|d|days?)\s*)+$|\$\{",
            "description": "A time such as 500ms, 10s, 1m30s, 2h or 1d.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, us) in [("500us", 500), ("20ms", 20_000), ("1.5s", 1_500_000), ("2", 2_000_000)] {
            assert_eq!(duration(text).unwrap(), Duration::from_micros(us), "{text}");
        }
        assert_eq!(duration("3m").unwrap(), Duration::from_secs(180));
        for (text, ms) in [
            ("1m30s", 90_000),
            ("1h0m0s", 3_600_000),
            ("1m 500ms", 60_500),
            ("2 min", 120_000),
            ("1d12hours", 129_600_000),
            ("1.5m1s", 91_000),
            ("1,000ms", 1_000),
            ("1,000", 1_000_000),
        ] {
            assert_eq!(duration(text).unwrap(), Duration::from_millis(ms), "{text}");
        }
        let wrong = [
            "",
            "s",
            "-1s",
            "1y",
            "1e3s",
            "999999999999999999999h",
            "1s1m",
            "1m1m",
            "1m30",
            "1m-30s",
            "1,00s",
        ];
        for text in wrong {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shown_durations_read_back() {
        for us in [0, 1, 999, 1_000, 1_500_000, 60_000_000, 3_600_000_000] {
            let value = Duration::from_micros(us);
            assert_eq!(duration(&show_duration(value)).unwrap(), value);
        }
    }

    #[test]
    fn sizes_rates_shares_and_counts() {
        assert_eq!(size("4KiB").unwrap(), 4096);
        assert_eq!(size("1MB").unwrap(), 1_000_000);
        assert_eq!(size("1.5g").unwrap(), 1_500_000_000);
        assert_eq!(rate("10k/s").unwrap(), 10_000.0);
        assert_eq!(rate("600/m").unwrap(), 10.0);
        assert_eq!(share("25%").unwrap(), 0.25);
        assert_eq!(share("57%").unwrap(), 0.57);
        assert_eq!((rest_of(0.8), rest_of(0.57), rest_of(1.0)), (0.2, 0.43, 0.0));
        assert_eq!(
            ["10k", "1,000", "12,345,678", "0.5k"].map(|text| count(text).unwrap()),
            [10_000, 1_000, 12_345_678, 500]
        );
        for (text, per_second) in [
            ("10rps", 10.0),
            ("1,000", 1_000.0),
            ("2krps", 2_000.0),
            ("5 req/s", 5.0),
            ("50/100ms", 500.0),
            ("100/1s", 100.0),
            ("600/min", 10.0),
        ] {
            assert_eq!(rate(text).unwrap(), per_second, "{text}");
        }
        for text in ["1.000", "1,00", ",100", "1,0000", "1000,000", "1,000,", "1.0,000", "-1"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(["10x", "rps", "10/0s", "10/x", "1/y"].iter().all(|text| rate(text).is_err()));
        assert!(
            size("4Kib/s").is_err() && rate("0").is_err() && share("1.2").is_err() && count("1.5").is_err()
        );
    }

    #[test]
    fn errors_name_the_thing_and_what_to_try() {
        let text = duration("soon").unwrap_err().to_string();
        assert_eq!(text, "'soon' is not a duration such as 500ms, 2s, 1m30s or 1h");
    }
}
