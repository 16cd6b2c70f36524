//! Values in messages: looked for in the bytes as they lie there, without a tree and without allocating.

use memchr::{memchr, memmem};
use plan::message::{How, IsoBitmap, Part, Spot};
use regex::bytes::{CaptureLocations, Regex};
use std::cell::RefCell;
use wire::iso8583;
use wire::message::Message;

/// Finds one value in a message.
pub(crate) struct Finder {
    part: Part,
    by: By,
}

enum By {
    Fixed {
        at: usize,
        length: usize,
    },
    Xml {
        path: Vec<Vec<u8>>,
        anchored: bool,
    },
    Json(Vec<Vec<u8>>),
    Tag(Box<memmem::Finder<'static>>),
    Regex(Regex, RefCell<CaptureLocations>),
    Iso {
        field: u8,
        bitmap: iso8583::Bitmap,
    },
    Status,
    /// What a plan's check refuses.
    Nowhere,
}

impl Finder {
    /// Gets ready to look there.
    pub fn new(spot: &Spot) -> Finder {
        let by = match &spot.by {
            How::Fixed { at, length } => By::Fixed { at: *at as usize, length: *length as usize },
            How::Xml(path) => By::Xml {
                path: path.split('/').filter(|name| !name.is_empty()).map(|name| name.into()).collect(),
                anchored: path.starts_with('/'),
            },
            How::Json(path) => By::Json(path.split('/').skip(1).map(json_name).collect()),
            How::Tag(tag) => By::Tag(Box::new(memmem::Finder::new(&tag[..]).into_owned())),
            How::Regex(expression) => Regex::new(expression).map_or(By::Nowhere, |regex| {
                let locations = RefCell::new(regex.capture_locations());
                By::Regex(regex, locations)
            }),
            How::Status => By::Status,
            How::Iso { field, bitmap } => By::Iso {
                field: *field,
                bitmap: match bitmap {
                    IsoBitmap::Binary => iso8583::Bitmap::Binary,
                    IsoBitmap::Hex => iso8583::Bitmap::Hex,
                },
            },
        };
        Finder { part: spot.part, by }
    }

    /// The value; `None` where there is none.
    #[inline]
    pub fn find<'a>(&self, message: &Message<'a>) -> Option<&'a [u8]> {
        let text = match self.part {
            Part::Body => message.body(),
            Part::Head => message.head(),
            Part::Whole => message.bytes,
        };
        match &self.by {
            By::Fixed { at, length } => text.get(*at..at.checked_add(*length)?),
            By::Xml { path, anchored } => xml(text, path, *anchored),
            By::Json(path) => json(text, path),
            By::Tag(tag) => after_tag(text, tag.find(text)?, tag.needle()),
            By::Regex(regex, locations) => {
                let mut locations = locations.borrow_mut();
                regex.captures_read(&mut locations, text)?;
                let (begin, end) = locations.get(1).or(locations.get(0))?;
                text.get(begin..end)
            }
            By::Iso { field, bitmap } => iso8583::find(text, *bitmap, *field).ok()?,
            By::Status => message.status(),
            By::Nowhere => None,
        }
    }
}

/// A name of a JSON pointer (RFC 6901 section 4).
fn json_name(text: &str) -> Vec<u8> {
    text.replace("~1", "/").replace("~0", "~").into_bytes()
}

/// What follows a tag: of markup up to the next end of an element, otherwise a JSON value behind a colon.
fn after_tag<'a>(text: &'a [u8], at: usize, tag: &[u8]) -> Option<&'a [u8]> {
    let rest = text.get(at + tag.len()..)?;
    if tag.starts_with(b"<") {
        return memmem::find(rest, b"</").map(|end| &rest[..end]);
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b":").unwrap_or(rest).trim_ascii_start();
    let end = skip_value(rest)?;
    Some(unquoted(&rest[..end]))
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value)
}

/// The value at a path of a JSON document (RFC 8259).
fn json<'a>(text: &'a [u8], path: &[Vec<u8>]) -> Option<&'a [u8]> {
    let mut rest = text.trim_ascii_start();
    for name in path {
        rest = match rest.first()? {
            b'{' => member(&rest[1..], name)?,
            b'[' => element(&rest[1..], std::str::from_utf8(name).ok()?.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(unquoted(&rest[..skip_value(rest)?]))
}

/// What begins with the value of an object's member.
fn member<'a>(mut rest: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    loop {
        rest = rest.trim_ascii_start();
        if rest.first()? != &b'"' {
            return None;
        }
        let end = skip_value(rest)?;
        let (key, after) = (unquoted(&rest[..end]), rest[end..].trim_ascii_start());
        let value = after.strip_prefix(b":")?.trim_ascii_start();
        if key == name {
            return Some(value);
        }
        rest = value[skip_value(value)?..].trim_ascii_start().strip_prefix(b",")?;
    }
}

/// What begins with an array's element.
fn element(rest: &[u8], nth: usize) -> Option<&[u8]> {
    let mut rest = rest.trim_ascii_start();
    for _ in 0..nth {
        rest = rest[skip_value(rest)?..].trim_ascii_start().strip_prefix(b",")?.trim_ascii_start();
    }
    (rest.first()? != &b']').then_some(rest)
}

/// Where the value ends that the bytes begin with.
fn skip_value(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => skip_string(text),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0usize, 0);
            loop {
                match text.get(at)? {
                    b'"' => at += skip_string(&text[at..])? - 1,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':') || byte.is_ascii_whitespace();
            let end = text.iter().position(ends).unwrap_or(text.len());
            (end > 0).then_some(end)
        }
    }
}

fn skip_string(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Elements that may be open at once; deeper ones are not looked into.
const DEPTH: usize = 64;

/// The text of the first XML element at a path.
fn xml<'a>(text: &'a [u8], path: &[Vec<u8>], anchored: bool) -> Option<&'a [u8]> {
    let mut open: [&[u8]; DEPTH] = [b""; DEPTH];
    let (mut depth, mut rest) = (0usize, text);
    loop {
        let (tag, after) = next_tag(rest)?;
        rest = after;
        if tag.first() == Some(&b'/') {
            depth = depth.saturating_sub(1);
            continue;
        }
        let name_end = tag.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        let name = &tag[..name_end.unwrap_or(tag.len())];
        // Prefixes stand for namespaces and are the writer's choice.
        let name = memchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
        if depth < DEPTH {
            open[depth] = name;
        }
        depth += 1;
        let is_there = depth <= DEPTH
            && (depth == path.len() || !anchored && depth > path.len())
            && open[depth - path.len()..depth].iter().zip(path).all(|(name, wanted)| *name == &wanted[..]);
        if is_there {
            return if tag.ends_with(b"/") { Some(b"") } else { content(rest) };
        }
        if tag.ends_with(b"/") {
            depth -= 1;
        }
    }
}

/// The text of an element that has just begun.
fn content(text: &[u8]) -> Option<&[u8]> {
    if let Some(data) = text.trim_ascii_start().strip_prefix(b"<![CDATA[") {
        return memmem::find(data, b"]]>").map(|end| &data[..end]);
    }
    memchr(b'<', text).map(|end| &text[..end])
}

/// The next tag, without its brackets, and what follows it; comments, declarations and instructions are none.
fn next_tag(mut text: &[u8]) -> Option<(&[u8], &[u8])> {
    loop {
        text = &text[memchr(b'<', text)? + 1..];
        let skip = [(&b"!--"[..], &b"-->"[..]), (b"![CDATA[", b"]]>"), (b"?", b"?>"), (b"!", b">")];
        match skip.iter().find(|(begin, _)| text.starts_with(begin)) {
            Some((_, end)) => text = &text[memmem::find(text, end)? + end.len()..],
            None => break,
        }
    }
    let mut quote = 0;
    let end = text.iter().position(|byte| {
        match (quote, byte) {
            (0, b'"' | b'\'') => quote = *byte,
            (quoted, byte) if quoted == *byte => quote = 0,
            _ => {}
        }
        quote == 0 && *byte == b'>'
    })?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(spot: &str, body: &[u8]) -> Option<String> {
        let whole = [b"0042", body].concat();
        let message = Message { bytes: &whole, body: 4..whole.len() };
        let spot = Spot::parse(spot, IsoBitmap::Hex).unwrap();
        Finder::new(&spot).find(&message).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    #[test]
    fn values_are_found_where_they_stand() {
        let xml = "<?xml version=\"1.0\"?><!-- <a><b>no</b></a> --><s:a x='>'><c/><b>1</b><d><b>2</b></d>\
                   <e><![CDATA[<3>]]></e></s:a>";
        let json =
            r#" {"a": [1, {"b\"": "x", "c": -2.5e3}], "s": "q\"r", "t": true, "o": {"a": {}} , "a/b": 0} "#;
        for (spot, body, expected) in [
            ("fixed 1 6", "000000OK", Some("000000")),
            ("fixed 7 2", "000000OK", Some("OK")),
            ("fixed 8 2", "000000OK", None),
            ("head fixed 2 3", "x", Some("042")),
            ("whole fixed 4 2", "x", Some("2x")),
            ("xml /a/b", xml, Some("1")),
            ("xml /a/d/b", xml, Some("2")),
            ("xml d/b", xml, Some("2")),
            ("xml b", xml, Some("1")),
            ("xml /a/e", xml, Some("<3>")),
            ("xml /a/c", xml, Some("")),
            ("xml /b", xml, None),
            ("xml /a/b/c", xml, None),
            ("json /a/0", json, Some("1")),
            ("json /a/1/c", json, Some("-2.5e3")),
            ("json /a/2", json, None),
            ("json /s", json, Some("q\\\"r")),
            ("json /t", json, Some("true")),
            ("json /o", json, Some("{\"a\": {}}")),
            ("json /a~1b", json, Some("0")),
            ("json /t/x", json, None),
            ("json /none", json, None),
            ("tag <retCode>", "<x><retCode>00</retCode>", Some("00")),
            ("tag <retCode>", "<x><retCode>00", None),
            ("tag \"rspCd\"", r#"{"rspCd":0,"rspMsg":"ok"}"#, Some("0")),
            ("tag \"rspMsg\"", r#"{"rspCd":0,"rspMsg" : "ok"}"#, Some("ok")),
            ("tag \"none\"", r#"{"rspCd":0}"#, None),
            ("regex code=(\\d+)", "x code=17;", Some("17")),
            ("regex \\d+", "x code=17;", Some("17")),
            ("regex z", "x", None),
            ("iso 39", "0210202000000200000000000000012351", Some("51")),
            ("iso 0", "0210202000000200000000000000012351", Some("0210")),
            ("iso 4", "0210202000000200000000000000012351", None),
        ] {
            assert_eq!(found(spot, body.as_bytes()).as_deref(), expected, "{spot}");
        }
    }

    #[test]
    fn a_nul_byte_is_a_byte_like_any_other() {
        assert_eq!(found("fixed 1 3", b"a\0b").as_deref(), Some("a\0b"));
        assert_eq!(found("json /k", b"{\"x\":\"\0\",\"k\":\"v\"}").as_deref(), Some("v"));
        assert_eq!(found("xml /k", b"\0<k>v</k>").as_deref(), Some("v"));
    }

    proptest! {
        #[test]
        fn nothing_that_arrives_makes_it_panic(body in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(b"<>/![]{}\",:\\ax?-".to_vec())], 0..60))
        {
            for spot in ["fixed 3 9", "xml /a/x", "xml a", "json /a/0/x", "tag <a>", "tag \"a\"", "regex a(x)?", "iso 39"] {
                let _ = found(spot, &body);
            }
        }
    }
}
