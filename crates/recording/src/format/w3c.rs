//! Logs that name their columns themselves: W3C's extended format (IIS, CloudFront) and zeek's, in lines that begin with `#`. The
//! columns may change in the middle of a file.

use super::field::{Field, Filler, TimeForm, Times, Unit, escape_of};
use super::template::Misfit;
use crate::entry::{Edge, Entry, Escape, Text};

/// The columns that hold at this place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    fields: Vec<Field>,
    separator: Option<u8>,
    escape: Escape,
    /// The time of a line is that of the end.
    ends: bool,
}

impl Columns {
    /// Takes a line that begins with `#`.
    pub fn directive(&mut self, line: &[u8], times: &mut Times) {
        let text = String::from_utf8_lossy(line);
        let (name, rest) = text.split_once([':', ' ', '\t']).unwrap_or((&text, ""));
        match name {
            "#Fields" => {
                let names: Vec<&str> = rest.split_whitespace().collect();
                let cloudfront = names.contains(&"x-edge-location");
                // CloudFront has tabs between its columns; others have blanks.
                self.separator = cloudfront.then_some(b'\t');
                self.escape = if cloudfront { Escape::TwicePercent } else { Escape::None };
                self.fields = names.iter().map(|name| column(name, cloudfront)).collect();
                self.ends = true;
                times.edge = Edge::End;
            }
            "#separator" => {
                let code = rest.trim().strip_prefix("\\x").and_then(|hex| u8::from_str_radix(hex, 16).ok());
                self.separator = code.or(self.separator);
            }
            "#fields" => {
                self.separator = self.separator.or(Some(b'\t'));
                self.fields = rest.split(['\t', ' ']).filter(|name| !name.is_empty()).map(zeek).collect();
                (self.ends, self.escape) = (false, Escape::None);
                times.edge = Edge::Begin;
            }
            _ => {}
        }
    }

    /// Reads a line into an entry that says nothing yet.
    ///
    /// # Errors
    /// The place at which it stops to fit.
    pub fn read<'a>(&self, line: &'a [u8], times: &mut Times, entry: &mut Entry<'a>) -> Result<(), Misfit> {
        let mut filler = Filler::new(entry);
        let mut rest = Some(line);
        for (number, field) in self.fields.iter().enumerate() {
            let Some(text) = rest else {
                return Err(Misfit { column: line.len() as u32 + 1, field: number });
            };
            let (value, after) = self.cut(text);
            let misfit = Misfit { column: (line.len() - text.len()) as u32 + 1, field: number };
            let escape = match field {
                // CloudFront encodes agents once more than URLs.
                Field::Agent if self.escape == Escape::TwicePercent => Escape::Plus,
                Field::Agent if self.ends => Escape::Plus,
                field => escape_of(*field, self.escape),
            };
            if !filler.put(*field, Text { bytes: value, escape }, times) {
                return Err(misfit);
            }
            rest = after;
        }
        match rest {
            Some(more) if !more.trim_ascii().is_empty() => {
                Err(Misfit { column: (line.len() - more.len()) as u32 + 1, field: self.fields.len() })
            }
            Some(_) | None if self.fields.is_empty() => Err(Misfit { column: 1, field: 0 }),
            Some(_) | None => {
                filler.finish(times);
                Ok(())
            }
        }
    }

    fn cut<'a>(&self, text: &'a [u8]) -> (&'a [u8], Option<&'a [u8]>) {
        let end = memchr::memchr(self.separator.unwrap_or(b' '), text);
        match end {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (text.trim_ascii_end(), None),
        }
    }
}

/// A column of W3C's format; CloudFront's times are in seconds, IIS's in milliseconds.
fn column(name: &str, cloudfront: bool) -> Field {
    let unit = if cloudfront { Unit::Seconds } else { Unit::Millis };
    match name {
        "date" => Field::Time(TimeForm::Date),
        "time" => Field::Time(TimeForm::Clock),
        "c-ip" => Field::Address,
        "cs-method" => Field::Method,
        "cs-uri-stem" | "cs-uri" => Field::Path,
        "cs-uri-query" => Field::Query,
        "cs-host" => Field::Host,
        // Of CloudFront's two hosts this is the one that the client asked for.
        "x-host-header" => Field::Host,
        "cs(Host)" if cloudfront => Field::Skip,
        "cs(User-Agent)" => Field::Agent,
        "cs-version" | "cs-protocol-version" => Field::Protocol,
        "sc-status" => Field::Status,
        "sc-bytes" => Field::SentBytes,
        "sc-content-type" => Field::ContentType,
        "sc-range-start" => Field::RangeFrom,
        "sc-range-end" => Field::RangeTo,
        "time-taken" => Field::Duration(unit),
        "time-to-first-byte" => Field::FirstByte(unit),
        "x-edge-result-type" => Field::Cache,
        name => match name.strip_prefix("cs(").and_then(|name| name.strip_suffix(')')) {
            Some(field) => Field::of_request(field),
            None => Field::Skip,
        },
    }
}

/// A column of zeek's http.log.
fn zeek(name: &str) -> Field {
    match name {
        "ts" => Field::Time(TimeForm::Seconds),
        "uid" => Field::Connection,
        "id.orig_h" => Field::Address,
        "method" => Field::Method,
        "host" => Field::Host,
        "uri" => Field::Target,
        "version" => Field::Protocol,
        "user_agent" => Field::Agent,
        "response_body_len" => Field::BodyBytes,
        "status_code" => Field::Status,
        _ => Field::Skip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Named, Sent};
    use crate::text::unescape;

    fn read<'a>(columns: &Columns, line: &'a [u8], times: &mut Times) -> Result<Entry<'a>, Misfit> {
        let mut entry = Entry::default();
        columns.read(line, times, &mut entry).map(|()| entry)
    }

    #[test]
    fn columns_may_change_in_the_middle() {
        let mut columns = Columns::default();
        let mut times = Times::default();
        columns.directive(b"#Software: Microsoft Internet Information Services 10.0", &mut times);
        assert!(read(&columns, b"2000-10-10", &mut times).is_err(), "no columns yet");
        columns.directive(b"#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status sc-bytes time-taken", &mut times);
        let entry = read(
            &columns,
            b"2000-10-10 20:55:36 GET /a b=1 192.0.2.1 Mozilla/5.0+(X11) 200 500 12",
            &mut times,
        )
        .unwrap();
        assert_eq!(entry.time.unwrap().us, 971_211_336_000_000);
        assert_eq!(entry.time.unwrap().edge, Edge::End);
        let Named::Parts(path, query) = entry.object else { panic!("{entry:?}") };
        assert_eq!((path.bytes, query.bytes), (&b"/a"[..], &b"b=1"[..]));
        assert_eq!(&*unescape(entry.agent), b"Mozilla/5.0 (X11)");
        assert_eq!((entry.sent, entry.duration_us), (Sent::Whole(500), Some(12_000)));
        columns.directive(b"#Fields: date time cs-uri-stem sc-status", &mut times);
        let entry = read(&columns, b"2000-10-10 20:55:37 /b 404\r", &mut times).unwrap();
        assert_eq!(entry.status, Some(404));
        assert!(read(&columns, b"2000-10-10 20:55:37 /b", &mut times).is_err());
    }

    #[test]
    fn cloudfront_has_tabs_and_encodes_twice() {
        let mut columns = Columns::default();
        let mut times = Times::default();
        columns.directive(b"#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(User-Agent) cs-uri-query x-edge-result-type x-host-header time-taken", &mut times);
        let line = b"2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td111.cloudfront.example\t/a%2520b\t200\tMozilla/5.0%20(X11)\t-\tHit\twww.example\t0.001";
        let entry = read(&columns, line, &mut times).unwrap();
        let Named::Parts(path, query) = entry.object else { panic!("{entry:?}") };
        assert_eq!(&*unescape(path), b"/a%20b");
        assert!(query.is_empty());
        assert_eq!(entry.host.bytes, b"www.example");
        assert_eq!(entry.cache, crate::words::Cache::Hit);
        assert_eq!(entry.duration_us, Some(1_000));
    }

    #[test]
    fn zeeks_log_names_its_columns_too() {
        let mut columns = Columns::default();
        let mut times = Times::default();
        for line in [
            &b"#separator \\x09"[..],
            b"#path\thttp",
            b"#fields\tts\tuid\tid.orig_h\tmethod\thost\turi\tstatus_code",
        ] {
            columns.directive(line, &mut times);
        }
        let entry = read(&columns, b"971211336.250000\tC1\t192.0.2.1\tGET\twww.example\t/a\t200", &mut times)
            .unwrap();
        assert_eq!(entry.time.unwrap().us, 971_211_336_250_000);
        assert_eq!(entry.connection.bytes, b"C1");
    }
}
