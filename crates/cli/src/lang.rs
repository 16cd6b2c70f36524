//! The language that people are spoken to in: `--lang`, or that of the environment. Start at [`Lang::of_line`].

use clap::ValueEnum;
use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

/// The option.
const OPTION: &str = "--lang";

/// Variables that name a language, the strongest first: the first that is not empty holds.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// A language that help and reports are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Lang {
    /// English
    #[default]
    En,
    /// Chinese
    Zh,
}

/// The language of this process.
static CHOSEN: OnceLock<Lang> = OnceLock::new();

impl Lang {
    /// The language of this process; English until one is chosen.
    pub fn chosen() -> Lang {
        CHOSEN.get().copied().unwrap_or(Lang::En)
    }

    /// Chooses the language of this process, once.
    pub fn choose(self) {
        // The first choice stays.
        let _ = CHOSEN.set(self);
    }

    /// A text in this language, of two.
    pub fn of(self, english: &'static str, chinese: &'static str) -> &'static str {
        match self {
            Lang::En => english,
            Lang::Zh => chinese,
        }
    }

    /// The language of a command line, or where it names none, of the environment.
    pub fn of_line(words: &[OsString], variable: impl Fn(&str) -> Option<OsString>) -> Lang {
        typed(words).unwrap_or_else(|| of_environment(variable))
    }
}

/// A command line without its choice of a language.
#[must_use]
pub fn without_lang(words: &[OsString]) -> Vec<OsString> {
    let mut left = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match value(word) {
            Some("") => drop(words.next()),
            Some(_) => {}
            None => left.push(word.clone()),
        }
    }
    left
}

/// The value behind the option's equals sign; nothing where it is the next word; `None`: another word.
fn value(word: &OsStr) -> Option<&str> {
    let rest = word.to_str()?.strip_prefix(OPTION)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('=').filter(|value| !value.is_empty()) }
}

/// The language that a line names, of words before `--`.
fn typed(words: &[OsString]) -> Option<Lang> {
    let options = words.iter().position(|word| word == "--").map_or(words, |end| &words[..end]);
    let at = options.iter().position(|word| value(word).is_some())?;
    let named = match value(&options[at])? {
        "" => options.get(at + 1)?.to_str()?,
        named => named,
    };
    Lang::from_str(named, false).ok()
}

fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Lang {
    let named = VARIABLES.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
    let is_chinese = named.is_some_and(|value| value.to_string_lossy().starts_with("zh"));
    if is_chinese { Lang::Zh } else { Lang::En }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    fn of(line: &str, variables: &[(&str, &str)]) -> Lang {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let find = |name: &str| variables.iter().find(|(other, _)| *other == name);
        Lang::of_line(&words, |name| find(name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_line_is_stronger_than_the_environment_and_lc_all_than_lang() {
        for (line, variables, lang) in [
            ("wringer", &[][..], Lang::En),
            ("wringer", &[("LANG", "zh_CN.UTF-8")], Lang::Zh),
            ("wringer", &[("LANG", "C")], Lang::En),
            ("wringer", &[("LANG", "zh_CN"), ("LC_ALL", "de_DE")], Lang::En),
            ("wringer", &[("LANG", "zh_CN"), ("LC_ALL", "")], Lang::Zh),
            ("wringer", &[("LANG", "C"), ("LC_MESSAGES", "zh_TW.UTF-8")], Lang::Zh),
            ("wringer http --lang en h", &[("LANG", "zh_CN")], Lang::En),
            ("wringer --lang zh http h", &[], Lang::Zh),
            ("wringer http h --lang=zh", &[], Lang::Zh),
            ("wringer http -- --lang zh", &[], Lang::En),
            ("wringer http --lang xx", &[], Lang::En),
            ("wringer http --lang", &[], Lang::En),
            ("wringer http --language zh", &[], Lang::En),
        ] {
            assert_eq!(of(line, variables), lang, "{line} {variables:?}");
        }
    }

    #[test]
    fn a_language_stands_before_and_behind_a_command() {
        for line in [
            "wringer --lang zh http h:1",
            "wringer --lang=zh http h:1",
            "wringer http h:1 --lang zh",
            "wringer --lang zh h:1",
            "wringer --log debug --lang zh h:1",
            "wringer h:1 --lang zh",
        ] {
            let cli = Cli::read(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(cli.lang, Some(Lang::Zh), "{line}");
        }
        let said = Cli::read(["wringer", "http", "h:1", "--lang", "xx"]).unwrap_err().to_string();
        assert!(said.contains("'xx'") && said.contains("[possible values: en, zh]"), "{said}");
    }

    #[test]
    fn a_line_of_nothing_but_a_language_is_empty() {
        for (line, left) in [
            ("wringer --lang zh", "wringer"),
            ("wringer --lang=zh", "wringer"),
            ("wringer --lang", "wringer"),
            ("wringer --lang zh http", "wringer http"),
            ("wringer --log debug", "wringer --log debug"),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let rest: Vec<_> = left.split(' ').map(OsString::from).collect();
            assert_eq!(without_lang(&words), rest, "{line}");
        }
    }
}
