//! Where a value stands in a message.

use super::framing::{IsoBitmap, unescape};
use crate::body::Body;
use serde::{Deserialize, Serialize};

/// Where a value stands in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    /// The part of the message that is looked at.
    #[serde(default)]
    pub part: Part,
    /// How it is found there.
    pub by: How,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What stands behind the head and before a delimiter.
    #[default]
    Body,
    /// The head that holds the length.
    Head,
    /// All of it.
    Whole,
}

/// How a value is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum How {
    /// At a fixed place.
    Fixed {
        /// Where it begins, from 0.
        at: u32,
        /// How many bytes it has.
        length: u32,
    },
    /// The text of an XML element, by the names on the way to it: `/Document/Body/Code`. Prefixes of names do not count;
    /// a path that does not begin with `/` may begin anywhere.
    Xml(String),
    /// A member of a JSON document (RFC 6901): `/result/0/code`. Strings without their quotes, other values as they are
    /// written.
    Json(String),
    /// What follows a text: of `<code>` up to the next `</`, of `"code"` the JSON value behind the next colon. It is found
    /// wherever it stands, however the rest looks.
    Tag(Body),
    /// What a regular expression finds: its first group or, where there is none, all of it. Bytes, not characters.
    Regex(String),
    /// A field of ISO 8583, 2 to 128; 0 is the message type.
    Iso {
        /// Its number.
        field: u8,
        /// How bitmaps are written.
        #[serde(default)]
        bitmap: IsoBitmap,
    },
    /// The status of an HTTP answer.
    Status,
}

const WANTED: &str = "give fixed FIRST LENGTH (counted from 1), json /PATH, xml /PATH, tag TEXT, regex EXPRESSION, iso FIELD or status, \
                      with head or whole before it for another part than the body";

impl Spot {
    /// Of the body.
    pub fn body(by: How) -> Spot {
        Spot { part: Part::Body, by }
    }

    /// Reads a spot as it is typed; see docs/src/tcp.md. `bitmap`: how the framing at hand writes ISO 8583's bitmaps.
    ///
    /// # Errors
    /// What would do, in words.
    pub fn parse(text: &str, bitmap: IsoBitmap) -> Result<Spot, String> {
        let wrong = || format!("'{text}' is no place in a message: {WANTED}");
        let (part, rest) = match text.trim().split_once(' ') {
            Some(("head", rest)) => (Part::Head, rest.trim_start()),
            Some(("whole", rest)) => (Part::Whole, rest.trim_start()),
            Some(("body", rest)) => (Part::Body, rest.trim_start()),
            _ => (Part::Body, text.trim()),
        };
        if rest == "status" {
            return Ok(Spot { part: Part::Body, by: How::Status });
        }
        let (kind, value) = rest.split_once(' ').ok_or_else(wrong)?;
        let value = value.trim_start();
        let by = match kind {
            "fixed" => fixed(value).ok_or_else(wrong)?,
            "json" => How::Json(value.to_owned()),
            "xml" => How::Xml(value.to_owned()),
            "tag" => How::Tag(unescape(value)?.into()),
            "regex" => How::Regex(value.to_owned()),
            "iso" => How::Iso { field: value.parse().map_err(|_| wrong())?, bitmap },
            _ => return Err(wrong()),
        };
        by.violation().map_or(Ok(Spot { part, by }), |why| Err(format!("'{text}': {why}")))
    }
}

fn fixed(text: &str) -> Option<How> {
    let (first, length) = text.split_once(' ')?;
    let first: u32 = first.parse().ok()?;
    Some(How::Fixed { at: first.checked_sub(1)?, length: length.trim().parse().ok()? })
}

impl How {
    /// What no place can be, in words; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        match self {
            How::Fixed { length: 0, .. } => Some("a value of 0 bytes".to_owned()),
            How::Xml(path) if path.split('/').skip(1).any(str::is_empty) || path.is_empty() => {
                Some("an XML path has names between slashes, such as /Document/Code".to_owned())
            }
            How::Json(path) if !path.is_empty() && !path.starts_with('/') => {
                Some("a JSON path begins with /, such as /result/code".to_owned())
            }
            How::Tag(tag) if tag.is_empty() => Some("the tag is empty".to_owned()),
            How::Regex(expression) => regex::bytes::Regex::new(expression)
                .err()
                .map(|error| format!("no regular expression: {}", error.to_string().replace('\n', " "))),
            How::Iso { field, .. } if *field == 1 || *field > 128 => {
                Some("ISO 8583 has fields 2 to 128; 0 is the message type".to_owned())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_as_they_are_typed() {
        for (text, part, by) in [
            ("fixed 1 6", Part::Body, How::Fixed { at: 0, length: 6 }),
            ("head fixed 9 2", Part::Head, How::Fixed { at: 8, length: 2 }),
            ("json /rspCd", Part::Body, How::Json("/rspCd".to_owned())),
            ("xml /a/b", Part::Body, How::Xml("/a/b".to_owned())),
            ("whole tag <a b>", Part::Whole, How::Tag("<a b>".into())),
            ("regex ^(..) x", Part::Body, How::Regex("^(..) x".to_owned())),
            ("status", Part::Body, How::Status),
            ("iso 39", Part::Body, How::Iso { field: 39, bitmap: IsoBitmap::Hex }),
        ] {
            assert_eq!(Spot::parse(text, IsoBitmap::Hex), Ok(Spot { part, by }), "{text}");
        }
        for (text, said) in [
            ("fixed 0 6", "counted from 1"),
            ("fixed 1 0", "0 bytes"),
            ("fixed 1", "no place"),
            ("json", "no place"),
            ("json a", "begins with /"),
            ("xml a//b", "names between"),
            ("regex (", "no regular expression"),
            ("status 5", "no place"),
            ("iso 1", "2 to 128"),
            ("code 5", "no place"),
        ] {
            assert!(Spot::parse(text, IsoBitmap::Binary).unwrap_err().contains(said), "{text}");
        }
    }
}
