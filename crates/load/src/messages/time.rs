//! Times in a form of their own. A text is kept as long as the part of the clock that it shows stands still.

use jiff::fmt::strtime::BrokenDownTime;
use jiff::{Timestamp, tz::TimeZone};
use plan::message::{TimeText, Zone};
use std::cell::RefCell;

/// Writes times of one form.
pub(super) struct TimeWriter {
    format: String,
    zone: TimeZone,
    /// Microseconds for which a text stays the same.
    step_us: u64,
    last: RefCell<(u64, String)>,
}

impl TimeWriter {
    /// # Errors
    /// A zone that is not known here, or a form that cannot be written, in words.
    pub fn new(text: &TimeText) -> Result<TimeWriter, String> {
        let zone = match &text.zone {
            Zone::Utc => TimeZone::UTC,
            Zone::Local => TimeZone::system(),
            Zone::Named(name) => TimeZone::get(name).map_err(|_| {
                format!("'{name}' is no time zone that is known here: give one such as Europe/Berlin")
            })?,
        };
        let has_fraction = ["f", "N"].iter().any(|letter| has_conversion(&text.format, letter));
        let writer = TimeWriter {
            format: text.format.clone(),
            zone,
            step_us: if has_fraction { 1 } else { 1_000_000 },
            last: RefCell::new((u64::MAX, String::new())),
        };
        writer.text(0).map_err(|why| format!("'{}' is no form of a time: {why}", text.format))?;
        Ok(writer)
    }

    fn text(&self, unix_us: u64) -> Result<String, jiff::Error> {
        let time = Timestamp::from_microsecond(unix_us as i64)?.to_zoned(self.zone.clone());
        BrokenDownTime::from(&time).to_string(&self.format)
    }

    /// Appends a time, in microseconds since 1970.
    pub fn write(&self, unix_us: u64, to: &mut Vec<u8>) {
        let (now, mut last) = (unix_us / self.step_us, self.last.borrow_mut());
        if last.0 != now {
            let written = Timestamp::from_microsecond(unix_us as i64).ok().and_then(|time| {
                last.1.clear();
                let time = time.to_zoned(self.zone.clone());
                BrokenDownTime::from(&time).format(&self.format, &mut last.1).ok()
            });
            last.0 = if written.is_some() { now } else { u64::MAX };
        }
        to.extend_from_slice(last.1.as_bytes());
    }
}

/// Whether a form has a conversion by this letter, flags and width set aside.
fn has_conversion(format: &str, letter: &str) -> bool {
    let conversions = format.split('%').skip(1);
    conversions
        .map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit() || "_-^#.:".contains(c)))
        .any(|text| text.starts_with(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str, zone: Zone, unix_us: u64) -> String {
        let writer = TimeWriter::new(&TimeText { format: format.to_owned(), zone }).unwrap();
        let mut out = Vec::new();
        // Twice, so that what is kept is seen, too.
        writer.write(unix_us, &mut Vec::new());
        writer.write(unix_us, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_of_any_form_and_zone() {
        let at = 1_784_538_305_123_456;
        for (format, zone, expected) in [
            ("%Y%m%d%H%M%S", Zone::Utc, "20260720090505"),
            ("%H:%M:%S.%3f", Zone::Utc, "09:05:05.123"),
            ("%6f", Zone::Utc, "123456"),
            ("%Y-%m-%d %H:%M %z", Zone::Named("Asia/Shanghai".to_owned()), "2026-07-20 17:05 +0800"),
        ] {
            assert_eq!(written(format, zone, at), expected, "{format}");
        }
        for (format, zone) in [("%", Zone::Utc), ("%H", Zone::Named("Nowhere/At_All".to_owned()))] {
            assert!(TimeWriter::new(&TimeText { format: format.to_owned(), zone }).is_err(), "{format}");
        }
    }

    #[test]
    fn a_text_changes_with_the_clock() {
        let writer = TimeWriter::new(&TimeText { format: "%S".to_owned(), zone: Zone::Utc }).unwrap();
        let mut out = Vec::new();
        [1_999_999, 2_000_000, 61_000_000].iter().for_each(|at| writer.write(*at, &mut out));
        assert_eq!(out, b"010201");
    }

    /// A plan's check knows what can be written, so that it is told before a run.
    #[test]
    fn a_check_refuses_what_cannot_be_written() {
        let letters: Vec<String> = (b' '..=b'~').map(|letter| char::from(letter).to_string()).collect();
        let flags = [
            "", "-", "_", "0", "^", "#", "3", "10", "300", "-3", ":", "::", ":::", ".", ".3", ".10", "3.",
            "_^", ":3",
        ];
        let all = letters.iter().flat_map(|letter| flags.map(|flags| format!("%{flags}{letter}")));
        let refused = ["%", "%5", "%%%", "x%H%", "%\u{d6}", "%Ey", "%Od"].map(str::to_owned);
        let good =
            ["", "100%%", "%Y-%m-%d %H:%M:%S.%3f", "%-d%_H%010Y", "%:z %Z", "%.6f%c"].map(str::to_owned);
        let text = |format: String| TimeText { format, zone: Zone::Utc };
        assert!(refused.into_iter().all(|format| text(format).violation().is_some()));
        assert!(good.iter().all(|format| text(format.clone()).violation().is_none()));
        for text in all.chain(good).map(text).filter(|text| text.violation().is_none()) {
            assert!(TimeWriter::new(&text).is_ok(), "{}", text.format);
        }
        let plain = letters.iter().map(|letter| text(format!("%{letter}")));
        assert!(plain.clone().filter(|text| text.violation().is_none()).count() > 40);
        assert!(plain.filter(|text| text.violation().is_some()).all(|text| TimeWriter::new(&text).is_err()));
    }
}
