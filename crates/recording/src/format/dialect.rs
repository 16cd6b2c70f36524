//! Dialects of format strings: the marks by which each is told, and what its compiler makes of a string.

use super::field::TimeForm;
use super::strftime::Strftime;
use super::template::FormatPiece;
use crate::entry::{Edge, Escape};

/// A format string, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// Its pieces.
    pub pieces: Vec<FormatPiece>,
    /// How texts are escaped.
    pub escape: Escape,
    /// Which end of an exchange its time is.
    pub edge: Edge,
    /// Its own forms of times.
    pub own: Vec<Strftime>,
}

impl Compiled {
    /// Nothing yet.
    pub fn new(escape: Escape, edge: Edge) -> Compiled {
        Compiled { pieces: Vec::new(), escape, edge, own: Vec::new() }
    }

    /// Appends text that stands there as it is.
    pub fn literal(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(FormatPiece::Literal(before)) => before.push_str(text),
            Some(FormatPiece::Field { .. }) | None => self.pieces.push(FormatPiece::Literal(text.to_owned())),
        }
    }

    /// Appends a field.
    pub fn push(&mut self, piece: FormatPiece) {
        self.pieces.push(piece);
    }

    /// Remembers a form of times.
    pub fn own_time(&mut self, own: Strftime) -> TimeForm {
        self.own.push(own);
        TimeForm::Own((self.own.len() - 1) as u8)
    }
}

/// Whose syntax a format string has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `%h`, `%{Referer}i`.
    Apache,
    /// `$remote_addr`.
    Nginx,
    /// `%>a`, `%ts`.
    Squid,
    /// `%<chi>`.
    Ats,
    /// `%ci`, `%ST`.
    Haproxy,
    /// `%START_TIME%`.
    Envoy,
}

impl Dialect {
    /// Tells a dialect by its syntax; `None` where nothing in the text is a field of any.
    pub fn of(format: &str) -> Option<Dialect> {
        let names = |marks: &[&str]| marks.iter().any(|mark| has_directive(format, mark));
        match () {
            () if is_envoy(format) => Some(Dialect::Envoy),
            () if is_ats(format) => Some(Dialect::Ats),
            () if names(&["ci", "tr", "trg", "trl", "ST", "TR", "Tr", "Ta", "HM", "HU", "ft"])
                && !format.contains("%>a")
                && !format.contains("%ru") =>
            {
                Some(Dialect::Haproxy)
            }
            () if names(&["ts", "tl", "tg", "rm", "ru", "Ss", "mt"])
                || ["%>a", "%<a", "%<st", "%>Hs"].iter().any(|mark| format.contains(mark)) =>
            {
                Some(Dialect::Squid)
            }
            () if is_nginx(format) => Some(Dialect::Nginx),
            () if format.contains('%') => Some(Dialect::Apache),
            () => None,
        }
    }
}

/// True if `%`, digits, a sign or quoting marks, and then this name stand in the text as a word.
fn has_directive(format: &str, name: &str) -> bool {
    format.match_indices('%').any(|(at, _)| {
        let rest = &format[at + 1..];
        let rest = match rest.strip_prefix('{') {
            Some(inner) => inner.split_once('}').map_or("", |(_, after)| after),
            None => rest,
        };
        let rest = rest.trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '-' | '"' | '[' | '#' | '\'' | '.')
        });
        rest.strip_prefix(name).is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

/// `%<name>`, with no blank inside.
fn is_ats(format: &str) -> bool {
    format.match_indices("%<").any(|(at, _)| {
        let rest = &format[at + 2..];
        let name = rest.split('>').next().unwrap_or("");
        name.len() < rest.len() && !name.is_empty() && !name.contains([' ', '%'])
    })
}

/// `%NAME%` or `%NAME(…)%` in capitals.
fn is_envoy(format: &str) -> bool {
    ["%START_TIME", "%REQ(", "%RESP(", "%RESPONSE_CODE", "%DURATION%", "%PROTOCOL%", "%BYTES_SENT%"]
        .iter()
        .any(|mark| format.contains(mark))
}

fn is_nginx(format: &str) -> bool {
    format
        .match_indices('$')
        .any(|(at, _)| format[at + 1..].starts_with(|c: char| c.is_ascii_lowercase() || c == '{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_told_by_its_syntax() {
        for (format, dialect) in [
            ("%h %l %u %t \"%r\" %>s %b", Some(Dialect::Apache)),
            ("%{X-Forwarded-For}i %t \"%r\" %>s %O %D", Some(Dialect::Apache)),
            ("$remote_addr [$time_local] \"$request\"", Some(Dialect::Nginx)),
            ("{\"t\":\"$msec\"}", Some(Dialect::Nginx)),
            ("%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru", Some(Dialect::Squid)),
            ("%>a %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st", Some(Dialect::Squid)),
            ("%<cqtq> %<ttms> %<chi> %<crc>/%<pssc>", Some(Dialect::Ats)),
            ("%<{User-Agent}cqh>", Some(Dialect::Ats)),
            ("%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B", Some(Dialect::Haproxy)),
            ("%{+Q}o %ci %ST", Some(Dialect::Haproxy)),
            ("[%START_TIME%] \"%REQ(:METHOD)% %PROTOCOL%\"", Some(Dialect::Envoy)),
            ("combined", None),
        ] {
            assert_eq!(Dialect::of(format), dialect, "{format}");
        }
    }
}
