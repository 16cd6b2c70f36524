//! Times in a form of their own. A text is kept as long as the part of the clock that it shows stands still; of fractions of
//! a second only the digits are written anew.

use jiff::fmt::strtime::BrokenDownTime;
use jiff::{Timestamp, tz::TimeZone};
use plan::message::{TimeText, Zone};
use std::cell::RefCell;
use std::iter::repeat_n;

/// Microseconds of a second.
const SECOND: u64 = 1_000_000;

/// Writes times of one form.
pub(super) struct TimeWriter {
    pieces: Vec<Piece>,
    zone: TimeZone,
    /// Microseconds for which a text stays the same, digits of fractions set aside.
    step_us: u64,
    last: RefCell<Text>,
}

/// A part of a form, and how many digits of the fraction of the second follow it.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    format: String,
    digits: usize,
}

/// What was written last.
#[derive(Default)]
struct Text {
    /// The step that it belongs to; `None`: to none.
    step: Option<u64>,
    text: String,
    /// Where digits of fractions stand, and how many.
    fractions: Vec<(usize, usize)>,
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
        let pieces = pieces(&text.format);
        let shows_fraction =
            |piece: &Piece| ["f", "N"].iter().any(|letter| has_conversion(&piece.format, letter));
        let step_us = if pieces.iter().any(shows_fraction) { 1 } else { SECOND };
        let writer = TimeWriter { pieces, zone, step_us, last: RefCell::default() };
        let refused = |why| format!("'{}' is no form of a time: {why}", text.format);
        writer.format(&text.format, 0, &mut String::new()).map_err(refused)?;
        Ok(writer)
    }

    fn format(&self, format: &str, unix_us: u64, to: &mut String) -> Result<(), jiff::Error> {
        let time = Timestamp::from_microsecond(unix_us as i64)?.to_zoned(self.zone.clone());
        BrokenDownTime::from(&time).format(format, to)
    }

    /// Appends a time, in microseconds since 1970.
    pub fn write(&self, unix_us: u64, to: &mut Vec<u8>) {
        let (step, mut last) = (unix_us / self.step_us, self.last.borrow_mut());
        if last.step != Some(step) {
            last.step = self.renew(&mut last, unix_us).ok().map(|()| step);
        }
        let begin = to.len();
        to.extend_from_slice(last.text.as_bytes());
        for (at, digits) in &last.fractions {
            put_fraction(unix_us % SECOND, &mut to[begin + at..begin + at + digits]);
        }
    }

    fn renew(&self, last: &mut Text, unix_us: u64) -> Result<(), jiff::Error> {
        last.text.clear();
        last.fractions.clear();
        for piece in &self.pieces {
            self.format(&piece.format, unix_us, &mut last.text)?;
            if piece.digits > 0 {
                last.fractions.push((last.text.len(), piece.digits));
                last.text.extend(repeat_n('0', piece.digits));
            }
        }
        Ok(())
    }
}

/// The leading digits of a fraction of a second; what is beyond microseconds stays as it is.
fn put_fraction(mut us: u64, digits: &mut [u8]) {
    let known = digits.len().min(6);
    us /= 10u64.pow(6 - known as u32);
    for digit in digits[..known].iter_mut().rev() {
        *digit = b'0' + (us % 10) as u8;
        us /= 10;
    }
}

/// Takes a form apart at fractions with a fixed number of digits: `%3f` and, behind a point, `%.3f`.
fn pieces(format: &str) -> Vec<Piece> {
    let (mut pieces, mut before, mut rest) = (Vec::new(), String::new(), format);
    while let Some(at) = rest.find('%') {
        before.push_str(&rest[..at]);
        let conversion = &rest[at + 1..];
        let (point, number) = conversion.strip_prefix('.').map_or(("", conversion), |number| (".", number));
        match number.as_bytes() {
            [digit @ b'1'..=b'9', b'f', ..] => {
                before.push_str(point);
                pieces.push(Piece { format: std::mem::take(&mut before), digits: usize::from(digit - b'0') });
                rest = &number[2..];
            }
            _ => {
                // The character behind the sign may be another one.
                let length = 1 + conversion.chars().next().map_or(0, char::len_utf8);
                before.push_str(&rest[at..at + length]);
                rest = &rest[at + length..];
            }
        }
    }
    pieces.push(Piece { format: before + rest, digits: 0 });
    pieces
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
    use proptest::prelude::*;

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
            ("%9f|%.2f|%1f%%3f", Zone::Utc, "123456000|.12|1%3f"),
            ("%f", Zone::Utc, "123456"),
            ("%N%.f%S", Zone::Utc, "123456000.12345605"),
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

    proptest! {
        /// Whatever is kept from the time before: the same as all written at once.
        #[test]
        fn what_is_kept_does_not_show(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["%S", "%3f", "%.6f", "%9f", "%f", "%%", "%N", "ä", "x", "%-d", "%.f"]), 0..6),
            times in prop::collection::vec(0..5_000_000u64, 1..6),
        ) {
            let format = pieces.concat();
            let writer = TimeWriter::new(&TimeText { format: format.clone(), zone: Zone::Utc }).unwrap();
            for at in times {
                let (mut written, mut whole) = (Vec::new(), String::new());
                writer.write(at, &mut written);
                writer.format(&format, at, &mut whole).unwrap();
                prop_assert_eq!(String::from_utf8(written).unwrap(), whole, "{} at {}", format, at);
            }
        }
    }
}
