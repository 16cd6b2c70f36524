//! HTTP dates, formatted once per second instead of once per answer.

use httpdate::HttpDate;
use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

/// Bytes of a date in the form that RFC 9110 section 5.6.7 wants.
const DATE_BYTES: usize = 29;

/// The last date that was asked for, as text.
#[derive(Debug)]
pub(crate) struct DateText {
    second: u64,
    text: [u8; DATE_BYTES],
}

impl DateText {
    pub(crate) fn new() -> DateText {
        DateText { second: 0, text: *b"Thu, 01 Jan 1970 00:00:00 GMT" }
    }

    /// The text of a second since 1970.
    #[inline]
    pub(crate) fn of(&mut self, second: u64) -> [u8; DATE_BYTES] {
        if second != self.second {
            self.format(second.min(LAST_SECOND));
            self.second = second;
        }
        self.text
    }

    #[cold]
    fn format(&mut self, second: u64) {
        let date = HttpDate::from(UNIX_EPOCH + Duration::from_secs(second));
        // The text has exactly the room it needs.
        let _ = write!(&mut self.text[..], "{date}");
    }
}

/// The end of the year 9999; the form has four digits.
const LAST_SECOND: u64 = 253_402_300_799;

/// Reads a date in any of the three forms of RFC 9110 section 5.6.7, as seconds since 1970.
pub(crate) fn read(text: &[u8]) -> Option<u64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(text).ok()?).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_rfc_and_read_back() {
        let mut date = DateText::new();
        assert_eq!(&date.of(784_111_777), b"Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(&date.of(784_111_777), b"Sun, 06 Nov 1994 08:49:37 GMT");
        for second in [0, 1, 1_600_000_000, LAST_SECOND] {
            assert_eq!(read(&date.of(second)), Some(second));
        }
        assert_eq!(read(b"Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(read(b"yesterday"), None);
        date.of(u64::MAX);
    }
}
