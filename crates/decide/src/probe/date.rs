//! Dates of HTTP (RFC 9110 section 5.6.7).

use std::time::{Duration, UNIX_EPOCH};

/// Names of fields that are dates, in small letters.
pub const FIELDS: [&str; 5] =
    ["date", "expires", "last-modified", "if-modified-since", "if-unmodified-since"];

/// A moment so many seconds beside a reading of the clock, as `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn text(now_ms: i64, seconds: i64) -> String {
    let at = u64::try_from(now_ms / 1_000 + seconds).unwrap_or(0);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(at))
}

/// The same in the form of RFC 850, as `Sunday, 06-Nov-94 08:49:37 GMT`.
pub fn text_850(now_ms: i64, seconds: i64) -> String {
    let text = text(now_ms, seconds);
    let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let day = days.into_iter().find(|day| text.starts_with(&day[..3])).expect("each date has a day");
    format!("{day}, {}-{}-{}", &text[5..7], &text[8..11], &text[14..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_written() {
        assert_eq!(text(784_111_777_900, 0), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(text_850(784_111_777_000, -86_400), "Saturday, 05-Nov-94 08:49:37 GMT");
    }
}
