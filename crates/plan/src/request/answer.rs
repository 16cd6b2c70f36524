//! Checks that answers must pass, and values taken from them: HTTP's answers and those of TCP messages alike.
//!
//! A [`Selector`] says where in an answer to look; a [`Check`] what must stand there, an [`Extract`] that it is kept under a
//! name. Start reading at [`Selector`].

use crate::data::body::Body;
use crate::data::unescape;
use serde::{Deserialize, Serialize};

/// A condition that the value at a place of an answer must meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Where to look.
    pub at: Selector,
    /// The condition that the value there must meet.
    #[serde(alias = "is")]
    pub must: Must,
    /// Its name, in records of single requests.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Said in records of single requests where it does not hold, with `{{found}}` for what stood there, and `{{difference}}` for where that differs from the text that it must equal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
}

/// A condition that a value must meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Must {
    /// There at all.
    Exist,
    /// Not there.
    BeAbsent,
    /// Just this.
    Equal(Body),
    /// Such that this regular expression is found in it.
    Match(String),
    /// Such that it holds this text.
    Contain(Body),
    /// One of these.
    #[serde(alias = "success")]
    BeOneOf(Vec<Body>),
    /// None of these, or not there.
    #[serde(alias = "failure")]
    BeNoneOf(Vec<Body>),
    /// Anything, or not there: it is only counted, where values of this place are.
    #[serde(alias = "any")]
    BeAnything,
    /// As long as this.
    HaveLength {
        /// Bytes at least.
        min: u64,
        /// Bytes at most.
        max: u64,
    },
    /// Such that its SHA-256 digest is this, in hexadecimal.
    HaveSha256(String),
    /// Such that this regular expression fits all of it.
    MatchWhole(String),
    /// A whole number that is no less.
    BeAtLeast(u64),
    /// A whole number that is no more.
    BeAtMost(u64),
    /// Anything but this.
    Not(Box<Must>),
    /// All of these; looked at in order, up to the first that it is not.
    AllOf(Vec<Must>),
    /// At least one of these.
    AnyOf(Vec<Must>),
}

impl Must {
    /// Why nothing can be so; `None` where something can.
    pub fn violation(&self) -> Option<String> {
        match self {
            Must::Match(pattern) | Must::MatchWhole(pattern) => pattern_violation(pattern),
            Must::Not(must) => must.violation(),
            Must::AllOf(all) | Must::AnyOf(all) if all.is_empty() => {
                Some("the list of what must be is empty: give at least one".to_owned())
            }
            Must::AllOf(all) | Must::AnyOf(all) => all.iter().find_map(Must::violation),
            Must::HaveLength { min, max } if min > max => {
                Some(format!("a length from {min} to {max}: give the lesser one first"))
            }
            Must::HaveSha256(digest) => {
                let good = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
                (!good).then(|| format!("'{digest}' is no SHA-256 digest: give 64 hexadecimal digits"))
            }
            Must::BeOneOf(values) | Must::BeNoneOf(values) if values.is_empty() => {
                Some("the set of values is empty: give at least one".to_owned())
            }
            Must::Exist
            | Must::BeAbsent
            | Must::Equal(_)
            | Must::Contain(_)
            | Must::BeOneOf(_)
            | Must::BeNoneOf(_)
            | Must::BeAnything
            | Must::HaveLength { .. }
            | Must::BeAtLeast(_)
            | Must::BeAtMost(_) => None,
        }
    }
}

impl Check {
    /// Without a name.
    pub fn of(at: Selector, must: Must) -> Check {
        Check { at, must, name: String::new(), says: String::new() }
    }

    /// Why it cannot be made; `None` where it can.
    pub fn violation(&self) -> Option<String> {
        self.at.by.violation().or_else(|| self.must.violation())
    }
}

/// A value that is taken from an answer and kept under a name; an answer without it has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// As it stands between the braces of what is sent later.
    pub name: String,
    /// Where it stands.
    pub at: Selector,
    /// Taken where an answer has no such value, which is no failure then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Body>,
    /// An answer without it has not failed, and the name keeps what it had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Which one, where there are several.
    #[serde(default, skip_serializing_if = "Which::is_first")]
    pub which: Which,
    /// Template of the value kept, from a regular expression's groups: `$1$-$2$`, with `$0$` for all of it; empty: the first
    /// group or, where there is none, all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub template: String,
    /// A regular expression's groups are kept as well: `NAME_g0` for all of it, `NAME_g1`…, and their number as `NAME_g`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub groups: bool,
}

impl Extract {
    /// The first, as it stands; an answer without it has failed unless `otherwise` says what is taken then.
    pub fn of(name: &str, at: Selector, otherwise: Option<Body>) -> Extract {
        Extract {
            name: name.to_owned(),
            at,
            otherwise,
            optional: false,
            which: Which::First,
            template: String::new(),
            groups: false,
        }
    }
}

/// Which of several values is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The first.
    #[default]
    First,
    /// The one with this number, from 1.
    Nth(u32),
    /// One at random.
    Random,
    /// All of them: `NAME_1`, `NAME_2`…, and their number as `NAME_matchNr`.
    Every,
}

impl Which {
    fn is_first(&self) -> bool {
        *self == Which::First
    }
}

fn pattern_violation(pattern: &str) -> Option<String> {
    // What it is with the values that it holds is not known yet.
    if crate::data::template::is_template(pattern.as_bytes()) {
        return None;
    }
    let why = crate::pattern::Pattern::new(pattern).err()?;
    Some(format!("'{pattern}' is no regular expression: {why}"))
}

/// How ISO 8583's bitmaps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IsoBitmap {
    /// 8 bytes.
    #[default]
    Binary,
    /// 16 hexadecimal digits.
    Hex,
}

/// How the fields of ISO 8583 are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IsoCoding {
    /// Characters of ASCII.
    #[default]
    Ascii,
    /// Two digits per byte where a field is numeric, lengths likewise; other characters are ASCII.
    Bcd,
    /// Characters of EBCDIC (code page 037).
    Ebcdic,
}

impl IsoCoding {
    /// For serde.
    pub(crate) fn is_usual(&self) -> bool {
        *self == IsoCoding::Ascii
    }
}

/// How ISO 8583 is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IsoForm {
    /// How bitmaps are written.
    pub bitmap: IsoBitmap,
    /// How fields are written.
    pub coding: IsoCoding,
}

impl IsoForm {
    /// Reads `hex`, `binary`, `ascii`, `bcd` and `ebcdic`, divided by commas.
    pub fn parse(text: &str) -> Option<IsoForm> {
        let mut form = IsoForm::default();
        for word in text.split(',') {
            match word.trim() {
                "hex" => form.bitmap = IsoBitmap::Hex,
                "binary" => form.bitmap = IsoBitmap::Binary,
                "ascii" => form.coding = IsoCoding::Ascii,
                "bcd" => form.coding = IsoCoding::Bcd,
                "ebcdic" => form.coding = IsoCoding::Ebcdic,
                _ => return None,
            }
        }
        Some(form)
    }
}

/// A place in an answer, or in a TCP message that is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// The part of the message that is looked at.
    #[serde(default)]
    pub part: Part,
    /// How it is found there.
    pub by: By,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The content of HTTP; of a TCP message what stands behind the head and before a delimiter.
    #[default]
    Body,
    /// The fields of HTTP, each on a line; of a TCP message the head that holds the length.
    Head,
    /// The status line of an HTTP answer and its fields, each on a line that ends in a line feed alone. In journeys.
    AnswerHead,
    /// All of it.
    Whole,
    /// The URL that was asked for, after redirections the last one.
    Url,
    /// The line and the fields of the request.
    RequestHead,
    /// The body of the request.
    RequestBody,
}

/// The part of a node that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// All text in it.
    #[default]
    Text,
    /// The text of its first child; nothing where that is an element.
    FirstText,
    /// The node as XML.
    Markup,
}

impl Take {
    fn is_text(&self) -> bool {
        *self == Take::Text
    }
}

/// How a value is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum By {
    /// At a fixed place.
    Fixed {
        /// Where it begins, from 0.
        at: u32,
        /// How many bytes it has.
        length: u32,
        /// It ends with the message or at a NUL where one comes before its last byte.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        text: bool,
    },
    /// The text of an XML element, by the names on the way to it: `/Document/Body/Code`. Prefixes of names do not count;
    /// a path that does not begin with `/` may begin anywhere.
    Xml(String),
    /// A member of a JSON document, `result[0].code` or, as of RFC 6901, `/result/0/code`; empty: all of it. Strings without
    /// their quotes and escapes, other values as they are written.
    Json(String),
    /// The value that follows a text: of `<code>` up to the next `</`, of `"code"` the JSON value behind the next colon. It is
    /// found wherever it stands, however the rest looks.
    Tag(Body),
    /// The bytes between two texts.
    Between {
        /// The text before it, the first that has the other one behind it.
        before: Body,
        /// The first text behind it.
        after: Body,
    },
    /// The match of a regular expression: its first group or, where there is none, all of it. Bytes, not characters.
    Regex(String),
    /// A field of ISO 8583, 2 to 128; 0 is the message type.
    Iso {
        /// Its number.
        field: u8,
        /// How bitmaps are written.
        #[serde(default)]
        bitmap: IsoBitmap,
        /// How fields are written.
        #[serde(default, skip_serializing_if = "IsoCoding::is_usual")]
        coding: IsoCoding,
    },
    /// Values that a JSONPath selects (RFC 9535), such as `$.items[?@.price < 10].id`. Strings without their quotes and
    /// escapes, other values as JSON.
    JsonPath(String),
    /// The result of a JMESPath expression, such as `items[?kind == 'a'].id`; null is nothing. A check looks at all of a list, an
    /// extract takes its elements. Strings without their quotes and escapes, other values as JSON.
    #[serde(rename = "jmespath")]
    JmesPath(String),
    /// The text of elements that a CSS selector finds, or an attribute of theirs.
    Css {
        /// Such as `form input[name=token]`.
        selector: String,
        /// Its value is taken; `None`: the text in the element.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attribute: Option<String>,
    },
    /// The result of an XPath 1.0 expression. Names are compared as they are written, prefix included.
    #[serde(rename = "xpath")]
    XPath {
        /// Such as `//item[@id="7"]/name`.
        path: String,
        /// The text is HTML, which is mended; otherwise what is no XML holds nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        html: bool,
        /// The part that is taken of a node that is no attribute.
        #[serde(default, skip_serializing_if = "Take::is_text")]
        take: Take,
    },
    /// Found in a value that the user keeps, instead of in the answer.
    Kept {
        /// Its name.
        name: String,
        /// Where in it.
        by: Box<By>,
    },
    /// The words behind the status (RFC 9112 section 4).
    Reason,
    /// Milliseconds from the send to the end of the answer.
    Milliseconds,
    /// Bytes of the part.
    Size,
    /// The status of an HTTP answer.
    Status,
    /// A field of HTTP by its name: the first whose value will do, in either case.
    Header(String),
    /// All of it.
    All,
}

const WANTED: &str = "give fixed FIRST LENGTH (counted from 1), json PATH, xml /PATH, tag TEXT, between BEFORE AFTER, regex EXPRESSION, iso \
                      FIELD, header NAME, status or all, with head or whole before it for another part than the body";

impl Selector {
    /// Of the body.
    pub fn body(by: By) -> Selector {
        Selector { part: Part::Body, by }
    }

    /// Reads a spot as it is typed; see docs/src/tcp.md. `form`: how the framing at hand writes ISO 8583.
    ///
    /// # Errors
    /// The accepted forms, in words.
    pub fn parse(text: &str, form: IsoForm) -> Result<Selector, String> {
        let wrong = || format!("'{text}' is no place in a message: {WANTED}");
        let (part, rest) = match text.trim().split_once(' ') {
            Some(("head", rest)) => (Part::Head, rest.trim_start()),
            Some(("whole", rest)) => (Part::Whole, rest.trim_start()),
            Some(("body", rest)) => (Part::Body, rest.trim_start()),
            _ => (Part::Body, text.trim()),
        };
        match rest {
            "status" => return Ok(Selector { part: Part::Body, by: By::Status }),
            "all" => return Ok(Selector { part, by: By::All }),
            _ => {}
        }
        let (kind, value) = rest.split_once(' ').ok_or_else(wrong)?;
        let value = value.trim_start();
        let by = match kind {
            "fixed" => fixed(value).ok_or_else(wrong)?,
            "json" => By::Json(value.to_owned()),
            "xml" => By::Xml(value.to_owned()),
            "tag" => By::Tag(unescape(value)?.into()),
            "between" => {
                let (before, after) = value.split_once(' ').ok_or_else(wrong)?;
                By::Between { before: unescape(before)?.into(), after: unescape(after.trim_start())?.into() }
            }
            "header" => By::Header(value.to_owned()),
            "regex" => By::Regex(value.to_owned()),
            "iso" => {
                let IsoForm { bitmap, coding } = form;
                By::Iso { field: value.parse().map_err(|_| wrong())?, bitmap, coding }
            }
            _ => return Err(wrong()),
        };
        by.violation().map_or(Ok(Selector { part, by }), |why| Err(format!("'{text}': {why}")))
    }
}

fn fixed(text: &str) -> Option<By> {
    let (first, length) = text.split_once(' ')?;
    let first: u32 = first.parse().ok()?;
    Some(By::Fixed { at: first.checked_sub(1)?, length: length.trim().parse().ok()?, text: false })
}

impl By {
    /// Why it is no place; `None` where nothing is wrong.
    pub fn violation(&self) -> Option<String> {
        match self {
            By::Fixed { length: 0, .. } => Some("a value of 0 bytes".to_owned()),
            By::Xml(path) if path.split('/').skip(1).any(str::is_empty) || path.is_empty() => {
                Some("an XML path has names between slashes, such as /Document/Code".to_owned())
            }
            By::Json(path) => json_path(path).err(),
            By::Tag(tag) if tag.is_empty() => Some("the tag is empty".to_owned()),
            By::Between { before, after } if before.is_empty() || after.is_empty() => {
                Some("the text before or behind it is empty".to_owned())
            }
            By::Header(name)
                if name.is_empty() || name.bytes().any(|byte| !byte.is_ascii_graphic() || byte == b':') =>
            {
                Some(format!("'{name}' is no name of a header field"))
            }
            By::Regex(expression) => pattern_violation(expression),
            By::JsonPath(path) => serde_json_path::JsonPath::parse(path)
                .err()
                .map(|why| format!("'{path}' is no JSONPath: {why}")),
            By::JmesPath(expression) => jmespath::compile(expression)
                .err()
                .map(|why| format!("'{expression}' is no JMESPath: {}", first_line(&why.to_string()))),
            By::Kept { by, .. } => by.violation(),
            By::Css { selector, .. } => markup::Selector::parse(selector).err(),
            By::XPath { path, .. } => markup::XPath::parse(path).err(),
            By::Iso { field, .. } if *field == 1 || *field > 128 => {
                Some("ISO 8583 has fields 2 to 128; 0 is the message type".to_owned())
            }
            By::Fixed { .. }
            | By::Xml(_)
            | By::Tag(_)
            | By::Between { .. }
            | By::Iso { .. }
            | By::Reason
            | By::Milliseconds
            | By::Size
            | By::Status
            | By::Header(_)
            | By::All => None,
        }
    }
}

/// A value that JMESPath has found, as text: a string without quotes and escapes, another one as JSON with names in order and no
/// blanks between.
pub fn text_of(value: &jmespath::Variable) -> String {
    value.as_string().map_or_else(|| value.to_string(), Clone::clone)
}

/// The same of JSON as somebody wrote it; `None`: it is none.
pub fn canonical_json(text: &str) -> Option<String> {
    jmespath::Variable::from_json(text).ok().map(|value| text_of(&value))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The steps of a path within JSON, names and indices: `user.roles[0]`, or `/user/roles/0` (RFC 6901).
///
/// # Errors
/// The text is no path; the error says so in words.
pub fn json_path(path: &str) -> Result<Vec<String>, String> {
    if let Some(pointer) = path.strip_prefix('/') {
        return Ok(pointer.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect());
    }
    let path = path.strip_prefix('$').unwrap_or(path);
    let wrong = || format!("'{path}' is no path in JSON: give one such as user.roles[0].name");
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('.').unwrap_or(path);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = inside.split_once(']').ok_or_else(wrong)?;
            steps.push(step.trim_matches(['"', '\'']).to_owned());
            rest = after.strip_prefix('.').unwrap_or(after);
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(rest[..end].to_owned());
            rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
        }
    }
    if steps.iter().any(String::is_empty) { Err(wrong()) } else { Ok(steps) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: IsoForm = IsoForm { bitmap: IsoBitmap::Hex, coding: IsoCoding::Ascii };

    #[test]
    fn spots_as_they_are_typed() {
        for (text, part, by) in [
            ("fixed 1 6", Part::Body, By::Fixed { at: 0, length: 6, text: false }),
            ("head fixed 9 2", Part::Head, By::Fixed { at: 8, length: 2, text: false }),
            ("json /rspCd", Part::Body, By::Json("/rspCd".to_owned())),
            ("xml /a/b", Part::Body, By::Xml("/a/b".to_owned())),
            ("whole tag <a b>", Part::Whole, By::Tag("<a b>".into())),
            ("regex ^(..) x", Part::Body, By::Regex("^(..) x".to_owned())),
            ("between code=[ ]", Part::Body, By::Between { before: "code=[".into(), after: "]".into() }),
            ("header X-Id", Part::Body, By::Header("X-Id".to_owned())),
            ("whole all", Part::Whole, By::All),
            ("status", Part::Body, By::Status),
            ("iso 39", Part::Body, By::Iso { field: 39, bitmap: IsoBitmap::Hex, coding: IsoCoding::Ascii }),
        ] {
            assert_eq!(Selector::parse(text, HEX), Ok(Selector { part, by }), "{text}");
        }
        for (text, said) in [
            ("fixed 0 6", "counted from 1"),
            ("fixed 1 0", "0 bytes"),
            ("fixed 1", "no place"),
            ("json", "no place"),
            ("json a..b", "no path"),
            ("header a b", "no name of a header"),
            ("xml a//b", "names between"),
            ("regex (", "no regular expression"),
            ("status 5", "no place"),
            ("iso 1", "2 to 128"),
            ("code 5", "no place"),
        ] {
            assert!(Selector::parse(text, IsoForm::default()).unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn paths_within_json() {
        for (path, steps) in [
            ("", &[][..]),
            ("$", &[]),
            ("a", &["a"]),
            ("$.a.b[0].c", &["a", "b", "0", "c"]),
            ("[1]['x.y'][\"z\"]", &["1", "x.y", "z"]),
            ("/a/0/x~1y", &["a", "0", "x/y"]),
        ] {
            assert_eq!(json_path(path).unwrap(), steps, "{path}");
        }
        for path in ["a..b", "a[", "[]"] {
            assert!(json_path(path).is_err(), "{path}");
        }
    }
}
