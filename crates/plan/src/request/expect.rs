//! Conditions that answers must meet to count as good.

use crate::data::body::Body;
use crate::request::answer::{By, Check, Must, Part, Selector};
use serde::{Deserialize, Serialize};

/// Conditions that answers must meet to count as good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(from = "ExpectRead")]
#[cfg_attr(test, schemars(!from, default, deny_unknown_fields))]
pub struct Expect {
    /// Statuses that are good; empty: all below 400.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Status>,
    /// Every status is good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub any_status: bool,
    /// The condition that bodies must meet.
    pub body: ExpectBody,
    /// Checks that header fields and bodies must pass. Answers without a body (to HEAD, 204, 304) are not asked for theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Content codings (gzip, br, zstd) are removed before bodies are looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decode: bool,
}

/// As plan files say it, with the words that older ones have.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ExpectRead {
    statuses: Vec<Status>,
    any_status: bool,
    body: ExpectBody,
    checks: Vec<Check>,
    decode: bool,
    headers: Vec<OldHeader>,
    content: Vec<OldContent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldHeader {
    name: String,
    must: Must,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum OldContent {
    Contains(Body),
    Matches(String),
    Json { path: String, must: Must },
    Length { min: u64, max: u64 },
    Sha256(String),
}

impl From<ExpectRead> for Expect {
    fn from(read: ExpectRead) -> Expect {
        let headers = read.headers.into_iter().map(|old| Check::of_header(&old.name, old.must));
        let content = read.content.into_iter().map(|old| match old {
            OldContent::Contains(text) => Check::of_body(Must::Contain(text)),
            OldContent::Matches(pattern) => Check::of_body(Must::Match(pattern)),
            OldContent::Json { path, must } => Check::of_json(&path, must),
            OldContent::Length { min, max } => Check::of_body(Must::HaveLength { min, max }),
            OldContent::Sha256(digest) => Check::of_body(Must::HaveSha256(digest)),
        });
        let old: Vec<Check> = headers.chain(content).collect();
        Expect {
            statuses: read.statuses,
            any_status: read.any_status,
            body: read.body,
            checks: read.checks.into_iter().chain(old).collect(),
            decode: read.decode,
        }
    }
}

impl Check {
    /// Of a header field.
    pub fn of_header(name: &str, must: Must) -> Check {
        Check::of(Selector { part: Part::Head, by: By::Header(name.to_owned()) }, must)
    }

    /// Of the whole body.
    pub fn of_body(must: Must) -> Check {
        Check::of(Selector::body(By::All), must)
    }

    /// Of what stands at a path of a JSON body.
    pub fn of_json(path: &str, must: Must) -> Check {
        Check::of(Selector::body(By::Json(path.to_owned())), must)
    }
}

impl Expect {
    /// Returns the checks that cannot be made, a sentence each.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.checks.iter().filter_map(Check::violation).collect()
    }

    /// True if a status is good.
    pub fn takes(&self, status: u16) -> bool {
        self.any_status
            || if self.statuses.is_empty() {
                status < 400
            } else {
                self.statuses.iter().any(|one| one.holds(status))
            }
    }
}

/// A status, or all those of a class, written `204` or `"2xx"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "ExpectWritten", into = "ExpectWritten")]
pub enum Status {
    /// This one.
    Is(u16),
    /// All with this first digit (RFC 9110 section 15).
    Class(u16),
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a status such as 204, or a class such as \"2xx\"")]
enum ExpectWritten {
    Number(u16),
    Text(String),
}

impl Status {
    /// Reads `204` or `2xx`.
    ///
    /// # Errors
    /// The text is neither; the error says what would do.
    pub fn parse(text: &str) -> Result<Status, String> {
        let text = text.trim();
        let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
        let number = |text: &str, from: u16, to: u16| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|number| digits && (from..=to).contains(number))
        };
        let read = match class {
            Some(digit) => number(digit, 1, 5).map(Status::Class),
            None => number(text, 100, 599).map(Status::Is),
        };
        read.ok_or_else(|| {
            format!("'{text}' is not a status: give one from 100 to 599, or a class such as 2xx")
        })
    }

    /// True if a status is meant.
    pub fn holds(self, status: u16) -> bool {
        match self {
            Status::Is(one) => one == status,
            Status::Class(digit) => status / 100 == digit,
        }
    }
}

impl TryFrom<ExpectWritten> for Status {
    type Error = String;

    fn try_from(written: ExpectWritten) -> Result<Status, String> {
        match written {
            ExpectWritten::Number(number) => Ok(Status::Is(number)),
            ExpectWritten::Text(text) => Status::parse(&text),
        }
    }
}

impl From<Status> for ExpectWritten {
    fn from(status: Status) -> ExpectWritten {
        match status {
            Status::Is(number) => ExpectWritten::Number(number),
            Status::Class(digit) => ExpectWritten::Text(format!("{digit}xx")),
        }
    }
}

/// The condition that bodies must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExpectBody {
    /// Complete by their own framing; they may be drained unread.
    #[default]
    Complete,
    /// As long as the first good answer of the run to the same request.
    SameLength,
    /// Equal to it, byte for byte.
    Same,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_statuses() {
        let any = Expect::default();
        assert_eq!(
            [200, 304, 399, 400, 503].map(|status| any.takes(status)),
            [true, true, true, false, false]
        );
        let every = Expect { any_status: true, ..Expect::default() };
        assert!([100, 200, 404, 599].iter().all(|status| every.takes(*status)));
        let only = Expect { statuses: vec![Status::Is(204), Status::Class(4)], ..Expect::default() };
        assert_eq!([200, 204, 404, 500].map(|status| only.takes(status)), [false, true, true, false]);
    }

    #[test]
    fn statuses_are_numbers_or_classes() {
        assert_eq!(Status::parse("204"), Ok(Status::Is(204)));
        assert_eq!(
            [Status::parse("2xx"), Status::parse("5XX")],
            [Ok(Status::Class(2)), Ok(Status::Class(5))]
        );
        for text in ["", "x", "2x", "20x", "6xx", "0xx", "99", "600", "+200", "-1", "xx"] {
            assert!(Status::parse(text).is_err_and(|why| why.contains("2xx")), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_checked_is_named() {
        let text = |text: &str| text.to_owned();
        let expect = Expect {
            checks: vec![
                Check::of_header("a", Must::Match(text("("))),
                Check::of_body(Must::Match(text("["))),
                Check::of_json("a..b", Must::Exist),
                Check::of_json("a", Must::Match(text("*"))),
                Check::of_body(Must::HaveLength { min: 2, max: 1 }),
                Check::of_body(Must::HaveSha256(text("ab"))),
                Check::of_body(Must::Contain("x".into())),
            ],
            ..Expect::default()
        };
        let found = expect.violations();
        let words = ["'('", "'['", "a..b", "'*'", "lesser", "64 hexadecimal"];
        assert_eq!(found.len(), words.len(), "{found:?}");
        for (violation, word) in found.iter().zip(words) {
            assert!(violation.contains(word), "{violation}");
        }
    }

    #[test]
    fn older_words_of_plan_files_are_read() {
        let old = "headers = [{ name = 'A', must = { equal = 'b' } }]\n\
                   content = [{ contains = 'x' }, { json = { path = 'a', must = 'exist' } }, { length = { min = 1, max = 2 } }]";
        let expect: Expect = toml::from_str(old).unwrap();
        let new = [
            Check::of_header("A", Must::Equal("b".into())),
            Check::of_body(Must::Contain("x".into())),
            Check::of_json("a", Must::Exist),
            Check::of_body(Must::HaveLength { min: 1, max: 2 }),
        ];
        assert_eq!(expect.checks, new);
        assert_eq!(toml::from_str::<Expect>(&toml::to_string(&expect).unwrap()).unwrap(), expect);
    }
}
