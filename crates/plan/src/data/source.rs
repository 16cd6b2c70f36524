//! Where values come from, and what they are.

use super::table::Table;
use super::time;
use crate::draw::{Draw, hash};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// Where the values of a name come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// Counts by the number of the request.
    Counter {
        /// The first value.
        start: i64,
        /// What is added each time.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        step: i64,
        /// After the last value that does not pass this one, it begins again; `None`: without end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<i64>,
        /// Digits at least, with zeros in front; at most 40.
        #[serde(default, skip_serializing_if = "is_zero")]
        width: u8,
    },
    /// A whole number, each one of the range equally likely.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// Letters and digits.
    Text {
        /// How many.
        length: u32,
    },
    /// A random UUID (RFC 9562, version 4).
    Uuid,
    /// The time at which the request is written.
    Time(TimeForm),
    /// The number of the user, from 0.
    User,
    /// The number of the request in its phase, from 0.
    Request,
    /// Rows of a file.
    File {
        /// Its path, as whoever runs the plan reads it.
        file: String,
        /// Which row.
        #[serde(default)]
        order: RowOrder,
    },
}

fn is_zero(width: &u8) -> bool {
    *width == 0
}

fn one() -> i64 {
    1
}

fn is_one(step: &i64) -> bool {
    *step == 1
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeForm {
    /// Whole seconds since 1970.
    Seconds,
    /// Whole milliseconds since 1970.
    Milliseconds,
    /// `2026-11-21T09:05:00.123Z` (RFC 3339).
    Rfc3339,
    /// `Sat, 21 Nov 2026 09:05:00 GMT` (RFC 9110 section 5.6.7).
    Http,
    /// `2026-11-21`.
    Date,
}

/// Which row of a file a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum RowOrder {
    /// In the file's order, again and again.
    #[default]
    InTurn,
    /// At random.
    Random,
    /// In the file's order, each once: the phase ends when the rows are used up.
    Once,
}

impl RowOrder {
    /// Reads `in-turn`, `random` or `once`.
    ///
    /// # Errors
    /// What would do.
    pub fn parse(text: &str) -> Result<RowOrder, String> {
        match text {
            "in-turn" => Ok(RowOrder::InTurn),
            "random" => Ok(RowOrder::Random),
            "once" => Ok(RowOrder::Once),
            _ => Err(format!("'{text}' is no order of rows: give in-turn, random or once")),
        }
    }
}

/// What a value depends on beside its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// Number of the request in its phase.
    pub number: u64,
    /// Number of the user in the phase.
    pub user: u64,
    /// Microseconds since 1970.
    pub unix_us: u64,
}

const WANTED: &str = "give counter[:FIRST[..LAST][:STEP]], int:MIN..MAX, text:LENGTH, uuid, \
                      time[:s|ms|rfc3339|http|date], user or request";

/// Longest random text, in bytes.
const LONGEST_TEXT: u32 = 1 << 20;

impl Source {
    /// Reads a source as it is typed; see docs/src/requests.md.
    ///
    /// # Errors
    /// What would do, in words.
    pub fn parse(text: &str) -> Result<Source, String> {
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let source = match (kind, rest) {
            ("counter", rest) => counter(rest.unwrap_or("0")),
            ("int", Some(rest)) => range(rest).map(|(min, max)| Source::Integer { min, max }),
            ("text", Some(rest)) => {
                let length = rest.parse().ok().filter(|length| (1..=LONGEST_TEXT).contains(length));
                length.map(|length| Source::Text { length })
            }
            ("uuid", None) => Some(Source::Uuid),
            ("time", form) => TimeForm::parse(form.unwrap_or("s")).map(Source::Time),
            ("user", None) => Some(Source::User),
            ("request", None) => Some(Source::Request),
            _ => None,
        };
        source.ok_or_else(|| format!("'{text}' is no source of values: {WANTED}"))
    }

    /// What no source can be, in words; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        match self {
            Source::Counter { step: 0, .. } => Some("a counter has step 0: it would not count".to_owned()),
            Source::Counter { width: 41.., .. } => {
                Some("a counter is more than 40 digits wide: give 0 to 40".to_owned())
            }
            Source::Counter { start, step, end: Some(end), .. }
                if (*end < *start) != (*step < 0) && end != start =>
            {
                Some(format!("a counter from {start} by {step} never comes to {end}"))
            }
            Source::Integer { min, max } if min > max => {
                Some(format!("a range from {min} to {max} is empty: give the lesser number first"))
            }
            Source::Text { length } if *length == 0 || *length > LONGEST_TEXT => {
                Some(format!("a text of {length} characters: give 1 to {LONGEST_TEXT}"))
            }
            _ => None,
        }
    }

    /// Gives the value of a request to `put`, in pieces. `seed` belongs to the name; `cell`: the table and the column of a
    /// file's value.
    pub fn value(&self, seed: u64, at: &Moment, cell: Option<(&Table, usize)>, put: &mut impl FnMut(&[u8])) {
        match self {
            Source::Counter { start, step, end, width } => {
                number(count(*start, *step, *end, at.number), *width, put);
            }
            Source::Integer { min, max } => {
                let span = max.wrapping_sub(*min) as u64;
                let drawn = match span.checked_add(1) {
                    Some(values) => Draw::new(seed, at.number).below(values),
                    None => Draw::new(seed, at.number).bits(),
                };
                number(i128::from(min.wrapping_add(drawn as i64)), 0, put);
            }
            Source::Text { length } => text(&mut Draw::new(seed, at.number), *length, put),
            Source::Uuid => put(&uuid(&mut Draw::new(seed, at.number))),
            Source::Time(form) => form.write(at.unix_us, put),
            Source::User => number(i128::from(at.user), 0, put),
            Source::Request => number(i128::from(at.number), 0, put),
            Source::File { order, .. } => {
                let Some((table, column)) = cell else { return };
                let rows = table.rows().max(1) as u64;
                let row = match order {
                    RowOrder::InTurn | RowOrder::Once => at.number % rows,
                    RowOrder::Random => Draw::new(seed, at.number).below(rows),
                };
                put(table.cell(row as usize, column));
            }
        }
    }
}

/// The seed of a name's random numbers under a step's.
pub fn seed_of(seed: u64, name: &str) -> u64 {
    name.bytes().fold(hash(seed, 0xDA7A), |sum, byte| hash(sum, u64::from(byte)))
}

/// The value of a counter; wide, so that nothing overflows.
fn count(start: i64, step: i64, end: Option<i64>, number: u64) -> i128 {
    let (start, step) = (i128::from(start), i128::from(step));
    let values =
        end.map_or(i128::MAX, |end| (i128::from(end) - start) / if step == 0 { 1 } else { step } + 1);
    start + i128::from(number) % values.max(1) * step
}

fn number(value: i128, width: u8, put: &mut impl FnMut(&[u8])) {
    // The longest i128 has 40 characters, and no width is greater.
    let mut digits = [b'0'; 40];
    if let Ok(mut left) = u64::try_from(value) {
        // As nearly always; what follows can write all numbers, at ten times the cost.
        let mut first = digits.len();
        while left > 0 || first == digits.len() {
            first -= 1;
            digits[first] += (left % 10) as u8;
            left /= 10;
        }
        let padded = digits.len().saturating_sub(usize::from(width));
        return put(&digits[first.min(padded)..]);
    }
    let mut rest = &mut digits[..];
    let room = rest.len();
    let written =
        write!(rest, "{value:0width$}", width = usize::from(width)).map_or(0, |()| room - rest.len());
    put(&digits[..written]);
}

fn text(draw: &mut Draw, length: u32, put: &mut impl FnMut(&[u8])) {
    const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut piece = [0u8; 64];
    let mut left = length as usize;
    while left > 0 {
        let filled = &mut piece[..left.min(64)];
        filled.iter_mut().for_each(|byte| *byte = LETTERS[draw.below(62) as usize]);
        put(filled);
        left -= filled.len();
    }
}

fn uuid(draw: &mut Draw) -> [u8; 36] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut bits = u128::from(draw.bits()) << 64 | u128::from(draw.bits());
    // Version 4, variant 10 (RFC 9562 section 5.4).
    bits = bits & !(0xF << 76) | 4 << 76;
    bits = bits & !(3 << 62) | 2 << 62;
    let mut written = [b'-'; 36];
    let places = (0..36).filter(|place| ![8, 13, 18, 23].contains(place));
    for (nth, place) in places.enumerate() {
        written[place] = DIGITS[(bits >> (124 - 4 * nth)) as usize & 15];
    }
    written
}

fn counter(rest: &str) -> Option<Source> {
    let (values, step) = match rest.rsplit_once(':') {
        Some((values, step)) => (values, step.parse().ok().filter(|step| *step != 0)?),
        None => (rest, 1),
    };
    let (start, end) = match values.split_once("..") {
        Some((start, end)) => (start.parse().ok()?, Some(end.parse().ok()?)),
        None => (values.parse().ok()?, None),
    };
    let source = Source::Counter { start, step, end, width: 0 };
    source.violation().is_none().then_some(source)
}

fn range(text: &str) -> Option<(i64, i64)> {
    let (min, max) = text.split_once("..")?;
    let (min, max): (i64, i64) = (min.parse().ok()?, max.parse().ok()?);
    (min <= max).then_some((min, max))
}

impl TimeForm {
    fn parse(text: &str) -> Option<TimeForm> {
        Some(match text {
            "s" => TimeForm::Seconds,
            "ms" => TimeForm::Milliseconds,
            "rfc3339" => TimeForm::Rfc3339,
            "http" => TimeForm::Http,
            "date" => TimeForm::Date,
            _ => return None,
        })
    }

    fn write(self, unix_us: u64, put: &mut impl FnMut(&[u8])) {
        match self {
            TimeForm::Seconds => number(i128::from(unix_us / 1_000_000), 0, put),
            TimeForm::Milliseconds => number(i128::from(unix_us / 1_000), 0, put),
            TimeForm::Rfc3339 => put(&time::rfc3339(unix_us)),
            TimeForm::Http => put(&time::http(unix_us)),
            TimeForm::Date => put(&time::rfc3339(unix_us)[..10]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn value(source: &str, number: u64) -> String {
        let at = Moment { number, user: 3, unix_us: 1_784_538_305_123_456 };
        let mut written = Vec::new();
        let seed = seed_of(7, source);
        Source::parse(source).unwrap().value(seed, &at, None, &mut |piece| written.extend_from_slice(piece));
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn values_by_number_user_and_time() {
        for (source, number, expected) in [
            ("counter", 5, "5"),
            ("counter:100", 5, "105"),
            ("counter:100:-10", 11, "-10"),
            ("counter:1..3", 7, "2"),
            ("counter:0..10:4", 2, "8"),
            ("counter:0..10:4", 3, "0"),
            ("counter:5..1:-2", 4, "3"),
            ("request", 9, "9"),
            ("user", 9, "3"),
            ("time", 0, "1784538305"),
            ("time:ms", 0, "1784538305123"),
            ("time:rfc3339", 0, "2026-07-20T09:05:05.123Z"),
            ("time:http", 0, "Mon, 20 Jul 2026 09:05:05 GMT"),
            ("time:date", 0, "2026-07-20"),
        ] {
            assert_eq!(value(source, number), expected, "{source} {number}");
        }
    }

    #[test]
    fn what_is_no_source_is_refused_with_what_would_do() {
        for text in [
            "",
            "x",
            "int",
            "int:",
            "int:5..1",
            "int:1",
            "text",
            "text:0",
            "text:2000000",
            "uuid:1",
            "counter:x",
            "counter:1..0",
            "counter:0..1:0",
            "time:h",
            "user:1",
        ] {
            assert!(Source::parse(text).unwrap_err().contains("counter"), "{text}");
        }
    }

    #[test]
    fn uuids_are_of_version_4_and_differ() {
        let all: HashSet<String> = (0..1000).map(|number| value("uuid", number)).collect();
        assert_eq!(all.len(), 1000);
        for uuid in all {
            let marks = [8, 13, 18, 23].map(|at| uuid.as_bytes()[at]);
            assert_eq!((uuid.len(), marks, uuid.as_bytes()[14]), (36, [b'-'; 4], b'4'));
            assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        }
    }

    #[test]
    fn rows_are_taken_in_order_or_at_random() {
        let table = Table::from_lines("a\nb\nc\n").unwrap();
        let rows = |order| {
            let source = Source::File { file: String::new(), order };
            let row = |number| {
                let mut written = Vec::new();
                let at = Moment { number, ..Moment::default() };
                source.value(1, &at, Some((&table, 0)), &mut |piece| written.extend_from_slice(piece));
                String::from_utf8(written).unwrap()
            };
            (0..300).map(row).collect::<Vec<_>>()
        };
        assert_eq!(rows(RowOrder::InTurn)[..5], ["a", "b", "c", "a", "b"]);
        let random = rows(RowOrder::Random);
        for row in ["a", "b", "c"] {
            let seen = random.iter().filter(|seen| *seen == row).count();
            assert!((60..140).contains(&seen), "{row}: {seen}");
        }
    }

    #[test]
    fn counters_may_be_padded() {
        let written = |start, width, number| {
            let source = Source::Counter { start, step: 1, end: None, width };
            let mut text = Vec::new();
            let at = Moment { number, ..Moment::default() };
            source.value(7, &at, None, &mut |bytes: &[u8]| text.extend_from_slice(bytes));
            (String::from_utf8(text).unwrap(), source.violation().is_none())
        };
        assert_eq!(written(1, 9, 41), ("000000042".to_owned(), true));
        assert_eq!(written(-7, 4, 0), ("-007".to_owned(), true));
        assert_eq!(written(12_345, 3, 0), ("12345".to_owned(), true));
        assert_eq!(written(0, 40, 1).0.len(), 40);
        assert!(Source::Counter { start: 0, step: 1, end: None, width: 41 }.violation().is_some());
    }

    proptest! {
        #[test]
        fn integers_lie_in_their_range(min: i64, span in 0u64..2000, number: u64, wide: bool) {
            let max = if wide { i64::MAX } else { min.saturating_add_unsigned(span) };
            let drawn: i64 = value(&format!("int:{min}..{max}"), number).parse().unwrap();
            prop_assert!((min..=max).contains(&drawn));
        }

        #[test]
        fn texts_are_as_long_as_asked(length in 1usize..300, number: u64) {
            let text = value(&format!("text:{length}"), number);
            prop_assert_eq!(text.len(), length);
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }

        #[test]
        fn counters_stay_within_their_ends(start in -50i64..50, values in 1i64..9, step in 1i64..9, number: u64) {
            let end = start + values * step - 1;
            let counted: i64 = value(&format!("counter:{start}..{end}:{step}"), number).parse().unwrap();
            prop_assert_eq!(counted, start + (number % values as u64) as i64 * step);
        }
    }
}
