//! How messages are told apart, as a plan says it; what it does is `wire::message`'s business.

use crate::data::body::Body;
use crate::data::{Counts, Number, unescape};
use crate::request::answer::{IsoBitmap, IsoCoding, IsoForm};
use serde::{Deserialize, Serialize};

/// How messages are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// A head of fixed size announces the length.
    Length(LengthHead),
    /// Messages end with these bytes, which are not part of their body.
    Delimiter(Body),
    /// All messages have this many bytes.
    Fixed(u32),
    /// One line each, such as newline-delimited JSON.
    Lines,
    /// Lines of Redis's protocol: they end with CR LF.
    RespLine,
    /// ISO 8583 behind a length.
    Iso8583(Iso8583),
    /// A message ends when its sender closes: a request by half of the connection, an answer by all of it.
    Close,
    /// HTTP/1: a request's first line and fields are its head, or begin its body; Content-Length is added where it lacks.
    Http,
    /// Sent as it is written, with whatever length it holds; only of requests.
    Raw,
}

/// A head of fixed size with a length in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LengthHead {
    /// Bytes of the head; `None`: the length ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Where the number stands in it, from 0.
    #[serde(default)]
    pub at: u32,
    /// How the number is written.
    pub number: Number,
    /// The bytes that it counts.
    #[serde(default)]
    pub counts: Counts,
    /// The number that is added to the count to get the number that is sent.
    #[serde(default)]
    pub adjust: i64,
}

/// ISO 8583 (1987) behind a length of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Iso8583 {
    /// How the length is written.
    pub length: Number,
    /// How bitmaps are written.
    #[serde(default)]
    pub bitmap: IsoBitmap,
    /// How fields are written.
    #[serde(default, skip_serializing_if = "IsoCoding::is_usual")]
    pub coding: IsoCoding,
}

impl LengthHead {
    /// A head that is nothing but the length of what follows.
    pub fn only(number: Number) -> LengthHead {
        LengthHead { size: None, at: 0, number, counts: Counts::Body, adjust: 0 }
    }

    /// Bytes of the head.
    pub fn head_size(&self) -> u32 {
        self.size.unwrap_or(self.at.saturating_add(self.number.width()))
    }
}

const WANTED: &str = "give ascii:8, hex:4, binary:2, little:4 or bcd:2 (with ,total ,at=N ,head=N ,adjust=N), \
                      delimiter:TEXT, fixed:BYTES, lines, resp-line, iso8583:2, http, close or raw";

impl Framing {
    /// Reads a framing as it is typed; see docs/src/tcp.md.
    ///
    /// # Errors
    /// The accepted forms, in words.
    pub fn parse(text: &str) -> Result<Framing, String> {
        let wrong = || format!("'{text}' is no framing: {WANTED}");
        let framing = match text.split_once(':') {
            Some(("delimiter", rest)) => Framing::Delimiter(unescape(rest)?.into()),
            Some(("fixed", bytes)) => Framing::Fixed(bytes.parse().map_err(|_| wrong())?),
            Some(("iso8583", rest)) => Framing::Iso8583(iso8583(rest).ok_or_else(wrong)?),
            Some(_) => Framing::Length(length_head(text).ok_or_else(wrong)?),
            None => match text {
                "lines" | "ndjson" => Framing::Lines,
                "resp-line" | "resp" => Framing::RespLine,
                "close" => Framing::Close,
                "http" => Framing::Http,
                "raw" => Framing::Raw,
                _ => return Err(wrong()),
            },
        };
        framing.violation().map_or(Ok(framing), |why| Err(format!("'{text}': {why}")))
    }

    /// Returns the reason why it can be no framing, in words; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<&'static str> {
        match self {
            Framing::Length(head) if !head.number.is_sound() => Some(WIDTHS),
            Framing::Iso8583(iso) if !iso.length.is_sound() => Some(WIDTHS),
            Framing::Length(head) if head.head_size() < head.at.saturating_add(head.number.width()) => {
                Some("the length reaches beyond the head")
            }
            Framing::Length(head) if head.head_size() > MAX_HEAD => Some("a head has at most 65536 bytes"),
            Framing::Delimiter(delimiter) if delimiter.is_empty() => Some("the delimiter is empty"),
            Framing::Fixed(0) => Some("messages of 0 bytes"),
            Framing::Length(_)
            | Framing::Delimiter(_)
            | Framing::Fixed(_)
            | Framing::Lines
            | Framing::RespLine
            | Framing::Iso8583(_)
            | Framing::Close
            | Framing::Http
            | Framing::Raw => None,
        }
    }

    /// Bytes of the head that a message has in this framing.
    pub fn head_size(&self) -> u32 {
        match self {
            Framing::Length(head) => head.head_size(),
            Framing::Iso8583(iso) => iso.length.width(),
            Framing::Delimiter(_)
            | Framing::Fixed(_)
            | Framing::Lines
            | Framing::RespLine
            | Framing::Close
            | Framing::Http
            | Framing::Raw => 0,
        }
    }

    /// Bytes of the number in that head.
    pub fn number_size(&self) -> u32 {
        if let Framing::Length(head) = self { head.number.width() } else { self.head_size() }
    }

    /// How ISO 8583 is written.
    pub fn iso_form(&self) -> IsoForm {
        let Framing::Iso8583(iso) = self else { return IsoForm::default() };
        IsoForm { bitmap: iso.bitmap, coding: iso.coding }
    }
}

const MAX_HEAD: u32 = 65_536;
const WIDTHS: &str =
    "a length has 1 to 18 digits, 1 to 15 hexadecimal ones, 1, 2, 4 or 8 binary bytes, or 1 to 9 of BCD";

fn length_head(text: &str) -> Option<LengthHead> {
    let mut words = text.split(',');
    let mut head = LengthHead::only(Number::parse(words.next()?, Number::Ascii)?);
    for word in words {
        match word.split_once('=') {
            None if word == "total" => head.counts = Counts::Total,
            None if word == "body" => head.counts = Counts::Body,
            Some(("at", at)) => head.at = at.parse().ok()?,
            Some(("head", size)) => head.size = Some(size.parse().ok()?),
            Some(("adjust", adjust)) => head.adjust = adjust.parse().ok()?,
            _ => return None,
        }
    }
    Some(head)
}

fn iso8583(text: &str) -> Option<Iso8583> {
    let (length, form) = match text.split_once(',') {
        None => (text, IsoForm::default()),
        Some((length, form)) => (length, IsoForm::parse(form)?),
    };
    let IsoForm { bitmap, coding } = form;
    Some(Iso8583 { length: Number::parse(length, Number::Binary)?, bitmap, coding })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: IsoCoding = IsoCoding::Ascii;

    #[test]
    fn framings_as_they_are_typed() {
        let length = |number| Framing::Length(LengthHead::only(number));
        for (text, framing) in [
            ("ascii:8", length(Number::Ascii(8))),
            ("hex:4", length(Number::Hex(4))),
            ("binary:2", length(Number::Binary(2))),
            ("little:4", length(Number::Little(4))),
            ("bcd:2", length(Number::Bcd(2))),
            ("delimiter:\\r\\n", Framing::Delimiter("\r\n".into())),
            ("delimiter:\\x03:", Framing::Delimiter(vec![3, b':'].into())),
            ("fixed:100", Framing::Fixed(100)),
            ("lines", Framing::Lines),
            ("ndjson", Framing::Lines),
            ("resp-line", Framing::RespLine),
            ("close", Framing::Close),
            ("http", Framing::Http),
            ("raw", Framing::Raw),
            (
                "ascii:4,total,at=2,head=10,adjust=-4",
                Framing::Length(LengthHead {
                    size: Some(10),
                    at: 2,
                    number: Number::Ascii(4),
                    counts: Counts::Total,
                    adjust: -4,
                }),
            ),
            (
                "iso8583:2",
                Framing::Iso8583(Iso8583 {
                    length: Number::Binary(2),
                    bitmap: IsoBitmap::Binary,
                    coding: ASCII,
                }),
            ),
            (
                "iso8583:ascii:4,hex",
                Framing::Iso8583(Iso8583 { length: Number::Ascii(4), bitmap: IsoBitmap::Hex, coding: ASCII }),
            ),
        ] {
            assert_eq!(Framing::parse(text), Ok(framing), "{text}");
        }
        for (text, said) in [
            ("x", "no framing"),
            ("ascii:19", "no framing"),
            ("ascii:0", "no framing"),
            ("ascii", "no framing"),
            ("binary:3", "no framing"),
            ("fixed:0", "0 bytes"),
            ("delimiter:", "empty"),
            ("delimiter:\\q", "backslash"),
            ("delimiter:\\x1", "two hexadecimal"),
            ("ascii:4,head=3", "beyond the head"),
            ("ascii:4,head=70000", "65536"),
            ("ascii:4,most", "no framing"),
            ("iso8583:x", "no framing"),
        ] {
            assert!(Framing::parse(text).unwrap_err().contains(said), "{text}");
        }
    }
}
