//! Functions of time.

use super::{Use, date};
use jiff::{SignedDuration, Zoned};

/// Now: milliseconds, a divisor (`/1000`) or a pattern, of which a few have names.
pub(super) fn now(used: &mut Use<'_>) -> Result<String, String> {
    let ms = used.context.now_ms();
    let text = match used.argument(0) {
        "" => ms.to_string(),
        divided if divided.starts_with('/') => {
            let by = divided[1..].trim().parse::<i64>().ok().filter(|by| *by != 0);
            (ms / by.ok_or_else(|| format!("'{divided}' does not divide"))?).to_string()
        }
        pattern => {
            let named = named(pattern, used);
            date::format(&date::at(ms)?, &named)?
        }
    };
    used.keep(1, text)
}

/// The pattern that a name stands for; properties `time.YMD` and so on say others.
fn named(pattern: &str, used: &Use<'_>) -> String {
    let usual = match pattern {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        "USER1" | "USER2" => "",
        other => return other.to_owned(),
    };
    used.context.property(&format!("time.{pattern}")).unwrap_or_else(|| usual.to_owned())
}

/// A date, moved by a duration such as `P1DT2H` or `-PT30M`.
pub(super) fn shift(used: &mut Use<'_>) -> Result<String, String> {
    let pattern = used.filled(0).map(str::to_owned);
    let from = match (used.filled(1), &pattern) {
        (Some(date), Some(pattern)) => date::parse(date, pattern)?,
        (Some(ms), None) => {
            date::at(ms.parse().map_err(|_| format!("'{ms}' is no number of milliseconds"))?)?
        }
        (None, _) => date::at(used.context.now_ms())?,
    };
    let moved = match used.filled(2) {
        Some(duration) => moved(&from, duration)?,
        None => from,
    };
    let text = match pattern {
        Some(pattern) => date::format(&moved, &pattern)?,
        None => moved.timestamp().as_millisecond().to_string(),
    };
    used.keep(4, text)
}

/// A date so much later by the clock on the wall.
fn moved(from: &Zoned, by: &str) -> Result<Zoned, String> {
    let wrong = || format!("'{by}' is no duration: give one such as P1DT2H30M or -PT10S");
    let moved = from.datetime().checked_add(duration(by).ok_or_else(wrong)?).map_err(|_| wrong())?;
    moved.to_zoned(from.time_zone().clone()).map_err(|_| wrong())
}

/// A duration of Java: days, hours, minutes and seconds, each with a sign of its own and all of them with one.
fn duration(text: &str) -> Option<SignedDuration> {
    let (all, text) = sign(text.trim());
    let text = text.strip_prefix(['P', 'p'])?;
    let (days, mut rest) = text.split_once(['T', 't']).unwrap_or((text, ""));
    let mut ms = match days {
        "" => 0,
        days => days.strip_suffix(['D', 'd'])?.parse::<i64>().ok()?.checked_mul(86_400_000)?,
    };
    while let Some(end) = rest.find(|one: char| one.is_ascii_alphabetic()) {
        let unit = match &rest[end..=end] {
            "H" | "h" => 3_600_000.0,
            "M" | "m" => 60_000.0,
            "S" | "s" => 1_000.0,
            _ => return None,
        };
        let number = rest[..end].replace(',', ".").parse::<f64>().ok()?;
        ms = ms.checked_add((number * unit).round() as i64)?;
        rest = &rest[end + 1..];
    }
    rest.is_empty().then(|| SignedDuration::from_millis(all * ms))
}

fn sign(text: &str) -> (i64, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A date, read by one pattern and written by another.
pub(super) fn convert(used: &mut Use<'_>) -> Result<String, String> {
    let text = used.argument(0).to_owned();
    let moment = match used.filled(1) {
        Some(pattern) => date::parse(&text, pattern)?,
        None => date::at(text.trim().parse().map_err(|_| format!("'{text}' is no number of milliseconds"))?)?,
    };
    let written = date::format(&moment, used.argument(2))?;
    used.keep(3, written)
}

#[cfg(test)]
mod tests {
    use super::super::evaluate;
    use super::super::tests::Fake;

    #[test]
    fn dates_are_written_and_moved() {
        let mut user = Fake::default();
        // The zone of the machine decides on hours, so days and round trips are looked at.
        for (text, written) in [
            ("${__timeShift(yyyy-MM-dd,2024-02-28,P1D,,)}", "2024-02-29"),
            ("${__timeShift(dd/MM/yyyy HH:mm,31/12/2023 23:30,PT45M,,x)}", "01/01/2024 00:15"),
            ("${__timeShift(yyyy-MM-dd,2024-03-01,-P1D,,)}", "2024-02-29"),
            ("${__timeShift(,1000,PT1S,,)}", "2000"),
            ("${__dateTimeConvert(01212018,MMddyyyy,dd/MM/yyyy)}", "21/01/2018"),
            ("${__dateTimeConvert(2020-01-02,yyyy-MM-dd,EEE\\, d MMM yyyy 'at' h)}", "Thu, 2 Jan 2020 at 12"),
            ("${__time(yyyy-MM)}", "2026-11"),
            ("${__time('T''x')}", "T'x"),
        ] {
            assert_eq!(evaluate(text, &mut user).as_deref(), Ok(written), "{text}");
        }
    }
}
