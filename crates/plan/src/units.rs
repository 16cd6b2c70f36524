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

/// Splits `12.5ms` into 12.5 and `ms`; negative, absent and not finite numbers are refused.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse::<f64>().ok().filter(|n| n.is_finite())?;
    Some((number, text[end..].trim()))
}

/// Reads a duration such as `500us`, `20ms`, `1.5s`, `3m`, `2h`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    const WANTED: &str = "a duration such as 500ms, 2s, 3m or 1h";
    let (number, unit) = number_and_unit(text).ok_or_else(|| error(text, WANTED))?;
    let seconds = match unit {
        "" | "s" | "sec" => number,
        "us" | "µs" => number / 1e6,
        "ms" => number / 1e3,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        _ => return Err(error(text, WANTED)),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| error(text, WANTED))
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

/// Reads a rate per second such as `500`, `10k/s`, `1.5k`, `600/m`.
pub fn rate(text: &str) -> Result<f64, UnitError> {
    const WANTED: &str = "a rate such as 500, 10k/s or 600/m";
    let (count, per) = text.split_once('/').unwrap_or((text, "s"));
    let per_seconds = match per.trim() {
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(error(text, WANTED)),
    };
    let (number, unit) = number_and_unit(count).ok_or_else(|| error(text, WANTED))?;
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        _ => return Err(error(text, WANTED)),
    };
    let rate = number * factor / per_seconds;
    if rate > 0.0 { Ok(rate) } else { Err(error(text, WANTED)) }
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

/// Reads a count such as `1000`, `10k`, `2M`.
pub fn count(text: &str) -> Result<u64, UnitError> {
    const WANTED: &str = "a whole number such as 1000, 10k or 2M";
    let (number, unit) = number_and_unit(text).ok_or_else(|| error(text, WANTED))?;
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
            "pattern": r"^\s*[0-9.]+\s*(us|µs|ms|s|sec|m|min|h|d)?\s*$|\$\{",
            "description": "A time such as 500ms, 10s, 5m, 2h or 1d.",
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
        for text in ["", "s", "-1s", "1y", "1e3s", "999999999999999999999h"] {
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
        assert_eq!(count("10k").unwrap(), 10_000);
        assert!(
            size("4Kib/s").is_err() && rate("0").is_err() && share("1.2").is_err() && count("1.5").is_err()
        );
    }

    #[test]
    fn errors_name_the_thing_and_what_to_try() {
        let text = duration("soon").unwrap_err().to_string();
        assert_eq!(text, "'soon' is not a duration such as 500ms, 2s, 3m or 1h");
    }
}
