//! The command of a run, taken apart, so that another one can be made of it.

use crate::show::quoted;
use plan::Address;
use plan::secret::without_secrets;

/// Options with a value that say when requests are sent.
pub(super) const PACE: &[&str] = &[
    "-c",
    "--users",
    "--think",
    "--rate",
    "--stages",
    "--connection-rate",
    "--arrivals",
    "--in-flight",
    "--preconnect",
    "--warm-up",
];

/// Options with a value that say until when.
pub(super) const LENGTH: &[&str] = &["-d", "--duration", "-n", "--requests"];

/// Options with a value that are for one run.
pub(super) const ONE_RUN: &[&str] = &[
    "--seed",
    "--json",
    "--html",
    "--junit",
    "--summary",
    "--sarif",
    "--events",
    "--evidence-file",
    "--live-listen",
    "--live-host-name",
];

/// Options with a value of a run that a search does not have.
pub(super) const NOT_OF_FIND: &[&str] = &[
    "--fail-if",
    "--require",
    "--stop-if",
    "--prometheus",
    "--prometheus-token",
    "--linger",
    "--names",
    "--influx",
    "--influx-token",
    "--otlp",
    "--keep-in",
    "--keep",
    "--label",
    "--watch-pid",
];

/// Options without a value that are for one run.
pub(super) const FLAGS: &[&str] = &[
    "-v",
    "--verbose",
    "-q",
    "--quiet",
    "--live",
    "--tui",
    "--no-keep",
    "--ignore-exit",
    "--otlp",
    "--short",
];

/// Options of `wringer run` without a value; behind each other one stands its value.
const FLAGS_OF_RUN: &[&str] = &[
    "--any-files",
    "--dry-run",
    "--help",
    "--ignore-exit",
    "--insecure-bus",
    "--live",
    "--no-keep",
    "--no-pauses",
    "--otlp",
    "--quiet",
    "--short",
    "--show-plan",
    "--skip-unsupported",
    "--tui",
    "-h",
    "-q",
];

/// Options that say how a file is read, with a value and without.
const READING: (&[&str], &[&str]) = (
    &["--set", "--base-url", "--environment", "--host", "--static", "--property", "-J", "--properties"],
    &["--any-files", "--no-pauses", "--skip-unsupported"],
);

/// Options that may stand before a command; each has a value.
const BEFORE: [&str; 2] = ["--log", "--lang"];

/// A command of wringer's own, as words in a shell's quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
    words: Vec<String>,
}

impl Typed {
    /// The command, if it is one of ours that sends; not that of an old tool.
    pub fn of(command: &str) -> Option<(Door, Typed)> {
        let words = command_first(words(command));
        if words.first().is_none_or(|word| word != "wringer") {
            return None;
        }
        let door = match words.get(1)?.as_str() {
            "http" => Door::Http,
            "cache" => Door::Cache,
            "tcp" => Door::Tcp,
            "run" => Door::Run,
            // A URL, or an option in front of one; the names of old tools and of other commands are plain.
            other if !other.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => Door::Http,
            "localhost" => Door::Http,
            _ => return None,
        };
        Some((door, Typed { words }))
    }

    /// True if the word stands there.
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|typed| typed == word || typed.starts_with(&format!("{word}=")))
    }

    /// Without these options and their values.
    #[must_use]
    pub fn without(self, options: &[&str]) -> Typed {
        let mut kept: Vec<String> = Vec::new();
        let mut words = self.words.into_iter().peekable();
        while let Some(word) = words.next() {
            let named = |option: &&str| word == **option;
            let with_value = |option: &&str| match option.strip_prefix("--") {
                Some(_) => word.strip_prefix(*option).is_some_and(|rest| rest.starts_with('=')),
                None => word.len() > 2 && word.starts_with(*option),
            };
            match options {
                _ if options.iter().any(named) => {
                    words.next();
                }
                _ if options.iter().any(with_value) => {}
                _ => kept.push(word),
            }
        }
        Typed { words: kept }
    }

    /// Without these words.
    #[must_use]
    pub fn without_flags(mut self, flags: &[&str]) -> Typed {
        self.words.retain(|word| !flags.contains(&word.as_str()));
        self
    }

    /// With these words at its end.
    #[must_use]
    pub fn and(mut self, more: &str) -> Typed {
        self.words.push(more.to_owned());
        self
    }

    /// With one alone of these URLs, each of which may stand there; `None`: that one does not.
    pub fn only_url(&self, all: &[&str], one: &str) -> Option<Typed> {
        let url = |at: usize| self.url(at).filter(|url| all.contains(&url.as_str()));
        let places = || (2..self.words.len()).chain([1]);
        let kept = places().find(|at| url(*at).as_deref() == Some(one))?;
        let words = (0..self.words.len()).filter(|at| *at == kept || url(*at).is_none());
        Some(Typed { words: words.map(|at| self.words[at].clone()).collect() })
    }

    /// With this URL in place of a list of URLs and of those that stand there; `None`: it holds a secret.
    pub fn with_url(&self, all: &[&str], one: &str) -> Option<Typed> {
        if without_secrets(one) != one {
            return None;
        }
        let without = self.clone().without(&["--urls", "--order"]);
        let words = (0..without.words.len())
            .filter(|at| without.url(*at).is_none_or(|url| !all.contains(&url.as_str())));
        Some(Typed { words: words.map(|at| without.words[at].clone()).collect() }.and(&quoted(one)))
    }

    /// The URL that a word is, as plans have it.
    fn url(&self, at: usize) -> Option<String> {
        let word = self.words.get(at).filter(|word| at > 0 && !word.starts_with('-'))?;
        // That of a login is no URL of the load.
        if self.words[at - 1] == "--login" {
            return None;
        }
        let bare = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word);
        let whole = if bare.contains("://") { bare.to_owned() } else { format!("http://{bare}") };
        Some(Address::parse(&whole).map_or(whole, |address| address.text))
    }

    /// As another command of ours.
    #[must_use]
    pub fn into_command(mut self, name: &str) -> Typed {
        match self.words.get_mut(1).filter(|word| word.as_str() == "http") {
            Some(word) => name.clone_into(word),
            None => self.words.insert(1, name.to_owned()),
        }
        self
    }

    /// The plan file that it runs, and its place among the words.
    fn file(&self) -> Option<&str> {
        let mut words = self.words.iter().skip(2).map(String::as_str);
        while let Some(word) = words.next() {
            let has_value = word.len() == 2 || word.starts_with("--") && !word.contains('=');
            match word {
                "--" => return words.next(),
                _ if !word.starts_with('-') => return Some(word),
                _ if has_value && !FLAGS_OF_RUN.contains(&word) => {
                    words.next();
                }
                _ => {}
            }
        }
        None
    }

    /// The command that prints the file of `wringer run` as a plan to be changed.
    pub fn as_plan(&self) -> Option<Typed> {
        let (valued, flags) = READING;
        let mut words: Vec<String> = ["wringer", "plan", "convert", self.file()?].map(str::to_owned).into();
        let mut typed = self.words.iter().skip(2);
        while let Some(word) = typed.next() {
            let has_value = |option: &&str| {
                let behind = word.strip_prefix(*option);
                behind.is_some_and(|behind| match option.starts_with("--") {
                    true => behind.starts_with('='),
                    false => !behind.is_empty(),
                })
            };
            if flags.contains(&word.as_str()) || valued.iter().any(has_value) {
                words.push(word.clone());
            } else if valued.contains(&word.as_str()) {
                words.extend([word.clone()].into_iter().chain(typed.next().cloned()));
            }
        }
        Some(Typed { words })
    }

    /// As it is typed.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }
}

/// Which command was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    Http,
    Cache,
    Tcp,
    Run,
}

/// The plan file that a command runs.
pub fn plan_file(command: &str) -> Option<String> {
    let (door, typed) = Typed::of(command)?;
    typed.file().filter(|_| door == Door::Run).map(str::to_owned)
}

/// The words with what stands before the command behind it.
fn command_first(mut words: Vec<String>) -> Vec<String> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if !BEFORE.contains(&name) {
            break;
        }
        at += if value.is_some() { 1 } else { 2 };
    }
    if words.get(at).is_some_and(|word| !word.starts_with('-')) {
        words[1..=at].rotate_right(1);
    }
    words
}

/// Splits a command at its blanks; quotes stay.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut in_quotes = false;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' if !in_quotes => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()))
            }
            '\\' if !in_quotes => {
                word.push(character);
                word.extend(characters.next());
            }
            _ => {
                in_quotes ^= character == '\'';
                word.push(character);
            }
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(command: &str) -> Typed {
        Typed::of(command).unwrap_or_else(|| panic!("{command}")).1
    }

    #[test]
    fn options_leave_with_their_values() {
        for (command, without) in [
            ("wringer http h:1 -c 5 --seed 7", "wringer http h:1"),
            ("wringer http -c5 --users=5 -H 'A: b c' h:1", "wringer http -H 'A: b c' h:1"),
            (r"wringer http h:1 --data 'it'\''s' --seed=3", r"wringer http h:1 --data 'it'\''s'"),
            ("wringer http h:1 --cookies -c 1", "wringer http h:1 --cookies"),
        ] {
            assert_eq!(typed(command).without(PACE).without(ONE_RUN).text(), without, "{command}");
        }
    }

    #[test]
    fn the_file_of_a_run_is_no_value_of_an_option() {
        for (command, file, convert) in [
            ("wringer run a.toml", "a.toml", "wringer plan convert a.toml"),
            ("wringer run -q --seed 7 a.har --no-pauses", "a.har", "wringer plan convert a.har --no-pauses"),
            (
                "wringer run --json=o.json --set a=b c.http --set=d=e -Jf=g -J h=i --base-url http://h:1",
                "c.http",
                "wringer plan convert c.http --set a=b --set=d=e -Jf=g -J h=i --base-url http://h:1",
            ),
            ("wringer run --otlp --short -- a.yaml", "a.yaml", "wringer plan convert a.yaml"),
            ("wringer --lang zh --log=debug run 'a b.yaml'", "'a b.yaml'", "wringer plan convert 'a b.yaml'"),
        ] {
            assert_eq!(plan_file(command).as_deref(), Some(file), "{command}");
            assert_eq!(
                typed(command).as_plan().map(|typed| typed.text()).as_deref(),
                Some(convert),
                "{command}"
            );
        }
        assert_eq!(plan_file("wringer http a.toml"), None);
        assert_eq!(
            typed("wringer --lang zh h:80").into_command("find").text(),
            "wringer find h:80 --lang zh"
        );
    }

    #[test]
    fn only_commands_of_ours_are_taken_apart() {
        for command in
            ["ab -n 1 http://h/", "wringer ab -n 1 http://h/", "wringer http_load -p 1", "", "wringer"]
        {
            assert_eq!(Typed::of(command), None, "{command}");
        }
        for (command, door) in [
            ("wringer http://h/", Door::Http),
            ("wringer localhost", Door::Http),
            ("wringer -c 5 h:80", Door::Http),
            ("wringer run plan.yaml", Door::Run),
        ] {
            assert_eq!(Typed::of(command).map(|(door, _)| door), Some(door), "{command}");
        }
        assert_eq!(typed("wringer h:80 -c 1").into_command("find").text(), "wringer find h:80 -c 1");
        assert_eq!(typed("wringer http h:80").into_command("find").text(), "wringer find h:80");
    }
}
