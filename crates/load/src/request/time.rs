//! Times in a form of their own. A text is kept as long as the part of the clock that it shows stands still; of fractions of
//! a second only the digits are written anew.

use jiff::fmt::strtime::BrokenDownTime;
use jiff::{Timestamp, tz::TimeZone};
use plan::data::{TimePiece, TimeText, Zone};
use std::cell::RefCell;
use std::iter::repeat_n;

/// Microseconds of a second.
const SECOND: u64 = 1_000_000;

/// Writes times of one form.
pub(super) struct TimeWriter {
    pieces: Vec<RequestPiece>,
    zone: TimeZone,
    /// Microseconds for which a text stays the same, digits of fractions set aside.
    step_us: u64,
    last: RefCell<RequestText>,
}

/// A part of a form: bytes that stay, then a conversion as the library knows it, then digits of the fraction of the second.
#[derive(Debug, PartialEq, Eq)]
struct RequestPiece {
    text: Vec<u8>,
    format: String,
    digits: usize,
}

/// The text written last.
#[derive(Default)]
struct RequestText {
    /// The step that it belongs to; `None`: to none.
    step: Option<u64>,
    text: Vec<u8>,
    /// A conversion on its way.
    scrap: String,
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
        let pieces: Vec<RequestPiece> = text.pieces()?.iter().map(piece).collect();
        let step_us = if pieces.iter().any(RequestPiece::shows_fraction) { 1 } else { SECOND };
        let writer = TimeWriter { pieces, zone, step_us, last: RefCell::default() };
        let refused = |why| {
            let form = String::from_utf8_lossy(&text.format);
            format!("'{form}' is no form of a time: {why}")
        };
        let mut last = RequestText::default();
        writer.renew(&mut last, 0).map_err(refused)?;
        Ok(writer)
    }

    /// Appends a time, in microseconds since 1970.
    pub fn write(&self, unix_us: u64, to: &mut Vec<u8>) {
        let step = unix_us / self.step_us;
        let mut last = self.last.borrow_mut();
        if last.step != Some(step) {
            last.step = self.renew(&mut last, unix_us).ok().map(|()| step);
        }
        let begin = to.len();
        to.extend_from_slice(&last.text);
        for (at, digits) in &last.fractions {
            put_fraction(unix_us % SECOND, &mut to[begin + at..begin + at + digits]);
        }
    }

    fn renew(&self, last: &mut RequestText, unix_us: u64) -> Result<(), jiff::Error> {
        let time = Timestamp::from_microsecond(unix_us as i64)?.to_zoned(self.zone.clone());
        let time = BrokenDownTime::from(&time);
        last.text.clear();
        last.fractions.clear();
        for piece in &self.pieces {
            last.text.extend_from_slice(&piece.text);
            if !piece.format.is_empty() {
                last.scrap.clear();
                time.format(&piece.format, &mut last.scrap)?;
                last.text.extend_from_slice(last.scrap.as_bytes());
            }
            if piece.digits > 0 {
                last.fractions.push((last.text.len(), piece.digits));
                last.text.extend(repeat_n(b'0', piece.digits));
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

/// A piece as the library is to write it: in the C locale, and fractions with a fixed number of digits, `%3f` and `%.3f`, by
/// ourselves.
fn piece(piece: &TimePiece<'_>) -> RequestPiece {
    let mut text = piece.text.to_vec();
    let conversion = piece.conversion;
    let (point, number) = conversion.strip_prefix('.').map_or(("", conversion), |number| (".", number));
    if let [digit @ b'1'..=b'9', b'f'] = number.as_bytes() {
        text.extend_from_slice(point.as_bytes());
        return RequestPiece { text, format: String::new(), digits: usize::from(digit - b'0') };
    }
    let format = match conversion {
        "" => String::new(),
        // POSIX.1-2024, section 7.3.5 (LC_TIME of the POSIX locale).
        "c" => "%a %b %e %H:%M:%S %Y".to_owned(),
        "x" => "%m/%d/%y".to_owned(),
        "X" => "%H:%M:%S".to_owned(),
        "r" => "%I:%M:%S %p".to_owned(),
        other => format!("%{other}"),
    };
    RequestPiece { text, format, digits: 0 }
}

impl RequestPiece {
    /// True if a conversion shows fractions of a second that the library writes.
    fn shows_fraction(&self) -> bool {
        self.format.ends_with(['f', 'N'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(format: &str, zone: Zone, unix_us: u64) -> String {
        let writer = TimeWriter::new(&TimeText { format: format.into(), zone }).unwrap();
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
            ("%c|%x|%X|%r", Zone::Utc, "Mon Jul 20 09:05:05 2026|07/20/26|09:05:05|09:05:05 AM"),
            ("%Ey %EY %Ec", Zone::Utc, "26 2026 Mon Jul 20 09:05:05 2026"),
            ("%Od.%Om.%OH:%OM", Zone::Utc, "20.07.09:05"),
            ("%Y-%m-%d %H:%M %z", Zone::Named("Asia/Shanghai".to_owned()), "2026-07-20 17:05 +0800"),
        ] {
            assert_eq!(written(format, zone, at), expected, "{format}");
        }
        for (format, zone) in [("%", Zone::Utc), ("%H", Zone::Named("Nowhere/At_All".to_owned()))] {
            assert!(TimeWriter::new(&TimeText { format: format.into(), zone }).is_err(), "{format}");
        }
    }

    #[test]
    fn a_text_changes_with_the_clock() {
        let writer = TimeWriter::new(&TimeText { format: "%S".into(), zone: Zone::Utc }).unwrap();
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
        let refused = ["%", "%5", "%%%", "x%H%", "%\u{d6}", "%Ed", "%Oz", "%E"].map(str::to_owned);
        let good =
            ["", "100%%", "%Y-%m-%d %H:%M:%S.%3f", "%-d%_H%010Y", "%:z %Z", "%.6f%c"].map(str::to_owned);
        let text = |format: String| TimeText { format: format.into(), zone: Zone::Utc };
        assert!(refused.into_iter().all(|format| text(format).violation().is_some()));
        assert!(good.iter().all(|format| text(format.clone()).violation().is_none()));
        for text in all.chain(good).map(text).filter(|text| text.violation().is_none()) {
            assert!(TimeWriter::new(&text).is_ok(), "{text:?}");
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
            let writer = TimeWriter::new(&TimeText { format: format.as_str().into(), zone: Zone::Utc }).unwrap();
            for at in times {
                let mut written = Vec::new();
                let mut whole = String::new();
                writer.write(at, &mut written);
                let time = Timestamp::from_microsecond(at as i64).unwrap().to_zoned(TimeZone::UTC);
                BrokenDownTime::from(&time).format(&format, &mut whole).unwrap();
                prop_assert_eq!(String::from_utf8(written).unwrap(), whole, "{} at {}", format, at);
            }
        }
    }
}
