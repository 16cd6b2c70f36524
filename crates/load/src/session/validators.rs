//! Validators of answers that a user has seen, and on what condition it asks for it again (RFC 9110 section 13). Time is an argument.

use crate::request::FieldLine;
use plan::Validators;
use std::collections::HashMap;

/// URLs that a user remembers at most; further ones are asked for as if they were new.
const MOST: usize = 10_000;

/// The validators of the answers that one user has seen, by URL.
#[derive(Debug, Default)]
pub(crate) struct ValidatorsSeen(HashMap<String, Validator>);

/// An answer, as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Validator {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// Until when it holds, in seconds since 1970.
    pub expires: Option<i64>,
}

impl ValidatorsSeen {
    /// Remembers what a good answer to a GET said of itself.
    pub fn note(&mut self, url: &str, said: Validator) {
        if said.etag.is_none() && said.last_modified.is_none() && said.expires.is_none() {
            self.0.remove(url);
        } else if self.0.len() < MOST || self.0.contains_key(url) {
            self.0.insert(url.to_owned(), said);
        }
    }

    /// True if an answer seen before still holds; `now`: seconds since 1970.
    pub fn is_fresh(&self, url: &str, now: i64) -> bool {
        self.0.get(url).and_then(|said| said.expires).is_some_and(|expires| expires > now)
    }

    /// The fields that ask for it on condition.
    pub fn conditions(&self, url: &str, how: Validators, now: i64) -> Vec<FieldLine> {
        let conditional = match how {
            Validators::Never => false,
            Validators::Always => true,
            Validators::WhileFresh => self.is_fresh(url, now),
        };
        let Some(said) = self.0.get(url).filter(|_| conditional) else { return Vec::new() };
        let since = said.last_modified.iter().map(|value| FieldLine::new("If-Modified-Since", value));
        let unless = said.etag.iter().map(|value| FieldLine::new("If-None-Match", value));
        since.chain(unless).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_the_last_answer() {
        let mut seen = ValidatorsSeen::default();
        let said = |etag: Option<&str>, expires| Validator {
            etag: etag.map(str::to_owned),
            last_modified: Some("Mon".to_owned()),
            expires,
        };
        seen.note("u", said(Some("\"1\""), None));
        let both = [FieldLine::new("If-Modified-Since", "Mon"), FieldLine::new("If-None-Match", "\"1\"")];
        assert_eq!(seen.conditions("u", Validators::Always, 5), both);
        for (url, how) in [("u", Validators::Never), ("u", Validators::WhileFresh), ("v", Validators::Always)]
        {
            assert_eq!(seen.conditions(url, how, 5), []);
        }
        seen.note("u", said(None, Some(6)));
        assert_eq!(seen.conditions("u", Validators::WhileFresh, 5), both[..1]);
        assert_eq!((seen.is_fresh("u", 5), seen.is_fresh("u", 6)), (true, false));
        seen.note("u", Validator::default());
        assert_eq!(seen.conditions("u", Validators::Always, 5), []);
    }
}
