//! Formats of access logs: named, as the server's own format string, out of a configuration, or as keys of JSON; compiled once, and
//! then read line by line.
//!
//! Start at [`Format::parse`].

mod apache;
mod ats;
mod csv;
pub mod detect;
mod dialect;
mod duration;
mod envoy;
pub mod field;
mod haproxy;
pub mod json;
pub mod names;
pub mod nginx;
pub mod print;
mod squid;
mod strftime;
pub mod template;
mod w3c;

use crate::entry::{Edge, Entry, Escape};
use crate::moment::Zone;
use dialect::{Compiled, Dialect};
use field::{Field, Times};
use json::Mapping;
use names::FormatSource;
use template::{FormatPiece, Misfit, Shape, Template};
use w3c::Columns;

/// A format, ready to read lines; it remembers a little from line to line.
#[derive(Debug, Clone)]
pub struct Format {
    name: String,
    how: RecordingMode,
    times: Times,
    syslog: bool,
}

#[derive(Debug, Clone)]
enum RecordingMode {
    Template(Template),
    Json(Mapping),
    Columns(Columns),
    Csv(csv::Csv),
}

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingLine {
    /// An exchange.
    Entry,
    /// A line about the log itself, `#Fields: …`.
    Directive,
}

impl Format {
    /// Reads a format's name, a server's own format string, or `json:FIELD=KEY,…`.
    ///
    /// `auto` and `@FILE:NAME` need more than this text: [`detect`] and [`Format::of_nginx`].
    ///
    /// # Errors
    /// In words, with what to try.
    pub fn parse(text: &str, zone: Zone) -> Result<Format, String> {
        if let Some(mapping) = text.strip_prefix("json:") {
            let how = RecordingMode::Json(Mapping::parse(mapping)?);
            return Ok(Format::of("json", how, Edge::End, zone));
        }
        if let Some(columns) = csv::columns(text) {
            let name = if text.starts_with("csv:") { "csv" } else { text };
            return Ok(Format::of(name, RecordingMode::Csv(csv::Csv::parse(columns)?), Edge::Begin, zone));
        }
        if text == "bunny" {
            return Format::words("bunny", names::BUNNY_FIELDS, "|", zone);
        }
        if let Some(named) = names::find(text) {
            return Format::named(named, zone);
        }
        let dialect = Dialect::of(text).ok_or_else(|| unknown(text))?;
        let compiled = match dialect {
            Dialect::Apache => apache::compile(text),
            Dialect::Nginx => nginx::compile(text, nginx_escape(text)),
            Dialect::Squid => squid::compile(text),
            Dialect::Ats => ats::compile(text),
            Dialect::Haproxy => haproxy::compile(text),
            Dialect::Envoy => envoy::compile(text),
        };
        let syslog = dialect == Dialect::Haproxy;
        Format::compiled(
            "as given",
            compiled.map_err(|why| format!("the format string: {why}"))?,
            zone,
            syslog,
        )
    }

    /// Reads a log_format out of the text of an nginx configuration.
    ///
    /// # Errors
    /// In words, with the names that there are.
    pub fn of_nginx(configuration: &str, name: &str, zone: Zone) -> Result<Format, String> {
        let found = nginx::named(configuration, name)?;
        Format::compiled(name, nginx::compile(&found.text, found.escape)?, zone, false)
    }

    fn named(named: &names::Named, zone: Zone) -> Result<Format, String> {
        let mut syslog = false;
        let compiled = match named.source {
            FormatSource::Apache(text) => {
                // What is behind S3's agent has grown over the years.
                let open = text.ends_with(' ');
                let compiled = apache::compile(text.trim_end())?;
                let format = Format::compiled(named.name, compiled, zone, false)?;
                return Ok(if open { format.open() } else { format });
            }
            FormatSource::Nginx(text) => nginx::compile(text, Escape::Backslash)?,
            FormatSource::Squid(text) => squid::compile(text)?,
            FormatSource::Ats(text) => ats::compile(text)?,
            FormatSource::Haproxy(text) => {
                syslog = true;
                haproxy::compile(text)?
            }
            FormatSource::Envoy(text) => envoy::compile(text)?,
            FormatSource::Words(fields, _) => return Format::words(named.name, fields, " ", zone),
            FormatSource::Json(keys, ends) => {
                let edge = if ends { Edge::End } else { Edge::Begin };
                return Ok(Format::of(named.name, RecordingMode::Json(Mapping::new(keys)), edge, zone));
            }
            FormatSource::Columns => {
                return Ok(Format::of(
                    named.name,
                    RecordingMode::Columns(Columns::default()),
                    Edge::End,
                    zone,
                ));
            }
        };
        Format::compiled(named.name, compiled, zone, syslog)
    }

    /// Fields with a separator between them, quoted where need be; more may follow.
    fn words(name: &str, fields: &[Field], separator: &str, zone: Zone) -> Result<Format, String> {
        let mut compiled = Compiled::new(Escape::Backslash, Edge::End);
        for (number, field) in fields.iter().enumerate() {
            if number > 0 {
                compiled.literal(separator);
            }
            compiled.push(FormatPiece::shaped(*field, format!("field {}", number + 1), Shape::Quoted));
        }
        compiled.literal(separator);
        Ok(Format::compiled(name, compiled, zone, false)?.open())
    }

    fn open(mut self) -> Format {
        self.how = match self.how {
            RecordingMode::Template(template) => RecordingMode::Template(template.open()),
            how @ (RecordingMode::Json(_) | RecordingMode::Columns(_) | RecordingMode::Csv(_)) => how,
        };
        self
    }

    fn compiled(name: &str, compiled: Compiled, zone: Zone, syslog: bool) -> Result<Format, String> {
        let template = Template::compile(&compiled.pieces, compiled.escape)?;
        if !template.has(|field| matches!(field, Field::Time(_) | Field::Began(_))) {
            return Err("it names no time, so nobody can tell when to send what".to_owned());
        }
        if !template.has(|field| json::is_object(&field)) {
            return Err("it names no object: neither a request line nor a URL or path".to_owned());
        }
        let mut format = Format::of(name, RecordingMode::Template(template), compiled.edge, zone);
        (format.times.own, format.syslog) = (compiled.own, syslog);
        Ok(format)
    }

    fn of(name: &str, how: RecordingMode, edge: Edge, zone: Zone) -> Format {
        Format { name: name.to_owned(), how, times: Times::new(zone, edge), syslog: false }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if it is a trace of a cache, which has no URLs, and whose times may count from a beginning of its own.
    pub fn is_trace(&self) -> bool {
        matches!(self.how, RecordingMode::Csv(_))
    }

    /// Which end of an exchange its times are.
    pub fn edge(&self) -> Edge {
        self.times.edge
    }

    /// True if a time was read that names no zone, and nobody has said which one holds.
    pub fn zone_is_missing(&self) -> bool {
        self.times.zone_missing && self.times.zone == Zone::Untold
    }

    /// Lines have a head of syslog's that is to be passed by.
    #[must_use]
    pub fn behind_syslog(mut self) -> Format {
        self.syslog = true;
        self
    }

    /// Reads a line, without its line end, into an entry that says nothing yet.
    ///
    /// # Errors
    /// The place at which it stops to fit; the entry tells what stood before it.
    #[inline]
    pub fn read<'a>(&mut self, line: &'a [u8], entry: &mut Entry<'a>) -> Result<RecordingLine, Misfit> {
        let text = if self.syslog { after_syslog(line) } else { line };
        let shift = (line.len() - text.len()) as u32;
        // The column is one of the whole line.
        let behind = |misfit: Misfit| Misfit { column: misfit.column + shift, ..misfit };
        match &mut self.how {
            RecordingMode::Template(template) => {
                template.read(text, &mut self.times, entry).map_err(behind)?;
            }
            RecordingMode::Json(mapping) => mapping.read(text, &mut self.times, entry).map_err(behind)?,
            RecordingMode::Columns(columns) if line.first() == Some(&b'#') => {
                columns.directive(line, &mut self.times);
                return Ok(RecordingLine::Directive);
            }
            RecordingMode::Columns(columns) => columns.read(line, &mut self.times, entry)?,
            RecordingMode::Csv(csv) => match csv.read(line)? {
                Some(found) => *entry = found,
                None => return Ok(RecordingLine::Directive),
            },
        }
        Ok(RecordingLine::Entry)
    }

    /// Keys that a person named as fields, and no line had.
    pub fn unseen_keys(&self) -> Vec<String> {
        match &self.how {
            RecordingMode::Json(mapping) => mapping.unseen(),
            RecordingMode::Template(_) | RecordingMode::Columns(_) | RecordingMode::Csv(_) => Vec::new(),
        }
    }

    /// How the format calls a field that did not fit, for messages.
    pub fn field_name(&self, field: usize) -> Option<&str> {
        match &self.how {
            RecordingMode::Template(template) => template.name_of(field),
            RecordingMode::Json(_) | RecordingMode::Columns(_) | RecordingMode::Csv(_) => None,
        }
    }
}

/// nginx's objects of JSON are escaped as JSON, which the string itself does not say.
fn nginx_escape(text: &str) -> Escape {
    if text.trim_start().starts_with('{') { Escape::Json } else { Escape::Backslash }
}

fn unknown(text: &str) -> String {
    let close = names::ALL
        .iter()
        .flat_map(|named| std::iter::once(&named.name).chain(named.aliases))
        .find(|name| name.contains(text) || text.contains(**name));
    let hint = close.map_or(String::new(), |name| format!(" (is it {name}?)"));
    let names: Vec<&str> = names::ALL.iter().map(|named| named.name).collect();
    format!(
        "'{text}' is no log format{hint}: give auto, the server's own format string, json:time=KEY,path=KEY,…, @nginx.conf:NAME, gor, pcap, csv:time=COLUMN,id=COLUMN,…, oracle-general, lcs, or one of {}, bunny, {}",
        names.join(", "),
        csv::names().collect::<Vec<_>>().join(", ")
    )
}

/// The text behind a head of syslog's: `<134>Feb  6 12:14:14 host haproxy[14389]: `, RFC 5424's as well; all of a line that has none.
pub fn after_syslog(line: &[u8]) -> &[u8] {
    let window = &line[..line.len().min(160)];
    let named = memchr::memmem::find(window, b"]: ").map(|at| at + 3);
    let begins = matches!(line.first(), Some(b'<'))
        || crate::moment::month(line).is_some()
        || line.get(4) == Some(&b'-');
    match named {
        Some(at) if begins => &line[at..],
        Some(_) => line,
        // RFC 5424: `<134>1 TIME HOST APP PID ID - text`.
        None if line.first() == Some(&b'<') && memchr::memmem::find(window, b">1 ").is_some() => {
            memchr::memmem::find(window, b" - - ").map_or(line, |at| &line[at + 5..])
        }
        None => line,
    }
}

#[cfg(test)]
mod tests;
