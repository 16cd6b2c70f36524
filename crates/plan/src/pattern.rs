//! Regular expressions over bytes: matched in linear time where they can be, and by backtracking, with a budget, where look-around or back
//! references ask for it.

use fancy_regex::{BytesMode, RegexBuilder};
use regex::bytes::Regex;

/// Steps back that one search may take, at most: a pattern that wants more has found nothing.
pub const BUDGET: usize = 200_000;

/// A regular expression.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Its time grows with the text and no faster.
    Linear(Box<Regex>),
    /// It may go back, as often as [`BUDGET`] says.
    Backtracking(Box<Backtracking>),
}

/// A regular expression that may go back.
#[derive(Debug, Clone)]
pub struct Backtracking {
    /// For texts in UTF-8.
    characters: fancy_regex::Regex,
    /// For what is none: each byte is a character.
    bytes: fancy_regex::Regex,
}

impl Backtracking {
    fn new(pattern: &str) -> Option<Backtracking> {
        let of = |mode| RegexBuilder::new(pattern).bytes_mode(mode).backtrack_limit(BUDGET).build().ok();
        Some(Backtracking { characters: of(BytesMode::UnicodeBytes)?, bytes: of(BytesMode::Ascii)? })
    }

    /// The engine for a text.
    pub fn of(&self, text: &[u8]) -> &fancy_regex::Regex {
        if std::str::from_utf8(text).is_ok() { &self.characters } else { &self.bytes }
    }
}

impl Pattern {
    /// Gets a pattern ready.
    ///
    /// # Errors
    /// Why it is none.
    pub fn new(pattern: &str) -> Result<Pattern, String> {
        let error = match Regex::new(pattern) {
            Ok(regex) => return Ok(Pattern::Linear(Box::new(regex))),
            Err(error) => error,
        };
        let is_foreign = matches!(error, regex::Error::Syntax(_));
        if let Some(backtracking) = Backtracking::new(pattern).filter(|_| is_foreign) {
            return Ok(Pattern::Backtracking(Box::new(backtracking)));
        }
        let error = error.to_string();
        let why = error.lines().last().expect("an error says something");
        Err(why.trim_start_matches("error: ").to_owned())
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        match self {
            Pattern::Linear(regex) => regex.as_str(),
            Pattern::Backtracking(both) => both.characters.as_str(),
        }
    }

    /// True if a text matches; `None` where the budget did not do.
    pub fn matches(&self, text: &[u8]) -> Option<bool> {
        match self {
            Pattern::Linear(regex) => Some(regex.is_match(text)),
            Pattern::Backtracking(both) => both.of(text).is_match(text).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_around_and_references_are_matched_within_a_budget() {
        for (pattern, text, matches) in [
            ("a+b", &b"xaab"[..], Some(true)),
            ("a(?=b)", b"ac ab", Some(true)),
            ("(?<!x)y", b"xy", Some(false)),
            (r"(\w)\1", b"book", Some(true)),
            ("(?=.)\u{e9}", b"\xff\xc3\xa9", Some(true)),
            // Each `a` may belong to either loop, so that what cannot match is tried in 2^40 ways.
            (r"(a|a)*(?=b)c", &[b'a'; 40], None),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().matches(text), matches, "{pattern}");
        }
        assert!(matches!(Pattern::new("a+b"), Ok(Pattern::Linear(_))));
        assert!(Pattern::new("(").unwrap_err().contains("unclosed group"));
        assert!(Pattern::new("a{9999}{9999}").is_err(), "too large is not a question of the engine");
    }
}
