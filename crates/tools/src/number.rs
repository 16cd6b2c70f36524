//! Numbers as wrk and its relatives read them: a whole number, blanks where one likes, and a unit.

use std::time::Duration;

/// Units of counts, each a thousand times the one before.
const COUNTS: [&str; 5] = ["k", "m", "g", "t", "p"];

/// A count, such as `100`, `10k` or `1 M`.
pub(crate) fn count(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let power = match unit.as_str() {
        "" => 0,
        unit => COUNTS.iter().position(|known| *known == unit)? as u32 + 1,
    };
    number.checked_mul(1000u64.pow(power))
}

/// A time in whole seconds, such as `30`, `30s`, `2m` or `1h`.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let seconds = match unit.as_str() {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.checked_mul(seconds).map(Duration::from_secs)
}

/// A count, or what to give instead.
pub(crate) fn a_count(text: &str) -> Result<u64, String> {
    count(text).ok_or_else(|| "a whole number, such as 100 or 10k".to_owned())
}

/// A time, or what to give instead.
pub(crate) fn a_time(text: &str) -> Result<Duration, String> {
    time(text).ok_or_else(|| "whole seconds, minutes or hours, such as 30s or 2m".to_owned())
}

/// The number and what is written behind it, in lower case. What follows the unit after a blank is not looked at, as in
/// the old tool.
fn split(text: &str) -> Option<(u64, String)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    let unit = text[end..].split_whitespace().next().unwrap_or_default();
    Some((number, unit.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, expected) in [
            ("1", Some(1)),
            ("10k", Some(10_000)),
            ("2 M", Some(2_000_000)),
            ("1P", Some(1_000_000_000_000_000)),
            (" 7", Some(7)),
            ("0", Some(0)),
            ("2x", None),
            ("1.5k", None),
            ("1kk", None),
            ("k", None),
            ("", None),
            ("-1", None),
            ("99999999999999999999", None),
            ("99999P", None),
        ] {
            assert_eq!(count(text), expected, "{text:?}");
        }
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("30", Some(30)),
            ("30s", Some(30)),
            ("2M", Some(120)),
            ("1 h", Some(3600)),
            ("500ms", None),
            ("30sec", None),
            ("1.5s", None),
            ("1d", None),
        ] {
            assert_eq!(time(text), expected.map(Duration::from_secs), "{text:?}");
        }
    }
}
