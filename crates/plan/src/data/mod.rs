//! Data that requests and TCP messages are filled with: where a named value comes from, and how it is written.
//!
//! Most values are pure functions of (seed, number of the request), so that the same plan sends the same requests however
//! many workers there are. Counters that come around and rows that are taken in turn are dealt to requests one after the
//! other instead ([`Source::dealt`]): none comes twice before all others have come, however fast each worker is. What a file
//! holds is not read here: a plan names the file, and whoever runs the plan lays a [`Table`] beside it, as with the files
//! of TLS. A plan stays short, and so does every report that quotes it.

pub(crate) mod body;
mod computed;
mod counter;
pub(crate) mod filed;
mod format;
mod number;
pub mod secret;
mod source;
mod table;
pub mod template;
mod time;
mod time_text;

pub use computed::{Algorithm, ChecksumField, Digits, LengthField, hex};
pub use counter::{Counter, Counting, Wrap};
pub use format::Format;
pub use number::{Counts, Number, unescape};
pub use source::{Each, Moment, RowOrder, Rows, Source, Time, TimeForm, number, seed_of};
pub use table::Table;
pub use time::rfc3339;
pub use time_text::{TimePiece, TimeText, Zone};

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Tables by the file that they were read from.
pub type Tables = HashMap<String, Arc<Table>>;

/// A name for values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// As it stands between the braces of a placeholder.
    pub name: String,
    /// Where its values come from.
    pub source: Source,
    /// How they are written; `None`: as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
}

impl Data {
    /// Values as they come.
    pub fn of(name: &str, source: Source) -> Data {
        Data { name: name.to_owned(), source, format: None }
    }

    /// Reads `SOURCE` or `SOURCE as FORMAT`, such as `counter:1..999999 as %08d`.
    ///
    /// # Errors
    /// The accepted forms, in words.
    pub fn parse(name: &str, text: &str) -> Result<Data, String> {
        if !is_name(name) {
            return Err(format!("'{name}' is no name: give letters, digits, _ and -"));
        }
        let (source, format) = match text.rsplit_once(" as ") {
            Some((source, format)) if format.contains('%') => {
                (source, Some(Format::parse(format.trim().as_bytes())?))
            }
            _ => (text, None),
        };
        Ok(Data { name: name.to_owned(), source: Source::parse(source)?, format })
    }

    /// Why it cannot be; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        let name = &self.name;
        if !is_name(name) {
            return Some(format!("'{name}' is no name of data: use letters, digits, - and _"));
        }
        if self.format.is_some() && self.source.computed_bytes().is_some() {
            return Some(format!(
                "data {name}: lengths and checksums have a width of their own: leave out the format"
            ));
        }
        self.source.violation().map(|why| format!("data {name}: {why}"))
    }
}

/// The meaning of a name in a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A value of a source.
    Value(Box<PlanValue>),
    /// The value that was taken from an answer under this name.
    Extracted(String),
}

/// A value of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanValue {
    /// Where it comes from.
    pub source: Source,
    /// The name by which its random numbers are drawn: the same name has the same value throughout a request.
    pub name: String,
    /// The column of a file; `None`: the first.
    pub column: Option<String>,
    /// How it is written.
    pub format: Option<Format>,
}

/// The names that placeholders may have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'a> {
    /// Named data.
    pub data: &'a [Data],
    /// Names of the values that are taken from answers, each once or more.
    pub extracted: &'a [&'a str],
}

impl Names<'_> {
    /// Returns the meaning of a name: the value that was taken from an answer, the data of that name, a column of a file
    /// (`users.email`), or a source that is described in place (`int:1..9`).
    ///
    /// # Errors
    /// The names that would do, in words.
    pub fn meaning(&self, name: &str) -> Result<Meaning, String> {
        if self.extracted.contains(&name) {
            return Ok(Meaning::Extracted(name.to_owned()));
        }
        let named = |name: &str| self.data.iter().find(|data| data.name == name);
        // Quotes hold the name of a column together.
        let unquoted = |column: &str| {
            let inside = column.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            inside.unwrap_or(column).to_owned()
        };
        let value = |data: &Data, column: Option<&str>| {
            let Data { name, source, format } = data.clone();
            Meaning::Value(Box::new(PlanValue { source, name, column: column.map(unquoted), format }))
        };
        if let Some(data) = named(name) {
            return Ok(value(data, None));
        }
        if let Some((file, column)) = name.split_once('.')
            && let Some(data) = named(file).filter(|data| data.source.file().is_some())
        {
            return Ok(value(data, Some(column)));
        }
        let source = Source::parse(name).map_err(|why| self.unknown(name, &why))?;
        if source.secret().is_some_and(|secret| !secret.is_typed()) {
            // Whoever fills in secrets looks for them among named data.
            return Err(format!(
                "{{{{{name}}}}} comes from outside: give it a name, as with --data NAME={name}"
            ));
        }
        Ok(Meaning::Value(Box::new(PlanValue { source, name: name.to_owned(), column: None, format: None })))
    }

    fn unknown(&self, name: &str, why: &str) -> String {
        let known: Vec<&str> =
            self.data.iter().map(|data| data.name.as_str()).chain(self.extracted.iter().copied()).collect();
        let known =
            if known.is_empty() { String::new() } else { format!("; named data: {}", known.join(", ")) };
        format!(
            "{{{{{name}}}}} is no known data: {why}{known}; write \\{{{{ for braces that stand for themselves"
        )
    }
}

/// True if a name can stand in a placeholder.
pub fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.bytes().all(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_data_columns_sources_or_what_was_extracted() {
        let file = Source::File(Rows { file: "u.csv".to_owned(), ..Rows::default() });
        let data = [Data::of("users", file.clone()), Data::of("id", Source::Uuid)];
        let names = Names { data: &data, extracted: &["token"] };
        let of = |name| {
            names.meaning(name).map(|meaning| match meaning {
                Meaning::Value(value) => (Some(value.source), value.name, value.column),
                Meaning::Extracted(name) => (None, name, None),
            })
        };
        assert_eq!(of("users"), Ok((Some(file.clone()), "users".to_owned(), None)));
        assert_eq!(of("users.mail"), Ok((Some(file), "users".to_owned(), Some("mail".to_owned()))));
        for name in ["users.Order No.", "users.\"Order No.\""] {
            assert_eq!(of(name).unwrap().2.as_deref(), Some("Order No."), "{name}");
        }
        assert_eq!(of("id"), Ok((Some(Source::Uuid), "id".to_owned(), None)));
        assert_eq!(of("uuid"), Ok((Some(Source::Uuid), "uuid".to_owned(), None)));
        assert_eq!(of("token"), Ok((None, "token".to_owned(), None)));
        for (name, said) in [
            ("env:HOME", "give it a name"),
            ("id.x", "users, id, token"),
            ("nobody", "no known data"),
            ("int:5", "int:MIN..MAX"),
        ] {
            assert!(of(name).unwrap_err().contains(said), "{name}");
        }
    }

    #[test]
    fn sources_as_they_are_typed() {
        let bytes = |bytes: &[u8]| Source::Bytes(bytes.to_vec().into());
        let time = |format: &str, zone| Source::Time(Time::Text(TimeText { format: format.into(), zone }));
        let length = |number, counts| Source::Length(LengthField { number, counts, adjust: 0 });
        let sum = |algorithm, from, digits| {
            Source::Checksum(ChecksumField { algorithm, from, digits, key: None, bytes: None })
        };
        for (text, source) in [
            ("hex:0aFF 00", bytes(&[10, 255, 0])),
            ("bytes:a\\x00", bytes(b"a\0")),
            ("time:%H:%M", time("%H:%M", Zone::Utc)),
            ("time:ms", Source::Time(Time::Named(TimeForm::Milliseconds))),
            ("time-local:%3f", time("%3f", Zone::Local)),
            ("time@Asia/Shanghai:%H", time("%H", Zone::Named("Asia/Shanghai".to_owned()))),
            ("connection", Source::Connection),
            ("env:HOME", Source::Secret(crate::data::secret::Secret::environment("HOME"))),
            ("length", length(Number::Ascii(8), Counts::Body)),
            ("length:ascii,total", length(Number::Ascii(0), Counts::Total)),
            ("length:binary:2,total", length(Number::Binary(2), Counts::Total)),
            ("lrc", sum(Algorithm::Lrc, 0, Digits::Binary)),
            ("crc16-modbus,from=1,HEX", sum(Algorithm::Crc16Modbus, 1, Digits::UpperHex)),
            ("uuid", Source::Uuid),
        ] {
            assert_eq!(Source::parse(text), Ok(source), "{text}");
        }
        for (text, said) in [
            ("hex:0", "no source"),
            ("hex:x", "no source"),
            ("length:99", "no source"),
            ("crc32,up", "no source"),
            ("mac", "a mac has a key"),
            ("mac-env", "no source"),
            ("lrc:00", "no key"),
            ("mac:0", "no source"),
            ("nothing", "no source"),
            ("crc16,bytes=3", "1 to 2 bytes"),
            ("cmac:00", "a key of 1 bytes where the mac has a key of 16, 24 or 32"),
            ("retail-mac:0011223344556677", "a key of 8 bytes where the mac has a key of 16"),
        ] {
            assert!(Source::parse(text).unwrap_err().contains(said), "{text}");
        }
        let env = Source::parse("retail-mac-80-env:K,HEX").unwrap();
        assert_eq!(
            (env.secret(), env.computed_bytes()),
            (Some(&crate::data::secret::Secret::environment("K")), Some(16))
        );
        let mac = Source::parse("mac:00ff,bytes=8,hex").unwrap();
        assert_eq!(mac.computed_bytes(), Some(16));
        let field = Data::parse("n", "counter:1..9 as %04d").unwrap();
        assert_eq!(field.format.as_ref().unwrap().least(), 4);
        assert!(Data::parse("a b", "uuid").is_err());
    }

    #[test]
    fn older_words_of_plan_files_are_read() {
        let read =
            |text: &str| toml::from_str::<Data>(&format!("name = 'a'\nsource = {text}")).unwrap().source;
        let counter = Counter { start: 1, end: Some(9), ..Counter::default() };
        assert_eq!(read("{ value = { counter = { start = 1, end = 9 } } }"), Source::Counter(counter));
        let each = Counter { each: Each::Place, wrap: Wrap::Wrktcp, ..counter };
        assert_eq!(
            read("{ count = { start = 1, end = 9, step = 1, order = 'wrktcp' } }"),
            Source::Counter(each)
        );
        let rows = Rows { file: "f".to_owned(), lines: true, each: Each::Place, ..Rows::default() };
        assert_eq!(read("{ lines = 'f' }"), Source::File(rows));
        assert_eq!(read("{ time = 'http' }"), Source::Time(Time::Named(TimeForm::Http)));
        assert_eq!(
            read("{ time = { format = '%H', zone = 'utc' } }"),
            Source::Time(Time::Text(TimeText { format: "%H".into(), zone: Zone::Utc }))
        );
        assert_eq!(read("'connection'"), Source::Connection);
    }
}
