//! Tests of values against their requirements, made ready.

use memchr::memmem;
use plan::answer::Must;
use plan::pattern::Pattern;
use sha2::{Digest, Sha256};

/// One test of a value.
pub(crate) enum Test {
    Exist,
    BeAbsent,
    Equal(Vec<u8>),
    Match(Pattern),
    Contain(Vec<u8>),
    BeOneOf(Vec<Vec<u8>>),
    BeNoneOf(Vec<Vec<u8>>),
    BeAnything,
    HaveLength(u64, u64),
    HaveSha256(String),
    BeAtLeast(u64),
    BeAtMost(u64),
    Not(Box<Test>),
    AllOf(Vec<Test>),
    AnyOf(Vec<Test>),
}

impl Test {
    /// Gets ready; a pattern that a plan's check refuses is never met.
    pub fn new(must: &Must) -> Test {
        let bytes = |values: &[plan::Body]| values.iter().map(|value| value.to_vec()).collect();
        match must {
            Must::Exist => Test::Exist,
            Must::BeAbsent => Test::BeAbsent,
            Must::Equal(text) => Test::Equal(text.to_vec()),
            Must::Match(pattern) => Pattern::new(pattern).map_or(Test::BeAbsent, Test::Match),
            Must::Contain(text) => Test::Contain(text.to_vec()),
            Must::BeOneOf(values) => Test::BeOneOf(bytes(values)),
            Must::BeNoneOf(values) => Test::BeNoneOf(bytes(values)),
            Must::BeAnything => Test::BeAnything,
            Must::HaveLength { min, max } => Test::HaveLength(*min, *max),
            Must::HaveSha256(digest) => Test::HaveSha256(digest.to_ascii_lowercase()),
            Must::MatchWhole(pattern) => {
                let whole = format!("^(?:{pattern})$");
                Pattern::new(&whole).map_or(Test::BeAbsent, Test::Match)
            }
            Must::BeAtLeast(least) => Test::BeAtLeast(*least),
            Must::BeAtMost(most) => Test::BeAtMost(*most),
            Must::Not(must) => Test::Not(Box::new(Test::new(must))),
            Must::AllOf(all) => Test::AllOf(all.iter().map(Test::new).collect()),
            Must::AnyOf(all) => Test::AnyOf(all.iter().map(Test::new).collect()),
        }
    }

    /// True if a value, or that there is none, will do. A pattern that has used up its budget is not met, and neither is its opposite.
    #[inline]
    pub fn takes(&self, value: Option<&[u8]>) -> bool {
        self.judges(value).unwrap_or(false)
    }

    /// The same; `None` where a pattern has used up its budget.
    fn judges(&self, value: Option<&[u8]>) -> Option<bool> {
        match self {
            Test::Not(test) => return test.judges(value).map(|takes| !takes),
            Test::AllOf(all) => {
                let judged: Vec<Option<bool>> = all.iter().map(|test| test.judges(value)).collect();
                let fails = judged.contains(&Some(false));
                return if fails || !judged.contains(&None) { Some(!fails) } else { None };
            }
            Test::AnyOf(all) => {
                let judged: Vec<Option<bool>> = all.iter().map(|test| test.judges(value)).collect();
                let is_met = judged.contains(&Some(true));
                return if is_met || !judged.contains(&None) { Some(is_met) } else { None };
            }
            Test::Match(pattern) => return value.map_or(Some(false), |value| pattern.matches(value)),
            Test::Exist
            | Test::BeAbsent
            | Test::Equal(_)
            | Test::Contain(_)
            | Test::BeOneOf(_)
            | Test::BeNoneOf(_)
            | Test::BeAnything
            | Test::HaveLength(..)
            | Test::HaveSha256(_)
            | Test::BeAtLeast(_)
            | Test::BeAtMost(_) => {}
        }
        let Some(value) = value else {
            return Some(matches!(self, Test::BeAbsent | Test::BeNoneOf(_) | Test::BeAnything));
        };
        Some(match self {
            Test::Exist | Test::BeAnything => true,
            Test::BeAbsent => false,
            Test::Equal(text) => text == value,
            Test::Contain(text) => memmem::find(value, text).is_some(),
            Test::BeOneOf(values) => values.iter().any(|known| known == value),
            Test::BeNoneOf(values) => !values.iter().any(|known| known == value),
            Test::HaveLength(min, max) => (*min..=*max).contains(&(value.len() as u64)),
            Test::HaveSha256(digest) => hex(&Sha256::digest(value)) == *digest,
            Test::BeAtLeast(least) => number(value).is_some_and(|number| number >= *least),
            Test::BeAtMost(most) => number(value).is_some_and(|number| number <= *most),
            Test::Match(_) | Test::Not(_) | Test::AllOf(_) | Test::AnyOf(_) => {
                unreachable!("answered above")
            }
        })
    }

    /// A value that fails the test, in words.
    pub(super) fn text(&self) -> String {
        match self {
            Test::Exist => "is missing".to_owned(),
            Test::BeAbsent => "should not be there".to_owned(),
            Test::Equal(text) => format!("is not '{}'", short(text)),
            Test::Match(pattern) => format!("does not match '{}'", pattern.as_str()),
            Test::Contain(text) => format!("does not contain '{}'", short(text)),
            Test::BeOneOf(values) => format!("is not one of {}", list(values)),
            Test::BeNoneOf(values) => format!("is one of {}", list(values)),
            Test::BeAnything => "is wrong".to_owned(),
            Test::HaveLength(min, max) => format!("has not {} bytes", range(*min, *max)),
            Test::HaveSha256(digest) => format!("has not the SHA-256 digest {digest}"),
            Test::BeAtLeast(least) => format!("is less than {least}"),
            Test::BeAtMost(most) => format!("is more than {most}"),
            Test::Not(_) => "is what it must not be".to_owned(),
            Test::AllOf(all) => all.first().map_or_else(String::new, Test::text),
            Test::AnyOf(all) => all.iter().map(Test::text).collect::<Vec<_>>().join(" and "),
        }
    }

    /// The right value, for people.
    pub fn wanted(&self) -> String {
        match self {
            Test::BeOneOf(values) => format!("one of {}", list(values)),
            Test::BeNoneOf(values) => format!("none of {}", list(values)),
            Test::Equal(text) => short(text),
            Test::BeAnything => "any".to_owned(),
            other @ (Test::Exist
            | Test::BeAbsent
            | Test::Match(_)
            | Test::Contain(_)
            | Test::HaveLength(..)
            | Test::HaveSha256(_)
            | Test::BeAtLeast(_)
            | Test::BeAtMost(_)
            | Test::Not(_)
            | Test::AllOf(_)
            | Test::AnyOf(_)) => format!("one that {}", other.text()),
        }
    }
}

fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

fn list(values: &[Vec<u8>]) -> String {
    let values: Vec<_> = values.iter().map(|value| value.escape_ascii().to_string()).collect();
    values.join(", ")
}

pub(super) fn range(min: u64, max: u64) -> String {
    if min == max { format!("{min}") } else { format!("{min} to {max}") }
}

pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of a text, on one line.
pub(super) fn short(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]).into_owned();
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().count() > SHOWN { "…" } else { "" };
    format!("{}{more}", shown.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern that gives up says neither that it is met nor that it is not.
    #[test]
    fn what_has_used_up_its_budget_is_met_in_no_way() {
        let endless = || Must::Match(r"(a|a)*(?=b)c".to_owned());
        let takes = |must: Must| Test::new(&must).takes(Some(&[b'a'; 40]));
        assert!(!takes(endless()));
        assert!(!takes(Must::Not(Box::new(endless()))));
        assert!(!takes(Must::AnyOf(vec![endless(), Must::BeAbsent])));
        assert!(!takes(Must::Not(Box::new(Must::AnyOf(vec![endless(), Must::BeAbsent])))));
        assert!(takes(Must::AnyOf(vec![endless(), Must::Exist])));
        assert!(takes(Must::Not(Box::new(Must::AllOf(vec![endless(), Must::BeAbsent])))));
        assert!(!takes(Must::AllOf(vec![endless(), Must::Exist])));
        assert!(takes(Must::Not(Box::new(Must::Match("b".to_owned())))));
    }
}
