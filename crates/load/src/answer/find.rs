//! Values in answers: looked for in the bytes as they lie there, without a tree and, but for escapes in JSON, without
//! allocating.

use super::query::Query;
use memchr::{memchr, memmem};
use plan::answer::{By, IsoBitmap, IsoCoding, IsoForm, Part, Selector, json_path, text_of};
use plan::pattern::{Backtracking, Pattern};
use regex::bytes::{CaptureLocations, Regex};
use serde_json_path::JsonPath;
use std::borrow::Cow;
use std::cell::RefCell;
use wire::iso8583;
use wire::message::Message;

/// An answer, or a message that was sent, as it is looked into.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AnswerView<'a> {
    /// The status of HTTP.
    pub status: Option<&'a [u8]>,
    /// The fields of HTTP, each on a line; of a TCP message its head.
    pub head: &'a [u8],
    pub body: &'a [u8],
    /// All of it, where it lies in one piece.
    pub whole: Option<&'a [u8]>,
}

impl<'a> AnswerView<'a> {
    /// Of a TCP message.
    #[inline]
    pub fn of(message: &Message<'a>) -> AnswerView<'a> {
        AnswerView {
            status: message.status(),
            head: message.head(),
            body: message.body(),
            whole: Some(message.bytes),
        }
    }
}

/// Finds one value in an answer.
pub(crate) struct Finder {
    part: Part,
    how: How,
}

enum How {
    Fixed {
        at: usize,
        length: usize,
        text: bool,
    },
    Xml {
        path: Vec<Vec<u8>>,
        anchored: bool,
    },
    Json(Vec<Vec<u8>>),
    Tag(Box<memmem::Finder<'static>>),
    Between(Box<memmem::Finder<'static>>, Box<memmem::Finder<'static>>),
    Regex(Box<Regex>, RefCell<CaptureLocations>),
    Backtracking(Box<Backtracking>),
    Iso {
        field: u8,
        form: iso8583::Iso8583Form,
    },
    JsonPath(Box<JsonPath>),
    JmesPath(Box<jmespath::Expression<'static>>),
    Query(Box<Query>),
    Size,
    Status,
    Header(Vec<u8>),
    All,
    /// A finder that finds nothing: the plan's check refuses it.
    Nowhere,
}

fn needle(text: &[u8]) -> Box<memmem::Finder<'static>> {
    Box::new(memmem::Finder::new(text).into_owned())
}

impl Finder {
    /// Gets ready to look there.
    pub fn new(at: &Selector) -> Finder {
        let how = match &at.by {
            By::Fixed { at, length, text } => {
                How::Fixed { at: *at as usize, length: *length as usize, text: *text }
            }
            By::Xml(path) => How::Xml {
                path: path.split('/').filter(|name| !name.is_empty()).map(|name| name.into()).collect(),
                anchored: path.starts_with('/'),
            },
            By::Json(path) => json_path(path)
                .map_or(How::Nowhere, |steps| How::Json(steps.into_iter().map(String::into_bytes).collect())),
            By::Tag(tag) => How::Tag(needle(tag)),
            By::Between { before, after } => How::Between(needle(before), needle(after)),
            By::Regex(expression) => match Pattern::new(expression) {
                Ok(Pattern::Linear(regex)) => {
                    let locations = RefCell::new(regex.capture_locations());
                    How::Regex(regex, locations)
                }
                Ok(Pattern::Backtracking(regex)) => How::Backtracking(regex),
                Err(_) => How::Nowhere,
            },
            By::Css { .. } | By::XPath { .. } => {
                Query::new(&at.by).map_or(How::Nowhere, |query| How::Query(Box::new(query)))
            }
            // What is looked for elsewhere.
            By::Kept { .. } | By::Reason | By::Milliseconds => How::Nowhere,
            By::Size => How::Size,
            By::JsonPath(path) => {
                JsonPath::parse(path).map_or(How::Nowhere, |path| How::JsonPath(Box::new(path)))
            }
            By::JmesPath(expression) => jmespath::compile(expression)
                .map_or(How::Nowhere, |expression| How::JmesPath(Box::new(expression))),
            By::Status => How::Status,
            By::Header(name) => How::Header(name.clone().into_bytes()),
            By::All => How::All,
            By::Iso { field, bitmap, coding } => {
                How::Iso { field: *field, form: iso_form(IsoForm { bitmap: *bitmap, coding: *coding }) }
            }
        };
        Finder { part: at.part, how }
    }

    /// True if it looks at the body.
    pub fn reads_body(&self) -> bool {
        self.part != Part::Head && !matches!(self.how, How::Status | How::Header(_))
    }

    /// The value; `None` where there is none.
    #[inline]
    pub fn find<'a>(&self, view: &AnswerView<'a>) -> Option<Cow<'a, [u8]>> {
        match self.part {
            _ if matches!(self.how, How::Status) => view.status.map(Cow::Borrowed),
            _ if matches!(self.how, How::Header(_)) => self.find_in(view.head),
            Part::Body => self.find_in(view.body),
            Part::Url | Part::RequestHead | Part::RequestBody | Part::AnswerHead => None,
            Part::Head => self.find_in(view.head),
            Part::Whole => match view.whole {
                Some(whole) => self.find_in(whole),
                None if matches!(self.how, How::Size) => {
                    let size = view.head.len() + view.body.len();
                    Some(Cow::Owned(size.to_string().into_bytes()))
                }
                None => self.find_in(view.head).or_else(|| self.find_in(view.body)),
            },
        }
    }

    fn find_in<'a>(&self, text: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let found = match &self.how {
            How::Fixed { at, length, text: false } => text.get(*at..at.checked_add(*length)?),
            How::Fixed { at, length, text: true } => {
                let rest = text.get(*at..)?;
                let rest = &rest[..rest.len().min(*length)];
                let end = memchr(0, rest).unwrap_or(rest.len());
                (end > 0).then_some(&rest[..end])
            }
            How::Xml { path, anchored } => xml(text, path, *anchored),
            How::Json(path) => return json(text, path).map(unescaped),
            How::Tag(tag) => after_tag(text, tag.find(text)?, tag.needle()),
            How::Between(before, after) => {
                let rest = &text[before.find(text)? + before.needle().len()..];
                after.find(rest).map(|end| &rest[..end])
            }
            How::Regex(regex, locations) => {
                let mut locations = locations.borrow_mut();
                regex.captures_read(&mut locations, text)?;
                let (begin, end) = locations.get(1).or(locations.get(0))?;
                text.get(begin..end)
            }
            How::Backtracking(regex) => {
                // A search that has used up its budget has found nothing.
                let found = regex.of(text).captures(text).ok().flatten()?;
                let group = found.get(1).or(found.get(0))?;
                text.get(group.start()..group.end())
            }
            How::Iso { field, form } => return iso8583::find(text, *form, *field).ok()?,
            How::Header(name) => header(text, name),
            How::All => Some(text),
            How::Size => return Some(Cow::Owned(text.len().to_string().into_bytes())),
            How::JsonPath(path) => return json_path_values(text, path, 1).pop(),
            How::JmesPath(expression) => {
                return jmespath_value(text, expression)
                    .map(|value| Cow::Owned(text_of(&value).into_bytes()));
            }
            How::Query(query) => {
                return query.values(text, 1).pop().map(|value| Cow::Owned(value.into_bytes()));
            }
            How::Status | How::Nowhere => None,
        };
        found.map(Cow::Borrowed)
    }
}

/// One of several values, and the groups of the regular expression that has found it.
pub(crate) struct Found<'a> {
    pub whole: Cow<'a, [u8]>,
    pub groups: Vec<Option<Cow<'a, [u8]>>>,
}

impl Finder {
    /// All values, in order, at most so many.
    pub fn each<'a>(&self, view: &AnswerView<'a>, most: usize) -> Vec<Found<'a>> {
        let alone = |whole| Found { whole, groups: Vec::new() };
        let text = match self.part {
            Part::Head => view.head,
            Part::Whole => view.whole.unwrap_or(view.body),
            Part::Body | Part::AnswerHead | Part::Url | Part::RequestHead | Part::RequestBody => view.body,
        };
        match &self.how {
            How::Regex(regex, _) => {
                let found = regex.captures_iter(text).take(most).map(|captures| Found {
                    whole: Cow::Borrowed(captures.get(0).map_or(&[][..], |all| all.as_bytes())),
                    groups: captures
                        .iter()
                        .skip(1)
                        .map(|group| Some(Cow::Borrowed(group?.as_bytes())))
                        .collect(),
                });
                found.collect()
            }
            How::Backtracking(regex) => {
                let all = regex.of(text).captures_iter(text).map_while(Result::ok).take(most);
                let group = |captures: &fancy_regex::Captures<'_, [u8]>, nth| {
                    let group = captures.get(nth)?;
                    Some(Cow::Borrowed(&text[group.start()..group.end()]))
                };
                let found = all.map(|captures| Found {
                    whole: group(&captures, 0).unwrap_or(Cow::Borrowed(&[])),
                    groups: (1..captures.len()).map(|nth| group(&captures, nth)).collect(),
                });
                found.collect()
            }
            How::Between(before, after) => {
                let mut all = Vec::new();
                let mut rest = text;
                while let Some(begin) = before.find(rest).filter(|_| all.len() < most) {
                    let inside = &rest[begin + before.needle().len()..];
                    let Some(end) = after.find(inside) else { break };
                    all.push(alone(Cow::Borrowed(&inside[..end])));
                    rest = &inside[end + after.needle().len()..];
                }
                all
            }
            How::JsonPath(path) => json_path_values(text, path, most).into_iter().map(alone).collect(),
            How::JmesPath(expression) => {
                let found = jmespath_value(text, expression);
                let one = found.as_slice();
                let values = found.as_ref().and_then(|value| value.as_array()).map_or(one, Vec::as_slice);
                values.iter().take(most).map(|value| alone(Cow::Owned(text_of(value).into_bytes()))).collect()
            }
            How::Query(query) => {
                let values = query.values(text, most).into_iter();
                values.map(|value| alone(Cow::Owned(value.into_bytes()))).collect()
            }
            How::Fixed { .. }
            | How::Xml { .. }
            | How::Json(_)
            | How::Tag(_)
            | How::Iso { .. }
            | How::Size
            | How::Status
            | How::Header(_)
            | How::All
            | How::Nowhere => self.find(view).map(alone).into_iter().collect(),
        }
    }
}

/// Returns the values that a JSONPath finds: strings without quotes and escapes, other values as JSON.
fn json_path_values<'a>(text: &[u8], path: &JsonPath, most: usize) -> Vec<Cow<'a, [u8]>> {
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(text) else { return Vec::new() };
    let values = path.query(&document).all().into_iter().take(most).map(|value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Cow::Owned(text.into_bytes())
    });
    values.collect()
}

/// Returns the value that a JMESPath expression finds; neither null nor what a function cannot take is a value.
fn jmespath_value(text: &[u8], expression: &jmespath::Expression<'_>) -> Option<jmespath::Rcvar> {
    let document = serde_json::from_slice::<jmespath::Variable>(text).ok()?;
    expression.search(document).ok().filter(|value| !value.is_null())
}

/// A plan's form of ISO 8583 as the codec has it.
fn iso_form(form: IsoForm) -> iso8583::Iso8583Form {
    iso8583::Iso8583Form {
        bitmap: match form.bitmap {
            IsoBitmap::Binary => iso8583::Bitmap::Binary,
            IsoBitmap::Hex => iso8583::Bitmap::Hex,
        },
        coding: match form.coding {
            IsoCoding::Ascii => iso8583::Coding::Ascii,
            IsoCoding::Bcd => iso8583::Coding::Bcd,
            IsoCoding::Ebcdic => iso8583::Coding::Ebcdic,
        },
    }
}

/// The value of the first field of this name, in lines of fields (RFC 9112 section 5).
fn header<'a>(lines: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    lines.split(|byte| *byte == b'\n').find_map(|line| {
        let given = line.get(..name.len())?;
        let value = line.get(name.len() + 1..)?;
        let matches = given.eq_ignore_ascii_case(name) && line[name.len()] == b':';
        matches.then(|| value.trim_ascii())
    })
}

/// The value behind a tag: of markup up to the next end of an element, otherwise a JSON value behind a colon.
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

/// The value of a JSON string with its quotes left out, and of anything else, as it is written (RFC 8259 section 7).
fn unescaped(value: &[u8]) -> Cow<'_, [u8]> {
    let plain = unquoted(value);
    if plain.len() == value.len() || memchr(b'\\', plain).is_none() {
        return Cow::Borrowed(plain);
    }
    // What is no good string stays as it is.
    serde_json::from_slice::<String>(value).map_or(Cow::Borrowed(plain), |text| Cow::Owned(text.into_bytes()))
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
    Some(&rest[..skip_value(rest)?])
}

/// The rest of a text from the value of an object's member on.
fn member<'a>(mut rest: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    loop {
        rest = rest.trim_ascii_start();
        if rest.first()? != &b'"' {
            return None;
        }
        let end = skip_value(rest)?;
        let key = unquoted(&rest[..end]);
        let after = rest[end..].trim_ascii_start();
        let value = after.strip_prefix(b":")?.trim_ascii_start();
        if key == name {
            return Some(value);
        }
        rest = value[skip_value(value)?..].trim_ascii_start().strip_prefix(b",")?;
    }
}

/// The rest of a text from an array's element on.
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
            let mut depth = 0usize;
            let mut at = 0;
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
    let mut depth = 0usize;
    let mut rest = text;
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
        let form = IsoForm { bitmap: IsoBitmap::Hex, coding: IsoCoding::Ascii };
        let at = Selector::parse(spot, form).unwrap();
        Finder::new(&at)
            .find(&AnswerView::of(&message))
            .map(|value| String::from_utf8_lossy(&value).into_owned())
    }

    /// A check sees what an expression finds, an extract the elements of a list; null, failures and what is no JSON are nothing.
    #[test]
    fn jmespath_finds_values_and_elements() {
        let body = br#"{"items": [{"id": 1, "n": "a\"b"}, {"id": 2, "n": "c"}], "none": null, "open": true}"#;
        for (expression, whole, each) in [
            ("items[0].n", Some("a\"b"), vec!["a\"b"]),
            ("items[*].n", Some(r#"["a\"b","c"]"#), vec!["a\"b", "c"]),
            ("items[1]", Some(r#"{"id":2,"n":"c"}"#), vec![r#"{"id":2,"n":"c"}"#]),
            ("items[?id > `5`]", Some("[]"), vec![]),
            ("sum(items[].id)", Some("3.0"), vec!["3.0"]),
            ("none", None, vec![]),
            ("length(open)", None, vec![]),
        ] {
            let finder = Finder::new(&Selector::body(By::JmesPath(expression.to_owned())));
            let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
            let view = AnswerView { body, ..AnswerView::default() };
            assert_eq!(finder.find(&view).map(|value| text(&value)).as_deref(), whole, "{expression}");
            let found: Vec<String> = finder.each(&view, 9).iter().map(|one| text(&one.whole)).collect();
            assert_eq!(found, each, "{expression}");
            let most: Vec<String> = finder.each(&view, 1).iter().map(|one| text(&one.whole)).collect();
            assert_eq!(most, each[..each.len().min(1)], "{expression}");
            assert!(finder.find(&AnswerView { body: b"no json", ..AnswerView::default() }).is_none());
        }
        assert!(By::JmesPath("items[".to_owned()).violation().unwrap().contains("is no JMESPath"));
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
            ("json /s", json, Some("q\"r")),
            ("json a[1].c", json, Some("-2.5e3")),
            ("json $.s", json, Some("q\"r")),
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
            ("between code= ;", "x code=17;", Some("17")),
            ("between [ ]", "x[]y]", Some("")),
            ("between [ ]", "x[1", None),
            ("all", "x", Some("x")),
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
    fn texts_of_a_fixed_length_may_be_shorter() {
        let find = |body: &[u8]| {
            let by = By::Fixed { at: 0, length: 6, text: true };
            let view = AnswerView { body, ..AnswerView::default() };
            Finder::new(&Selector::body(by)).find(&view).map(Cow::into_owned)
        };
        for (body, wanted) in [(&b"000000OK"[..], &b"000000"[..]), (b"00", b"00"), (b"00\0\0\0\0\0", b"00")] {
            assert_eq!(find(body).as_deref(), Some(wanted));
        }
        assert_eq!([find(b""), find(b"\0a")], [None, None]);
    }

    #[test]
    fn header_fields_are_found_by_their_names() {
        let head = b"X-A: 1\r\nx-b:  two \r\nX-A: 3\r\n";
        let find = |name: &str| {
            let view = AnswerView { head, status: Some(b"200"), ..AnswerView::default() };
            let at = Selector::parse(name, IsoForm::default()).unwrap();
            Finder::new(&at).find(&view).map(|value| String::from_utf8_lossy(&value).into_owned())
        };
        for (at, wanted) in [
            ("header x-a", Some("1")),
            ("header X-B", Some("two")),
            ("header X", None),
            ("status", Some("200")),
        ] {
            assert_eq!(find(at).as_deref(), wanted, "{at}");
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
            for spot in ["fixed 3 9", "xml /a/x", "xml a", "json /a/0/x", "tag <a>", "tag \"a\"", "regex a(x)?", "iso 39", "between a x"] {
                let _ = found(spot, &body);
            }
        }
    }
}
