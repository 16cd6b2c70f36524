//! What answers must be to count as good.

use serde::{Deserialize, Serialize};

/// What answers must be to count as good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Expect {
    /// Statuses that are good; empty: all below 400.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<u16>,
    /// What bodies must be.
    pub body: ExpectBody,
    /// What must be said of header fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderCheck>,
    /// What must be said of each body; what answers without a body (to HEAD, 204, 304) are not asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentCheck>,
    /// Content codings (gzip, br, zstd) are removed before bodies are looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub decode: bool,
}

impl Expect {
    /// Whether a status is good.
    pub fn takes(&self, status: u16) -> bool {
        if self.statuses.is_empty() { status < 400 } else { self.statuses.contains(&status) }
    }
}

/// What bodies must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectBody {
    /// Complete by their own framing; they may be drained unread.
    #[default]
    Complete,
    /// As long as the first good answer to the same request on the same worker.
    SameLength,
    /// Equal to it, byte for byte.
    Same,
}

/// What a text must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Must {
    /// There at all.
    Exist,
    /// Not there.
    BeAbsent,
    /// Just this.
    Equal(String),
    /// Such that this regular expression is found in it.
    Match(String),
}

/// A check of header fields: of those with this name, one must be as wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderCheck {
    /// The field's name; upper and lower case are the same.
    pub name: String,
    /// What its value must be.
    pub must: Must,
}

/// A check of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ContentCheck {
    /// It holds this text.
    Contains(String),
    /// This regular expression is found in it.
    Matches(String),
    /// It is JSON, and what stands at a path such as `user.roles[0].name` is as wanted.
    Json {
        /// Names and numbers, divided by dots or in brackets; empty: the whole document.
        path: String,
        /// What is wanted of it: of a string its text, of anything else its JSON.
        must: Must,
    },
    /// It has this many bytes.
    Length {
        /// At least.
        min: u64,
        /// At most.
        max: u64,
    },
    /// Its SHA-256 digest is this, in hexadecimal.
    Sha256(String),
}

/// The steps of a path within JSON: names and indices.
///
/// # Errors
/// What is no path, in words.
pub fn json_path(path: &str) -> Result<Vec<String>, String> {
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

impl Expect {
    /// What cannot be checked, a sentence each.
    pub(crate) fn violations(&self) -> Vec<String> {
        let headers = self.headers.iter().flat_map(|check| violation_of(&check.must));
        let content = self.content.iter().filter_map(|check| match check {
            ContentCheck::Matches(pattern) => pattern_violation(pattern),
            ContentCheck::Json { path, must } => json_path(path).err().or_else(|| violation_of(must)),
            ContentCheck::Length { min, max } if min > max => {
                Some(format!("a length from {min} to {max}: give the lesser one first"))
            }
            ContentCheck::Sha256(digest) => {
                let good = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
                (!good).then(|| format!("'{digest}' is no SHA-256 digest: give 64 hexadecimal digits"))
            }
            ContentCheck::Contains(_) | ContentCheck::Length { .. } => None,
        });
        headers.chain(content).collect()
    }
}

fn violation_of(must: &Must) -> Option<String> {
    match must {
        Must::Match(pattern) => pattern_violation(pattern),
        Must::Exist | Must::BeAbsent | Must::Equal(_) => None,
    }
}

fn pattern_violation(pattern: &str) -> Option<String> {
    let error = regex::bytes::Regex::new(pattern).err()?.to_string();
    let why = error.lines().last().unwrap_or_default();
    Some(format!("'{pattern}' is no regular expression: {}", why.trim_start_matches("error: ")))
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
        let only = Expect { statuses: vec![204, 404], ..Expect::default() };
        assert_eq!([200, 204, 404].map(|status| only.takes(status)), [false, true, true]);
    }

    #[test]
    fn paths_within_json() {
        for (path, steps) in [
            ("", &[][..]),
            ("$", &[]),
            ("a", &["a"]),
            ("$.a.b[0].c", &["a", "b", "0", "c"]),
            ("[1]['x.y'][\"z\"]", &["1", "x.y", "z"]),
        ] {
            assert_eq!(json_path(path).unwrap(), steps, "{path}");
        }
        for path in ["a..b", "a[", "[]"] {
            assert!(json_path(path).is_err(), "{path}");
        }
    }

    #[test]
    fn what_cannot_be_checked_is_named() {
        let expect = Expect {
            headers: vec![HeaderCheck { name: "a".to_owned(), must: Must::Match("(".to_owned()) }],
            content: vec![
                ContentCheck::Matches("[".to_owned()),
                ContentCheck::Json { path: "a..b".to_owned(), must: Must::Exist },
                ContentCheck::Json { path: "a".to_owned(), must: Must::Match("*".to_owned()) },
                ContentCheck::Length { min: 2, max: 1 },
                ContentCheck::Sha256("ab".to_owned()),
                ContentCheck::Contains("x".to_owned()),
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
}
