//! Lines that leave out the command: `wringer URL` is `wringer http URL`.

use super::words::OTHERS;
use clap::Command;
use std::ffi::{OsStr, OsString};

/// Endings of files that people mean to run, and that no host has.
const FILES: [&str; 13] =
    ["toml", "json", "yaml", "yml", "jmx", "har", "js", "lua", "ini", "txt", "rec", "http", "py"];

/// Options that stand before a command and take a value.
const GLOBAL: [&str; 2] = ["--log", "--lang"];

/// The line with the command that it means. `words`: the program's name first.
pub(super) fn with_command(mut words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    if let Some(at) = place(&words, command) {
        words.insert(at, OsString::from("http"));
    }
    words
}

/// The place of the first word behind what may stand before a command.
pub(super) fn first(words: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if !GLOBAL.contains(&name) {
            break;
        }
        at += if value.is_some() { 1 } else { 2 };
    }
    at
}

/// Where the command is missing; `None`: it is not, or nobody knows which it would be.
fn place(words: &[OsString], command: &Command) -> Option<usize> {
    let at = first(words);
    let first = words.get(at)?.to_str()?;
    if command.find_subcommand(first).is_some() || OTHERS.contains(&first) {
        return None;
    }
    let begins_with_option = first.starts_with('-') && !["-h", "--help", "-V", "--version"].contains(&first);
    let has_url = || words[at..].iter().any(|word| is_url(word));
    (is_url(&words[at]) || begins_with_option && has_url()).then_some(at)
}

/// True for a word that can be nothing but a URL or a host with a port.
pub(super) fn is_url(word: &OsStr) -> bool {
    let Some(word) = word.to_str() else { return false };
    if let Some((scheme, rest)) = word.split_once("://") {
        return !rest.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    }
    let (host, path) = word.split_at(word.find(['/', '?']).unwrap_or(word.len()));
    let begins = host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[');
    let plain = host.chars().all(|c| c.is_alphanumeric() || "-_.:[]".contains(c));
    begins
        && plain
        && (host == "localhost" || host.contains(['.', ':']))
        && !(path.is_empty() && is_file(host))
}

/// True for a word that ends as files do.
pub(super) fn is_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(_, ending)| FILES.contains(&ending))
}

#[cfg(test)]
mod tests {
    use crate::{Cli, Command};

    #[test]
    fn a_url_alone_is_pressed() {
        for line in [
            "wringer http://h/",
            "wringer https://h:8443/a.json",
            "wringer localhost:8080",
            "wringer localhost",
            "wringer example.com",
            "wringer 127.0.0.1:8080/a.txt",
            "wringer [::1]:80/",
            "wringer -c 10 -n 100 http://h/",
            "wringer http://h/ --rate 10",
            "wringer --log debug http://h/",
            "wringer --log=debug http://h/ -c 2",
        ] {
            let cli = Cli::read(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
            let Command::Http(args) = cli.command else { panic!("{line}") };
            assert_eq!(args.urls.len(), 1, "{line}");
        }
    }

    #[test]
    fn what_is_no_url_is_pressed_by_no_guess() {
        for line in [
            "wringer htpp",
            "wringer plan.yaml",
            "wringer journeys/shop.toml",
            "wringer ./plan.json",
            "wringer -c 10",
            "wringer vegeta",
            "wringer a=b.c",
        ] {
            let said = Cli::read(line.split(' ')).unwrap_err();
            assert!(said.use_stderr(), "{line}: {said}");
        }
        for line in ["wringer --version http://h/", "wringer -h http://h/", "wringer help http"] {
            assert!(!Cli::read(line.split(' ')).unwrap_err().use_stderr(), "{line}");
        }
        let said = Cli::read(["wringer", "plan.yaml"]).unwrap_err().to_string();
        assert!(said.contains("'wringer run plan.yaml'"), "{said}");
    }
}
