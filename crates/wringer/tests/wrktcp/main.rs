//! `wringer wrktcp` from outside: against odd services of the tests' own. Figures of two runs never agree, so layouts are
//! compared without them.

#[macro_use]
#[path = "../native/support.rs"]
#[expect(dead_code, reason = "the native tests need more of it")]
#[expect(unused_macros, reason = "nothing is left out here")]
mod support;

mod answers;
mod bad_input;
mod http;
mod layouts;
mod mock;
mod originals;
#[path = "../support/refusing.rs"]
mod refusing;
mod requests;

use mock::Mock;
use std::fs;
use support::{Ran, Running, folder, start_in};

/// An ini file for a service: what `[request]` and the sections behind it hold.
fn ini(mock: &Mock, sections: &str) -> String {
    common(mock, "", sections)
}

/// The same with more under `[common]`.
fn common(mock: &Mock, more: &str, sections: &str) -> String {
    let host = mock.address.ip();
    let port = mock.address.port();
    format!("[common]\nhost = {host}\nport = {port}\n{more}\n[request]\n{sections}\n")
}

/// The simplest one.
fn plain(mock: &Mock) -> String {
    ini(mock, "req_body = this is a test")
}

/// Starts `wringer wrktcp` in a folder that holds the ini file as `t.ini`.
fn begin(ini: &str, line: &str) -> Running {
    begin_with(&[("t.ini", ini)], line)
}

/// The same with other files.
fn begin_with<Text: AsRef<[u8]>>(files: &[(&str, Text)], line: &str) -> Running {
    let folder = folder();
    for (name, text) in files {
        fs::write(folder.path().join(name), text.as_ref()).expect("the folder is ours");
    }
    start_in(folder, ["wrktcp"].into_iter().chain(line.split_whitespace()))
}

/// Runs it to its end, which is expected to be good.
fn wrktcp(ini: &str, line: &str) -> Ran {
    begin(ini, line).end().ended_with(0)
}

/// The test of one exchange.
fn test(ini: &str) -> Ran {
    wrktcp(ini, "--test t.ini")
}

/// The number in front of a word.
fn before(text: &str, word: &str) -> u64 {
    let at = text.find(word).unwrap_or_else(|| panic!("no {word} in {text}"));
    text[..at].split_whitespace().last().and_then(|number| number.parse().ok()).expect("a number")
}

/// Asserts that a text has a line, or a part of one.
#[track_caller]
fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is missing in {text}");
}
