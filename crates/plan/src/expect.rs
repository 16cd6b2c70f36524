//! What answers must be to count as good.

use crate::answer::{By, Check, Must, Part, Selector};
use crate::body::Body;
use serde::{Deserialize, Serialize};

/// What answers must be to count as good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(from = "Read")]
pub struct Expect {
    /// Statuses that are good; empty: all below 400.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<u16>,
    /// Every status is good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub any_status: bool,
    /// What bodies must be.
    pub body: ExpectBody,
    /// What must be said of header fields and bodies. Answers without a body (to HEAD, 204, 304) are not asked for theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Content codings (gzip, br, zstd) are removed before bodies are looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decode: bool,
}

/// As plan files say it, with the words that older ones have.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Read {
    statuses: Vec<u16>,
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

impl From<Read> for Expect {
    fn from(read: Read) -> Expect {
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
        Check { at: Selector { part: Part::Head, by: By::Header(name.to_owned()) }, must }
    }

    /// Of the whole body.
    pub fn of_body(must: Must) -> Check {
        Check { at: Selector::body(By::All), must }
    }

    /// Of what stands at a path of a JSON body.
    pub fn of_json(path: &str, must: Must) -> Check {
        Check { at: Selector::body(By::Json(path.to_owned())), must }
    }
}

impl Expect {
    /// What cannot be checked, a sentence each.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.checks.iter().filter_map(Check::violation).collect()
    }

    /// Whether a status is good.
    pub fn takes(&self, status: u16) -> bool {
        self.any_status
            || if self.statuses.is_empty() { status < 400 } else { self.statuses.contains(&status) }
    }
}

/// What bodies must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
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
        let only = Expect { statuses: vec![204, 404], ..Expect::default() };
        assert_eq!([200, 204, 404].map(|status| only.takes(status)), [false, true, true]);
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
