//! Where values come from, and what they are.

use super::computed::{ChecksumField, LengthField, computed, hex};
use super::counter::{Counter, Wrap};
use super::number::unescape;
use super::time;
use super::time_text::{TimeText, Zone};
use crate::data::body::Body;
use crate::data::secret::Secret;
use crate::draw::{Draw, hash};
use crate::pace::live::{LiveFeed, LiveText};
use serde::{Deserialize, Deserializer, Serialize};
use std::io::Write;

/// Where the values of a name come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", from = "SourceRead")]
#[cfg_attr(test, schemars(!from))]
pub enum Source {
    /// Whole numbers, one after the other.
    Counter(Counter),
    /// A whole number, each one of the range equally likely.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// Digits to which it is filled with zeros; the sign is one of them.
        #[serde(default, skip_serializing_if = "is_zero")]
        width: u8,
    },
    /// Letters and digits.
    Text {
        /// How many.
        length: u32,
    },
    /// A random UUID (RFC 9562, version 4).
    Uuid,
    /// The time at which the request is written.
    Time(Time),
    /// The number of the user, from 0.
    User,
    /// The number of the request in its phase, from 0.
    Request,
    /// The number of the connection: the worker's number from 1 times 10,000, and the user's on its worker from 1, which
    /// outlives reconnecting.
    Connection,
    /// The number of the worker, from 1.
    Worker,
    /// Rows of a file.
    File(Rows),
    /// Always these bytes.
    Bytes(Body),
    /// The content of an environment variable or a file when the run begins.
    Secret(Secret),
    /// A text of the request that a live copy sends with this number.
    Live {
        /// Which.
        text: LiveText,
        /// The copy; a plan that was written down has none.
        #[serde(skip)]
        feed: LiveFeed,
    },
    /// The length of a TCP message.
    Length(LengthField),
    /// A checksum over what stands before it in a TCP message.
    Checksum(ChecksumField),
}

/// Digits of a number that is filled with zeros, at most.
const WIDEST: u8 = 40;

fn is_zero(width: &u8) -> bool {
    *width == 0
}

/// Where a counter or a file goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// With each request: the same name has the same value throughout it.
    #[default]
    Request,
    /// At each place where the name stands: a message that holds it twice takes two values.
    Place,
}

impl Each {
    pub(super) fn is_request(&self) -> bool {
        *self == Each::Request
    }
}

/// Rows of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Its path, as whoever runs the plan reads it.
    pub file: String,
    /// Which row.
    #[serde(default)]
    pub order: RowOrder,
    /// Each line is a row as it is, empty ones too, whatever the file is called.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lines: bool,
    /// Where it goes on.
    #[serde(default, skip_serializing_if = "Each::is_request")]
    pub each: Each,
}

/// A source as plan files say it, with the words that older ones have.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum SourceRead {
    Counter(Counter),
    Integer {
        min: i64,
        max: i64,
        #[serde(default)]
        width: u8,
    },
    Text {
        length: u32,
    },
    Uuid,
    Time(Time),
    User,
    Request,
    Connection,
    Worker,
    File(Rows),
    Bytes(Body),
    #[serde(alias = "environment", deserialize_with = "outside")]
    Secret(Secret),
    Live {
        text: LiveText,
    },
    Length(LengthField),
    Checksum(ChecksumField),
    Value(Box<SourceRead>),
    Count(OldCount),
    Lines(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldCount {
    start: i64,
    end: i64,
    step: i64,
    #[serde(default)]
    order: Wrap,
}

impl From<SourceRead> for Source {
    fn from(read: SourceRead) -> Source {
        match read {
            SourceRead::Counter(counter) => Source::Counter(counter),
            SourceRead::Integer { min, max, width } => Source::Integer { min, max, width },
            SourceRead::Text { length } => Source::Text { length },
            SourceRead::Uuid => Source::Uuid,
            SourceRead::Time(time) => Source::Time(time),
            SourceRead::User => Source::User,
            SourceRead::Request => Source::Request,
            SourceRead::Connection => Source::Connection,
            SourceRead::Worker => Source::Worker,
            SourceRead::File(rows) => Source::File(rows),
            SourceRead::Bytes(bytes) => Source::Bytes(bytes),
            SourceRead::Secret(secret) => Source::Secret(secret),
            SourceRead::Live { text } => Source::Live { text, feed: LiveFeed::default() },
            SourceRead::Length(length) => Source::Length(length),
            SourceRead::Checksum(sum) => Source::Checksum(sum),
            SourceRead::Value(read) => Source::from(*read),
            SourceRead::Count(OldCount { start, end, step, order }) => Source::Counter(Counter {
                start,
                step,
                end: Some(end),
                width: 0,
                wrap: order,
                each: Each::Place,
            }),
            SourceRead::Lines(file) => {
                Source::File(Rows { file, lines: true, each: Each::Place, ..Rows::default() })
            }
        }
    }
}

/// A secret, or the bare name of a variable, as plans once had it.
fn outside<'de, D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
    let text = String::deserialize(from)?;
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !text.is_empty() && is_name(&text) {
        return Ok(Secret::environment(&text));
    }
    Secret::read(&text).map_err(serde::de::Error::custom)
}

/// A time and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Time {
    /// In a form that has a name.
    Named(TimeForm),
    /// In a form of its own.
    Text(TimeText),
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The accepted words.
    pub fn parse(text: &str) -> Result<RowOrder, String> {
        match text {
            "in-turn" => Ok(RowOrder::InTurn),
            "random" => Ok(RowOrder::Random),
            "once" => Ok(RowOrder::Once),
            _ => Err(format!("'{text}' is no order of rows: give in-turn, random or once")),
        }
    }
}

const WANTED: &str = "give counter[:FIRST[..LAST][:STEP]], int:MIN..MAX, text:LENGTH, uuid, \
                      time[:s|ms|rfc3339|http|date], time:FORMAT, time-local:FORMAT, time@ZONE:FORMAT, user, request, \
                      connection, worker, env:NAME, bytes:TEXT, hex:BYTES, or in TCP messages length[:ascii:8][,total], \
                      lrc, crc16, crc32 (with ,hex ,from=N), mac:KEY, mac:env:NAME (or hmac-sha1, hmac-sha512, cmac, \
                      retail-mac)";

/// Longest random text, in bytes.
const LONGEST_TEXT: u32 = 1 << 20;

impl Source {
    /// Reads a source as it is typed; see docs/src/requests.md and docs/src/tcp.md.
    ///
    /// # Errors
    /// The accepted forms, in words.
    pub fn parse(text: &str) -> Result<Source, String> {
        let wrong = || format!("'{text}' is no source of values: {WANTED}");
        if let Some(computed) = computed(text) {
            let source = computed.ok_or_else(wrong)?;
            return source.violation().map_or(Ok(source), |why| Err(format!("'{text}': {why}")));
        }
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let source = match (kind, rest) {
            ("counter", rest) => counter(rest.unwrap_or("0")),
            ("int", Some(rest)) => range(rest),
            ("text", Some(rest)) => {
                let length = rest.parse().ok().filter(|length| (1..=LONGEST_TEXT).contains(length));
                length.map(|length| Source::Text { length })
            }
            ("uuid", None) => Some(Source::Uuid),
            ("user", None) => Some(Source::User),
            ("request", None) => Some(Source::Request),
            ("connection", None) => Some(Source::Connection),
            ("worker", None) => Some(Source::Worker),
            ("hex", Some(digits)) => hex(digits).map(|bytes| Source::Bytes(bytes.into())),
            ("bytes", Some(text)) => Some(Source::Bytes(unescape(text)?.into())),
            ("env", Some(name)) => Some(Source::Secret(Secret::environment(name))),
            (kind, rest) => time(kind, rest).map(Source::Time),
        };
        source.ok_or_else(wrong)
    }

    /// The file that its values come from.
    pub fn file(&self) -> Option<&str> {
        if let Source::File(rows) = self { Some(&rows.file) } else { None }
    }

    /// The secret that it is taken from, or made with.
    pub fn secret(&self) -> Option<&Secret> {
        if let Source::Checksum(sum) = self {
            return sum.key.as_ref();
        }
        if let Source::Secret(secret) = self { Some(secret) } else { None }
    }

    /// The same, to be filled in.
    pub(crate) fn secret_mut(&mut self) -> Option<&mut Secret> {
        if let Source::Checksum(sum) = self {
            return sum.key.as_mut();
        }
        if let Source::Secret(secret) = self { Some(secret) } else { None }
    }

    /// Bytes that it takes at least, where it is computed when all else of a message is known.
    pub fn computed_bytes(&self) -> Option<u32> {
        if let Source::Length(length) = self {
            return Some(length.number.width());
        }
        if let Source::Checksum(sum) = self { Some(sum.width()) } else { None }
    }

    /// Where its values are dealt to requests one after the other; `None`: each value follows from the request alone.
    pub fn dealt(&self) -> Option<Each> {
        match self {
            Source::Counter(Counter { end: None, each: Each::Request, .. }) => None,
            Source::Counter(counter) => Some(counter.each),
            Source::File(Rows { order: RowOrder::InTurn, each, .. }) => Some(*each),
            Source::Integer { .. }
            | Source::Text { .. }
            | Source::Uuid
            | Source::Time(_)
            | Source::User
            | Source::Request
            | Source::Connection
            | Source::Worker
            | Source::File(_)
            | Source::Bytes(_)
            | Source::Secret(_)
            | Source::Live { .. }
            | Source::Length(_)
            | Source::Checksum(_) => None,
        }
    }

    /// Why it cannot be; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        match self {
            Source::Counter(counter) => counter.violation(),
            Source::Integer { min, max, .. } if min > max => {
                Some(format!("a range from {min} to {max} is empty: give the lesser number first"))
            }
            Source::Integer { width, .. } if *width > WIDEST => {
                Some(format!("a number is more than {WIDEST} digits wide: give 0 to {WIDEST}"))
            }
            Source::Text { length } if *length == 0 || *length > LONGEST_TEXT => {
                Some(format!("a text of {length} characters: give 1 to {LONGEST_TEXT}"))
            }
            Source::Time(Time::Text(time)) => time.violation(),
            Source::File(rows) if rows.file.is_empty() => Some("a file without a name".to_owned()),
            Source::Length(length) if !length.number.is_sound() && !length.is_flexible() => {
                Some("a length of an impossible width".to_owned())
            }
            Source::Checksum(sum) => sum.violation(),
            Source::Integer { .. }
            | Source::Text { .. }
            | Source::Uuid
            | Source::Time(_)
            | Source::User
            | Source::Request
            | Source::Connection
            | Source::Worker
            | Source::File(_)
            | Source::Bytes(_)
            | Source::Secret(_)
            | Source::Live { .. }
            | Source::Length(_) => None,
        }
    }

    /// Gives a value that follows from the request alone to `put`, in pieces; nothing for all other sources. `seed` belongs
    /// to the name.
    pub fn value(&self, seed: u64, at: &Moment, put: &mut impl FnMut(&[u8])) {
        match self {
            Source::Counter(counter) => {
                let value = i128::from(counter.start) + i128::from(at.number) * i128::from(counter.step);
                number(value, counter.width, put);
            }
            Source::Integer { min, max, width } => {
                let span = max.wrapping_sub(*min) as u64;
                let drawn = match span.checked_add(1) {
                    Some(values) => Draw::new(seed, at.number).below(values),
                    None => Draw::new(seed, at.number).bits(),
                };
                number(i128::from(min.wrapping_add(drawn as i64)), *width, put);
            }
            Source::Text { length } => text(&mut Draw::new(seed, at.number), *length, put),
            Source::Uuid => put(&uuid(&mut Draw::new(seed, at.number))),
            Source::Time(Time::Named(form)) => form.write(at.unix_us, put),
            Source::User => number(i128::from(at.user), 0, put),
            Source::Request => number(i128::from(at.number), 0, put),
            Source::Connection => number(i128::from(at.connection), 0, put),
            Source::Worker => number(i128::from(at.worker), 0, put),
            Source::Live { text, feed } => feed.text(*text, at.number, put),
            Source::Time(_) | Source::File(_) | Source::Bytes(_) | Source::Secret(_) => {}
            Source::Length(_) | Source::Checksum(_) => {}
        }
    }
}

/// The circumstances that a value depends on beside its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// Number of the request in its phase.
    pub number: u64,
    /// Number of the user in the phase.
    pub user: u64,
    /// Number of the connection, which outlives reconnecting.
    pub connection: u64,
    /// Number of the worker, from 1.
    pub worker: u64,
    /// Microseconds since 1970.
    pub unix_us: u64,
}

impl Moment {
    /// The row of a file of so many that follows from the request alone.
    #[inline]
    pub fn row(&self, order: RowOrder, seed: u64, rows: u64) -> u64 {
        match order {
            RowOrder::InTurn | RowOrder::Once => self.number % rows.max(1),
            RowOrder::Random => Draw::new(seed, self.number).below(rows.max(1)),
        }
    }
}

/// The seed of a name's random numbers under a step's.
pub fn seed_of(seed: u64, name: &str) -> u64 {
    name.bytes().fold(hash(seed, 0xDA7A), |sum, byte| hash(sum, u64::from(byte)))
}

/// Gives a number to `put`, with zeros in front where it has fewer digits than `width`.
pub fn number(value: i128, width: u8, put: &mut impl FnMut(&[u8])) {
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
    let source = Source::Counter(Counter { start, step, end, ..Counter::default() });
    source.violation().is_none().then_some(source)
}

/// A time as it is typed: `time:ms`, `time:%H:%M`, `time-local:FORMAT`, `time@ZONE:FORMAT`.
fn time(kind: &str, rest: Option<&str>) -> Option<Time> {
    let text = |zone| rest.map(|format| Time::Text(TimeText { format: format.into(), zone }));
    match (kind, kind.strip_prefix("time@")) {
        ("time", _) if rest.is_some_and(|format| format.contains('%')) => text(Zone::Utc),
        ("time", _) => TimeForm::parse(rest.unwrap_or("s")).map(Time::Named),
        ("time-local", _) => text(Zone::Local),
        (_, Some(zone)) => text(Zone::Named(zone.to_owned())),
        _ => None,
    }
}

/// A range as it is typed; where its least number is filled with zeros, all are.
fn range(text: &str) -> Option<Source> {
    let (least, greatest) = text.split_once("..")?;
    let min: i64 = least.parse().ok()?;
    let max: i64 = greatest.parse().ok()?;
    let is_filled = least.trim_start_matches('-').len() > 1 && least.trim_start_matches('-').starts_with('0');
    let width = if is_filled { u8::try_from(least.len()).ok()? } else { 0 };
    (min <= max && width <= WIDEST).then_some(Source::Integer { min, max, width })
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
    use crate::data::Counting;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn value(source: &str, number: u64) -> String {
        let at = Moment { number, user: 3, unix_us: 1_784_538_305_123_456, ..Moment::default() };
        let mut written = Vec::new();
        let seed = seed_of(7, source);
        let source = Source::parse(source).unwrap();
        match &source {
            Source::Counter(counter) if source.dealt().is_some() => {
                return Counting::new(counter).value(number).to_string();
            }
            source => source.value(seed, &at, &mut |piece| written.extend_from_slice(piece)),
        }
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
        let rows = |order| -> Vec<u64> {
            (0..300).map(|number| Moment { number, ..Moment::default() }.row(order, 1, 3)).collect()
        };
        assert_eq!(rows(RowOrder::Once)[..5], [0, 1, 2, 0, 1]);
        let random = rows(RowOrder::Random);
        for row in 0..3 {
            let seen = random.iter().filter(|seen| **seen == row).count();
            assert!((60..140).contains(&seen), "{row}: {seen}");
        }
    }

    #[test]
    fn counters_may_be_padded() {
        let written = |start, width, number| {
            let source = Source::Counter(Counter { start, width, ..Counter::default() });
            let mut text = Vec::new();
            let at = Moment { number, ..Moment::default() };
            source.value(7, &at, &mut |bytes: &[u8]| text.extend_from_slice(bytes));
            (String::from_utf8(text).unwrap(), source.violation().is_none())
        };
        assert_eq!(written(1, 9, 41), ("000000042".to_owned(), true));
        assert_eq!(written(-7, 4, 0), ("-007".to_owned(), true));
        assert_eq!(written(12_345, 3, 0), ("12345".to_owned(), true));
        assert_eq!(written(0, 40, 1).0.len(), 40);
        assert!(Counter { width: 41, ..Counter::default() }.violation().is_some());
    }

    #[test]
    fn numbers_are_filled_with_zeros_as_their_least_is() {
        for (typed, length) in [("int:001..9", 3), ("int:000..0", 3), ("int:0..9", 1), ("int:-07..-3", 3)] {
            assert_eq!(value(typed, 5).len(), length, "{typed}");
        }
        let wide = format!("int:{}1..9", "0".repeat(40));
        assert!(Source::parse(&wide).is_err());
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
