//! Languages that the text for people is written in. What programs read is in English whatever people read.

use crate::chinese;

/// A language of the text for people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// The source: sentences are made in it.
    #[default]
    English,
    /// Chinese, in simplified characters.
    Chinese,
}

impl Language {
    /// A text of ours, made in English, in this language; what is not known stays as it is.
    pub fn say(self, english: &str) -> String {
        match self {
            Language::English => english.to_owned(),
            Language::Chinese => chinese::say(english),
        }
    }

    /// A finished page of ours, as a decision prints it, in this language: line by line, its tables aligned again.
    pub fn say_page(self, english: &str) -> String {
        match self {
            Language::English => english.to_owned(),
            Language::Chinese => chinese::lines::say(english),
        }
    }
}
