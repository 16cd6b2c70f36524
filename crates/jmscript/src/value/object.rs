//! Objects that are neither numbers, texts nor collections.

use super::Value;
use crate::class::{Class, Exception};
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use regex::Regex;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A compiled regular expression.
#[derive(Debug)]
pub struct Pattern {
    /// As it was written.
    pub text: Rc<str>,
    /// Compiled.
    pub regex: Regex,
}

/// Where a group begins and ends, in bytes; `None` where it took no part.
pub type Place = Option<(usize, usize)>;

/// A search of a pattern in a text.
#[derive(Debug)]
pub struct Matches {
    /// The pattern.
    pub pattern: Rc<Pattern>,
    /// The text.
    pub text: Rc<str>,
    /// The places of the last match's groups, in bytes.
    pub groups: RefCell<Option<Vec<Place>>>,
    /// Where the next search begins.
    pub next: Cell<usize>,
}

/// A cookie of the cookie manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieValue {
    /// Its name.
    pub name: Rc<str>,
    /// Its value.
    pub value: Rc<str>,
    /// The host that it is for.
    pub domain: Rc<str>,
    /// The path that it is for.
    pub path: Rc<str>,
    /// Only over TLS.
    pub is_secure: bool,
    /// Seconds of Unix time when it ends; 0 with the session.
    pub expires: i64,
}

/// A parameter of a request; without a name, a part of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: Rc<str>,
    /// Its value.
    pub value: Rc<str>,
    /// It is encoded (`application/x-www-form-urlencoded`) when it is sent.
    pub encodes: bool,
}

/// A file that is being written.
#[derive(Debug)]
pub struct Writer {
    /// Below the plan's folder.
    pub path: Rc<str>,
    /// True if what is written is added to what is there.
    pub appends: Cell<bool>,
    /// Text to write when it is flushed.
    pub waiting: RefCell<String>,
}

/// An object.
pub enum Object {
    /// `StringBuilder`.
    Builder(RefCell<String>),
    /// `Pattern`.
    Pattern(Rc<Pattern>),
    /// `Matcher`.
    Matcher(Matches),
    /// `Random` with a seed.
    Random(Cell<u64>),
    /// `ThreadLocalRandom`, `SecureRandom`, `Random` without a seed: the host's.
    Chance,
    /// `Date`, in milliseconds of Unix time.
    Date(Cell<i64>),
    /// `Calendar`.
    Calendar(Cell<i64>, RefCell<TimeZone>),
    /// `SimpleDateFormat`.
    DateFormat(RefCell<Rc<str>>, RefCell<TimeZone>),
    /// `DecimalFormat`.
    DecimalFormat(Rc<str>),
    /// `TimeZone`, `ZoneId`, `ZoneOffset`.
    Zone(TimeZone),
    /// `LocalDate`.
    LocalDate(Date),
    /// `LocalTime`.
    LocalTime(Time),
    /// `LocalDateTime`.
    LocalDateTime(DateTime),
    /// `ZonedDateTime`, and `OffsetDateTime`.
    Zoned(Zoned),
    /// `Instant`.
    Instant(Timestamp),
    /// `Duration`.
    Duration(SignedDuration),
    /// `DateTimeFormatter`: its pattern and zone.
    Formatter(Rc<str>, Option<TimeZone>),
    /// A constant of a class that is only passed on: `StandardCharsets.UTF_8`, `ChronoUnit.DAYS`.
    Constant(Class, Rc<str>),
    /// An exception.
    Exception(Exception, Option<Rc<str>>),
    /// An entry of a map.
    Entry(Value, Value),
    /// An iterator: what is left to see.
    Iterator(RefCell<Vec<Value>>, Cell<usize>),
    /// `JsonSlurper`.
    JsonSlurper,
    /// `JsonBuilder`.
    JsonBuilder(RefCell<Value>),
    /// `MessageDigest`: the algorithm and what it was given.
    Digest(Rc<str>, RefCell<Vec<u8>>),
    /// `Mac`: the algorithm, the key and what it was given.
    Mac(Rc<str>, RefCell<Vec<u8>>, RefCell<Vec<u8>>),
    /// `SecretKeySpec`.
    Secret(Rc<[u8]>),
    /// `Base64.Encoder`: of URLs, with padding, in lines.
    Encoder(bool, bool, bool),
    /// `Base64.Decoder`: of URLs, of lines.
    Decoder(bool, bool),
    /// `UUID`.
    Uuid(u128),
    /// `File`.
    File(Rc<str>),
    /// A writer of a file.
    Writer(Writer),
    /// A reader: lines still to be read, the last first.
    Reader(RefCell<Vec<Rc<str>>>),
    /// A header or an argument: name and value.
    Pair(Class, Rc<str>, RefCell<Rc<str>>, Cell<bool>),
    /// `Arguments` that a script has made.
    Arguments(RefCell<Vec<Argument>>),
    /// A cookie.
    Cookie(RefCell<CookieValue>),
    /// `new Object()`.
    Plain,
}

impl Object {
    /// True if it counts as true in a condition.
    pub(super) fn is_true(&self) -> bool {
        match self {
            Object::Matcher(matches) => matches.pattern.regex.is_match(&matches.text),
            Object::Builder(text) => !text.borrow().is_empty(),
            Object::Iterator(items, at) => at.get() < items.borrow().len(),
            _ => true,
        }
    }

    /// Its class's name with the package.
    pub(super) fn class_name(&self) -> String {
        let class = match self {
            Object::Builder(_) => Class::StringBuilder,
            Object::Pattern(_) => Class::Pattern,
            Object::Matcher(_) => Class::Matcher,
            Object::Random(_) | Object::Chance => Class::Random,
            Object::Date(_) => Class::Date,
            Object::Calendar(..) => Class::GregorianCalendar,
            Object::DateFormat(..) => Class::SimpleDateFormat,
            Object::DecimalFormat(_) => Class::DecimalFormat,
            Object::Zone(_) => Class::ZoneId,
            Object::LocalDate(_) => Class::LocalDate,
            Object::LocalTime(_) => Class::LocalTime,
            Object::LocalDateTime(_) => Class::LocalDateTime,
            Object::Zoned(_) => Class::ZonedDateTime,
            Object::Instant(_) => Class::Instant,
            Object::Duration(_) => Class::Duration,
            Object::Formatter(..) => Class::DateTimeFormatter,
            Object::Constant(class, _) | Object::Pair(class, ..) => *class,
            Object::Arguments(_) => Class::Arguments,
            Object::Exception(exception, _) => Class::Thrown(*exception),
            Object::Entry(..) => Class::MapEntry,
            Object::Iterator(..) => Class::Iterator,
            Object::JsonSlurper => Class::JsonSlurper,
            Object::JsonBuilder(_) => Class::JsonBuilder,
            Object::Digest(..) => Class::MessageDigest,
            Object::Mac(..) => Class::Mac,
            Object::Secret(_) => Class::SecretKeySpec,
            Object::Encoder(..) | Object::Decoder(..) => Class::Base64,
            Object::Uuid(_) => Class::Uuid,
            Object::File(_) => Class::File,
            Object::Writer(_) => Class::FileWriter,
            Object::Reader(_) => Class::BufferedReader,
            Object::Cookie(_) => Class::Cookie,
            Object::Plain => Class::Object,
        };
        class.full_name()
    }
}
